//! The cost of a command for a shape, counted and timed, and its growth.

use std::alloc::System;
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chatmill_diag::{Limits, steps};
use chatmill_dialect::{Dialect, Policy, TextArena};
use chatmill_engine::check::{CheckOptions, check};
use chatmill_engine::pipeline::{PerspectiveChoice, PerspectiveRule};
use chatmill_engine::record::Settings;
use chatmill_engine::{
    InputReading, ReadingOptions, RunOptions, Silent, Templates, WalkEvent, conversation, typed_inputs, walk,
};
use chatmill_intake::discover::Links;
use chatmill_model::Sink;
use chatmill_workshop::TestDir;
use rustix::time::{ClockId, clock_gettime};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use crate::format_files;
use crate::shapes::{Files, Shape};

/// The command that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Check,
    Run,
    Tokens,
}

/// All commands.
pub(crate) const COMMANDS: &[Command] = &[Command::Check, Command::Run, Command::Tokens];

impl Command {
    /// The name of the command.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Run => "run",
            Self::Tokens => "tokens",
        }
    }
}

/// Counts the allocations of all threads of the process, so that tests must be [`alone`].
#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Waits until no other test is running.
pub(crate) fn alone() -> impl Drop {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cost of one operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    pub(crate) time: Duration,
    /// The number of allocations and reallocations.
    pub(crate) pieces: usize,
    pub(crate) bytes: usize,
    /// Steps along lists and texts, if the build counts them.
    pub(crate) steps: usize,
}

impl Taken {
    /// Measures work on all threads of this process.
    pub(crate) fn by(work: impl FnOnce()) -> Self {
        let region = Region::new(COUNTED);
        let (begun, steps) = (processor_time(), steps::so_far());
        work();
        let time = processor_time().saturating_sub(begun);
        let change = region.change();
        Self {
            time,
            pieces: change.allocations + change.reallocations,
            bytes: change.bytes_allocated,
            steps: steps::so_far() - steps,
        }
    }
}

/// The memory and the steps for one more element, measured between two inputs, and between two inputs of four times the size.
///
/// The figures are nearly the same on every machine.
#[derive(Debug)]
pub(crate) struct Counted {
    sizes: [usize; 3],
    taken: [Taken; 3],
}

impl Counted {
    /// The bytes of buffers and tables that double. Each thread has its buffers, and one or two threads have work.
    const LEAP: usize = 4 << 20;
    /// The minimum number of bytes per element, so that a small difference between calls is not growth from nothing.
    const ELEMENT: f64 = 512.0;
    /// The minimum number of steps per element: finding the place of a finding takes as many if a file is longer than a block.
    const STEPS: f64 = 64.0;
    /// Steps that threads accumulate before they are counted.
    const KEPT: usize = 1 << 9;

    /// Counts for an input of one element, of `n`, and of 4`n`.
    pub(crate) fn of(n: usize, take: &dyn Fn(usize) -> Taken) -> Self {
        // The first call fills caches and pools.
        take(1);
        let sizes = [1, n, 4 * n];
        Self {
            sizes,
            taken: sizes.map(take),
        }
    }

    /// The factor by which the cost of one element grows for four times the elements, in allocations, bytes or steps,
    /// whichever grows most.
    pub(crate) fn growth(&self) -> f64 {
        self.growth_in_number()
            .max(self.growth_of(|taken| taken.bytes, Self::LEAP, Self::ELEMENT))
    }

    /// The factor in allocations or steps, for elements with so few bytes that the doubling of a buffer hides them.
    pub(crate) fn growth_in_number(&self) -> f64 {
        let pieces = self.growth_of(|taken| taken.pieces, 0, 1.0);
        pieces.max(self.growth_of(|taken| taken.steps, Self::KEPT, Self::STEPS))
    }

    fn growth_of(&self, of: fn(&Taken) -> usize, leap: usize, least: f64) -> f64 {
        let [one, few, many] = self.taken.map(|taken| of(&taken));
        let [_, n, four_n] = self.sizes;
        let each_of_few = few.saturating_sub(one) as f64 / (n - 1) as f64;
        let each_of_many = many.saturating_sub(one + leap) as f64 / (four_n - 1) as f64;
        each_of_many / each_of_few.max(least)
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:8.2} ", self.growth())?;
        for (size, taken) in self.sizes.iter().zip(&self.taken) {
            write!(
                formatter,
                " {size}: {} pieces, {} bytes, {} steps;",
                taken.pieces, taken.bytes, taken.steps
            )?;
        }
        Ok(())
    }
}

/// The effort that is spent on measuring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The minimum time for the smallest input, beyond that of an input of one element.
    least: Duration,
    /// How often each input is measured; the fastest counts.
    rounds: u32,
    /// How often a growth beyond the limit is measured again, each time with an input of twice the size.
    doubts: u32,
}

impl Effort {
    /// The effort for a table.
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
    /// The time for an input of one element, which would hide the growth.
    base: Duration,
    times: [Duration; 3],
    is_measurable: bool,
}

