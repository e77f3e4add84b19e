//! User turns: whatever somebody other than the perspective says.
//!
//! Content is a string; it becomes an array of parts only where there is a picture that the dialect can carry.

use std::borrow::Cow;

use chatmill_model::{Component, Level, MediaKind, Message, Part, Role, ToolCall};

use super::Writer;
use crate::loss::LossCode;
use crate::media::{placeholder, web_address};
use crate::names::speaker;
use crate::policy::{MediaPolicy, Names, References};
use crate::quote::{Quote, quotes};
use crate::said::said_declared;
use crate::tools::call_as_text;

/// A piece of a user turn.
enum Piece<'a> {
    Text(Cow<'a, str>),
    Image(&'a str),
    Call(&'a ToolCall),
    Quote(Quote<'a>),
}

impl<'a> Writer<'_, 'a> {
    /// The turn of a message that is not the perspective's.
    pub(super) fn user(&mut self, message: &'a Message) {
        if message.role != Role::User {
            self.losses.at(
                LossCode::RoleMapped,
                message.position,
                "everybody but the perspective is a user",
            );
        }
        let pieces = self.pieces(message);
        if pieces.is_empty() {
            self.losses.at(
                LossCode::EmptyDropped,
                message.position,
                "the message says nothing",
            );
            return;
        }
        if self.names() == Names::Drop && message.sender.is_some() {
            self.losses
                .at(LossCode::NameDropped, message.position, "policy drops names");
        }
        self.open("{\"role\":\"user\"");
        self.name_field(message.sender);
        if pieces.iter().any(|piece| matches!(piece, Piece::Image(_))) {
            self.rope.framing(",\"content\":[");
            self.parts(message, pieces);
            self.close("]}");
        } else {
            self.rope.framing(",\"content\":\"");
            self.string(message, pieces);
            self.close("\"}");
        }
        self.progress.said(message.position, "user");
    }

    fn pieces(&mut self, message: &'a Message) -> Vec<Piece<'a>> {
        let position = message.position;
        let mut pieces = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    let text = said_declared(self.view, message, text, &mut self.losses);
                    if !text.is_empty() {
                        pieces.push(Piece::Text(text));
                    }
                }
                Part::Media(media) => match self.view.policy.media {
                    MediaPolicy::Drop => {
                        self.losses
                            .at(LossCode::MediaDropped, position, "policy drops media");
                    }
                    MediaPolicy::Keep if media.kind == MediaKind::Image && web_address(media).is_some() => {
                        let described =
                            u64::from(media.name.is_some()) + u64::from(media.media_type.is_some());
                        self.losses.several(
                            LossCode::MediaDescriptionDropped,
                            position,
                            described,
                            "OAC-03: a picture is its address only",
                        );
                        pieces.extend(web_address(media).map(Piece::Image));
                    }
                    MediaPolicy::Keep | MediaPolicy::Placeholder => {
                        self.losses.at(
                            LossCode::MediaPlaceholder,
                            position,
                            "the medium is only named in the text",
                        );
                        pieces.push(Piece::Text(Cow::Owned(placeholder(media))));
                    }
                },
                Part::ToolCall(call) => {
                    self.losses.at(
                        LossCode::RoleMapped,
                        position,
                        "somebody else's call is said as text",
                    );
                    pieces.push(Piece::Call(call));
                }
                other => self.declare_unsaid(other, position),
            }
        }
        match self.view.policy.references {
            References::Quote => {
                for mut quote in quotes(self.view, message, self.active, &mut self.losses) {
                    if quote.is_preview {
                        self.losses.append(std::mem::take(&mut quote.losses));
                        let media = u64::from(quote.medium.is_some());
                        self.losses.several(
                            LossCode::MediaDropped,
                            position,
                            media,
                            "quoted media are not repeated",
                        );
                    }
                    pieces.push(Piece::Quote(quote));
                }
            }
            References::Drop => self.losses.several(
                LossCode::ReferenceDropped,
                position,
                message.references.len() as u64,
                "policy drops replies",
            ),
        }
        pieces
    }

    /// Content as one string: pieces on lines of their own.
    fn string(&mut self, message: &'a Message, pieces: Vec<Piece<'a>>) {
        self.name_prefix(message.sender, message);
        let texts = pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Text(_)))
            .count() as u64;
        self.losses.several(
            LossCode::PartFlattened,
            message.position,
            texts.saturating_sub(1),
            "texts are joined into one",
        );
        for (index, piece) in pieces.into_iter().enumerate() {
            if index > 0 {
                let component = match piece {
                    Piece::Quote(_) => Component::Replies,
                    _ => Component::Framing,
                };
                self.rope.content("\n", Level::JsonString, component);
            }
            self.text_piece(piece);
        }
    }

    /// Content as parts, each piece its own.
    fn parts(&mut self, message: &'a Message, pieces: Vec<Piece<'a>>) {
        let prefixed = self.names() == Names::Prefix && speaker(self.view, message).is_some();
        let starts_with_text = !matches!(pieces.first(), Some(Piece::Image(_)));
        if prefixed && !starts_with_text {
            self.rope.framing("{\"type\":\"text\",\"text\":\"");
            self.name_prefix(message.sender, message);
            self.rope.framing("\"},");
        }
        for (index, piece) in pieces.into_iter().enumerate() {
            if index > 0 {
                self.rope.framing(",");
            }
            if let Piece::Image(url) = piece {
                self.rope
                    .framing("{\"type\":\"image_url\",\"image_url\":{\"url\":");
                self.rope.json_string(url, Component::Content);
                self.rope.framing("}}");
            } else {
                self.rope.framing("{\"type\":\"text\",\"text\":\"");
                if index == 0 && prefixed {
                    self.name_prefix(message.sender, message);
                }
                self.text_piece(piece);
                self.rope.framing("\"}");
            }
        }
    }

    fn text_piece(&mut self, piece: Piece<'a>) {
        match piece {
            Piece::Text(text) => self.rope.content(text, Level::JsonString, Component::Content),
            Piece::Call(call) => call_as_text(&mut self.rope, call, Level::JsonString),
            Piece::Quote(quote) => quote.write(&mut self.rope, Level::JsonString),
            // Pictures are parts, never text.
            Piece::Image(_) => {}
        }
    }
}
