//! What tests draw their inputs with: one seed, and one measure of how much is drawn.
//!
//! A development dependency only. `cargo test` draws few inputs, and the same each time, so that what fails is the change's own.
//! `just laws` draws many, and others each time: it sets `PROPTEST_RNG_SEED` and `CHATMILL_DRAWS`.

mod random;

use std::ops::Range;

use proptest::test_runner::{Config, RngSeed};

pub use random::Random;

/// The seed where nobody says otherwise.
const SEED: u64 = 20_261_123;

/// The seed of everything that is drawn: that of `PROPTEST_RNG_SEED`, else always the same.
pub fn seed() -> u64 {
    number("PROPTEST_RNG_SEED").unwrap_or(SEED)
}

/// How many inputs are drawn where `cargo test` draws `few`: `CHATMILL_DRAWS` times as many.
pub fn cases(few: u32) -> u32 {
    let times = number("CHATMILL_DRAWS").unwrap_or(1);
    few.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX))
}

/// How a property is tried, with [`cases`] of `few` from the one [`seed`].
pub fn law(few: u32) -> Config {
    Config {
        cases: cases(few),
        rng_seed: RngSeed::Fixed(seed()),
        ..Config::default()
    }
}

/// About [`cases`] of `few` of these numbers, as far apart as they can be, from a drawn one on; the first and the last always.
pub fn some_of(numbers: Range<usize>, few: u32) -> impl Iterator<Item = usize> {
    let step = (numbers.len() / cases(few).max(1) as usize).max(1);
    let (first, last) = (numbers.start, numbers.end.saturating_sub(1));
    let drawn = first + random(0).below(step);
    let is_met = move |number: usize| number >= drawn && (number - drawn).is_multiple_of(step);
    let ends = [first, last].into_iter().filter(move |end| !is_met(*end));
    let ends = ends.take(numbers.len());
    (drawn..numbers.end).step_by(step).chain(ends)
}

/// Numbers from the one [`seed`], others in each place that says another `salt`.
pub fn random(salt: u64) -> Random {
    Random::new(seed() ^ salt.rotate_left(32))
}

fn number(key: &str) -> Option<u64> {
    std::env::var(key).ok()?.parse().ok()
}
