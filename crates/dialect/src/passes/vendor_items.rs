//! Items that only one vendor has: they stay in the dialect of that vendor, if their message keeps its role.
//!
//! Calls and results with more than calls of functions have are such items, too. In other dialects they are plain calls and results.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{OwnItem, PartPlace, Role, Vendor, VendorItem};

use super::Pass;
use super::profile::DialectProfile;
use crate::loss::{LossCode, Losses, reasons};
use crate::naming::calls::CallIds;
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, CallBlock, Kinds, ResultBlock, TurnPlan};
use crate::view::policy::MediaPolicy;

pub(super) const PASS: Pass = Pass {
    loses: |_| &[LossCode::ExtraDropped],
    run: |plan, transcript, profile| {
        if plan.kinds.has(Kinds::ITEMS) {
            leave_out(plan, transcript, profile);
        }
        if let Some(vendor) = profile.items
            && (plan.kinds.has(Kinds::CALLS) || plan.kinds.has(Kinds::RESULTS))
        {
            let is_own = |block: &Block<'_>| own(&block.content).is_some_and(|item| item.vendor == vendor);
            if plan.blocks.iter().any(is_own) {
                OwnItems::of(plan, transcript, profile, vendor).write(plan);
            }
        }
    },
};

/// Leaves out items that the dialect has no place for.
fn leave_out(plan: &mut TurnPlan<'_>, transcript: &Transcript<'_>, profile: &DialectProfile) {
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
}

/// Returns the item of a call or a result, if it is one.
fn own<'a>(content: &BlockContent<'a>) -> Option<&'a VendorItem> {
    let own = match content {
        BlockContent::Call(call) => &call.call.own,
        BlockContent::Result(result) => &result.result?.own,
        _ => return None,
    };
    own.as_deref()?.item()
}

/// Calls and results that are written as items.
struct OwnItems<'t, 'a> {
    transcript: &'t Transcript<'a>,
    vendor: Vendor,
    ids: CallIds<'a>,
    /// Calls of tools that the client runs.
    client: BTreeSet<PartPlace>,
    /// Calls of tools that the vendor runs. Each has the blocks that follow its turn: the result, and the marks on it.
    hosted: BTreeMap<PartPlace, Vec<Block<'a>>>,
}

impl<'t, 'a> OwnItems<'t, 'a> {
    fn of(
        plan: &mut TurnPlan<'a>,
        transcript: &'t Transcript<'a>,
        profile: &DialectProfile,
        vendor: Vendor,
    ) -> Self {
        let (view, messages) = (transcript.view(), transcript.messages());
        // Another pass declares these losses.
        let unseen = &mut Losses::default();
        let mut own_items = Self {
            transcript,
            vendor,
            ids: CallIds::new(view, messages, &profile.ids, transcript.arena(), unseen),
            client: BTreeSet::new(),
            hosted: BTreeMap::new(),
        };
        let mut positions = Vec::new();
        let mut answered = None;
        for block in &plan.blocks {
            match &block.content {
                BlockContent::Call(call) => own_items.add_call(call),
                BlockContent::Result(result) => {
                    answered = own_items.inside(result);
                    let piece = own(&block.content).filter(|_| answered.is_some());
                    if let Some((pieces, item)) = answered
                        .and_then(|call| own_items.hosted.get_mut(&call))
                        .zip(piece)
                    {
                        pieces.push(Block::new(BlockContent::Item(item), None, Role::Assistant));
                    }
                    positions.extend(block.position.filter(|_| answered.is_some()));
                    if let Some(call) = result.call.filter(|_| !own_items.stays(result)) {
                        // The result is written as that of a function, so the call must be one, too.
                        own_items.client.remove(&call);
                    }
                }
                BlockContent::CacheMark if block.role == Role::Tool => {
                    if let Some(pieces) = answered.and_then(|call| own_items.hosted.get_mut(&call)) {
                        pieces.push(*block);
                    }
                }
                _ => {}
            }
        }
        for position in positions {
            plan.progress.inside(position);
        }
        own_items
    }

