//! The columns of a table as the Hub and `datasets` describe them. Only tables of Arrow structures are described, because every reader knows
//! their types.

use chatmill_dataset::{FreeKind, Member, Shape};
use serde_json::{Value, json};

use crate::writer::{FileLayout, KEYS};

/// The features of a table, as JSON, which is YAML.
pub(super) fn features(layout: &FileLayout<'_>) -> String {
    let keys = KEYS.iter().map(|(name, kind)| (*name, *kind));
    let columns = layout.columns.iter().chain(&layout.added);
    let columns = columns.map(|(name, kind)| (name.as_str(), *kind));
    let described = keys.chain(columns).map(|(name, kind)| match kind {
        FreeKind::Nested(shape) => feature(name, shape),
        FreeKind::Spans => feature(name, SPANS),
        FreeKind::Number => feature(name, Shape::Number),
        FreeKind::Flag => feature(name, Shape::Flag),
        FreeKind::Real => json!({ "name": name, "dtype": "float64" }),
        FreeKind::Time => json!({ "name": name, "dtype": "timestamp[us, tz=UTC]" }),
        FreeKind::Word | FreeKind::Text | FreeKind::Json => feature(name, Shape::Text),
    });
    described.collect::<Value>().to_string()
}

const SPANS: Shape = Shape::List(&Shape::Struct(&[
    Member::always("start", Shape::Number),
    Member::always("end", Shape::Number),
]));

fn feature(name: &str, shape: Shape) -> Value {
    let members = |members: &[Member]| -> Value {
        members
            .iter()
            .map(|member| feature(member.name, member.shape))
            .collect()
    };
    match shape {
        Shape::Word | Shape::Text | Shape::Json => json!({ "name": name, "dtype": "string" }),
        Shape::Flag => json!({ "name": name, "dtype": "bool" }),
        Shape::Number => json!({ "name": name, "dtype": "int64" }),
        Shape::Struct(of) => json!({ "name": name, "struct": members(of) }),
        Shape::List(Shape::Struct(of)) => json!({ "name": name, "list": members(of) }),
        // The name of an element is not written.
        Shape::List(inner) => json!({ "name": name, "list": feature("", *inner).get("dtype") }),
    }
}
