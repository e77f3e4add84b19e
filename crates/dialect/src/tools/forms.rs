//! Writes definitions of tools in the form that a dialect wants.

use std::collections::BTreeSet;
use std::rc::Rc;

use chatmill_model::{Component, Sink, Speaker};
use serde_json::value::RawValue;

use crate::loss::schema_path::Problem;
use crate::loss::violation::Violation;
use crate::loss::{LossCode, Losses, reasons};
use crate::naming::tools::ToolNames;
use crate::text::arena::TextArena;
use crate::text::json::compact;
use crate::tools::definition::{DefinedBy, Definition};
use crate::tools::hosted::Hosts;
use crate::tools::schemas::converted;
use crate::tools::schemas::gemini_schema;
use crate::tools::schemas::json_schema::{self, NO_PARAMETERS, Parameters, Schema};
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::view::View;

/// The form of a definition in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{"type":"function","function":{"name","description","parameters","strict"}}`.
    Nested,
    /// `{"type":"function","name","description","parameters","strict"}`.
    Flat,
    /// `{"name","description","input_schema"}`.
    InputSchema,
    /// `{"name","description","parameters"}`, where the parameters have `properties`.
    Bare,
    /// As [`Form::Bare`], with parameters in Gemini's subset of JSON Schema, or under `parametersJsonSchema` if the subset cannot express
    /// them, or without parameters if the tool takes none.
    Declaration,
    /// `{"toolSpec":{"name","description","inputSchema":{"json":…}}}`.
    Spec,
}

/// A definition, prepared for writing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToolDefinition<'a> {
    /// The name, in the spelling that the dialect allows.
    pub(crate) name: &'a str,
    /// The description, as JSON.
    pub(crate) description: Option<&'a str>,
    /// The parameters, as JSON.
    pub(crate) schema: Option<&'a str>,
    /// Whether arguments must match the parameters, as JSON.
    pub(crate) strict: Option<&'a str>,
    /// Whether the schema exceeds the subset of JSON Schema that the form has.
    pub(crate) is_beyond: bool,
    /// The whole definition of a hosted tool, as JSON, instead of the fields above.
    pub(crate) hosted: Option<&'a str>,
}

/// The arena, losses and violations that preparing definitions writes to.
pub(crate) struct Prepared<'p, 'a> {
    pub(crate) arena: &'a TextArena,
    pub(crate) losses: &'p mut Losses,
    pub(crate) violations: &'p mut Vec<Violation>,
}

