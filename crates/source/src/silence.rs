//! What a format says of its keys beside what they mean: which mean nothing for a conversation, and which objects are maps, whose
//! keys are ids. One list for the code and for the documentation.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The lists of all formats; the file says how they are written.
const LISTS: &str = include_str!("silence.txt");

static ALL: LazyLock<HashMap<&str, Silence>> = LazyLock::new(|| parse(LISTS));
static NONE: LazyLock<Silence> = LazyLock::new(Silence::default);

/// The keys of a format without meaning, and its maps.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// In the order of the list.
    keys: Vec<&'static str>,
    known: HashSet<&'static str>,
    maps: HashSet<&'static str>,
}

impl Silence {
    /// What the format of a source says.
    pub(crate) fn of(source: &str) -> &'static Self {
        ALL.get(source).unwrap_or(&NONE)
    }

    /// The keys without meaning, in the order of the list.
    pub(crate) fn keys(&self) -> &[&'static str] {
        &self.keys
    }

    /// Whether a key of this name, as it is listed, means nothing.
    pub(crate) fn names(&self, key: &str) -> bool {
        self.known.contains(key)
    }

    /// Whether what stands at a path means nothing.
    pub(crate) fn covers(&self, path: &str) -> bool {
        ends_in(path, &self.known)
    }

    /// Whether the keys of the object at a path are ids.
    pub(crate) fn is_map(&self, path: &str) -> bool {
        ends_in(path, &self.maps)
    }
}

/// Whether whole keys at the end of a path are among the known.
fn ends_in(path: &str, known: &HashSet<&'static str>) -> bool {
    if known.is_empty() {
        return false;
    }
    let ends = path.char_indices().rev().filter(|(_, sign)| *sign == '.');
    let mut ends = ends.filter_map(|(at, _)| path.get(at + 1..));
    ends.any(|end| known.contains(end))
}

fn parse(lists: &'static str) -> HashMap<&'static str, Silence> {
    let mut all: HashMap<&str, Silence> = HashMap::new();
    let mut sources: Vec<&str> = Vec::new();
    let lines = lists.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(ids) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            sources = ids.split_whitespace().collect();
            continue;
        }
        for source in &sources {
            let silence = all.entry(source).or_default();
            if let Some(map) = line.strip_prefix("map ") {
                silence.maps.insert(map);
                continue;
            }
            for key in line.split_whitespace() {
                if silence.known.insert(key) {
                    silence.keys.push(key);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_that_of_a_source() {
        let strangers: Vec<_> = ALL.keys().filter(|id| crate::find(id).is_none()).collect();
        assert!(strangers.is_empty(), "{strangers:?}");
    }

    #[test]
    fn keys_count_as_a_whole_at_the_end_of_a_path() {
        let all = parse("[x]\n# nothing\nuuid usage.cost tags[]\nmap people");
        let silence = &all["x"];
        for path in ["$.uuid", "$[].uuid", "$.a.usage.cost", "$.tags[]"] {
            assert!(silence.covers(path), "{path}");
        }
        for path in ["$.uuid.a", "$.xuuid", "$.cost", "$.tags", "$.uuid[]"] {
            assert!(!silence.covers(path), "{path}");
        }
        assert!(silence.is_map("$[].people") && !silence.is_map("$.people.*"));
    }
}
