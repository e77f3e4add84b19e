//! Writes the names of tools in the spelling that the dialect allows, and their definitions in its form.

use std::collections::BTreeSet;

use super::Pass;
use crate::loss::{LossCode, LossReason};
use crate::naming::tools::ToolNames;
use crate::text::json::compact;
use crate::tools::definition::Definition;
use crate::tools::forms::{self, Prepared, ToolDefinition};
use crate::tools::schemas::json_schema::NO_PARAMETERS;
use crate::transcript::turns::{Block, BlockContent, TurnPlan};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match (profile.definitions, profile.makes_definitions) {
        (None, _) if !profile.order.has_tools() => &[LossCode::ToolDefinitionDropped],
        (None, _) => &[LossCode::ToolNameRewritten, LossCode::ToolDefinitionDropped],
        (Some(_), _) => &[
            LossCode::ToolNameRewritten,
            LossCode::ToolDefinitionDropped,
            LossCode::ToolDefinitionAdded,
            LossCode::ToolDefinitionSynthesised,
            LossCode::ExtraDropped,
            LossCode::EmptyFilled,
        ],
    },
    run: |plan, transcript, profile| {
        let view = transcript.view();
        if profile.definitions.is_none() {
            forms::declare_dropped(view, &mut plan.losses);
        }
        let infers_any = view.additions.infers_tools || !view.additions.called_tools.is_empty();
        let has_any = forms::given(view) > 0 || infers_any || transcript.has_tool_use();
        if !profile.order.has_tools() || !has_any {
            return;
        }
        let definitions = transcript.definitions();
        let defined = definitions.iter().flatten().map(|definition| definition.name);
        let names = ToolNames::new(
            view,
            transcript.messages(),
            defined,
            &profile.tool_names,
            transcript.arena(),
        );
        name(plan, &names);
        if let Some(form) = profile.definitions {
            let mut into = Prepared {
                arena: transcript.arena(),
                losses: &mut plan.losses,
                violations: &mut plan.violations,
            };
            let items: Vec<&str> = plan.blocks.iter().filter_map(tools_of_item).collect();
            let is_written = |one: &Definition<'_>| {
                let raw = compact(one.raw);
                items.iter().any(|item| item.contains(&*raw))
            };
            // Few conversations have such items, and most have definitions: nothing is compared without items.
            let others = definitions
                .iter()
                .filter(|value| items.is_empty() || value.is_empty() || !value.iter().all(is_written));
            plan.definitions = forms::prepare(others, (form, profile.schemas), &names, &mut into);
            if let Some(reason) = profile.makes_definitions.filter(|_| plan.definitions.is_empty()) {
                synthesise(plan, reason);
            }
        }
    },
};

/// The types of items that contain definitions of tools.
const DEFINING: [&str; 3] = [
    "\"type\":\"additional_tools\"",
    "\"type\":\"tool_search_output\"",
    "\"type\":\"tool_addition\"",
];

/// Returns the JSON of an item that contains definitions of tools, which are written with it.
fn tools_of_item<'a>(block: &Block<'a>) -> Option<&'a str> {
    let BlockContent::Item(item) = block.content else {
        return None;
    };
    let raw = item.raw.as_str();
    DEFINING.iter().any(|kind| raw.contains(kind)).then_some(raw)
}

/// Sets the tool names of calls and results.
fn name<'a>(plan: &mut TurnPlan<'a>, names: &ToolNames<'a>) {
    for block in &mut plan.blocks {
        match &mut block.content {
            BlockContent::Call(call) => {
                let name = call.call.name.as_deref();
                if let Some(reason) = names.change(name.unwrap_or_default()) {
                    let position = call.place.position;
                    plan.losses.at((LossCode::ToolNameRewritten, reason), position);
                }
                call.name = names.of(name);
            }
            BlockContent::Result(result) => result.name = names.of(result.tool),
            _ => {}
        }
    }
}

/// Makes up a definition for each tool that is used.
fn synthesise(plan: &mut TurnPlan<'_>, reason: LossReason) {
    let mut names = BTreeSet::new();
    for block in &plan.blocks {
        let name = match block.content {
            BlockContent::Call(call) => call.name,
            BlockContent::Result(result) => result.name,
            _ => continue,
        };
        if names.insert(name) {
            plan.definitions.push(ToolDefinition {
                name,
                schema: Some(NO_PARAMETERS),
                ..ToolDefinition::default()
            });
        }
    }
    let code = LossCode::ToolDefinitionSynthesised;
    plan.losses.whole_rendering((code, reason), names.len() as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{BOT, PLAIN, REASON, Sample, call, result};
    use crate::tools::forms::Form;

    fn chat_with_a_call() -> Sample {
        Sample::new()
            .post(BOT, vec![call("c")])
            .post(BOT, vec![result("c", "x")])
    }

    #[test]
    fn calls_and_results_bear_the_name_of_their_tool() {
        let (turns, losses) = chat_with_a_call().after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["assistant: <call  look >", "tool: <result  look x>"]);
        assert!(losses.is_empty());
    }

    #[test]
    fn definitions_are_written_or_declared_as_lost_or_synthesised() {
        let defined = chat_with_a_call().tool(r#"{"type":"function","function":{"name":"look","extra":1}}"#);
        assert_eq!(
            defined.after(&[&PASS], &PLAIN).1,
            ["tool-definition-dropped all 1"]
        );
        let spec = DialectProfile {
            definitions: Some(Form::Spec),
            makes_definitions: Some(REASON),
            ..PLAIN
        };
        assert_eq!(
            defined.after(&[&PASS], &spec).1,
            ["empty-filled all 1", "extra-dropped all 1"]
        );
        assert_eq!(
            chat_with_a_call().after(&[&PASS], &spec).1,
            ["tool-definition-synthesised all 1"]
        );
    }
}
