use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use chatmill_link::{IndexFull, Ngrams, each_word};

fn index(length: usize, texts: &[&str]) -> Ngrams {
    let mut index = Ngrams::new(NonZeroUsize::new(length).unwrap(), 1000);
    for (owner, text) in (0..).zip(texts) {
        index.add_whole(text, owner).unwrap();
    }
    index
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, &mut |word| words.push(word.to_owned()));
    words
}

#[test]
fn words_are_letters_and_digits_in_small_compatible_letters() {
    for (text, expected) in [
        ("The TIDE's at 9:30, isn't_it?", "the tide s at 9 30 isn t it"),
        ("ＡＢＣ ﬁne cafe\u{301} ΟΔΟΣ", "abc fine café οδος"),
        ("Ebbe \u{fdfa}", "ebbe صلى الله عليه وسلم"),
        ("a潮汐b ไทย", "a 潮 汐 b ไ ท ย"),
        (" -- ", ""),
    ] {
        assert_eq!(words(text).join(" "), expected);
    }
}

#[test]
fn a_run_is_found_whole_and_in_order_only() {
    let index = index(3, &["one two three four", "two three four five"]);
    for (text, owner) in [
        ("ONE, two; three", Some(0)),
        ("say: two three four!", Some(0)),
        ("three four five", Some(1)),
        ("one two", None),
        ("three two one", None),
        ("one two x three four", None),
        ("four two three", None),
        ("four five one two", None),
    ] {
        assert_eq!(index.find(text), owner, "{text}");
    }
}

#[test]
fn short_texts_are_found_where_all_their_words_are_equal() {
    let index = index(3, &["Yes or no?", "High tide?", "", "high TIDE"]);
    assert_eq!(index.find_whole("high tide"), Some(1));
    for other in ["high", "tide high", "high tide today", "yes or no", "", "ebb"] {
        assert_eq!(index.find_whole(other), None, "{other}");
    }
}

#[test]
fn texts_beyond_the_limit_are_refused_and_leave_the_others() {
    let mut index = Ngrams::new(NonZeroUsize::new(2).unwrap(), 4);
    index.add("one two", 7).unwrap();
    assert_eq!(index.add("three four five", 8), Err(IndexFull));
    assert_eq!((index.words(), index.find("three four")), (2, None));
    index.add("three four", 9).unwrap();
    assert_eq!(
        (index.find("one two"), index.find("three four")),
        (Some(7), Some(9))
    );
    assert_eq!(index.add("six", 10), Err(IndexFull));
}

#[test]
fn drawn_texts_share_the_runs_that_sets_of_lists_of_words_share() {
    let mut random = chatmill_drawn::random(39);
    for _ in 0..chatmill_drawn::cases(200) {
        let mut drawn = |most: usize| -> String {
            let length = random.below(most);
            (0..length)
                .map(|_| ["a ", "b ", "c. ", "潮"][random.below(4)])
                .collect()
        };
        let (texts, other): (Vec<String>, String) = ((0..4).map(|_| drawn(9)).collect(), drawn(30));
        let runs =
            |text: &String| -> BTreeSet<Vec<String>> { words(text).windows(3).map(<[_]>::to_vec).collect() };
        let index = index(3, &texts.iter().map(String::as_str).collect::<Vec<_>>());
        let known: BTreeSet<_> = texts.iter().flat_map(runs).collect();
        let expected: BTreeSet<_> = runs(&other).intersection(&known).cloned().collect();
        let mut found = BTreeSet::new();
        let whole = index.each_run(&other, &mut |run| {
            found.insert(run);
            ControlFlow::<()>::Continue(())
        });
        assert!(whole.is_continue());
        assert_eq!(found.len(), expected.len(), "{texts:?} {other:?}");
        let first = words(&other)
            .windows(3)
            .map(<[_]>::to_vec)
            .find(|run| known.contains(run));
        let owner = first.map(|run| texts.iter().position(|text| runs(text).contains(&run)).unwrap());
        assert_eq!(
            index.find(&other).map(|owner| owner as usize),
            owner,
            "{texts:?} {other:?}"
        );
    }
}
