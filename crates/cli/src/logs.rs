//! Logs to stderr, written so that they never tear the progress bar.

use std::io::{self, Write};

use indicatif::ProgressBar;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::args::{Global, LogFormat};

/// Starts logging for the rest of the process. The bar makes room for each line.
pub fn start(global: &Global, bar: &ProgressBar) {
    let writer = BesideBar(bar.clone());
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

/// Writes to stderr while the bar is out of the way.
#[derive(Clone)]
struct BesideBar(ProgressBar);

impl Write for BesideBar {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(buffer))
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
