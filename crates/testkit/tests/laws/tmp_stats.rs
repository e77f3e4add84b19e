use chatmill_dialect::{Policy, View, auto_perspective, find};
use chatmill_model::{Piece, Sink, SinkBuffers};
#[test]
#[ignore = "x"]
fn tmp_stats() {
    let text = std::fs::read_to_string("/tmp/b/g20.jsonl").unwrap();
    let policy = Policy::default();
    let mut stats: std::collections::BTreeMap<&str, [u64; 8]> = Default::default();
    let mut buffers = SinkBuffers::default();
    let mut samples: std::collections::BTreeMap<&str, std::collections::BTreeMap<String, u64>> = Default::default();
    for line in text.lines().take(60) {
        let Some(linked) = chatmill_testkit::conversations::try_read("group-chat", line) else { continue };
        let mut sink = Sink::new(buffers, usize::MAX);
        for id in ["group-chat","gryag-gemini","gryag-compact","suna-llm","suna-list","suna-cached","jaibber-context","openai-chat","anthropic-messages","gemini-contents","bedrock-converse","hf-messages"] {
            let dialect = find(id).unwrap();
            let view = View::whole(&linked, auto_perspective(&linked).filter(|_| !dialect.about().neutral), &policy);
            dialect.render(&view, &mut sink, &mut |sink, r| {
                let s = stats.entry(id).or_default();
                s[6] += u64::from(r.messages_rendered);
                s[7] += sink.text().len() as u64;
                for ((text, span), run) in sink.pushes().zip(sink.runs()) {
                    match run.piece {
                        Piece::Glue(_) => s[0] += 1,
                        Piece::Text(_) => s[1] += 1,
                        Piece::Unknown => { s[2] += 1; s[3] += text.len() as u64;
                          *samples.entry(id).or_default().entry(format!("{:?} {}", span.component, &text.chars().take(24).collect::<String>())).or_default() += 1; }
                    }
                }
                sink.begin();
            });
        }
        buffers = sink.into_buffers();
    }
    for (id, s) in stats { println!("{id:20} messages {} glue {:.2} text {:.2} unknown {:.2} ({} bytes of {})", s[6], s[0] as f64/s[6] as f64, s[1] as f64/s[6] as f64, s[2] as f64/s[6] as f64, s[3], s[7]);
      let mut v: Vec<_> = samples.remove(id).unwrap_or_default().into_iter().collect(); v.sort_by_key(|x| std::cmp::Reverse(x.1)); for x in v.iter().take(6) { println!("      {:?}", x); } }
}
