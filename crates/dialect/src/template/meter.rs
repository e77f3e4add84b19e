//! Limits the cost of a rendering while it runs: steps for time, and bytes for memory.
//!
//! A step is an instruction of the template, or a value or 64 bytes that one of its operators, filters or methods handles. Memory counts
//! all texts and lists that a template makes, used or not, and never decreases, so that it does not depend on when a value is dropped. Both
//! are counted rather than measured, so that the same template and conversation stop at the same place on every machine.
//!
//! The counts belong to the rendering that runs on this thread. Outside a rendering nothing is limited.
//!
//! Why: docs/decisions/2026-11-22-template-resource-limits.md.

use std::cell::Cell;
use std::fmt;

use chatmill_diag::Limits;
use minijinja::{Error, ErrorKind};

/// Number of bytes that are handled in one step.
const BYTES_PER_STEP: u64 = 64;

/// Additional steps for each byte of a template's context: long conversations take longer.
const STEPS_PER_BYTE_GIVEN: u64 = 2;

/// Additional bytes for each byte of a template's context: some templates copy their whole output with every turn.
const MEMORY_PER_BYTE_GIVEN: u64 = 64;

/// The steps and the memory that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    steps: u64,
    memory: u64,
}

impl Allowance {
    const ENDLESS: Self = Self {
        steps: u64::MAX,
        memory: u64::MAX,
    };

    /// Creates the allowance of a rendering with a context of so many bytes.
    pub(super) fn new(limits: &Limits, given: u64) -> Self {
        let more = |per_byte: u64| given.saturating_mul(per_byte);
        Self {
            steps: limits.template_steps.saturating_add(more(STEPS_PER_BYTE_GIVEN)),
            memory: limits.template_memory.saturating_add(more(MEMORY_PER_BYTE_GIVEN)),
        }
    }
}

/// The limit that a rendering exceeded.
#[derive(Debug)]
pub(super) enum Exhausted {
    /// `limits.template_steps`.
    Steps,
    /// `limits.template_memory`.
    Memory,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Steps => "it takes more steps than `limits.template_steps` allows",
            Self::Memory => "it makes more text or longer lists than `limits.template_memory` allows",
        })
    }
}

impl std::error::Error for Exhausted {}

impl From<Exhausted> for Error {
    fn from(spent: Exhausted) -> Self {
        Self::new(ErrorKind::OutOfFuel, spent.to_string()).with_source(spent)
    }
}

#[derive(Clone, Copy)]
struct Meter {
    left: Allowance,
    /// Number of instructions for which steps are taken.
    instructions: u64,
    is_marking: bool,
}

impl Meter {
    const OFF: Self = Self {
        left: Allowance::ENDLESS,
        instructions: 0,
        is_marking: false,
    };
}

thread_local! {
    static METER: Cell<Meter> = const { Cell::new(Meter::OFF) };
}

/// Runs a rendering within an allowance, and reduces the allowance by what was used. The rendering must not panic.
pub(super) fn within<T>(allowance: &mut Allowance, is_marking: bool, rendering: impl FnOnce() -> T) -> T {
    let started = Meter {
        left: *allowance,
        is_marking,
        ..Meter::OFF
    };
    let before = METER.replace(started);
    let done = rendering();
    *allowance = METER.replace(before).left;
    done
}

/// Whether the rendering writes marks around what it prints.
pub(super) fn is_marking() -> bool {
    METER.get().is_marking
}

/// Whether a mark may consist of this character.
pub(super) fn is_of_mark(character: char) -> bool {
    matches!(character, '\u{fdd0}'..='\u{fdef}')
}

/// Takes steps.
pub(super) fn steps(count: u64) -> Result<(), Error> {
    take(|left| &mut left.steps, count, Exhausted::Steps)
}

fn take(of: impl FnOnce(&mut Allowance) -> &mut u64, count: u64, spent: Exhausted) -> Result<(), Error> {
    let mut meter = METER.get();
    let known = of(&mut meter.left);
    let left = known.checked_sub(count);
    *known = left.unwrap_or_default();
    METER.set(meter);
    left.map(drop).ok_or_else(|| spent.into())
}

/// Takes the steps for handling so many bytes.
pub(super) fn handles(bytes: u64) -> Result<(), Error> {
    steps(bytes / BYTES_PER_STEP)
}

/// Takes the steps for instructions; `instructions` is the number of all that ran since the rendering began.
pub(super) fn ran(instructions: u64) -> Result<(), Error> {
    let mut meter = METER.get();
    let more = instructions.saturating_sub(meter.instructions);
    meter.instructions = instructions;
    METER.set(meter);
    steps(more)
}

/// Takes memory for a new value, and the steps for filling it.
pub(super) fn makes(bytes: u64) -> Result<(), Error> {
    handles(bytes)?;
    take(|left| &mut left.memory, bytes, Exhausted::Memory)
}

/// Refuses an operation before it runs if its result would exceed the memory left; the memory of the result is taken later.
pub(super) fn can_hold(bytes: u64) -> Result<(), Error> {
    if bytes > METER.get().left.memory {
        return Err(Exhausted::Memory.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(steps: u64, memory: u64) -> Limits {
        Limits {
            template_steps: steps,
            template_memory: memory,
            ..Limits::default()
        }
    }

    #[test]
    fn an_allowance_is_used_up_and_not_one_step_earlier() {
        let mut allowance = Allowance::new(&limits(10, 128), 0);
        within(&mut allowance, true, || {
            assert!(is_marking());
            assert!(steps(7).is_ok());
            assert!(can_hold(128).is_ok() && can_hold(129).is_err());
            assert!(makes(64).is_ok());
            assert!(ran(2).is_ok() && ran(2).is_ok());
            assert!(steps(1).is_err());
            assert!(makes(65).is_err());
        });
        assert!(!is_marking());
        assert!(steps(u64::MAX).is_ok());
    }

    #[test]
    fn an_allowance_grows_with_the_bytes_of_the_conversation() {
        let given = Allowance::new(&limits(10, 128), 1000);
        assert_eq!(given.steps, 10 + 2 * 1000);
        assert_eq!(given.memory, 128 + 64 * 1000);
        assert_eq!(Allowance::new(&limits(u64::MAX, 1), u64::MAX), Allowance::ENDLESS);
    }

    #[test]
    fn steps_left_of_an_allowance_are_there_for_the_next_rendering() {
        let mut allowance = Allowance::new(&limits(10, 0), 0);
        assert!(within(&mut allowance, false, || steps(6)).is_ok());
        assert!(within(&mut allowance, false, || steps(4)).is_ok());
        assert!(within(&mut allowance, false, || steps(1)).is_err());
    }
}
