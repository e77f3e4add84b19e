//! The distribution of values. Each value is counted, so that percentiles are exact and do not depend on the order of reading.

use std::collections::BTreeMap;

use chatmill_diag::cut;
use serde::{Deserialize, Serialize};

/// Distinct values, and how often each occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread(BTreeMap<u64, u64>);

/// The figures of a spread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpreadTotals {
    /// The number of values.
    pub count: u64,
    /// The sum of the values.
    pub sum: u64,
    /// The median.
    pub p50: u64,
    /// The 95th percentile.
    pub p95: u64,
    /// The largest value.
    pub max: u64,
    /// Adjacent bins that double in width: the smallest value of each, and the number of values in it.
    pub bins: Vec<(u64, u64)>,
}

impl Spread {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    /// Counts a value that occurs several times.
    pub(crate) fn add_times(&mut self, value: u64, times: u64) {
        if times > 0 {
            *self.0.entry(value).or_default() += times;
        }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The sum of the values.
    pub fn sum(&self) -> u64 {
        self.0.iter().map(|(value, times)| value * times).sum()
    }

    /// The largest value; 0 where there are no values.
    pub fn max(&self) -> u64 {
        self.0.keys().next_back().copied().unwrap_or_default()
    }

    /// The smallest value that is not exceeded by at least `percent` of the values (nearest rank); 0 where there are no values.
    pub fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.count() * percent).div_ceil(100);
        let mut seen = 0;
        for (value, times) in &self.0 {
            seen += times;
            if seen >= rank {
                return *value;
            }
        }
        0
    }

    /// The values in adjacent bins that double in width.
    pub fn bins(&self) -> Vec<(u64, u64)> {
        let Some((&smallest, &largest)) = self
            .0
            .keys()
            .next()
            .and_then(|first| Some((first, self.0.keys().next_back()?)))
        else {
            return Vec::new();
        };
        let mut bins = vec![(0, 0)];
        let mut from = 1_u64;
        while from <= largest {
            bins.push((from, 0));
            match from.checked_mul(2) {
                Some(next) => from = next,
                None => break,
            }
        }
        for (value, times) in &self.0 {
            // 0 is in the first bin, 1 in the second, 2 and 3 in the third.
            let bin = u64::BITS - value.leading_zeros();
            cut::at_mut(&mut bins, bin as usize).1 += times;
        }
        let empty = (u64::BITS - smallest.leading_zeros()) as usize;
        bins.split_off(empty)
    }

    /// Adds the values of another spread.
    pub fn merge(&mut self, other: &Self) {
        for (value, times) in &other.0 {
            self.add_times(*value, *times);
        }
    }

    /// The figures for the manifest.
    pub fn totals(&self) -> SpreadTotals {
        SpreadTotals {
            count: self.count(),
            sum: self.sum(),
            p50: self.percentile(50),
            p95: self.percentile(95),
            max: self.max(),
            bins: self.bins(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[u64]) -> Spread {
        let mut spread = Spread::default();
        for value in values {
            spread.add(*value);
        }
        spread
    }

    #[test]
    fn percentiles_are_values_that_occur() {
        let values = spread(&[10, 20, 30, 40]);
        assert_eq!(values.percentile(50), 20);
        assert_eq!(values.percentile(51), 30);
        assert_eq!(values.percentile(99), 40);
        assert_eq!(spread(&[]).percentile(50), 0);
    }

    #[test]
    fn bins_of_a_distribution_double_in_width_without_gaps() {
        let found = spread(&[0, 1, 2, 3, 4, 7, 8, 40]).bins();
        assert_eq!(found, [(0, 1), (1, 1), (2, 2), (4, 2), (8, 1), (16, 0), (32, 1)]);
        let found: Vec<u64> = spread(&[5, 9]).bins().iter().map(|(from, _)| *from).collect();
        assert_eq!(found, [4, 8]);
        assert_eq!(spread(&[]).bins(), []);
        assert_eq!(spread(&[u64::MAX]).bins().len(), 1);
    }
}
