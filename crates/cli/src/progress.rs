//! Progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere, or one JSON object a line.
//!
//! Workers only add to an atomic counter; the thread that adds when a line is due writes it. A line also has the queues
//! between reader, workers and writer, and the slowest of them. Shares and times are those of all stages together.

mod course;

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatmill_diag::visible::{visible, visible_json};
use chatmill_engine::{Progress, Queues};
use course::Course;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use serde_json::{Map, Value, json};

use crate::args::{Global, ProgressStyle};
use crate::exit::Exit;
use crate::figures::{self, thousandths};
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
    /// Fields of the last line, besides the exit code.
    ending: Mutex<Map<String, Value>>,
    /// The listener, which gets all events instead.
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

#[derive(Clone)]
struct Stage {
    course: Course,
    name: String,
    bytes: u64,
    since: Instant,
    queues: Option<Queues>,
}

impl Meter {
    /// Chooses the form. With `prints_results` the command prints results while it works, and a bar on the same terminal would break
    /// them up.
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

    /// A meter that shows nothing, and passes all events to a listener.
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

    /// Shows that all is done, and takes the bar away.
    pub(crate) fn finish(&self) {
        if self.form == Form::Bar && !self.bar.is_finished() {
            self.bar.set_prefix("");
            self.bar.set_position(BAR_LENGTH);
            self.bar.force_draw();
        }
        self.clear();
    }

