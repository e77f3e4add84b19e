//! The figures of the last night for Prometheus, in the text format of `OpenMetrics`.

use std::fmt::Write;

use super::NightRecord;
use crate::report::MoneyBasis;

/// The record of a night as `OpenMetrics`. `ended` and `last_good` are the ends of the night and of the last good one, in seconds since
/// 1970.
pub fn open_metrics(record: &NightRecord, ended: Option<i64>, last_good: Option<i64>) -> String {
    let mut text = Exposition::default();
    let ended_help = "End of the last run, in seconds since 1970.";
    text.gauge("ended_timestamp", ended_help, ended);
    let good_help = "End of the last good run, in seconds since 1970.";
    text.gauge("last_good_timestamp", good_help, last_good);
    let is_good = Some(u8::from(record.state.is_good()));
    text.gauge("good", "Whether the last run is good: 1, or 0.", is_good);
    text.gauge("exit_code", "Exit code of the last run.", record.exit_code);
    let counts = [
        (
            "objections",
            "Failed conditions of the last run.",
            &record.objections,
        ),
        (
            "condition_warnings",
            "Warnings of the last run.",
            &record.warnings,
        ),
    ];
    for (name, help, list) in counts {
        text.gauge(name, help, Some(list.len()));
    }
    if let Some(figures) = &record.figures {
        let missing = record.missing.count;
        let rejects_help = "Records and messages that could not be read.";
        let counts = [
            ("inputs", "Inputs.", figures.inputs),
            (
                "inputs_missing",
                "Inputs of the previous run that this one does not have.",
                missing,
            ),
            ("conversations", "Conversations.", figures.conversations),
            ("messages", "Messages.", figures.messages),
            ("rejects", rejects_help, figures.rejects),
        ];
        for (name, help, count) in counts {
            text.gauge(name, help, Some(count));
        }
        let ratio = Some(figures.reject_ratio());
        text.gauge("reject_ratio", "Share of rejected records.", ratio);
        text.family("findings", "Occurrences of findings.");
        text.sample(&[("severity", "error")], Some(figures.errors));
        text.sample(&[("severity", "warning")], Some(figures.warnings));
        text.family("tokens", "Tokens of all renderings.");
        for figure in &figures.tokens {
            let names = ["dialect", "profile", "coverage", "encoding"];
            let labels: Vec<_> = names.into_iter().zip(figure.key()).collect();
            text.sample(&labels, Some(figure.tokens));
        }
        text.family("money", "Cost of the tokens.");
        for figure in &figures.money {
            let names = ["dialect", "profile", "coverage", "model"];
            let mut labels: Vec<_> = names.into_iter().zip(figure.key()).collect();
            labels.push(("currency", &figure.currency));
            let basis = match figure.basis {
                MoneyBasis::Each => None,
                MoneyBasis::Model => Some("model"),
                MoneyBasis::Logged => Some("logged"),
            };
            labels.extend(basis.map(|basis| ("basis", basis)));
            text.sample(&labels, Some(figure.amount));
        }
    }
    text.finish()
}

/// The text so far; every family is a gauge.
#[derive(Default)]
struct Exposition {
    text: String,
    family: &'static str,
}

impl Exposition {
    fn family(&mut self, name: &'static str, help: &str) {
        self.family = name;
        // Ignored: writing to a string cannot fail.
        let _ = writeln!(self.text, "# TYPE chatmill_night_{name} gauge");
        let _ = writeln!(self.text, "# HELP chatmill_night_{name} {help}");
    }

    /// A family with one sample that has no labels.
    fn gauge(&mut self, name: &'static str, help: &str, value: Option<impl std::fmt::Display>) {
        self.family(name, help);
        self.sample(&[], value);
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: Option<impl std::fmt::Display>) {
        let Some(value) = value else {
            return;
        };
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let labels = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", labels.join(","))
        };
        let _ = writeln!(self.text, "chatmill_night_{}{labels} {value}", self.family);
    }

    fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }
}

/// The value of a label, escaped for double quotes.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{RunFigures, TokenFigure};
    use crate::night::NightState;
    use crate::report::MoneyFigure;

    #[test]
    fn metrics_of_a_night_are_gauges_and_end_with_eof() {
        let record = NightRecord {
            state: NightState::Good,
            exit_code: Some(0),
            figures: Some(RunFigures {
                conversations: 7,
                framed: 8,
                rejected: 1,
                tokens: vec![TokenFigure {
                    dialect: "own-\"a\\b\"".to_owned(),
                    tokens: 12,
                    ..TokenFigure::default()
                }],
                money: vec![MoneyFigure {
                    amount: 0.5,
                    ..MoneyFigure::default()
                }],
                ..RunFigures::default()
            }),
            ..NightRecord::default()
        };
        let text = open_metrics(&record, Some(10), None);
        for line in [
            "# TYPE chatmill_night_conversations gauge",
            "chatmill_night_conversations 7",
            "chatmill_night_good 1",
            "chatmill_night_ended_timestamp 10",
            "chatmill_night_reject_ratio 0.125",
            "chatmill_night_findings{severity=\"error\"} 0",
            "chatmill_night_tokens{dialect=\"own-\\\"a\\\\b\\\"\",profile=\"\",coverage=\"\",encoding=\"\"} 12",
            "chatmill_night_money{dialect=\"\",profile=\"\",coverage=\"\",model=\"\",currency=\"\"} 0.5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
        assert!(!text.contains("\nchatmill_night_last_good_timestamp "), "{text}");
    }

    #[test]
    fn a_failed_night_is_not_good_and_has_no_figures() {
        let text = open_metrics(&NightRecord::default(), None, Some(5));
        assert!(
            text.contains("chatmill_night_good 0\n") && !text.contains("conversations"),
            "{text}"
        );
    }
}
