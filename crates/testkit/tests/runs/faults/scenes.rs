//! The commands under test, over inputs of every kind, each as small as possible.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_diag::Limits;
use chatmill_engine::check::{CheckOptions, check};
use chatmill_engine::inspect::inspect;
use chatmill_engine::shards::{self, Request, ShardSelection};
use chatmill_engine::{InputReading, Plan, PlanError, Progress, Queues, RunError, RunOptions, Silent, run};
use chatmill_export::{ExportError, ExportRequest, Format, export};
use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;

/// An unsuccessful end of a command.
#[derive(Debug)]
pub(crate) enum Ended {
    /// An error that repeating may cure: exit code 3, or 1 with the file on stderr if the command writes nothing.
    Repeatable(String),
    /// The claim that the request is wrong: exit code 2.
    Wrong(String),
}

type Found = BTreeMap<String, String>;

/// A command in a test folder.
pub(crate) struct Scene {
    pub name: &'static str,
    /// Creates the inputs of the command.
    pub prepare: fn(&TestDir),
    /// The command; its result must not depend on faults.
    pub act: fn(&TestDir) -> Result<Found, Ended>,
    /// Checks the state that must hold after the command, whatever its end.
    pub look: fn(&TestDir) -> Result<(), String>,
}

pub(crate) const SCENES: &[Scene] = &[
    Scene {
        name: "run",
        prepare: inputs,
        act: |shop| mill(shop, NEW, false),
        look: whole_or_none,
    },
    Scene {
        name: "resume",
        prepare: |shop| {
            inputs(shop);
            begin(shop);
        },
        act: |shop| mill(shop, NEW, false),
        look: whole_or_none,
    },
    Scene {
        name: "shares",
        prepare: inputs,
        act: |shop| shared(shop, ""),
        look: whole_or_none,
    },
    Scene {
        name: "shares that compare",
        prepare: inputs,
        act: |shop| shared(shop, "[dedup]\nexact = \"filter\"\nnear = \"mark\"\n"),
        look: whole_or_none,
    },
    Scene {
        name: "replace",
        prepare: |shop| {
            inputs(shop);
            mill(shop, OLD, false).unwrap();
        },
        act: |shop| mill(shop, NEW, true),
        look: whole,
    },
    Scene {
        name: "check",
        prepare: inputs,
        act: checked,
        look: |_| Ok(()),
    },
    Scene {
        name: "inspect",
        prepare: inputs,
        act: inspected,
        look: |_| Ok(()),
    },
    Scene {
        name: "report",
        prepare: milled,
        act: |shop| {
            let out = shop.path("out");
            let report = chatmill_report::write(&out, None).map_err(of_dataset)?;
            Ok(Found::from([(
                "report".to_owned(),
                chatmill_report::json(&report).unwrap(),
            )]))
        },
        look: whole,
    },
    Scene {
        name: "export",
        prepare: milled,
        act: exported,
        look: whole,
    },
    Scene {
        name: "diff",
        prepare: milled,
        act: |shop| {
            let open = || Dataset::open(&shop.path("out")).map_err(of_dataset);
            let comparison = chatmill_report::compare(&open()?, &open()?).map_err(of_dataset)?;
            let text = serde_json::to_string(&comparison).unwrap();
            Ok(Found::from([("comparison".to_owned(), text)]))
        },
        look: whole,
    },
    Scene {
        name: "certify",
        prepare: milled,
        act: |shop| {
            let certificate = chatmill_dataset::certify(&shop.path("out")).map_err(of_dataset)?;
            Ok(Found::from([(
                "certificate".to_owned(),
                format!("{certificate:?}"),
            )]))
        },
        look: whole,
    },
];

const NEW: &str =
    "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\n";
const OLD: &str =
    "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\n";

fn chat(id: &str) -> String {
    format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","scene":"group_chat","scene_desc":{{}},"user_details":{{"u1":{{"full_name":"Ann","role":"user"}}}}}},"conversation_list":[{{"message_id":"m1","create_time":"2026-01-01T00:00:00+02:00","sender":"u1","role":"user","type":"text","content":"hello {id}","refer_list":[]}}]}}"#
    )
}

