//! Rules of formats as constants, each with its code and its sentence, in the file of the dialect that has to keep them.
//!
//! Violations and reasons of losses name the code; `docs/dialect-rules.md` lists the sentences.
//!
//! Why: docs/decisions/2026-11-22-dialect-rules-as-constants.md.

use std::fmt;

/// A rule that renderings of a dialect have to keep.
#[derive(Debug)]
pub struct DialectRule {
    id: &'static str,
    sentence: &'static str,
}

impl DialectRule {
    /// Creates a rule; `sentence` is its doc comment.
    pub(crate) const fn new(id: &'static str, sentence: &'static str) -> Self {
        Self { id, sentence }
    }

    /// Returns the code, for example `OAC-06`.
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// Returns the sentence that states what the rule demands.
    pub fn sentence(&self) -> &'static str {
        self.sentence.trim()
    }
}

impl fmt::Display for DialectRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id)
    }
}

impl PartialEq for DialectRule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for DialectRule {}

/// Whether a constant has the name of its rule: `OAC_06` for `OAC-06`.
pub(crate) const fn is_named(name: &str, id: &str) -> bool {
    let (mut name, mut id) = (name.as_bytes(), id.as_bytes());
    while let ([one, names @ ..], [other, ids @ ..]) = (name, id) {
        let is_hyphen = *one == b'_' && *other == b'-';
        if *one != *other && !is_hyphen {
            return false;
        }
        (name, id) = (names, ids);
    }
    name.is_empty() && id.is_empty()
}

/// Makes a constant of each rule, with its doc comment as the sentence, and `RULES`, the list of all rules.
macro_rules! rules {
    ($($(#[doc = $sentence:literal])+ $name:ident = $id:literal;)+) => {
        $(
            $(#[doc = $sentence])+
            pub(crate) const $name: &$crate::loss::rule::DialectRule = &$crate::loss::rule::DialectRule::new($id, concat!($($sentence),+));
            const _: () = assert!($crate::loss::rule::is_named(stringify!($name), $id));
        )+

        /// The rules of this file.
        pub(crate) const RULES: &[&$crate::loss::rule::DialectRule] = &[$($name),+];
    };
}

pub(crate) use rules;

/// Rules of no format, for tests.
#[cfg(test)]
pub(crate) mod samples {
    rules! {
        /// a sentence that
        /// goes on
        ABC_01 = "ABC-01";
        /// another
        ABC_02 = "ABC-02";
        /// a third
        ABC_03 = "ABC-03";
    }

    #[test]
    fn the_doc_comment_of_a_rule_is_its_sentence() {
        assert_eq!(RULES, [ABC_01, ABC_02, ABC_03]);
        assert_eq!(
            (ABC_01.id(), ABC_01.sentence()),
            ("ABC-01", "a sentence that goes on")
        );
    }

    #[test]
    fn a_constant_is_called_as_its_rule() {
        use super::is_named;
        assert!(is_named("ABC_01", "ABC-01"));
        assert!(!is_named("ABC_01", "ABC-02") && !is_named("ABC_01", "ABC-0"));
    }
}
