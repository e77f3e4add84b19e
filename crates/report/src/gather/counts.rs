//! Rows of a manifest's overview as those of a report.

use chatmill_dataset::overview::{
    CallCount, LargeConversation, LossCount, ReferenceCount, RoleCount, ToolCount,
};

use crate::report::{CallStatusTotals, Largest, LossKind, ReferenceStatus, RoleTotals, Tool};

impl From<RoleCount> for RoleTotals {
    fn from(count: RoleCount) -> Self {
        Self {
            role: count.role,
            kind: count.kind,
            messages: count.messages,
            characters: count.characters,
        }
    }
}

impl From<ReferenceCount> for ReferenceStatus {
    fn from(count: ReferenceCount) -> Self {
        Self {
            status: count.status,
            count: count.count,
            same_sender: count.same_sender,
        }
    }
}

impl From<CallCount> for CallStatusTotals {
    fn from(count: CallCount) -> Self {
        Self {
            status: count.status,
            paired_by: count.paired_by,
            count: count.count,
        }
    }
}

impl From<ToolCount> for Tool {
    fn from(count: ToolCount) -> Self {
        Self {
            name: count.name,
            calls: count.calls,
            unanswered: count.unanswered,
            failed: count.failed,
        }
    }
}

impl From<LargeConversation> for Largest {
    fn from(large: LargeConversation) -> Self {
        Self {
            conversation_id: large.conversation_id,
            source: large.source,
            input: large.input,
            messages: large.messages,
            participants: large.participants,
            characters: large.characters,
        }
    }
}

impl From<LossCount> for LossKind {
    fn from(count: LossCount) -> Self {
        Self {
            dialect: count.dialect,
            profile: count.profile,
            code: count.code,
            renderings: count.renderings,
            amount: count.amount,
        }
    }
}
