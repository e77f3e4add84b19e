//! Definitions of tools in the form that a dialect wants.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_model::{Component, Sink, Speaker};
use serde_json::value::RawValue;

use crate::loss::{LossCode, Losses, reasons};
use crate::naming::tools::ToolNames;
use crate::text::arena::TextArena;
use crate::text::json::compact;
use crate::tools::definition::{DefinedBy, Definition};
use crate::tools::gemini_schema;
use crate::tools::json_schema::{self, NO_PARAMETERS};
use crate::view::View;

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

/// A definition as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolDefinition<'a> {
    /// Its name, in the spelling that the dialect allows.
    pub(crate) name: &'a str,
    /// What it does: JSON.
    pub(crate) description: Option<&'a str>,
    /// What it takes: JSON.
    pub(crate) schema: Option<&'a str>,
    /// Whether arguments have to keep to that: JSON.
    pub(crate) strict: Option<&'a str>,
}

/// Definitions as a form wants them; what it has no place for is declared.
pub(crate) fn prepare<'a>(
    values: &[Vec<Definition<'a>>],
    form: Form,
    names: &ToolNames<'a>,
    arena: &'a TextArena,
    losses: &mut Losses,
) -> Vec<ToolDefinition<'a>> {
    let mut written = BTreeSet::new();
    let mut prepared = Vec::new();
    for definitions in values {
        if definitions.is_empty() {
            losses.whole_rendering(reasons::DEFINITION_OF_NO_FUNCTION, 1);
        }
        for definition in definitions {
            if written.insert(definition.name) {
                match definition.by {
                    DefinedBy::Source => {}
                    DefinedBy::Pipeline => losses.whole_rendering(reasons::DEFINED_BY_THE_PIPELINE, 1),
                    DefinedBy::Calls => losses.whole_rendering(reasons::DEFINED_BY_ITS_CALLS, 1),
                }
                prepared.push(prepare_one(definition, form, names, arena, losses));
            } else {
                losses.whole_rendering(
                    (LossCode::ToolDefinitionDropped, reasons::TOOL_DEFINED_ALREADY),
                    1,
                );
            }
        }
    }
    prepared
}

fn prepare_one<'a>(
    definition: &Definition<'a>,
    form: Form,
    names: &ToolNames<'a>,
    arena: &'a TextArena,
    losses: &mut Losses,
) -> ToolDefinition<'a> {
    let keeps_strict = matches!(form, Form::Nested | Form::Flat);
    let lost = definition.others + u64::from(definition.strict.is_some() && !keeps_strict);
    losses.whole_rendering(reasons::NO_FURTHER_FIELDS_OF_A_DEFINITION, lost);
    if let Some(reason) = names.change(definition.name) {
        losses.whole_rendering((LossCode::ToolNameRewritten, reason), 1);
    }
    let description = definition.description;
    let is_refused = form == Form::Spec && description.is_some_and(|text| text.get() == "\"\"");
    losses.whole_rendering(reasons::DESCRIPTION_IS_EMPTY, u64::from(is_refused));
    let description = description.filter(|_| !is_refused);
    let strict = definition.strict.map(RawValue::get);
    ToolDefinition {
        name: names.of(Some(definition.name)),
        description: description.map(|text| arena.keep(compact(text.get()))),
        schema: schema(definition, form, losses).map(|schema| arena.keep(schema)),
        strict: match form {
            Form::Nested => strict,
            Form::Flat => Some(strict.unwrap_or("false")),
            _ => None,
        },
    }
}

fn schema<'a>(definition: &Definition<'a>, form: Form, losses: &mut Losses) -> Option<Cow<'a, str>> {
    match (definition.schema, form) {
        (None, Form::Nested | Form::Bare | Form::Declaration) => None,
        (None, Form::Flat | Form::InputSchema | Form::Spec) => {
            losses.whole_rendering(reasons::TOOL_WITHOUT_PARAMETERS, 1);
            Some(Cow::Borrowed(NO_PARAMETERS))
        }
        (Some(schema), Form::Declaration) => declared(schema.get(), losses).map(Cow::Owned),
        (Some(schema), _) => {
            let converted = json_schema::convert(schema.get());
            losses.whole_rendering(reasons::TOOL_TAKES_ONLY_AN_OBJECT, converted.dropped);
            losses.whole_rendering(reasons::TOOL_TAKES_AN_OBJECT, converted.filled);
            Some(converted.schema)
        }
    }
}

/// Writes definitions between what opens and what closes their list; nothing at all where there is none.
pub(crate) fn write<'a>(
    sink: &mut Sink<'a>,
    [opening, closing]: [&'static str; 2],
    definitions: &[ToolDefinition<'a>],
    form: Form,
) {
    if definitions.is_empty() {
        return;
    }
    let mut separator = opening;
    sink.set_speaker(Speaker::Preamble);
    for definition in definitions {
        sink.framing(separator);
        separator = ",";
        write_one(sink, definition, form);
    }
    sink.framing(closing);
    sink.set_speaker(Speaker::Other);
}

fn write_one<'a>(sink: &mut Sink<'a>, definition: &ToolDefinition<'a>, form: Form) {
    sink.framing(match form {
        Form::Nested => "{\"type\":\"function\",\"function\":{\"name\":",
        Form::Flat => "{\"type\":\"function\",\"name\":",
        Form::InputSchema | Form::Bare | Form::Declaration => "{\"name\":",
        Form::Spec => "{\"toolSpec\":{\"name\":",
    });
    sink.json_string(definition.name, Component::Tools);
    if let Some(description) = definition.description {
        sink.framing(",\"description\":");
        sink.literal(description, Component::Tools);
    }
    if let Some(schema) = definition.schema {
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
    if let Some(strict) = definition.strict {
        sink.framing(",\"strict\":");
        sink.literal(strict, Component::Tools);
    }
    sink.framing(if matches!(form, Form::Nested | Form::Spec) {
        "}}"
    } else {
        "}"
    });
}

fn declared(schema: &str, losses: &mut Losses) -> Option<String> {
    let converted = gemini_schema::convert(schema);
    losses.whole_rendering(reasons::CONSTRAINT_BEYOND_THE_SUBSET, converted.dropped);
    losses.whole_rendering(reasons::ARRAY_HAS_AN_ELEMENT_TYPE, converted.filled);
    converted.schema
}

/// How many values define tools: those of the source and of the pipeline.
pub(crate) fn given(view: &View<'_>) -> u64 {
    (view.conversation().tools.len() + view.additions.tools.len()) as u64
}

/// What [`lose`] may declare.
pub(crate) const LOSES_ALL: &[LossCode] = &[LossCode::ToolDefinitionDropped];

/// Declares definitions that a dialect has no place for.
pub(crate) fn declare_dropped(view: &View<'_>, losses: &mut Losses) {
    losses.whole_rendering(reasons::NO_DEFINITIONS, given(view));
}
