//! Keys of a format that mean nothing for a conversation, and objects that are maps, with ids as keys. One list for the code and for the
//! documentation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use chatmill_intake::json::is_word;

/// The lists of all formats; the file describes its syntax.
const LISTS: &str = include_str!("silence.txt");

static ALL: LazyLock<HashMap<&str, MeaninglessKeys>> = LazyLock::new(|| parse(LISTS));
static NONE: LazyLock<MeaninglessKeys> = LazyLock::new(MeaninglessKeys::default);

/// A step of a path from the record to a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'k> {
    /// The record itself.
    Record,
    /// Into a field.
    Key(&'k str),
    /// Into a field with an id as key.
    Id(&'k str),
    /// To an element of a list.
    Item(usize),
}

impl<'k> Step<'k> {
    /// The name that lists are searched by; an index has none.
    fn name(self) -> Option<&'k str> {
        match self {
            Self::Record => Some("$"),
            Self::Key(key) => Some(key),
            Self::Id(_) => Some("*"),
            Self::Item(_) => None,
        }
    }

    /// Whether a listed step matches this one.
    fn is_meant_by(self, listed: Step<'_>) -> bool {
        match (self, listed) {
            (Self::Key(key), Step::Key(listed)) => key == listed,
            _ => std::mem::discriminant(&self) == std::mem::discriminant(&listed),
        }
    }
}

/// A fact that a list states about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The key means nothing for a conversation.
    None,
    /// Another part of the program uses values of the key, from `extra`.
    Used,
    /// The value is an object with ids as keys.
    Map,
    /// The value is an object that may have arbitrary additions.
    Free,
    /// The whole value is retained, with everything in it.
    Whole,
    /// The value is a time that repeats the times of the messages, unless it is far from all of them.
    Time,
}

/// The set of facts about a key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meanings(u8);

impl Meanings {
    /// Whether this fact is in the set.
    pub(crate) fn has(self, meaning: Meaning) -> bool {
        self.0 & (1 << meaning as u8) != 0
    }
}

/// A key of a list.
#[derive(Clone, Debug)]
struct ListedKey {
    /// The steps to it, the last one first.
    steps: Vec<Step<'static>>,
    meaning: Meaning,
}

/// The keys of a format without meaning, and its maps.
#[derive(Clone, Debug, Default)]
pub struct MeaninglessKeys {
    /// The keys, in the order of the list.
    keys: Vec<&'static str>,
    /// The keys that mean nothing.
    known: HashSet<&'static str>,
    /// Keys with values that other code uses from `extra`, and keys that are kept whole.
    labelled: HashMap<&'static str, Meaning>,
    /// All listed keys, by the length of the last name and by the name itself: comparing lengths first is fast, because most of them differ.
    listed: BTreeMap<(usize, &'static str), Vec<ListedKey>>,
}

impl MeaninglessKeys {
    /// The lists of a format file, added to the lists of its vendor's requests: keys and maps, each separated by blanks.
    pub(crate) fn listed(source: &str, keys: &'static str, maps: &'static str) -> Self {
        let mut meaningless_keys = Self::of(source).clone();
        meaningless_keys.list(keys, &[Meaning::None]);
        meaningless_keys.list(maps, &[Meaning::Map]);
        meaningless_keys
    }

    /// The lists with objects and lists that are kept whole, separated by blanks.
    pub(crate) fn with_whole(mut self, whole: &'static str) -> Self {
        self.list(whole, &[Meaning::None, Meaning::Whole]);
        self
    }

    /// Adds facts about the keys of a list, which are separated by blanks.
    fn list(&mut self, keys: &'static str, meanings: &[Meaning]) {
        for key in keys.split_whitespace() {
            let is_new = match meanings {
                [Meaning::Time] => !self.keys.contains(&key),
                _ => meanings.contains(&Meaning::None) && self.known.insert(key),
            };
            if is_new {
                self.keys.push(key);
            }
            let mut labels = meanings
                .iter()
                .filter(|one| matches!(one, Meaning::Used | Meaning::Whole | Meaning::Time));
            if let Some(meaning) = labels.next() {
                self.labelled.insert(key, *meaning);
            }
            let steps = steps(key);
            let Some(name) = steps.iter().find_map(|step| step.name()) else {
                continue;
            };
            let listed = self.listed.entry((name.len(), name)).or_default();
            listed.extend(meanings.iter().map(|meaning| ListedKey {
                steps: steps.clone(),
                meaning: *meaning,
            }));
        }
    }

    /// The lists of the format of a source.
    pub(crate) fn of(source: &str) -> &'static Self {
        ALL.get(source).unwrap_or(&NONE)
    }

