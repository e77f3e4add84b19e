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

use crate::layout::lines::{Form, Is, Lines, plain};
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
    ("--- Log opened {w} {b} {d} {h}:{m}:{s} {y}", Is::Day),
    ("--- Day changed {w} {b} {d} {y}", Is::Day),
    ("--- Log closed {w} {b} {d} {h}:{m}:{s} {y}", Is::Day),
    ("{h}:{m} <{n}> {t}", Is::Message),
    ("{h}:{m}  * {n} {t}", Is::Action),
    ("{h}:{m} -!- {t}", Is::Notice),
    ("{h}:{m} -{n}:{_}- {t}", Is::Message),
    ("{h}:{m} -{n}({_})- {t}", Is::Message),
    ("{h}:{m} {t}", Is::Notice),
];

const WEECHAT: &[Form] = &[
    ("{y}-{o}-{d} {h}:{m}:{s}\t--\t{t}", Is::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t-->\t{t}", Is::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t<--\t{t}", Is::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t=!=\t{t}", Is::Notice),
    ("{y}-{o}-{d} {h}:{m}:{s}\t *\t{n} {t}", Is::Action),
    ("{y}-{o}-{d} {h}:{m}:{s}\t{n}\t{t}", Is::Message),
    ("{y}-{o}-{d} {h}:{m}:{s}\t{t}", Is::Notice),
];

const BOT: &[Form] = &[
    ("{y}-{o}-{d}T{h}:{m}:{s}  <{n}> {t}", Is::Message),
    ("{y}-{o}-{d}T{h}:{m}:{s}  * {n} {t}", Is::Action),
    ("{y}-{o}-{d}T{h}:{m}:{s}  *** {t}", Is::Notice),
    ("{y}-{o}-{d}T{h}:{m}:{s}  -{n}- {t}", Is::Message),
];

const DIRCPROXY: &[Form] = &[
    ("[{d} {b} {h}:{m}] <{n}!{_}> +{t}", Is::Message),
    ("[{d} {b} {h}:{m}] <{n}!{_}> -{t}", Is::Message),
    ("[{d} {b} {h}:{m}] <{n}!{_}> {t}", Is::Message),
    ("[{d} {b} {h}:{m}] <{n}> {t}", Is::Message),
    ("[{d} {b} {h}:{m}] * {n} {t}", Is::Action),
    ("[{d} {b} {h}:{m}] --> {t}", Is::Notice),
    ("[{d} {b} {h}:{m}] <-- {t}", Is::Notice),
    ("[{d} {b} {h}:{m}] *** {t}", Is::Notice),
    ("[{d} {b} {h}:{m}] -{n}!{_}- {t}", Is::Message),
    ("[{d} {b} {h}:{m}] {t}", Is::Notice),
];

const ZNC: &[Form] = &[
    ("[{h}:{m}:{s}] <{n}> {t}", Is::Message),
    ("[{h}:{m}:{s}] * {n} {t}", Is::Action),
    ("[{h}:{m}:{s}] *** {t}", Is::Notice),
    ("[{h}:{m}:{s}] -{n}- {t}", Is::Message),
];

const HEXCHAT: &[Form] = &[
    ("**** BEGIN LOGGING AT {w} {b} {d} {h}:{m}:{s} {y}", Is::Day),
    ("**** ENDING LOGGING AT {w} {b} {d} {h}:{m}:{s} {y}", Is::Day),
    ("{b} {d} {h}:{m}:{s} <{n}>\t{t}", Is::Message),
    ("{b} {d} {h}:{m}:{s} -{n}-\t{t}", Is::Message),
    ("{b} {d} {h}:{m}:{s} *\t{t}", Is::Notice),
    ("{b} {d} {h}:{m}:{s} {t}", Is::Notice),
];

const MIRC: &[Form] = &[
    ("Session Start: {w} {b} {d} {h}:{m}:{s} {y}", Is::Day),
    ("Session Time: {w} {b} {d} {h}:{m}:{s} {y}", Is::Day),
    ("Session Close: {w} {b} {d} {h}:{m}:{s} {y}", Is::Day),
    ("Session Ident: {t}", Is::Notice),
    ("[{h}:{m}] <{n}> {t}", Is::Message),
    ("[{h}:{m}] -{n}- {t}", Is::Message),
    ("[{h}:{m}] *** {t}", Is::Notice),
    ("[{h}:{m}] * {t}", Is::Notice),
];
