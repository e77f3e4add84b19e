//! Progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere, or one JSON object a line.
//!
//! Workers only add to an atomic counter; the thread that adds when a line is due writes it. A line also says what the reader and
//! the workers hold, and which of them the others wait for.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatmill_diag::visible::{visible, visible_json};
use chatmill_engine::{Progress, Queues};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle as BarStyle};
use serde_json::{Map, Value, json};

use crate::args::{Global, ProgressStyle};
use crate::exit::Exit;
use crate::figures;
use crate::stderr::{self, Word};

/// Shows how far the work is.
pub(crate) struct Meter {
    form: Form,
    quiet: bool,
    bar: ProgressBar,
    begun: Instant,
    stage: Mutex<Stage>,
    done: AtomicU64,
    /// Milliseconds after `begun` at which the next line is due.
    due: AtomicU64,
    /// What the last line says beside the exit code.
    ending: Mutex<Map<String, Value>>,
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
            Self::Json => Duration::from_secs(1),
            Self::Bar | Self::Plain | Self::Nothing => Duration::from_secs(5),
        }
    }
}

struct Stage {
    name: String,
    bytes: u64,
    since: Instant,
    queues: Option<Queues>,
}

impl Meter {
    /// Chooses the form. `shares_terminal` says that the command prints results while it works: then a bar on the same
    /// terminal would tear them.
    pub(crate) fn new(global: &Global, shares_terminal: bool) -> Self {
        let has_terminal = io::stderr().is_terminal();
        let hidden = global.quiet || (shares_terminal && io::stdout().is_terminal());
        let form = match global.progress {
            ProgressStyle::Auto if hidden => Form::Nothing,
            ProgressStyle::Auto | ProgressStyle::Bar if has_terminal => Form::Bar,
            ProgressStyle::Auto | ProgressStyle::Bar | ProgressStyle::Plain => Form::Plain,
            ProgressStyle::Json => Form::Json,
            ProgressStyle::None => Form::Nothing,
        };
        let bar = match form {
            Form::Bar => ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()),
            Form::Plain | Form::Json | Form::Nothing => ProgressBar::hidden(),
        };
        bar.set_style(bar_style(0));
        let begun = Instant::now();
        Self {
            form,
            quiet: global.quiet,
            bar,
            begun,
            stage: Mutex::new(Stage {
                name: String::new(),
                bytes: 0,
                since: begun,
                queues: None,
            }),
            done: AtomicU64::new(0),
            due: AtomicU64::new(form.interval().as_millis() as u64),
            ending: Mutex::new(Map::new()),
        }
    }

    /// The bar, which other output to stderr has to go around.
    pub(crate) fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn milliseconds(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// Whether a line is due, and if so, that it is this thread which writes it.
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
        let stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        Reading {
            stage: stage.name.clone(),
            done: self.done.load(Ordering::Relaxed),
            total: stage.bytes,
            elapsed: stage.since.elapsed(),
            queues: stage.queues,
        }
    }

    /// Writes a line where one is due.
    fn tell(&self) {
        match self.form {
            Form::Plain if self.takes_turn() => self.say(Word::Progress, &self.reading().plain()),
            Form::Json if self.takes_turn() => self.say(Word::Progress, &self.reading().json()),
            Form::Bar | Form::Plain | Form::Json | Form::Nothing => {}
        }
    }

    /// What the last line says beside the exit code; a later word on something replaces an earlier one.
    pub(crate) fn set_ending(&self, ending: Map<String, Value>) {
        let mut known = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(ending);
    }

    /// The last line, where programs listen: how the command ended.
    pub(crate) fn end(&self, exit: Exit) {
        if self.form != Form::Json {
            return;
        }
        let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        let mut event = Map::new();
        event.insert("event".to_owned(), "ended".into());
        event.insert("exit_code".to_owned(), exit.code().into());
        event.extend(ending.clone());
        self.say(Word::Progress, &Value::Object(event).to_string());
    }

    fn say(&self, word: Word, text: &str) {
        // Notes name folders and files.
        let line = match self.form {
            Form::Json => format!("{}\n", visible_json(text)),
            Form::Bar | Form::Plain | Form::Nothing if stderr::is_json() => stderr::line(word, text),
            Form::Bar | Form::Plain | Form::Nothing => stderr::line(word, &visible(text)),
        };
        // Progress that nobody can see is no reason to stop.
        self.bar.suspend(|| {
            let _ = write!(io::stderr(), "{line}");
        });
    }
}

