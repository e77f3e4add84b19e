use super::*;

#[test]
fn a_sink_writes_pushed_texts_and_records_the_ends_of_components() {
    let mut sink = Sink::default();
    sink.framing("{\"a\":");
    sink.json_string("x\ny", Component::Content);
    sink.framing(",\"b\":\"");
    sink.content("{\"k\":\"\n\"}", Level::JsonInJsonString, Component::Tools);
    sink.framing("\"}");
    assert_eq!(sink.text(), r#"{"a":"x\ny","b":"{\\\"k\\\":\\\"\\n\\\"}"}"#);
    assert_eq!(sink.spans().last().map(|span| span.end), Some(sink.text().len()));
    assert_eq!(sink.spans().len(), 5);
    // Neighbouring glue is one piece.
    assert_eq!(sink.runs().len(), 5);
}

#[test]
fn a_text_has_one_number_at_each_level_and_is_written_alike_every_time() {
    let text = String::from("say \"it\"");
    let mut sink = Sink::default();
    for level in [Level::Raw, Level::JsonString, Level::JsonString, Level::Raw] {
        sink.content(text.as_str(), level, Component::Content);
    }
    assert_eq!(sink.text(), "say \"it\"say \\\"it\\\"say \\\"it\\\"say \"it\"");
    let pieces: Vec<Piece> = sink.runs().iter().map(|run| run.piece).collect();
    let [raw, escaped, owned] = [Piece::Text(0), Piece::Text(1), Piece::Text(2)];
    assert_eq!(pieces, [raw, escaped, escaped, raw]);
    sink.begin();
    sink.content(text.as_str(), Level::JsonString, Component::Content);
    for _ in 0..2 {
        sink.content(text.clone(), Level::JsonString, Component::Content);
    }
    sink.content("x".repeat(MAX_OWNED_BYTES + 1), Level::Raw, Component::Content);
    let pieces: Vec<Piece> = sink.runs().iter().map(|run| run.piece).collect();
    assert_eq!(pieces, [escaped, owned, owned, Piece::Unknown]);
}

#[test]
fn escaped_text_is_remembered_up_to_a_number_of_bytes() {
    // Escaping turns its quotation mark into two bytes.
    let fills = format!("\"{}", "x".repeat(MAX_ESCAPED_BYTES - 2));
    let more = String::from("a\"b");
    let mut sink = Sink::default();
    sink.content(fills.as_str(), Level::JsonString, Component::Content);
    sink.content(more.as_str(), Level::JsonString, Component::Content);
    sink.content(fills.as_str(), Level::JsonString, Component::Content);
    let pieces: Vec<Piece> = sink.runs().iter().map(|run| run.piece).collect();
    assert_eq!(pieces, [Piece::Text(0), Piece::Unknown, Piece::Text(0)]);
}

#[test]
fn contents_beyond_max_pieces_are_unknown() {
    let text = "x".repeat(MAX_PIECES + 1);
    let mut sink = Sink::default();
    for at in 0..=MAX_PIECES {
        sink.literal(text.get(at..=at).unwrap(), Component::Content);
    }
    let runs = sink.runs();
    let last = u32::try_from(MAX_PIECES - 1).unwrap();
    assert_eq!(runs[MAX_PIECES - 1].piece, Piece::Text(last));
    assert_eq!(runs[MAX_PIECES].piece, Piece::Unknown);
    let mut sink = Sink::default();
    for number in 0..=MAX_OWNED_PIECES {
        sink.literal(number.to_string(), Component::Content);
    }
    let runs = sink.runs();
    let last = u32::try_from(MAX_OWNED_PIECES - 1).unwrap();
    assert_eq!(runs[MAX_OWNED_PIECES - 1].piece, Piece::Text(last));
    assert_eq!(runs[MAX_OWNED_PIECES].piece, Piece::Unknown);
}

#[test]
fn glue_beyond_max_glue_pieces_is_unknown() {
    let mut sink = Sink::default();
    let mut seen = std::collections::BTreeSet::new();
    // Each sequence of fourteen choices is other glue, and so is each of its beginnings.
    for number in 0..MAX_GLUE_PIECES {
        sink.begin();
        for bit in 0..14 {
            sink.framing(if number >> bit & 1 == 0 { "a" } else { "b" });
        }
        assert_eq!(sink.text().len(), 14);
        for run in sink.runs() {
            if let Piece::Glue(number) = run.piece {
                seen.insert(number);
            }
        }
    }
    assert_eq!(seen.last().map(|last| *last as usize), Some(MAX_GLUE_PIECES));
    sink.begin();
    sink.framing("c");
    assert_eq!(sink.runs()[0].piece, Piece::Unknown);
}

#[test]
fn glue_that_meets_again_has_the_same_number_and_other_neighbours_another() {
    let mut sink = Sink::default();
    let mut number = |glue: &[&'static str]| {
        sink.begin();
        for text in glue {
            sink.framing(text);
        }
        let runs = sink.runs();
        assert_eq!(runs.len(), 1);
        (runs[0].piece, sink.text().to_owned())
    };
    let (one, text) = number(&["{", "\"a\":"]);
    assert_eq!(text, "{\"a\":");
    assert_eq!(number(&["{", "\"a\":"]).0, one);
    assert_ne!(number(&["{"]).0, one);
    assert_ne!(number(&["\"a\":"]).0, one);
}

#[test]
fn glue_joins_up_to_a_length_and_only_in_its_own_span() {
    let mut sink = Sink::default();
    for _ in 0..MAX_GLUE_BYTES {
        sink.framing("x");
    }
    assert_eq!(sink.runs().len(), 1);
    sink.framing("x");
    assert_eq!(sink.runs().len(), 2);
    sink.set_speaker(Speaker::Perspective);
    sink.framing("x");
    sink.glue("x", Component::Names);
    assert_eq!((sink.runs().len(), sink.spans().len()), (4, 3));
}

#[test]
fn a_rendering_of_the_limit_is_whole_and_one_byte_more_is_too_long() {
    for (text, is_oversize) in [("12345", false), ("123456", true), ("\n\n\n", true)] {
        let mut sink = Sink::new(SinkBuffers::default(), 5);
        sink.content(text, Level::JsonString, Component::Content);
        assert_eq!(sink.is_oversize(), is_oversize, "{text:?}");
        sink.begin();
        assert!(!sink.is_oversize());
    }
}

#[test]
fn what_is_written_after_a_mark_can_be_taken_back() {
    let mut sink = Sink::default();
    sink.framing("[");
    let (mark, spans, runs) = (sink.mark(), sink.spans().to_vec(), sink.runs().to_vec());
    sink.framing("{");
    sink.literal("x", Component::Content);
    sink.rewind(mark);
    assert_eq!(sink.text(), "[");
    assert_eq!((sink.spans(), sink.runs()), (&spans[..], &runs[..]));
}

#[test]
fn a_copy_has_the_text_and_the_spans_of_its_original() {
    let mut original = Sink::default();
    original.control("<|x|>");
    original.set_speaker(Speaker::Perspective);
    original.json_string("a\nb", Component::Content);
    let mut copy = Sink::default();
    copy.framing("gone");
    copy.copy(&original);
    assert_eq!(copy.text(), original.text());
    assert_eq!(copy.spans(), original.spans());
}

#[test]
fn each_control_token_has_its_own_span() {
    let mut sink = Sink::default();
    sink.framing("a");
    sink.control("<|x|>");
    sink.control("<|x|>");
    sink.framing("b");
    sink.framing("c");
    assert_eq!(sink.text(), "a<|x|><|x|>bc");
    let seen: Vec<_> = sink.spans().iter().map(|span| (span.end, span.control)).collect();
    assert_eq!(seen, [(1, false), (6, true), (11, true), (13, false)]);
}

#[test]
fn what_escaping_does_not_change_is_one_piece_at_every_level() {
    let text = String::from("plain");
    let mut sink = Sink::default();
    for level in [Level::JsonInJsonString, Level::Raw, Level::JsonString] {
        sink.content(text.as_str(), level, Component::Content);
    }
    assert_eq!(sink.text(), "plainplainplain");
    assert!(sink.runs().iter().all(|run| run.piece == Piece::Text(0)));
}

#[test]
fn glue_is_written_whether_it_is_remembered_or_not() {
    let mut sink = Sink::default();
    let mut has_split = false;
    for number in 0..2 * MAX_GLUE_PIECES {
        sink.begin();
        let mut expected = String::new();
        for bit in 0..15 {
            let glue = if number >> bit & 1 == 0 { "no " } else { "yes " };
            sink.framing(glue);
            expected.push_str(glue);
        }
        assert_eq!(sink.text(), expected);
        has_split |= sink.runs().len() > 1;
        assert_eq!(has_split, sink.buffers.glue.len() == MAX_GLUE_PIECES);
    }
    assert!(has_split);
}

#[test]
fn owned_texts_beyond_the_limit_have_no_number() {
    let mut sink = Sink::default();
    for number in 0..=MAX_OWNED_PIECES {
        sink.begin();
        sink.literal(number.to_string(), Component::Meta);
        assert_eq!(sink.text(), number.to_string());
        let is_known = sink.runs()[0].piece != Piece::Unknown;
        assert_eq!(is_known, number < MAX_OWNED_PIECES, "{number}");
    }
}

#[test]
fn borrowed_texts_beyond_max_pieces_have_no_number() {
    let text = "x".repeat(MAX_PIECES + 1);
    let mut sink = Sink::default();
    for start in 0..=MAX_PIECES {
        sink.begin();
        sink.literal(text.split_at(start).1.split_at(1).0, Component::Meta);
        let is_known = sink.runs()[0].piece != Piece::Unknown;
        assert_eq!(is_known, start < MAX_PIECES, "{start}");
    }
}

#[test]
fn numbers_of_texts_hold_for_one_conversation_and_those_of_glue_for_all() {
    let sink = Sink::default();
    let (glue, text) = (sink.glue_identity().clone(), sink.text_identity().clone());
    let sink = Sink::new(sink.into_buffers(), usize::MAX);
    assert_eq!(*sink.glue_identity(), glue);
    assert_ne!(*sink.text_identity(), text);
}

#[test]
fn the_turns_of_messages_are_known_by_their_places_and_go_with_what_is_removed() {
    let mut sink = Sink::default();
    sink.framing("<");
    sink.answer(Speaker::Other, Some(4));
    sink.literal("ab", Component::Content);
    sink.set_speaker(Speaker::Other);
    sink.framing("><");
    let mark = sink.mark();
    sink.answer(Speaker::Perspective, Some(5));
    sink.literal("c", Component::Content);
    assert_eq!(sink.turn_starts(), [(1, Some(4)), (3, None), (5, Some(5))]);
    let mut copy = Sink::default();
    copy.copy(&sink);
    assert_eq!(copy.turn_starts(), sink.turn_starts());
    sink.set_speaker(Speaker::Other);
    sink.rewind(mark);
    sink.answer(Speaker::Perspective, Some(6));
    sink.literal("d", Component::Content);
    assert_eq!(sink.text(), "<ab><d");
    assert_eq!(sink.turn_starts().last(), Some(&(5, Some(6))));
    sink.begin();
    assert!(sink.turn_starts().is_empty());
}
