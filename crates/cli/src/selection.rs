//! Words that select codes: a code, the beginning of one, or a name. `--select`, `--ignore` and `explain` take them.

use chatmill_diag::{Code, codes};

use crate::exit::WrongRequest;

/// The codes that a word names.
pub(crate) fn named(word: &str) -> Result<Vec<&'static Code>, WrongRequest> {
    codes::named(word)
        .map_err(|near| WrongRequest::unknown("code", word, near).then("`chatmill rules` lists them"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest_name() {
        let refused = named("invalid-jsno").unwrap_err().to_string();
        assert!(refused.contains("`invalid-json`"), "{refused}");
        assert!(named("").is_err());
    }
}
