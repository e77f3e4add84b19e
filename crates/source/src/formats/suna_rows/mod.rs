//! Rows of Suna's `messages` table: from a database dump, CSV, JSON lines, pages of its API, and thread
//! dumps.
//!
//! A record is the list of all rows of one thread. The smallest example:
//!
//! ```json
//! [{"message_id": "m1", "thread_id": "t1", "type": "user", "is_llm_message": true, "created_at": "2026-01-18T05:35:40+00:00",
//!   "content": "{\"role\": \"user\", \"content\": \"Morning\"}", "metadata": {}}]
//! ```
//!
//! Content is a message object, a string that contains one (also twice), plain text where a context manager shortened it, or a
//! list of parts; metadata is an object, null, or a string. Rows are sorted by `created_at`, then by input order. Records of
//! the system about itself are notices: rows with `is_llm_message` false, and where that is absent, rows of the types
//! `status`, `llm_response_end` and similar. Rows of agents without an `agent_id` belong to the thread's only agent.
//!
//! Three generations of tool use are read alike ([`xml`], [`result`], [`metadata`]): calls written into the
//! text as XML, calls and results in `OpenAI`'s shape, and copies of both in the metadata. A call in two
//! places is one call.

mod content;
mod messages;
mod metadata;
mod order;
mod pages;
mod result;
mod row;
mod speech;
mod types;
mod xml;

use chatmill_diag::{Finding, Limits};
use chatmill_model::{Conversation, FormatTraits, Scene, TextArguments};

use crate::base::{Wire as _, id};
use crate::frame::{FrameView, Reading};
use crate::layout::{Turns, list, surest};
use crate::rust_format::{Read, RustFormat, table_map};
use crate::source::About;
use messages::Reader;
use row::Columns;
use types::Era;

const ID: &str = "suna-rows";

static ABOUT: About = About {
    id: ID,
    title: "Suna message rows",
    specification: "the messages table of Suna's Message Structures (November 2025), as its code stored it from 2024 to 2026",
    verified: "2026-11",
    shapes: &["plain", "xml", "native", "metadata"],
    carries: "roles, text, pictures, thoughts, tool calls and results of all three generations, compressed rows, \
              status rows as notices",
    traits: FormatTraits {
        extra_format: Some(ID),
        sent_field: Some(metadata::COMPRESSED),
        // Calls in the content of a row have ids; other calls come from texts and metadata.
        text_arguments: TextArguments::WithId,
        ..FormatTraits::USUAL
    },
};

/// The source `suna-rows`.
pub static SUNA_ROWS: RustFormat = RustFormat {
    tables: Some(|| {
        let requires = ["message_id", "thread_id", "type", "content"];
        vec![table_map(
            ["suna", ID, "messages"],
            &requires,
            &["content", "metadata"],
        )]
    }),
    rows: Some(pages::rows),
    merges: true,
    ..RustFormat::of(
        &ABOUT,
        |sketch| surest(sketch, pages::recognise),
        Read::Thoughts(read),
    )
};

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let no_row = "the record is neither a row of the messages table nor a page of rows";
    let no_row = (!pages::is_row(frame.root())).then_some(no_row);
    let neither = "the record is neither a row nor a list of rows";
    let values = list::rows(frame, "the thread", no_row, neither, limits)?;
    let mut turns = Turns::new(frame, limits);
    let rows = turns.list.rows(values, Columns::read, row::Row::of);
    let steps = order::arrange(&rows, &mut turns.list.notes, &mut turns.list.rows, limits);
    let of_rows = || rows.iter().find_map(|row| row.columns.thread.and_then(id));
    let mut reader = Reader {
        turns,
        thread: frame.key.map(str::to_owned).or_else(of_rows),
        agent: only_agent(&rows),
        era: Era::default(),
    };
    for step in &steps {
        reader.accept(step);
    }
    Ok(reader.turns.finish(Conversation {
        source_id: reader.thread,
        shape: reader.era.as_str(),
        scene: Scene::Assistant,
        ..Conversation::default()
    }))
}

/// The agent that rows name, unless they name several. Old rows name none, because the column was added later.
fn only_agent(rows: &[row::Row<'_>]) -> Option<String> {
    let mut named = rows.iter().filter_map(|row| row.columns.agent.and_then(id));
    let first = named.next()?;
    named.all(|agent| agent == first).then_some(first)
}
