//! An endless sequence of texts of many kinds, the same in every run, for the long random tests.

/// The sequence; the number is its state.
pub(super) struct Texts(u64);

/// Blocks of letters and signs: first and last character.
const BLOCKS: [(char, char); 14] = [
    ('\u{20}', '\u{7e}'),
    ('\u{a0}', '\u{24f}'),
    ('\u{300}', '\u{36f}'),
    ('\u{391}', '\u{3c9}'),
    ('\u{400}', '\u{45f}'),
    ('\u{5d0}', '\u{5ea}'),
    ('\u{620}', '\u{669}'),
    ('\u{904}', '\u{96f}'),
    ('\u{e01}', '\u{e5b}'),
    ('\u{2000}', '\u{206f}'),
    ('\u{3040}', '\u{30ff}'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{1f300}', '\u{1faff}'),
];

const WORDS: [&str; 24] = [
    "the",
    " and",
    "Don't",
    "I'LL",
    "we've",
    "camelCase",
    "HTTPServer",
    "snake_case",
    "привіт",
    " світе",
    "Стій",
    "会议",
    "ありがとう",
    "資料",
    "한국어",
    "नमस्ते",
    "สวัสดี",
    "שלום",
    "ǅ",
    "ʰ",
    "naïve",
    "e\u{301}",
    "ſo",
    "'ſ",
];

const CODE: [&str; 20] = [
    "fn ", "let x = ", "();\n", "{\n    ", "}\n\n", "// ", "/* */", "\t\t", "=> ", "->", "0x1f", "3.14",
    "&mut ", "[0]", "'a'", "\"s\"", "::", "\r\n", "#[", "return",
];

const JSON: [&str; 16] = [
    "{\"", "\":\"", "\",\"", "\"}", "[{", "}]", "\\n", "\\\"", "\\u0041", "null", "true", "12", "-1.5e3",
    ", ", "\\\\n", "\\\\\\\"",
];

const LOOK_ALIKES: [&str; 12] = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|fim_prefix|>",
    "<|endofprompt|>",
    "<|start|>",
    "<|",
    "|>",
    "<s>",
    "</s>",
    "[INST]",
    "<|reserved_200013|>",
];

const WHITE: [&str; 14] = [
    " ", " ", "  ", "\n", "\n\n", "\r\n", "\r", "\t", "\u{a0}", "\u{3000}", "\u{2028}", "\u{85}", "        ",
    " \n \n",
];

impl Texts {
    pub(super) fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    /// A number below another.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    fn one<'w>(&mut self, of: &[&'w str]) -> &'w str {
        of[self.below(of.len())]
    }

    fn character(&mut self, (first, last): (char, char)) -> char {
        let span = (last as usize - first as usize) + 1;
        char::from_u32(first as u32 + self.below(span) as u32).unwrap_or('\u{fffd}')
    }

    /// A text of this many parts, of one kind or of all mixed.
    pub(super) fn next(&mut self, parts: usize) -> String {
        let mut text = String::new();
        let (kind, block) = (self.below(9), BLOCKS[self.below(BLOCKS.len())]);
        for _ in 0..parts {
            let kind = if kind == 8 { self.below(8) } else { kind };
            match kind {
                0 => {
                    let block = BLOCKS[self.below(BLOCKS.len())];
                    text.push(self.character(block));
                }
                1 => text.push(self.character(block)),
                2 => text.push_str(self.one(&WORDS)),
                3 => text.push_str(self.one(&CODE)),
                4 => text.push_str(self.one(&JSON)),
                5 => text.push(char::from(
                    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[self.below(64)],
                )),
                6 => text.push_str(self.one(&WHITE)),
                _ => text.push_str(self.one(&LOOK_ALIKES)),
            }
            match self.below(6) {
                0 => text.push_str(self.one(&WHITE)),
                1 => text.push_str(self.one(&["'", "'s", ".", ", ", "1", "2024", "/"])),
                _ => {}
            }
        }
        text
    }
}
