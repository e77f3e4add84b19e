//! Progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere, or one JSON object per line. Commands pass the
//! [`Meter`] to the engine, which reports stages and bytes to it.
//!
//! Workers only add to an atomic counter; the thread that finds a line due writes it. A line also contains the queues between reader,
//! workers and writer, and the slowest of the three. Shares and times are those of all stages together.

mod course;
mod reading;

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatmill_diag::visible::{visible, visible_json};
use chatmill_engine::{Progress, Queues};
use course::Course;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use reading::{Reading, Stage};
use serde_json::{Map, Value, json};

use crate::args::{Global, ProgressStyle};
use crate::exit::Exit;
use crate::figures::thousandths;
use crate::stderr::{self, Word};

/// Shows the progress of the work.
pub(crate) struct Meter {
    form: Form,
    quiet: bool,
    bar: ProgressBar,
    begun: Instant,
    stage: Mutex<Stage>,
    done: AtomicU64,
    /// Bytes of the stage that an earlier attempt has done.
    skipped: AtomicU64,
    /// Milliseconds after `begun` at which the next line is due.
    due: AtomicU64,
    /// Fields of the last line, in addition to the exit code.
    ending: Mutex<Map<String, Value>>,
    /// The listener; if there is one, it gets all events, and nothing is printed.
    listener: Option<Arc<dyn Progress + Send + Sync>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Bar,
    Plain,
    Json,
    Nothing,
}

impl Form {
    /// Time between two lines.
    const fn interval(self) -> Duration {
        match self {
            Self::Bar => Duration::from_millis(100),
            Self::Json => Duration::from_secs(1),
            Self::Plain | Self::Nothing => Duration::from_secs(5),
        }
    }
}

impl Meter {
    /// Chooses the form. With `prints_results` the command prints results while it works, and there is no bar, which would break them up on
    /// the same terminal.
    pub(crate) fn new(global: &Global, prints_results: bool) -> Self {
        let has_terminal = io::stderr().is_terminal();
        let hidden = global.quiet || (prints_results && io::stdout().is_terminal());
        let form = match global.progress {
            ProgressStyle::Auto if hidden => Form::Nothing,
            ProgressStyle::Auto | ProgressStyle::Bar if has_terminal => Form::Bar,
            ProgressStyle::Auto | ProgressStyle::Bar | ProgressStyle::Plain => Form::Plain,
            ProgressStyle::Json => Form::Json,
            ProgressStyle::None => Form::Nothing,
        };
        Self::of(form, global.quiet, None)
    }

    /// A meter that shows nothing and passes all events to a listener.
    pub(crate) fn heard(listener: Arc<dyn Progress + Send + Sync>) -> Self {
        Self::of(Form::Nothing, true, Some(listener))
    }

    fn of(form: Form, quiet: bool, listener: Option<Arc<dyn Progress + Send + Sync>>) -> Self {
        let bar = match form {
            Form::Bar => ProgressBar::with_draw_target(Some(BAR_LENGTH), ProgressDrawTarget::stderr()),
            Form::Plain | Form::Json | Form::Nothing => ProgressBar::hidden(),
        };
        bar.set_style(
            BarStyle::with_template(BAR)
                .unwrap_or_else(|_| BarStyle::default_bar())
                .progress_chars("=> "),
        );
        if form == Form::Bar {
            // The elapsed time is updated also while a single conversation takes long.
            bar.enable_steady_tick(Duration::from_secs(1));
        }
        let begun = Instant::now();
        Self {
            form,
            quiet,
            listener,
            bar,
            begun,
            stage: Mutex::new(Stage {
                course: Course::default(),
                name: String::new(),
                bytes: 0,
                since: begun,
                queues: None,
                samples: VecDeque::new(),
            }),
            done: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            due: AtomicU64::new(form.interval().as_millis() as u64),
            ending: Mutex::new(Map::new()),
        }
    }

