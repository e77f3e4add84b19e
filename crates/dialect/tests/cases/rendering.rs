//! The output of a command in a case: the text of each rendering, followed by its counts and losses.

use std::fmt::Write as _;
use std::rc::Rc;

use chatmill_dialect::window::{CutPoints, Cuts, WindowMode, turn_starts, window_ranges};
use chatmill_dialect::{
    History, Policy, Rendering, Targets, View, Window, WindowRange, auto_perspective, find,
};
use chatmill_model::{Linked, Sink, Speaker};
use serde_json::{Map, Value};

/// Returns the renderings of a command.
pub(crate) fn render(command: &str, linked: &Linked) -> Result<String, String> {
    let mut words = command.split_whitespace();
    let id = words.next().ok_or("a command names a dialect")?;
    let dialect = find(id).ok_or_else(|| format!("no dialect is called {id}"))?;
    let mut perspective = auto_perspective(linked);
    let mut history = History::Document;
    let mut window = None;
    let mut policy = Map::new();
    for word in words {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("{word} is no KEY=VALUE"))?;
        match key {
            "as" => {
                let mut participants = linked.conversation.participants.iter();
                perspective = participants.position(|person| person.id == value);
            }
            "history" => history = value.parse().map_or(History::All, History::Messages),
            "window" => window = Some(range(value, linked)?),
            key => {
                policy.insert(key.to_owned(), Value::from(value));
            }
        }
    }
    let policy: Policy = serde_json::from_value(Value::from(policy)).map_err(|error| error.to_string())?;
    let view = View {
        history,
        window: window.map(|range| Window {
            range,
            shared: Rc::default(),
        }),
        ..View::whole(linked, perspective.filter(|_| !dialect.is_neutral()), &policy)
    };
    let mut out = String::new();
    dialect.render_each(&view, &mut |sink, rendering| {
        out.push_str(&report(sink, &rendering));
    });
    Ok(out)
}

/// Returns the ranges of a command, each with the message from which it is trained on, and the skipped turns; for `starts`, returns where
/// windows may begin.
pub(crate) fn ranges(command: &str, linked: &Linked) -> Result<String, String> {
    let mut perspective = auto_perspective(linked);
    let mut cuts = Cuts::default();
    for word in command.split_whitespace().skip(1) {
        match word.split_once('=') {
            Some(("gap", hours)) => {
                cuts.session_gap = hours.parse::<i64>().ok().map(|hours| hours * 3_600_000_000);
            }
            Some(("mode", "turns")) => cuts.mode = WindowMode::PerTurn,
            Some(("mode", "exchanges")) => cuts.mode = WindowMode::Consecutive,
            Some(("targets", "steps")) => cuts.targets = Targets::Steps,
            Some(("as", "-")) => perspective = None,
            _ => return Err(format!("{word} cuts nothing")),
        }
    }
    let cut_points = CutPoints::of(linked);
    if command.starts_with("starts") {
        let starts = turn_starts(linked, &cut_points, perspective);
        let starts: Vec<String> = starts.iter().map(u32::to_string).collect();
        return Ok(starts.join(" ") + "\n");
    }
    let found = window_ranges(linked, &cut_points, perspective, cuts);
    let mut out = String::new();
    for range in &found.ranges {
        writeln!(out, "{}..{} from {}", range.start, range.end, range.trained_from).unwrap();
    }
    for (reason, count) in found.skipped_targets.reasons() {
        writeln!(out, "skipped {count}: {reason}").unwrap();
    }
    Ok(if out.is_empty() {
        "nothing\n".to_owned()
    } else {
        out
    })
}

/// Reads `START..END`, with `/LEARNED` if the range is not trained on from its beginning, as a range in one session.
fn range(value: &str, linked: &Linked) -> Result<WindowRange, String> {
    let (shown, trained_from) = value.split_once('/').unwrap_or((value, "0"));
    let (start, end) = shown.split_once("..").ok_or("a window is START..END")?;
    let number = |text: &str| text.parse::<u32>().map_err(|error| format!("{text}: {error}"));
    Ok(WindowRange {
        session_start: 0,
        session_end: linked.conversation.messages.len() as u32,
        start: number(start)?,
        end: number(end)?,
        trained_from: number(trained_from)?,
    })
}

/// Returns the text of a rendering, and lines that begin with `>`: its coverage, the text of the perspective, its violations and its
/// losses.
pub(crate) fn report(sink: &Sink<'_>, rendering: &Rendering) -> String {
    let mut out = format!("{}\n", sink.text());
    let place = |position: Option<u32>| position.map_or("-".to_owned(), |position| position.to_string());
    writeln!(
        out,
        "> {} messages, {} of the assistant, the last of {}, {} from {} to {}",
        rendering.messages_rendered,
        rendering.assistant_messages,
        rendering.last_role.unwrap_or("nobody"),
        rendering.coverage.as_str(),
        place(rendering.first_position),
        place(rendering.last_position)
    )
    .unwrap();
    let own = sink
        .span_texts()
        .filter(|(_, span)| span.speaker == Speaker::Perspective);
    let own: String = own.map(|(text, _)| text.replace('\n', "\\n")).collect();
    if !own.is_empty() {
        writeln!(out, "> own {own}").unwrap();
    }
    for violation in &rendering.violations {
        writeln!(out, "> invalid {violation}").unwrap();
    }
    for loss in &rendering.losses {
        let (code, amount, reason) = (loss.code.as_str(), loss.amount, loss.reason);
        writeln!(out, "> lost {} {code} {amount}: {reason}", place(loss.position)).unwrap();
    }
    out
}
