//! Certification: a finished dataset is read back and held against its manifest.
//!
//! The verdict says whether the bytes are those that the run wrote and whether its accounts balance. It says nothing
//! about the derived files, and nothing about damage that also forged manifest and marker.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use crate::audit;
use crate::column::encoding_of;
use crate::disk::{Dir, DiskFile, EntryKind};
use crate::error::DatasetError;
use crate::manifest::{self, AllFiles, Inputs, MANIFEST, Manifest, SUCCESS};
use crate::parts::PartFile;
use crate::table::Table;
use crate::tables::{self, ALWAYS_WRITTEN, ConversationColumns, RejectColumns, TABLES};

/// What certification saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Table files that are as the manifest says.
    pub files: u64,
    /// Their rows.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong, one clause each, naming the file.
    pub faults: Vec<String>,
}

impl Certificate {
    /// Whether the dataset is what the run wrote.
    pub fn holds(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Reads a dataset back. Errors are only those of the request and of the operating system; damage is a fault.
pub fn certify(out: &Path) -> Result<Certificate, DatasetError> {
    let folder = &manifest::open_folder(out)?;
    let mut certificate = Certificate::default();
    let found = match manifest::find(folder, &out.join(MANIFEST)) {
        Ok(Some(found)) => found,
        Ok(None) => {
            certificate.faults.push(format!("{MANIFEST} is missing"));
            return Ok(certificate);
        }
        Err(error @ DatasetError::Corrupt { .. }) => {
            certificate.faults.push(error.to_string());
            return Ok(certificate);
        }
        Err(error) => return Err(error),
    };
    if folder.look(SUCCESS)?.is_none() {
        certificate.faults.push(format!("{SUCCESS} is missing"));
    } else if !found.is_marked(folder)? {
        certificate
            .faults
            .push(format!("{SUCCESS} does not hold the hash of {MANIFEST}"));
    }
    let manifest = match found.manifest {
        Ok(manifest) => manifest,
        Err(error) => {
            certificate.faults.push(error.to_string());
            return Ok(certificate);
        }
    };
    // Tables of another form are not damage, where the manifest is as it was written.
    if certificate.holds() {
        manifest.check_format(out)?;
    }
    let audit = audit::files(folder, &manifest)?;
    certificate.files = audit.files;
    certificate.rows = audit.rows;
    certificate.bytes = audit.bytes;
    certificate.faults.extend(audit.faults);
    certificate.faults.extend(table_faults(&manifest));
    certificate.faults.extend(ledger_faults(&manifest));
    certificate.faults.extend(input_faults(&manifest));
    // Damaged files are not worth reading, and their rows would only repeat the fault.
    if certificate.holds() {
        certificate.faults.extend(content_faults(folder, &manifest)?);
    }
    Ok(certificate)
}

/// Whether a folder holds anything that a run leaves behind: else it is the wrong folder and not a damaged dataset.
pub fn has_traces_of_a_run(out: &Path) -> Result<bool, DatasetError> {
    let folder = manifest::open_folder(out)?;
    for name in [MANIFEST, SUCCESS].iter().chain(TABLES) {
        if folder.look(name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a folder has the manifest of a dataset.
pub fn is_dataset(out: &Path) -> Result<bool, DatasetError> {
    match manifest::open_folder(out) {
        Ok(folder) => Ok(folder
            .look(MANIFEST)?
            .is_some_and(|found| found.kind() == EntryKind::File)),
        Err(DatasetError::WrongPath { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Every table once, in registry order: either listed with at least one file, or named as one that was left out.
fn table_faults(manifest: &Manifest) -> Vec<String> {
    let listed: Vec<&str> = manifest.tables.iter().map(|table| table.name.as_str()).collect();
    let is_named = |table: &&&str| manifest.absent_tables.iter().any(|absent| absent == **table);
    let absent: Vec<&str> = TABLES.iter().filter(is_named).copied().collect();
    let expected: Vec<&str> = TABLES
        .iter()
        .copied()
        .filter(|table| !absent.contains(table))
        .collect();
    let mut faults = Vec::new();
    if listed != expected {
        faults.push(format!(
            "{MANIFEST} lists the tables {listed:?} instead of {expected:?}"
        ));
    }
    if manifest.absent_tables != absent || ALWAYS_WRITTEN.iter().any(|table| absent.contains(table)) {
        faults.push(format!(
            "{MANIFEST} names the absent tables {:?}, which no run leaves out together",
            manifest.absent_tables
        ));
    }
    for table in manifest.tables.iter().filter(|table| table.parts == 0) {
        faults.push(format!("{MANIFEST} lists no file of {}", table.name));
    }
    faults
}

fn ledger_faults(manifest: &Manifest) -> Vec<String> {
    let mut faults: Vec<String> = manifest
        .inputs
        .iter()
        .filter(|input| !input.ledger().balances() || !input.rows.balances())
        .map(|input| format!("the ledger of {} does not balance", input.path))
        .collect();
    if manifest.ledger_balanced != faults.is_empty() {
        faults.push(format!(
            "{MANIFEST} says ledger_balanced = {}",
            manifest.ledger_balanced
        ));
    }
    faults
}

/// Every input was read, or was refused and says so.
fn input_faults(manifest: &Manifest) -> Vec<String> {
    let mut faults = Vec::new();
    for input in manifest.inputs.iter() {
        let path = &input.path;
        if let Some(code) = &input.refused {
            let is_one_reject = (input.framed, input.rejected, input.entries) == (1, 1, 0);
            if input.hash.is_some() || !is_one_reject || input.decoded_bytes > 0 {
                faults.push(format!("{path} was refused ({code}) and read all the same"));
            }
        } else if input.hash.is_none() {
            faults.push(format!("{path} has no hash and was not refused"));
        } else if input.entries == 0 {
            faults.push(format!("nothing of {path} was read, and it was not refused"));
        }
    }
    faults
}

/// Every file has its table's fixed schema; all agree on the encodings; and conversations and rejected frames of each input are
/// as many as the manifest says.
fn content_faults(folder: &Dir, manifest: &Manifest) -> Result<Vec<String>, DatasetError> {
    let mut faults = Vec::new();
    let mut schemas = Schemas::default();
    let mut counted = Counted::of(&manifest.inputs);
    for file in AllFiles::of(folder, &manifest.lots) {
        let file = file?;
        let (part, builder) = reader(folder, &file)?;
        faults.extend(schemas.fault(&file, builder.schema()));
        // Of a file of another form no row is counted.
        if !faults.is_empty() {
            continue;
        }
        let path = folder.at(&file.path);
        let unreadable = |error| part.unreadable(&path, error);
        match file.table.as_str() {
            ConversationColumns::NAME => visit(builder, &["input"], &mut |row| {
                let [input] = row else { return };
                counted.at(input).conversations += 1;
            }),
            RejectColumns::NAME => visit(builder, &["input", "level"], &mut |row| {
                let [input, "frame"] = row else { return };
                counted.at(input).rejects += 1;
            }),
            _ => Ok(()),
        }
        .map_err(unreadable)?;
    }
    if !faults.is_empty() {
        return Ok(faults);
    }
    if !manifest.has(ConversationColumns::NAME) {
        // There are no rows to be counted: what the manifest says stands.
        for input in manifest.inputs.iter() {
            counted.at(&input.path).conversations += input.conversations;
        }
    }
    Ok(counted.faults(&manifest.inputs))
}

/// What the files seen so far have in common.
#[derive(Default)]
struct Schemas {
    /// The encodings that they name.
    encodings: Option<Vec<String>>,
    /// The schema of each table with these encodings.
    known: BTreeMap<String, SchemaRef>,
}

impl Schemas {
    /// What is wrong with the schema of a file.
    fn fault(&mut self, file: &PartFile, found: &SchemaRef) -> Option<String> {
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
        if found.fields() != (registered.schema)(&here).fields() {
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

fn reader(
    folder: &Dir,
    file: &PartFile,
) -> Result<(DiskFile, ParquetRecordBatchReaderBuilder<DiskFile>), DatasetError> {
    let part = folder.read_part(&file.path, file.bytes)?;
    let opened = ParquetRecordBatchReaderBuilder::try_new(part.clone());
    Ok((
        part.clone(),
        opened.map_err(|error| part.unreadable(&folder.at(&file.path), error))?,
    ))
}

/// The encodings that a file's own columns name.
fn encodings_of(schema: &SchemaRef) -> Vec<String> {
    let names = schema
        .fields()
        .iter()
        .filter_map(|field| encoding_of(field.name()));
    names.map(str::to_owned).collect()
}

/// What the tables hold of an input.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Rows {
    conversations: u64,
    rejects: u64,
}

/// What the tables hold of all inputs. There may be millions of them: their names stay where they are packed.
struct Counted<'m> {
    /// Names, sorted, each once.
    names: Vec<&'m str>,
    /// What was counted of each.
    rows: Vec<Rows>,
    /// What was counted of inputs that the manifest does not name.
    strangers: BTreeMap<String, Rows>,
    /// The place of the name that was asked for last: rows of an input stand together.
    last: usize,
}

impl<'m> Counted<'m> {
    fn of(inputs: &'m Inputs) -> Self {
        let mut names: Vec<&str> = inputs.paths().collect();
        names.sort_unstable();
        names.dedup();
        Self {
            rows: vec![Rows::default(); names.len()],
            names,
            strangers: BTreeMap::new(),
            last: 0,
        }
    }

    fn at(&mut self, name: &str) -> &mut Rows {
        if self.names.get(self.last) != Some(&name) {
            let found = self.names.binary_search(&name);
            self.last = found.unwrap_or(usize::MAX);
        }
        match self.rows.get_mut(self.last) {
            Some(rows) => rows,
            None => self.strangers.entry(name.to_owned()).or_default(),
        }
    }

    /// Where the manifest says something else. An input that it names twice has the sum of both.
    fn faults(mut self, inputs: &Inputs) -> Vec<String> {
        let mut said = Counted::of(inputs);
        for input in inputs.iter() {
            let rows = said.at(&input.path);
            rows.conversations += input.conversations;
            rows.rejects += input.rejected;
        }
        let mut faults = Vec::new();
        let known = self.names.iter().copied().zip(self.rows.drain(..)).zip(said.rows);
        let strangers = self
            .strangers
            .iter()
            .map(|(name, rows)| ((name.as_str(), *rows), Rows::default()));
        for ((input, found), expected) in known.chain(strangers) {
            if found.conversations != expected.conversations {
                faults.push(format!(
                    "{input} has {} rows in {} instead of {}",
                    found.conversations,
                    ConversationColumns::NAME,
                    expected.conversations
                ));
            }
            if found.rejects != expected.rejects {
                faults.push(format!(
                    "{input} has {} frames in {} instead of {}",
                    found.rejects,
                    RejectColumns::NAME,
                    expected.rejects
                ));
            }
        }
        faults
    }
}

/// Visits the rows of a file, as the texts of some of its columns.
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
