//! The plain sections: balance, inputs, lengths, roles and replies, tool calls, the largest, the run itself.

use super::charts::{bar, histogram, legend};
use super::dearest::dearest;
use super::markup::{Html, bytes, count};
use super::table::{numbers, table, words};
use super::{end, query};
use crate::report::{Queried, Report, SlowConversation};

pub(super) fn balance(html: &mut Html, report: &Report) {
    let balance = &report.balance;
    html.raw(if balance.balanced {
        "<p>Every record and every byte that was read is accounted for.</p>"
    } else {
        "<p><strong class=\"error\">Some records or bytes are not accounted for.</strong></p>"
    });
    whole_bar(
        html,
        "Records",
        &count(balance.framed),
        &[
            (balance.accepted, "part-good"),
            (balance.filtered, "part-left"),
            (balance.rejected, "part-bad"),
        ],
    );
    whole_bar(
        html,
        "Decoded bytes",
        &bytes(balance.decoded_bytes),
        &[
            (balance.accepted_bytes, "part-good"),
            (balance.filtered_bytes + balance.skipped_bytes, "part-left"),
            (balance.rejected_bytes, "part-bad"),
            (balance.separator_bytes, "part-between"),
        ],
    );
    legend(
        html,
        &[
            ("accepted", "part-good"),
            ("left out by the request", "part-left"),
            ("rejected", "part-bad"),
            ("between records", "part-between"),
        ],
    );
    html.raw("<div class=\"pair\"><div>");
    let heads = [words("Became"), numbers("Records"), numbers("Bytes")];
    table(html, "Records and bytes by what became of them", &heads, |html| {
        let rows = [
            ("accepted", balance.accepted, balance.accepted_bytes),
            ("rejected", balance.rejected, balance.rejected_bytes),
            ("filtered", balance.filtered, balance.filtered_bytes),
        ];
        for (name, records, bytes) in rows {
            html.row(name).figure(records).size(bytes).end_row();
        }
        for (name, bytes) in [
            ("rows of other tables", balance.skipped_bytes),
            ("between records", balance.separator_bytes),
        ] {
            html.row(name).raw("<td></td>").size(bytes).end_row();
        }
    });
    if !balance.filtered_by.rows.is_empty() {
        let heads = [words("Filtered by"), numbers("Records")];
        table(
            html,
            "Filtered records by the key that left them out",
            &heads,
            |html| {
                for reason in &balance.filtered_by.rows {
                    html.row(&reason.key()).figure(reason.records).end_row();
                }
            },
        );
        end(html, &balance.filtered_by);
    }
    html.raw("</div><div>");
    let heads = [words("Rows of accepted records"), numbers("Rows")];
    table(html, "Rows by what became of them", &heads, |html| {
        for (name, rows) in [
            ("messages", balance.row_messages),
            ("notices", balance.row_notices),
            ("answers beside the conversation", balance.row_alternatives),
            ("merged into another message", balance.row_merged),
            ("repeated and dropped", balance.row_repeated),
            ("rejected", balance.row_rejected),
        ] {
            html.row(name).figure(rows).end_row();
        }
    });
    html.raw("</div></div>\n");
    query(html, &balance.query);
}

fn whole_bar(html: &mut Html, name: &'static str, sum: &str, sizes: &[(u64, &'static str)]) {
    html.raw("<div class=\"whole\"><p><span>")
        .raw(name)
        .raw("</span><span class=\"number\">")
        .text(sum)
        .raw("</span></p>");
    bar(html, 1.0, sizes);
    html.raw("</div>\n");
}

pub(super) fn inputs(html: &mut Html, report: &Report) {
    html.raw("<p>Which source read each input, and by which shapes it was recognised.</p>");
    let heads = [
        words("Input"),
        words("Source"),
        numbers("Bytes"),
        numbers("Framed"),
        numbers("Accepted"),
        numbers("Rejected"),
        numbers("Filtered"),
        numbers("Chats"),
        numbers("Findings"),
    ];
    table(
        html,
        "Inputs, those with rejects and findings first",
        &heads,
        |html| {
            for input in &report.inputs.rows {
                html.raw("<tr data-path=\"")
                    .text(&input.path)
                    .raw("\"><th scope=\"row\">");
                match file_number(report, &input.path) {
                    Some(number) => html
                        .raw("<a href=\"#file-")
                        .text(&number)
                        .raw("\">")
                        .text(&input.path)
                        .raw("</a>"),
                    None => html.text(&input.path),
                };
                html.raw("</th>")
                    .raw("<td>")
                    .text(input.source.as_deref().unwrap_or("–"))
                    .raw("<small>")
                    .text(&input.shapes.join(", "))
                    .raw("</small></td>")
                    .size(input.bytes)
                    .figure(input.framed)
                    .figure(input.accepted)
                    .fault(input.rejected, "error")
                    .figure(input.filtered)
                    .figure(input.conversations)
                    .figure(input.findings)
                    .end_row();
            }
        },
    );
    end(html, &report.inputs);
}

/// The number of an input among those with findings.
fn file_number(report: &Report, path: &str) -> Option<String> {
    let place = report.found.iter().position(|file| file.path == path)?;
    Some((place + 1).to_string())
}

