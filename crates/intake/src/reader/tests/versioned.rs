//! Comments that MySQL executes: their content is read as the server would read it, and nothing is lost.

use std::io::Cursor;

use chatmill_diag::Limits;

use crate::reader::Reader;
use crate::reader::testing::{Drip, Entry, read_all};
use crate::table::TableMap;

fn read(text: &str) -> Entry {
    let map = TableMap {
        source: "rows".to_owned(),
        table: "notes".to_owned(),
        ..TableMap::default()
    };
    let bytes = text.as_bytes().to_vec();
    let mut entries = Vec::new();
    // The text is read as one chunk, and byte by byte.
    for stream in [
        Box::new(Cursor::new(bytes.clone())) as Box<dyn std::io::Read + Send>,
        Box::new(Drip {
            bytes: Cursor::new(bytes.clone()),
            sizes: vec![1],
            turn: 0,
        }),
    ] {
        let reader = Reader::of_stream(stream, Some(bytes.len() as u64), &Limits::default());
        let mut read = read_all(&mut reader.with_tables(vec![map.clone()].into()));
        assert_eq!(read.len(), 1);
        entries.push(read.remove(0));
    }
    assert_eq!(entries[0], entries[1], "{text}");
    entries.remove(0)
}

const TABLE: &str = "-- MySQL dump 10.13\nCREATE TABLE `notes` (`id` int, `text` text);\n";
const END: &str = "\n-- Dump completed\n";

/// The rows of a statement, and the codes of its errors.
fn rows(statement: &str) -> (Vec<String>, Vec<String>) {
    let entry = read(&format!("{TABLE}{statement}{END}"));
    (owned(&entry), entry.codes())
}

fn owned(entry: &Entry) -> Vec<String> {
    entry.rows().into_iter().map(str::to_owned).collect()
}

fn row(id: u32, text: &str) -> String {
    format!(r#"{{"id":{id},"text":"{text}"}}"#)
}

#[test]
fn rows_in_a_comment_that_mysql_executes_are_rows() {
    let both = (vec![row(1, "a"), row(2, "*/ b")], Vec::new());
    for statement in [
        "INSERT INTO `notes` VALUES (1,'a'),(2,'*/ b');",
        "/*!50000 INSERT INTO `notes` VALUES (1,'a'),(2,'*/ b') */;",
        "/*! INSERT INTO `notes` VALUES (1,'a'),(2,'*/ b')*/;",
        "/*!080023 INSERT INTO `notes` VALUES (1,'a'),(2,'*/ b') */;",
        "/*M!100100 INSERT INTO `notes` VALUES (1,'a'),(2,'*/ b') */;",
        "/*!50000 REPLACE INTO `notes` (`id`,`text`) VALUES (1,'a'),(2,'*/ b') */;",
        "/*!50000 INSERT */ INTO `notes` VALUES (1,'a'),(2,'*/ b');",
        "INSERT /*!50000 IGNORE */ INTO `notes` /*!50100 PARTITION (p0) */ VALUES (1,'a'),(2,'*/ b');",
        "/*!50000 INSERT INTO `notes` VALUES (1,'a') */; /*!50000 INSERT INTO `notes` VALUES (2,'*/ b') */;",
        "INSERT INTO `notes` VALUES (/*!50000 1 */,'a'),(2,/*!50000 '*/ b'*/);",
        "/*!50000 INSERT INTO `notes` /* all */ VALUES (1,'a'),(2,'*/ b') ON DUPLICATE KEY UPDATE id = 1 */;",
    ] {
        assert_eq!(rows(statement), both, "{statement}");
    }
}

#[test]
fn comments_without_a_server_version_are_not_executed() {
    for statement in [
        "/* INSERT INTO `notes` VALUES (1,'a') */;",
        "/*!99999 INSERT INTO `notes` VALUES (1,'a') */;",
        "/*!999999 INSERT INTO `notes` VALUES (1,'a') */;",
        "/*M!999999\\- INSERT INTO `notes` VALUES (1,'a') */;",
        "/*+ INSERT INTO `notes` VALUES (1,'a') */;",
        "/*M INSERT INTO `notes` VALUES (1,'a') */;",
    ] {
        assert_eq!(
            rows(statement),
            (Vec::new(), vec!["(empty-input)".to_owned()]),
            "{statement}"
        );
    }
}

#[test]
fn settings_and_definitions_in_such_comments_are_obeyed_and_others_hide_nothing() {
    let defined = read(&format!(
        "-- MySQL dump 10.13\n/*!50001 CREATE TABLE `notes` (`id` int, `text` text) */;\nINSERT INTO `notes` VALUES (1,'a');{END}"
    ));
    assert_eq!(
        (owned(&defined), defined.codes()),
        (vec![row(1, "a")], Vec::new())
    );
    for before in [
        "/*!40101 SET NAMES utf8mb4 */;",
        "/*!40101 SET NAMES utf8mb4 */",
        "/*!40000 ALTER TABLE `notes` DISABLE KEYS */;",
        "/*!50001 CREATE ALGORITHM=UNDEFINED */\n/*!50013 DEFINER=`a`@`b` SQL SECURITY DEFINER */\n/*!50001 VIEW `v` AS select 1 */;",
        "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `x` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;",
        "DELIMITER ;;\n/*!50003 CREATE*/ /*!50003 TRIGGER `t` BEGIN INSERT INTO `notes` VALUES (9,'z'); END */;;\nDELIMITER ;",
    ] {
        let (rows, codes) = rows(&format!("{before}\nINSERT INTO `notes` VALUES (1,'a');"));
        assert_eq!((rows, codes), (vec![row(1, "a")], Vec::new()), "{before}");
    }
}

#[test]
fn a_dump_that_ends_in_such_a_comment_is_cut() {
    for statement in [
        "/*!50000 INSERT INTO `notes` VALUES (1,'a')",
        "/*!50000 INSERT INTO `notes` VALUES (1,'a",
        "/*!50000 INSERT INTO `notes`",
        "/*!50",
    ] {
        let entry = read(&format!("{TABLE}{statement}"));
        let codes = entry.codes();
        assert!(
            codes.iter().any(|code| code.contains("dump-incomplete")),
            "{statement}: {codes:?}"
        );
    }
}
