//! Resolves `[templates]`: files with chat templates, each of which becomes a dialect of the plan.

use std::collections::BTreeMap;
use std::path::Path;

use chatmill_diag::Limits;
use chatmill_dialect::template::{Blueprint, TokenizerConfig};
use chatmill_dialect::{Dialect, TemplateDialect};

use super::small_file::read_text;
use crate::error::PlanError;
use crate::pipeline::TemplateSection;

/// The templates of a pipeline by name.
#[derive(Clone, Default)]
pub struct Templates(BTreeMap<String, Template>);

/// A chat template that was read from its files.
#[derive(Clone)]
struct Template {
    target: Dialect,
    hash: String,
}

impl Templates {
    /// Reads the files of all sections; their paths start at `base`.
    pub fn load(
        sections: &BTreeMap<String, TemplateSection>,
        base: &Path,
        limits: &Limits,
    ) -> Result<Self, PlanError> {
        let load = |(name, section): (&String, &TemplateSection)| {
            let wrong = |message: String| PlanError::value("templates", format!("`{name}`: {message}"));
            let template = read(name, section, base, limits, &wrong)?;
            Ok((name.clone(), template))
        };
        Ok(Self(sections.iter().map(load).collect::<Result<_, PlanError>>()?))
    }

    /// Returns the template with this name.
    pub fn get(&self, name: &str) -> Option<&Dialect> {
        self.0.get(name).map(|template| &template.target)
    }

    /// Reads a template from a file that no section names: Jinja,
    /// or a `tokenizer_config.json`. Its path starts at `base`.
    pub(super) fn of_file(path: &str, base: &Path, limits: &Limits) -> Result<Dialect, PlanError> {
        let is_config = Path::new(path)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let file = Some(path.to_owned());
        let section = TemplateSection {
            template: file.clone().filter(|_| !is_config),
            tokenizer_config: file.filter(|_| is_config),
            ..TemplateSection::default()
        };
        let wrong = |message| PlanError::value("window.max_tokens.template", message);
        let template = read("budget", &section, base, limits, &wrong)?;
        Ok(template.target)
    }

    /// Returns the names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Replaces the paths of files in the normalised plan ([`super::certified`]) with hashes of their content.
    pub(super) fn normalise(&self, sections: &mut serde_json::Map<String, serde_json::Value>) {
        for (name, template) in &self.0 {
            if let Some(section) = sections.get_mut(name).and_then(serde_json::Value::as_object_mut) {
                section.remove("template");
                section.remove("tokenizer_config");
                section.insert("content".to_owned(), template.hash.as_str().into());
            }
        }
    }
}

/// Reads a template; `wrong` makes the error for a missing or invalid one.
fn read(
    name: &str,
    section: &TemplateSection,
    base: &Path,
    limits: &Limits,
    wrong: &dyn Fn(String) -> PlanError,
) -> Result<Template, PlanError> {
    check_name(name).map_err(wrong)?;
    let mut hasher = blake3::Hasher::new();
    let mut content = |path: &Option<String>| {
        let Some(path) = path else {
            hasher.update(b"\0");
            return Ok(None);
        };
        let unread = |error| wrong(format!("cannot read {path}: {error}"));
        let text = read_text(&base.join(path), limits.template_file, unread)?;
        hasher.update(blake3::hash(text.as_bytes()).as_bytes());
        Ok::<_, PlanError>(Some(text))
    };
    let template = content(&section.template)?;
    let config = content(&section.tokenizer_config)?;
    let config = config.map(|text| TokenizerConfig::read(&text)).transpose();
    let config = config
        .map_err(|error| wrong(error.to_string()))?
        .unwrap_or_default();
    let (source, tool_source) = sources(template, section.named.as_deref(), &config).map_err(wrong)?;
    let tokens = config
        .tokens
        .into_iter()
        .map(|(name, token)| (name, token.into()));
    let mut variables: BTreeMap<String, serde_json::Value> = tokens.collect();
    variables.extend(section.variables.clone());
    let mut special_tokens = section.special_tokens.clone();
    if section.tokenizer_config.is_some() {
        special_tokens
            .get_or_insert_default()
            .extend(config.special_tokens);
    }
    let dialect = TemplateDialect::new(Blueprint {
        id: name.to_owned(),
        source,
        tool_source,
        arguments: section.arguments,
        add_generation_prompt: section.add_generation_prompt,
        now: section.now.clone(),
        variables,
        special_tokens,
        limits: limits.clone(),
    })
    .map_err(|error| wrong(error.to_string()))?;
    Ok(Template {
        target: dialect.into(),
        hash: hasher.finalize().to_hex().to_string(),
    })
}

fn check_name(name: &str) -> Result<(), String> {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if !name.split('-').all(is_word) {
        return Err("a name is in kebab case, such as `my-llama`".to_owned());
    }
    if name == "all" || chatmill_dialect::known().any(|dialect| dialect.id() == name) {
        return Err("there is already a dialect of that name".to_owned());
    }
    Ok(())
}

/// Returns the template, and a second one for conversations with tools if the configuration has it.
fn sources(
    template: Option<String>,
    named: Option<&str>,
    config: &TokenizerConfig,
) -> Result<(String, Option<String>), String> {
    if let Some(template) = template {
        return Ok((template, None));
    }
    let all = || {
        let keys: Vec<&str> = config.templates.keys().map(String::as_str).collect();
        keys.join(", ")
    };
    let get = |name: &str| config.templates.get(name).cloned();
    match named {
        Some(name) => {
            let missing = || format!("there is no template named `{name}`; there is {}", all());
            Ok((get(name).ok_or_else(missing)?, None))
        }
        None if config.templates.is_empty() => {
            Err("there is no template: set `template` to a Jinja file".to_owned())
        }
        None => {
            let missing = || {
                format!(
                    "there is no template named `default`; set `named` to one of {}",
                    all()
                )
            };
            Ok((get("default").ok_or_else(missing)?, get("tool_use")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_names_are_kebab_case_and_unique() {
        for name in ["my-llama", "a", "qwen3-2507"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for name in ["", "My", "a_b", "-a", "a-", "all", "chatml", "a@b"] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn named_templates_need_a_default_or_a_chosen_name() {
        let config = |names: &[&str]| {
            let named = names.iter().map(|name| ((*name).to_owned(), format!("<{name}>")));
            TokenizerConfig {
                templates: named.collect(),
                ..TokenizerConfig::default()
            }
        };
        let both = config(&["default", "tool_use", "rag"]);
        assert_eq!(
            sources(None, None, &both),
            Ok(("<default>".to_owned(), Some("<tool_use>".to_owned())))
        );
        assert_eq!(sources(None, Some("rag"), &both), Ok(("<rag>".to_owned(), None)));
        let file = Some("x".to_owned());
        assert_eq!(sources(file, None, &both), Ok(("x".to_owned(), None)));
        assert!(sources(None, Some("rga"), &both).unwrap_err().contains("rag"));
        assert!(
            sources(None, None, &config(&["rag"]))
                .unwrap_err()
                .contains("`named`")
        );
        assert!(sources(None, None, &config(&[])).is_err());
    }
}
