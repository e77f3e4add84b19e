//! What a format says of its keys beside what they mean: which mean nothing for a conversation, and which objects are maps, whose
//! keys are ids. One list for the code and for the documentation.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The lists of all formats; the file says how they are written.
const LISTS: &str = include_str!("silence.txt");

static ALL: LazyLock<HashMap<&str, Silence>> = LazyLock::new(|| parse(LISTS));
static NONE: LazyLock<Silence> = LazyLock::new(Silence::default);

/// The keys of a format without meaning, and its maps.
#[derive(Clone, Debug, Default)]
pub struct Silence {
    /// In the order of the list.
    keys: Vec<&'static str>,
    known: HashSet<&'static str>,
    /// Those which hold words that somebody wrote: they go to `extra`.
    kept: HashSet<&'static str>,
    maps: HashSet<&'static str>,
    free: HashSet<&'static str>,
    /// Objects and lists that are kept, whatever stands in them.
    whole: HashSet<&'static str>,
}

impl Silence {
    /// What a format file says beside what its vendor's requests share: keys, those of them that are kept, and maps, each separated
    /// by blanks.
    pub(crate) fn listed(source: &str, keys: &'static str, kept: &'static str, maps: &'static str) -> Self {
        let mut silence = Self::of(source).clone();
        for key in keys.split_whitespace().chain(kept.split_whitespace()) {
            if silence.known.insert(key) {
                silence.keys.push(key);
            }
        }
        silence.kept.extend(kept.split_whitespace());
        silence.maps.extend(maps.split_whitespace());
        silence
    }

    /// The same with objects and lists that are kept as they are, separated by blanks.
    pub(crate) fn with_whole(mut self, whole: &'static str) -> Self {
        for key in whole.split_whitespace() {
            if self.known.insert(key) {
                self.keys.push(key);
            }
            self.kept.insert(key);
            self.whole.insert(key);
        }
        self
    }

    /// What the format of a source says.
    pub(crate) fn of(source: &str) -> &'static Self {
        ALL.get(source).unwrap_or(&NONE)
    }

    /// The keys without meaning, in the order of the list, and whether they are kept.
    pub(crate) fn keys(&'static self) -> impl Iterator<Item = (&'static str, bool)> {
        self.keys.iter().map(|key| (*key, self.kept.contains(key)))
    }

    /// Whether a key of this name, as it is listed, means nothing.
    pub(crate) fn names(&self, key: &str) -> bool {
        self.known.contains(key)
    }

    /// Whether what stands at a path means nothing.
    pub(crate) fn covers(&self, path: &str) -> bool {
        ends_in(path, &self.known)
    }

    /// Whether what stands at a path is kept all the same.
    pub(crate) fn keeps(&self, path: &str) -> bool {
        ends_in(path, &self.kept)
    }

    /// Whether the object at a path is one to which anybody may add what they like.
    pub(crate) fn is_free(&self, path: &str) -> bool {
        ends_in(path, &self.free)
    }

    /// Whether what stands at a path is kept, whatever is in it.
    pub(crate) fn keeps_whole(&self, path: &str) -> bool {
        ends_in(path, &self.whole)
    }

    /// Whether the keys of the object at a path are ids.
    pub(crate) fn is_map(&self, path: &str) -> bool {
        ends_in(path, &self.maps)
    }
}

/// Bytes of the longest key that may be listed, with the point before it.
const MAX_KEY_BYTES: usize = 128;

/// Whether whole keys at the end of a path are among the known. It is looked at no further than these are long: a key may be of points
/// alone.
fn ends_in(path: &str, known: &HashSet<&'static str>) -> bool {
    if known.is_empty() {
        return false;
    }
    let near = path.char_indices().rev();
    let near = near.take_while(|(at, _)| path.len() - at <= MAX_KEY_BYTES);
    let mut ends = near.filter_map(|(at, sign)| path.get(at + 1..).filter(|_| sign == '.'));
    known.contains(path) || ends.any(|end| known.contains(end))
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
            if let Some(free) = line.strip_prefix("free ") {
                silence.free.insert(free);
                continue;
            }
            let kept = line.strip_prefix("keep ");
            for key in kept.unwrap_or(line).split_whitespace() {
                silence.kept.extend(kept.map(|_| key));
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
        let mut keys = ALL
            .values()
            .flat_map(|silence| silence.known.iter().chain(&silence.maps));
        assert!(keys.all(|key| key.len() < MAX_KEY_BYTES));
    }

    #[test]
    fn an_object_that_is_kept_as_a_whole_is_one_of_the_keys_that_are_kept() {
        let silence = Silence::default().with_whole("run.notes env");
        for path in ["$.run.notes", "$[].run.notes", "$.env"] {
            assert!(
                silence.keeps_whole(path) && silence.covers(path) && silence.keeps(path),
                "{path}"
            );
        }
        assert!(!silence.keeps_whole("$.notes") && !silence.covers("$.run.notes.words"));
    }

    #[test]
    fn keys_count_as_a_whole_at_the_end_of_a_path() {
        let all = parse("[x]\n# nothing\nuuid usage.cost tags[] $.top\nmap people");
        let silence = &all["x"];
        for path in ["$.uuid", "$.top", "$[].uuid", "$.a.usage.cost", "$.tags[]"] {
            assert!(silence.covers(path), "{path}");
        }
        for path in ["$.a.top", "$.uuid.a", "$.xuuid", "$.cost", "$.tags", "$.uuid[]"] {
            assert!(!silence.covers(path), "{path}");
        }
        assert!(silence.is_map("$[].people") && !silence.is_map("$.people.*"));
    }
}
