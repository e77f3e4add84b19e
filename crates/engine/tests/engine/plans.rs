//! Plans: requests that are resolved, and those that are refused before anything is read.

use std::path::Path;

use chatmill_engine::Plan;
use chatmill_engine::pipeline::parse;

use crate::desk::{Desk, request};

/// The plan over `a.jsonl` and `b.jsonl` of a desk, with more lines in its pipeline.
fn plan(desk: &Desk, more: &str) -> Result<Plan, String> {
    let inputs = if more.contains("[[input]]") {
        ""
    } else {
        "[[input]]\npath = \"*.jsonl\"\n"
    };
    let text = format!("name = \"n\"\n{inputs}[output]\npath = \"out\"\n{more}");
    let pipeline = parse(&text, &[], Path::new("p.toml")).map_err(|error| error.to_string())?;
    let folder = desk.path("");
    Plan::resolve(pipeline, Path::new(&folder), None).map_err(|error| error.to_string())
}

fn desk() -> Desk {
    Desk::new(&[("a.jsonl", &request("a")), ("b.jsonl", &request("b"))])
}

fn names(plan: &Plan) -> Vec<String> {
    plan.inputs
        .iter()
        .map(|planned| planned.name().into_owned())
        .collect()
}

#[test]
fn a_request_that_cannot_be_met_is_refused_with_its_key() {
    let desk = desk();
    for (more, expected) in [
        ("[render]\ndialects = []\n", "render.dialects: the list is empty"),
        (
            "[render]\ndialects = [\"openai-chatt\"]\n",
            "did you mean `openai-chat`?",
        ),
        (
            "[count]\nencodings = [\"o200k\"]\n",
            "count.encodings: there is no encoding named `o200k`",
        ),
        (
            "[limits]\nmax_reject_ratio = 1.5\n",
            "limits.max_reject_ratio: it must lie between 0 and 1",
        ),
        (
            "[dedup]\nthreshold = 0.2\n",
            "dedup.threshold: it must lie between 0.5 and 1",
        ),
        ("[limits]\ndepth = 1000000\n", "limits.depth: it must be"),
        ("[perspective]\nas = []\n", "perspective.as: the list is empty"),
        (
            "[[input]]\npath = \"-\"\n",
            "input.path: a run reads its inputs more than once",
        ),
        (
            "[[input]]\npath = \"a.jsonl\"\nsource = \"openai-message\"\n",
            "did you mean `openai-messages`?",
        ),
        (
            "[[input]]\npath = \"a.jsonl\"\nsource = \"mapped\"\n",
            "`mapped` needs a [field_map]",
        ),
        (
            "[[input]]\npath = \"a.jsonl\"\nfield_map = { messages = \"$.m\" }\n",
            "input.field_map: a field map is for `source = \"mapped\"`",
        ),
        (
            "[[input]]\npath = \"a.jsonl\"\nsource = \"openai-messages\"\nmerge = true\n[[input]]\npath = \"b.jsonl\"\n",
            "input.merge: each record of openai-messages",
        ),
    ] {
        let message = plan(&desk, more)
            .err()
            .unwrap_or_else(|| panic!("{more} is not refused"));
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_compression_and_a_destination_are_checked_before_anything_is_read() {
    let desk = desk();
    for (output, expected) in [
        (
            "path = \"out\"\ncompression = \"zstd(99)\"",
            "output.compression: `zstd(99)`",
        ),
        ("path = \"-\"", "output.path: a dataset is a folder"),
        ("path = \"s3://bucket/out\"", "is an address"),
    ] {
        let text = format!("name = \"n\"\n[[input]]\npath = \"*.jsonl\"\n[output]\n{output}\n");
        let pipeline = parse(&text, &[], Path::new("p.toml")).unwrap();
        let message = Plan::resolve(pipeline, Path::new(&desk.path("")), None)
            .err()
            .unwrap();
        assert!(message.to_string().contains(expected), "{message}");
    }
}

/// The plan over the inputs of a desk with these tables.
fn plan_of_tables(desk: &Desk, tables: &str) -> Result<Plan, String> {
    let text = format!("name = \"n\"\n[[input]]\npath = \"*.jsonl\"\n[output]\npath = \"out\"\n{tables}");
    let pipeline = parse(&text, &[], Path::new("p.toml")).map_err(|error| error.to_string())?;
    let folder = desk.path("");
    Plan::resolve(pipeline, Path::new(&folder), None).map_err(|error| error.to_string())
}

#[test]
fn tables_that_are_not_wanted_are_absent_and_those_that_are_always_written_never() {
    let desk = desk();
    let absent = |tables: &str| plan_of_tables(&desk, tables).unwrap().absent_tables();
    assert_eq!(absent(""), Vec::<&str>::new());
    assert_eq!(
        absent("tables = [\"renderings\", \"findings\", \"messages\"]"),
        [
            "conversations",
            "alternatives",
            "message_references",
            "tool_calls",
            "token_counts",
            "losses"
        ]
    );
    assert_eq!(absent("tables = [\"totals\"]").len(), 8);
    for (tables, expected) in [
        (
            "tables = [\"rendering\"]",
            "output.tables: there is no table named `rendering`; did you mean `renderings`?",
        ),
        ("tables = []", "output.tables: the list is empty"),
    ] {
        let message = plan_of_tables(&desk, tables).err().unwrap();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn lists_of_tables_that_mean_the_same_have_one_fingerprint() {
    let desk = desk();
    let fingerprint = |tables: &str| plan_of_tables(&desk, tables).unwrap().fingerprint();
    let all = format!("tables = {:?}", chatmill_dataset::TABLES);
    assert_eq!(fingerprint(&all), fingerprint(""));
    let few = fingerprint("tables = [\"messages\", \"renderings\"]");
    assert_ne!(few, fingerprint(""));
    assert_eq!(
        fingerprint("tables = [\"renderings\", \"rejects\", \"messages\", \"renderings\"]"),
        few
    );
}

#[test]
fn inputs_stand_in_the_order_of_their_names_and_excluded_ones_are_left_out() {
    let desk = desk();
    let both = "[[input]]\npath = \"b.jsonl\"\n[[input]]\npath = \"a.jsonl\"\n";
    assert_eq!(names(&plan(&desk, both).unwrap()), ["a.jsonl", "b.jsonl"]);
    let one = "[[input]]\npath = \"*.jsonl\"\nexclude = [\"a*\"]\n";
    assert_eq!(names(&plan(&desk, one).unwrap()), ["b.jsonl"]);
}

#[test]
fn an_input_that_two_sections_name_stands_twice_under_their_numbers() {
    let desk = desk();
    let twice = "[[input]]\npath = \"a.jsonl\"\nid_prefix = \"x-\"\n[[input]]\npath = \"a.jsonl\"\n";
    let plan = plan(&desk, twice).unwrap();
    assert_eq!(names(&plan), ["1/a.jsonl", "2/a.jsonl"]);
    assert_eq!(plan.inputs[0].settings.id_prefix, "x-");
}

#[test]
fn dialects_are_rendered_once_and_in_the_order_of_the_registry() {
    let desk = desk();
    let order = |words: &str| -> Vec<String> {
        let plan = plan(&desk, &format!("[render]\ndialects = {words}\n")).unwrap();
        plan.targets
            .iter()
            .map(|target| target.dialect.id().to_owned())
            .collect()
    };
    assert_eq!(
        order("[\"chatml\", \"openai-chat\", \"chatml\"]"),
        order("[\"openai-chat\", \"chatml\"]")
    );
    assert_eq!(
        order("[\"all\", \"chatml\"]").len(),
        chatmill_dialect::DIALECTS.len()
    );
}

#[test]
fn where_a_dataset_stands_and_how_many_work_on_it_leave_its_fingerprint_alone() {
    let desk = desk();
    let fingerprint = |more: &str| plan(&desk, more).unwrap().fingerprint();
    let plain = fingerprint("");
    assert_eq!(fingerprint("[resources]\nthreads = 3\n"), plain);
    assert_ne!(fingerprint("[limits]\ndepth = 9\n"), plain);
    assert_ne!(
        fingerprint("[[input]]\npath = \"*.jsonl\"\nid_prefix = \"x\"\n"),
        plain
    );
    let text = "name = \"n\"\n[[input]]\npath = \"./*.jsonl\"\n[output]\npath = \"elsewhere\"\n";
    let pipeline = parse(text, &[], Path::new("p.toml")).unwrap();
    let folder = desk.path("");
    let elsewhere = Plan::resolve(pipeline, Path::new(&folder), None).unwrap();
    assert_eq!(elsewhere.fingerprint(), plain);
}

#[test]
fn the_slices_of_small_and_of_large_inputs_stay_within_bounds() {
    let mut plan = plan(&desk(), "").unwrap();
    assert_eq!(plan.slice_bytes(), 4 << 20);
    plan.inputs[0].input.bytes = 96 << 20;
    plan.inputs[1].input.bytes = 0;
    assert_eq!(plan.slice_bytes(), 6 << 20);
    plan.inputs[0].input.bytes = 1 << 40;
    assert_eq!(plan.slice_bytes(), 12 << 20);
}
