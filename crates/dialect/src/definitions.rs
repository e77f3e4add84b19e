//! Definitions of tools in the form that a dialect wants.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_model::{Component, RawJson, Sink, Speaker};
use serde_json::value::RawValue;

use crate::gemini_schema;
use crate::json_schema::{self, NO_PARAMETERS};
use crate::loss::{LossCode, Losses, reasons};
use crate::tool_definition::Definition;
use crate::turn_plan::tool_names::ToolNames;

/// Where a dialect puts the parts of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{"type":"function","function":{"name","description","parameters","strict"}}`.
    Nested,
    /// `{"type":"function","name","description","parameters","strict"}`.
    Flat,
    /// `{"name","description","input_schema"}`.
    InputSchema,
    /// `{"name","description","parameters"}`.
    Bare,
    /// As [`Form::Bare`], the parameters in Gemini's subset of JSON Schema, and none where the tool takes nothing.
    Declaration,
    /// `{"toolSpec":{"name","description","inputSchema":{"json":…}}}`.
    Spec,
}

/// Writes the definitions between what opens and what closes their list; nothing at all, and false, when there is none.
pub(crate) fn write<'a>(
    sink: &mut Sink<'a>,
    [opening, closing]: [&'static str; 2],
    tools: &'a [RawJson],
    form: Form,
    names: &ToolNames<'_>,
    losses: &mut Losses,
) -> bool {
    let mut separator = opening;
    let mut written = BTreeSet::new();
    sink.speak(Speaker::Preamble);
    for tool in tools {
        let definitions = Definition::read(tool);
        if definitions.is_empty() {
            losses.whole_rendering(
                LossCode::ToolDefinitionDropped,
                1,
                reasons::DEFINITION_OF_NO_FUNCTION,
            );
        }
        for definition in definitions {
            if !written.insert(definition.name.clone()) {
                losses.whole_rendering(LossCode::ToolDefinitionDropped, 1, reasons::TOOL_DEFINED_ALREADY);
                continue;
            }
            sink.framing(separator);
            separator = ",";
            one(sink, &definition, form, names, losses);
        }
    }
    let is_any = separator == ",";
    if is_any {
        sink.framing(closing);
    }
    sink.speak(Speaker::Other);
    is_any
}

fn one<'a>(
    sink: &mut Sink<'a>,
    definition: &Definition<'a>,
    form: Form,
    names: &ToolNames<'_>,
    losses: &mut Losses,
) {
    let keeps_strict = matches!(form, Form::Nested | Form::Flat);
    let lost = definition.others + u64::from(definition.strict.is_some() && !keeps_strict);
    losses.whole_rendering(
        LossCode::ExtraDropped,
        lost,
        reasons::NO_FURTHER_FIELDS_OF_A_DEFINITION,
    );
    if let Some(reason) = names.change(&definition.name) {
        losses.whole_rendering(LossCode::ToolNameRewritten, 1, reason);
    }
    let name = names.spelling(&definition.name);
    sink.framing(match form {
        Form::Nested => "{\"type\":\"function\",\"function\":{\"name\":",
        Form::Flat => "{\"type\":\"function\",\"name\":",
        Form::InputSchema | Form::Bare | Form::Declaration => "{\"name\":",
        Form::Spec => "{\"toolSpec\":{\"name\":",
    });
    sink.json_string(name, Component::Tools);
    let description = definition.description;
    let is_refused = form == Form::Spec && description.is_some_and(|text| text.get() == "\"\"");
    losses.whole_rendering(
        LossCode::ExtraDropped,
        u64::from(is_refused),
        reasons::DESCRIPTION_IS_EMPTY,
    );
    if let Some(description) = description.filter(|_| !is_refused) {
        sink.framing(",\"description\":");
        sink.raw_json(description.get(), Component::Tools);
    }
    parameters(sink, definition, form, losses);
    if keeps_strict {
        let strict = definition.strict.map(RawValue::get);
        if let Some(strict) = strict.or((form == Form::Flat).then_some("false")) {
            sink.framing(",\"strict\":");
            sink.literal(strict, Component::Tools);
        }
    }
    sink.framing(if matches!(form, Form::Nested | Form::Spec) {
        "}}"
    } else {
        "}"
    });
}

fn parameters<'a>(sink: &mut Sink<'a>, definition: &Definition<'a>, form: Form, losses: &mut Losses) {
    let schema = match (definition.schema, form) {
        (None, Form::Nested | Form::Bare | Form::Declaration) => return,
        (None, Form::Flat | Form::InputSchema | Form::Spec) => {
            losses.whole_rendering(LossCode::EmptyFilled, 1, reasons::TOOL_WITHOUT_PARAMETERS);
            Cow::Borrowed(NO_PARAMETERS)
        }
        (Some(schema), Form::Declaration) => match declared(schema.get(), losses) {
            Some(schema) => Cow::Owned(schema),
            None => return,
        },
        (Some(schema), _) => {
            let converted = json_schema::convert(schema.get());
            losses.whole_rendering(
                LossCode::ExtraDropped,
                converted.dropped,
                reasons::TOOL_TAKES_ONLY_AN_OBJECT,
            );
            losses.whole_rendering(
                LossCode::EmptyFilled,
                converted.filled,
                reasons::TOOL_TAKES_AN_OBJECT,
            );
            converted.schema
        }
    };
    sink.framing(match form {
        Form::Nested | Form::Flat | Form::Bare | Form::Declaration => ",\"parameters\":",
        Form::InputSchema => ",\"input_schema\":",
        Form::Spec => ",\"inputSchema\":{\"json\":",
    });
    sink.literal(schema, Component::Tools);
    if form == Form::Spec {
        sink.framing("}");
    }
}

fn declared(schema: &str, losses: &mut Losses) -> Option<String> {
    let converted = gemini_schema::convert(schema);
    losses.whole_rendering(
        LossCode::ExtraDropped,
        converted.dropped,
        reasons::CONSTRAINT_BEYOND_THE_SUBSET,
    );
    losses.whole_rendering(
        LossCode::EmptyFilled,
        converted.filled,
        reasons::ARRAY_SAYS_WHAT_IT_HOLDS,
    );
    converted.schema
}

/// Declares definitions that a dialect has no place for.
pub(crate) fn lose(tools: &[RawJson], losses: &mut Losses) {
    losses.whole_rendering(
        LossCode::ToolDefinitionDropped,
        tools.len() as u64,
        reasons::NO_DEFINITIONS,
    );
}