    /// Takes the bar away.
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
            stage: stage.clone(),
            done: self.done.load(Ordering::Relaxed),
            elapsed: stage.since.elapsed(),
        }
    }

    /// Writes a line where one is due.
    fn write_if_due(&self) {
        match self.form {
            Form::Bar if self.takes_turn() => self.draw(),
            Form::Plain if self.takes_turn() => self.write_line(Word::Progress, &self.reading().plain()),
            Form::Json if self.takes_turn() => self.write_line(Word::Progress, &self.reading().json()),
            Form::Bar | Form::Plain | Form::Json | Form::Nothing => {}
        }
    }

    /// Moves the bar to where the work is.
    fn draw(&self) {
        let reading = self.reading();
        let columns =
            terminal_size::terminal_size_of(io::stderr()).map_or(0, |(width, _)| usize::from(width.0));
        self.bar.set_prefix(reading.beside(columns));
        self.bar.set_position(reading.position());
    }

    /// Adds fields to the last line, besides the exit code; a later value of a field replaces an earlier one.
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
        self.write_line(Word::Progress, &Value::Object(event).to_string());
    }

    fn write_line(&self, word: Word, text: &str) {
        // Notes name folders and files.
        let line = match self.form {
            Form::Json => format!("{}\n", visible_json(text)),
            Form::Bar | Form::Plain | Form::Nothing if stderr::is_json() => stderr::line(word, text),
            Form::Bar | Form::Plain | Form::Nothing => stderr::line(word, &visible(text)),
        };
        // A closed stderr is no reason to stop.
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
            self.done.store(0, Ordering::Relaxed);
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

/// What a bar looks like; the prefix is what stands beside it.
const BAR: &str = "{msg:<11} [{wide_bar:.}] {percent:>3} %{prefix}";

/// The whole way in steps of a bar.
const BAR_LENGTH: u64 = 100_000;

/// Columns from which the rate fits beside a bar.
const COLUMNS_FOR_RATES: usize = 100;

/// Columns from which the queues fit beside a bar, too.
const COLUMNS_FOR_QUEUES: usize = 150;

/// The queues as text: slices by stage, and the slowest stage.
fn queue_text(queues: Queues) -> String {
    let Queues {
        waiting,
        working,
        workers,
        finished,
        ..
    } = queues;
    let mut text = format!("{waiting} queued, {working} of {workers} busy, {finished} to write");
    if let Some(slowest) = queues.slowest() {
        text.push_str(&format!(", slowest: {slowest}"));
    }
    text
}

/// How far the work is at one instant.
struct Reading {
    stage: Stage,
    /// Bytes of the stage that are done.
    done: u64,
    /// Since the stage began.
    elapsed: Duration,
}

impl Reading {
    fn bytes_per_second(&self) -> u64 {
        let rate = (u128::from(self.done) * 1000).checked_div(self.elapsed.as_millis());
        u64::try_from(rate.unwrap_or_default()).unwrap_or(u64::MAX)
    }

    /// Share of the stage that is done.
    fn stage_fraction(&self) -> f64 {
        if self.stage.bytes == 0 {
            0.0
        } else {
            (self.done as f64 / self.stage.bytes as f64).min(1.0)
        }
    }

    /// Share of all stages that is done.
    fn fraction(&self) -> f64 {
        self.stage.course.at(self.stage_fraction())
    }

    /// The same in steps of a bar.
    #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
    fn position(&self) -> u64 {
        (self.fraction() * BAR_LENGTH as f64) as u64
    }

    /// Time that the rest of all stages takes at the rate so far; none before there is a rate, without a total, or at the end.
    fn left(&self) -> Option<Duration> {
        let rest = 1.0 - self.fraction();
        let way = self.stage.course.length() * self.stage_fraction();
        let seconds = self.elapsed.as_secs_f64() * rest / way;
        // Nothing is over before its end: a part of a second is one.
        let left = Duration::try_from_secs_f64(seconds.ceil()).ok();
        left.filter(|left| rest > 0.0 && !left.is_zero())
    }

    /// What stands beside a bar on a terminal so wide: what does not leave room for a bar is left out.
    fn beside(&self, columns: usize) -> String {
        let mut text = String::new();
        if self.stage.bytes > 0 {
            text = format!(
                "  {} of {}",
                figures::about(self.done.min(self.stage.bytes)),
                figures::about(self.stage.bytes)
            );
            if columns >= COLUMNS_FOR_RATES {
                text.push_str(&format!("  {}/s", figures::about(self.bytes_per_second())));
            }
        }
        if let Some(left) = self.left() {
            text.push_str(&format!("  {} left", figures::duration(left)));
        }
        if let Some(queues) = self.stage.queues.filter(|_| columns >= COLUMNS_FOR_QUEUES) {
            text.push_str(&format!("  {}", queue_text(queues)));
        }
        text
    }

    fn plain(&self) -> String {
        let mut line = format!("{}: {}", self.stage.name, figures::about(self.done));
        if self.stage.bytes > 0 {
            line.push_str(&format!(
                " of {}, {}",
                figures::about(self.stage.bytes),
                figures::percent(self.fraction())
            ));
        }
        let rate = figures::about(self.bytes_per_second());
        line.push_str(&format!(", {rate}/s"));
        if let Some(left) = self.left() {
            line.push_str(&format!(", {} left", figures::duration(left)));
        }
        if let Some(queues) = self.stage.queues {
            line.push_str(&format!("; {}", queue_text(queues)));
        }
        line
    }

    fn json(&self) -> String {
        json!({
            "event": "progress",
            "stage": self.stage.name,
            "share_done": thousandths(self.fraction()),
            "bytes_done": self.done,
            "bytes_total": self.stage.bytes,
            "bytes_per_second": self.bytes_per_second(),
            "seconds_left": self.left().map(|left| left.as_secs()),
            "slices": self.stage.queues.map(|queues| json!({
                "waiting_for_work": queues.waiting,
                "in_work": queues.working,
                "workers": queues.workers,
                "held": queues.finished,
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
        let mut course = Course::default();
        course.enter("render");
        Reading {
            stage: Stage {
                course,
                name: "render".into(),
                bytes: total,
                since: Instant::now(),
                queues: None,
            },
            done,
            elapsed: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn a_line_has_the_queues_and_the_slowest_stage() {
        let mut reading = reading(250_000_000, 1_000_000_000, 5);
        reading.stage.queues = Some(Queues {
            waiting: 1,
            working: 2,
            workers: 2,
            finished: 3,
            delivered: 9,
            waited: 8,
            taken: 2,
        });
        let line = reading.plain();
        assert!(
            line.ends_with("15 s left; 1 queued, 2 of 2 busy, 3 to write, slowest: work"),
            "{line}"
        );
        let value: Value = serde_json::from_str(&reading.json()).unwrap();
        assert_eq!(value["slices"]["held"], 3);
        assert_eq!(value["slices"]["slowest"], "work");
    }

    #[test]
    fn a_plain_line_has_stage_bytes_percentage_rate_and_time_left() {
        let line = reading(250_000_000, 1_000_000_000, 5).plain();
        assert_eq!(line, "render: 250 MB of 1.00 GB, 25 %, 50.0 MB/s, 15 s left");
    }

    #[test]
    fn less_than_a_second_left_is_shown_as_one_second() {
        let line = reading(999_000_000, 1_000_000_000, 5).plain();
        assert!(
            line.ends_with("1.0 s left") || line.ends_with("1 s left"),
            "{line}"
        );
        assert_eq!(reading(10, 10, 5).left(), None);
        assert_eq!(reading(10, 10, 5).plain(), "render: 10 B of 10 B, 100 %, 2 B/s");
    }

    #[test]
    fn percentages_and_times_are_those_of_all_stages() {
        let mut course = Course::default();
        course.announce(&[("render", 50), ("seal", 50)]);
        course.enter("render");
        let mut reading = reading(1_000, 1_000, 7);
        reading.stage.course = course;
        assert_eq!(
            reading.plain(),
            "render: 1.00 kB of 1.00 kB, 50 %, 142 B/s, 7.0 s left"
        );
        let value: Value = serde_json::from_str(&reading.json()).unwrap();
        assert_eq!(
            (&value["share_done"], &value["seconds_left"]),
            (&0.5.into(), &7.into())
        );
    }

    #[test]
    fn a_narrow_terminal_still_shows_a_bar() {
        let mut reading = reading(123_456_789, 999_000_000, 86_000);
        reading.stage.queues = Some(Queues::default());
        let beside = |columns| reading.beside(columns);
        let fixed = "render      [] 100 %".len() + beside(80).len();
        assert!(80 - fixed >= 10, "{fixed}");
        assert!(
            !beside(80).contains("/s") && beside(120).contains("/s"),
            "{}",
            beside(120)
        );
        assert!(
            !beside(120).contains("busy") && beside(160).contains("busy"),
            "{}",
            beside(160)
        );
    }

    #[test]
    fn an_unknown_total_leaves_out_percentage_and_time_left() {
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
