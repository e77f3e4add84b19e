//! Finds the first message of a rendering that fits a token budget.
//!
//! The tokens of a rendering are only known after it was written and counted. So it is written
//! from a few candidate messages: first from the one at which its length makes it likely to fit,
//! then from messages at doubling distances, then between the last that fitted and the first
//! that did not. Few candidates are far from the right one, so the cost depends on the budget
//! and not on the length of the conversation. Counts of one candidate are cached for the next.

/// The assumed bytes of text per token, for guessing where to start.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// Returns the smallest of `count` candidates that fits, if any: it
/// fits, and the one before it does not. The search starts at `guess`.
pub(super) fn least(count: usize, guess: usize, mut fits: impl FnMut(usize) -> bool) -> Option<usize> {
    let last = count.checked_sub(1)?;
    let mut here = guess.min(last);
    let mut step = 1;
    // Invariant: nothing up to `bad` fits, as far as is known, and `good` fits.
    let (mut bad, mut good) = if fits(here) {
        loop {
            let Some(next) = here.checked_sub(1).map(|before| before.saturating_sub(step - 1)) else {
                return Some(here);
            };
            if !fits(next) {
                break (next, here);
            }
            (here, step) = (next, step * 2);
        }
    } else {
        loop {
            if here == last {
                return None;
            }
            let next = (here + step).min(last);
            if fits(next) {
                break (here, next);
            }
            (here, step) = (next, step * 2);
        }
    };
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        if fits(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good)
}

/// Returns the first of several candidates from which a text is
/// likely to fit. `after` returns the bytes after a candidate.
pub(super) fn guess(beginnings: &[u32], tokens: u64, after: impl Fn(u32) -> u64) -> usize {
    beginnings.partition_point(|start| after(*start) > tokens.saturating_mul(BYTES_PER_TOKEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(count: usize, guess: usize, boundary: usize) -> (Option<usize>, usize) {
        let mut tries = 0;
        let found = least(count, guess, |place| {
            tries += 1;
            place >= boundary
        });
        (found, tries)
    }

    #[test]
    fn the_least_place_is_found_from_every_guess() {
        for count in 0..9 {
            for boundary in 0..=count {
                for guess in 0..=count {
                    let expected = (boundary < count).then_some(boundary);
                    assert_eq!(
                        search(count, guess, boundary).0,
                        expected,
                        "{count} {guess} {boundary}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_near_guess_is_cheap_however_many_places_there_are() {
        let (found, tries) = search(1_000_000, 500_000, 500_003);
        assert_eq!(found, Some(500_003));
        assert!(tries <= 5, "{tries}");
        assert!(search(1_000_000, 0, 999_999).1 <= 45);
        assert_eq!(search(1_000_000, 0, 0), (Some(0), 1));
    }

    #[test]
    fn results_fit_even_where_sizes_do_not_only_decrease() {
        let sizes = [9, 5, 8, 4, 6, 2, 7, 1];
        for guess in 0..sizes.len() {
            for most in 1..10 {
                let place = least(sizes.len(), guess, |place| sizes[place] <= most).unwrap();
                assert!(sizes[place] <= most && (place == 0 || sizes[place - 1] > most));
            }
        }
    }

    #[test]
    fn guess_gives_the_first_place_whose_bytes_fit_the_budget() {
        let after = |start: u32| u64::from(100 - start);
        assert_eq!(guess(&[0, 10, 40, 90], 20, after), 2);
        assert_eq!(guess(&[0, 10], 1_000, after), 0);
        assert_eq!(guess(&[0, 10], 1, after), 2);
    }
}
