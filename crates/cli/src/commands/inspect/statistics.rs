//! Statistics of a dataset or an export as text.

use chatmill_dataset::statistics::{Length, Statistics, TrainedPart, TurnRanking};

use crate::figures::{count, counted, percent};
use crate::output::{self, harmless};
use crate::terminal;

/// Removes content of chats: the names of tools, and first and last turns.
pub(super) fn leave_out_content(statistics: &mut Statistics) {
    statistics.tools.clear();
    statistics.tools_left_out = 0;
    statistics.frequent = None;
}

/// The statistics as tables; `why` is the reason why content is not shown, if it is not.
pub(super) fn describe(statistics: &Statistics, why: &str) -> String {
    let mut text = format!(
        "    {}, {}, {} of the assistant\n\n",
        counted(statistics.conversations, "conversation"),
        counted(statistics.messages, "message"),
        count(statistics.answers),
    );
    let lengths = statistics.lengths.iter().map(length);
    let header = ["Lengths", "number", "sum", "median", "95 %", "largest"];
    table(&mut text, header, lengths, 0);
    let roles = statistics.roles.iter();
    let roles = roles.map(|row| vec![format!("{} {}s", row.role, row.kind), count(row.messages)]);
    table(&mut text, ["Role", "number"], roles, 0);
    let tools = statistics.tools.iter().map(|tool| {
        let name = tool.name.as_deref();
        let name = name.map_or_else(|| "(no name)".to_owned(), harmless);
        let figures = [tool.calls, tool.unanswered, tool.failed].map(count);
        [vec![name], figures.to_vec()].concat()
    });
    let header = ["Tool", "calls", "unanswered", "failed"];
    table(&mut text, header, tools, statistics.tools_left_out);
    let header = ["Trained on", "number", "of all", "of the assistant's"];
    table(&mut text, header, statistics.trained.iter().map(trained), 0);
    let sources = statistics.sources.iter().map(|row| {
        let figures = [row.conversations, row.messages, row.answers, row.length].map(count);
        [vec![harmless(&row.source)], figures.to_vec()].concat()
    });
    let unit = statistics
        .lengths
        .get(1)
        .map_or("length", |length| match length.unit.as_str() {
            "characters" => "characters",
            _ => "tokens",
        });
    let header = ["Source", "conversations", "messages", "answers", unit];
    table(&mut text, header, sources, 0);
    match &statistics.frequent {
        Some(turns) => {
            ranking(&mut text, "First turn", &turns.first);
            ranking(&mut text, "Last turn", &turns.last);
        }
        None => text.push_str(&format!("First and last turns are not shown, {why}.\n")),
    }
    text
}

/// Adds a table, unless it has no rows, and the number of rows that are not shown.
fn table<const N: usize>(
    text: &mut String,
    header: [&str; N],
    rows: impl Iterator<Item = Vec<String>>,
    left_out: u64,
) {
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return;
    }
    text.push_str(&output::fitted(header, rows, 1, &[], terminal::table_columns()));
    if left_out > 0 {
        text.push_str(&format!("and {} more\n", count(left_out)));
    }
    text.push('\n');
}

fn length(length: &Length) -> Vec<String> {
    let unit = match length.unit.as_str() {
        "turns" | "characters" => length.unit.clone(),
        encoding => format!("{encoding} tokens"),
    };
    let totals = &length.totals;
    let figures = [totals.count, totals.sum, totals.p50, totals.p95, totals.max].map(count);
    [vec![format!("{}s in {unit}", length.of)], figures.to_vec()].concat()
}

fn trained(row: &TrainedPart) -> Vec<String> {
    let ratio = |whole: u64| match whole {
        0 => "–".to_owned(),
        whole => percent(row.trained as f64 / whole as f64),
    };
    let target = chatmill_model::target_name(&row.dialect, &row.profile);
    let what = format!("{} of {target}", row.unit);
    vec![what, count(row.trained), ratio(row.whole), ratio(row.assistant)]
}

/// Adds the texts that occur more than once, and the number of different texts.
fn ranking(text: &mut String, what: &str, ranking: &TurnRanking) {
    let rows = ranking.most.iter();
    let rows = rows.map(|turn| vec![harmless(&turn.text), count(turn.times)]);
    let different = counted(ranking.different, "different text");
    let mut end = format!("{what}s: {different} in {}", counted(ranking.compared, "turn"));
    if ranking.beyond > 0 {
        end.push_str(&format!("; {} more were not compared", count(ranking.beyond)));
    }
    table(text, [what, "times"], rows, 0);
    text.push_str(&format!("{end}\n\n"));
}
