//! Displays untrusted text and numbers: on a terminal, on a page, in Markdown and in YAML.

pub mod markdown;
pub mod numbers;
mod settings;
pub mod visible;

pub use settings::{has_settings, settings_error};
