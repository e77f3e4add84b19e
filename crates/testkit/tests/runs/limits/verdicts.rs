//! Limits on findings, and on the end of a run.

use chatmill_workshop::rows;

use super::{Milled, chat, lines, message, mill, plain};

#[test]
fn findings_per_code_folds_the_rest_into_one_row() {
    let dangling = |count: usize| {
        let messages: Vec<String> = (0..count)
            .map(|number| message(number, r#","refer_list":["gone"]"#))
            .collect();
        lines(&[chat("x", &messages)])
    };
    let rows_of = |milled: &Milled| {
        let out = milled.shop.path("out");
        let names = rows::texts(&out, "findings", "name");
        let counts = rows::numbers(&out, "findings", "count");
        let own = names
            .iter()
            .zip(counts)
            .filter(|(name, _)| name.as_deref() == Some("dangling-reference"));
        own.map(|(_, count)| count.unwrap()).collect::<Vec<_>>()
    };
    let at = mill(&[("x.jsonl", &dangling(3))], "findings_per_code = 3");
    assert_eq!((rows_of(&at), at.found("dangling-reference")), (vec![1, 1, 1], 3));
    let beyond = mill(&[("x.jsonl", &dangling(5))], "findings_per_code = 3");
    let mut counts = rows_of(&beyond);
    counts.sort_unstable();
    assert_eq!(
        (counts, beyond.found("dangling-reference")),
        (vec![1, 1, 1, 2], 5)
    );
}

#[test]
fn unread_paths_folds_the_rest_into_one_row_with_its_number() {
    let file = lines(&[
        plain("a").replacen('{', r#"{"one":"a b","two":"a b","#, 1),
        plain("b").replacen('{', r#"{"two":"a b","three":"a b","#, 1),
    ]);
    for (limit, counts) in [
        (3, [1, 1, 2].as_slice()),
        (2, &[1, 1, 2]),
        (1, &[1, 3]),
        (0, &[4]),
    ] {
        let milled = mill(&[("x.jsonl", &file)], &format!("unread_paths = {limit}"));
        let out = milled.shop.path("out");
        let names = rows::texts(&out, "findings", "name").into_iter();
        let told = names.zip(rows::numbers(&out, "findings", "count"));
        let told = told.filter(|(name, _)| name.as_deref() == Some("unread-field"));
        let mut own: Vec<_> = told.map(|(_, count)| count.unwrap()).collect();
        own.sort_unstable();
        assert_eq!(
            (own.as_slice(), milled.found("unread-field")),
            (counts, 4),
            "{limit}"
        );
    }
}

#[test]
fn reject_head_bounds_the_bytes_in_the_rejects_table() {
    let broken = "{\"conversation_list\": [1, 2, 3";
    let file = lines(&[plain("a"), broken.to_owned()]);
    for (limit, kept) in [
        (broken.len(), broken),
        (broken.len() - 1, &broken[..broken.len() - 1]),
        (0, ""),
    ] {
        let milled = mill(&[("x.jsonl", &file)], &format!("reject_head = {limit}"));
        let heads = rows::bytes(&milled.shop.path("out"), "rejects", "head");
        assert_eq!(heads, [Some(kept.as_bytes().to_vec())], "{limit}");
    }
}

#[test]
fn max_reject_ratio_decides_between_complete_and_too_many() {
    let file = lines(&[plain("a"), plain("b"), "{broken".to_owned(), plain("c")]);
    for (ratio, is_within) in [("0.25", true), ("0.2499", false), ("0.0", false), ("1.0", true)] {
        let milled = mill(&[("x.jsonl", &file)], &format!("max_reject_ratio = {ratio}"));
        assert_eq!(
            (milled.summary.is_within_threshold(), milled.rejected()),
            (is_within, 1),
            "{ratio}"
        );
        assert_eq!(
            milled.ids(),
            ["a", "b", "c"],
            "the dataset is published either way"
        );
    }
}

#[test]
fn max_error_findings_decides_between_complete_and_too_many_errors() {
    // The sender of one message is in no roster, which is an error. The broken line is a reject and no further error.
    let stranger = plain("b").replace("\"sender\":\"u1\"", "\"sender\":\"u9\"");
    assert_ne!(stranger, plain("b"));
    let file = lines(&[plain("a"), stranger, "{broken".to_owned()]);
    for (allowed, verdict) in [(0, "too-many-errors"), (1, "complete")] {
        let limits = format!("max_reject_ratio = 1.0\nmax_error_findings = {allowed}");
        let milled = mill(&[("x.jsonl", &file)], &limits);
        assert_eq!(milled.found("unknown-sender"), 1);
        assert_eq!(milled.summary.totals.error_findings(), 1);
        assert_eq!(milled.summary.manifest.verdict, verdict);
        assert_eq!(milled.ids(), ["a", "b"], "the dataset is published either way");
    }
}

#[test]
fn refused_inputs_decides_between_complete_and_refused_inputs() {
    let weather: Vec<String> = (0..5).map(|day| format!("{{\"day\":{day}}}")).collect();
    let files = [
        ("a.jsonl", lines(&[plain("a"), "{broken".to_owned()])),
        ("b.jsonl", lines(&weather)),
        ("c.json", format!("[{}]", weather.join(",")).into_bytes()),
        ("d.csv", b"sepal,petal\n1,2\n3,4\n".to_vec()),
    ];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_slice()));
    for (allowed, verdict) in [(2, "refused-inputs"), (3, "complete")] {
        let limits = format!("max_reject_ratio = 1.0\nrefused_inputs = {allowed}");
        let milled = mill(&files, &limits);
        let totals = &milled.summary.totals;
        assert_eq!(
            (totals.framed, totals.rejected, totals.refused_inputs),
            (14, 13, 3)
        );
        assert_eq!(milled.found("unknown-format"), 12, "each record says why");
        assert_eq!(milled.summary.manifest.verdict, verdict);
        assert_eq!(milled.ids(), ["a"], "the dataset is published either way");
        let faults: Vec<(u64, u64)> = milled
            .summary
            .manifest
            .inputs
            .iter()
            .map(|input| input.problems())
            .collect();
        assert_eq!(faults, [(1, 1), (5, 5), (5, 5), (2, 2)]);
    }
}
