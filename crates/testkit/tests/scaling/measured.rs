//! Processor time of a command on a shape, and how it grows.

use chatmill_model::Sink;
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chatmill_diag::Limits;
use chatmill_dialect::{MadeTexts, Policy};
use chatmill_engine::check::{CheckOptions, check};
use chatmill_engine::pipeline::{PerspectiveChoice, PerspectiveRule};
use chatmill_engine::plan::{Target, typed_inputs};
use chatmill_engine::walk::{WalkEvent, walk};
use chatmill_engine::work::render;
use chatmill_engine::{RunOptions, Silent};
use chatmill_workshop::Workshop;
use rustix::time::{ClockId, clock_gettime};

use crate::nights::NightShape;
use crate::shapes::Shape;

/// What is asked of the mill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Check,
    Run,
    Tokens,
}

/// All of them.
pub(crate) const COMMANDS: &[Command] = &[Command::Check, Command::Run, Command::Tokens];

impl Command {
    /// Its word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Run => "run",
            Self::Tokens => "tokens",
        }
    }
}

/// How much time is taken to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// What the smallest input takes at least, beyond what an input of one takes.
    least: Duration,
    /// Times that each input is measured; the fastest counts.
    rounds: u32,
    /// Times that a growth beyond the rule is measured again, each with an input of twice the size.
    doubts: u32,
}

impl Effort {
    /// For a test that runs with every change.
    pub(crate) const SHORT: Self = Self {
        least: Duration::from_millis(15),
        rounds: 1,
        doubts: 3,
    };
    /// For a table.
    pub(crate) const LONG: Self = Self {
        least: Duration::from_millis(40),
        rounds: 1,
        doubts: 3,
    };
}

/// The times of one command on one shape.
#[derive(Debug)]
pub(crate) struct Growth {
    n: usize,
    /// What an input of one takes: it would hide what grows.
    base: Duration,
    times: [Duration; 3],
    is_told: bool,
}

impl Growth {
    /// Measures, and measures again with more where the growth is beyond `most`.
    pub(crate) fn of(shape: &Shape, command: Command, effort: Effort, most: f64) -> Self {
        let fastest = |n, rounds| fastest(shape, command, n, rounds);
        Self::measured([shape.first, shape.most], effort, most, &fastest)
    }

    /// The same for nights.
    pub(crate) fn of_nights(shape: &NightShape, effort: Effort, most: f64) -> Self {
        let fastest = |n, rounds: u32| {
            let times = (0..rounds.max(1)).map(|_| (shape.time)(n));
            times.min().unwrap_or_default()
        };
        Self::measured([shape.first, shape.most], effort, most, &fastest)
    }

    fn measured(
        [first, end]: [usize; 2],
        effort: Effort,
        most: f64,
        fastest: &dyn Fn(usize, u32) -> Duration,
    ) -> Self {
        let base = fastest(1, 2);
        let mut n = first;
        let mut first = fastest(n, effort.rounds);
        while first.saturating_sub(base) < effort.least && n < end {
            n *= 2;
            first = fastest(n, effort.rounds);
        }
        let is_told = first.saturating_sub(base) >= effort.least;
        let times = [first, Duration::MAX, Duration::MAX];
        let mut growth = Self {
            n,
            base,
            times,
            is_told,
        };
        if !is_told {
            return growth;
        }
        for round in 0..=effort.doubts {
            for (doublings, time) in growth.times.iter_mut().enumerate() {
                // The first was measured already.
                if round > 0 || doublings > 0 {
                    *time = fastest(growth.n << doublings, effort.rounds);
                }
            }
            if growth.per_doubling() <= most {
                break;
            }
            // What is quadratic stays so with more; what is noise does not.
            if round < effort.doubts {
                growth.n *= 2;
            }
        }
        growth
    }

    /// How many times as long an input of twice the size takes: the mean of two doublings.
    pub(crate) fn per_doubling(&self) -> f64 {
        if !self.is_told {
            return 0.0;
        }
        let [first, _, last] = self
            .times
            .map(|time| time.saturating_sub(self.base).as_secs_f64());
        (last / first).sqrt()
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:7} ", self.n)?;
        if !self.is_told {
            let [first, ..] = self.times;
            return write!(
                formatter,
                "    none  {} - {}",
                first.as_millis(),
                self.base.as_millis()
            );
        }
        let times = self
            .times
            .map(|time| format!("{:.0}", time.as_secs_f64() * 1e3))
            .join(" ");
        write!(
            formatter,
            "{:8.2}  {times} - {}",
            self.per_doubling(),
            self.base.as_millis()
        )
    }
}

/// The least processor time of some rounds.
fn fastest(shape: &Shape, command: Command, n: usize, rounds: u32) -> Duration {
    let workshop = Workshop::new();
    // What pseudonyms are made with.
    workshop.write("key", "an invented key of more than thirty-two signs");
    for (name, bytes) in (shape.files)(n) {
        workshop.write(&format!("in/{name}"), bytes);
    }
    let times = (0..rounds.max(1)).map(|round| {
        let begun = processor_time();
        match command {
            Command::Check => checked(&workshop.path("in")),
            Command::Run => milled(&workshop, &format!("out{round}"), shape.pipeline),
            Command::Tokens => counted(&workshop.path("in")),
        }
        processor_time().saturating_sub(begun)
    });
    times.min().unwrap_or_default()
}

/// Processor time of all threads of this process.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

fn checked(folder: &Path) {
    let options = CheckOptions {
        paths: vec![folder.to_string_lossy().into_owned()],
        source: "auto".to_owned(),
        limits: Limits::default(),
        threads: 1,
        ..CheckOptions::default()
    };
    let mut findings = 0_u64;
    check(&options, &Silent, &AtomicBool::new(false), &mut |_| findings += 1).unwrap();
}

pub(crate) fn milled(workshop: &Workshop, out: &str, pipeline: &str) {
    let more = format!("{pipeline}\n[count]\nencodings = [\"o200k_base\"]\n");
    let plan = workshop.plan(out, &more);
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    let summary = chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false)).unwrap();
    assert!(summary.elapsed.is_some(), "the run must really run");
}

/// What `tokens` does with files: every conversation is rendered in every dialect and counted.
fn counted(folder: &Path) {
    let paths = [folder.to_string_lossy().into_owned()];
    let inputs = typed_inputs(&paths, "auto").unwrap();
    let targets: Vec<Target> = chatmill_dialect::DIALECTS
        .iter()
        .map(|dialect| Target::find(dialect.id()).unwrap())
        .collect();
    let counter = chatmill_token::find("o200k_base").unwrap().counter();
    let policy = Policy::default();
    let mut tokens = 0;
    let mut visit = |sight: WalkEvent<'_>| {
        if let WalkEvent::Conversation { linked, .. } = sight {
            let (perspectives, _) =
                render::perspectives(linked, &PerspectiveChoice::Rule(PerspectiveRule::Auto));
            let made = MadeTexts::default();
            for target in &targets {
                let mut emit = |sink: &mut Sink<'_>, _: &str, _: chatmill_dialect::Rendering| {
                    tokens += counter.tally(sink.text(), sink.spans()).tokens;
                };
                render::render(
                    linked,
                    target,
                    &perspectives,
                    &policy,
                    &made,
                    &mut Sink::default(),
                    &mut emit,
                );
            }
        }
        true
    };
    let limits = Limits::default();
    walk(&inputs, &limits, &Silent, &AtomicBool::new(false), &mut visit).unwrap();
}