impl Growth {
    /// Measures, and measures again with more elements if the growth is beyond `most`. The first size is one of
    /// `sizes`, or between them.
    pub(crate) fn of(
        [first, end]: [usize; 2],
        effort: Effort,
        most: f64,
        take: &dyn Fn(usize) -> Taken,
    ) -> Self {
        let fastest = |n, rounds: u32| {
            let times = (0..rounds.max(1)).map(|_| take(n).time);
            times.min().unwrap_or_default()
        };
        let base = fastest(1, 2);
        let mut n = first;
        let mut first = fastest(n, effort.rounds);
        while first.saturating_sub(base) < effort.least && n < end {
            n *= 2;
            first = fastest(n, effort.rounds);
        }
        let is_measurable = first.saturating_sub(base) >= effort.least;
        let times = [first, Duration::MAX, Duration::MAX];
        let mut growth = Self {
            n,
            base,
            times,
            is_measurable,
        };
        if !is_measurable {
            return growth;
        }
        for round in 0..=effort.doubts {
            for (doublings, time) in growth.times.iter_mut().enumerate() {
                // The first one has already been measured.
                if round > 0 || doublings > 0 {
                    *time = fastest(growth.n << doublings, effort.rounds);
                }
            }
            if growth.times_as_long() <= most {
                break;
            }
            // Quadratic growth remains with more elements, but noise does not.
            if round < effort.doubts {
                growth.n *= 2;
            }
        }
        growth
    }

    /// The factor of time for an input of four times the size.
    pub(crate) fn times_as_long(&self) -> f64 {
        if !self.is_measurable {
            return 0.0;
        }
        let [first, _, last] = self
            .times
            .map(|time| time.saturating_sub(self.base).as_secs_f64());
        last / first
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:7} ", self.n)?;
        if !self.is_measurable {
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
            self.times_as_long(),
            self.base.as_millis()
        )
    }
}

/// The cost of a command for a shape of a size.
pub(crate) fn taken(shape: &Shape, command: Command, n: usize) -> Taken {
    taken_for((shape.files)(n), command, "auto", shape.pipeline)
}

/// The cost of a command for files of a source, or of the format file among them; an empty source is detected.
pub(crate) fn taken_for(files: Files, command: Command, source: &str, pipeline: &str) -> Taken {
    let test_dir = TestDir::new();
    // The key for the pseudonyms.
    test_dir.write("key", "an invented key of more than thirty-two signs");
    for (name, bytes) in files {
        test_dir.write(&format!("in/{name}"), bytes);
    }
    let own = test_dir.path(source).to_string_lossy().into_owned();
    let source = if source == format_files::NAME {
        &own
    } else {
        source
    };
    Taken::by(|| match command {
        Command::Check => checked(&test_dir.path("in"), source),
        Command::Run => milled(&test_dir, "out", pipeline),
        Command::Tokens => counted(&test_dir.path("in")),
    })
}

/// The processor time of all threads of this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

fn checked(folder: &Path, source: &str) {
    let options = CheckOptions {
        paths: vec![folder.to_string_lossy().into_owned()],
        reading: InputReading::new(
            &ReadingOptions {
                source: source.to_owned(),
                zone: None,
                map: Vec::new(),
                assistants: Vec::new(),
                quotes: true,
            },
            None,
        )
        .unwrap(),
        limits: Limits::default(),
        threads: 1,
        ..CheckOptions::default()
    };
    let mut findings = 0_u64;
    check(&options, &Silent, &AtomicBool::new(false), &mut |_| findings += 1).unwrap();
}

pub(crate) fn milled(test_dir: &TestDir, out: &str, pipeline: &str) {
    let more = format!("{pipeline}\n[count]\nencodings = [\"o200k_base\"]\n");
    let plan = test_dir.plan(out, &more);
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    let summary = chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false)).unwrap();
    assert!(summary.elapsed.is_some(), "the run must really run");
}

/// Does the work of `tokens`: renders every conversation in every dialect and counts.
fn counted(folder: &Path) {
    let paths = [folder.to_string_lossy().into_owned()];
    let (inputs, _) = typed_inputs(&paths, &InputReading::default(), Links::Refused, true).unwrap();
    let targets: Vec<Dialect> = chatmill_dialect::DIALECTS
        .iter()
        .map(|dialect| Templates::default().find(dialect.id()).unwrap())
        .collect();
    let counter = chatmill_token::find("o200k_base").unwrap().counter();
    let policy = Policy::default();
    let mut tokens = 0;
    let mut visit = |sight: WalkEvent<'_>| {
        if let WalkEvent::Conversation { linked, .. } = sight {
            let (perspectives, _) =
                conversation::perspectives(linked, &PerspectiveChoice::Rule(PerspectiveRule::Auto));
            let made = TextArena::default();
            for target in &targets {
                let mut emit = |sink: &mut Sink<'_>, _: &str, _: chatmill_dialect::Rendering| {
                    tokens += counter.token_counts(sink.text(), sink.spans()).tokens;
                };
                conversation::render(
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
    walk(
        &inputs,
        Settings::plain(&limits),
        &Silent,
        &AtomicBool::new(false),
        &mut visit,
    )
    .unwrap();
}
