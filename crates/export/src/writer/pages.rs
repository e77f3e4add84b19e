//! The pages of a part: a file for each rendering, and an index of them.
//!
//! Ids and titles come from strangers. The name of a page is its number, with letters, digits and hyphens of the conversation's id, so that names
//! differ on any disk; in the index, an id is escaped, and a title is the heading of its page, which is Markdown already.

use chatmill_dataset::{DatasetError, FileMeasure, Folder, FolderFile};
use chatmill_diag::markdown::plain;

use crate::error::ExportError;

/// The dialect of pages.
pub(crate) const DIALECT: &str = "markdown";
/// The name of the index if nothing is divided.
pub(crate) const INDEX: &str = "index.md";
/// The most pages of an export, because its summary lists all of them.
const MOST_PAGES: usize = 100_000;
/// The most characters of an id in the name of a page.
const NAMED: usize = 40;
/// The most bytes of a title in the index.
const TITLED: usize = 400;

/// The pages of a part while they are written.
pub(crate) struct Pages<'f> {
    folder: &'f Folder,
    index: FolderFile,
    /// The prefix of the names of its pages.
    prefix: String,
    pub(crate) names: Vec<String>,
    most: usize,
}

impl<'f> Pages<'f> {
    /// Begins with the index of this name: the name of its part, or [`INDEX`].
    pub(crate) fn new(folder: &'f Folder, index: FolderFile, name: &str) -> Self {
        let part = name.strip_suffix(".md").filter(|_| name != INDEX);
        Self {
            folder,
            index,
            prefix: part.map(|part| format!("{part}-")).unwrap_or_default(),
            names: Vec::new(),
            most: MOST_PAGES,
        }
    }

    /// Writes the page of a conversation, and its line in the index.
    pub(crate) fn write(&mut self, conversation: &str, page: &str) -> Result<(), ExportError> {
        if self.names.len() >= self.most {
            return Err(ExportError::request(
                format!("there are more than {} pages", self.most),
                "take fewer inputs, or `--set select.limit=N`",
            ));
        }
        let number = self.names.len() + 1;
        let name = format!("{}{number:06}{}.md", self.prefix, slug(conversation));
        let mut file = self.folder.file(&name)?;
        file.add(page.as_bytes())?;
        file.finish()?;
        let title = page.lines().next().and_then(|line| line.strip_prefix("# "));
        let title = title.filter(|title| title.len() <= TITLED);
        let title = title.map_or_else(String::new, |title| format!(": {title}"));
        let line = format!("- [{}]({name}){title}\n", plain(conversation));
        self.index.add(line.as_bytes())?;
        self.names.push(name);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<FileMeasure, DatasetError> {
        self.index.finish()
    }
}

/// Letters, digits and hyphens of an id, after a hyphen.
fn slug(id: &str) -> String {
    let mut slug = String::new();
    for sign in id.chars() {
        if sign.is_ascii_alphanumeric() {
            slug.push(sign.to_ascii_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= NAMED {
            break;
        }
    }
    match slug.trim_matches('-') {
        "" => String::new(),
        slug => format!("-{slug}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_letters_and_digits_only() {
        for (id, name) in [
            ("ferry_launch_week", "-ferry-launch-week"),
            ("../../etc/passwd", "-etc-passwd"),
            ("C:\\CON. ", "-c-con"),
            ("\u{202e}\u{0}שלום", ""),
            ("", ""),
        ] {
            assert_eq!(slug(id), name, "{id:?}");
        }
        assert!(slug(&"é.x".repeat(1_000)).len() <= NAMED + 1);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a folder of the test's own")]
    fn pages_are_as_many_files_and_lines_of_the_index_and_not_too_many() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::create_over(&parent.path().join("out"), [].into()).unwrap();
        let mut pages = Pages::new(&folder, folder.file("index.md").unwrap(), "index.md");
        pages.most = 3;
        for (id, page) in [
            ("a](x) <b>", "# T \\*x\\*\n\nwords\n"),
            ("A", "**Ann**\n"),
            ("a", "#\n"),
        ] {
            pages.write(id, page).unwrap();
        }
        assert!(pages.write("b", "x").is_err());
        assert_eq!(pages.names, ["000001-a-x-b.md", "000002-a.md", "000003-a.md"]);
        pages.finish().unwrap();
        folder.publish().unwrap();
        let read = |name: &str| std::fs::read_to_string(parent.path().join("out").join(name)).unwrap();
        assert_eq!(
            read("index.md"),
            "- [a\\](x) &lt;b&gt;](000001-a-x-b.md): T \\*x\\*\n- [A](000002-a.md)\n- [a](000003-a.md)\n"
        );
        assert_eq!(read("000002-a.md"), "**Ann**\n");
    }
}
