//! Media of a record: pictures as a column of the row, and bytes as files of the export.
//!
//! A data address becomes a file of the export, named after the hash of its bytes. Other addresses and paths are unchanged: nothing is fetched,
//! opened or copied.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use chatmill_dataset::Folder;
use chatmill_dialect::MEDIA_FILES;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::envelope::MediaIn;
use crate::error::ExportError;
use crate::fields::{self, Field, elements, object, string_value, text};
use crate::filter::reasons::{MEDIA_FILE, NO_MEDIA};

/// The most bytes of a file.
const MOST_BYTES: usize = 64 << 20;
/// The most files of an export, because its summary lists all of them.
const MOST_FILES: usize = 100_000;

/// Base64 as programs write it: the unused bits of the last digit are not checked.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The keys of lists of messages, which may have pictures.
const MESSAGES: [&str; 6] = ["messages", "input", "prompt", "completion", "chosen", "rejected"];
/// The lists of media.
const LISTS: [&str; 3] = ["images", "videos", "audios"];

/// The media files of an export.
pub(crate) struct MediaFiles<'f> {
    folder: &'f Folder,
    /// The folder that is prepended to relative paths.
    root: Option<&'f str>,
    /// Whether records are Arrow structures, where the content of a message is a text.
    is_struct: bool,
    /// The names of the files.
    names: BTreeSet<String>,
    most_bytes: usize,
    most_files: usize,
}

/// Fields, or the reason for leaving out their row.
type WithMedia<'a> = Result<Vec<Field<'a>>, &'static str>;

/// A part of a message.
#[derive(Deserialize)]
struct MediaPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default, alias = "path")]
    url: Option<Cow<'a, str>>,
}

impl<'f> MediaFiles<'f> {
    pub(crate) fn new(folder: &'f Folder, root: Option<&'f str>, is_struct: bool) -> Self {
        Self {
            folder,
            root,
            is_struct,
            names: BTreeSet::new(),
            most_bytes: MOST_BYTES,
            most_files: MOST_FILES,
        }
    }

