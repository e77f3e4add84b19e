//! Severities that some findings of a code have in place of the code's own.
//!
//! Beside these, whatever costs a record or a message is an error, whatever its code. Settings of a project come on top.

use crate::code::{Code, Severity};
use crate::codes;

/// Another severity of a code.
#[derive(Debug)]
pub struct Exception {
    /// The code.
    pub code: &'static Code,
    /// The severity.
    pub severity: Severity,
    /// When, as the end of a sentence that begins with the severity.
    pub when: &'static str,
}

/// The other severities, in the order of codes.
pub static EXCEPTIONS: &[Exception] = &[
    Exception {
        code: &codes::DUPLICATE_KEY,
        severity: Severity::Warning,
        when: "where it stands among the parameters of a call in a text",
    },
    Exception {
        code: &codes::DUPLICATE_KEY,
        severity: Severity::Note,
        when: "where all values are kept",
    },
    Exception {
        code: &codes::MISSING_FIELD,
        severity: Severity::Warning,
        when: "where readers of the format do without the field, or it is there and empty",
    },
    Exception {
        code: &codes::MISSING_FIELD,
        severity: Severity::Note,
        when: "where a request of a batch has no result",
    },
    Exception {
        code: &codes::WRONG_TYPE,
        severity: Severity::Warning,
        when: "where nothing of the message is lost by it",
    },
    Exception {
        code: &codes::UNKNOWN_MESSAGE_TYPE,
        severity: Severity::Note,
        when: "where it is a whole line of a session, which stays as a notice",
    },
    Exception {
        code: &codes::EMPTY_CONVERSATION,
        severity: Severity::Error,
        when: "where nothing was read of what messages hold",
    },
    Exception {
        code: &codes::EMPTY_CONVERSATION,
        severity: Severity::Note,
        when: "where a project has presence and nobody says anything, or a trace tells of no model",
    },
    Exception {
        code: &codes::ORPHAN_CHUNK,
        severity: Severity::Note,
        when: "where the whole answer follows",
    },
    Exception {
        code: &codes::OTHER_BRANCHES,
        severity: Severity::Warning,
        when: "where all branches were asked for, and together they are larger than the limits of a record, or a session has more forks than become conversations",
    },
    Exception {
        code: &codes::INCOMPLETE_EXPORT,
        severity: Severity::Note,
        when: "where nobody is named, because the list of members is not there",
    },
    Exception {
        code: &codes::UNREAD_FIELD,
        severity: Severity::Note,
        when: "where it holds no words",
    },
    Exception {
        code: &codes::REPEATED_ROW,
        severity: Severity::Warning,
        when: "where the bodies differ",
    },
    Exception {
        code: &codes::REFERENCE_INCOMPLETE,
        severity: Severity::Error,
        when: "where the format's own importer refuses it",
    },
    Exception {
        code: &codes::UNANSWERED_CALL,
        severity: Severity::Note,
        when: "where the conversation ends with it",
    },
    Exception {
        code: &codes::MALFORMED_ARGUMENTS,
        severity: Severity::Note,
        when: "where the arguments are empty",
    },
    Exception {
        code: &codes::UNKNOWN_SENDER,
        severity: Severity::Warning,
        when: "where it is the author of a quotation",
    },
    Exception {
        code: &codes::PERSONAL_DATA,
        severity: Severity::Note,
        when: "where it is a name of the roster, or was replaced by a pseudonym",
    },
    Exception {
        code: &codes::SECRET,
        severity: Severity::Note,
        when: "where it was replaced by a pseudonym",
    },
    Exception {
        code: &codes::TIMESTAMP_NAIVE,
        severity: Severity::Warning,
        when: "where nothing says which zone is meant",
    },
];

/// The other severities of a code.
pub fn exceptions(code: &Code) -> impl Iterator<Item = &'static Exception> {
    EXCEPTIONS
        .iter()
        .filter(move |exception| exception.code.code == code.code)
}

/// Whether a finding of a code may have a severity: its own, one of its exceptions, or an error, for it may have cost a record.
pub fn is_told(code: &Code, severity: Severity) -> bool {
    severity == code.severity
        || severity == Severity::Error
        || exceptions(code).any(|exception| exception.severity == severity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_one_and_stands_once() {
        let mut seen = Vec::new();
        for exception in EXCEPTIONS {
            assert_ne!(
                exception.severity, exception.code.severity,
                "{}",
                exception.code.name
            );
            let key = (exception.code.code, exception.severity);
            assert!(!seen.contains(&key), "{key:?}");
            assert!(exception.when.starts_with("where "), "{}", exception.when);
            seen.push(key);
        }
        let mut ordered: Vec<usize> = Vec::new();
        for exception in EXCEPTIONS {
            let place = codes::CODES.iter().position(|code| *code == exception.code);
            ordered.push(place.unwrap());
        }
        assert!(ordered.is_sorted(), "{ordered:?}");
    }

    #[test]
    fn a_code_has_its_severity_its_exceptions_and_the_error_of_a_reject() {
        let told = |code| {
            [Severity::Note, Severity::Warning, Severity::Error].map(|severity| is_told(code, severity))
        };
        assert_eq!(told(&codes::TIMESTAMP_NAIVE), [true, true, true]);
        assert_eq!(told(&codes::WRONG_TYPE), [false, true, true]);
        assert_eq!(told(&codes::UNANSWERED_CALL), [true, true, true]);
        assert_eq!(told(&codes::INVALID_JSON), [false, false, true]);
    }
}
