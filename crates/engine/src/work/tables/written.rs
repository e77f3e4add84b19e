//! Parts and previews as the JSON in their columns: a run
//! writes them, and rendering a stored dataset reads them.

use std::borrow::Cow;
use std::ops::Not;

use chatmill_dataset::DatasetError;
use chatmill_intake::json::{self, Kind};
use chatmill_model::{
    ArgumentForm, Arguments, Media, MediaKind, MediaSource, OwnItem, Part, Preview, RawJson, ToolCall,
    ToolResult, Vendor, VendorItem,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text borrowed from the conversation, or from the column that is read.
type Text<'p> = Cow<'p, str>;

/// A part in the column `parts`.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum WrittenPart<'p> {
    Text {
        text: Text<'p>,
    },
    Reasoning {
        text: Text<'p>,
    },
    Notice {
        text: Text<'p>,
    },
    Media {
        #[serde(serialize_with = "write_word", deserialize_with = "read_kind")]
        kind: MediaKind,
        #[serde(flatten)]
        source: WrittenSource<'p>,
        #[serde(skip_serializing_if = "Option::is_none")]
        media_type: Option<Text<'p>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Text<'p>>,
    },
    ToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Text<'p>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Text<'p>>,
        arguments: Text<'p>,
        #[serde(default, skip_serializing_if = "Not::not")]
        embedded: bool,
        #[serde(default, skip_serializing_if = "Not::not")]
        free_text: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        own: Option<WrittenOwn<'p>>,
    },
    ToolResult {
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<Text<'p>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<Text<'p>>,
        content: Text<'p>,
        #[serde(default, skip_serializing_if = "Not::not")]
        is_error: bool,
        /// Number of pictures and files in it.
        #[serde(skip_serializing_if = "Option::is_none")]
        media: Option<u32>,
        #[serde(default, skip_serializing_if = "Not::not")]
        json: bool,
        /// Number of texts of the source that it joins, beyond the first.
        #[serde(skip_serializing_if = "Option::is_none")]
        joined: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        own: Option<WrittenOwn<'p>>,
    },
    CacheMark,
    /// An item that only one vendor has.
    Item(WrittenItem<'p>),
}

/// The form of a call or a result in its vendor's API.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WrittenOwn<'p> {
    Client(WrittenItem<'p>),
    Hosted(WrittenItem<'p>),
    Inside,
}

/// An item of a vendor.
#[derive(Serialize, Deserialize)]
pub(crate) struct WrittenItem<'p> {
    #[serde(serialize_with = "write_word", deserialize_with = "read_vendor")]
    vendor: Vendor,
    /// The JSON of the item.
    item: Text<'p>,
}

/// The place of a media item.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WrittenSource<'p> {
    Url(Text<'p>),
    Inline(Text<'p>),
    Text(Text<'p>),
    /// An upload that the export does not contain. Always true.
    Upload(bool),
}

/// A preview in the column `quoted`, or in `preview` if the source wrote no object.
#[derive(Serialize, Deserialize)]
pub(crate) struct WrittenPreview<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Text<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sender: Option<Text<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sender_name: Option<Text<'p>>,
    #[serde(default, skip_serializing_if = "Not::not")]
    from_agent: bool,
}

fn write_word<W: Copy + Into<&'static str>, S: Serializer>(word: &W, into: S) -> Result<S::Ok, S::Error> {
    into.serialize_str((*word).into())
}

fn read_kind<'de, D: Deserializer<'de>>(from: D) -> Result<MediaKind, D::Error> {
    let word = String::deserialize(from)?;
    let unknown = |_| D::Error::custom(format!("there is no medium `{word}`"));
    word.parse().map_err(unknown)
}

fn read_vendor<'de, D: Deserializer<'de>>(from: D) -> Result<Vendor, D::Error> {
    let word = String::deserialize(from)?;
    let unknown = |_| D::Error::custom(format!("there is no vendor `{word}`"));
    word.parse().map_err(unknown)
}

/// Returns the JSON of a value for a column of this table.
pub(crate) fn written(table: &'static str, value: &impl Serialize) -> Result<String, DatasetError> {
    serde_json::to_string(value).map_err(|error| DatasetError::Row {
        table,
        reason: error.to_string(),
    })
}

/// Returns the parts as an array; `None` if the text is complete without them.
pub(crate) fn parts_json(table: &'static str, parts: &[Part]) -> Result<Option<String>, DatasetError> {
    if let [Part::Text(_)] = parts {
        return Ok(None);
    }
    let parts: Vec<WrittenPart<'_>> = parts.iter().map(WrittenPart::of).collect();
    written(table, &parts).map(Some)
}

fn borrowed(text: Option<&str>) -> Option<Text<'_>> {
    text.map(Cow::Borrowed)
}

fn owned(text: Option<Text<'_>>) -> Option<String> {
    text.map(Cow::into_owned)
}