    /// Puts the media of a record where an envelope expects them.
    pub(crate) fn place<'a>(
        &mut self,
        media: MediaIn,
        mut fields: Vec<Field<'a>>,
    ) -> Result<WithMedia<'a>, ExportError> {
        match media {
            MediaIn::Parts if !self.is_struct => {}
            MediaIn::Parts | MediaIn::Nowhere => {
                if fields.iter().any(has_pictures) {
                    return Ok(Err(NO_MEDIA.words));
                }
            }
            MediaIn::Lists => {
                let lists = fields.iter_mut().filter(|field| LISTS.contains(&&*field.name));
                for list in lists {
                    let addresses = elements::<Cow<'_, str>>(&list.json).unwrap_or_default();
                    let addresses: Vec<Cow<'_, str>> =
                        addresses.into_iter().map(|(_, address)| address).collect();
                    match self.addresses(&addresses)? {
                        Some(json) => list.json = json.into(),
                        None => return Ok(Err(MEDIA_FILE.words)),
                    }
                }
            }
            MediaIn::Column if self.is_struct => return self.place(MediaIn::Nowhere, fields),
            MediaIn::Column => {
                if fields.iter().any(has_pictures) {
                    let mut addresses = Vec::new();
                    for field in fields.iter_mut().filter(|field| is_messages(field)) {
                        if let Some(json) = with_marks(&field.json, &mut addresses) {
                            field.json = json.into();
                        }
                    }
                    let Some(json) = self.addresses(&addresses)? else {
                        return Ok(Err(MEDIA_FILE.words));
                    };
                    fields.push(Field::new("images", json));
                }
            }
        }
        Ok(Ok(fields))
    }

    /// The names of the files.
    pub(crate) fn finish(self) -> Vec<String> {
        self.names.into_iter().collect()
    }

    /// The list of addresses, with file names in place of data addresses; `None` if one of these cannot become a file.
    fn addresses(&mut self, addresses: &[Cow<'_, str>]) -> Result<Option<String>, ExportError> {
        let mut list = Vec::with_capacity(addresses.len());
        for address in addresses {
            let address = if address.starts_with("data:") {
                let Some(name) = self.file(address)? else {
                    return Ok(None);
                };
                name.into()
            } else {
                self.below_root(address)
            };
            list.push(text(&address));
        }
        Ok(Some(format!("[{}]", list.join(","))))
    }

    /// Writes the bytes of a data address, unless the file exists, and returns its name; `None` if it has too many bytes or is invalid.
    fn file(&mut self, address: &str) -> Result<Option<String>, ExportError> {
        let parts = address
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(";base64,"));
        let suffix = |kind: &str| MEDIA_FILES.iter().find(|(known, _)| *known == kind);
        let Some((Some((_, suffix)), digits)) = parts.map(|(kind, digits)| (suffix(kind), digits)) else {
            return Ok(None);
        };
        if digits.len() / 4 > self.most_bytes / 3 + 1 {
            return Ok(None);
        }
        let bytes = BASE64.decode(digits).ok();
        let Some(bytes) = bytes.filter(|bytes| bytes.len() <= self.most_bytes) else {
            return Ok(None);
        };
        let hash = blake3::hash(&bytes).to_hex();
        let name = format!("media-{}.{suffix}", hash.split_at(32).0);
        if !self.names.contains(&name) {
            if self.names.len() >= self.most_files {
                return Ok(None);
            }
            let mut file = self.folder.file(&name)?;
            file.add(&bytes)?;
            file.finish()?;
            self.names.insert(name.clone());
        }
        Ok(Some(name))
    }

    /// An address; a relative path gets the folder prepended.
    fn below_root<'a>(&self, address: &'a str) -> Cow<'a, str> {
        let is_relative = !address.starts_with(['/', '\\', '~']) && !address.contains(':');
        match self.root.filter(|_| is_relative) {
            Some(root) => format!("{}/{address}", root.trim_end_matches('/')).into(),
            None => address.into(),
        }
    }
}

fn is_messages(field: &Field<'_>) -> bool {
    MESSAGES.contains(&&*field.name)
}

/// Whether a message of a list has a picture.
fn has_pictures(field: &Field<'_>) -> bool {
    let turns = is_messages(field).then(|| pictured(&field.json)).flatten();
    turns.is_some()
}

/// The fields of each message of a list; `None` if no message has a picture.
fn pictured(json: &str) -> Option<Vec<Vec<Field<'_>>>> {
    // The fast path, because most rows have no pictures.
    if !json.contains("\"type\":\"image\"") {
        return None;
    }
    let turns: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let turns: Vec<_> = turns
        .into_iter()
        .map(|turn| fields::of(turn.get()))
        .collect::<Option<_>>()?;
    let is_picture = |field: &Field<'_>| {
        let parts = (field.name == "content").then(|| elements::<MediaPart<'_>>(&field.json));
        let mut parts = parts.flatten().into_iter().flatten();
        parts.any(|(_, part)| part.kind == "image")
    };
    turns.iter().flatten().any(is_picture).then_some(turns)
}

