//! Words for codes: letters and digits, the beginning of these, or a name. `--select`, `--ignore` and `explain` take them.

use chatmill_diag::suggest::nearest;
use chatmill_diag::{Code, codes};

use crate::exit::WrongRequest;

/// The codes that a selection leaves out. An empty `select` selects all; `ignore` wins.
pub fn left_out(select: &[String], ignore: &[String]) -> Result<Vec<&'static str>, WrongRequest> {
    for word in select.iter().chain(ignore) {
        named(word)?;
    }
    let any = |words: &[String], code: &Code| words.iter().any(|word| code.answers_to(word));
    Ok(codes::CODES
        .iter()
        .filter(|code| any(ignore, code) || !(select.is_empty() || any(select, code)))
        .map(|code| code.code)
        .collect())
}

/// The codes that a word names.
pub fn named(word: &str) -> Result<Vec<&'static Code>, WrongRequest> {
    let named: Vec<&Code> = codes::CODES
        .iter()
        .copied()
        .filter(|code| code.answers_to(word))
        .collect();
    if named.is_empty() {
        return Err(unknown(word));
    }
    Ok(named)
}

/// The refusal of a word that names no code.
fn unknown(word: &str) -> WrongRequest {
    let letters = word.to_ascii_uppercase();
    let near = nearest(word, codes::CODES.iter().map(|code| code.name))
        .or_else(|| nearest(&letters, codes::CODES.iter().map(|code| code.code)));
    WrongRequest::unknown("code", word, near).then("`chatmill rules` lists them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn nothing_is_left_out_by_default() {
        assert!(left_out(&[], &[]).unwrap().is_empty());
    }

    #[test]
    fn a_code_a_prefix_and_a_name_select_alike() {
        let kept = |select: &[&str]| {
            let out = left_out(&words(select), &[]).unwrap();
            codes::CODES
                .iter()
                .map(|code| code.code)
                .filter(|code| !out.contains(code))
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(&["IN001"]), ["IN001"]);
        assert_eq!(kept(&["invalid-json"]), ["IN001"]);
        assert!(kept(&["rf"]).iter().all(|code| code.starts_with("RF")));
        assert!(kept(&["rf"]).len() > 3);
    }

    #[test]
    fn ignore_wins_over_select() {
        let out = left_out(&words(&["RF"]), &words(&["dangling-reference"])).unwrap();
        assert!(out.contains(&"RF001") && !out.contains(&"RF002") && out.contains(&"IN001"));
    }

    #[test]
    fn a_word_names_one_code_or_a_family() {
        let names = |word: &str| -> Vec<&str> {
            let named = named(word).unwrap();
            named.iter().map(|code| code.name).collect()
        };
        assert_eq!(names("rf001"), ["dangling-reference"]);
        assert_eq!(names("dangling-reference"), ["dangling-reference"]);
        assert!(names("RF").starts_with(&["dangling-reference", "reference-to-itself"]));
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_nearest_name() {
        let refused = left_out(&words(&["invalid-jsno"]), &[]).unwrap_err().to_string();
        assert!(refused.contains("`invalid-json`"), "{refused}");
        assert!(left_out(&[], &words(&[""])).is_err());
        assert!(left_out(&[], &words(&["é"])).is_err());
    }
}