impl Progress for Meter {
    fn stage(&self, name: &str, bytes: u64) {
        {
            let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
            *stage = Stage {
                name: name.to_owned(),
                bytes,
                since: Instant::now(),
                queues: None,
            };
            self.done.store(0, Ordering::Relaxed);
        }
        match self.form {
            Form::Bar => {
                self.bar.set_message(name.to_owned());
                self.bar.set_prefix("");
                self.bar.set_length(bytes);
                self.bar.set_style(bar_style(bytes));
                self.bar.reset();
            }
            Form::Json => {
                let event = json!({"event": "stage", "stage": name, "bytes_total": bytes});
                self.say(Word::Progress, &event.to_string());
            }
            Form::Plain | Form::Nothing => {}
        }
        let next = self.milliseconds() + self.form.interval().as_millis() as u64;
        self.due.store(next, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
        if self.form == Form::Bar {
            self.bar.inc(bytes);
        }
        self.tell();
    }

    fn queues(&self, queues: Queues) {
        if self.form == Form::Nothing {
            return;
        }
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).queues = Some(queues);
        if self.form == Form::Bar {
            self.bar.set_prefix(format!("  {}", held(queues)));
        }
        self.tell();
    }

    fn note(&self, text: &str) {
        match self.form {
            Form::Json => self.say(Word::Note, &json!({"event": "note", "text": text}).to_string()),
            Form::Bar | Form::Plain | Form::Nothing if !self.quiet => self.say(Word::Note, text),
            Form::Bar | Form::Plain | Form::Nothing => {}
        }
    }
}

/// What a bar looks like; a stage that reads no input has only a name.
fn bar_style(bytes: u64) -> BarStyle {
    let columns = terminal_size::terminal_size_of(io::stderr()).map_or(0, |(width, _)| usize::from(width.0));
    BarStyle::with_template(bar_template(bytes, columns))
        .unwrap_or_else(|_| BarStyle::default_bar())
        .with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| {
            // Nothing is over before its end.
            let least = u64::from(state.len().is_some_and(|all| state.pos() < all));
            let left = Duration::from_secs(state.eta().as_secs().max(least));
            let _ = write!(out, "{}", figures::duration(left));
        })
        .progress_chars("=> ")
}

/// What a bar shows on a terminal so wide: what does not leave room for a bar is left out.
const fn bar_template(bytes: u64, columns: usize) -> &'static str {
    match (bytes, columns) {
        (0, _) => "{msg:<11} …",
        (_, ..COLUMNS_FOR_RATES) => {
            "{msg:<11} [{wide_bar:.}] {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {left} left"
        }
        (_, ..COLUMNS_FOR_QUEUES) => {
            "{msg:<11} [{wide_bar:.}] {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {left} left"
        }
        _ => {
            "{msg:<11} [{wide_bar:.}] {percent:>3} %  {decimal_bytes} of {decimal_total_bytes}  {decimal_bytes_per_sec}  {left} left{prefix}"
        }
    }
}

/// Columns from which a bar has room for the rate beside it.
const COLUMNS_FOR_RATES: usize = 100;

/// Columns from which it has room for what the parts of the work hold, too.
const COLUMNS_FOR_QUEUES: usize = 150;

/// What the parts of the work hold, in slices, and which of them is the slowest.
fn held(queues: Queues) -> String {
    let Queues {
        waiting,
        working,
        workers,
        held,
        ..
    } = queues;
    let mut text = format!("{waiting} read, {working} of {workers} in work, {held} held");
    if let Some(slowest) = queues.slowest() {
        text.push_str(&format!(", slowest: {slowest}"));
    }
    text
}

/// How far a stage is at one instant.
struct Reading {
    stage: String,
    done: u64,
    total: u64,
    elapsed: Duration,
    queues: Option<Queues>,
}

impl Reading {
    fn bytes_per_second(&self) -> u64 {
        let rate = (u128::from(self.done) * 1000).checked_div(self.elapsed.as_millis());
        u64::try_from(rate.unwrap_or_default()).unwrap_or(u64::MAX)
    }

    /// Time that the rest takes at the rate so far; none before there is a rate, or without a total.
    fn left(&self) -> Option<Duration> {
        let rest = self.total.checked_sub(self.done)?;
        let rate = self.bytes_per_second();
        // A part of a second is one: nothing is over before its end.
        (rate > 0).then(|| Duration::from_secs(rest.div_ceil(rate)))
    }

