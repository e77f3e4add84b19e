//! A chat that the messenger LINE exported as text.
//!
//! The smallest example, with `→` for tabs:
//!
//! ```text
//! [LINE] Chat history with Ann
//! Saved on: 2026/01/06 09:00
//!
//! 2026/01/05(Mon)
//! 10:00→Ann→Who is coming?
//! ```
//!
//! A line that matches none of the forms continues the message before it; a message of several lines may be
//! in quotation marks, which are removed. The day of the week decides the meaning of an ambiguous date. A
//! line without a name is a notice. Files appear as words in brackets. Exports of computers separate name and
//! text by a blank, which names also contain: they are not read.

use chatmill_model::{Extra, FormatTraits, MediaKind, Part};

use crate::base::media::upload;
use crate::layout::lines::{Form, LineKind, Lines};
use crate::source::About;

/// The source `line-text`.
pub static LINE_TEXT: Lines = Lines {
    about: &About {
        id: "line-text",
        title: "LINE text",
        specification: "the text export of LINE on phones, in English, Japanese and Chinese, as its files are",
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
    ("[LINE] Chat history with {t}", LineKind::Title),
    ("[LINE] Chat history in {t}", LineKind::Title),
    ("[LINE] {t}とのトーク履歴", LineKind::Title),
    ("[LINE] {t}のトーク履歴", LineKind::Title),
    ("[LINE] 與{t}的聊天記錄", LineKind::Title),
    ("[LINE] {t}的聊天記錄", LineKind::Title),
    ("[LINE] 与{t}的聊天记录", LineKind::Title),
    ("[LINE] {t}的聊天记录", LineKind::Title),
    ("[LINE] {t}", LineKind::Title),
    ("{y}/{o}/{d}({w})", LineKind::Day),
    ("{y}/{o}/{d}（{w}）", LineKind::Day),
    ("{y}/{o}/{d}{w}", LineKind::Day),
    ("{y}.{o}.{d} {w}", LineKind::Day),
    ("{k}, {o}/{d}/{y}", LineKind::Day),
    ("{k}, {d}/{o}/{y}", LineKind::Day),
    ("{h}:{m}\t{n}\t{t}", LineKind::Message),
    ("{h}:{m}{a}\t{n}\t{t}", LineKind::Message),
    ("{h}:{m} {a}\t{n}\t{t}", LineKind::Message),
    ("{a}{h}:{m}\t{n}\t{t}", LineKind::Message),
    ("{h}:{m}\t{t}", LineKind::Notice),
    ("{h}:{m}{a}\t{t}", LineKind::Notice),
    ("{h}:{m} {a}\t{t}", LineKind::Notice),
    ("{a}{h}:{m}\t{t}", LineKind::Notice),
    ("{_}: {t}", LineKind::Saved),
    ("{_}：{t}", LineKind::Saved),
];

/// Words that replace a file: pictures and stickers, sound, films, files.
const FILES: [(MediaKind, &[&str]); 4] = [
    (
        MediaKind::Image,
        &[
            "[Photo]",
            "[写真]",
            "[照片]",
            "[Sticker]",
            "[スタンプ]",
            "[貼圖]",
            "[贴图]",
        ],
    ),
    (
        MediaKind::Audio,
        &[
            "[Voice message]",
            "[ボイスメッセージ]",
            "[語音訊息]",
            "[语音信息]",
        ],
    ),
    (MediaKind::Video, &["[Video]", "[動画]", "[影片]", "[视频]"]),
    (MediaKind::File, &["[File]", "[ファイル]", "[檔案]", "[文件]"]),
];

fn parts(text: String, _extra: &mut Extra) -> Vec<Part> {
    let file = FILES.iter().find_map(|(kind, words)| {
        let behind = words.iter().find_map(|word| text.strip_prefix(*word))?;
        // After the word there is at most the name of the file.
        (behind.is_empty() || *kind == MediaKind::File && !behind.contains('\n'))
            .then_some((*kind, behind.trim()))
    });
    if let Some((kind, name)) = file {
        let name = (!name.is_empty()).then(|| name.to_owned());
        return vec![upload(kind, name)];
    }
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inside.filter(|inside| inside.contains('\n')) {
        Some(inside) => vec![Part::Text(inside.replace("\"\"", "\""))],
        None => vec![Part::Text(text)],
    }
}
