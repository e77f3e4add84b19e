//! Dialects that a source reads back, and how declared changes look in each.

use chatmill_dialect::policy::{
    Compressed, ControlTokens, LeakedMetadata, MediaPolicy, Names, Orphans, Reasoning, References, System,
};
use chatmill_dialect::{LossCode, Policy};
use chatmill_model::{ArgumentForm, Media, MediaKind, MediaSource};

use super::Told;
use crate::forget::{Family, Forget, group_chat, gryag, jaibber, suna_rows, tzurot};
use crate::tale::Tale;

const TEXT: ArgumentForm = ArgumentForm::Text;
const EMBEDDED: ArgumentForm = ArgumentForm::Embedded;

const fn told(dialect: &'static str, source: &'static str, family: Family) -> Told {
    Told {
        dialect,
        source,
        family,
    }
}

/// The defaults, until a view has others.
const PLAIN: Policy = Policy {
    names: Names::Auto,
    references: References::Quote,
    media: MediaPolicy::Keep,
    reasoning: Reasoning::Drop,
    orphans: Orphans::Repair,
    control_tokens: ControlTokens::Escape,
    system: System::Source,
    compressed: Compressed::AsSent,
    leaked_metadata: LeakedMetadata::Clean,
};

/// Lists of one text a turn, without names.
const STRINGS: Family = Family {
    names: false,
    joins: true,
    arguments: TEXT,
    carries: nothing,
    user_first: false,
    merges: false,
    blank_is_empty: false,
    trims_end: false,
    rounds: false,
    one_agent: false,
    tools: true,
    filters: false,
    caches: false,
    tags: false,
    defines: true,
    wraps: false,
    lines: false,
    archive: false,
    single: false,
    compared: Tale::without_ids,
    own: &[],
    policy: PLAIN,
};

/// A user speaks first.
const USER_FIRST: Family = Family {
    user_first: true,
    ..STRINGS
};

/// Speakers take turns, and say blocks.
const ALTERNATING: Family = Family {
    joins: false,
    arguments: EMBEDDED,
    merges: true,
    blank_is_empty: true,
    ..USER_FIRST
};

const SUNA: Family = Family {
    defines: false,
    ..STRINGS
};

/// Messages of several texts, without definitions of tools.
const BLOCKS: Family = Family { joins: false, ..SUNA };

/// Lists in which every agent is the assistant.
const SUNA_LIST: Family = Family {
    one_agent: true,
    ..SUNA
};

const SUNA_FILTERED: Family = Family {
    filters: true,
    ..SUNA_LIST
};

const MISTRAL: Family = Family {
    carries: addressed_or_typed,
    ..USER_FIRST
};

const GEMINI: Family = Family {
    carries: addressed_or_typed_anyhow,
    wraps: true,
    ..ALTERNATING
};

/// The requests of vendors' APIs, records of training files, and the lists of systems that are like them.
pub const REQUESTS: &[Told] = &[
    told(
        "sharegpt",
        "sharegpt",
        Family {
            arguments: EMBEDDED,
            rounds: true,
            tags: true,
            ..USER_FIRST
        },
    ),
    told(
        "openai-chat",
        "openai-messages",
        Family {
            names: true,
            carries: addressed_or_typed,
            ..STRINGS
        },
    ),
    told(
        "openai-responses",
        "openai-responses",
        Family {
            carries: picture_or_file,
            ..STRINGS
        },
    ),
    told(
        "anthropic-messages",
        "anthropic-messages",
        Family {
            carries: addressed_or_typed,
            trims_end: true,
            ..ALTERNATING
        },
    ),
    told(
        "bedrock-converse",
        "bedrock-converse",
        Family {
            carries: typed,
            ..ALTERNATING
        },
    ),
    told("gemini-contents", "gemini-contents", GEMINI),
    told("gemini-contents@no-ids", "gemini-contents", GEMINI),
    told("mistral-chat", "mistral-chat", MISTRAL),
    told("mistral-chat@v3", "mistral-chat", MISTRAL),
    told("mistral-chat@v7", "mistral-chat", MISTRAL),
    told("mistral-chat@v13", "mistral-chat", MISTRAL),
    told(
        "hf-messages",
        "hf-messages",
        Family {
            arguments: EMBEDDED,
            ..STRINGS
        },
    ),
    told("hf-messages@string-arguments", "hf-messages", STRINGS),
    told("suna-llm", "openai-messages", SUNA_LIST),
    told(
        "suna-list",
        "openai-messages",
        Family {
            one_agent: true,
            ..BLOCKS
        },
    ),
    told(
        "suna-cached",
        "openai-messages",
        Family {
            caches: true,
            ..SUNA_LIST
        },
    ),
    told("suna-bedrock", "openai-messages", SUNA_FILTERED),
    told("suna-bedrock@2025-11-07", "openai-messages", SUNA_FILTERED),
    told(
        "chatml",
        "chatml",
        Family {
            tools: false,
            tags: true,
            ..SUNA
        },
    ),
];