/// A list of messages with a mark in place of each picture, and all contents as lists; the addresses are added to `addresses`. `None` if it is not a
/// list of messages.
fn with_marks(json: &str, addresses: &mut Vec<Cow<'static, str>>) -> Option<String> {
    let turns: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let turns = turns.into_iter().map(|turn| {
        let mut fields = fields::of(turn.get())?;
        let content = fields.iter_mut().find(|field| field.name == "content")?;
        content.json = if string_value(&content.json).is_some() {
            format!("[{{\"type\":\"text\",\"text\":{}}}]", content.json).into()
        } else {
            let parts = elements::<MediaPart<'_>>(&content.json)?;
            let parts = parts.into_iter().map(|(json, part)| match part.url {
                Some(address) if part.kind == "image" => {
                    addresses.push(Cow::Owned(address.into_owned()));
                    "{\"type\":\"image\"}"
                }
                _ => json,
            });
            format!("[{}]", parts.collect::<Vec<_>>().join(",")).into()
        };
        Some(object(&fields))
    });
    let turns: Vec<String> = turns.collect::<Option<_>>()?;
    Some(format!("[{}]", turns.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn folder(test_dir: &TempDir) -> Folder {
        Folder::create(&test_dir.path().join("out")).unwrap()
    }

    /// The lists of addresses after writing, with limits on bytes and files.
    fn listed(root: Option<&str>, most: (usize, usize), addresses: &[&str]) -> Vec<Option<String>> {
        #[expect(clippy::disallowed_methods, reason = "a folder of the test's own")]
        let test_dir = TempDir::new().unwrap();
        let folder = folder(&test_dir);
        let mut media = MediaFiles::new(&folder, root, false);
        (media.most_bytes, media.most_files) = most;
        let one = |address: &&str| media.addresses(&[Cow::Borrowed(*address)]).unwrap();
        addresses.iter().map(one).collect()
    }

    #[test]
    fn bytes_are_a_file_up_to_a_limit_and_no_further() {
        let [three, four] = ["data:image/png;base64,AAAA", "data:image/png;base64,AAAAAA=="];
        let is_written = |most: (usize, usize), addresses: &[&str]| -> Vec<bool> {
            listed(None, most, addresses)
                .iter()
                .map(Option::is_some)
                .collect()
        };
        assert_eq!(is_written((3, 9), &[three, four]), [true, false]);
        assert_eq!(is_written((4, 9), &[three, four]), [true, true]);
        assert_eq!(is_written((0, 9), &[three, four]), [false, false]);
        // An equal picture is the same file.
        assert_eq!(
            is_written((9, 1), &[three, three, four, three]),
            [true, true, false, true]
        );
        assert_eq!(is_written((9, 2), &[three, four]), [true, true]);
    }

    #[test]
    fn bytes_that_are_none_or_of_an_unknown_type_are_no_file() {
        let addresses = [
            "data:image/png;base64,A",
            "data:image/png,AAAA",
            "data:text/html;base64,AAAA",
            "data:image/../../x;base64,AAAA",
        ];
        assert!(listed(None, (9, 9), &addresses).iter().all(Option::is_none));
        // Many programs leave unused bits in the last digit.
        assert!(listed(None, (9, 9), &["data:audio/wav;base64,AAB="])[0].is_some());
    }

    #[test]
    fn a_root_stands_before_relative_paths_only() {
        let addresses = [
            "img/a.png",
            "/img/a.png",
            "C:\\a.png",
            "https://e.example/a.png",
            "file:///a.png",
            "~/a.png",
        ];
        let below: Vec<String> = listed(Some("sets/"), (9, 9), &addresses)
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(below[0], r#"["sets/img/a.png"]"#);
        for (address, below) in addresses.iter().zip(&below).skip(1) {
            assert_eq!(*below, format!("[{}]", text(address)));
        }
    }

    #[test]
    fn the_marks_of_a_record_are_as_many_as_its_pictures_and_in_their_order() {
        let messages = r#"[{"role":"user","content":[{"type":"image","path":"a"},{"type":"text","text":"x"},{"type":"image","url":"https://b"}]},{"role":"assistant","content":"y","tool_calls":[]}]"#;
        let mut addresses = Vec::new();
        let marked = with_marks(messages, &mut addresses).unwrap();
        assert_eq!(marked.matches(r#"{"type":"image"}"#).count(), addresses.len());
        assert_eq!(addresses, ["a", "https://b"]);
        assert!(
            marked.contains(r#"{"role":"assistant","content":[{"type":"text","text":"y"}],"tool_calls":[]}"#)
        );
        assert!(pictured(r#"[{"role":"user","content":"\"type\":\"image\""}]"#).is_none());
    }
}
