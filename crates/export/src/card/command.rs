//! The command line of an export, without paths of the machine.

use crate::format::Format;
use crate::request::ExportRequest;
use crate::split::{Split, SplitBy, SplitPart};
use crate::writer::nested::NestedAs;

/// The command that repeats the export from the dataset `RUN`, or from its inputs `IN`.
pub(super) fn command(request: &ExportRequest, target: &str) -> String {
    let (filters, split) = (&request.filters, request.split.as_ref());
    let is = |is_so: bool, word: &str| is_so.then(|| word.to_owned());
    let of_dataset = request.convert.is_none();
    let parts = |split: &Split| {
        split
            .parts
            .iter()
            .map(SplitPart::text)
            .collect::<Vec<_>>()
            .join(",")
    };
    let by = split.and_then(|split| match split.by {
        SplitBy::Hash => None,
        SplitBy::Time => Some("time"),
        SplitBy::Session => Some("session"),
        SplitBy::Room => Some("room"),
    });
    let template = request.valid_for.as_deref().and_then(|path| path.file_name());
    let template = template.map(|name| name.to_string_lossy().into_owned());
    let envelope = request.envelope.and_then(|envelope| is(of_dataset, envelope.id));
    let most = filters.max_tokens.as_ref();
    let most = most.map(|most| format!("{}@{}", most.tokens, most.encoding));
    let columns = request.columns.join(",");
    let is_parquet = request.format == Format::Parquet;
    let seed = split.map_or(0, |split| split.seed);
    let like = split.is_some_and(|split| split.like.is_some());
    let against = split.is_some_and(|split| !split.against.is_empty());
    let options = [
        ("dialect", is(of_dataset, target)),
        ("format", is(true, if is_parquet { "parquet" } else { "jsonl" })),
        ("nested", is(request.nested == NestedAs::Struct, "struct")),
        ("envelope", envelope),
        ("valid-for", template),
        ("last-role", filters.last_role.clone()),
        ("max-tokens", most),
        ("columns", is(!columns.is_empty(), &columns)),
        ("split", split.map(parts)),
        ("split-by", by.map(str::to_owned)),
        ("split-seed", is(seed != 0, &seed.to_string())),
        ("split-like", is(like, "EARLIER_EXPORT")),
        ("split-against", is(against, "EARLIER_RUN")),
        ("shard-size", request.shard_bytes.map(|bytes| bytes.to_string())),
        ("shuffle", request.shuffle.map(|seed| seed.to_string())),
    ];
    let losses = filters.without.iter().map(|code| ("without", Some(code.clone())));
    let converted = request.convert.iter().flatten();
    let converted = converted.map(|(name, value)| (*name, Some(value.clone())));
    let options = converted.chain(options).chain(losses);
    let options = options.filter_map(|(name, value)| Some(format!(" --{name} {}", quoted(&value?))));
    let flags = [
        is(filters.valid && of_dataset, " --valid"),
        is(filters.keep_unasked, " --keep-unasked"),
        is(filters.distinct, " --distinct"),
    ];
    let words: String = options.chain(flags.into_iter().flatten()).collect();
    let command = if of_dataset { "export RUN" } else { "convert IN" };
    format!("chatmill {command}{words} --out FOLDER")
}

/// A word of a command, quoted if a shell would interpret it.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "._-@,=:".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filters;
    use crate::request::tests::request;

    #[test]
    fn the_command_has_what_the_request_has_and_no_path() {
        let plain = command(&request("chatml"), "chatml@document");
        assert_eq!(
            plain,
            "chatmill export RUN --dialect chatml@document --format jsonl --out FOLDER"
        );
        let converted = ExportRequest {
            convert: Some(vec![
                ("to", "chatml".to_owned()),
                ("set", "policy.reasoning=keep".to_owned()),
            ]),
            ..request("chatml")
        };
        assert_eq!(
            command(&converted, "chatml@document"),
            "chatmill convert IN --to chatml --set policy.reasoning=keep --format jsonl --out FOLDER"
        );
        let split = Split {
            like: Some("/home/ada/earlier".into()),
            seed: 7,
            ..Split::parse("train=start,test=2026-10-01", SplitBy::Time).unwrap()
        };
        let full = ExportRequest {
            format: Format::Parquet,
            envelope: crate::envelope::find("axolotl"),
            filters: Filters {
                valid: true,
                last_role: Some("it's".to_owned()),
                max_tokens: Some("9@r50k_base".parse().unwrap()),
                without: vec!["truncated".to_owned()],
                keep_unasked: true,
                distinct: true,
            },
            valid_for: Some("/home/ada/model.jinja".into()),
            split: Some(split),
            columns: vec!["source".to_owned(), "extra.language".to_owned()],
            shard_bytes: Some(1000),
            shuffle: Some(3),
            ..request("hf-messages")
        };
        assert_eq!(
            command(&full, "hf-messages@document"),
            "chatmill export RUN --dialect hf-messages@document --format parquet --envelope axolotl --valid-for model.jinja \
             --last-role 'it'\\''s' --max-tokens 9@r50k_base --columns source,extra.language \
             --split train=start,test=2026-10-01T00:00:00Z --split-by time --split-seed 7 --split-like EARLIER_EXPORT \
             --shard-size 1000 --shuffle 3 --without truncated --valid --keep-unasked --distinct --out FOLDER"
        );
    }
}
