//! "Did you mean": the known word that is most similar to an unknown one.

/// The candidate most similar to `word`, if any is similar at all. If the word is the beginning of several names, as `openai` is of
/// `openai-sft`, the first of these is meant.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.collect();
    let goes_on = |rest: &str| rest.starts_with(['-', '_', '.']);
    let longer = |name: &&&str| !word.is_empty() && name.strip_prefix(word).is_some_and(goes_on);
    let slip = candidates
        .iter()
        .find(|name| strsim::osa_distance(word, name) <= 1);
    if let Some(meant) = slip.or_else(|| candidates.iter().find(longer)) {
        return Some(meant);
    }
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// The candidate that differs from `word` by at most two slips of the keyboard.
pub fn mistyped<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(slips, _)| *slips <= 2)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_names_that_a_word_begins_is_meant() {
        let near = |word| {
            nearest(
                word,
                ["openai-sft", "openai-dpo", "trl-dpo", "dpo", "row-parts", "rows"].into_iter(),
            )
        };
        assert_eq!(near("openai"), Some("openai-sft"));
        assert_eq!(near("openai-dop"), Some("openai-dpo"));
        assert_eq!(near("trl_dpo"), Some("trl-dpo"));
        assert_eq!(near("row"), Some("rows"), "one slip is nearer");
        assert_eq!((near(""), near("whatsapp")), (None, None));
    }

    #[test]
    fn a_mistyped_word_differs_in_two_places_at_most() {
        let meant = |word| mistyped(word, ["chat.jsonl", "chats.jsonl", "talk.json"].into_iter());
        assert_eq!(meant("chat.json"), Some("chat.jsonl"));
        assert_eq!(meant("caht.jsonl"), Some("chat.jsonl"));
        assert_eq!(meant("cht.json"), Some("chat.jsonl"));
        assert_eq!(meant("ch.json"), None);
    }
}