    /// The bar, which must be hidden while other output is written to stderr.
    pub(crate) fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    /// Shows that everything is done, and removes the bar.
    pub(crate) fn finish(&self) {
        if self.form == Form::Bar && !self.bar.is_finished() {
            self.bar.set_prefix("");
            self.bar.set_position(BAR_LENGTH);
            self.bar.force_draw();
        }
        self.clear();
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Seconds since the command began.
    pub(crate) fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn milliseconds(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// Whether a line is due and this thread has to write it. Of several threads that find it due, one wins the exchange; the others see that
    /// the time has moved on, and return to their work.
    fn takes_turn(&self) -> bool {
        let now = self.milliseconds();
        let due = self.due.load(Ordering::Relaxed);
        let next = now + self.form.interval().as_millis() as u64;
        now >= due
            && self
                .due
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    fn reading(&self) -> Reading {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let (elapsed, done) = (stage.since.elapsed(), self.done.load(Ordering::Relaxed));
        stage.sample(elapsed, done);
        Reading {
            stage: stage.clone(),
            done: done + self.skipped.load(Ordering::Relaxed),
            elapsed,
            since_begin: self.begun.elapsed(),
        }
    }

    /// Writes a line if one is due.
    fn write_if_due(&self) {
        match self.form {
            Form::Bar if self.takes_turn() => self.draw(),
            Form::Plain if self.takes_turn() => self.write_line(Word::Progress, &self.reading().plain()),
            Form::Json if self.takes_turn() => self.write_line(Word::Progress, &self.reading().json()),
            Form::Bar | Form::Plain | Form::Json | Form::Nothing => {}
        }
    }

    /// Moves the bar to the current position.
    fn draw(&self) {
        let reading = self.reading();
        let columns =
            terminal_size::terminal_size_of(io::stderr()).map_or(0, |(width, _)| usize::from(width.0));
        self.bar.set_prefix(reading.beside(columns));
        self.bar.set_position(reading.position());
    }

    /// Adds fields to the last line; a later value of a field replaces an earlier one.
    pub(crate) fn set_ending(&self, ending: Map<String, Value>) {
        let mut known = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(ending);
    }

    /// Writes the first line, if progress is JSON.
    pub(crate) fn begin(&self) {
        if self.form == Form::Json {
            let event = json!({"event": "begun", "version": env!("CARGO_PKG_VERSION")});
            self.write_line(Word::Progress, &event.to_string());
        }
    }

    /// Writes the last line, if progress is JSON: the exit of the command.
    pub(crate) fn end(&self, exit: Exit) {
        if self.form != Form::Json {
            return;
        }
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        let mut event = Map::new();
        event.insert("event".to_owned(), "ended".into());
        event.insert("exit_code".to_owned(), exit.code().into());
        event.extend(ending.clone());
        self.write_line(Word::Progress, &Value::Object(event).to_string());
    }

    fn write_line(&self, word: Word, text: &str) {
        // Notes contain names of folders and files.
        let line = match self.form {
            Form::Json => format!("{}\n", visible_json(text)),
            Form::Bar | Form::Plain | Form::Nothing if stderr::is_json() => stderr::line(word, text),
            Form::Bar | Form::Plain | Form::Nothing => stderr::line(word, &visible(text)),
        };
        // Ignored: work goes on without a reader of stderr.
        let write = || {
            let _ = write!(io::stderr(), "{line}");
        };
        let has_begun = !self.bar.message().is_empty();
        if has_begun {
            self.bar.suspend(write);
        } else {
            write();
        }
    }
}

impl Progress for Meter {
    fn ahead(&self, stages: &[(&str, u64)]) {
        if let Some(listener) = &self.listener {
            return listener.ahead(stages);
        }
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.course.announce(stages);
    }

    fn stage(&self, name: &str, bytes: u64) {
        if let Some(listener) = &self.listener {
            return listener.stage(name, bytes);
        }
        {
            let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
            stage.course.enter(name);
            name.clone_into(&mut stage.name);
            stage.bytes = bytes;
            stage.since = Instant::now();
            stage.queues = None;
            stage.samples.clear();
            self.done.store(0, Ordering::Relaxed);
            self.skipped.store(0, Ordering::Relaxed);
        }
        match self.form {
            Form::Bar => {
                self.bar.set_message(name.to_owned());
                self.draw();
                self.bar.force_draw();
            }
            Form::Json => {
                let fraction = thousandths(self.reading().fraction());
                let event =
                    json!({"event": "stage", "stage": name, "share_done": fraction, "bytes_total": bytes});
                self.write_line(Word::Progress, &event.to_string());
            }
            Form::Plain | Form::Nothing => {}
        }
        let next = self.milliseconds() + self.form.interval().as_millis() as u64;
        self.due.store(next, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        if let Some(listener) = &self.listener {
            return listener.advance(bytes);
        }
        self.done.fetch_add(bytes, Ordering::Relaxed);
        self.write_if_due();
    }

    fn skip(&self, bytes: u64) {
        if let Some(listener) = &self.listener {
            return listener.skip(bytes);
        }
        self.skipped.fetch_add(bytes, Ordering::Relaxed);
        self.write_if_due();
    }

    fn queues(&self, queues: Queues) {
        if self.form == Form::Nothing {
            return;
        }
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).queues = Some(queues);
        self.write_if_due();
    }

    fn note(&self, text: &str) {
        if let Some(listener) = &self.listener {
            return listener.note(text);
        }
        match self.form {
            Form::Json => self.write_line(Word::Note, &json!({"event": "note", "text": text}).to_string()),
            Form::Bar | Form::Plain | Form::Nothing if !self.quiet => self.write_line(Word::Note, text),
            Form::Bar | Form::Plain | Form::Nothing => {}
        }
    }
}

/// The template of the bar; its prefix contains the figures.
const BAR: &str = "{msg:<11} [{wide_bar:.}] {percent:>3} %{prefix}  {elapsed}";

/// The number of steps of the bar.
const BAR_LENGTH: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_thread_takes_a_turn_until_the_next_is_due() {
        let global = Global {
            progress: ProgressStyle::Plain,
            verbose: 0,
            quiet: false,
            log_format: crate::args::LogFormat::Text,
            color: crate::args::ColorWhen::Auto,
            wide: false,
            no_content: false,
            mask_key: None,
        };
        let meter = Meter::new(&global, false);
        assert!(!meter.takes_turn(), "nothing is due at the start");
        meter.due.store(0, Ordering::Relaxed);
        assert!(meter.takes_turn());
        assert!(!meter.takes_turn(), "the next line is due later");
    }
}
