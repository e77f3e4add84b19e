//! What a message replies to, quoted after its own words.

use chatmill_model::Message;

use super::names::Naming;
use super::{Block, BlockContent, Writer};
use crate::loss::{LossCode, reasons};
use crate::policy::References;
use crate::quote::{Style, Wordless, quotes};
use crate::wording::DOCUMENT;

impl<'a> Writer<'_, 'a> {
    /// Adds the quotes of a message's references.
    pub(super) fn quotes(&mut self, message: &'a Message, blocks: &mut Vec<Block<'a>>) {
        let position = message.position;
        if self.view.policy.references == References::Drop {
            self.losses.several(
                LossCode::ReferenceDropped,
                position,
                message.references.len() as u64,
                reasons::POLICY_DROPS_REPLIES,
            );
            return;
        }
        let style = Style {
            wording: &DOCUMENT,
            wordless: Wordless::LeftOut,
            aliases: (self.naming == Naming::Field).then_some(&self.aliases),
            is_own: None,
        };
        let quotes = quotes(
            style,
            self.view,
            &self.roster,
            message,
            self.active,
            &mut self.losses,
        );
        for mut quote in quotes {
            if let Some(count) = quote.aliased.and_then(|index| self.named.get_mut(index)) {
                *count += 1;
            }
            if quote.is_preview {
                self.losses.append(std::mem::take(&mut quote.losses));
                self.losses.several(
                    LossCode::MediaDropped,
                    position,
                    u64::from(quote.medium.is_some()),
                    reasons::QUOTED_MEDIA_ARE_NOT_REPEATED,
                );
            }
            blocks.push(Self::block(position, BlockContent::Text(quote.words().into())));
        }
    }
}
