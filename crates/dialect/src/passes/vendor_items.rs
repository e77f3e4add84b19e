//! Items that only one vendor has: they stay in that vendor's dialect, in the role in which they were written.

use chatmill_model::Role;

use super::Pass;
use crate::loss::{LossCode, reasons};
use crate::transcript::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |_| &[LossCode::ExtraDropped],
    run: |plan, transcript, profile| {
        if !plan.kinds.has(Kinds::ITEMS) {
            return;
        }
        plan.each_block(|plan, turn, block| {
            let (BlockContent::Item(item), Some(position)) = (block.content, block.position) else {
                return Some(block);
            };
            let written = transcript.view().message(position).map(|message| message.role);
            let stays = profile.items == Some(item.vendor)
                && written == Some(turn.role)
                && matches!(turn.role, Role::User | Role::Assistant);
            if !stays {
                plan.losses.at(reasons::ITEM_OF_ONE_VENDOR, position);
            }
            stays.then_some(block)
        });
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::{Part, RawJson, Vendor, VendorItem};

    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, BOT, PLAIN, Sample, text};

    #[test]
    fn an_item_stays_in_the_dialect_of_its_vendor_and_is_a_loss_in_the_others() {
        let item = || {
            Part::Item(VendorItem {
                vendor: Vendor::Gemini,
                raw: RawJson("{}".to_owned()),
            })
        };
        let sample = Sample::new()
            .post(ANN, vec![text("a"), item()])
            .post(BOT, vec![item(), text("b"), item()]);
        let of = |items| DialectProfile { items, ..PLAIN };
        let (turns, losses) = sample.after(&[&PASS], &of(Some(Vendor::Gemini)));
        assert_eq!(turns, ["user: a | {}", "assistant: {} | b | {}"]);
        assert!(losses.is_empty());
        for other in [None, Some(Vendor::Anthropic)] {
            let (turns, losses) = sample.after(&[&PASS], &of(other));
            assert_eq!(turns, ["user: a", "assistant: b"]);
            assert_eq!(losses, ["extra-dropped 0 1", "extra-dropped 1 2"]);
        }
    }
}
