//! The format files of all sources, enlarged at every place up to the limits of a format file: each element of a list
//! repeated, each path made many paths, a text with many holes, or lines. They read the sample of the source, with its
//! longest list enlarged as well.

use std::ops::Range;
use std::path::Path;

use crate::amplify::{Amplified, longest_list};
use crate::shapes::Files;

/// The maximum number of entries in a list, and of holes in a text.
const MOST: usize = 64;

/// The number of elements in the sample's list when the format file grows.
const ELEMENTS: usize = 50;

/// The name of the format file.
pub(crate) const NAME: &str = "own-format.toml";

/// How a place of a format file is enlarged.
#[derive(Clone, Copy, Debug)]
enum Many {
    /// It is repeated in the list that it is part of.
    Elements,
    /// It becomes a list of itself.
    Paths,
    /// It becomes a text with holes.
    Holes,
    /// It becomes lines.
    Lines,
    /// It becomes lines of lines, nearly as many as a format file may have in all.
    Nested,
}

/// A format file that is enlarged at one place, and the sample that it reads.
pub(crate) struct LargeFormat {
    source: &'static str,
    /// The text before the enlarged place, the place, and the text after it.
    text: [String; 3],
    many: Many,
    sample: Amplified,
}

/// Every way to enlarge every format file; some results are no valid format files.
pub(crate) fn all() -> Vec<LargeFormat> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../source/src/formats");
    let mut all = Vec::new();
    for source in chatmill_source::SOURCES {
        let source = source.id();
        let text = std::fs::read_to_string(folder.join(format!("{source}.toml")));
        let (Ok(text), Some(sample)) = (text, longest_list(source)) else {
            continue;
        };
        let text: String = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        all.extend(places(&text).into_iter().map(|(place, many)| {
            let (rest, behind) = text.split_at(place.end);
            let (before, own) = rest.split_at(place.start);
            LargeFormat {
                source,
                text: [before, own, behind].map(str::to_owned),
                many,
                sample: sample.clone(),
            }
        }));
    }
    all
}

/// The paths of a format file, and the tables that are elements of lists, each with the way to enlarge it.
fn places(text: &str) -> Vec<(Range<usize>, Many)> {
    let mut all = Vec::new();
    let (mut quote, mut tables): (Option<(char, usize)>, Vec<usize>) = (None, Vec::new());
    for (at, sign) in text.char_indices() {
        match (quote, sign) {
            (Some((mark, start)), _) if sign == mark => {
                quote = None;
                let place = start..at + 1;
                if text.split_at(start).1.starts_with("\"$") {
                    let ways = [
                        Many::Elements,
                        Many::Paths,
                        Many::Holes,
                        Many::Lines,
                        Many::Nested,
                    ];
                    all.extend(ways.map(|many| (place.clone(), many)));
                }
            }
            (None, '"' | '\'') => quote = Some((sign, at)),
            (None, '{') => tables.push(at),
            (None, '}') => {
                let start = tables.pop().unwrap();
                if text.split_at(start).0.trim_end().ends_with(['[', ',']) {
                    all.push((start..at + 1, Many::Elements));
                }
            }
            _ => {}
        }
    }
    all
}

impl LargeFormat {
    /// The name in tables.
    pub(crate) fn name(&self) -> String {
        let place: String = self.text[1].chars().take(60).collect();
        format!(
            "{}.toml {place} {:?}, {}",
            self.source,
            self.many,
            self.sample.name()
        )
    }

    /// The format file with `count` copies at its place.
    fn format(&self, count: usize) -> String {
        let [before, own, behind] = &self.text;
        let list = |one: &str, count: usize| vec![one; count].join(", ");
        let lines = |one: &str, count: usize| format!("{{ lines = [{}] }}", list(one, count));
        let many = match self.many {
            Many::Elements => list(own, count),
            Many::Paths => format!("[{}]", list(own, count)),
            Many::Holes => {
                let path = own
                    .trim_matches('"')
                    .trim_start_matches('$')
                    .trim_start_matches('.');
                let path = if path.is_empty() { "$" } else { path };
                format!("\"{}\"", format!("{{{path}}}").repeat(count))
            }
            Many::Lines => lines(own, count),
            Many::Nested => lines(&lines(own, 20), count),
        };
        [before.as_str(), &many, behind].concat()
    }

    /// Whether the result is a valid format file at its largest.
    pub(crate) fn is_one(&self) -> bool {
        chatmill_source::load(NAME.trim_end_matches(".toml"), &self.format(MOST)).is_ok()
    }

    /// The largest format file, with a sample of about `n` elements.
    pub(crate) fn by_sample(&self, n: usize) -> Files {
        self.files(MOST, n)
    }

    /// A format file with `count` copies at its place.
    pub(crate) fn by_format(&self, count: usize) -> Files {
        self.files(count.min(MOST), ELEMENTS)
    }

    fn files(&self, count: usize, n: usize) -> Files {
        let mut files = self.sample.files(n);
        files.push((format!("../{NAME}"), self.format(count).into_bytes()));
        files
    }
}
