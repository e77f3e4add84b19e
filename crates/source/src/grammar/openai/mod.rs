//! Messages of OpenAI's Chat Completions, which gateways, frameworks and training files write, too.

pub(crate) mod calls;
mod message;
pub(crate) mod mistral;
pub(crate) mod parts;

pub(crate) use message::{MessageObject, answered, content, content_parts, is_call};

use super::{Grammar, UsageForm};

/// Messages of Chat Completions.
pub(crate) static OPENAI: Grammar = Grammar {
    blocks: parts::PARTS,
    cache_mark: Some(parts::cache_mark),
    usage: Some(UsageForm {
        input: "prompt_tokens",
        output: &["completion_tokens"],
        cached: &["prompt_tokens_details.cached_tokens"],
        written: None,
        contains_cache: true,
    }),
    ..Grammar::own("openai-chat", &message::FIELDS, message::turn)
};