    fn plain(&self) -> String {
        let mut line = format!("{}: {}", self.stage, figures::about(self.done));
        if self.total > 0 {
            line.push_str(&format!(
                " of {}, {}",
                figures::about(self.total),
                figures::percent(self.done as f64 / self.total as f64)
            ));
        }
        let rate = figures::about(self.bytes_per_second());
        line.push_str(&format!(", {rate}/s"));
        if let Some(left) = self.left().filter(|_| self.total > 0) {
            line.push_str(&format!(", {} left", figures::duration(left)));
        }
        if let Some(queues) = self.queues {
            line.push_str(&format!("; {}", held(queues)));
        }
        line
    }

    fn json(&self) -> String {
        json!({
            "event": "progress",
            "stage": self.stage,
            "bytes_done": self.done,
            "bytes_total": self.total,
            "bytes_per_second": self.bytes_per_second(),
            "seconds_left": self.left().map(|left| left.as_secs()),
            "slices": self.queues.map(|queues| json!({
                "waiting_for_work": queues.waiting,
                "in_work": queues.working,
                "workers": queues.workers,
                "held": queues.held,
                "delivered": queues.delivered,
                "slowest": queues.slowest(),
            })),
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(done: u64, total: u64, seconds: u64) -> Reading {
        Reading {
            stage: "render".into(),
            done,
            total,
            elapsed: Duration::from_secs(seconds),
            queues: None,
        }
    }

    #[test]
    fn a_line_says_what_the_parts_hold_and_which_is_the_slowest() {
        let mut reading = reading(250_000_000, 1_000_000_000, 5);
        reading.queues = Some(Queues {
            waiting: 1,
            working: 2,
            workers: 2,
            held: 3,
            delivered: 9,
            waited: 8,
            taken: 2,
        });
        let line = reading.plain();
        assert!(
            line.ends_with("15 s left; 1 read, 2 of 2 in work, 3 held, slowest: work"),
            "{line}"
        );
        let value: Value = serde_json::from_str(&reading.json()).unwrap();
        assert_eq!(value["slices"]["held"], 3);
        assert_eq!(value["slices"]["slowest"], "work");
    }

    #[test]
    fn a_plain_line_says_stage_bytes_share_rate_and_rest() {
        let line = reading(250_000_000, 1_000_000_000, 5).plain();
        assert_eq!(line, "render: 250 MB of 1.00 GB, 25 %, 50.0 MB/s, 15 s left");
    }

    #[test]
    fn a_part_of_a_second_is_left_as_one() {
        let line = reading(999_000_000, 1_000_000_000, 5).plain();
        assert!(
            line.ends_with("1.0 s left") || line.ends_with("1 s left"),
            "{line}"
        );
        assert_eq!(reading(10, 10, 5).left(), Some(Duration::ZERO));
    }

    #[test]
    fn a_narrow_terminal_has_room_for_a_bar() {
        let narrow = bar_template(1, 80);
        let fixed: usize = [
            "render     ",
            " [] 100 %  123.45 MB of 123.45 MB  12 min 34 s left",
        ]
        .iter()
        .map(|text| text.len())
        .sum();
        assert!(80 - fixed >= 10, "{fixed}");
        assert!(
            !narrow.contains("per_sec") && !narrow.contains("prefix"),
            "{narrow}"
        );
        assert!(bar_template(1, 120).contains("per_sec"));
        assert!(bar_template(1, 160).contains("prefix"));
        assert!(!bar_template(0, 160).contains("bar"));
    }

    #[test]
    fn an_unknown_total_leaves_out_share_and_rest() {
        assert_eq!(reading(3_000_000, 0, 2).plain(), "render: 3.00 MB, 1.50 MB/s");
    }

    #[test]
    fn a_reading_at_the_very_start_divides_nothing_by_zero() {
        assert_eq!(reading(0, 10, 0).plain(), "render: 0 B of 10 B, 0 %, 0 B/s");
    }

    #[test]
    fn a_json_line_is_one_object() {
        let line = reading(250_000_000, 1_000_000_000, 5).json();
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["bytes_per_second"], 50_000_000);
        assert_eq!(value["seconds_left"], 15);
        assert!(!line.contains('\n'));
    }

    #[test]
    fn only_one_thread_takes_a_turn_until_the_next_is_due() {
        let global = Global {
            progress: ProgressStyle::Plain,
            verbose: 0,
            quiet: false,
            log_format: crate::args::LogFormat::Text,
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
