//! Recognises files that are not chats, by their first bytes or by their names.
//!
//! Account exports are full of pictures, and folders full of notes. These files are skipped and counted, so that
//! findings are only about files that should be chats. Text without a typical beginning may be a broken export, so only
//! a name such as `README.md` makes it a note. Files that operating systems leave in folders and archives are
//! recognised by name as well, because their content varies.

use memchr::memmem;

use crate::event::{Framing, Head};

/// The beginnings of files: the offset, the bytes, and the kind of such a file.
const BEGINNINGS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1A\n", "picture"),
    (0, b"\xFF\xD8\xFF", "picture"),
    (0, b"GIF87a", "picture"),
    (0, b"GIF89a", "picture"),
    (0, b"BM", "picture"),
    (0, b"II*\0", "picture"),
    (0, b"MM\0*", "picture"),
    (8, b"WEBP", "picture"),
    (4, b"ftypheic", "picture"),
    (4, b"ftypavif", "picture"),
    (4, b"ftyp", "film"),
    (0, b"\x1A\x45\xDF\xA3", "film"),
    (8, b"AVI ", "film"),
    (8, b"WAVE", "sound"),
    (0, b"ID3", "sound"),
    (0, b"\xFF\xFB", "sound"),
    (0, b"\xFF\xF3", "sound"),
    (0, b"OggS", "sound"),
    (0, b"fLaC", "sound"),
    (0, b"#!AMR", "sound"),
    (0, b"%PDF-", "PDF document"),
    (0, b"wOFF", "font"),
    (0, b"wOF2", "font"),
    (0, b"\0asm", "program"),
    (0, b"\x7FELF", "program"),
    (0, b"MZ\x90", "program"),
    (0, b"\0\x05\x16\x07", SYSTEM_FILE),
    (0, b"\0\0\0\x01Bud1", SYSTEM_FILE),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "document"),
];

/// The kind of files that operating systems write next to others: icons, thumbnails, folder views, and attributes that
/// another file system cannot store.
const SYSTEM_FILE: &str = "system file";

/// The names of such files, in lower case.
const SYSTEM_FILES: &[&str] = &[".ds_store", "thumbs.db", "ehthumbs.db", "desktop.ini"];

/// The beginnings of markup, in lower case, after white space.
const MARKUP: &[(&[u8], &str)] = &[
    (b"<!doctype html", "web page"),
    (b"<html", "web page"),
    (b"<head", "web page"),
    (b"<svg", "picture"),
    (b"<?xml", "XML document"),
    (b"{\\rtf", "document"),
    (b"# started dump at:", "log of a dump"),
];

/// The kind of files of a multi-file dump that have no rows.
const DEFINITIONS: &str = "definition of tables";

/// The words with which statements with rows begin.
const ROWS: [&[u8]; 2] = [b"INSERT ", b"COPY "];

/// The suffixes in names of text that is not a chat, and its kind.
const NAMES: &[(&str, &str)] = &[
    (".md", "note"),
    (".markdown", "note"),
    (".rst", "note"),
    (".toml", "settings file"),
    (".yaml", "settings file"),
    (".yml", "settings file"),
    (".ini", "settings file"),
    (".css", "web page"),
    (".js", "web page"),
    (".ics", "calendar"),
    (".vcf", "address card"),
];

/// The names of notes without a suffix.
const NOTES: &[&str] = &["readme", "license", "licence", "changelog", "notice", "copying"];

/// Whether a file of this kind, although it is no chat, may contain text by people.
pub fn may_contain_text(kind: &str) -> bool {
    ![
        "picture",
        "film",
        "sound",
        "font",
        "program",
        SYSTEM_FILE,
        DEFINITIONS,
    ]
    .contains(&kind)
}