/// JSON lines, a compressed file, a zip with a database, a database, a dump, and a dump that is a folder.
fn inputs(shop: &TestDir) {
    shop.write("in/lines.jsonl", format!("{}\n{}\n", chat("a"), chat("b")));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(chat("c").as_bytes()).unwrap();
    shop.write("in/packed.json.gz", packed.finish().unwrap());
    let database = fs::read(samples().join("demo/courtyard-bot.db")).unwrap();
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [("chat.json", chat("d").as_bytes()), ("bot.db", &database)] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(bytes).unwrap();
    }
    shop.write("in/archive.zip", zip.finish().unwrap().into_inner());
    shop.write("in/bot.db", &database);
    shop.write(
        "in/rows.sql",
        fs::read(samples().join("check/input/rows.sql")).unwrap(),
    );
    let folder = samples().join("dumps/awkward-rows/folder");
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        shop.write(&format!("in/dump/{name}"), fs::read(entry.path()).unwrap());
    }
}

fn milled(shop: &TestDir) {
    inputs(shop);
    mill(shop, NEW, false).unwrap();
}

/// Loads a plan as the command does.
fn plan(shop: &TestDir, more: &str) -> Result<Plan, RunError> {
    let text = format!(
        "name = \"faults\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"{}\"\n{more}",
        shop.path("out").display()
    );
    let path = shop.write("pipeline.toml", text);
    Ok(Plan::load(&path, &[], None, &[])?)
}

fn options(replace: bool) -> RunOptions<'static> {
    RunOptions {
        threads: 1,
        replace,
        ..RunOptions::default()
    }
}

fn mill(shop: &TestDir, more: &str, replace: bool) -> Result<Found, Ended> {
    let never = AtomicBool::new(false);
    let ended = plan(shop, more).and_then(|plan| run(plan, options(replace), &Silent, &never));
    ended.map_err(of_run)?;
    Ok(shop.hashes("out"))
}

/// Two workers on a plan of several shards, one after the other and then the first again. Each skips finished shards.
fn shared(shop: &TestDir, more: &str) -> Result<Found, Ended> {
    let never = AtomicBool::new(false);
    let out = shop.path("out");
    let share = |index| {
        let worked = shards::work(
            &out,
            &ShardSelection::Part { index, of: 2 },
            options(false),
            &Silent,
            &never,
        )?;
        Ok(worked.failed.into_values().next())
    };
    let plan = plan(shop, &format!("{NEW}{more}[shards]\nbytes = 4096\n")).map_err(of_run)?;
    let request = Request {
        pipeline: shop.path("pipeline.toml"),
        overrides: Vec::new(),
        inputs: Vec::new(),
        replace: false,
        verify_every: 0,
    };
    let planned = shards::plan(plan, request, &Silent, &never).map_err(of_run)?;
    if planned.is_finished {
        return Ok(shop.hashes("out"));
    }
    let work_all = || {
        // A worker that fails does not stop the others.
        for failed in [share(0), share(1), share(0)] {
            if let Some(reason) = failed.map_err(of_run)? {
                return Err(Ended::Repeatable(reason));
            }
        }
        Ok(())
    };
    work_all()?;
    let mut ended = shards::finish(&out, options(false), &Silent, &never);
    if let Err(RunError::ShardsMissing { .. }) = ended {
        // An earlier worker failed while it read a shard again. It has recorded the shard, and the next worker processes it.
        work_all()?;
        ended = shards::finish(&out, options(false), &Silent, &never);
    }
    ended.map_err(of_run)?;
    Ok(shop.hashes("out"))
}

/// Begins a run and stops it when the first slice is done.
fn begin(shop: &TestDir) {
    struct Early<'s>(&'s AtomicBool);
    impl Progress for Early<'_> {
        fn stage(&self, _name: &str, _bytes: u64) {}
        fn advance(&self, _bytes: u64) {}
        fn note(&self, _text: &str) {}
        fn queues(&self, queues: Queues) {
            self.0.fetch_or(queues.delivered > 0, Ordering::Relaxed);
        }
    }
    let enough = AtomicBool::new(false);
    let stopped = run(plan(shop, NEW).unwrap(), options(false), &Early(&enough), &enough);
    assert!(
        matches!(stopped, Err(RunError::Stopped { done: 1.. })),
        "{:?}",
        stopped.err()
    );
}

fn checked(shop: &TestDir) -> Result<Found, Ended> {
    let options = CheckOptions {
        paths: vec![shop.path("in").to_string_lossy().into_owned()],
        threads: 1,
        ..CheckOptions::default()
    };
    let mut found = Found::new();
    let root = shop.path("").to_string_lossy().into_owned();
    let mut say = |text: String| {
        let number = found.len();
        found.insert(format!("{number:06}"), text.replace(&root, ""));
    };
    let never = AtomicBool::new(false);
    let emit = &mut |checked: chatmill_engine::check::Checked| {
        say(format!(
            "{:?}",
            checked.row(&checked.texts(chatmill_engine::check::Quoting::All))
        ));
    };
    let checkup = check(&options, &Silent, &never, emit).map_err(|error| of_read(&error))?;
    if let Some(failure) = checkup.failures.first() {
        assert!(checkup.files.iter().any(|file| file.verdict == "unreadable"));
        return Err(Ended::Repeatable(failure.to_string()));
    }
    for file in checkup.files.iter() {
        say(format!("{file:?}"));
    }
    Ok(found)
}