    fn add_call(&mut self, call: &CallBlock<'a>) {
        let (given, written) = self.ids.of(call.place);
        if given != Some(written) {
            return;
        }
        match call.call.own.as_deref() {
            Some(OwnItem::Client(item)) if item.vendor == self.vendor => {
                self.client.insert(call.place);
            }
            Some(OwnItem::Hosted(item)) if item.vendor == self.vendor => {
                self.hosted.insert(call.place, Vec::new());
            }
            _ => {}
        }
    }

    /// Returns the hosted call that a result is part of, as the next block of its turn or inside the item of the call. A synthetic result
    /// for
    /// such a call is left out.
    fn inside(&self, result: &ResultBlock<'a>) -> Option<PartPlace> {
        let call = result.call.filter(|call| self.hosted.contains_key(call))?;
        let own = result.result.map(|result| result.own.as_deref());
        matches!(own, None | Some(Some(OwnItem::Inside | OwnItem::Hosted(_)))).then_some(call)
    }

    /// Whether a result is written as its item: the id of its call must stay, and policy must keep its media.
    fn stays(&self, result: &ResultBlock<'a>) -> bool {
        let Some(given) = result.result else { return false };
        let is_client = matches!(given.own.as_deref(), Some(OwnItem::Client(_)));
        let id = given.known_id();
        let written = match result.call {
            Some(call) => Some(self.ids.of(call).1),
            None => id.map(|id| self.ids.loose(id)),
        };
        let keeps_media = given.media == 0 || self.transcript.view().policy.media == MediaPolicy::Keep;
        is_client && id.is_some() && id == written && keeps_media
    }

