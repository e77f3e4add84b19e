//! Names of tools in the spelling that the dialect allows, and definitions in its form.

use super::Pass;
use crate::definitions::{self, ToolDefinition};
use crate::json_schema::NO_PARAMETERS;
use crate::loss::{LossCode, LossReason};
use crate::order::Order;
use crate::tool_names::ToolNames;
use crate::turns::{BlockContent, TurnPlan};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.definitions, profile.makes_definitions) {
        (None, _) => &[LossCode::ToolNameRewritten, LossCode::ToolDefinitionDropped],
        (Some(_), None) => &[
            LossCode::ToolNameRewritten,
            LossCode::ToolDefinitionDropped,
            LossCode::ExtraDropped,
            LossCode::EmptyFilled,
        ],
        (Some(_), Some(_)) => &[
            LossCode::ToolNameRewritten,
            LossCode::ToolDefinitionDropped,
            LossCode::ToolDefinitionSynthesised,
            LossCode::ExtraDropped,
            LossCode::EmptyFilled,
        ],
    },
    run: |plan, transcript, profile| {
        let tools = &transcript.view().conversation().tools;
        if profile.definitions.is_none() {
            definitions::lose(tools, &mut plan.losses);
        }
        let shown = match profile.order {
            Order::Toolless(_) => return,
            Order::Paired | Order::Filtered(_) => transcript.messages(),
        };
        if tools.is_empty() && !transcript.has_tool_use() {
            return;
        }
        let definitions = transcript.definitions();
        let names = ToolNames::new(transcript.view(), shown, definitions, &profile.tool_names, transcript.made());
        name(plan, &names);
        if let Some(form) = profile.definitions {
            plan.definitions =
                definitions::prepare(definitions, form, &names, transcript.made(), &mut plan.losses);
            if let Some(reason) = profile.makes_definitions.filter(|_| plan.definitions.is_empty()) {
                make(plan, reason);
            }
        }
    },
};

/// Names the tools of calls and results.
fn name<'a>(plan: &mut TurnPlan<'a>, names: &ToolNames<'a>) {
    for block in &mut plan.blocks {
        match &mut block.held {
            BlockContent::Call(call) => {
                let name = call.call.name.as_deref();
                if let Some(reason) = names.change(name.unwrap_or_default()) {
                    let position = call.place.position;
                    plan.losses.at(LossCode::ToolNameRewritten, position, reason);
                }
                call.name = names.of(name);
            }
            BlockContent::Result(result) => result.name = names.of(result.tool),
            _ => {}
        }
    }
}

/// Makes up a definition for each tool that is used.
fn make(plan: &mut TurnPlan<'_>, reason: LossReason) {
    for block in &plan.blocks {
        let name = match block.held {
            BlockContent::Call(call) => call.name,
            BlockContent::Result(result) => result.name,
            _ => continue,
        };
        if !plan.definitions.iter().any(|known| known.name == name) {
            plan.definitions.push(ToolDefinition {
                name,
                description: None,
                schema: Some(NO_PARAMETERS),
                strict: None,
            });
        }
    }
    let made = plan.definitions.len() as u64;
    plan.losses
        .whole_rendering(LossCode::ToolDefinitionSynthesised, made, reason);
}