/// The kind of an entry that is no chat; `None` if it may be one.
pub fn foreign(name: &str, head: &Head) -> Option<&'static str> {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let is_macos_metadata = name.split('/').any(|folder| folder == "__MACOSX") || file.starts_with("._");
    if is_macos_metadata || SYSTEM_FILES.contains(&file.as_str()) {
        return Some(SYSTEM_FILE);
    }
    // The file names of `mydumper`: `chats.messages-schema.sql`, `chats-schema-create.sql`.
    if head.framing == Framing::Tables && file.contains("-schema") && head.complete {
        let has_rows = |words: &&[u8]| memmem::find(&head.bytes, words).is_some();
        return (!ROWS.iter().any(has_rows)).then_some(DEFINITIONS);
    }
    if matches!(head.framing, Framing::Empty | Framing::Tables) {
        return None;
    }
    let begins = |(from, beginning, kind): &(usize, &[u8], &'static str)| {
        let bytes = head.bytes.get(*from..)?;
        bytes.starts_with(beginning).then_some(*kind)
    };
    if let Some(kind) = BEGINNINGS.iter().find_map(begins) {
        return Some(kind);
    }
    let text = head.bytes.trim_ascii_start();
    let opens = |(beginning, kind): &(&[u8], &'static str)| {
        let start = text.get(..beginning.len())?;
        start.eq_ignore_ascii_case(beginning).then_some(*kind)
    };
    if let Some(kind) = MARKUP.iter().find_map(opens) {
        return Some(kind);
    }
    if matches!(text.first(), Some(b'{' | b'[' | b'"')) {
        return None;
    }
    let named = NAMES.iter().find(|(ending, _)| file.ends_with(ending));
    let stem = file.split('.').next().unwrap_or_default();
    named
        .map(|(_, kind)| *kind)
        .or_else(|| NOTES.contains(&stem).then_some("note"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, bytes: &[u8]) -> Option<&'static str> {
        let head = Head {
            framing: Framing::Documents,
            complete: true,
            bytes: bytes.to_vec(),
        };
        foreign(name, &head)
    }

    #[test]
    fn the_first_bytes_decide_and_not_the_name() {
        assert_eq!(kind("chat.json", b"\x89PNG\r\n\x1A\n..."), Some("picture"));
        assert_eq!(kind("a", b"RIFF....WEBPVP8"), Some("picture"));
        assert_eq!(kind("a", b"\0\0\0\x20ftypisom"), Some("film"));
        assert_eq!(kind("a", b"%PDF-1.7"), Some("PDF document"));
        assert_eq!(kind("a", b"\n <!DOCTYPE html><html>"), Some("web page"));
        assert_eq!(kind("picture.png", b"{\"messages\":[]}"), None);
    }

    #[test]
    fn files_of_operating_systems_are_recognised_by_name_or_bytes() {
        for (name, bytes) in [
            ("a/__MACOSX/chat.json", "x"),
            ("a/._chat.json", "x"),
            ("a/.DS_Store", ""),
            ("Thumbs.db", "x"),
            ("Desktop.ini", "[.ShellClassInfo]"),
            ("chat", "\0\u{5}\u{16}\u{7}"),
        ] {
            assert_eq!(kind(name, bytes.as_bytes()), Some(SYSTEM_FILE), "{name}");
        }
        for name in ["MACOSX/chat.txt", "_chat.txt", "thumbs.txt"] {
            assert_eq!(kind(name, b"x"), None, "{name}");
        }
    }

    #[test]
    fn text_is_a_note_only_where_its_name_marks_it() {
        assert_eq!(kind("docs/README", b"How to"), Some("note"));
        assert_eq!(kind("a/Notes.MD", b"# Notes"), Some("note"));
        assert_eq!(kind("p.toml", b"name = \"x\""), Some("settings file"));
        assert_eq!(kind("notes.md", b"{\"messages\":[]}"), None);
        for (name, bytes) in [
            ("chat.json", "<<<<<<< HEAD\n{"),
            ("chat.txt", "12/9/20, 23:55 - Ann: x"),
            ("a", ""),
        ] {
            assert_eq!(kind(name, bytes.as_bytes()), None, "{name}");
        }
    }
}