/// Prepares definitions for a form, and declares what it has no place for.
pub(crate) fn prepare<'v, 'a: 'v>(
    values: impl IntoIterator<Item = &'v Vec<Definition<'a>>>,
    (form, rules): (Form, Option<&'static SchemaRules>),
    names: &ToolNames<'a>,
    into: &mut Prepared<'_, 'a>,
) -> Vec<ToolDefinition<'a>> {
    let mut written = BTreeSet::new();
    let mut prepared: Vec<ToolDefinition<'a>> = Vec::new();
    for definitions in values {
        if definitions.is_empty() {
            into.losses.whole_rendering(reasons::DEFINITION_OF_NO_FUNCTION, 1);
        }
        for definition in definitions {
            let hosts = rules.map_or(Hosts::Nobody, |rules| rules.hosts);
            let hosted = definition.hosted.map(|raw| hosts.form_of(raw));
            if hosted == Some(None) {
                into.losses.whole_rendering(reasons::DEFINITION_OF_NO_FUNCTION, 1);
            } else if written.insert(definition.key) {
                match definition.by {
                    DefinedBy::Source => {}
                    DefinedBy::Pipeline => into.losses.whole_rendering(reasons::DEFINED_BY_THE_PIPELINE, 1),
                    DefinedBy::Calls => into.losses.whole_rendering(reasons::DEFINED_BY_ITS_CALLS, 1),
                }
                let strict = prepared.iter().filter(|one| one.strict == Some("true")).count();
                let (one, problem) = match hosted.flatten() {
                    Some(raw) => {
                        let others = definition.others;
                        into.losses
                            .whole_rendering(reasons::NO_FURTHER_FIELDS_OF_A_DEFINITION, others);
                        let one = ToolDefinition {
                            name: definition.name,
                            hosted: Some(into.arena.keep(raw)),
                            ..ToolDefinition::default()
                        };
                        (one, None)
                    }
                    None => prepare_one(definition, (form, rules, strict), names, into),
                };
                prepared.push(one);
                into.violations.extend(rules.zip(problem).map(|(rules, problem)| {
                    Violation::of_definition(
                        rules.rule,
                        prepared.len(),
                        [definition.name, definition.raw],
                        problem,
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
    (form, rules, others): (Form, Option<&'static SchemaRules>, usize),
    names: &ToolNames<'a>,
    Prepared { arena, losses, .. }: &mut Prepared<'_, 'a>,
) -> (ToolDefinition<'a>, Option<Problem>) {
    let mut prepared = ToolDefinition {
        name: definition.name,
        ..ToolDefinition::default()
    };
    if let Some(reason) = names.change(definition.name) {
        losses.whole_rendering((LossCode::ToolNameRewritten, reason), 1);
    }
    prepared.name = names.of(Some(definition.name));
    let description = definition.description;
    let is_refused = form == Form::Spec && description.is_some_and(|text| text.get() == "\"\"");
    losses.whole_rendering(reasons::DESCRIPTION_IS_EMPTY, u64::from(is_refused));
    let description = description.filter(|_| !is_refused);
    prepared.description = description.map(|text| arena.keep(compact(text.get())));
    let converted = parameters(definition, (form, rules));
    losses.whole_rendering(reasons::SCHEMA_IS_IN_OTHER_WORDS, converted.repaired);
    losses.whole_rendering(reasons::TOOL_TAKES_AN_OBJECT, converted.filled);
    let dropped = match form {
        Form::Declaration if !converted.is_beyond => reasons::CONSTRAINT_BEYOND_THE_SUBSET,
        _ => reasons::TOOL_TAKES_ONLY_AN_OBJECT,
    };
    losses.whole_rendering(dropped, converted.dropped);
    let raw = definition.schema.map_or("", RawValue::get);
    let is_empty = definition.schema.is_none() && converted.schema != Schema::Nowhere;
    losses.whole_rendering(reasons::TOOL_WITHOUT_PARAMETERS, u64::from(is_empty));
    prepared.schema = converted.text(raw).map(|text| arena.keep(text));
    prepared.is_beyond = converted.is_beyond;

    let strict = definition.strict.map(RawValue::get);
    let bounds = rules.and_then(|rules| rules.strict);
    let is_too_much = prepared.schema.is_some()
        && strict == Some("true")
        && bounds.is_some_and(|bounds| !converted.may_be_strict || others >= bounds.most_tools);
    prepared.strict = match form {
        Form::Nested | Form::Flat if is_too_much => Some("false"),
        Form::Nested => strict,
        Form::Flat => Some(strict.unwrap_or("false")),
        Form::InputSchema => strict.filter(|_| definition.is_of_anthropic && !is_too_much),
        _ => None,
    };
    let is_false = is_too_much && prepared.strict == Some("false");
    losses.whole_rendering(reasons::STRICT_TOOLS_REQUIRE_ALL, u64::from(is_false));
    let lost = definition.others + u64::from(strict.is_some() && prepared.strict.is_none());
    losses.whole_rendering(reasons::NO_FURTHER_FIELDS_OF_A_DEFINITION, lost);
    (prepared, converted.problem.clone())
}

/// Returns the parameters of a tool by the rules of a vendor. Conversions are cached, because most conversations of an archive define the
/// same tools.
fn parameters(
    definition: &Definition<'_>,
    (form, rules): (Form, Option<&'static SchemaRules>),
) -> Rc<Parameters> {
    let are_required = rules.is_some_and(|rules| rules.are_required);
    let is_strict = definition.strict.is_some_and(|strict| strict.get() == "true");
    let Some(schema) = definition.schema else {
        return Rc::new(match form {
            Form::Nested | Form::Declaration if !are_required => Parameters {
                schema: Schema::Nowhere,
                ..Parameters::default()
            },
            _ => Parameters::of_nothing(is_strict && form == Form::Flat),
        });
    };
    let rule = match form {
        Form::Bare => "properties",
        _ => rules.map_or("", |rules| rules.rule.id()),
    };
    let takes_all = rules.is_some_and(|rules| rules.takes_all);
    converted::remembered(schema.get(), (rule, takes_all, is_strict), |raw| match form {
        Form::Declaration => declared(raw, rules),
        Form::Bare => json_schema::with_properties(raw),
        _ => json_schema::convert(raw, rules, is_strict),
    })
}

/// Writes definitions between the beginning and the end of their list; writes nothing without definitions.
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
    let is_function = |definition: &&ToolDefinition<'_>| definition.hosted.is_none();
    let (functions, hosted): (Vec<_>, Vec<_>) = match form {
        Form::Declaration => definitions.iter().partition(is_function),
        _ => (Vec::new(), definitions.iter().collect()),
    };
    if !functions.is_empty() {
        sink.framing(separator);
        separator = "{\"functionDeclarations\":[";
        for definition in functions {
            sink.framing(separator);
            separator = ",";
            write_one(sink, definition, form);
        }
        sink.framing("]}");
    }
    for definition in hosted {
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

/// Returns parameters in Gemini's subset. If the subset cannot express them, returns them in JSON Schema, unless the rules of the profile
/// have no place for it.
fn declared(raw: &str, rules: Option<&SchemaRules>) -> Parameters {
    let converted = gemini_schema::convert(raw);
    let is_beyond = converted.problem.is_some() && rules.is_some_and(|rules| rules.takes_all);
    if is_beyond {
        return Parameters {
            is_beyond,
            ..json_schema::convert(raw, rules, false)
        };
    }
    let is_unwritten = converted.problem.is_some() && converted.schema == Schema::Nowhere;
    Parameters {
        schema: if is_unwritten {
            Schema::Text(NO_PARAMETERS.into())
        } else {
            converted.schema
        },
        ..converted
    }
}

/// Counts the values that define tools, in the source and in the pipeline.
pub(crate) fn given(view: &View<'_>) -> u64 {
    (view.conversation().tools.len() + view.additions.tools.len()) as u64
}

/// The losses that [`declare_dropped`] may declare.
pub(crate) const LOSES_ALL: &[LossCode] = &[LossCode::ToolDefinitionDropped];

/// Declares definitions that a dialect has no place for.
pub(crate) fn declare_dropped(view: &View<'_>, losses: &mut Losses) {
    losses.whole_rendering(reasons::NO_DEFINITIONS, given(view));
}
