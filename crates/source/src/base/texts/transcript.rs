//! A conversation as one text, as in early preference data: each turn begins with an empty line and `Human:` or `Assistant:`. Columns with nothing
//! else have other marks as well.

use chatmill_model::Role;

const SPEAKERS: [(&str, Role); 2] = [("\n\nHuman:", Role::User), ("\n\nAssistant:", Role::Assistant)];

/// Whether a text is a transcript and begins with a user's turn.
pub(crate) fn is_one(text: &str) -> bool {
    SPEAKERS
        .iter()
        .any(|(name, role)| *role == Role::User && text.starts_with(name))
}

/// Splits such a text into turns; `None` if it does not begin with one.
pub(crate) fn turns(text: &str) -> Option<Vec<(Role, String)>> {
    let mut rest = text;
    let mut turns = Vec::new();
    while let Some((role, after)) = SPEAKERS
        .iter()
        .find_map(|(name, role)| Some((*role, rest.strip_prefix(*name)?)))
    {
        // One search for all names: a separate search for a name that never comes would go to the end for every turn.
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

/// Marks of a user's turn and of an answer, and whether they begin lines.
const MARKS: [(&str, &str, bool); 9] = [
    ("### Human:", "### Assistant:", false),
    ("### User:", "### Assistant:", false),
    ("<HUMAN>:", "<ASSISTANT>:", false),
    ("[INST]", "[/INST]", false),
    ("Human:", "Assistant:", true),
    ("Human:", "AI:", true),
    ("User:", "Assistant:", true),
    ("User:", "Bot:", true),
    ("User:", "AI:", true),
];

/// Marks of the system text before the first question in Llama 2.
const SYSTEM: [&str; 2] = ["<<SYS>>", "<</SYS>>"];

/// The turns of a text that is a conversation and nothing else: it begins with a user's mark, both speakers alternate, and it ends with an answer.
/// `None` for any other text, and for one that two pairs of marks fit.
pub(crate) fn written_out(text: &str) -> Option<Vec<(Role, String)>> {
    let found = MARKS.iter().filter_map(|marks| by_marks(text, *marks));
    let mut found = found.filter(|turns| turns.len() > 1);
    found.next().filter(|_| found.next().is_none())
}

fn by_marks(text: &str, (user, assistant, begins_line): (&str, &str, bool)) -> Option<Vec<(Role, String)>> {
    let mut rest = unmarked(text);
    let mut turns = Vec::new();
    let marks = [(user, assistant, Role::User), (assistant, user, Role::Assistant)];
    for (own, next, role) in marks.into_iter().cycle() {
        let Some(inside) = rest.strip_prefix(own) else {
            break;
        };
        let mut places = inside.match_indices(next).map(|(at, _)| at);
        let is_line =
            |at: &usize| !begins_line || inside.get(..*at).is_some_and(|before| before.ends_with('\n'));
        let end = places.find(is_line).unwrap_or(inside.len());
        let (words, behind) = inside.split_at_checked(end)?;
        // The same mark again, where the other is due, makes the text ambiguous.
        let again = words.match_indices(own).map(|(at, _)| at);
        if again
            .into_iter()
            .any(|at| !begins_line || words.get(..at).is_some_and(|before| before.ends_with('\n')))
        {
            return None;
        }
        let words = unmarked(words);
        match words
            .strip_prefix(SYSTEM[0])
            .and_then(|words| words.split_once(SYSTEM[1]))
        {
            Some((system, words)) => {
                turns.push((Role::System, system.trim().to_owned()));
                turns.push((role, words.trim().to_owned()));
            }
            None => turns.push((role, words.to_owned())),
        }
        rest = behind;
    }
    let is_whole = rest.is_empty() && turns.iter().all(|(_, words)| !words.is_empty());
    let ends_with_answer = turns.last().is_some_and(|(role, _)| *role == Role::Assistant);
    (is_whole && ends_with_answer).then_some(turns)
}

/// A text without blanks and marks of its beginning and end around it.
fn unmarked(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("<s>").unwrap_or(text);
    let text = text.trim_end().strip_suffix("<s>").unwrap_or(text).trim_end();
    text.strip_suffix("</s>").unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::{Role, turns, written_out};

    #[test]
    fn a_text_is_written_out_by_one_pair_of_marks_and_ends_with_an_answer() {
        let both = |question: &str, answer: &str| {
            Some(
                [(Role::User, question), (Role::Assistant, answer)]
                    .map(|(role, text)| (role, text.to_owned()))
                    .to_vec(),
            )
        };
        for text in [
            "### Human: Is it open?### Assistant: Until four.",
            "<s>[INST] Is it open? [/INST] Until four. </s>",
            "<HUMAN>: Is it open?\n<ASSISTANT>: Until four.",
            "Human: Is it open?\n\nAssistant: Until four.",
            "User: Is it open?\nBot: Until four.",
        ] {
            assert_eq!(written_out(text), both("Is it open?", "Until four."), "{text}");
        }
        let system = written_out("<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\nHi [/INST] Hello </s><s>[INST] Bye [/INST] Good night </s>").unwrap();
        let roles: Vec<Role> = system.iter().map(|(role, _)| *role).collect();
        assert_eq!(
            roles,
            [
                Role::System,
                Role::User,
                Role::Assistant,
                Role::User,
                Role::Assistant
            ]
        );
        for text in [
            "Is it open?",
            "User: Is it open?",
            "User: Is it open?\nUser: Hello?\nBot: Until four.",
            "User: Is it open?\nBot: Until four.\nUser: Thanks",
            "#Person1#: Is it open?\n#Person2#: Until four.",
            "Note\nUser: Is it open?\nBot: Until four.",
        ] {
            assert_eq!(written_out(text), None, "{text}");
        }
    }

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
