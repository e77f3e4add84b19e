//! Benchmark of token counting: twelve dialects, and then all of them, of the same conversations in two encodings,
//! counted in three ways in one process.
//!
//! `just bench-counting` reads the JSON lines of group chats in the files that `CHATMILL_CORPUS` names, separated by
//! colons; `mixed.py` in this folder makes such a file from the text files of any machine. Without the variable,
//! conversations are generated. Caches are empty at the start of each way. Compare the ratios; the seconds are
//! processor seconds of one machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs
)]

use chatmill_dialect::{Policy, View, auto_perspective};
use chatmill_model::{ComponentSpan, Linked};
use chatmill_testkit::chats::group_chat;
use chatmill_token::{Encoding, TokenCounter};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rustix::time::{ClockId, clock_gettime};

const DIALECTS: [&str; 12] = [
    "group-chat",
    "gryag-gemini",
    "gryag-compact",
    "suna-llm",
    "suna-list",
    "suna-cached",
    "jaibber-context",
    "openai-chat",
    "anthropic-messages",
    "gemini-contents",
    "bedrock-converse",
    "hf-messages",
];

/// The conversations of each corpus, with its name.
fn corpora() -> Vec<(String, Vec<String>)> {
    if let Ok(paths) = std::env::var("CHATMILL_CORPUS") {
        let read = |path: &str| {
            let text = std::fs::read_to_string(path).expect("the corpus can be read");
            (path.to_owned(), text.lines().map(str::to_owned).collect())
        };
        return paths.split(':').map(read).collect();
    }
    let mut runner = TestRunner::deterministic();
    let lines = (0..400).map(|_| group_chat().new_tree(&mut runner).unwrap().current().to_string());
    vec![("invented".to_owned(), lines.collect())]
}

fn read(line: &str) -> Linked {
    chatmill_testkit::conversations::read("group-chat", line)
}

/// Renders every conversation in every dialect, one conversation after the other as in a run.
fn each_rendering(
    conversations: &[Linked],
    dialects: &[&str],
    visit: &mut dyn FnMut(&str, &[ComponentSpan]),
) {
    let policy = Policy::default();
    for linked in conversations {
        for id in dialects {
            let dialect = chatmill_dialect::find(id).unwrap();
            let view = View::whole(linked, auto_perspective(linked), &policy);
            dialect.render_each(&view, &mut |sink, _| visit(sink.text(), sink.spans()));
        }
    }
}

/// The processor time of this thread in seconds, which other programs affect less than wall-clock time.
fn seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The median of three measurements; one that takes a minute is done only once.
fn middle(mut measure: impl FnMut() -> (f64, u64)) -> (f64, u64) {
    let mut measured = [measure(), measure(), measure()];
    measured.sort_by(|one, other| one.0.total_cmp(&other.0));
    measured[1]
}

/// Conversations and the dialects in which they are rendered.
struct Bench<'b> {
    conversations: &'b [Linked],
    dialects: &'b [&'b str],
    /// The processor seconds of rendering alone, and the number of rendered bytes.
    bare: f64,
    rendered: usize,
}

