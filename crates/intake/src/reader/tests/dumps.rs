//! Text dumps, CSV and lines of COPY: every form of the same table gives the same rows.

use std::io::Cursor;
use std::path::Path;

use chatmill_diag::Limits;
use proptest::prelude::*;

use crate::event::{Event, Form, Framing};
use crate::reader::Reader;
use crate::reader::testing::{Drip, Entry, open, read_all, small};
use crate::table::{TableFilter, TableMap};

/// A map that embeds the JSON of the five rows.
fn messages() -> TableMap {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    TableMap {
        name: "test".to_owned(),
        source: "rows".to_owned(),
        table: "messages".to_owned(),
        requires: owned(&["message_id", "thread_id", "content"]),
        json: owned(&["content", "metadata"]),
        ..TableMap::default()
    }
}

/// A map of small tables made up by tests.
fn notes() -> TableMap {
    TableMap {
        source: "rows".to_owned(),
        table: "notes".to_owned(),
        requires: vec!["id".to_owned(), "text".to_owned()],
        ..TableMap::default()
    }
}

fn reader(bytes: &[u8], limits: &Limits, map: TableMap) -> Reader {
    let length = Some(bytes.len() as u64);
    let reader = Reader::of_stream(Box::new(Cursor::new(bytes.to_vec())), length, limits);
    reader.with_tables(vec![map].into())
}

fn read(bytes: &[u8], map: TableMap) -> Entry {
    let mut entries = read_all(&mut reader(bytes, &Limits::default(), map));
    assert_eq!(entries.len(), 1);
    entries.remove(0)
}

fn read_notes(text: &str) -> Entry {
    read(text.as_bytes(), notes())
}

fn sample(name: &str) -> Vec<u8> {
    dumped("five-rows", name)
}

