//! Compares files of evaluations with what is read from them.
#![allow(clippy::disallowed_methods, reason = "tests need folders of their own")]

use super::*;
use crate::pipeline::parse;
use crate::tests::test_dir::TestDir;

fn loaded_of(files: &[(&str, &str)], keys: &str) -> Result<LoadedEvaluations, String> {
    let test_dir = TestDir::new(files);
    let text = format!("[[input]]\npath = \"a\"\n[output]\npath = \"out\"\n{keys}");
    let pipeline = parse(&text, &[], Path::new("p.toml")).unwrap();
    let loaded = load(&pipeline, &PathBuf::from(test_dir.path("")), &pipeline.limits);
    Ok(loaded.map_err(|error| error.to_string())?.unwrap())
}

fn load_of(files: &[(&str, &str)], keys: &str) -> Result<Vec<(String, u64)>, String> {
    let loaded = loaded_of(files, keys)?;
    let files = loaded.evaluations.files().iter();
    Ok(files.map(|file| (file.name.clone(), file.rows)).collect())
}

fn of_file(name: &str, text: &str) -> Result<LoadedEvaluations, String> {
    let keys = format!("[select.decontaminate]\nagainst = \"{name}\"\n");
    loaded_of(&[(name, text)], &keys)
}

fn rows_of(name: &str, text: &str) -> Result<u64, String> {
    Ok(of_file(name, text)?.evaluations.files()[0].rows)
}

#[test]
fn rows_are_lines_elements_rows_of_csv_lines_of_a_text_or_paragraphs() {
    for (name, text, rows) in [
        (
            "a.jsonl",
            "{\"question\":\"a b\",\"answer\":\"c\"}\n{\"x\":1}\n{\"prompt\":\"d\"}\n",
            2,
        ),
        ("a.json", "[{\"question\":\"a\"},{\"question\":\"b\"},\"c\"]", 3),
        ("a.csv", "id,question\n1,\"a,\nb\"\n2,c\n", 2),
        ("a.tsv", "question\tanswer\na, b\tc\n", 1),
        ("a.csv", "question\n\"a\nb\"\nc\n", 2),
        ("a.txt", "Once, there was\na knot, and it, too, held\nwell\n", 3),
        ("a.txt", "Once there\nwas a knot.\n\nIt held.\n", 2),
        ("a.md", "# Knots\n\nIt held.\n", 2),
    ] {
        assert_eq!(rows_of(name, text), Ok(rows), "{text}");
    }
}

#[test]
fn what_cannot_be_compared_with_is_refused_by_its_name() {
    for (text, reason) in [
        ("{\"question\":\"a\"}\n{\"question\":\n", "row 2"),
        ("", "it holds no text"),
        ("{\"x\":null}\n", "it holds no text"),
        ("ID3 a", "it is a sound"),
    ] {
        let error = rows_of("a.jsonl", text).unwrap_err();
        assert!(
            error.contains(reason) && error.starts_with("select.decontaminate.against: `a.jsonl`"),
            "{error}"
        );
    }
    for (keys, place) in [
        ("against = \"b.jsonl\"\n", "`b.jsonl`"),
        ("against = []\n", "select.decontaminate.against"),
        ("against = \"a.jsonl\"\nngram = 0\n", "select.decontaminate.ngram"),
    ] {
        let keys = format!("[select.decontaminate]\n{keys}");
        let error = load_of(&[("a.jsonl", "{\"q\":\"a\"}\n")], &keys).unwrap_err();
        assert!(error.contains(place), "{error}");
    }
}

#[test]
fn a_table_or_json_by_name_or_header_that_does_not_parse_is_never_plain_text() {
    let whole = "question,answer\n\"Why, so?\",b\nWho?,d\n";
    let ragged = format!("{whole}a,b,c\n");
    let unclosed = whole.replace("so?\"", "so?");
    let cut = whole.strip_suffix("Who?,d\n").unwrap().replace(",b\n", ",\"b");
    for name in ["a.csv", "A.CSV", "a.tsv", "a.csv.gz", "a.txt", "a"] {
        assert_eq!(rows_of(name, whole), Ok(2), "{name}");
        for (text, reason) in [
            (ragged.as_str(), "row 3: 3 cells in a row of 2 columns"),
            (&unclosed, "row 1: "),
            (&cut, "row 1: "),
            ("question,,answer\na,b,c\n", "its first line is no header"),
            ("question,question\na,b\n", "its first line is no header"),
        ] {
            let error = rows_of(name, text).expect_err(&format!("{name}: {text}"));
            assert!(
                error.contains(&format!("`{name}` cannot be compared with: {reason}")),
                "{error}"
            );
        }
    }
    for name in ["a.csv", "a.tsv.zst"] {
        assert!(
            rows_of(name, "Once, there\nwas, a, knot\n")
                .unwrap_err()
                .contains("row 1: ")
        );
        assert!(rows_of(name, ",name\n1,a\n").unwrap_err().contains("no header"));
    }
    for name in ["a.json", "a.jsonl", "a.ndjson.xz", "A.Json"] {
        for text in [
            "// rows\n[{\"question\":\"a\"}]",
            "// rows\n{\"question\":\"a\"}\n",
            "question,answer\na,b\n",
            "[2026-01-05 10:00] Ann: hello\n",
        ] {
            let error = rows_of(name, text).unwrap_err();
            assert!(
                error.contains("cannot be compared with: row 1: ") || error.ends_with("it is no JSON"),
                "{error}"
            );
        }
    }
}

