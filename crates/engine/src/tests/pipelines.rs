//! The pipeline file: accepted values, and the errors for others.

use std::path::Path;

use crate::pipeline::{Pipeline, parse};

const SMALL: &str = "name = \"n\"\n[[input]]\npath = \"a.json\"\n[output]\npath = \"out\"\n";

fn parsed(text: &str, overrides: &[&str]) -> Result<Pipeline, String> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    parse(text, &overrides, Path::new("p.toml")).map_err(|error| error.to_string())
}

#[test]
fn an_error_names_the_file_and_the_line() {
    let broken = parsed("name = \"n\"\n[[input]\n", &[]).err().unwrap();
    assert!(
        broken.starts_with("p.toml: ") && broken.contains("line 2"),
        "{broken}"
    );
    let kind = parsed(&format!("{SMALL}[limits]\ndepth = \"deep\"\n"), &[])
        .err()
        .unwrap();
    assert!(kind.contains("line 7") && kind.contains("depth"), "{kind}");
}

#[test]
fn missing_parts_are_named() {
    for (text, missing) in [
        ("name = \"n\"\n[output]\npath = \"o\"\n", "`input`"),
        ("name = \"n\"\n[[input]]\npath = \"a\"\n", "`output`"),
        ("name = \"n\"\n[[input]]\n[output]\npath = \"o\"\n", "`path`"),
    ] {
        let message = parsed(text, &[]).err().unwrap();
        assert!(
            message.contains("missing field") && message.contains(missing),
            "{message}"
        );
    }
}

#[test]
fn a_pipeline_without_a_name_has_that_of_its_file() {
    let text = SMALL.replace("name = \"n\"\n", "");
    let named = |path: &str, overrides: &[String]| parse(&text, overrides, Path::new(path)).unwrap().name;
    assert_eq!(named("pipelines/nightly.toml", &[]), "nightly");
    assert_eq!(named("./a.b.toml", &[]), "a.b");
    assert_eq!(named("nightly.toml", &["name=mine".to_owned()]), "mine");
}

#[test]
fn an_override_reaches_into_sections_that_the_file_does_not_have() {
    let pipeline = parsed(SMALL, &["limits.depth=5", "select.limit=2", "name=other words"]).unwrap();
    assert_eq!((pipeline.limits.depth, pipeline.select.limit), (5, Some(2)));
    assert_eq!(pipeline.name, "other words");
}

#[test]
fn an_override_that_is_none_is_refused() {
    for wrong in ["limits", "=5", "limits.=5", "name.inner=5"] {
        let message = parsed(SMALL, &[wrong]).err().unwrap();
        assert_eq!(message, format!("`{wrong}` is not of the form section.key=value"));
    }
    let unknown = parsed(SMALL, &["limits.deepth=5"]).err().unwrap();
    assert!(unknown.contains("did you mean `depth`"), "{unknown}");
}

#[test]
fn a_key_that_is_set_has_eight_steps_at_most() {
    let set = |steps: usize| {
        let key = vec!["a"; steps].join(".");
        parsed(SMALL, &[&format!("{key}=1")]).err().unwrap()
    };
    assert!(set(8).contains("unknown field `a`"), "{}", set(8));
    for steps in [9, 50_000] {
        assert!(
            set(steps).contains("is not of the form section.key=value"),
            "{steps}"
        );
        assert!(set(steps).len() < 200, "{steps}");
    }
}

#[test]
fn a_value_that_is_set_and_a_file_are_as_deep_as_toml_is_read() {
    let deep = vec!["a"; 50_000].join(".");
    let nested = [
        format!("{{{deep}=1}}"),
        format!("{}1{}", "{a=".repeat(50_000), "}".repeat(50_000)),
        format!("{}{}", "[".repeat(50_000), "]".repeat(50_000)),
    ];
    for value in nested {
        // A value that is not TOML is a bare word.
        assert_eq!(parsed(SMALL, &[&format!("name={value}")]).unwrap().name, value);
        assert!(parsed(&format!("x={value}\n{SMALL}"), &[]).is_err());
    }
    for line in [format!("{deep}=1"), format!("[{deep}]"), format!("[[{deep}]]")] {
        assert!(parsed(&format!("{line}\n{SMALL}"), &["name=n"]).is_err());
    }
}