fn dumped(folder: &str, name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../data-samples/dumps")
        .join(folder);
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn columns() -> Vec<String> {
    let header = sample("messages.csv");
    let line = header.split(|byte| *byte == b'\n').next().unwrap();
    line.split(|byte| *byte == b',')
        .map(|name| String::from_utf8(name.to_vec()).unwrap())
        .collect()
}

#[test]
fn every_form_of_a_table_gives_the_same_rows() {
    let expected = read(&sample("pg15-full.sql"), messages());
    assert_eq!(expected.frames.len(), 5);
    for name in [
        "pg15-copy.sql",
        "pg18-copy.sql",
        "pg18-full.sql",
        "pg15-column-inserts.sql",
        "pg18-column-inserts.sql",
        "sqlite.sql",
        "mysql.sql",
        "messages.csv",
    ] {
        let entry = read(&sample(name), messages());
        assert_eq!(entry.head.framing, Framing::Tables, "{name}");
        assert_eq!(entry.codes(), [""; 0], "{name}");
        assert_eq!(entry.rows(), expected.rows(), "{name}");
    }
}

#[test]
fn the_five_rows_say_what_psql_says() {
    let entry = read(&sample("pg15-full.sql"), messages());
    let psql = sample("psql.jsonl");
    let lines = psql.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut compared = 0;
    for (row, line) in entry.frames.iter().zip(lines) {
        let row: serde_json::Value = serde_json::from_slice(row).unwrap();
        let said: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert_eq!(
            row.as_object().unwrap().keys().collect::<Vec<_>>(),
            said.as_object().unwrap().keys().collect::<Vec<_>>()
        );
        for (column, value) in said.as_object().unwrap() {
            let own = &row[column];
            match column.as_str() {
                "is_llm_message" => assert_eq!(own, if value == true { "t" } else { "f" }),
                "tags" if !value.is_null() => assert!(own.as_str().unwrap().starts_with('{')),
                "created_at" | "updated_at" if !value.is_null() => {
                    assert_eq!(
                        own.as_str().unwrap().replace(' ', "T") + ":00",
                        value.as_str().unwrap()
                    );
                }
                _ => assert_eq!(own, value, "{column}"),
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 5 * columns().len());
}

#[test]
fn rows_without_names_of_columns_take_them_from_the_definition() {
    let full = String::from_utf8(sample("pg15-full.sql")).unwrap();
    let start = full.find("CREATE TABLE public.messages").unwrap();
    let (definition, _) = full.split_at(full.find("ALTER TABLE public.messages").unwrap());
    let (_, definition) = definition.split_at(start);
    let expected = read(full.as_bytes(), messages());
    for name in [
        "pg15-inserts.sql",
        "pg18-inserts.sql",
        "pg15-rows-per-insert.sql",
        "pg18-rows-per-insert.sql",
    ] {
        let dump = sample(name);
        let bare = read(&dump, messages());
        assert_eq!(bare.codes(), ["columns-unknown"; 5], "{name}");
        assert!(bare.script().contains("T public.messages rows"), "{name}");
        let entry = read(&[definition.as_bytes(), &dump].concat(), messages());
        assert_eq!(
            (entry.rows(), entry.codes()),
            (expected.rows(), Vec::new()),
            "{name}"
        );
    }
}

#[test]
fn a_database_file_and_its_dump_give_the_same_rows() {
    let dump = read(&dumped("notes", "notes.sql"), notes());
    let folder = tempfile::tempdir().unwrap();
    let file = open(folder.path(), &dumped("notes", "notes.db"), &Limits::default());
    let entries = read_all(&mut file.with_tables(vec![notes()].into()));
    assert_eq!((dump.frames.len(), dump.codes()), (5, Vec::new()));
    assert_eq!(entries[0].rows(), dump.rows());
}

#[test]
fn a_table_that_is_defined_anew_has_its_new_columns() {
    let entry = read_notes(
        "CREATE TABLE notes (id int, text text);\nINSERT INTO notes VALUES (1,'a');\n\
         CREATE TABLE notes (text text, id int);\nINSERT INTO notes VALUES ('b',2);\n",
    );
    assert_eq!(
        entry.rows(),
        [r#"{"id":"1","text":"a"}"#, r#"{"text":"b","id":"2"}"#]
    );
}

#[test]
fn lines_of_copy_lose_their_escapes() {
    let entry = read(&sample("copy.jsonl"), messages());
    let plain = read(&sample("psql.jsonl"), messages());
    assert_eq!(entry.head.framing, Framing::Lines);
    assert_eq!(entry.codes(), ["(copy-escaped)"]);
    assert_eq!(entry.frames, plain.frames);
    assert_eq!(entry.head.bytes, plain.head.bytes);
    assert_eq!(plain.codes(), [""; 0]);
    let derived = |entry: &Entry| {
        entry
            .events
            .iter()
            .filter(|event| matches!(event, Event::Frame(frame) if frame.form != Form::Original))
            .count()
    };
    assert_eq!((derived(&entry), derived(&plain)), (5, 0));
}

#[test]
fn tables_that_nobody_wants_are_counted_and_places_are_right() {
    let text = "COPY public.users (id) FROM stdin;\n1\n2\n\\.\n\nCOPY public.notes (id, text) FROM stdin;\n1\té\n2\t\\N\n\\.\n";
    assert_eq!(
        read_notes(text).script(),
        "S79, K2 public.users 4, T public.notes rows, S1, F84-88@7:1, S1, F89-93@8:1, S4"
    );
    let text =
        "INSERT INTO users VALUES (1), (2);\nINSERT INTO notes (id,text) VALUES\n  (1,'a'),\n  (2,'é\n');\n";
    let entry = read_notes(text);
    assert_eq!(
        entry.script(),
        "S63, K2 users 6, T notes rows, S3, F72-79@3:3, S4, F83-92@4:3, S2"
    );
    assert_eq!(
        entry.rows(),
        [r#"{"id":"1","text":"a"}"#, r#"{"id":"2","text":"é\n"}"#]
    );
}

#[test]
fn filtered_rows_are_counted_as_skipped() {
    let map = TableMap {
        filters: vec![TableFilter {
            column: "text".to_owned(),
            one_of: vec![Some("keep".to_owned())],
        }],
        ..notes()
    };
    let entry = read(b"id,text\n1,no\n2,keep\n3,no\n4,no\n5,keep\n6,no\n", map);
    assert_eq!(
        entry.script(),
        "S7, T notes rows, S2, K1 notes 4, F13-19@3:1, S3, K2 notes 8, F30-36@6:1, S2, K1 notes 4"
    );
}

#[test]
fn several_databases_in_one_file_are_told_apart() {
    let dump = |rows: &str| {
        format!(
            "--\n-- PostgreSQL database dump\n--\nCOPY public.notes (id, text) FROM stdin;\n{rows}\\.\n--\n-- PostgreSQL database dump complete\n--\n"
        )
    };
    let text = format!(
        "--\n-- PostgreSQL database cluster dump\n--\nCREATE ROLE x;\n\\connect template1\n{}\\connect -reuse-previous=on \"dbname='my shop'\"\n{}--\n-- PostgreSQL database cluster dump complete\n--\n",
        dump("1\ta\n"),
        dump("2\tb\n"),
    );
    let entry = read_notes(&text);
    assert_eq!(entry.codes(), [""; 0]);
    assert_eq!(entry.frames.len(), 2);
    let script = entry.script();
    assert!(
        script.contains("T template1.public.notes rows") && script.contains("T my shop.public.notes rows"),
        "{script}"
    );
    let cut = text.replace("-- PostgreSQL database dump complete\n", "");
    assert_eq!(read_notes(&cut).codes(), ["(dump-incomplete)"; 2]);
    let mysql = read_notes("USE `shop`;\nINSERT INTO `notes` (`id`,`text`) VALUES (1,'a');\n");
    assert!(mysql.script().contains("T shop.notes rows"));
}

#[test]
fn old_dumps_name_the_schema_beforehand() {
    let entry =
        read_notes("SET search_path = chat, pg_catalog;\nCOPY notes (id, text) FROM stdin;\n1\ta\n\\.\n");
    assert!(entry.script().contains("T chat.notes rows"));
}

#[test]
fn a_row_that_cannot_be_read_costs_itself_only() {
    let entry = read_notes(
        "INSERT INTO notes (id, text) VALUES (1, 'a'), (2, now()), (3), (4, 'd', 5), (6, 'f'\n;\nINSERT INTO notes (id, text) VALUES (7, 'g') ON CONFLICT DO NOTHING;\n",
    );
    assert_eq!(entry.codes(), ["malformed-row"; 4]);
    assert_eq!(
        entry.messages(),
        [
            "a value is an expression that only a database can evaluate",
            "1 cells in a row of 2 columns",
            "3 cells in a row of 2 columns",
            "the row ends before its closing bracket",
        ]
    );
    assert_eq!(
        entry.rows(),
        [r#"{"id":"1","text":"a"}"#, r#"{"id":"7","text":"g"}"#]
    );
    let entry = read_notes("COPY notes (id, text) FROM stdin;\n1\ta\n\n2\n3\tc\td\n4\td\n\\.\n");
    assert_eq!(entry.codes(), ["malformed-row"; 3]);
    assert_eq!(entry.frames.len(), 2);
    let entry = read_notes("id,text\n1\n2,\"b\nb\"\n\n3,c,c\n\"4\"x,d\n5,\"\"\n6,\n");
    assert_eq!(entry.codes(), ["malformed-row"; 3]);
    assert_eq!(
        entry.rows(),
        [
            r#"{"id":"2","text":"b\nb"}"#,
            r#"{"id":"5","text":""}"#,
            r#"{"id":"6","text":null}"#
        ]
    );
}

#[test]
fn rows_that_are_made_and_not_listed_are_rejected() {
    for text in [
        "INSERT INTO notes (id, text) SELECT 1, 'a';\n",
        "INSERT INTO notes (id, text) VALUES ROW(1, 'a');\n",
        "INSERT INTO notes (id, text) VALUES 'a';\n",
        "COPY notes (id, text) FROM stdin WITH (FORMAT csv);\n1,a\n\\.\n",
    ] {
        assert_eq!(read_notes(text).codes(), ["malformed-row"], "{text}");
    }
    assert_eq!(
        read_notes("INSERT INTO users SELECT 1;\n").codes(),
        ["(empty-input)"]
    );
}

#[test]
fn procedures_and_triggers_hold_no_rows() {
    let insert = "INSERT INTO notes (id, text) VALUES (9, 'x');";
    for text in [
        format!(
            "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TRIGGER t BEGIN {insert} {insert} END;\nCOMMIT;\n"
        ),
        format!("CREATE FUNCTION public.f() RETURNS void LANGUAGE sql AS $$ {insert} $$;\n"),
        format!("CREATE FUNCTION public.f() RETURNS void LANGUAGE sql BEGIN ATOMIC {insert} {insert} END;\n"),
        format!(
            "CREATE TABLE `t` (`a` int);\nDELIMITER ;;\nCREATE PROCEDURE p() BEGIN {insert} {insert} END ;;\nDELIMITER ;\n"
        ),
        format!(
            "CREATE TABLE `t` (`a` int);\nDELIMITER //\nCREATE PROCEDURE p() BEGIN {insert} {insert} END //\nDELIMITER ;\n"
        ),
        format!(
            "-- {insert}\n/* {insert} */\nSET x = '{}';\n",
            insert.replace('\'', "''")
        ),
    ] {
        let entry = read_notes(&(text.clone() + "INSERT INTO notes (id, text) VALUES (1, 'a');\n"));
        assert_eq!(
            (entry.codes(), entry.frames.len()),
            (Vec::new(), 1),
            "{text}\n{}",
            entry.script()
        );
    }
}

#[test]
fn encodings_are_utf8_or_latin1_or_refused() {
    let dump = |encoding: &str| {
        let mut text =
            format!("SET client_encoding = '{encoding}';\nCOPY notes (id, text) FROM stdin;\n1\tcaf")
                .into_bytes();
        text.extend_from_slice(b"\xE9\n2\tplain\n\\.\n");
        read(&text, notes())
    };
    assert_eq!(
        dump("LATIN1").rows(),
        [r#"{"id":"1","text":"café"}"#, r#"{"id":"2","text":"plain"}"#]
    );
    let utf8 = dump("UTF8");
    assert_eq!(
        (utf8.codes(), utf8.frames.len()),
        (vec!["invalid-utf8".to_owned()], 1)
    );
    let other = dump("EUC_JP");
    assert_eq!(other.codes(), ["invalid-utf8"; 2]);
    assert_eq!(
        other.messages()[1],
        "the dump is encoded in EUC_JP, which is not read"
    );
    let mysql = |set: &str| {
        read_notes(&format!(
            "/*!40101 {set} */;\nINSERT INTO `notes` (`id`,`text`) VALUES (1,'a');\n"
        ))
    };
    assert_eq!(mysql("SET NAMES utf8mb4").codes(), [""; 0]);
    assert_eq!(mysql("SET NAMES latin1").codes(), ["invalid-utf8"]);
}

#[test]
fn a_dump_that_is_cut_says_so() {
    let table: &[(&str, &str)] = &[
        (
            "COPY notes (id, text) FROM stdin;\n1\ta\n2\tb",
            "S33, T notes rows, S1, F34-37@2:1, S1, D38-41@3:1 dump-incomplete",
        ),
        (
            "COPY notes (id, text) FROM stdin;\n1\ta\n",
            "S33, T notes rows, S1, F34-37@2:1, S1, D38-38@3:1 dump-incomplete",
        ),
        (
            "COPY notes (id, text) FROM stdin;\n",
            "S33, T notes rows, S1, D34-34@2:1 dump-incomplete",
        ),
        (
            "COPY users (id) FROM stdin;\n1\n2",
            "S28, K2 users 3, D31-31@3:2 dump-incomplete",
        ),
        (
            "INSERT INTO notes (id,text) VALUES (1,'a'), (2,'b",
            "S34, T notes rows, S1, F35-42@1:36, S2, D44-49@1:45 dump-incomplete",
        ),
        (
            "INSERT INTO notes (id,text) VALUES (1,'a'),",
            "S34, T notes rows, S1, F35-42@1:36, S1, D43-43@1:44 dump-incomplete",
        ),
        (
            "INSERT INTO users VALUES (1,'a'),(2",
            "S26, K2 users 9, D35-35@1:36 dump-incomplete",
        ),
        (
            "SET a = 1;\nCREATE TABLE notes (",
            "S31, D31-31@2:21 dump-incomplete",
        ),
        (
            "SET a = 1;\nINSERT INTO notes VALU",
            "S33, D33-33@2:23 dump-incomplete",
        ),
        ("--\n-- PostgreSQL database dump\n--\n", "S34, N dump-incomplete"),
        (
            "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n",
            "S44, N dump-incomplete",
        ),
        ("-- MySQL dump 10.13\nUNLOCK TABLES;\n", "S35, N dump-incomplete"),
        (
            "id,text\n1,\"a",
            "S7, T notes rows, S1, D8-12@2:1 dump-incomplete",
        ),
        ("id,text\n1", "S7, T notes rows, S1, D8-9@2:1 dump-incomplete"),
        ("id,text\n1,a", "S7, T notes rows, S1, F8-11@2:1"),
    ];
    for (text, script) in table {
        assert_eq!(read_notes(text).script(), *script, "{text}");
    }
    let errors = read_notes(
        "BEGIN TRANSACTION;\nINSERT INTO notes(id,text) VALUES(1,'a');\nROLLBACK; -- due to errors\n",
    );
    assert_eq!(
        (errors.codes(), errors.frames.len()),
        (vec!["(dump-incomplete)".to_owned()], 1)
    );
    let two = "--\n-- PostgreSQL database dump\n--\nSET a = 1;\n".repeat(2)
        + "-- PostgreSQL database dump complete\n";
    assert_eq!(read_notes(&two).codes(), ["(dump-incomplete)", "(empty-input)"]);
}

/// Rows seen before any cut are those of the whole, in order, and every cut is reported.
#[test]
fn every_prefix_of_a_dump_is_read_as_far_as_it_goes() {
    for (name, end) in [
        ("pg15-full.sql", "-- PostgreSQL database dump complete"),
        ("pg18-column-inserts.sql", "-- PostgreSQL database dump complete"),
        ("sqlite.sql", "COMMIT;"),
        ("mysql.sql", "-- Dump completed"),
    ] {
        let dump = sample(name);
        let whole = read(&dump, messages());
        let text = String::from_utf8_lossy(&dump);
        let complete = text.find(end).unwrap() + end.len();
        let opening = if name == "sqlite.sql" {
            "TRANSACTION;"
        } else {
            " dump"
        };
        let (_, after) = text.split_once(opening).unwrap();
        let (_, after) = after.split_once('\n').unwrap();
        let begun = text.len() - after.len();
        for cut in chatmill_drawn::some_of(0..dump.len() + 1, 150) {
            let entry = read(&dump[..cut], messages());
            assert!(whole.frames.starts_with(&entry.frames), "{name} cut at {cut}");
            if cut >= begun {
                let codes = entry.codes();
                let is_told = codes.iter().any(|code| code.contains("dump-incomplete"));
                assert_eq!(is_told, cut < complete, "{name} cut at {cut}: {codes:?}");
            }
        }
    }
}

#[test]
fn rows_are_bounded_and_statements_are_not() {
    let limits = Limits {
        record: 40,
        reject_head: 8,
        ..Limits::default()
    };
    let codes = |text: &str| {
        let mut entries = read_all(&mut reader(text.as_bytes(), &limits, notes()));
        let entry = entries.remove(0);
        (entry.codes(), entry.frames.len())
    };
    for (text, room) in [
        (
            "INSERT INTO notes (id,text) VALUES (1,'a'),(2,'…'),(3,'c');\n",
            34,
        ),
        ("COPY notes (id,text) FROM stdin;\n1\ta\n2\t…\n3\tc\n\\.\n", 38),
        ("id,text\n1,a\n2,…\n3,c\n", 38),
    ] {
        let filled = |length| text.replace('…', &"x".repeat(length));
        assert_eq!(codes(&filled(room)), (Vec::new(), 3));
        assert_eq!(codes(&filled(room + 1)), (vec!["record-too-long".to_owned()], 2));
    }
    let many = format!(
        "INSERT INTO notes (id,text) VALUES {};\n",
        vec!["(1,'a')"; 50_000].join(",")
    );
    assert_eq!(codes(&many), (Vec::new(), 50_000));
    // What stands before the rows is held, as far as it can matter.
    let long = |length: usize| {
        format!(
            "SET a = 1;\nINSERT INTO notes (id,text{}) VALUES (1,'a');\n",
            " ".repeat(length)
        )
    };
    let room = (1 << 20) - "INSERT INTO notes (id,text) VALUES".len();
    assert_eq!(codes(&long(room)), (Vec::new(), 1));
    assert_eq!(codes(&long(room + 1)), (vec!["malformed-row".to_owned()], 0));
}

#[test]
fn line_ends_of_other_systems_change_nothing() {
    for name in ["pg15-full.sql", "messages.csv"] {
        let text = sample(name);
        let mut converted = Vec::new();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            converted.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            converted.extend_from_slice(b"\r\n");
        }
        let (plain, converted) = (read(&text, messages()), read(&converted, messages()));
        assert_eq!(converted.codes(), [""; 0], "{name}");
        if name == "messages.csv" {
            let plain: Vec<String> = plain
                .rows()
                .iter()
                .map(|row| row.replace("newline\\n", "newline\\r\\n"))
                .collect();
            assert_eq!(converted.rows(), plain);
        } else {
            assert_eq!(converted.rows(), plain.rows());
        }
    }
}

/// Texts that look like dumps, with blemishes.
fn dump() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        r"INSERT INTO notes (\(id,text\) )?VALUES ?(\([0-9],'[a'\\;(]{0,5}'\)[, ]?){0,3};\n",
        r"COPY (public\.)?(notes|users) \(id, ?text\) FROM stdin;\n([0-9]\t[a\\N\t]{0,4}\n){0,3}(\\\.\n)?",
        r"CREATE TABLE (notes|`notes`) \(id int, text text\);\n",
        r"(--|/\*|\*/|'|\$\$|\$x\$|;|\)|\(|\x22|`|\[|\\connect x|DELIMITER ;;|VALUES|E'\\)[\n ]?",
        r"SET (client_encoding = 'LATIN1'|standard_conforming_strings = off|search_path = a, b);\n",
        r"-- (PostgreSQL database dump( complete)?|MySQL dump 1|Dump completed)\n",
        r"(PRAGMA x;|BEGIN TRANSACTION;|COMMIT;)\n",
    ];
    let csv = r#"(id,text|"text";id)\n([0-9a",;\r\n]{0,40})"#;
    prop_oneof![
        5 => prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat()),
        1 => csv,
    ]
}

proptest! {
    #![proptest_config(chatmill_drawn::law(60))]

    #[test]
    fn the_sizes_of_reads_change_nothing(
        text in dump(),
        sizes in prop::collection::vec(1_usize..20, 1..5),
        cut in any::<prop::sample::Index>(),
        is_small in any::<bool>(),
    ) {
        let mut bytes = text.into_bytes();
        bytes.truncate(cut.index(bytes.len() * 2 + 1).min(bytes.len()));
        let limits = if is_small { small() } else { Limits::default() };
        let whole = read_all(&mut reader(&bytes, &limits, notes()));
        let length = Some(bytes.len() as u64);
        let drip = Drip { bytes: Cursor::new(bytes), sizes, turn: 0 };
        let mut dripping = Reader::of_stream(Box::new(drip), length, &limits).with_tables(vec![notes()].into());
        prop_assert_eq!(read_all(&mut dripping), whole);
    }

    /// The events tile what is damaged anywhere; `read_all` checks it.
    #[test]
    fn damaged_dumps_are_accounted_for(
        name in prop::sample::select(vec!["pg15-full.sql", "pg18-rows-per-insert.sql", "sqlite.sql", "mysql.sql", "messages.csv", "copy.jsonl"]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = sample(name);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        prop_assert_eq!(read_all(&mut reader(&bytes, &Limits::default(), messages())).len(), 1);
    }
}
