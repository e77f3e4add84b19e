//! Requests of Mistral's chat API: lists of messages in `OpenAI`'s shape, with settings of Mistral's own.
//!
//! The smallest example:
//!
//! ```json
//! {"model": "mistral-small-latest", "messages": [{"role": "user", "content": "Hi"}]}
//! ```
//!
//! Arguments of calls may be text or an object, and results have the name of their tool. A list that nothing marks as
//! Mistral's is left to `openai-messages`, which reads it alike.

use chatmill_diag::Limits;
use chatmill_intake::{RecordSketch, Sketch};

use crate::formats::openai_messages;
use crate::formats::openai_messages::OpenaiMessages;
use crate::frame::{FrameView, Reading};
use crate::reader::{best, has, holds};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};

const ID: &str = "mistral-chat";

/// The source `mistral-chat`.
#[derive(Debug)]
pub struct MistralChat;

static ABOUT: About = About {
    id: ID,
    title: "Mistral chat requests",
    specification: "mistral-common, request model",
    shapes: &["mistral"],
    carries: "roles, text, pictures, tool definitions, calls and results",
    customs: NO_TEXT_ARGUMENTS.of_one_request(),
};

impl Source for MistralChat {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        best(sketch, recognise)
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        openai_messages::read((ID, &ABOUT), Some("mistral"), *frame, limits)
    }

    fn message_path(&self, index: u32) -> Option<String> {
        OpenaiMessages.message_path(index)
    }
}

/// Families of models that are Mistral's.
const MODELS: [&str; 8] = [
    "mistral-",
    "open-mistral-",
    "open-mixtral-",
    "ministral-",
    "codestral-",
    "magistral-",
    "devstral-",
    "pixtral-",
];

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    if !holds(record, "messages", "role") {
        return None;
    }
    if let Some(key) = ["safe_prompt", "random_seed", "prompt_mode"]
        .into_iter()
        .find(|key| has(record, key))
    {
        return Some((
            92,
            format!("the record has messages and {key}, a setting of Mistral's"),
        ));
    }
    let mut strings = record.strings.iter();
    let is_model =
        strings.any(|(key, text)| key == "model" && MODELS.iter().any(|model| text.starts_with(model)));
    is_model.then(|| (92, "the model is one of Mistral's".to_owned()))
}