impl<'p> WrittenPart<'p> {
    fn of(part: &'p Part) -> Self {
        match part {
            Part::Text(text) => Self::Text { text: text.into() },
            Part::Reasoning(text) => Self::Reasoning { text: text.into() },
            Part::Notice(text) => Self::Notice { text: text.into() },
            Part::Media(media) => Self::Media {
                kind: media.kind,
                source: match &media.source {
                    MediaSource::Url(url) => WrittenSource::Url(url.into()),
                    MediaSource::Inline(base64) => WrittenSource::Inline(base64.into()),
                    MediaSource::Text(text) => WrittenSource::Text(text.into()),
                    MediaSource::Upload => WrittenSource::Upload(true),
                },
                media_type: borrowed(media.media_type.as_deref()),
                name: borrowed(media.name.as_deref()),
            },
            Part::ToolCall(call) => Self::ToolCall {
                id: borrowed(call.known_id()),
                name: borrowed(call.name.as_deref()),
                arguments: call.arguments.source_text().into(),
                embedded: call.form == ArgumentForm::Embedded,
                free_text: call.form == ArgumentForm::FreeText,
                own: call.own.as_deref().map(WrittenOwn::of),
            },
            Part::ToolResult(result) => Self::ToolResult {
                call_id: borrowed(result.known_id()),
                name: borrowed(result.name.as_deref()),
                content: (&result.content).into(),
                is_error: result.is_error,
                media: Some(result.media).filter(|media| *media > 0),
                json: result.is_json,
                joined: Some(result.joined).filter(|joined| *joined > 0),
                own: result.own.as_deref().map(WrittenOwn::of),
            },
            Part::CacheMark => Self::CacheMark,
            Part::Item(item) => Self::Item(WrittenItem::of(item)),
        }
    }

    /// Converts to a part; its arguments are read down to `depth`.
    pub(crate) fn read(self, depth: u32) -> Part {
        match self {
            Self::Text { text } => Part::Text(text.into_owned()),
            Self::Reasoning { text } => Part::Reasoning(text.into_owned()),
            Self::Notice { text } => Part::Notice(text.into_owned()),
            Self::Media {
                kind,
                source,
                media_type,
                name,
            } => Part::Media(Media {
                kind,
                source: match source {
                    WrittenSource::Url(url) => MediaSource::Url(url.into_owned()),
                    WrittenSource::Inline(base64) => MediaSource::Inline(base64.into_owned()),
                    WrittenSource::Text(text) => MediaSource::Text(text.into_owned()),
                    WrittenSource::Upload(_) => MediaSource::Upload,
                },
                media_type: owned(media_type),
                name: owned(name),
            }),
            Self::ToolCall {
                id,
                name,
                arguments: text,
                embedded,
                free_text,
                own,
            } => {
                let text = text.into_owned();
                let given = match (free_text, embedded) {
                    (true, _) => (Arguments::Malformed(text), ArgumentForm::FreeText),
                    (false, true) => (arguments(text, depth), ArgumentForm::Embedded),
                    (false, false) => (arguments(text, depth), ArgumentForm::Text),
                };
                Part::ToolCall(ToolCall {
                    own: own.map(|own| Box::new(own.read())),
                    ..ToolCall::new(owned(id), owned(name), given)
                })
            }
            Self::ToolResult {
                call_id,
                name,
                content,
                is_error,
                media,
                json,
                joined,
                own,
            } => Part::ToolResult(ToolResult {
                call_id: owned(call_id),
                name: owned(name),
                content: content.into_owned(),
                is_error,
                media: media.unwrap_or(0),
                is_json: json,
                joined: joined.unwrap_or(0),
                own: own.map(|own| Box::new(own.read())),
                ..ToolResult::default()
            }),
            Self::CacheMark => Part::CacheMark,
            Self::Item(item) => Part::Item(item.read()),
        }
    }
}

impl<'p> WrittenOwn<'p> {
    fn of(own: &'p OwnItem) -> Self {
        match own {
            OwnItem::Client(item) => Self::Client(WrittenItem::of(item)),
            OwnItem::Hosted(item) => Self::Hosted(WrittenItem::of(item)),
            OwnItem::Inside => Self::Inside,
        }
    }

    fn read(self) -> OwnItem {
        match self {
            Self::Client(item) => OwnItem::Client(item.read()),
            Self::Hosted(item) => OwnItem::Hosted(item.read()),
            Self::Inside => OwnItem::Inside,
        }
    }
}

impl<'p> WrittenItem<'p> {
    fn of(item: &'p VendorItem) -> Self {
        Self {
            vendor: item.vendor,
            item: item.raw.as_str().into(),
        }
    }

    fn read(self) -> VendorItem {
        VendorItem {
            vendor: self.vendor,
            raw: RawJson(self.item.into_owned()),
        }
    }
}

/// Classifies arguments by their text, as sources do: an object, other JSON, or text that is neither.
fn arguments(text: String, depth: u32) -> Arguments {
    match json::scan(text.as_bytes(), depth).map(|document| document.root().kind()) {
        Ok(Kind::Object) => Arguments::Object(RawJson(text)),
        Ok(_) => Arguments::NotObject(RawJson(text)),
        Err(_) => Arguments::Malformed(text),
    }
}

impl<'p> WrittenPreview<'p> {
    pub(crate) fn of(preview: &'p Preview) -> Self {
        Self {
            content: borrowed(preview.content.as_deref()),
            sender: borrowed(preview.sender.as_deref()),
            sender_name: borrowed(preview.sender_name.as_deref()),
            from_agent: preview.from_agent,
        }
    }

    pub(crate) fn read(self) -> Preview {
        Preview {
            content: owned(self.content),
            sender: owned(self.sender),
            sender_name: owned(self.sender_name),
            from_agent: self.from_agent,
            ..Preview::default()
        }
    }
}
