//! All renderings of a conversation share one sink and one counter, which are reused for the next conversation. This
//! changes no rendering and no count.

use chatmill_dialect::{DIALECTS, Policy, TextArena, Transcript, View, auto_perspective};
use chatmill_model::{ComponentSpan, Sink, SinkBuffers};
use chatmill_testkit::conversations::cases;
use chatmill_token::{ENCODINGS, TokenCounter};

#[test]
fn renderings_and_counts_do_not_depend_on_earlier_uses_of_a_sink() {
    let policy = Policy::default();
    let mut counter = TokenCounter::new(ENCODINGS);
    let mut buffers = SinkBuffers::default();
    let mut counts_by_encoding = Vec::new();
    let mut compared = 0;
    for (name, linked) in cases() {
        let made = TextArena::default();
        let mut sink = Sink::new(buffers, usize::MAX);
        for dialect in DIALECTS {
            let perspective = auto_perspective(&linked).filter(|_| !dialect.is_neutral());
            for dialect in dialect.about().profiles {
                let view = View::whole(&linked, perspective, &policy);
                let mut alone: Vec<(String, Vec<ComponentSpan>)> = Vec::new();
                dialect.render_each(&view, &mut |sink, _| {
                    alone.push((sink.text().to_owned(), sink.spans().to_vec()));
                });
                let mut alone = alone.into_iter();
                let transcript = Transcript::new(view, &made);
                let mut renderings = dialect.renderings(&transcript);
                while renderings.next(&mut sink).is_some() {
                    let (text, spans) = alone.next().unwrap();
                    assert_eq!(sink.text(), text, "{name} in {}", dialect.id());
                    assert_eq!(sink.spans(), spans, "{name} in {}", dialect.id());
                    counter.count_sink(&sink, &mut counts_by_encoding);
                    for (encoding, token_counts) in ENCODINGS.iter().zip(&counts_by_encoding) {
                        assert_eq!(
                            *token_counts,
                            encoding.counter().token_counts(&text, &spans),
                            "{name}: {text}"
                        );
                    }
                    compared += 1;
                }
                assert!(alone.next().is_none());
            }
        }
        buffers = sink.into_buffers();
    }
    assert!(compared > 1_000, "{compared}");
}
