//! What speaks against an export that holds what was asked for: its reader, or its service, would not take the files.

use crate::envelope::Envelope;
use crate::format::Format;
use crate::summary::FileSummary;

/// What speaks against these files, the one for training first.
pub(crate) fn objections(envelope: Option<&Envelope>, format: Format, files: &[FileSummary]) -> Vec<String> {
    let mut objections: Vec<String> = files
        .iter()
        .filter(|file| file.rows == 0)
        .map(|file| format!("{} is empty", file.name))
        .collect();
    let Some(envelope) = envelope else {
        return objections;
    };
    objections.extend(
        files
            .first()
            .and_then(|training| wrong_number(envelope, training)),
    );
    if envelope.is_one_table && format == Format::Jsonl {
        objections.extend(other_keys(files));
    }
    if let Some(most) = envelope.most_bytes {
        for file in files.iter().filter(|file| file.bytes > most) {
            let (name, bytes) = (&file.name, file.bytes);
            objections.push(format!(
                "{name} has {bytes} bytes, {} takes {most} at most",
                envelope.id
            ));
        }
    }
    objections
}

/// What is wrong with the number of records to train on.
fn wrong_number(envelope: &Envelope, training: &FileSummary) -> Option<String> {
    let (name, rows, id) = (&training.name, training.rows, envelope.id);
    let (least, most) = (envelope.least_records, envelope.most_records.unwrap_or(u64::MAX));
    if rows > 0 && rows < least {
        return Some(format!("{name} has {rows} records, {id} wants {least} at least"));
    }
    (rows > most).then(|| format!("{name} has {rows} records, {id} takes {most} at most"))
}

/// The first file whose lines have a key that those of another file lack.
fn other_keys(files: &[FileSummary]) -> Option<String> {
    let mut filled = files.iter().filter(|file| file.rows > 0);
    let first = filled.next()?;
    filled.find_map(|file| {
        let (with, without, key) = lacking(first, file).or_else(|| lacking(file, first))?;
        Some(format!(
            "{with} has the key `{key}` and {without} has not: `datasets` cannot load them together; take parquet"
        ))
    })
}

fn lacking<'f>(one: &'f FileSummary, other: &'f FileSummary) -> Option<(&'f str, &'f str, &'f str)> {
    let key = one.keys.iter().find(|key| !other.keys.contains(key))?;
    Some((&one.name, &other.name, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{ENVELOPES, find};

    fn file(part: &str, rows: u64, bytes: u64, keys: &[&str]) -> FileSummary {
        FileSummary {
            name: format!("{part}.jsonl"),
            part: part.to_owned(),
            begins: None,
            rows,
            conversations: rows,
            bytes,
            hash: String::new(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        }
    }

    /// Objections to a training file with so many records and bytes, beside a test file of one record.
    fn said(id: &str, rows: u64, bytes: u64) -> Vec<String> {
        let files = [file("train", rows, bytes, &[]), file("test", 1, 1, &[])];
        objections(Some(find(id).unwrap()), Format::Jsonl, &files)
    }

    #[test]
    fn the_fewest_records_are_enough_and_one_less_is_not() {
        for (id, least) in [
            ("openai-sft", 10),
            ("bedrock-conversation-2024", 8),
            ("bedrock-conversation-2024@tools", 8),
        ] {
            assert_eq!(said(id, least, 1), Vec::<String>::new());
            let wanted = format!(
                "train.jsonl has {} records, {id} wants {least} at least",
                least - 1
            );
            assert_eq!(said(id, least - 1, 1), [wanted]);
        }
        for envelope in ENVELOPES {
            assert!(said(envelope.id, 10, 1).is_empty());
        }
    }

    #[test]
    fn the_most_records_are_taken_and_one_more_is_not() {
        let id = "bedrock-conversation-2024";
        assert!(said(id, 20_000, 1).is_empty());
        let wanted = "train.jsonl has 20001 records, bedrock-conversation-2024 takes 20000 at most";
        assert_eq!(said(id, 20_001, 1), [wanted]);
        assert!(said("openai-sft", 20_001, 1).is_empty());
    }

    #[test]
    fn the_most_bytes_are_taken_and_one_more_is_not() {
        for (id, most) in [("vertex-tuning", 1 << 30), ("openai-sft", 512 << 20)] {
            assert!(said(id, 10, most).is_empty());
            let wanted = format!("train.jsonl has {} bytes, {id} takes {most} at most", most + 1);
            assert_eq!(said(id, 10, most + 1), [wanted]);
        }
        assert!(said("trl-messages", 10, 1 << 40).is_empty());
    }

    #[test]
    fn files_of_one_table_have_the_same_keys() {
        let both = [
            file("train", 1, 1, &["messages", "tools"]),
            file("test", 1, 1, &["messages"]),
        ];
        let envelope = |id| Some(find(id).unwrap());
        let found = objections(envelope("trl-messages"), Format::Jsonl, &both);
        assert!(found[0].starts_with("train.jsonl has the key `tools` and test.jsonl has not"));
        for (id, format) in [("trl-messages", Format::Parquet), ("openai-evals", Format::Jsonl)] {
            assert!(objections(envelope(id), format, &both).is_empty());
        }
        let same = [both[1].clone(), file("dev", 2, 2, &["messages"])];
        assert!(objections(envelope("trl-messages"), Format::Jsonl, &same).is_empty());
    }

    #[test]
    fn an_empty_file_is_objected_to_with_and_without_an_envelope() {
        let files = [file("train", 10, 1, &[]), file("test", 0, 0, &[])];
        for envelope in [None, Some(find("openai-sft").unwrap())] {
            assert_eq!(
                objections(envelope, Format::Parquet, &files),
                ["test.jsonl is empty"]
            );
        }
    }
}
