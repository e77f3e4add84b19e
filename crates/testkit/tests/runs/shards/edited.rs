//! Plans, shards and receipts that were edited, swapped, lost or restored from elsewhere: each is refused or processed
//! again, and the published dataset is complete.

use std::fs;
use std::path::{Path, PathBuf};

use chatmill_engine::RunError;
use chatmill_engine::shards::ShardSelection;
use chatmill_workshop::TestDir;
use serde_json::{Value, json};

use super::super::lots::{lines, tiny};
use super::{finish, hashes, plan, root_of, work};

const ALL: ShardSelection = ShardSelection::Part { index: 0, of: 1 };

/// Inputs that are divided, and some that share a shard.
fn filled() -> TestDir {
    let test_dir = TestDir::new();
    for (name, count) in [("i0", 25), ("i1", 26), ("i2", 27), ("j0", 3), ("j1", 2)] {
        test_dir.write(&format!("in/{name}.jsonl"), lines(count));
    }
    test_dir.run("run", &tiny(), 2).unwrap();
    test_dir
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The JSON with the hash that makes it valid.
fn resealed(value: &Value) -> String {
    let mut value = value.clone();
    value.as_object_mut().unwrap().shift_remove("hash");
    let text = value.to_string();
    let rest = text.strip_prefix('{').unwrap();
    format!("{{\"hash\":\"{}\",{rest}", blake3::hash(rest.as_bytes()).to_hex())
}

fn lots(plan: &mut Value) -> &mut Vec<Value> {
    plan["lots"].as_array_mut().unwrap()
}

/// The range with this number in the second input.
fn stretch(plan: &mut Value, number: usize) -> &mut Value {
    let of_second = |lot: &&mut Value| lot["inputs"]["start"] == 1 && lot["stretch"].is_object();
    let found = lots(plan).iter_mut().filter(of_second).nth(number);
    &mut found.expect("a stretch")["stretch"]
}

fn add(number: &mut Value, more: i64) {
    *number = json!(number.as_i64().unwrap() + more);
}

type Edit = fn(&mut Value);

/// Edits of the plan. Each is refused, with a right hash and with a wrong one.
const PLANS: &[(&str, Edit)] = &[
    ("the last lot is missing", |plan| drop(lots(plan).pop())),
    ("the first lot is missing", |plan| drop(lots(plan).remove(0))),
    ("a lot in the middle is missing", |plan| {
        drop(lots(plan).remove(4));
    }),
    ("all lots are missing", |plan| lots(plan).clear()),
    ("all lots are there twice", |plan| {
        let again = lots(plan).clone();
        lots(plan).extend(again);
    }),
    ("each lot is there twice", |plan| {
        *lots(plan) = lots(plan)
            .iter()
            .flat_map(|lot| [lot.clone(), lot.clone()])
            .collect();
    }),
    ("the first lot comes again", |plan| {
        let first = lots(plan)[0].clone();
        lots(plan).push(first);
    }),
    ("the last lot comes again", |plan| {
        let last = lots(plan).last().unwrap().clone();
        lots(plan).push(last);
    }),
    ("two stretches are swapped", |plan| lots(plan).swap(0, 1)),
    ("stretches of two inputs are swapped", |plan| {
        let count = lots(plan).len();
        lots(plan).swap(0, count - 2);
    }),
    ("the lots are turned round", |plan| lots(plan).reverse()),
    ("a lot says nothing", |plan| lots(plan)[0] = json!({})),
    ("a lot has no inputs", |plan| {
        lots(plan).push(json!({"inputs": {"start": 5, "end": 5}}));
    }),
    ("a lot has inputs that are not there", |plan| {
        lots(plan).push(json!({"inputs": {"start": 5, "end": 6}}));
    }),
    ("a whole lot is empty", |plan| {
        let last = lots(plan).last_mut().unwrap();
        last["inputs"]["end"] = last["inputs"]["start"].clone();
    }),
    ("a whole lot has an input less", |plan| {
        add(&mut lots(plan).last_mut().unwrap()["inputs"]["end"], -1);
    }),
    ("a whole lot has an input more", |plan| {
        add(&mut lots(plan).last_mut().unwrap()["inputs"]["end"], 1);
    }),
    ("a whole lot begins earlier", |plan| {
        add(&mut lots(plan).last_mut().unwrap()["inputs"]["start"], -1);
    }),
    ("a whole lot ends before it begins", |plan| {
        lots(plan).last_mut().unwrap()["inputs"] = json!({"start": 5, "end": 3});
    }),
    ("a stretch is of two inputs", |plan| {
        add(&mut lots(plan)[0]["inputs"]["end"], 1);
    }),
    ("a stretch is of another input", |plan| {
        lots(plan)[0]["inputs"] = json!({"start": 2, "end": 3});
    }),
    ("a stretch is its whole input", |plan| {
        drop(lots(plan)[0].as_object_mut().unwrap().remove("stretch"));
    }),
    ("a divided input comes whole, too", |plan| {
        lots(plan).insert(0, json!({"inputs": {"start": 0, "end": 1}}));
    }),
    ("a stretch reaches into the next", |plan| {
        add(&mut stretch(plan, 0)["end"], 7);
    }),
    ("a stretch begins in the one before", |plan| {
        add(&mut stretch(plan, 1)["start"], -7);
    }),
    ("a stretch ends early", |plan| {
        add(&mut stretch(plan, 0)["end"], -7);
    }),
    ("a first stretch begins late", |plan| {
        add(&mut stretch(plan, 0)["start"], 5);
    }),
    ("a stretch is empty", |plan| {
        let start = stretch(plan, 1)["start"].clone();
        stretch(plan, 1)["end"] = start;
    }),
    ("a stretch ends before it begins", |plan| {
        stretch(plan, 1)["end"] = json!(1);
    }),
    ("a stretch ends with the largest number", |plan| {
        stretch(plan, 1)["end"] = json!(u64::MAX);
    }),
    ("the last stretch ends early", |plan| {
        let count = lots(plan)
            .iter()
            .filter(|lot| lot["inputs"]["start"] == 1)
            .count();
        add(&mut stretch(plan, count - 1)["end"], -1);
    }),
    ("a stretch is marked as the last", |plan| {
        stretch(plan, 0)["is_last"] = json!(true);
    }),
    ("no stretch is marked as the last", |plan| {
        for lot in lots(plan).iter_mut().filter(|lot| lot["stretch"].is_object()) {
            lot["stretch"]["is_last"] = json!(false);
        }
    }),
    ("a first stretch begins in a later line", |plan| {
        add(&mut stretch(plan, 0)["line"], 1);
    }),
    ("a first stretch begins with a later record", |plan| {
        add(&mut stretch(plan, 0)["record"], 1);
    }),
    ("lines go back", |plan| stretch(plan, 1)["line"] = json!(1)),
    ("there are more lines than bytes", |plan| {
        add(&mut stretch(plan, 1)["line"], 1 << 40);
    }),
    ("records go back", |plan| {
        let count = lots(plan)
            .iter()
            .filter(|lot| lot["inputs"]["start"] == 1)
            .count();
        stretch(plan, count - 1)["record"] = json!(0);
    }),
    ("there are more records than lines", |plan| {
        add(&mut stretch(plan, 1)["record"], 1 << 40);
    }),
    ("the hash of a stretch is none", |plan| {
        stretch(plan, 0)["hash"] = json!("none");
    }),
    ("two inputs are swapped", |plan| {
        plan["inputs"].as_array_mut().unwrap().swap(0, 3);
    }),
    ("an input is missing", |plan| {
        drop(plan["inputs"].as_array_mut().unwrap().pop());
    }),
    ("an input is there twice", |plan| {
        let first = plan["inputs"][0].clone();
        plan["inputs"].as_array_mut().unwrap().push(first);
    }),
    ("an input is longer", |plan| {
        add(&mut plan["inputs"][0]["bytes"], 1);
    }),
    ("an input has the hash of another", |plan| {
        plan["inputs"][0]["hash"] = plan["inputs"][3]["hash"].clone();
    }),
    ("the hash of an input is none", |plan| {
        plan["inputs"][0]["hash"] = json!("none");
    }),
    ("an input cannot be read", |plan| {
        plan["inputs"][0]["unreadable"] = json!("no");
    }),
    ("a setting is another", |plan| {
        plan["request"]["overrides"] = json!(["limits.depth=9"]);
    }),
    ("a setting is deeper than any", |plan| {
        plan["request"]["overrides"] = json!([format!("{}=1", vec!["a"; 50_000].join("."))]);
    }),
    ("the fingerprint is another", |plan| {
        plan["fingerprint"] = json!("0123456789abcdef0123456789abcdef");
    }),
    ("there are no lots at all", |plan| {
        drop(plan.as_object_mut().unwrap().remove("lots"));
    }),
];

/// The fields that are trusted only with a hash.
const UNSEALED: &[(&str, Edit)] = &[
    ("the hash is another", |plan| plan["hash"] = json!("0".repeat(64))),
    ("the hash is missing", |plan| {
        drop(plan.as_object_mut().unwrap().remove("hash"));
    }),
    ("a dataset may be replaced", |plan| {
        plan["request"]["replace"] = json!(true);
    }),
    ("nothing is compared", |plan| plan["compares"] = json!(true)),
    ("nothing is counted again", |plan| {
        plan["request"]["verify_every"] = json!(9);
    }),
    ("a stretch has another hash", |plan| {
        stretch(plan, 0)["hash"] = json!("0".repeat(64));
    }),
];

/// Checks that neither a worker nor `finish` accepts the plan in the folder.
fn assert_refused(out: &Path, what: &str) {
    for (who, refused) in [("work", work(out, &ALL).err()), ("finish", finish(out).err())] {
        let said = refused.map(|error| {
            (
                matches!(error, RunError::OtherPlan { .. } | RunError::Plan(_)),
                error,
            )
        });
        assert!(matches!(said, Some((true, _))), "{what}, {who}: {said:?}");
    }
    assert!(!out.exists(), "{what}");
}

#[test]
fn an_edited_plan_is_refused_before_and_after_the_work() {
    let test_dir = filled();
    let out = test_dir.path("out");
    assert!(plan(&test_dir, "out").shards > 8);
    let file = root_of(&test_dir, "out").join("plan.json");
    let text = fs::read_to_string(&file).unwrap();
    let right = read(&file);
    assert_eq!(resealed(&right), text);
    for round in ["before", "after"] {
        for (what, edit) in PLANS.iter().chain(UNSEALED) {
            let mut edited = right.clone();
            edit(&mut edited);
            assert_ne!(edited, right, "{what}");
            fs::write(&file, edited.to_string()).unwrap();
            assert_refused(&out, &format!("{what}, {round}"));
        }
        for (what, edit) in PLANS {
            let mut edited = right.clone();
            edit(&mut edited);
            fs::write(&file, resealed(&edited)).unwrap();
            assert_refused(&out, &format!("{what}, {round}, resealed"));
        }
        fs::write(&file, &text).unwrap();
        assert!(work(&out, &ALL).unwrap().failed.is_empty());
    }
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
    assert!(chatmill_dataset::certify(&out).unwrap().holds());
}

/// Edits of the outcome of a finished shard; the first shard is a range of an input.
const LOTS: &[(&str, Edit)] = &[
    ("it is empty", |lot| {
        *lot = json!({"hash": "", "slices": 0, "cut": {}});
    }),
    ("nothing was cut", |lot| lot["cut"] = json!({})),
    ("there is no slice", |lot| lot["slices"] = json!(0)),
    ("there is a slice more", |lot| lot["slices"] = json!(2)),
    ("there are as many slices as can be", |lot| {
        lot["slices"] = json!(u32::MAX);
    }),
    ("an entry ended", |lot| lot["cut"]["0"][0] = json!(1)),
    ("there is a byte less", |lot| add(&mut lot["cut"]["0"][2], -1)),
    ("there is a byte more", |lot| add(&mut lot["cut"]["0"][2], 1)),
    ("there are no bytes", |lot| lot["cut"]["0"] = json!([0, 0, 0])),
    ("the numbers are the largest", |lot| {
        lot["cut"]["0"] = json!([u64::MAX, u64::MAX, u64::MAX]);
    }),
    ("it is of another input", |lot| {
        lot["cut"] = json!({"1": lot["cut"]["0"]});
    }),
    ("it is of an input more", |lot| {
        lot["cut"]["1"] = lot["cut"]["0"].clone();
    }),
    ("it is of an input that is not there", |lot| {
        lot["cut"]["9"] = lot["cut"]["0"].clone();
    }),
    ("a number is a word", |lot| lot["slices"] = json!("one")),
];

type Loss = fn(root: &Path);

/// Edits of files in the folder of the work.
const FILES: &[(&str, Loss)] = &[
    ("what is said of a lot is gone", |root| {
        fs::remove_file(root.join("lots/00000.json")).unwrap();
    }),
    ("what is said of a lot is empty", |root| {
        fs::write(root.join("lots/00000.json"), "").unwrap();
    }),
    ("what is said of a lot is half", |root| {
        let path = root.join("lots/00000.json");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
    }),
    ("what is said of two lots is swapped", |root| {
        swap(root, ["lots/00000.json", "lots/00001.json"]);
    }),
    ("what is said of a lot is said of all", |root| {
        for lot in 1..5 {
            fs::copy(
                root.join("lots/00000.json"),
                root.join(format!("lots/{lot:05}.json")),
            )
            .unwrap();
        }
    }),
    ("what is said of lots is a folder with nothing", |root| {
        fs::remove_dir_all(root.join("lots")).unwrap();
    }),
    ("a receipt is gone", |root| {
        fs::remove_file(root.join("receipts/00000-00000.json")).unwrap();
    }),
    ("a receipt is empty", |root| {
        fs::write(root.join("receipts/00000-00000.json"), "{}").unwrap();
    }),
    ("two receipts are swapped", |root| {
        swap(root, ["receipts/00000-00000.json", "receipts/00001-00000.json"]);
    }),
    ("all receipts are gone", |root| {
        for entry in fs::read_dir(root.join("receipts")).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }),
    ("two parts are swapped", |root| {
        let part = |lot: u32| format!("data/messages/part-{lot:05}-00000.parquet");
        swap(root, [&part(0), &part(1)]);
    }),
];

fn swap(root: &Path, [one, other]: [&str; 2]) {
    let [one, other] = [root.join(one), root.join(other)];
    let aside: PathBuf = root.with_extension("aside");
    fs::rename(&one, &aside).unwrap();
    fs::rename(&other, &one).unwrap();
    fs::rename(&aside, &other).unwrap();
}

/// Checks that `finish` publishes nothing, and that another round of work gives the whole dataset.
fn assert_done_again(out: &Path, what: &str) {
    let refused = finish(out).err();
    assert!(
        matches!(refused, Some(RunError::ShardsMissing { .. })),
        "{what}: {refused:?}"
    );
    assert!(!out.exists(), "{what}");
    let worked = work(out, &ALL).unwrap();
    assert!(!worked.done.is_empty() && worked.failed.is_empty(), "{what}");
}

#[test]
fn an_edited_shard_report_is_refused_and_the_shard_runs_again() {
    let test_dir = filled();
    let out = test_dir.path("out");
    plan(&test_dir, "out");
    work(&out, &ALL).unwrap();
    let root = root_of(&test_dir, "out");
    let file = root.join("lots/00000.json");
    for (what, edit) in LOTS {
        for seal in [Value::to_string, resealed] {
            let mut edited = read(&file);
            edit(&mut edited);
            fs::write(&file, seal(&edited)).unwrap();
            assert_done_again(&out, what);
        }
    }
    for (what, edit) in FILES {
        edit(&root);
        assert_done_again(&out, what);
    }
    finish(&out).unwrap();
    assert_eq!(hashes(&test_dir, "run"), hashes(&test_dir, "out"));
    assert!(chatmill_dataset::certify(&out).unwrap().holds());
}