#[test]
fn a_file_without_a_question_is_noted_and_one_with_a_question_is_not() {
    let note = |name: &str, text: &str| of_file(name, text).unwrap().notes.pop();
    for (name, text) in [
        ("a.csv", "question\na\n"),
        ("a.csv", "\"Prompt\";x\na;b\n"),
        ("a.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n"),
        ("a.jsonl", "{\"text\":\"a\"}\n{\"question\":\"a\"}\n"),
    ] {
        assert_eq!(note(name, text), None, "{text}");
    }
    for (name, text, words) in [
        (
            "a.txt",
            "Once\n\nthere\nwas\n\n",
            "read as plain text without questions, paragraphs: 2",
        ),
        (
            "a.txt",
            "Once, there\nwas\n",
            "read as plain text without questions, lines: 2",
        ),
        ("a.txt", "Once", "read as plain text without questions, lines: 1"),
        ("a.csv", "Why?,a\nWho?,b\n", "no field in it is called question"),
        ("a.jsonl", "\"Why?\"\n", "no field in it is called question"),
    ] {
        let note = note(name, text).unwrap();
        assert!(note.contains(&format!("`{name}`: {words}")), "{note}");
    }
}

#[test]
fn a_file_that_several_paths_lead_to_counts_once() {
    let test_dir = TestDir::new(&[("a.jsonl", "{\"q\":\"a\"}\n"), ("b.jsonl", "{\"q\":\"a\"}\n")]);
    let at = |name: &str| test_dir.path(name);
    std::os::unix::fs::symlink(at("a.jsonl"), at("link.jsonl")).unwrap();
    std::fs::hard_link(at("a.jsonl"), at("hard.jsonl")).unwrap();
    let names = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let files = inputs::evaluations(&paths, Path::new(&at("")), &Arc::default()).unwrap();
        files
            .iter()
            .map(|file| file.name().into_owned())
            .collect::<Vec<_>>()
    };
    // The first path becomes the name.
    assert_eq!(
        names(&["a.jsonl", "./a.jsonl", "hard.jsonl", "link.jsonl"]),
        ["a.jsonl"]
    );
    assert_eq!(
        names(&["link.jsonl", "b.jsonl", "a.jsonl"]),
        ["b.jsonl", "link.jsonl"]
    );
}

#[test]
fn words_up_to_the_limit_are_taken_and_one_more_names_the_file() {
    let load = |limit: u32| {
        let keys = format!(
            "[select.decontaminate]\nagainst = [\"a.jsonl\", \"b.jsonl\"]\n[limits]\nevaluation_words = {limit}\n"
        );
        load_of(
            &[("a.jsonl", "{\"q\":\"a b\"}\n"), ("b.jsonl", "{\"q\":\"c d\"}\n")],
            &keys,
        )
    };
    assert_eq!(load(4).map(|files| files.len()), Ok(2));
    let error = load(3).unwrap_err();
    assert!(
        error.starts_with("limits.evaluation_words:") && error.contains("`b.jsonl`"),
        "{error}"
    );
}

#[test]
fn files_of_one_name_in_two_folders_have_different_names() {
    let test_dir = TestDir::new(&[]);
    for folder in ["x", "y"] {
        std::fs::create_dir(test_dir.path(folder)).unwrap();
        std::fs::write(test_dir.path(&format!("{folder}/a.jsonl")), "{\"q\":\"a\"}\n").unwrap();
    }
    let paths = ["x/a.jsonl", "y/a.jsonl"].map(str::to_owned);
    let files = inputs::evaluations(&paths, Path::new(&test_dir.path("")), &Arc::default()).unwrap();
    let names: Vec<Cow<'_, str>> = files.iter().map(PlannedInput::name).collect();
    assert_eq!(names, ["1/a.jsonl", "2/a.jsonl"]);
}

#[test]
fn what_is_no_evaluation_is_passed_over_with_a_note_and_alone_it_is_refused() {
    let question = ("e/a.jsonl", "{\"question\":\"a\"}\n");
    let keys = "[select.decontaminate]\nagainst = \"e\"\n";
    let folder = |files: &[(&str, &str)]| loaded_of(files, keys).map(|loaded| loaded.notes);
    let loaded = folder(&[question, ("e/README.md", "# Knots"), ("e/c.wav", "ID3 a")]);
    let notes = loaded.unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("no evaluations: 2; the first is `README.md`: it is a note"),
        "{notes:?}"
    );
    assert!(folder(&[question]).unwrap().is_empty());
    let error = folder(&[("e/README.md", "# Knots")]).unwrap_err();
    assert!(error.contains("no file contains text to compare with"), "{error}");
    let error = folder(&[question, ("e/empty.txt", "")]).unwrap_err();
    assert!(
        error.contains("`empty.txt` cannot be compared with: it holds no text"),
        "{error}"
    );
}
