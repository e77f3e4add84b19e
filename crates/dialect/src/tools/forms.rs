//! Definitions of tools in the form that a dialect wants.

use std::collections::BTreeSet;

use chatmill_model::{Component, Sink, Speaker};
use serde_json::value::RawValue;

use crate::loss::violation::Violation;
use crate::loss::{LossCode, Losses, reasons};
use crate::naming::tools::ToolNames;
use crate::text::arena::TextArena;
use crate::text::json::compact;
use crate::tools::definition::{DefinedBy, Definition};
use crate::tools::gemini_schema;
use crate::tools::json_schema::{self, NO_PARAMETERS, Parameters};
use crate::tools::schema_rules::SchemaRules;
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
    /// As [`Form::Bare`], the parameters in Gemini's subset of JSON Schema, under `parametersJsonSchema` where it cannot hold them, and
    /// none where the tool takes nothing.
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
    /// Whether the schema is JSON Schema where the form has a subset of it.
    pub(crate) is_beyond: bool,
    /// The whole definition in place of all this, of a tool that the vendor itself runs: JSON.
    pub(crate) hosted: Option<&'a str>,
}

/// Where definitions are written to, and what they break.
pub(crate) struct Prepared<'p, 'a> {
    pub(crate) arena: &'a TextArena,
    pub(crate) losses: &'p mut Losses,
    pub(crate) violations: &'p mut Vec<Violation>,
}

/// Definitions as a form wants them; what it has no place for is declared.
pub(crate) fn prepare<'a>(
    values: &[Vec<Definition<'a>>],
    (form, rules): (Form, Option<&SchemaRules>),
    names: &ToolNames<'a>,
    into: &mut Prepared<'_, 'a>,
) -> Vec<ToolDefinition<'a>> {
    let mut written = BTreeSet::new();
    let mut prepared = Vec::new();
    for definitions in values {
        if definitions.is_empty() {
            into.losses.whole_rendering(reasons::DEFINITION_OF_NO_FUNCTION, 1);
        }
        for definition in definitions {
            if definition.hosted.is_some_and(|raw| !runs(form, raw)) {
                into.losses.whole_rendering(reasons::DEFINITION_OF_NO_FUNCTION, 1);
            } else if written.insert(definition.name) {
                match definition.by {
                    DefinedBy::Source => {}
                    DefinedBy::Pipeline => into.losses.whole_rendering(reasons::DEFINED_BY_THE_PIPELINE, 1),
                    DefinedBy::Calls => into.losses.whole_rendering(reasons::DEFINED_BY_ITS_CALLS, 1),
                }
                let number = prepared.len() + 1;
                let (one, problem) = prepare_one(definition, (form, rules), names, into);
                prepared.push(one);
                into.violations.extend(rules.zip(problem).map(|(rules, problem)| {
                    Violation::of(
                        rules.rule,
                        None,
                        format_args!("parameters of tool {number}: {problem}"),
                    )
                }));
            } else {
                into.losses.whole_rendering(
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
    (form, rules): (Form, Option<&SchemaRules>),
    names: &ToolNames<'a>,
    Prepared { arena, losses, .. }: &mut Prepared<'_, 'a>,
) -> (ToolDefinition<'a>, Option<String>) {
    if definition.hosted.is_some() {
        let hosted = ToolDefinition {
            name: definition.name,
            description: None,
            schema: None,
            strict: None,
            is_beyond: false,
            hosted: definition.hosted.map(|raw| arena.keep(compact(raw))),
        };
        return (hosted, None);
    }
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
    let mut strict = definition.strict.map(RawValue::get);
    let (mut problem, mut is_beyond) = (None, false);
    let schema = schema(definition, (form, rules), losses).map(|converted| {
        (problem, is_beyond) = (converted.problem, converted.is_beyond);
        if rules.is_some_and(|rules| rules.is_complete) && strict == Some("true") && !converted.may_be_strict
        {
            losses.whole_rendering(reasons::STRICT_TOOLS_REQUIRE_ALL, 1);
            strict = Some("false");
        }
        arena.keep(converted.schema)
    });
    let prepared = ToolDefinition {
        name: names.of(Some(definition.name)),
        description: description.map(|text| arena.keep(compact(text.get()))),
        schema,
        is_beyond,
        hosted: None,
        strict: match form {
            Form::Nested => strict,
            Form::Flat => Some(strict.unwrap_or("false")),
            _ => None,
        },
    };
    (prepared, problem)
}

/// Whether the vendor of this form runs a tool itself.
fn runs(form: Form, raw: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Typed {
        r#type: String,
    }
    let Ok(Typed { r#type: kind }) = serde_json::from_str(raw) else {
        return false;
    };
    // Anthropic's end in the day of their version.
    let day = kind.rsplit('_').next().unwrap_or_default();
    let is_dated = day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit());
    match form {
        Form::InputSchema => is_dated,
        Form::Flat => RUN_BY_OPENAI.contains(&kind.as_str()),
        _ => false,
    }
}

/// Types of the tools that OpenAI runs, or knows without a definition, in Responses.
const RUN_BY_OPENAI: [&str; 12] = [
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "shell",
    "tool_search",
    "web_search",
    "web_search_preview",
];

fn schema<'a>(
    definition: &Definition<'a>,
    (form, rules): (Form, Option<&SchemaRules>),
    losses: &mut Losses,
) -> Option<Parameters<'a>> {
    let are_required = rules.is_some_and(|rules| rules.are_required);
    let is_strict = definition.strict.is_some_and(|strict| strict.get() == "true");
    match (definition.schema, form) {
        (None, Form::Nested | Form::Bare | Form::Declaration) if !are_required => None,
        (None, _) => {
            losses.whole_rendering(reasons::TOOL_WITHOUT_PARAMETERS, 1);
            Some(Parameters::of_nothing(is_strict && form == Form::Flat))
        }
        (Some(schema), Form::Declaration) => declared(schema.get(), rules, losses),
        (Some(schema), _) => {
            let converted = json_schema::convert(schema.get(), rules, is_strict);
            losses.whole_rendering(reasons::SCHEMA_IS_IN_OTHER_WORDS, converted.repaired);
            losses.whole_rendering(reasons::TOOL_TAKES_ONLY_AN_OBJECT, converted.dropped);
            losses.whole_rendering(reasons::TOOL_TAKES_AN_OBJECT, converted.filled);
            Some(converted)
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
    if let Some(hosted) = definition.hosted {
        sink.literal(hosted, Component::Tools);
        return;
    }
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
            Form::Declaration if definition.is_beyond => ",\"parametersJsonSchema\":",
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

/// Parameters in the subset of Gemini's; whole where it cannot hold them, unless the rules of the profile have no place for that.
fn declared<'a>(schema: &'a str, rules: Option<&SchemaRules>, losses: &mut Losses) -> Option<Parameters<'a>> {
    let converted = gemini_schema::convert(schema);
    if converted.problem.is_some() && rules.is_none() {
        return Some(Parameters {
            is_beyond: true,
            ..json_schema::convert(schema, None, false)
        });
    }
    losses.whole_rendering(reasons::CONSTRAINT_BEYOND_THE_SUBSET, converted.dropped);
    let problem = converted.problem.map(str::to_owned);
    let schema = converted
        .schema
        .or_else(|| problem.as_ref().map(|_| NO_PARAMETERS.to_owned()))?;
    Some(Parameters {
        problem,
        ..Parameters::right(schema.into())
    })
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
