//! The picture in README.md: how the files of `pipelines/demo.toml` become tables, with the numbers of a run of it.
//!
//! `cargo xtask readme` draws it twice, for light and for dark pages. Widths on the left are numbers of conversations; whatever
//! else is drawn has the same width everywhere.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use chatmill_dialect::DIALECTS;
use chatmill_engine::{Plan, RunOptions, Silent};
use chatmill_report::numbers::count;
use chatmill_source::SOURCES;

/// Pixels for a conversation.
const UNIT: u64 = 6;
/// The card in the middle: its edges.
const CARD: (u64, u64, u64, u64) = (322, 68, 640, 472);
/// Between two bands on the left, and how much a row needs for its text.
const GAP: (u64, u64) = (18, 32);
/// The first row of the list on the right, and the distance between rows.
const TABLES_FROM: (u64, u64) = (88, 37);

/// The colours of a page.
struct Theme {
    name: &'static str,
    text: &'static str,
    muted: &'static str,
    card: &'static str,
    line: &'static str,
    flow: &'static str,
}

const THEMES: [Theme; 2] = [
    Theme {
        name: "light",
        text: "#1f2328",
        muted: "#59636e",
        card: "#f6f8fa",
        line: "#d1d9e0",
        flow: "#b6d4fb",
    },
    Theme {
        name: "dark",
        text: "#f0f6fc",
        muted: "#9198a1",
        card: "#151b23",
        line: "#3d444d",
        flow: "#1f4479",
    },
];

/// What of a run is drawn.
struct Flow {
    /// Source, files and conversations, most conversations first.
    sources: Vec<(String, u64, u64)>,
    /// Table and rows, in the order of the registry.
    tables: Vec<(String, u64)>,
    /// The names of the output formats.
    dialects: Vec<&'static str>,
    encodings: Vec<String>,
    framed: u64,
    accepted: u64,
    rejected: u64,
    messages: u64,
    notices: u64,
    findings: u64,
}

/// Each file of the picture with its text.
pub(crate) fn files(root: &Path) -> Result<Vec<(String, String)>> {
    let flow = of_demo(root)?;
    let drawn = THEMES.iter().map(|theme| {
        let path = format!("docs/images/flow-{}.svg", theme.name);
        Ok((path, draw(&flow, theme)?))
    });
    drawn.collect()
}

/// Runs the demo.
fn of_demo(root: &Path) -> Result<Flow> {
    let out = root.join("target/picture");
    let plan = Plan::load(&root.join("pipelines/demo.toml"), &[], Some(&out), &[])?;
    // A dataset of an earlier build would be taken for this one's.
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    let run = chatmill_engine::run(plan, RunOptions::default(), &Silent, &AtomicBool::new(false))?;
    let mut sources: Vec<(String, u64, u64)> = Vec::new();
    for input in run.manifest.inputs.iter() {
        let name = input
            .source
            .clone()
            .context("an input of the demo has no source")?;
        match sources.iter_mut().find(|(source, _, _)| *source == name) {
            Some((_, files, conversations)) => {
                *files += 1;
                *conversations += input.conversations;
            }
            None => sources.push((name, 1, input.conversations)),
        }
    }
    sources.sort_by_key(|(_, _, conversations)| std::cmp::Reverse(*conversations));
    let tables = run.manifest.tables.iter();
    let tables: Vec<(String, u64)> = tables.map(|table| (table.name.clone(), table.rows)).collect();
    let rows = |table: &str| {
        let found = tables.iter().find(|(name, _)| name == table);
        let (_, rows) = found.with_context(|| format!("the demo has no table {table}"))?;
        anyhow::Ok(*rows)
    };
    let mut encodings: Vec<String> = Vec::new();
    for total in &run.totals.tokens {
        if !encodings.contains(&total.encoding) {
            encodings.push(total.encoding.clone());
        }
    }
    Ok(Flow {
        sources,
        dialects: DIALECTS.iter().map(|dialect| dialect.id()).collect(),
        encodings,
        framed: run.totals.framed,
        accepted: run.totals.accepted,
        rejected: run.totals.rejected,
        messages: run.totals.messages,
        notices: rows("messages")? - run.totals.messages,
        findings: rows("findings")?,
        tables,
    })
}

