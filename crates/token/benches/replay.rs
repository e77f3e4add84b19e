#![allow(clippy::all, clippy::pedantic, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::disallowed_methods, missing_docs)]
use chatmill_model::rope::{Component, ComponentSpan, Voice};
use chatmill_token::Tallier;
use std::time::Instant;
fn main() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let data = std::fs::read(std::env::var("CHATMILL_DUMP").unwrap()).unwrap();
    let mut at = 0;
    let u32_at = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap()) as usize;
    let mut texts: Vec<(&str, Vec<ComponentSpan>)> = Vec::new();
    let components = [Component::Content, Component::Names, Component::Framing, Component::Tools, Component::Replies, Component::Meta];
    while at < data.len() {
        let (bytes, spans) = (u32_at(at), u32_at(at + 4));
        at += 8;
        let text = std::str::from_utf8(&data[at..at + bytes]).unwrap();
        at += bytes;
        let mut list = Vec::new();
        for _ in 0..spans {
            let bits = data[at + 4];
            list.push(ComponentSpan { end: u32_at(at), component: components[(bits & 7) as usize], voice: if bits >> 3 & 1 == 1 { Voice::Perspective } else { Voice::Other }, control: bits >> 4 & 1 == 1, requests: 1 });
            at += 5;
        }
        texts.push((text, list));
    }
    let total: usize = texts.iter().map(|t| t.0.len()).sum();
    let begun = Instant::now();
    let encodings: Vec<_> = ["o200k_base", "cl100k_base"].iter().map(|n| chatmill_token::find(n).unwrap().clone()).collect();
    let counters: Vec<_> = encodings.iter().map(|e| e.counter()).collect();
    println!("load {:.3}", begun.elapsed().as_secs_f64());
    let cpu = || std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(" ").next().unwrap().parse::<f64>().unwrap() / 1e9;
    let time = |name: &str, f: &mut dyn FnMut(&str, &[ComponentSpan]) -> u64| {
        let begun = cpu();
        let mut tokens = 0;
        for (text, spans) in &texts { tokens += f(text, spans); }
        let s = cpu() - begun;
        println!("{name:20} {s:7.3} s {:7.1} MB/s  {tokens}", total as f64 / 1e6 / s);
        s
    };
    for _ in 0..if only == "tallier" { 5 } else { 2 } {
        let mut tallier = Tallier::new(&encodings);
        time("tallier", &mut |t, s| tallier.tally(t, s).iter().map(|t| t.tokens).sum());
    }
    if only == "tallier" { return; }
    let mut sum = [0u64; 8];
    time("memory read", &mut |t, _| { let mut h = 0u64; for c in t.as_bytes().chunks_exact(8) { h ^= u64::from_le_bytes(c.try_into().unwrap()); } sum[0] ^= h; 0 });
    time("counter", &mut |t, s| counters.iter().map(|c| c.tally(t, s).tokens).sum());
    if only == "own" { return; }
    // every 8th for tiktoken
    let mut n = 0;
    let s = time("tiktoken/8", &mut |t, s| { n += 1; if n % 8 == 0 { encodings.iter().map(|e| e.judge().tokens(t, s).unwrap()).sum() } else { 0 } });
    println!("tiktoken about {:.2}", s * 8.0);
}
