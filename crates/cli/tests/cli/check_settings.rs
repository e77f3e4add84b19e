//! Settings of `check`: where they come from, and what they change.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, chat, dangling_chat, end, good_chat, json_lines};

/// A project with a folder of exports: a dangling reference, a good chat and a broken file.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write(
        "project/exports/one/dangling.json",
        &dangling_chat("dangling").to_string(),
    );
    desk.write("project/exports/two/good.json", &good_chat("good").to_string());
    desk.write(
        "project/exports/two/broken.jsonl",
        &format!("{}\n{{\"broken\n", good_chat("b")),
    );
    desk
}

/// Runs `check` in a folder of the desk.
fn check(desk: &Desk, folder: &str, arguments: &[&str]) -> crate::desk::Ended {
    let mut command = desk.chatmill(&[&["check"], arguments].concat());
    command.current_dir(desk.path(folder));
    end(command)
}

/// Codes and severities that a check lists.
fn found(desk: &Desk, folder: &str, arguments: &[&str]) -> Vec<String> {
    let ended = check(desk, folder, &[arguments, &["--output-format", "jsonl"]].concat());
    assert!(ended.code < 2, "{}", ended.stderr);
    let lines = json_lines(&ended.stdout);
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    lines
        .iter()
        .map(|finding| format!("{} {}", word(finding, "code"), word(finding, "severity")))
        .collect()
}

#[test]
fn the_nearest_file_upwards_holds_and_the_command_line_wins() {
    let desk = desk();
    desk.write("chatmill.toml", "[check]\nignore = [\"IN\"]\n");
    assert_eq!(found(&desk, "project", &["exports"]), ["RF001 warning"]);
    desk.write(
        "project/chatmill.toml",
        "[check]\nfail-on = \"warning\"\nseverity = { RF = \"note\", invalid-json = \"warning\" }\n",
    );
    assert_eq!(
        found(&desk, "project", &["exports"]),
        ["RF001 note", "IN001 warning"]
    );
    assert_eq!(check(&desk, "project", &["exports"]).code, 1, "warnings fail");
    assert_eq!(
        check(&desk, "project", &["exports", "--fail-on", "error"]).code,
        0
    );
    assert_eq!(
        found(&desk, "project", &["exports", "--select", "RF"]),
        ["RF001 note"]
    );
    assert_eq!(
        found(&desk, "project", &["exports", "--no-config"]),
        ["RF001 warning", "IN001 error"]
    );
    assert_eq!(
        found(&desk, "project", &["exports", "--config", "../chatmill.toml"]),
        ["RF001 warning"]
    );
    let told = check(&desk, "project", &["exports"]).stdout;
    assert!(
        told.contains("settings of ") && told.contains("project/chatmill.toml"),
        "{told}"
    );
}

#[test]
fn what_is_checked_has_no_say_in_how() {
    let desk = desk();
    let silent = "[check]\nselect = [\"TM\"]\nfail-on = \"never\"\n";
    desk.write("project/exports/chatmill.toml", silent);
    for (folder, path) in [
        ("project/exports", "."),
        ("project/exports", "../exports"),
        ("project/exports", "two/../*/*.json*"),
        ("project/exports", "../../project"),
    ] {
        let ended = check(&desk, folder, &[path]);
        assert_eq!(ended.code, 1, "{folder} {path}: {}", ended.stdout);
        assert!(
            ended.stdout.contains("IN001"),
            "{folder} {path}: {}",
            ended.stdout
        );
        assert!(
            ended.stderr.contains("lies in what is checked and is not read"),
            "{folder} {path}: {}",
            ended.stderr
        );
    }
    // Beside what is checked it is nobody's but the user's.
    assert_eq!(check(&desk, "project/exports", &["two"]).code, 0);
    // Below the current folder nothing is looked for.
    assert_eq!(check(&desk, "project", &["exports"]).code, 1);
    // Who names it wants it.
    assert_eq!(
        check(
            &desk,
            "project",
            &["exports", "--config", "exports/chatmill.toml"]
        )
        .code,
        0
    );
}

