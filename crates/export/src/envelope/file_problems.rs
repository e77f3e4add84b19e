//! Problems of finished files: the export is what the request asks for, but the trainer or the service would not accept the files.

use crate::envelope::Envelope;
use crate::format::Format;
use crate::summary::FileSummary;

/// The problems of these files; the file for training is the first one.
pub(crate) fn problems(envelope: Option<&Envelope>, format: Format, files: &[FileSummary]) -> Vec<String> {
    let mut problems: Vec<String> = files
        .iter()
        .filter(|file| file.rows == 0)
        .map(|file| format!("{} is empty", file.name))
        .collect();
    let Some(envelope) = envelope else {
        return problems;
    };
    problems.extend(
        files
            .first()
            .and_then(|training| wrong_number(envelope, training)),
    );
    if envelope.is_one_table && format == Format::Jsonl {
        problems.extend(other_keys(files));
    }
    if let Some(most) = envelope.most_bytes {
        for file in files.iter().filter(|file| file.bytes > most) {
            let (name, bytes) = (&file.name, file.bytes);
            problems.push(format!(
                "{name} has {bytes} bytes, {} takes at most {most}",
                envelope.id
            ));
        }
    }
    problems
}

/// A file for training with too few or too many records.
fn wrong_number(envelope: &Envelope, training: &FileSummary) -> Option<String> {
    let (name, rows, id) = (&training.name, training.rows, envelope.id);
    let (least, most) = (envelope.least_records, envelope.most_records.unwrap_or(u64::MAX));
    if rows > 0 && rows < least {
        return Some(format!("{name} has {rows} records, {id} needs at least {least}"));
    }
    (rows > most).then(|| format!("{name} has {rows} records, {id} takes at most {most}"))
}

/// The first file with lines that have a key which the lines of another file lack.
fn other_keys(files: &[FileSummary]) -> Option<String> {
    let mut filled = files.iter().filter(|file| file.rows > 0);
    let first = filled.next()?;
    filled.find_map(|file| {
        let (with, without, key) = lacking(first, file).or_else(|| lacking(file, first))?;
        Some(format!(
            "{with} has the key `{key}`, {without} does not: `datasets` cannot load them together; use --format parquet"
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
            pages: Vec::new(),
        }
    }

    /// Problems of a training file with so many records and bytes, next to a test file of one record.
    fn problems_of(id: &str, rows: u64, bytes: u64) -> Vec<String> {
        let files = [file("train", rows, bytes, &[]), file("test", 1, 1, &[])];
        problems(Some(find(id).unwrap()), Format::Jsonl, &files)
    }

    #[test]
    fn the_fewest_records_are_enough_and_one_less_is_not() {
        for (id, least) in [
            ("openai-sft", 10),
            ("bedrock-conversation-2024", 8),
            ("bedrock-conversation-2024@tools", 8),
        ] {
            assert_eq!(problems_of(id, least, 1), Vec::<String>::new());
            let wanted = format!(
                "train.jsonl has {} records, {id} needs at least {least}",
                least - 1
            );
            assert_eq!(problems_of(id, least - 1, 1), [wanted]);
        }
        for envelope in ENVELOPES {
            assert!(problems_of(envelope.id, 10, 1).is_empty());
        }
    }

    #[test]
    fn the_most_records_are_taken_and_one_more_is_not() {
        let id = "bedrock-conversation-2024";
        assert!(problems_of(id, 20_000, 1).is_empty());
        let wanted = "train.jsonl has 20001 records, bedrock-conversation-2024 takes at most 20000";
        assert_eq!(problems_of(id, 20_001, 1), [wanted]);
        assert!(problems_of("openai-sft", 20_001, 1).is_empty());
    }

    #[test]
    fn the_most_bytes_are_taken_and_one_more_is_not() {
        for (id, most) in [("vertex-tuning", 1 << 30), ("openai-sft", 512 << 20)] {
            assert!(problems_of(id, 10, most).is_empty());
            let wanted = format!("train.jsonl has {} bytes, {id} takes at most {most}", most + 1);
            assert_eq!(problems_of(id, 10, most + 1), [wanted]);
        }
        assert!(problems_of("trl-messages", 10, 1 << 40).is_empty());
    }

    #[test]
    fn files_of_one_table_have_the_same_keys() {
        let both = [
            file("train", 1, 1, &["messages", "tools"]),
            file("test", 1, 1, &["messages"]),
        ];
        let envelope = |id| Some(find(id).unwrap());
        let found = problems(envelope("trl-messages"), Format::Jsonl, &both);
        assert!(found[0].starts_with("train.jsonl has the key `tools`, test.jsonl does not"));
        for (id, format) in [("trl-messages", Format::Parquet), ("openai-evals", Format::Jsonl)] {
            assert!(problems(envelope(id), format, &both).is_empty());
        }
        let same = [both[1].clone(), file("dev", 2, 2, &["messages"])];
        assert!(problems(envelope("trl-messages"), Format::Jsonl, &same).is_empty());
    }

    #[test]
    fn an_empty_file_is_a_problem_with_and_without_an_envelope() {
        let files = [file("train", 10, 1, &[]), file("test", 0, 0, &[])];
        for envelope in [None, Some(find("openai-sft").unwrap())] {
            assert_eq!(
                problems(envelope, Format::Parquet, &files),
                ["test.jsonl is empty"]
            );
        }
    }
}
