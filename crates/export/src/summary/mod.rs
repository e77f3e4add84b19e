//! The summary of an export: printed, and written as `export.json` next to the files. Other modules fill in its figures.
//!
//! Nothing in the summary depends on time, host or directory.

pub(crate) mod left_out;
pub(crate) mod losses;
pub(crate) mod split_summary;
pub(crate) mod turn_counts;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use chatmill_diag::limits::MIB;
use chatmill_intake::discover::read_small;
use chatmill_intake::{Failure, is_of_the_system};
use serde::{Deserialize, Serialize};

use crate::error::ExportError;
use crate::filter::Filters;
use crate::format::Format;
use crate::split::SplitBy;
use crate::summary::left_out::{LeftOut, LeftOutRow};
use crate::summary::losses::LossFigures;
use crate::summary::split_summary::SplitSummary;
use crate::summary::turn_counts::TurnCounts;
use crate::{CARD, SUMMARY};

/// An export in figures.
#[derive(Clone, Debug, Serialize)]
pub struct ExportSummary {
    /// The program.
    pub program: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// Fingerprint of the dataset.
    pub dataset: String,
    /// The dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// Form of the files.
    pub format: Format,
    /// The envelope; `None` for renderings without one.
    pub envelope: Option<&'static str>,
    /// The filters of the request.
    pub filters: Filters,
    /// The property that decided the division; `None` for one file.
    pub split_by: Option<SplitBy>,
    /// The properties that the division kept together, and what its parts have in common; `None` for one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitSummary>,
    /// The seed of the division; `None` if the seed was 0, or no hash decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split_seed: Option<u64>,
    /// The seed of the order of rows; `None` if rows have the order of the dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle_seed: Option<u64>,
    /// Renderings of this dialect and profile.
    pub read: u64,
    /// Renderings in the files.
    pub kept: u64,
    /// Renderings that are not in the files, by reason; with `kept` they add up to `read`.
    pub left_out: Vec<LeftOut>,
    /// These renderings one by one, sorted, if the request asks for the list; not part of the file.
    #[serde(skip)]
    pub rows_left_out: Option<Vec<LeftOutRow>>,
    /// Losses and changes of the renderings in the files, by code: made-up content first, then text, then the rest.
    pub losses: Vec<LossFigures>,
    /// Turns after the assistant's last one, which the envelope cut from the records.
    pub turns_cut: u64,
    /// Turns of the assistant in the records, by their use in training; `None` without an envelope, and for preferences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<TurnCounts>,
    /// Labels in the records by their basis: `stated`, `ranks` or `scores`; empty for records without labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<&'static str, u64>,
    /// Settings that a trainer needs, and turns that it cannot train on.
    pub notes: Vec<String>,
    /// The files in the order of the parts.
    pub files: Vec<FileSummary>,
    /// Names of further files of the folder, without the summary.
    pub beside: Vec<String>,
    /// BLAKE3 hash of the card when it was written, in hexadecimal.
    pub card_hash: Option<String>,
    /// Problems that the trainer or the service would have with the files.
    #[serde(rename = "objections")]
    pub problems: Vec<String>,
}

/// A file of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileSummary {
    /// The name of the file.
    pub name: String,
    /// The name of its part.
    pub part: String,
    /// The time when the part begins, for a division by time; `None` for the first part, which begins with the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begins: Option<String>,
    /// Records in it.
    pub rows: u64,
    /// Conversations in it.
    pub conversations: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// BLAKE3 hash of its bytes, in hexadecimal.
    pub hash: String,
    /// Top-level keys of its records, in order of appearance.
    pub keys: Vec<String>,
    /// For an index, the names of its pages, which the summary lists among the further files.
    #[serde(skip)]
    pub pages: Vec<String>,
}

/// The names of files in the summary of an earlier export.
#[derive(Deserialize)]
struct Earlier {
    program: String,
    files: Vec<EarlierFile>,
    /// The hash of the card; `None` in exports without one.
    card_hash: Option<String>,
    #[serde(default)]
    beside: Vec<String>,
}

#[derive(Deserialize)]
struct EarlierFile {
    name: String,
}

/// The names of files that an earlier export wrote into a folder; empty without an earlier export.
pub(crate) fn names_of_earlier(folder: &Path) -> Result<BTreeSet<String>, ExportError> {
    let path = folder.join(SUMMARY);
    let text = match read_small(&path, 16 * MIB) {
        Ok(text) => text,
        Err(error) if is_of_the_system(&error) => return Err(Failure::new("read", &path, &error).into()),
        Err(_) => return Ok(BTreeSet::new()),
    };
    let earlier = serde_json::from_str::<Earlier>(&text).ok();
    let Some(earlier) = earlier.filter(|earlier| earlier.program == chatmill_dataset::PROGRAM) else {
        return Ok(BTreeSet::new());
    };
    if let Some(hash) = &earlier.card_hash {
        let card = folder.join(CARD);
        let is_as_written = match read_small(&card, 16 * MIB) {
            Ok(text) => blake3::hash(text.as_bytes()).to_hex().as_str() == hash,
            Err(error) if is_of_the_system(&error) => return Err(Failure::new("read", &card, &error).into()),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if !is_as_written {
            return Err(ExportError::request(
                format!(
                    "{} is not as chatmill wrote it, and would be lost",
                    card.display()
                ),
                "move it away or delete it, then run again",
            ));
        }
    }
    let files = earlier.files.into_iter().map(|file| file.name);
    let names = files.chain(earlier.beside);
    Ok(names.chain([SUMMARY.to_owned()]).collect())
}

impl ExportSummary {
    /// The number of renderings that were left out.
    pub fn rows_left_out(&self) -> u64 {
        self.left_out.iter().map(|left| left.rows).sum()
    }

    /// The summary as `export.json` has it.
    pub fn json(&self) -> String {
        // Plain structs with text keys can always be written as JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