#[test]
fn a_pipeline_file_has_a_section_too() {
    let desk = desk();
    let pipeline = "name = \"p\"\n[[input]]\npath = \"exports/**/*.json\"\n[output]\npath = \"out\"\n";
    desk.write(
        "project/plan.toml",
        &format!("{pipeline}[check]\nignore = [\"IN001\"]\n"),
    );
    desk.write("project/bare.toml", pipeline);
    desk.write("project/chatmill.toml", "[check]\nignore = [\"RF\"]\n");
    let found = |more: &[&str]| found(&desk, "project", &[&["exports"], more].concat());
    assert_eq!(found(&["--pipeline", "plan.toml"]), ["RF001 warning"]);
    assert_eq!(
        found(&["--pipeline", "bare.toml"]),
        ["IN001 error"],
        "it says nothing"
    );
    assert_eq!(
        found(&["--pipeline", "plan.toml", "--config", "chatmill.toml"]),
        ["IN001 error"]
    );
    let run = end({
        let mut command = desk.chatmill(&["run", "plan.toml"]);
        command.current_dir(desk.path("project"));
        command
    });
    assert_eq!(
        run.code, 0,
        "a run takes the section for what it is: {}",
        run.stderr
    );
}

#[test]
fn some_files_have_settings_of_their_own_and_some_are_not_read() {
    let desk = desk();
    desk.write(
        "project/chatmill.toml",
        "[check]\nexclude = [\"*.jsonl\"]\n[check.per-path.\"exports/one/*\"]\nseverity = { RF001 = \"error\" }\n",
    );
    assert_eq!(found(&desk, "project", &["exports"]), ["RF001 error"]);
    assert_eq!(
        found(&desk, "project", &["exports/one/dangling.json"]),
        ["RF001 error"]
    );
    assert_eq!(found(&desk, "project", &["exports/*/*"]), ["RF001 error"]);
    let csv = check(&desk, "project", &["exports", "--output-format", "csv"]).stdout;
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let nothing = check(&desk, "project", &["exports/two/broken.jsonl"]);
    assert_eq!(nothing.code, 1, "there was nothing to read");
}

#[test]
fn a_baseline_starts_at_the_folder_of_the_file_that_names_it() {
    let desk = desk();
    assert_eq!(
        check(&desk, "project", &["exports", "--write", "jsonl=known.jsonl"]).code,
        1
    );
    desk.write("project/chatmill.toml", "[check]\nbaseline = \"known.jsonl\"\n");
    assert_eq!(check(&desk, "project", &["exports"]).code, 0);
    fs::create_dir(desk.path("project/deep")).unwrap();
    assert_eq!(check(&desk, "project/deep", &["../exports"]).code, 0);
    desk.write("project/chatmill.toml", "[check]\nbaseline = \"gone.jsonl\"\n");
    let gone = check(&desk, "project", &["exports"]);
    assert_eq!(gone.code, 2);
    assert!(gone.stderr.contains("gone.jsonl"), "{}", gone.stderr);
}

#[test]
fn the_files_of_a_check_are_no_inputs_of_it() {
    let desk = desk();
    let exports = "project/exports";
    assert_eq!(
        check(&desk, exports, &["two", "--write", "jsonl=one/known.jsonl"]).code,
        1
    );
    desk.write(
        "project/exports/chatmill.toml",
        "[check]\nbaseline = \"one/known.jsonl\"\n",
    );
    let files = |arguments: &[&str]| {
        let arguments = [arguments, &["--output-format", "csv"]].concat();
        check(&desk, exports, &arguments).stdout.lines().count() - 1
    };
    assert_eq!(files(&[".", "--config", "chatmill.toml"]), 3);
    assert_eq!(
        files(&[".", "--baseline", "one/known.jsonl"]),
        4,
        "settings that are not read are an input"
    );
    assert_eq!(files(&["."]), 5);
}

#[test]
fn links_are_followed_where_that_is_asked_for() {
    let desk = desk();
    let links = desk.path("project/links");
    fs::create_dir(&links).unwrap();
    std::os::unix::fs::symlink("../exports/two", links.join("two")).unwrap();
    assert_eq!(check(&desk, "project", &["links"]).code, 1, "nothing was read");
    assert_eq!(
        found(&desk, "project", &["links", "--follow-links"]),
        ["IN001 error"]
    );
    desk.write("project/chatmill.toml", "[check]\nfollow-links = true\n");
    assert_eq!(found(&desk, "project", &["links"]), ["IN001 error"]);
}

#[test]
fn the_settings_that_hold_are_shown_with_where_they_come_from() {
    let desk = desk();
    desk.write(
        "project/chatmill.toml",
        "[check]\nselect = [\"RF\"]\nignore = [\"RF002\"]\n",
    );
    let shown = check(
        &desk,
        "project",
        &["--show-settings", "--ignore", "TM", "--fail-on", "note"],
    );
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    for line in [
        "select = [\"RF\"]",
        "ignore = [\"RF002\", \"TM\"]",
        "fail-on = \"note\"",
        "follow-links = false",
    ] {
        assert!(shown.stdout.contains(line), "{}", shown.stdout);
    }
    let origin = shown.stdout.lines().next().unwrap();
    assert!(
        origin.starts_with("# from the command line and ") && origin.ends_with("chatmill.toml"),
        "{origin}"
    );
    // What is shown is a file that says the same.
    desk.write("again.toml", &shown.stdout);
    let again = check(
        &desk,
        "project",
        &["--show-settings", "--config", "../again.toml"],
    );
    let settings = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(settings(&again.stdout), settings(&shown.stdout));
    let none = check(&desk, "project", &["--show-settings", "--no-config"]).stdout;
    assert!(none.contains("fail-on = \"error\""), "{none}");
}