pub(super) fn distributions(html: &mut Html, report: &Report) {
    html.raw("<p>Each bar is twice as wide in values as the one before it.</p><div class=\"pictures\">");
    for distribution in &report.distributions {
        html.raw("<figure><figcaption>")
            .text(&distribution.name)
            .raw("<small>median ")
            .count(distribution.p50)
            .raw(", 95 % up to ")
            .count(distribution.p95)
            .raw(", largest ")
            .count(distribution.max)
            .raw("</small></figcaption>");
        histogram(html, distribution);
        query(html, &distribution.query);
        html.raw("</figure>");
    }
    html.raw("</div>\n");
}

pub(super) fn roles(html: &mut Html, report: &Report) {
    html.raw("<div class=\"pair\"><div>");
    let heads = [
        words("Role"),
        words("Kind"),
        numbers("Messages"),
        numbers("Characters"),
    ];
    table(html, "Messages and notices by role", &heads, |html| {
        for role in &report.roles.rows {
            html.row(&role.role)
                .word(&role.kind)
                .figure(role.messages)
                .figure(role.characters)
                .end_row();
        }
    });
    end(html, &report.roles);
    html.raw("</div><div>");
    if report.references.rows.is_empty() {
        html.raw("<p class=\"quiet\">No message refers to another.</p>");
    } else {
        let heads = [
            words("References"),
            numbers("Count"),
            numbers("To the same sender"),
        ];
        table(html, "References by what became of them", &heads, |html| {
            for status in &report.references.rows {
                html.row(&status.status)
                    .figure(status.count)
                    .figure(status.same_sender)
                    .end_row();
            }
        });
    }
    end(html, &report.references);
    html.raw("</div></div>\n");
}

pub(super) fn calls(html: &mut Html, report: &Report) {
    if report.tool_calls.rows.is_empty() {
        html.raw("<p>No tool is called.</p>");
        query(html, &report.tool_calls.query);
        return;
    }
    html.raw("<div class=\"pair\"><div>");
    let heads = [words("Status"), words("Paired by"), numbers("Count")];
    table(
        html,
        "Calls and results by how they were paired",
        &heads,
        |html| {
            for status in &report.tool_calls.rows {
                html.row(&status.status)
                    .word(status.paired_by.as_deref().unwrap_or("–"))
                    .figure(status.count)
                    .end_row();
            }
        },
    );
    end(html, &report.tool_calls);
    html.raw("</div><div>");
    if report.tools.rows.is_empty() {
        html.raw("<p class=\"quiet\">Names of tools are left out: the run quotes no content.</p>");
    } else {
        let heads = [
            words("Tool"),
            numbers("Calls"),
            numbers("Unanswered"),
            numbers("Failed"),
        ];
        table(html, "Tools by calls", &heads, |html| {
            for tool in &report.tools.rows {
                html.row(tool.name.as_deref().unwrap_or("(no name)"))
                    .figure(tool.calls)
                    .figure(tool.unanswered)
                    .figure(tool.failed)
                    .end_row();
            }
        });
        end(html, &report.tools);
    }
    html.raw("</div></div>\n");
}

pub(super) fn largest(html: &mut Html, report: &Report) {
    if let Some(found) = &report.dearest {
        dearest(html, found);
    } else {
        by_characters(html, report);
    }
    let Some(slowest) = &report.slowest else {
        html.raw("<p class=\"quiet\">How long conversations took stands in <code>run.json</code>; <code>chatmill report ")
            .raw("--times</code> adds the slowest to this page.</p>\n");
        return;
    };
    slowest_conversations(html, slowest);
}

/// The conversations with the most text, where nothing is counted.
fn by_characters(html: &mut Html, report: &Report) {
    html.raw("<p>The conversations with the most text.</p>");
    let heads = [
        words("Conversation"),
        words("Source"),
        words("Input"),
        numbers("Messages"),
        numbers("Participants"),
        numbers("Characters"),
    ];
    table(html, "Conversations by characters of text", &heads, |html| {
        for large in &report.largest.rows {
            html.row(&large.conversation_id)
                .word(&large.source)
                .word(&large.input)
                .figure(large.messages)
                .figure(large.participants)
                .figure(large.characters)
                .end_row();
        }
    });
    end(html, &report.largest);
}

fn slowest_conversations(html: &mut Html, slowest: &Queried<SlowConversation>) {
    html.raw("<h3>Slowest</h3><p>The conversations that took longest, of those milled in the last attempt of the run.</p>");
    let heads = [
        words("Conversation"),
        words("Input"),
        numbers("Bytes"),
        numbers("Seconds"),
    ];
    table(html, "Conversations by time", &heads, |html| {
        for slow in &slowest.rows {
            html.row(&slow.conversation_id)
                .word(&slow.input)
                .size(slow.bytes)
                .rate(slow.seconds, 3)
                .end_row();
        }
    });
    end(html, slowest);
}

pub(super) fn identity(html: &mut Html, report: &Report) {
    let run = &report.run;
    html.raw("<dl class=\"identity\">");
    let rows = [
        ("Pipeline", run.name.clone()),
        ("Written by", format!("chatmill {}", run.version)),
        ("Fingerprint", run.fingerprint.clone()),
        ("Verdict", run.verdict.clone()),
        ("Assistant", run.perspective.clone()),
        ("History", run.history.clone()),
        ("Redaction", run.redaction.clone()),
        ("Dialects", run.dialects.join(", ")),
        ("Encodings", run.encodings.join(", ")),
        ("First message", run.first_message.clone().unwrap_or_default()),
        ("Last message", run.last_message.clone().unwrap_or_default()),
    ];
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        html.raw("<dt>")
            .raw(name)
            .raw("</dt><dd>")
            .text(value)
            .raw("</dd>");
    }
    html.raw("</dl>\n");
}
