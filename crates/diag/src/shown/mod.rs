//! How text and numbers from anywhere are shown: on a terminal, on a page, in Markdown and in YAML.

pub mod markdown;
pub mod numbers;
pub mod visible;
