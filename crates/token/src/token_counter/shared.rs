//! A counter that threads share.

use super::TokenCounter;
use crate::bpe::tables::Pool;
use crate::encoding::Encoding;

/// Counts texts in one encoding for any number of threads. Each call borrows an idle [`TokenCounter`], with everything that it remembers,
/// and returns it afterwards.
pub struct SharedTokenCounter {
    encoding: Encoding,
    idle: Pool<TokenCounter>,
}

impl SharedTokenCounter {
    /// A counter for this encoding. Its first use loads the vocabulary.
    pub fn new(encoding: Encoding) -> Self {
        let idle = Pool::default();
        Self { encoding, idle }
    }

    /// The name of the encoding, for example `o200k_base`.
    pub fn name(&self) -> &str {
        self.encoding.name()
    }

    /// Calls `count` with a function that counts the tokens of a text; it may be called for any number of texts.
    pub fn with<T>(&self, count: impl FnOnce(&mut dyn FnMut(&str) -> u64) -> T) -> T {
        let new = || TokenCounter::new(std::slice::from_ref(&self.encoding));
        self.idle.with(new, |counter| {
            count(&mut |text| counter.count(text).into_iter().sum())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_count_at_once_get_the_counts_of_the_encoding() {
        let encoding = crate::find("o200k_base").unwrap();
        let shared = SharedTokenCounter::new(encoding.clone());
        assert_eq!(shared.name(), "o200k_base");
        let texts = [
            "",
            "How many tokens are these?",
            "Скільки це токенів? 12345",
            "{\"a\":\n[1, 2]}",
        ];
        let expected = texts.map(|text| encoding.counter().count(text));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let counted = || shared.with(|count| texts.map(count));
                scope.spawn(move || assert_eq!(counted(), expected));
            }
        });
        let kept = shared.idle.0.lock().unwrap().len();
        assert!((1..=4).contains(&kept), "{kept}");
    }
}