/// What stands before everything that is drawn.
fn head(flow: &Flow, theme: &Theme) -> String {
    let Theme {
        text,
        muted,
        card,
        line,
        flow: blue,
        ..
    } = theme;
    let files: u64 = flow.sources.iter().map(|(_, files, _)| files).sum();
    let conversations: u64 = flow.sources.iter().map(|(_, _, of)| of).sum();
    let (left, top, right, bottom) = CARD;
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 474" role="img" aria-labelledby="t">
<title id="t">{files} files in {sources} formats become {conversations} conversations, {formats} output formats and {tables} Parquet tables</title>
<style>
text {{ font: 13px system-ui, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: {muted} }}
.h {{ font-size: 18px; font-weight: 600; fill: {text} }}
.b {{ font-size: 14px; font-weight: 600; fill: {text} }}
.m {{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: {text} }}
.s {{ font-size: 11.5px; fill: {muted} }}
.n {{ text-anchor: end; font-variant-numeric: tabular-nums }}
.c {{ text-anchor: middle }}
.f {{ fill: {blue} }}
.l {{ fill: none; stroke: {line}; stroke-width: 1.5 }}
.k {{ fill: {card}; stroke: {line} }}
</style>
<text x="0" y="24" class="h">{files} files</text>
<text x="0" y="46">in {sources} of {readable} input formats</text>
<text x="{left}" y="24" class="h">{conversations} conversations</text>
<text x="{left}" y="46">{messages} messages and {notices} notices</text>
<text x="732" y="24" class="h">{tables} Parquet tables</text>
<text x="732" y="46">and the rows of each</text>
<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="10" class="k"/>
"#,
        sources = flow.sources.len(),
        readable = SOURCES.len(),
        notices = flow.notices,
        formats = flow.dialects.len(),
        tables = flow.tables.len(),
        messages = count(flow.messages),
        width = right - left,
        height = bottom - top,
    )
}

fn draw(flow: &Flow, theme: &Theme) -> Result<String> {
    let mut svg = head(flow, theme);
    sources(&mut svg, flow)?;
    steps(&mut svg, flow)?;
    tables(&mut svg, flow)?;
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// The list on the left, and a band from each of its rows into the card.
fn sources(svg: &mut String, flow: &Flow) -> Result<()> {
    let (from, to) = (212, CARD.0);
    let middle = u64::midpoint(from, to);
    let conversations: u64 = flow.sources.iter().map(|(_, _, of)| of).sum();
    let mut into = u64::midpoint(CARD.1, CARD.3) - conversations * UNIT / 2;
    let mut top = CARD.1;
    for (name, files, conversations) in &flow.sources {
        let high = conversations * UNIT;
        let row = high.max(GAP.1);
        let (text, start) = (top + row / 2 - 3, top + (row - high) / 2);
        let (end, into_end) = (start + high, into + high);
        writeln!(
            svg,
            r#"<path class="f" d="M{from} {start}C{middle} {start} {middle} {into} {to} {into}V{into_end}C{middle} {into_end} {middle} {end} {from} {end}Z"/>"#
        )?;
        let files = plural(*files, "file");
        let detail = plural(*conversations, "conversation");
        writeln!(svg, r#"<text x="0" y="{text}" class="m">{name}</text>"#)?;
        writeln!(svg, r#"<text x="0" y="{}">{files}, {detail}</text>"#, text + 18)?;
        into = into_end;
        top += row + GAP.0;
    }
    Ok(())
}

/// What happens in the card.
fn steps(svg: &mut String, flow: &Flow) -> Result<()> {
    let x = CARD.0 + 20;
    let mut y = CARD.1 + 32;
    let mut step = |svg: &mut String, name: &str, detail: &str, height: u64| -> Result<u64> {
        let below = y + 20;
        writeln!(svg, r#"<text x="{x}" y="{y}" class="b">{name}</text>"#)?;
        writeln!(svg, r#"<text x="{x}" y="{below}">{detail}</text>"#)?;
        y += height;
        Ok(below)
    };
    let Flow {
        framed,
        accepted,
        rejected,
        ..
    } = flow;
    step(
        svg,
        "Read",
        &format!("{framed} records: {accepted} accepted, {rejected} rejected"),
        51,
    )?;
    step(
        svg,
        "Link and check",
        &format!("replies, tool calls; {} findings", flow.findings),
        51,
    )?;
    let rows = flow.dialects.len().div_ceil(2);
    let height = u64::try_from(rows)? * 17 + 58;
    let detail = format!("each conversation in {} output formats", flow.dialects.len());
    let names = step(svg, "Render", &detail, height)? + 22;
    for (column, dialects) in flow.dialects.chunks(rows).enumerate() {
        for (row, dialect) in dialects.iter().enumerate() {
            let (x, y) = (x + u64::try_from(column)? * 144, names + u64::try_from(row)? * 17);
            writeln!(svg, r#"<text x="{x}" y="{y}" class="m s">{dialect}</text>"#)?;
        }
    }
    step(svg, "Count tokens", &flow.encodings.join(", "), 0)?;
    Ok(())
}

/// The list on the right, and a line from the card to each of its rows.
fn tables(svg: &mut String, flow: &Flow) -> Result<()> {
    let (from, to) = (CARD.2, 722);
    let middle = u64::midpoint(from, to);
    let start = u64::midpoint(CARD.1, CARD.3);
    let (mut y, step) = TABLES_FROM;
    for (name, rows) in &flow.tables {
        let end = y - 4;
        writeln!(
            svg,
            r#"<path class="l" d="M{from} {start}C{middle} {start} {middle} {end} {to} {end}"/>"#
        )?;
        writeln!(svg, r#"<text x="732" y="{y}" class="m">{name}</text>"#)?;
        writeln!(svg, r#"<text x="960" y="{y}" class="n">{}</text>"#, count(*rows))?;
        y += step;
    }
    Ok(())
}

fn plural(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", count(number))
}