#[test]
fn settings_that_cannot_be_meant_are_refused_with_their_place_and_what_is_near() {
    let desk = desk();
    for (text, expected) in [
        ("[check]\nselekt = []\n", "did you mean `select`?"),
        (
            "[check]\nignore = [\"emty-input\"]\n",
            "did you mean `empty-input`?",
        ),
        ("[check]\nseverity = { AS01 = \"off\" }\n", "check.severity"),
        ("[check]\nexclude = [\"[\"]\n", "not a valid pattern"),
        ("[check\n", "TOML parse error"),
    ] {
        desk.write("project/chatmill.toml", text);
        let refused = check(&desk, "project", &["exports"]);
        assert_eq!(refused.code, 2, "{text}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(expected) && refused.stderr.contains("chatmill.toml"),
            "{text}: {}",
            refused.stderr
        );
        assert_eq!(refused.stdout, "", "{text}");
    }
    fs::remove_file(desk.path("project/chatmill.toml")).unwrap();
    let pipeline = "name = \"p\"\n[[input]]\npath = \"exports\"\n[output]\npath = \"out\"\n[check]\nignore = [\"emty-input\"]\n";
    desk.write("project/plan.toml", pipeline);
    for arguments in [
        &["run", "plan.toml"][..],
        &["check", "exports", "--pipeline", "plan.toml"],
    ] {
        let mut command = desk.chatmill(arguments);
        command.current_dir(desk.path("project"));
        let refused = end(command);
        assert_eq!(refused.code, 2, "{arguments:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("`empty-input`"),
            "{arguments:?}: {}",
            refused.stderr
        );
    }
    for (name, expected) in [("gone.toml", "gone.toml"), ("exports", "exports")] {
        let refused = check(&desk, "project", &["exports", "--config", name]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    fs::create_dir(desk.path("project/chatmill.toml")).unwrap();
    let folder = check(&desk, "project", &["exports"]);
    assert_eq!(
        folder.code, 2,
        "a folder is no file with settings: {}",
        folder.stderr
    );
}

#[test]
fn a_severity_counts_wherever_it_is_shown() {
    let desk = Desk::new();
    desk.write("chatmill.toml", "[check]\nseverity = { RF001 = \"error\" }\n");
    let twice = chat("x", &[("m1", "user_1", "Hello"), ("m2", "bot_1", "Hi")]);
    desk.write("in/good.json", &twice.to_string());
    desk.write("in/dangling.json", &dangling_chat("d").to_string());
    let check = end(desk.chatmill(&[
        "check",
        "in",
        "--output-format",
        "json",
        "--write",
        "sarif=s",
        "--write",
        "junit=j",
    ]));
    assert_eq!(check.code, 1);
    let report: Value = serde_json::from_str(&check.stdout).unwrap();
    assert_eq!(report["findings"][0]["severity"], "error");
    assert_eq!(report["files"][0]["verdict"], "errors");
    assert_eq!(report["summary"]["codes"]["RF001"]["errors"], 1);
    let sarif: Value = serde_json::from_str(&fs::read_to_string(desk.path("s")).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "error");
    assert!(
        fs::read_to_string(desk.path("j"))
            .unwrap()
            .contains("failures=\"1\"")
    );
}

#[test]
fn a_zone_says_what_times_without_an_offset_mean() {
    let desk = Desk::new();
    let mut chat = good_chat("zoneless");
    chat["conversation_meta"]
        .as_object_mut()
        .unwrap()
        .remove("default_timezone");
    let chat = chat.to_string().replace("Z\"", "\"");
    desk.write("in/zoneless.json", &chat);
    let naive = |arguments: &[&str]| {
        let found = found(&desk, ".", &[&["in", "--select", "TM002"], arguments].concat());
        found.join(", ")
    };
    assert_eq!(naive(&[]), "TM002 warning");
    desk.write("chatmill.toml", "[check]\nzone = \"Europe/Kyiv\"\n");
    assert_eq!(naive(&[]), "TM002 note");
    desk.write("chatmill.toml", "[check]\nzone = \"Kyiv Time\"\n");
    let refused = check(&desk, ".", &["in"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("check.zone"), "{}", refused.stderr);
}