/// Formats that systems keep their conversations in, or speak among themselves.
pub const SYSTEMS: &[Told] = &[
    told(
        "group-chat",
        "group-chat",
        archive(Tale::as_archived, group_chat::OWN),
    ),
    told("gryag-gemini", "gemini-contents", GRYAG),
    told("gryag-gemini@2025-10-17", "gemini-contents", GRYAG),
    told(
        "jaibber-events",
        "jaibber-events",
        archive(Tale::as_payloads, jaibber::OWN),
    ),
    told("tzurot", "tzurot-requests", TZUROT),
    told("tzurot@v2-final", "tzurot-requests", TZUROT),
    told("suna-rows", "suna-rows", archive(Tale::as_rows, suna_rows::OWN)),
];

/// What a system keeps, in nobody's view.
const fn archive(compared: fn(&mut Tale), own: &'static [(LossCode, Forget)]) -> Family {
    Family {
        archive: true,
        compared,
        own,
        ..BLOCKS
    }
}

/// One message alone: the source reads the array that the formatter makes, whose trailing quote becomes a reference again.
/// Who is quoted, the words in front of a quote say; they are the business of the document's scenarios.
const TZUROT: Family = Family {
    tools: false,
    defines: false,
    single: true,
    compared: Tale::as_request,
    own: tzurot::OWN,
    ..STRINGS
};

/// Turns with a line of ids and names in front.
const GRYAG: Family = Family {
    names: true,
    arguments: EMBEDDED,
    carries: linked_or_inline,
    lines: true,
    compared: Tale::as_prompted,
    own: gryag::OWN,
    ..BLOCKS
};

fn linked_or_inline(media: &Media) -> bool {
    media.kind != MediaKind::Link && media.source != MediaSource::Upload
}

fn nothing(_: &Media) -> bool {
    false
}

fn has_address(media: &Media) -> bool {
    matches!(&media.source, MediaSource::Url(url) if url.starts_with("http"))
}

fn picture(media: &Media) -> bool {
    media.kind == MediaKind::Image && has_address(media)
}

fn picture_or_file(media: &Media) -> bool {
    addressed_or_typed(media) || media.kind == MediaKind::File && has_address(media)
}

fn addressed_or_typed(media: &Media) -> bool {
    let is_inline = matches!(media.source, MediaSource::Inline(_));
    picture(media) || is_inline && typed(media)
}

fn typed(media: &Media) -> bool {
    let types = ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"];
    media.kind == MediaKind::Image
        && !has_address(media)
        && media
            .media_type
            .as_deref()
            .is_some_and(|word| types.contains(&word))
}

/// Whatever has an address, or bytes and a type.
fn addressed_or_typed_anyhow(media: &Media) -> bool {
    let is_carried = match &media.source {
        MediaSource::Url(url) => url.starts_with("http") || url.starts_with("gs://"),
        MediaSource::Inline(_) => media.media_type.as_deref().is_some_and(|word| word.contains('/')),
        MediaSource::Upload => false,
    };
    is_carried && media.kind != MediaKind::Link
}
