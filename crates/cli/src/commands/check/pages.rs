//! Reports that are pages: `--write html=FILE` over all files, `--write letters=DIR` a letter to each supplier, in Markdown, too.

use std::io::{self, Write};
use std::path::Path;

use chatmill_dataset::Folder;
use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};
use chatmill_intake::Failure;
use chatmill_intake::discover::lies_below;
use chatmill_report::check::{check_page, letters};

use super::gathered::Gathered;
use super::report::{Report, Totals};
use crate::exit::refuse;

/// One page.
pub(super) struct Html {
    /// What was checked.
    pub title: String,
    /// What is shown.
    pub gathered: Gathered,
}

impl Report for Html {
    fn finding(&mut self, _out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        self.gathered.add(checked, row);
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, files: &Files, _totals: &Totals) -> io::Result<()> {
        let page = check_page(&self.title, &self.gathered.files(files)).map_err(io::Error::other)?;
        out.write_all(page.as_bytes())
    }
}

/// The letters.
pub(super) struct Letters {
    /// Taken when it is published.
    folder: Option<Folder>,
    gathered: Gathered,
}

impl Letters {
    /// Begins the folder, which nothing may stand in the place of.
    ///
    /// # Errors
    ///
    /// When something is there, or when the folder would lie in one of the checked folders.
    pub(super) fn begin(path: &Path, checked: &[String], most: usize) -> anyhow::Result<Self> {
        for pattern in checked {
            if lies_in(path, pattern).map_err(|error| Failure::new("look at", path, &error))? {
                let message = format!("{} lies in what is checked", path.display());
                return refuse(message, "choose a folder elsewhere for the letters");
            }
        }
        Ok(Self {
            folder: Some(Folder::create(path)?),
            gathered: Gathered::new(most),
        })
    }

    fn write(&mut self, files: &Files) -> anyhow::Result<()> {
        let Some(folder) = self.folder.take() else {
            return Ok(());
        };
        for letter in letters(&self.gathered.files(files))? {
            for (ending, text) in [("md", &letter.markdown), ("html", &letter.html)] {
                let mut file = folder.file(&format!("{}.{ending}", letter.name))?;
                file.add(text.as_bytes())?;
                file.finish()?;
            }
        }
        Ok(folder.publish()?)
    }
}

/// Whether a path that need not exist yet would lie in a folder that is named as what is checked.
fn lies_in(path: &Path, pattern: &str) -> io::Result<bool> {
    // A glob names no folder: what it finds are files.
    if !lies_below(Path::new(pattern), pattern)? {
        return Ok(false);
    }
    for above in path.ancestors() {
        let above = if above.as_os_str().is_empty() {
            Path::new(".")
        } else {
            above
        };
        if lies_below(above, pattern)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Report for Letters {
    fn finding(&mut self, _out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        self.gathered.add(checked, row);
        Ok(())
    }

    fn end(&mut self, _out: &mut dyn Write, files: &Files, _totals: &Totals) -> io::Result<()> {
        self.write(files).map_err(io::Error::other)
    }
}
