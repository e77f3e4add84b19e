//! A chat that `KakaoTalk` exported as text, in Korean or in English.
//!
//! The smallest example, of a computer and of a phone:
//!
//! ```text
//! --------------- 2026년 1월 5일 월요일 ---------------
//! [Ann] [오전 10:00] Who is coming?
//!
//! 2026년 1월 5일 오전 10:01, Bo : I am
//! ```
//!
//! A line that matches none of the forms continues the message before it. A text that is exactly one of the
//! app's words (`사진`, `Photo`) replaces a file that was not exported; a person who writes only that word
//! looks the same. A line with a time and without a name is a notice; on computers events have neither, and
//! are recognised by their endings. Exports of Macs are CSV: a table map reads them.

use chatmill_model::{Extra, FormatTraits, MediaKind, Part};

use crate::base::media::upload;
use crate::layout::lines::{Form, LineKind, Lines};
use crate::source::About;

/// The source `kakaotalk-text`.
pub static KAKAOTALK_TEXT: Lines = Lines {
    about: &About {
        id: "kakaotalk-text",
        title: "KakaoTalk text",
        specification: "the text exports of KakaoTalk on Windows, Android and iPhones, as their files are",
        verified: "2026-11",
        shapes: &["text"],
        carries: "names, text, files by kind, title, events as notices, times without a zone",
        traits: FormatTraits::USUAL,
    },
    shapes: &[FORMS],
    typical: &[],
    ranks: &[],
    goes_on: true,
    parts,
};

const FORMS: &[Form] = &[
    ("{t} 님과 카카오톡 대화", LineKind::Title),
    ("{t} 님과의 카카오톡 대화", LineKind::Title),
    ("KakaoTalk Chats with {t}", LineKind::Title),
    ("저장한 날짜 : {t}", LineKind::Saved),
    ("Date Saved : {t}", LineKind::Saved),
    // Computers.
    (
        "--------------- {y}년 {o}월 {d}일 {w} ---------------",
        LineKind::Day,
    ),
    ("--------------- {w}, {b} {d}, {y} ---------------", LineKind::Day),
    ("[{n}] [{a} {h}:{m}] {t}", LineKind::Message),
    ("[{n}] [{h}:{m} {a}] {t}", LineKind::Message),
    // Phones: in Korean, of iPhones, in English.
    ("{y}년 {o}월 {d}일 {a} {h}:{m}, {n} : {t}", LineKind::Message),
    ("{y}년 {o}월 {d}일 {a} {h}:{m}, {t}", LineKind::Notice),
    ("{y}년 {o}월 {d}일 {a} {h}:{m}", LineKind::Day),
    ("{y}년 {o}월 {d}일 {w}", LineKind::Day),
    ("{y}. {o}. {d}. {a} {h}:{m}, {n} : {t}", LineKind::Message),
    ("{y}. {o}. {d}. {a} {h}:{m}: {t}", LineKind::Notice),
    ("{y}. {o}. {d}. {h}:{m}, {n} : {t}", LineKind::Message),
    ("{y}. {o}. {d}. {h}:{m}: {t}", LineKind::Notice),
    ("{y}. {o}. {d}. {w}", LineKind::Day),
    ("{b} {d}, {y} at {h}:{m} {a}, {n} : {t}", LineKind::Message),
    ("{b} {d}, {y} at {h}:{m} {a}, {t}", LineKind::Notice),
    ("{b} {d}, {y} at {h}:{m} {a}", LineKind::Day),
    ("{b} {d}, {y}, {h}:{m} {a}, {n} : {t}", LineKind::Message),
    ("{b} {d}, {y}, {h}:{m} {a}, {t}", LineKind::Notice),
    ("{b} {d}, {y}, {h}:{m} {a}", LineKind::Day),
    // Events, on computers.
    ("{_}님이 들어왔습니다.", LineKind::Notice),
    ("{_}님이 나갔습니다.", LineKind::Notice),
    ("{_}님을 초대했습니다.", LineKind::Notice),
    ("{_}님을 내보냈습니다.", LineKind::Notice),
];

/// Words that replace a file.
const FILES: [(&str, MediaKind); 6] = [
    ("사진", MediaKind::Image),
    ("Photo", MediaKind::Image),
    ("동영상", MediaKind::Video),
    ("Video", MediaKind::Video),
    ("이모티콘", MediaKind::Image),
    ("Emoticons", MediaKind::Image),
];

/// Prefixes of a line that holds a file's name.
const NAMED: [&str; 2] = ["파일: ", "File: "];

fn parts(text: String, _extra: &mut Extra) -> Vec<Part> {
    let plain = FILES
        .iter()
        .find(|(word, _)| *word == text)
        .map(|(_, kind)| (*kind, None));
    let named = NAMED
        .iter()
        .find_map(|before| text.strip_prefix(*before))
        .filter(|name| !name.contains('\n'));
    match plain.or_else(|| named.map(|name| (MediaKind::File, Some(name.to_owned())))) {
        Some((kind, name)) => vec![upload(kind, name)],
        None => vec![Part::Text(text)],
    }
}
