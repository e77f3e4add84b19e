//! Words that select codes: a code, the beginning of one, or a name. `--select`, `--ignore` and `explain` take them.

use chatmill_diag::{Code, codes};

use crate::exit::{CommandError, Outcome};

/// The codes that a word names.
pub(crate) fn named(word: &str) -> Outcome<Vec<&'static Code>> {
    codes::named(word)
        .map_err(|near| CommandError::unknown("code", word, near).then("`chatmill rules` lists them"))
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
