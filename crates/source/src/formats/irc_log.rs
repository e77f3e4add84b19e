//! Logs of IRC channels, as clients, bouncers and bots write them.
//!
//! The smallest example, of irssi:
//!
//! ```text
//! --- Log opened Mon Jan 05 10:00:00 2026
//! 10:01 <@ann> Is there wind?
//! 10:02  * bo runs to the window
//! 10:03 -!- cleo [cleo@example.org] has joined #kites
//! ```
//!
//! | Shape | Written by | Dates |
//! |---|---|---|
//! | `irssi` | irssi, fe-common's themes | of the lines `Log opened` and `Day changed` |
//! | `weechat` | `WeeChat`, its plugin logger | in each line |
//! | `bot` | Supybot and its like | in each line |
//! | `dircproxy` | dircproxy; a character before each text marks registered users, and is removed | day and month; no year, and so no instant |
//! | `znc` | ZNC, soju and others | none: the date is in the file name |
//! | `hexchat` | `XChat` and `HexChat` | day and month; the year of the line `BEGIN LOGGING` |
//! | `mirc` | mIRC | of the lines `Session Start` and `Session Time` |
//!
//! Joins, parts, modes and messages of servers are notices. An action (`/me`) is a message of the type
//! `action`; `HexChat` and mIRC write it like an event, and there it becomes one. A participant is a nick: after a
//! change of nick, it is another participant.

use chatmill_model::FormatTraits;

use crate::layout::lines::{Form, LineKind, Lines, plain};
use crate::source::About;

/// The source `irc-log`.
pub static IRC_LOG: Lines = Lines {
    about: &About {
        id: "irc-log",
        title: "IRC logs",
        specification: "the logs of irssi, WeeChat, HexChat, mIRC, ZNC, dircproxy and bots, as their files are",
        verified: "2026-11",
        shapes: &["irssi", "weechat", "bot", "dircproxy", "znc", "hexchat", "mirc"],
        carries: "names, text, actions, events as notices, times without a zone",
        traits: FormatTraits::USUAL,
    },
    shapes: &[IRSSI, WEECHAT, BOT, DIRCPROXY, ZNC, HEXCHAT, MIRC],
    typical: &[],
    ranks: &[' ', '@', '+', '%', '&', '!', '~'],
    goes_on: false,
    parts: plain,
};

const IRSSI: &[Form] = &[
    ("--- Log opened {w} {b} {d} {h}:{m}:{s} {y}", LineKind::Day),
    ("--- Day changed {w} {b} {d} {y}", LineKind::Day),
    ("--- Log closed {w} {b} {d} {h}:{m}:{s} {y}", LineKind::Day),
    ("{h}:{m} <{n}> {t}", LineKind::Message),
    ("{h}:{m}  * {n} {t}", LineKind::Action),
    ("{h}:{m} -!- {t}", LineKind::Notice),
    ("{h}:{m} -{n}:{_}- {t}", LineKind::Message),
    ("{h}:{m} -{n}({_})- {t}", LineKind::Message),
    ("{h}:{m} {t}", LineKind::Notice),
];

const WEECHAT: &[Form] = &[
    ("{y}-{o}-{d} {h}:{m}:{s}\t--\t{t}", LineKind::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t-->\t{t}", LineKind::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t<--\t{t}", LineKind::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t=!=\t{t}", LineKind::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t *\t{n} {t}", LineKind::Action),
    ("{y}-{o}-{d} {h}:{m}:{s}\t{n}\t{t}", LineKind::Message),
    ("{y}-{o}-{d} {h}:{m}:{s}\t{t}", LineKind::Notice),
];

const BOT: &[Form] = &[
    ("{y}-{o}-{d}T{h}:{m}:{s}  <{n}> {t}", LineKind::Message),
    ("{y}-{o}-{d}T{h}:{m}:{s}  * {n} {t}", LineKind::Action),
    ("{y}-{o}-{d}T{h}:{m}:{s}  *** {t}", LineKind::Notice),
    ("{y}-{o}-{d}T{h}:{m}:{s}  -{n}- {t}", LineKind::Message),
];

const DIRCPROXY: &[Form] = &[
    ("[{d} {b} {h}:{m}] <{n}!{_}> +{t}", LineKind::Message),
    ("[{d} {b} {h}:{m}] <{n}!{_}> -{t}", LineKind::Message),
    ("[{d} {b} {h}:{m}] <{n}!{_}> {t}", LineKind::Message),
    ("[{d} {b} {h}:{m}] <{n}> {t}", LineKind::Message),
    ("[{d} {b} {h}:{m}] * {n} {t}", LineKind::Action),
    ("[{d} {b} {h}:{m}] --> {t}", LineKind::Notice),
    ("[{d} {b} {h}:{m}] <-- {t}", LineKind::Notice),
    ("[{d} {b} {h}:{m}] *** {t}", LineKind::Notice),
    ("[{d} {b} {h}:{m}] -{n}!{_}- {t}", LineKind::Message),
    ("[{d} {b} {h}:{m}] {t}", LineKind::Notice),
];

const ZNC: &[Form] = &[
    ("[{h}:{m}:{s}] <{n}> {t}", LineKind::Message),
    ("[{h}:{m}:{s}] * {n} {t}", LineKind::Action),
    ("[{h}:{m}:{s}] *** {t}", LineKind::Notice),
    ("[{h}:{m}:{s}] -{n}- {t}", LineKind::Message),
];

const HEXCHAT: &[Form] = &[
    ("**** BEGIN LOGGING AT {w} {b} {d} {h}:{m}:{s} {y}", LineKind::Day),
    (
        "**** ENDING LOGGING AT {w} {b} {d} {h}:{m}:{s} {y}",
        LineKind::Day,
    ),
    ("{b} {d} {h}:{m}:{s} <{n}>\t{t}", LineKind::Message),
    ("{b} {d} {h}:{m}:{s} -{n}-\t{t}", LineKind::Message),
    ("{b} {d} {h}:{m}:{s} *\t{t}", LineKind::Notice),
    ("{b} {d} {h}:{m}:{s} {t}", LineKind::Notice),
];

const MIRC: &[Form] = &[
    ("Session Start: {w} {b} {d} {h}:{m}:{s} {y}", LineKind::Day),
    ("Session Time: {w} {b} {d} {h}:{m}:{s} {y}", LineKind::Day),
    ("Session Close: {w} {b} {d} {h}:{m}:{s} {y}", LineKind::Day),
    ("Session Ident: {t}", LineKind::Notice),
    ("[{h}:{m}] <{n}> {t}", LineKind::Message),
    ("[{h}:{m}] -{n}- {t}", LineKind::Message),
    ("[{h}:{m}] *** {t}", LineKind::Notice),
    ("[{h}:{m}] * {t}", LineKind::Notice),
];
