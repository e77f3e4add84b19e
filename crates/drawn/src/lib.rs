//! The random inputs of tests: one seed, and one factor for the number of inputs.
//!
//! A development dependency only. `cargo test` draws few inputs, and the same ones each time, so that a failure is caused by the change
//! under test. `just laws` draws many, and different ones each time: it sets `PROPTEST_RNG_SEED` and `CHATMILL_DRAWS`.

mod random;

use std::ops::Range;

use proptest::test_runner::{Config, RngSeed};

pub use random::Random;

/// The default seed.
const SEED: u64 = 20_261_123;

/// The seed of all random inputs: `PROPTEST_RNG_SEED`, else a constant.
pub fn seed() -> u64 {
    number("PROPTEST_RNG_SEED").unwrap_or(SEED)
}

/// The number of inputs to draw: `few`, times `CHATMILL_DRAWS` if that is set.
pub fn cases(few: u32) -> u32 {
    let times = number("CHATMILL_DRAWS").unwrap_or(1);
    few.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
}

/// The settings for testing a property, with [`cases`] of `few` and the common [`seed`].
pub fn law(few: u32) -> Config {
    Config {
        cases: cases(few),
        rng_seed: RngSeed::Fixed(seed()),
        ..Config::default()
    }
}

/// About [`cases`] of `few` of these numbers, evenly spaced from a random start, and always the first and the last.
pub fn some_of(numbers: Range<usize>, few: u32) -> impl Iterator<Item = usize> {
    let step = (numbers.len() / cases(few).max(1) as usize).max(1);
    let (first, last) = (numbers.start, numbers.end.saturating_sub(1));
    let drawn = first + random(0).below(step);
    let is_met = move |number: usize| number >= drawn && (number - drawn).is_multiple_of(step);
    let ends = [first, last].into_iter().filter(move |end| !is_met(*end));
    let ends = ends.take(numbers.len());
    (drawn..numbers.end).step_by(step).chain(ends)
}

/// A generator with the common [`seed`]; each use has a different `salt`, and so other numbers.
pub fn random(salt: u64) -> Random {
    Random::new(seed() ^ salt.rotate_left(32))
}

fn number(key: &str) -> Option<u64> {
    std::env::var(key).ok()?.parse().ok()
}