impl<'b> Bench<'b> {
    fn new(conversations: &'b [Linked], dialects: &'b [&'b str]) -> Self {
        let mut bench = Self {
            conversations,
            dialects,
            bare: 0.0,
            rendered: 0,
        };
        let mut rendered = 0;
        println!("\n{} dialects", dialects.len());
        let (bare, _) = middle(|| {
            rendered = 0;
            bench.time("render only", &mut |text, _| {
                rendered += text.len();
                0
            })
        });
        (bench.bare, bench.rendered) = (bare, rendered);
        bench
    }

    /// The processor seconds of counting alone, and the number of tokens.
    fn time(&self, name: &str, visit: &mut dyn FnMut(&str, &[ComponentSpan]) -> u64) -> (f64, u64) {
        let (begun, mut tokens) = (seconds(), 0);
        each_rendering(self.conversations, self.dialects, &mut |text, spans| {
            tokens += visit(text, spans);
        });
        let seconds = seconds() - begun;
        println!("  {name:34} {seconds:8.3} s   {tokens:>12} tokens");
        (seconds - self.bare, tokens)
    }

    fn token_counter(&self, encodings: &[Encoding]) -> (f64, u64) {
        middle(|| {
            let mut tokens_of = TokenCounter::new(encodings);
            self.time("token counter", &mut |text, spans| {
                tokens_of
                    .token_counts(text, spans)
                    .iter()
                    .map(|token_counts| token_counts.tokens)
                    .sum()
            })
        })
    }

    fn counter(&self, encodings: &[Encoding]) -> (f64, u64) {
        let counters: Vec<_> = encodings.iter().map(Encoding::counter).collect();
        self.time("own counter on every rendering", &mut |text, spans| {
            let tokens = counters
                .iter()
                .map(|counter| counter.token_counts(text, spans).tokens);
            tokens.sum()
        })
    }

    fn reference(&self, encodings: &[Encoding]) -> (f64, u64) {
        let judges: Vec<_> = encodings.iter().map(Encoding::reference).collect();
        self.time("tiktoken-rs on every rendering", &mut |text, spans| {
            judges
                .iter()
                .map(|judge| judge.tokens(text, spans).unwrap())
                .sum()
        })
    }

    /// Times other counters, if they are built in. Their counts are printed but not asserted.
    #[cfg(feature = "peers")]
    fn peers(&self, quick: f64) {
        let bpe = [bpe_openai::o200k_base(), bpe_openai::cl100k_base()];
        let (seconds, _) = self.time("bpe-openai on every rendering", &mut |text, _| {
            bpe.iter().map(|counter| counter.count(text) as u64).sum()
        });
        println!("  bpe-openai / token counter = {:.1}", seconds / quick);
        let toktok = ["o200k_base", "cl100k_base"].map(|name| toktok::Tokenizer::builtin(name).unwrap());
        let (seconds, _) = self.time("toktok-rs on every rendering", &mut |text, _| {
            toktok
                .iter()
                .map(|counter| counter.count(text.as_bytes()) as u64)
                .sum()
        });
        println!("  toktok-rs / token counter = {:.1}", seconds / quick);
    }
}

fn main() {
    let encodings: Vec<Encoding> = ["o200k_base", "cl100k_base"]
        .iter()
        .map(|name| chatmill_token::find(name).unwrap().clone())
        .collect();
    // The vocabularies are loaded before time is measured.
    for encoding in &encodings {
        assert_eq!(
            encoding.reference().count("warm"),
            Some(encoding.counter().count("warm"))
        );
    }
    let all: Vec<&str> = chatmill_dialect::DIALECTS
        .iter()
        .map(|dialect| dialect.id())
        .collect();
    for (name, lines) in corpora() {
        let input = lines.iter().map(String::len).sum::<usize>() as f64 / 1e6;
        let conversations: Vec<Linked> = lines.iter().map(|line| read(line)).collect();
        println!("\n{name}: {input:.1} MB, {} conversations", conversations.len());
        let dozen = Bench::new(&conversations, &DIALECTS);
        let (quick, batched) = dozen.token_counter(&encodings);
        let (plain, counted) = dozen.counter(&encodings);
        let (reference, judged) = dozen.reference(&encodings);
        assert!(
            batched == counted && counted == judged,
            "every way counts the same"
        );
        println!(
            "  counting alone: tiktoken-rs / token counter = {:.1}, own counter / token counter = {:.1}",
            reference / quick,
            plain / quick
        );
        println!(
            "  token counter: {:.0} MB of input a second, {:.0} MB rendered",
            input / quick,
            dozen.rendered as f64 / 1e6 / quick
        );
        #[cfg(feature = "peers")]
        dozen.peers(quick);
        let every = Bench::new(&conversations, &all);
        let (more, batched) = every.token_counter(&encodings);
        let (_, counted) = every.counter(&encodings);
        assert_eq!(batched, counted, "every way counts the same");
        println!(
            "  {} dialects / {} dialects: counting {:.2}, rendered bytes {:.2}",
            all.len(),
            DIALECTS.len(),
            more / quick,
            every.rendered as f64 / dozen.rendered as f64
        );
    }
}
