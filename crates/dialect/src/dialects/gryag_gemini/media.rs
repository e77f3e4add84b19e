//! Media after the text of a turn: by their bytes, by their address, or only by name.

use chatmill_model::{Component, Media, MediaKind, MediaSource};

use super::Writer;
use crate::loss::{LossCode, reasons};
use crate::media::placeholder;
use crate::policy::MediaPolicy;

impl<'a> Writer<'_, 'a> {
    /// A media item in the form of the edition, or its name as text.
    pub(super) fn media(&mut self, parts: &mut u32, media: &'a Media, position: u32) {
        let policy = self.view.policy.media;
        if policy == MediaPolicy::Drop {
            self.losses
                .at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
            return;
        }
        let carried = policy == MediaPolicy::Keep && media.kind != MediaKind::Link;
        match &media.source {
            MediaSource::Inline(bytes) if carried => {
                self.separate(parts);
                self.sink.framing("{\"inline_data\":{");
                if let Some(media_type) = &media.media_type {
                    self.sink.framing("\"mime_type\":");
                    self.sink.json_string(media_type, Component::Meta);
                    self.sink.framing(",");
                }
                self.sink.framing("\"data\":");
                self.sink.json_string(bytes, Component::Content);
                self.sink.framing("}}");
                let is_told = kind_of_type(media.media_type.as_deref()) == media.kind;
                self.describe(u64::from(media.name.is_some()) + u64::from(!is_told), position);
            }
            MediaSource::Url(url) if carried => {
                self.separate(parts);
                let [open, close] = self.edition.linked_medium;
                self.sink.framing(open);
                self.sink.json_string(url, Component::Content);
                self.sink.framing(close);
                let is_told = media.media_type.is_none() && kind_of_type(None) == media.kind;
                let described = u64::from(media.name.is_some()) + u64::from(!is_told);
                self.describe(described, position);
            }
            _ => {
                self.losses
                    .at(LossCode::MediaPlaceholder, position, reasons::MEDIUM_IS_NAMED);
                self.text(parts, placeholder(media), position);
            }
        }
    }

    fn separate(&mut self, parts: &mut u32) {
        if *parts > 0 {
            self.sink.framing(",");
        }
        *parts += 1;
    }

    fn describe(&mut self, lost: u64, position: u32) {
        self.losses.several(
            LossCode::MediaDescriptionDropped,
            position,
            lost,
            reasons::MEDIUM_IS_ITS_TYPE,
        );
    }
}

/// What a media item is to those who know only its type.
fn kind_of_type(media_type: Option<&str>) -> MediaKind {
    match media_type.and_then(|media_type| media_type.split_once('/')) {
        Some(("image", _)) => MediaKind::Image,
        Some(("audio", _)) => MediaKind::Audio,
        Some(("video", _)) => MediaKind::Video,
        _ => MediaKind::File,
    }
}
