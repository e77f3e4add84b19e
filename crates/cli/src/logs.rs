//! Log lines on stderr, which never tear the progress bar.

use std::borrow::Cow;
use std::io::{self, Write};

use chatmill_diag::visible::{visible_json, visible_lines};
use indicatif::ProgressBar;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::args::{Global, LogFormat};
use crate::stderr;

/// Starts logging for the rest of the process. The bar is hidden while a line is written.
pub(crate) fn start(global: &Global, bar: &ProgressBar) {
    stderr::choose(global.log_format);
    let writer = BesideBar {
        bar: bar.clone(),
        format: global.log_format,
    };
    let builder = tracing_subscriber::fmt()
        .with_writer(writer)
        .with_max_level(level(global))
        .with_ansi(false);
    match global.log_format {
        LogFormat::Text => builder.with_target(false).init(),
        LogFormat::Json => builder.json().init(),
    }
}

fn level(global: &Global) -> LevelFilter {
    match (global.quiet, global.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::WARN,
        (false, 1) => LevelFilter::INFO,
        (false, _) => LevelFilter::DEBUG,
    }
}

/// An event as it is printed.
fn shown(event: &str, format: LogFormat) -> Cow<'_, str> {
    match format {
        LogFormat::Text => visible_lines(event),
        LogFormat::Json => visible_json(event),
    }
}

/// Writes to stderr while the bar is hidden; hidden characters are escaped.
#[derive(Clone)]
struct BesideBar {
    bar: ProgressBar,
    format: LogFormat,
}

impl Write for BesideBar {
    /// Writes an event; the subscriber passes one whole event per call.
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(buffer);
        let shown = shown(&text, self.format);
        self.bar.suspend(|| io::stderr().write_all(shown.as_bytes()))?;
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

impl<'w> MakeWriter<'w> for BesideBar {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_hides_nothing_in_either_form() {
        assert_eq!(
            shown("WARN a\u{1b}[2J\u{202e}b\n", LogFormat::Text),
            "WARN a\\u{1b}[2J\\u{202e}b\n"
        );
        assert_eq!(
            shown("{\"a\":\"\u{202e}\"}\n", LogFormat::Json),
            "{\"a\":\"\\u202e\"}\n"
        );
    }
}