    fn write(mut self, plan: &mut TurnPlan<'a>) {
        plan.rebuild(|plan, turn, blocks| {
            let start = plan.blocks.len();
            // Whether the last result is part of a hosted call, or is an item that includes its media.
            let (mut is_inside, mut is_item) = (false, false);
            let mut behind = Vec::new();
            for block in blocks {
                let mut block = *block;
                let item = own(&block.content).filter(|item| item.vendor == self.vendor);
                match &mut block.content {
                    BlockContent::Call(call) if self.client.contains(&call.place) => call.item = item,
                    BlockContent::Call(call) => {
                        if let Some((pieces, item)) = self.hosted.get_mut(&call.place).zip(item) {
                            let position = block.position;
                            block.content = BlockContent::Item(item);
                            let pieces = std::mem::take(pieces).into_iter();
                            behind.extend(pieces.map(|piece| Block { position, ..piece }));
                        }
                    }
                    BlockContent::Result(result) => {
                        is_inside = self.inside(result).is_some();
                        let is_of_item = result.call.is_none_or(|call| self.client.contains(&call));
                        result.item = item.filter(|_| is_of_item && self.stays(result));
                        is_item = result.item.is_some();
                    }
                    _ => {}
                }
                let is_media = block.is_result_media() && (is_inside || is_item);
                let is_of_hosted = is_inside && block.role == Role::Tool;
                if !is_media && !is_of_hosted {
                    plan.blocks.push(block);
                }
            }
            // Readers split an answer at the result, so the result comes after all other blocks of its turn.
            plan.blocks.append(&mut behind);
            if plan.blocks.len() > start || blocks.is_empty() {
                plan.close(turn, start);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::{Part, RawJson};

    use crate::passes::samples::{ANN, BOT, PLAIN, Sample, call, picture, result, text};

    /// Makes a call or a result an item of OpenAI's.
    fn owned(mut part: Part, of: fn(VendorItem) -> OwnItem, raw: &str) -> Part {
        let item = Some(Box::new(of(VendorItem {
            vendor: Vendor::Responses,
            raw: RawJson(raw.to_owned()),
        })));
        match &mut part {
            Part::ToolCall(call) => call.own = item,
            Part::ToolResult(result) => result.own = item,
            _ => panic!("neither a call nor a result"),
        }
        part
    }

    fn of(items: Option<Vendor>) -> DialectProfile {
        DialectProfile { items, ..PLAIN }
    }

    const OWN: Option<Vendor> = Some(Vendor::Responses);
    const PLAIN_TURNS: [&str; 2] = ["assistant: <call   >", "tool: <result   x>"];

    #[test]
    fn a_call_that_the_client_runs_is_its_item_while_its_id_stays_and_somebody_answers() {
        let plain = call("c");
        let call = |id| owned(call(id), OwnItem::Client, "{c}");
        let result = |id| owned(result(id, "x"), OwnItem::Client, "{r}");
        let mut shown = result("c");
        if let Part::ToolResult(result) = &mut shown {
            result.media = 1;
        }
        let mut sample = Sample::new()
            .post(BOT, vec![call("c")])
            .post(BOT, vec![shown, picture()]);
        let (turns, losses) = sample.after(&[&PASS], &of(OWN));
        assert_eq!(turns, ["assistant: {c}", "tool: {r}"]);
        assert!(losses.is_empty());
        for other in [None, Some(Vendor::Anthropic)] {
            assert_eq!(sample.after(&[&PASS], &of(other)).0[0], PLAIN_TURNS[0]);
        }
        sample.policy.media = MediaPolicy::Drop;
        let (turns, _) = sample.after(&[&PASS], &of(OWN));
        assert_eq!(turns[0], PLAIN_TURNS[0]);
        assert!(turns[1].starts_with("tool: <result   x>"));
        let of_function = Sample::new().post(BOT, vec![plain]).post(BOT, vec![result("c")]);
        assert_eq!(of_function.after(&[&PASS], &of(OWN)).0, PLAIN_TURNS);
        // The second call gets another id, and a synthetic result is that of a function.
        let again = Sample::new()
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c")])
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c")]);
        let (turns, _) = again.after(&[&PASS], &of(OWN));
        assert_eq!(
            turns,
            ["assistant: {c}", "tool: {r}", PLAIN_TURNS[0], PLAIN_TURNS[1]]
        );
        let open = Sample::new()
            .post(BOT, vec![call("c")])
            .post(ANN, vec![text("a")]);
        assert_eq!(open.after(&[&PASS], &of(OWN)).0[0], PLAIN_TURNS[0]);
        let last = Sample::new()
            .post(ANN, vec![text("a")])
            .post(BOT, vec![call("c")]);
        assert_eq!(last.after(&[&PASS], &of(OWN)).0[1], "assistant: {c}");
    }

    #[test]
    fn a_call_that_the_vendor_runs_is_a_piece_of_its_turn_with_its_result() {
        let call = || owned(call("c"), OwnItem::Hosted, "{c}");
        let piece = || owned(result("c", "x"), OwnItem::Hosted, "{r}");
        let inside = || owned(result("c", "x"), |_| OwnItem::Inside, "");
        let of_answer = |result: Part| {
            Sample::new()
                .post(BOT, vec![text("a"), call()])
                .post(BOT, vec![result, Part::CacheMark])
                .post(BOT, vec![text("b")])
        };
        let (turns, losses) = of_answer(piece()).after(&[&PASS], &of(OWN));
        assert_eq!(turns, ["assistant: a | {c} | {r} | <mark>", "assistant: b"]);
        assert!(losses.is_empty());
        let between = Sample::new()
            .post(BOT, vec![call(), text("a")])
            .post(BOT, vec![piece()]);
        assert_eq!(between.after(&[&PASS], &of(OWN)).0, ["assistant: {c} | a | {r}"]);
        let (turns, _) = of_answer(inside()).after(&[&PASS], &of(OWN));
        assert_eq!(turns, ["assistant: a | {c} | <mark>", "assistant: b"]);
        let (turns, _) = of_answer(inside()).after(&[&PASS], &of(None));
        assert_eq!(turns[1], "tool: <result   x> | <mark>");
        let unanswered = Sample::new().post(BOT, vec![call()]).post(ANN, vec![text("a")]);
        assert_eq!(
            unanswered.after(&[&PASS], &of(OWN)).0,
            ["assistant: {c}", "user: a"]
        );
        let by_the_client = Sample::new()
            .post(BOT, vec![call()])
            .post(BOT, vec![result("c", "x")]);
        assert_eq!(
            by_the_client.after(&[&PASS], &of(OWN)).0,
            ["assistant: {c}", PLAIN_TURNS[1]]
        );
    }

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
