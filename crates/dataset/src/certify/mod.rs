//! Certification: reads a finished dataset back and compares it with its manifest. `chatmill certify` and the nights
//! call it; publishing uses the same checks before the dataset appears.
//!
//! The verdict states whether the bytes are those that the run wrote and whether its accounts balance. It does not
//! cover the derived files, and it does not detect a change after which manifest and marker were forged as well.

pub(crate) mod account;
pub(crate) mod audit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use self::account::{InputRows, account_problems};
use crate::disk::{Dir, DiskFile, EntryKind};
use crate::error::{DatasetError, or_corruption};
use crate::manifest::{self, Inputs, MANIFEST, Manifest, SUCCESS, all_files};
use crate::parquet::column::encoding_of;
use crate::tables::part_file::PartFile;
use crate::tables::table::Table;
use crate::tables::{self, ALWAYS_WRITTEN, ConversationColumns, RejectColumns, TABLES};

/// The result of certification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Table files that agree with the manifest.
    pub files: u64,
    /// The number of rows.
    pub rows: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The problems, one clause each, with the name of the file.
    pub problems: Vec<String>,
}

impl Certificate {
    fn with(mut self, problem: String) -> Self {
        self.problems.push(problem);
        self
    }

    /// Whether the dataset is unchanged since the run wrote it.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Reads a dataset back. An error is one of the request or of the operating system; corruption is a problem in the certificate.
pub fn certify(out: &Path) -> Result<Certificate, DatasetError> {
    let folder = &manifest::open_folder(out)?;
    let mut certificate = Certificate::default();
    let found = match or_corruption(manifest::find(folder, &out.join(MANIFEST)))? {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(certificate.with(format!("{MANIFEST} is missing"))),
        Err(corruption) => return Ok(certificate.with(corruption.to_string())),
    };
    if folder.stat(SUCCESS)?.is_none() {
        certificate = certificate.with(format!("{SUCCESS} is missing"));
    } else if !found.is_marked(folder)? {
        certificate = certificate.with(format!("{SUCCESS} does not hold the hash of {MANIFEST}"));
    }
    let manifest = match found.manifest {
        Ok(manifest) => manifest,
        Err(error) => return Ok(certificate.with(error.to_string())),
    };
    // Where the manifest is unchanged, another format version is no corruption.
    if certificate.holds() {
        manifest.check_format(out)?;
    }
    let audit = audit::files(folder, &manifest)?;
    certificate.files = audit.files;
    certificate.rows = audit.rows;
    certificate.bytes = audit.bytes;
    certificate
        .problems
        .extend(audit.problems.into_iter().chain(audit.strangers));
    certificate.problems.extend(manifest_problems(&manifest));
    // The rows of corrupt files are not read: they would only repeat the problem.
    if certificate.holds() {
        certificate.problems.extend(content_problems(folder, &manifest)?);
    }
    Ok(certificate)
}

/// Whether a folder holds any file that a run writes; without one, the path is wrong and the dataset is not damaged.
pub fn has_traces_of_a_run(out: &Path) -> Result<bool, DatasetError> {
    let folder = manifest::open_folder(out)?;
    for name in [MANIFEST, SUCCESS].iter().chain(TABLES) {
        if folder.stat(name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a folder has the manifest of a dataset.
pub fn is_dataset(out: &Path) -> Result<bool, DatasetError> {
    match manifest::open_folder(out) {
        Ok(folder) => Ok(folder
            .stat(MANIFEST)?
            .is_some_and(|found| found.kind() == EntryKind::File)),
        Err(DatasetError::WrongPath { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Problems inside a manifest: tables, ledgers and inputs that no run writes. No other file is read.
pub(crate) fn manifest_problems(manifest: &Manifest) -> Vec<String> {
    let mut problems = table_problems(manifest);
    let mut is_balanced = true;
    for input in manifest.inputs.iter() {
        is_balanced &= account::is_balanced(&input);
        problems.extend(account_problems(&input, InputRows::stated(&input)));
    }
    if manifest.ledger_balanced != is_balanced {
        problems.push(format!(
            "{MANIFEST} has ledger_balanced = {}",
            manifest.ledger_balanced
        ));
    }
    problems
}

/// Problems of the list of tables: each must be there once, in registry order, either with at least one file or as one
/// that was left out.
fn table_problems(manifest: &Manifest) -> Vec<String> {
    let listed: Vec<&str> = manifest.tables.iter().map(|table| table.name.as_str()).collect();
    let is_named = |table: &&&str| manifest.absent_tables.iter().any(|absent| absent == **table);
    let absent: Vec<&str> = TABLES.iter().filter(is_named).copied().collect();
    let expected: Vec<&str> = TABLES
        .iter()
        .copied()
        .filter(|table| !absent.contains(table))
        .collect();
    let mut problems = Vec::new();
    if listed != expected {
        problems.push(format!(
            "{MANIFEST} lists the tables {listed:?} instead of {expected:?}"
        ));
    }
    if manifest.absent_tables != absent || ALWAYS_WRITTEN.iter().any(|table| absent.contains(table)) {
        problems.push(format!(
            "{MANIFEST} names the absent tables {:?}, which no run leaves out together",
            manifest.absent_tables
        ));
    }
    for table in manifest.tables.iter().filter(|table| table.parts == 0) {
        problems.push(format!("{MANIFEST} lists no file of {}", table.name));
    }
    problems
}

/// Problems in the files: each must have the fixed schema of its table, all must agree on the encodings, the
/// conversations and rejected frames of each input must be as many as the manifest states, and no two conversations may
/// have the same id.
pub(crate) fn content_problems(folder: &Dir, manifest: &Manifest) -> Result<Vec<String>, DatasetError> {
    let mut problems = Vec::new();
    let mut schemas = Schemas::default();
    let mut counted = CountedRows::of(&manifest.inputs);
    let mut ids = Vec::new();
    for file in all_files(folder, &manifest.shards) {
        let file = file?;
        let path = folder.at(&file.path);
        let part = folder.read_part(&file.path, file.bytes)?;
        let builder = part.batches(&path)?;
        problems.extend(schemas.problem(&file, builder.schema()));
        // The rows of a file with another schema are not counted.
        if !problems.is_empty() {
            continue;
        }
        let unreadable = |error| part.unreadable(&path, error);
        match file.table.as_str() {
            ConversationColumns::NAME => visit(builder, &["input", ID], &mut |row| {
                let [input, id] = row else { return };
                counted.at(input).conversations += 1;
                ids.push(hash_of(id));
            }),
            RejectColumns::NAME => visit(builder, &["input", "level"], &mut |row| {
                let [input, "frame"] = row else { return };
                counted.at(input).rejects += 1;
            }),
            _ => Ok(()),
        }
        .map_err(unreadable)?;
    }
    if !problems.is_empty() {
        return Ok(problems);
    }
    if !manifest.has(ConversationColumns::NAME) {
        // Without the table there are no rows to count, so the figures of the manifest are used.
        for input in manifest.inputs.iter() {
            counted.at(&input.path).conversations += input.conversations;
        }
    }
    problems = counted.problems(&manifest.inputs);
    problems.extend(repeated_id(folder, manifest, ids)?);
    Ok(problems)
}

/// The column with the id of a conversation.
const ID: &str = "conversation_id";

/// The maximum number of repeated hashes for which ids are compared. In a dataset that fits on a disk, not even one
/// repetition is to be expected by chance.
const MAX_COMPARED_HASHES: usize = 1_000;

/// The problem of an id that several conversations have. A set of all ids would not fit in memory for a large dataset,
/// so only eight bytes of the hash of each are kept and sorted. Equal hashes may belong to different ids, so these ids
/// are read again and compared.
fn repeated_id(
    folder: &Dir,
    manifest: &Manifest,
    mut hashes: Vec<u64>,
) -> Result<Option<String>, DatasetError> {
    hashes.sort_unstable();
    let alike = hashes.chunk_by(|one, next| one == next);
    let alike = alike.filter(|run| run.len() > 1).filter_map(<[u64]>::first);
    let alike: Vec<u64> = alike.take(MAX_COMPARED_HASHES).copied().collect();
    drop(hashes);
    let (mut seen, mut twice) = (BTreeSet::new(), None);
    for file in all_files(folder, &manifest.shards).filter(|_| !alike.is_empty()) {
        let file = file?;
        if file.table != ConversationColumns::NAME || twice.is_some() {
            continue;
        }
        let path = folder.at(&file.path);
        let part = folder.read_part(&file.path, file.bytes)?;
        visit(part.batches(&path)?, &[ID], &mut |row| {
            let [id] = row else { return };
            if alike.binary_search(&hash_of(id)).is_ok() && !seen.insert((*id).to_owned()) {
                twice = Some((*id).to_owned());
            }
        })
        .map_err(|error| part.unreadable(&path, error))?;
    }
    Ok(twice.map(|id| {
        format!(
            "{} has several rows with the {ID} {id}",
            ConversationColumns::NAME
        )
    }))
}

fn hash_of(id: &str) -> u64 {
    let mut head = [0; 8];
    let mut hasher = blake3::Hasher::new();
    hasher.update(id.as_bytes()).finalize_xof().fill(&mut head);
    u64::from_le_bytes(head)
}

/// The schemas and encodings of the files seen so far.
#[derive(Default)]
struct Schemas {
    /// The encodings that the files seen so far name; `None` before the first one.
    encodings: Option<Vec<String>>,
    /// The schema of each table with these encodings.
    known: BTreeMap<String, SchemaRef>,
}

impl Schemas {
    /// The problem of a file's schema.
    fn problem(&mut self, file: &PartFile, found: &SchemaRef) -> Option<String> {
        if self
            .known
            .get(&file.table)
            .is_some_and(|known| known.fields() == found.fields())
        {
            return None;
        }
        let registered = tables::find(&file.table)?;
        let here = encodings_of(found);
        let has_encodings = (registered.schema)(&["any".to_owned()]) != (registered.schema)(&[]);
        let schema = (registered.schema)(&here);
        // A dataset with the same format number may be older than some columns; it then lacks all of them.
        let added = tables::added(&file.table);
        let earlier = schema
            .fields()
            .iter()
            .filter(|field| !added.contains(&field.name().as_str()));
        if found.fields() != schema.fields() && !earlier.eq(found.fields()) {
            return Some(format!(
                "{} does not have the schema of {}",
                file.path, file.table
            ));
        }
        if has_encodings && *self.encodings.get_or_insert_with(|| here.clone()) != here {
            return Some(format!(
                "{} has other encodings than the files before it",
                file.path
            ));
        }
        self.known.insert(file.table.clone(), found.clone());
        None
    }
}

/// The encodings that the columns of a file name.
fn encodings_of(schema: &SchemaRef) -> Vec<String> {
    let names = schema
        .fields()
        .iter()
        .filter_map(|field| encoding_of(field.name()));
    names.map(str::to_owned).collect()
}

/// The rows of all inputs, as counted in the tables. There may be millions of inputs, so their names are borrowed from
/// the manifest, where they are packed.
struct CountedRows<'m> {
    /// The names, sorted and without duplicates.
    names: Vec<&'m str>,
    /// The counted rows of each name.
    rows: Vec<InputRows>,
    /// The counted rows of inputs that the manifest does not name.
    strangers: BTreeMap<String, InputRows>,
    /// The index of the last name that was found: rows of one input are adjacent.
    last: usize,
}

impl<'m> CountedRows<'m> {
    fn of(inputs: &'m Inputs) -> Self {
        let mut names: Vec<&str> = inputs.paths().collect();
        names.sort_unstable();
        names.dedup();
        Self {
            rows: vec![InputRows::default(); names.len()],
            names,
            strangers: BTreeMap::new(),
            last: 0,
        }
    }

    fn at(&mut self, name: &str) -> &mut InputRows {
        if self.names.get(self.last) != Some(&name) {
            let found = self.names.binary_search(&name);
            self.last = found.unwrap_or(usize::MAX);
        }
        match self.rows.get_mut(self.last) {
            Some(rows) => rows,
            None => self.strangers.entry(name.to_owned()).or_default(),
        }
    }

    /// The inputs for which the manifest states other counts. An input that the manifest names twice has the sum of both.
    fn problems(mut self, inputs: &Inputs) -> Vec<String> {
        let mut stated = CountedRows::of(inputs);
        for input in inputs.iter() {
            stated.at(&input.path).add(InputRows::stated(&input));
        }
        let known = self
            .names
            .iter()
            .copied()
            .zip(self.rows.drain(..))
            .zip(stated.rows);
        let strangers = self
            .strangers
            .iter()
            .map(|(name, rows)| ((name.as_str(), *rows), InputRows::default()));
        let all = known.chain(strangers);
        all.flat_map(|((input, found), stated)| found.problems(stated, input))
            .collect()
    }
}

/// Visits the rows of a file as the texts of some of its columns.
fn visit(
    builder: ParquetRecordBatchReaderBuilder<DiskFile>,
    columns: &[&str],
    row: &mut dyn FnMut(&[&str]),
) -> Result<(), ParquetError> {
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    for batch in builder.with_projection(mask).build()? {
        let batch = batch?;
        let texts: Vec<_> = columns
            .iter()
            .filter_map(|name| batch.column_by_name(name)?.as_string_opt::<i32>())
            .collect();
        for number in 0..batch.num_rows() {
            let values: Vec<&str> = texts.iter().map(|text| text.value(number)).collect();
            row(&values);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Schema};

    use super::*;

    /// The problem of a file that has these columns of its table.
    fn problem(table: &str, has: impl Fn(&Field) -> bool) -> Option<String> {
        let schema = (tables::find(table).unwrap().schema)(&[]);
        let fields: Vec<_> = schema
            .fields()
            .iter()
            .filter(|field| has(field))
            .cloned()
            .collect();
        let file = PartFile {
            table: table.to_owned(),
            path: "part".to_owned(),
            rows: 0,
            bytes: 0,
            hash: String::new(),
        };
        Schemas::default().problem(&file, &Arc::new(Schema::new(fields)))
    }

    #[test]
    fn columns_that_came_later_are_all_there_or_all_missing() {
        for table in ["messages", "totals"] {
            let added = tables::added(table);
            assert_eq!(problem(table, |_| true), None);
            assert_eq!(
                problem(table, |field| !added.contains(&field.name().as_str())),
                None
            );
            for one in added {
                assert!(problem(table, |field| field.name() != one).is_some(), "{one}");
            }
            assert!(problem(table, |field| field.name() != "model").is_some());
        }
    }
}
