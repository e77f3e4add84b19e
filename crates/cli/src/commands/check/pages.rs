//! Reports that are pages: `--write html=FILE` for all files, and `--write letters=DIR` with a report for each supplier, as HTML and
//! Markdown.

use std::io::{self, Write};
use std::path::Path;

use chatmill_dataset::Folder;
use chatmill_dataset::rows::FindingRow;
use chatmill_engine::check::{Checked, Files};
use chatmill_intake::Failure;
use chatmill_intake::discover::lies_below;
use chatmill_report::check::{check_page, supplier_reports};

use super::findings_by_file::FindingsByFile;
use super::report::{Report, Totals};
use crate::exit::{Outcome, refuse};

/// The report of `--write html=FILE`.
pub(super) struct Html {
    /// The title: the checked paths.
    pub title: String,
    /// The findings that the page shows.
    pub findings: FindingsByFile,
    /// Whether paths and ids are not masked, so that the page may print commands with them.
    pub quotes: bool,
}

impl Report for Html {
    fn finding(&mut self, _out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        self.findings.add(checked, row);
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, files: &Files, _totals: &Totals) -> io::Result<()> {
        let mut checked = self.findings.files(files);
        for file in checked.iter_mut().filter(|_| self.quotes) {
            file.shown_by = Some(file.path.clone());
        }
        let page = check_page(&self.title, &checked).map_err(io::Error::other)?;
        out.write_all(page.as_bytes())
    }
}

/// The report of `--write letters=DIR`.
pub(super) struct SupplierReports {
    /// The folder; `None` once it is published.
    folder: Option<Folder>,
    findings: FindingsByFile,
}

impl SupplierReports {
    /// Creates the folder.
    ///
    /// # Errors
    ///
    /// When the path already exists, or would be inside one of the checked folders.
    pub(super) fn begin(path: &Path, checked: &[String]) -> Outcome<Self> {
        for pattern in checked {
            if lies_in(path, pattern).map_err(|error| Failure::new("look at", path, &error))? {
                let message = format!("{} is inside the checked inputs", path.display());
                return refuse(message, "choose another folder for the letters");
            }
        }
        Ok(Self {
            folder: Some(Folder::create(path)?),
            findings: FindingsByFile::default(),
        })
    }

    fn write(&mut self, files: &Files) -> Outcome<()> {
        let Some(folder) = self.folder.take() else {
            return Ok(());
        };
        for report in supplier_reports(&self.findings.files(files))? {
            for (ending, text) in [("md", &report.markdown), ("html", &report.html)] {
                let mut file = folder.file(&format!("{}.{ending}", report.name))?;
                file.add(text.as_bytes())?;
                file.finish()?;
            }
        }
        Ok(folder.publish()?)
    }
}

/// Whether a path, which need not exist yet, would be inside a folder that is to be checked.
fn lies_in(path: &Path, pattern: &str) -> io::Result<bool> {
    // A glob matches files, and a file cannot contain the path.
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

impl Report for SupplierReports {
    fn finding(&mut self, _out: &mut dyn Write, checked: &Checked, row: &FindingRow) -> io::Result<()> {
        self.findings.add(checked, row);
        Ok(())
    }

    fn end(&mut self, _out: &mut dyn Write, files: &Files, _totals: &Totals) -> io::Result<()> {
        self.write(files).map_err(io::Error::other)
    }
}