fn inspected(shop: &TestDir) -> Result<Found, Ended> {
    let paths = [shop.path("in").to_string_lossy().into_owned()];
    let never = AtomicBool::new(false);
    let inspection = inspect(
        &paths,
        &InputReading::default(),
        &Limits::default(),
        &Silent,
        &never,
    );
    let inspection = inspection.map_err(|error| of_read(&error))?;
    if let Some(failure) = inspection.failures.first() {
        return Err(Ended::Repeatable(failure.to_string()));
    }
    let root = shop.path("").to_string_lossy().into_owned();
    let text = format!("{:?}", inspection.entries).replace(&root, "");
    Ok(Found::from([("entries".to_owned(), text)]))
}

fn exported(shop: &TestDir) -> Result<Found, Ended> {
    let dataset = Dataset::open(&shop.path("out")).map_err(of_dataset)?;
    let request = ExportRequest::new("group-chat", Format::Jsonl);
    let folder = shop.path("exported");
    // An export never replaces another one.
    let _ = fs::remove_dir_all(&folder);
    let ended = export(&dataset, &request, &folder);
    ended.map_err(|error| match error {
        ExportError::ExportRequest { message, .. } => Ended::Wrong(message),
        ExportError::Input(failure) => Ended::Repeatable(failure.to_string()),
        ExportError::Dataset(error) => of_dataset(error),
        ExportError::Stopped => Ended::Repeatable(error.to_string()),
        ExportError::Card { .. } => panic!("{error}"),
    })?;
    let files = fs::read_dir(&folder).unwrap().map(Result::unwrap);
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    Ok(files
        .map(|file| (file.file_name().into_string().unwrap(), text(&file.path())))
        .collect())
}

fn of_run(error: RunError) -> Ended {
    match error {
        RunError::Dataset(error) => of_dataset(error),
        RunError::Plan(PlanError::System(failure)) => Ended::Repeatable(failure.to_string()),
        RunError::Plan(error) => Ended::Wrong(error.to_string()),
        // An error that means a bug would be one.
        RunError::Unbalanced { .. }
        | RunError::WorkerFailed { .. }
        | RunError::Miscounted { .. }
        | RunError::PerspectiveAbsent { .. }
        | RunError::NotPlanned { .. }
        | RunError::OtherPlan { .. }
        | RunError::NoSuchShard { .. }
        | RunError::TooManyToCompare { .. }
        | RunError::TooManyTools { .. } => Ended::Wrong(error.to_string()),
        RunError::InputsFailed { .. }
        | RunError::InputChanged { .. }
        | RunError::Incomplete { .. }
        | RunError::ShardsMissing { .. }
        | RunError::TakenAway { .. }
        | RunError::Stopped { .. }
        | RunError::Threads { .. } => Ended::Repeatable(error.to_string()),
    }
}

fn of_dataset(error: DatasetError) -> Ended {
    match error {
        DatasetError::WrongPath { .. } | DatasetError::Occupied { .. } | DatasetError::NoExchange { .. } => {
            Ended::Wrong(error.to_string())
        }
        other => Ended::Repeatable(other.to_string()),
    }
}

fn of_read(error: &chatmill_engine::ReadError) -> Ended {
    use chatmill_engine::ReadError;
    match error {
        ReadError::Plan(PlanError::System(failure)) => Ended::Repeatable(failure.to_string()),
        ReadError::Plan(error) => Ended::Wrong(error.to_string()),
        other => Ended::Repeatable(other.to_string()),
    }
}

/// Checks that there is a dataset with a valid certificate.
fn whole(shop: &TestDir) -> Result<(), String> {
    let certificate = chatmill_dataset::certify(&shop.path("out")).map_err(|error| error.to_string())?;
    match certificate.problems.first() {
        None => Ok(()),
        Some(fault) => Err(fault.clone()),
    }
}

fn whole_or_none(shop: &TestDir) -> Result<(), String> {
    if shop.path("out").exists() {
        whole(shop)
    } else {
        Ok(())
    }
}
