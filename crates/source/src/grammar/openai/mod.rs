//! Messages of OpenAI's Chat Completions, which gateways, frameworks and training files also write.

pub(crate) mod calls;
mod message;
pub(crate) mod mistral;
pub(crate) mod parts;

pub(crate) use message::{MessageObject, answered, content, content_parts, is_call};

use super::{Grammar, UsageForm};

/// Messages of Chat Completions.
pub(crate) static OPENAI: Grammar = Grammar {
    verified: "openai 3.57, 2026-11",
    blocks: parts::PARTS,
    cache_mark: Some(parts::cache_mark),
    usage: Some(UsageForm {
        input: &["prompt_tokens"],
        output: &["completion_tokens"],
        thoughts: &["completion_tokens_details.reasoning_tokens"],
        // Gateways add Anthropic's field names; `DeepSeek` and Moonshot have others.
        cached: &[
            "prompt_tokens_details.cached_tokens",
            "cache_read_input_tokens",
            "prompt_cache_hit_tokens",
            "cached_tokens",
        ],
        written: &[
            "cache_creation_input_tokens",
            "prompt_tokens_details.cache_creation_tokens",
            "prompt_tokens_details.cache_write_tokens",
            "prompt_tokens_details.cache_creation_input_tokens",
        ],
        written_for: [
            &[
                "prompt_tokens_details.cache_creation_token_details.ephemeral_5m_input_tokens",
                "prompt_tokens_details.cache_creation.ephemeral_5m_input_tokens",
            ],
            &[
                "prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens",
                "prompt_tokens_details.cache_creation.ephemeral_1h_input_tokens",
            ],
        ],
        searches: &[
            "server_tool_use.web_search_requests",
            "prompt_tokens_details.web_search_requests",
        ],
        total: Some("total_tokens"),
        ..UsageForm::NOTHING
    }),
    ..Grammar::own("openai-chat", &message::FIELDS, message::turn)
};
