//! Normalizers: changes to a whole text before it is cut.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc, is_nfc_quick, is_nfkc, is_nfkc_quick};

use crate::split::finder::Finder;
use crate::steps::aligned::Aligned;

/// One change of a text.
pub(crate) enum Normalizer {
    /// A composed form of Unicode.
    Form(NormalizationForm),
    /// This text before every text that is not empty.
    Prepend(String),
    /// This text instead of each match.
    Replace(Finder, String),
    /// Small letters.
    Lowercase,
}

/// A composed form of Unicode.
#[derive(Clone, Copy)]
pub(crate) enum NormalizationForm {
    Nfc,
    Nfkc,
}

impl Normalizer {
    pub(crate) fn apply(&self, from: &Aligned) -> Aligned {
        let mut to = Aligned::default();
        match self {
            Self::Form(form) => form.apply(from, &mut to),
            Self::Prepend(words) => {
                if !from.text.is_empty() {
                    to.push(words, from.origin(0));
                }
                to.copy(from, 0..from.text.len());
            }
            Self::Replace(finder, words) => finder.each(&from.text, &mut |range, is_match| {
                if is_match {
                    to.push(words, from.origin(range.start));
                } else {
                    to.copy(from, range);
                }
            }),
            Self::Lowercase => {
                for (at, character) in from.text.char_indices() {
                    to.push(&character.to_lowercase().to_string(), from.origin(at));
                }
            }
        }
        to
    }

    /// Whether it certainly leaves a text unchanged; only forms can be certain.
    pub(crate) fn leaves(&self, text: &str) -> bool {
        match self {
            Self::Form(_) if text.is_ascii() => true,
            Self::Form(NormalizationForm::Nfc) => is_nfc(text),
            Self::Form(NormalizationForm::Nfkc) => is_nfkc(text),
            Self::Prepend(_) | Self::Replace(..) | Self::Lowercase => false,
        }
    }
}

impl NormalizationForm {
    /// Whether a character is unchanged and does not compose with one before it.
    fn is_stable(self, character: char) -> bool {
        let quick = || match self {
            Self::Nfc => is_nfc_quick(std::iter::once(character)),
            Self::Nfkc => is_nfkc_quick(std::iter::once(character)),
        };
        character.is_ascii() || canonical_combining_class(character) == 0 && quick() == IsNormalized::Yes
    }

    /// Composes the characters between two stable ones. The results come from the characters of the original, one by one; if there are more
    /// results, the rest come from the last character.
    fn apply(self, from: &Aligned, to: &mut Aligned) {
        let mut characters = from.text.char_indices().peekable();
        let (mut segment, mut starts) = (String::new(), Vec::new());
        while let Some((start, character)) = characters.next() {
            let goes_on = |next: &(usize, char)| !self.is_stable(next.1);
            if characters.peek().is_none_or(|next| !goes_on(next)) && self.is_stable(character) {
                to.copy(from, start..start + character.len_utf8());
                continue;
            }
            segment.clear();
            segment.push(character);
            starts.clear();
            starts.push(start);
            while let Some((start, character)) = characters.next_if(goes_on) {
                segment.push(character);
                starts.push(start);
            }
            let (mut origins, mut start) = (starts.iter(), start);
            let mut add = |composed: char| {
                start = origins.next().copied().unwrap_or(start);
                to.push(composed.encode_utf8(&mut [0; 4]), from.origin(start));
            };
            match self {
                Self::Nfc => segment.nfc().for_each(&mut add),
                Self::Nfkc => segment.nfkc().for_each(&mut add),
            }
        }
    }
}
