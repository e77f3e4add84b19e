//! Properties of the generators on which other tests rely.

use chatmill_drawn::{Random, cases, some_of};

#[test]
fn some_numbers_are_some_of_them_with_both_ends_and_few_enough_are_all() {
    let mut some: Vec<usize> = some_of(5..1_000, 10).collect();
    some.sort_unstable();
    assert!(some.is_sorted_by(|one, next| one < next), "{some:?}");
    assert!((10..=14).contains(&(some.len() / cases(1) as usize)), "{some:?}");
    assert_eq!((some.first(), some.last()), (Some(&5), Some(&999)));
    let mut all: Vec<usize> = some_of(3..9, 100).collect();
    all.sort_unstable();
    assert_eq!(all, [3, 4, 5, 6, 7, 8]);
    assert_eq!(some_of(4..4, 10).count(), 0);
}

#[test]
fn equal_seeds_give_equal_sequences_and_other_seeds_others() {
    let draw = |seed| {
        let mut random = Random::new(seed);
        [random.next(), random.next(), random.next()]
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    assert_ne!(draw(0), draw(1));
}

#[test]
fn every_number_below_the_end_comes_up() {
    let mut random = Random::new(3);
    let mut seen = [0_u32; 6];
    for _ in 0..600 {
        seen[random.below(6)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
    assert_eq!(random.below(0), 0);
}
