//! The progress of a command at one instant, as text for a bar, a plain line and JSON.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use chatmill_engine::Queues;
use serde_json::json;

use super::BAR_LENGTH;
use super::course::Course;
use crate::figures::{self, thousandths};

/// The time over which rates are measured, and the time after which there is one.
const RATE_OVER: Duration = Duration::from_secs(15);
const FIRST_RATE: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub(super) struct Stage {
    pub course: Course,
    pub name: String,
    pub bytes: u64,
    pub since: Instant,
    pub queues: Option<Queues>,
    /// Samples: the time in the stage, and the bytes that this attempt had done by then.
    pub samples: VecDeque<(Duration, u64)>,
}

/// The width of the terminal from which the rate fits after a bar.
const COLUMNS_FOR_RATES: usize = 100;

/// The width of the terminal from which the queues fit after a bar, too.
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

impl Stage {
    /// Adds a sample; of the samples that are too old for a rate, the last one is kept.
    pub(super) fn sample(&mut self, elapsed: Duration, done: u64) {
        if self.samples.is_empty() {
            self.samples.push_back((Duration::ZERO, 0));
        }
        self.samples.push_back((elapsed, done));
        while self
            .samples
            .get(1)
            .is_some_and(|(at, _)| *at + RATE_OVER < elapsed)
        {
            self.samples.pop_front();
        }
    }
}

/// The progress of the work at one instant.
pub(super) struct Reading {
    pub stage: Stage,
    /// The bytes of the stage that are done, in this attempt or before.
    pub done: u64,
    /// The time since the stage began.
    pub elapsed: Duration,
    /// The time since the command began.
    pub since_begin: Duration,
}

impl Reading {
    /// The bytes per second of this attempt, over the last samples; `None` in the first seconds of a stage, and if nothing was done.
    fn rate(&self) -> Option<f64> {
        let (from, to) = (self.stage.samples.front()?, self.stage.samples.back()?);
        let seconds = to.0.saturating_sub(from.0).as_secs_f64();
        let bytes = to.1.saturating_sub(from.1);
        (self.elapsed >= FIRST_RATE && seconds > 0.0 && bytes > 0).then(|| bytes as f64 / seconds)
    }

    /// The rate as a whole number.
    #[expect(clippy::cast_sign_loss, reason = "a rate is positive")]
    fn bytes_per_second(&self) -> Option<u64> {
        self.rate().map(|rate| rate as u64)
    }

    /// The share of the stage that is done.
    fn stage_fraction(&self) -> f64 {
        if self.stage.bytes == 0 {
            0.0
        } else {
            (self.done as f64 / self.stage.bytes as f64).min(1.0)
        }
    }

    /// The share of all stages that is done.
    pub(super) fn fraction(&self) -> f64 {
        self.stage.course.at(self.stage_fraction())
    }

    /// The share of all stages that is done, in steps of the bar.
    #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
    pub(super) fn position(&self) -> u64 {
        (self.fraction() * BAR_LENGTH as f64) as u64
    }

    /// The time that the rest of all stages takes at this rate; `None` without a rate or a total, and at the end.
    fn left(&self) -> Option<Duration> {
        let rest = 1.0 - self.fraction();
        // The share of the whole progress that is made in a second.
        let pace = self.stage.course.length() * self.rate()? / self.stage.bytes as f64;
        let seconds = rest / pace;
        // Rounded up, so that the display is not zero before the end.
        let left = Duration::try_from_secs_f64(seconds.ceil()).ok();
        left.filter(|left| rest > 0.0 && !left.is_zero())
    }

    /// The text after a bar on a terminal of this width; parts that would leave no room for the bar are omitted.
    pub(super) fn beside(&self, columns: usize) -> String {
        let mut text = String::new();
        if self.stage.bytes > 0 {
            text = format!(
                "  {} of {}",
                figures::about(self.done.min(self.stage.bytes)),
                figures::about(self.stage.bytes)
            );
            if let Some(rate) = self.bytes_per_second().filter(|_| columns >= COLUMNS_FOR_RATES) {
                text.push_str(&format!("  {}/s", figures::about(rate)));
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

    pub(super) fn plain(&self) -> String {
        let mut line = format!("{}: {}", self.stage.name, figures::about(self.done));
        if self.stage.bytes > 0 {
            line.push_str(&format!(
                " of {}, {}",
                figures::about(self.stage.bytes),
                figures::percent(self.fraction())
            ));
        }
        if let Some(rate) = self.bytes_per_second() {
            line.push_str(&format!(", {}/s", figures::about(rate)));
        }
        line.push_str(&format!(", {} so far", figures::duration(self.since_begin)));
        if let Some(left) = self.left() {
            line.push_str(&format!(", {} left", figures::duration(left)));
        }
        if let Some(queues) = self.stage.queues {
            line.push_str(&format!("; {}", queue_text(queues)));
        }
        line
    }

    pub(super) fn json(&self) -> String {
        json!({
            "event": "progress",
            "stage": self.stage.name,
            "share_done": thousandths(self.fraction()),
            "bytes_done": self.done,
            "bytes_total": self.stage.bytes,
            "bytes_per_second": self.bytes_per_second(),
            "seconds": self.since_begin.as_secs(),
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
    use serde_json::Value;

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
                samples: [(0, 0), (seconds, done)]
                    .map(|(at, done)| (Duration::from_secs(at), done))
                    .into(),
            },
            done,
            elapsed: Duration::from_secs(seconds),
            since_begin: Duration::from_secs(seconds + 2),
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
        assert_eq!(
            line,
            "render: 250 MB of 1.00 GB, 25 %, 50.0 MB/s, 7.0 s so far, 15 s left"
        );
    }

    #[test]
    fn less_than_a_second_left_is_shown_as_one_second() {
        let line = reading(999_000_000, 1_000_000_000, 5).plain();
        assert!(
            line.ends_with("1.0 s left") || line.ends_with("1 s left"),
            "{line}"
        );
        assert_eq!(reading(10, 10, 5).left(), None);
        assert_eq!(
            reading(10, 10, 5).plain(),
            "render: 10 B of 10 B, 100 %, 2 B/s, 7.0 s so far"
        );
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
            "render: 1.00 kB of 1.00 kB, 50 %, 142 B/s, 9.0 s so far, 7.0 s left"
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
        assert_eq!(reading(3_000_000, 0, 2).plain(), "render: 3.00 MB, 4.0 s so far");
    }

    #[test]
    fn a_reading_at_the_very_start_divides_nothing_by_zero() {
        assert_eq!(
            reading(0, 10, 0).plain(),
            "render: 0 B of 10 B, 0 %, 2.0 s so far"
        );
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
    fn a_rate_is_that_of_the_last_seconds_of_this_attempt() {
        let mut stage = reading(0, 0, 0).stage;
        stage.samples.clear();
        for second in 0..60 {
            stage.sample(Duration::from_secs(second), second * second);
        }
        let at = |elapsed, stage: &Stage| Reading {
            elapsed: Duration::from_secs(elapsed),
            stage: stage.clone(),
            ..reading(0, 0, 0)
        };
        let (from, to) = (59 - 16, 59);
        assert_eq!(
            at(59, &stage).bytes_per_second(),
            Some((to * to - from * from) / 16)
        );
        assert_eq!(at(2, &stage).bytes_per_second(), None, "too early for a rate");
        assert_eq!(
            at(59, &reading(0, 9, 59).stage).bytes_per_second(),
            None,
            "nothing was done"
        );
    }
}
