//! A conversation as one text, as early preference data has it: each turn begins with an empty line and `Human:` or
//! `Assistant:`.

use chatmill_model::Role;

const SPEAKERS: [(&str, Role); 2] = [("\n\nHuman:", Role::User), ("\n\nAssistant:", Role::Assistant)];

/// Whether a text is a transcript and begins with a user's turn.
pub(crate) fn is_one(text: &str) -> bool {
    SPEAKERS
        .iter()
        .any(|(name, role)| *role == Role::User && text.starts_with(name))
}

/// Splits such a text into turns; none where it does not begin with one.
pub(crate) fn turns(text: &str) -> Option<Vec<(Role, String)>> {
    let mut rest = text;
    let mut turns = Vec::new();
    while let Some((role, after)) = SPEAKERS
        .iter()
        .find_map(|(name, role)| Some((*role, rest.strip_prefix(*name)?)))
    {
        // One sweep for all names: one that never comes would be sought to the end for every turn.
        let names = |rest: &str| SPEAKERS.iter().any(|(name, _)| rest.starts_with(name));
        let mut breaks = after.match_indices('\n').map(|(at, _)| at);
        let next = breaks.find(|at| after.get(*at..).is_some_and(names));
        let (spoken_text, behind) = after.split_at_checked(next.unwrap_or(after.len()))?;
        turns.push((
            role,
            spoken_text.strip_prefix(' ').unwrap_or(spoken_text).to_owned(),
        ));
        rest = behind;
    }
    (!turns.is_empty()).then_some(turns)
}

#[cfg(test)]
mod tests {
    use super::{Role, turns};

    #[test]
    fn each_name_after_an_empty_line_begins_a_turn() {
        let text = "\n\nHuman: Is it\n\nopen?\n\nAssistant: Yes. Human: no\n\nHuman:\n\nAssistant: ";
        let spoken_text = turns(text).unwrap();
        let expected = [
            (Role::User, "Is it\n\nopen?"),
            (Role::Assistant, "Yes. Human: no"),
            (Role::User, ""),
            (Role::Assistant, ""),
        ];
        assert_eq!(spoken_text, expected.map(|(role, text)| (role, text.to_owned())));
        assert_eq!(turns("Human: x"), None);
    }
}
