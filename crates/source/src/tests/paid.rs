//! What answers cost: the counts of caches, the tiers and the costs that samples log.

use chatmill_model::{Cost, ServiceTier, Usage};

use super::exports::read;
use crate::ReadOptions;

/// The logged usages of a sample, in the order of its messages.
fn usages(source: &str, sample: &str) -> Vec<Usage> {
    let conversation = read(source, sample, ReadOptions::default()).conversation.unwrap();
    let usages = conversation.messages.iter().filter_map(|message| message.usage);
    usages.collect()
}

#[test]
fn tokens_that_were_written_to_a_cache_are_read_in_every_format() {
    type Writes = (Option<u64>, Option<u64>);
    let samples: [(&str, &str, &[Writes]); 7] = [
        ("request-log", "anthropic-pieces.json", &[(Some(10), Some(20))]),
        ("request-log", "answer-of-langchain.json", &[(Some(30), None)]),
        (
            "request-log",
            "without-text-metadata-text.json",
            &[(Some(300), None)],
        ),
        (
            "request-log",
            "without-text-metadata-caches.json",
            &[(Some(300), None)],
        ),
        ("langfuse", "usage.json", &[(Some(100), Some(200))]),
        (
            "pydantic-ai",
            "messages.json",
            &[(Some(10), Some(20)), (None, None)],
        ),
        (
            "atif",
            "trajectory.json",
            &[(Some(5), Some(10)), (Some(40), None)],
        ),
    ];
    for (source, sample, writes) in samples {
        let usages = usages(source, sample);
        let read: Vec<_> = usages
            .iter()
            .map(|usage| (usage.cache_write, usage.cache_write_1h))
            .collect();
        assert_eq!(read, writes, "{source}/{sample}");
    }
}

#[test]
fn a_batch_of_vertex_is_charged_as_one_whatever_its_answers_say() {
    let usages = usages("request-log", "batch-of-vertex.json");
    assert_eq!(usages.first().unwrap().tier, Some(ServiceTier::Batch));
}

#[test]
fn the_cost_of_an_answer_is_read_where_programs_log_it() {
    for (source, sample, cost) in [
        ("langfuse", "usage.json", 0.012),
        ("pydantic-ai", "messages.json", 0.0012),
        ("cline", "calls.json", 0.01),
    ] {
        let usages = usages(source, sample);
        let read = usages.first().unwrap().cost.map(Cost::amount);
        assert_eq!(read, Some(cost), "{source}/{sample}");
    }
}