    /// The listed keys in the order of the list, each with the treatment of its values; empty for keys that the list calls ids, numbers or
    /// enumerated words.
    pub(crate) fn keys(&'static self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.keys.iter().map(|key| {
            let becomes = match self.labelled.get(key) {
                Some(Meaning::Used) => "used from `extra`",
                Some(Meaning::Time) => "reported if it is more than an hour away from all messages",
                Some(_) => "kept as a whole and reported once",
                None => "",
            };
            (*key, becomes)
        })
    }

    /// Whether a key is listed in this form as meaning nothing.
    pub(crate) fn names(&self, key: &str) -> bool {
        self.known.contains(key)
    }

    /// Whether the object in a field of this name has ids as keys, at any depth.
    pub(crate) fn is_map(&self, key: &str) -> bool {
        self.meanings(&std::iter::once(Step::Key(key))).has(Meaning::Map)
    }

    /// The facts about the value at the end of these steps, given from the last one.
    pub(crate) fn meanings<'k>(&self, steps: &(impl Iterator<Item = Step<'k>> + Clone)) -> Meanings {
        let name = steps.clone().find_map(Step::name).unwrap_or_default();
        let named = self.listed.get(&(name.len(), name)).into_iter().flatten();
        let meant = named.filter(|listed| {
            let mut steps = steps.clone();
            let mut listed = listed.steps.iter();
            listed.all(|listed| steps.next().is_some_and(|step| step.is_meant_by(*listed)))
        });
        Meanings(meant.fold(0, |all, listed| all | 1 << listed.meaning as u8))
    }
}

/// The steps to a listed key, the last one first; empty if the key does not have the form of a path.
pub(crate) fn steps(listed: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = listed;
    while !rest.is_empty() {
        let quoted = rest.strip_prefix("['").and_then(|rest| rest.split_once("']"));
        let (step, after) = match (rest.strip_prefix("[]"), quoted) {
            (Some(after), _) => (Step::Item(0), after),
            (_, Some((key, after))) => (Step::Key(key), after),
            _ => {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                let step = match name {
                    "$" if steps.is_empty() => Step::Record,
                    "*" => Step::Id(name),
                    name if is_word(name) => Step::Key(name),
                    _ => return Vec::new(),
                };
                (step, after)
            }
        };
        steps.push(step);
        rest = after;
    }
    steps.reverse();
    steps
}

fn parse(lists: &'static str) -> HashMap<&'static str, MeaninglessKeys> {
    let mut all: HashMap<&str, MeaninglessKeys> = HashMap::new();
    let mut sources: Vec<&str> = Vec::new();
    let lines = lists.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(ids) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            sources = ids.split_whitespace().collect();
            continue;
        }
        for source in &sources {
            let meaningless_keys = all.entry(source).or_default();
            match line.split_once(' ') {
                Some(("map", maps)) => meaningless_keys.list(maps, &[Meaning::Map]),
                Some(("free", free)) => meaningless_keys.list(free, &[Meaning::Free]),
                Some(("time", times)) => meaningless_keys.list(times, &[Meaning::Time]),
                Some(("used", used)) => meaningless_keys.list(used, &[Meaning::None, Meaning::Used]),
                _ => meaningless_keys.list(line, &[Meaning::None]),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meanings_of(meaningless_keys: &MeaninglessKeys, path: &str) -> Meanings {
        meaningless_keys.meanings(&steps(path).into_iter())
    }

    #[test]
    fn every_list_belongs_to_a_source() {
        let strangers: Vec<_> = ALL.keys().filter(|id| crate::find(id).is_none()).collect();
        assert!(strangers.is_empty(), "{strangers:?}");
    }

    #[test]
    fn a_whole_object_is_among_the_keys_without_meaning() {
        let meaningless_keys = MeaninglessKeys::default().with_whole("run.notes env");
        let all = [Meaning::Whole, Meaning::None];
        for path in ["$.run.notes", "$[].run.notes", "$.env"] {
            assert!(
                all.iter()
                    .all(|one| meanings_of(&meaningless_keys, path).has(*one)),
                "{path}"
            );
        }
        for path in ["$.notes", "$.run.notes.words"] {
            assert!(
                !all.iter()
                    .any(|one| meanings_of(&meaningless_keys, path).has(*one)),
                "{path}"
            );
        }
    }

    #[test]
    fn keys_count_as_a_whole_at_the_end_of_a_path() {
        let all = parse(
            "[x]\n# nothing\nuuid usage.cost tags[] $.top $[].id odd['a.b'].c people.*.name a-b\nmap people",
        );
        let meaningless_keys = &all["x"];
        for path in [
            "$.uuid",
            "$.top",
            "$[].uuid",
            "$[].id",
            "$.a.usage.cost",
            "$.tags[]",
            "$.odd['a.b'].c",
            "$.people.*.name",
        ] {
            assert!(meanings_of(meaningless_keys, path).has(Meaning::None), "{path}");
        }
        for path in [
            "$.a.top",
            "$.uuid.a",
            "$.xuuid",
            "$.cost",
            "$.tags",
            "$.uuid[]",
            "$.a[].id",
            "$['a.uuid']",
            "$.a-b",
            "$.people.name",
        ] {
            assert!(!meanings_of(meaningless_keys, path).has(Meaning::None), "{path}");
        }
        assert!(
            meanings_of(meaningless_keys, "$[].people").has(Meaning::Map)
                && meaningless_keys.is_map("people")
        );
        assert!(!meanings_of(meaningless_keys, "$.people.*").has(Meaning::Map));
    }
}
