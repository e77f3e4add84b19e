//! The figures of the last night for Prometheus, in the text format of `OpenMetrics`.

use std::fmt::Write;

use super::NightRecord;

/// The record of a night as `OpenMetrics`. `ended` and `last_good` are seconds since 1970: when the night ended, and when the
/// last good one did.
pub fn open_metrics(record: &NightRecord, ended: Option<i64>, last_good: Option<i64>) -> String {
    let mut text = Exposition::default();
    text.family(
        "ended_timestamp",
        "When the last night ended, in seconds since 1970.",
    );
    text.sample(&[], ended);
    text.family(
        "last_good_timestamp",
        "When the last good night ended, in seconds since 1970.",
    );
    text.sample(&[], last_good);
    text.family("good", "Whether the last night is good: 1, or 0.");
    text.sample(&[], Some(u8::from(record.state.is_good())));
    text.family("exit_code", "Exit code of the last night.");
    text.sample(&[], record.exit_code);
    text.family("objections", "What objects to the last night.");
    text.sample(&[], Some(record.objections.len()));
    text.family("condition_warnings", "What is only warned of.");
    text.sample(&[], Some(record.warnings.len()));
    if let Some(figures) = &record.figures {
        let counts = [
            ("inputs", "Inputs.", figures.inputs),
            (
                "inputs_missing",
                "Inputs that the night before had.",
                record.missing.count,
            ),
            ("conversations", "Conversations.", figures.conversations),
            ("messages", "Messages.", figures.messages),
            (
                "rejects",
                "Records and messages that could not be read.",
                figures.rejects,
            ),
        ];
        for (name, help, count) in counts {
            text.family(name, help);
            text.sample(&[], Some(count));
        }
        text.family("reject_ratio", "Rejected records among all.");
        text.sample(&[], Some(figures.reject_ratio()));
        text.family("findings", "Occurrences of findings.");
        text.sample(&[("severity", "error")], Some(figures.errors));
        text.sample(&[("severity", "warning")], Some(figures.warnings));
        text.family("tokens", "Tokens of all renderings.");
        for figure in &figures.tokens {
            let labels = [
                ("dialect", figure.dialect.as_str()),
                ("profile", figure.profile.as_str()),
                ("coverage", figure.coverage.as_str()),
                ("encoding", figure.encoding.as_str()),
            ];
            text.sample(&labels, Some(figure.tokens));
        }
        text.family("money", "What the tokens cost.");
        for figure in &figures.money {
            let labels = [
                ("dialect", figure.dialect.as_str()),
                ("profile", figure.profile.as_str()),
                ("coverage", figure.coverage.as_str()),
                ("model", figure.model.as_str()),
                ("currency", figure.currency.as_str()),
            ];
            text.sample(&labels, Some(figure.amount));
        }
    }
    text.finish()
}

/// A growing text; every family is a gauge.
#[derive(Default)]
struct Exposition {
    text: String,
    family: &'static str,
}

impl Exposition {
    fn family(&mut self, name: &'static str, help: &str) {
        self.family = name;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# TYPE chatmill_night_{name} gauge");
        let _ = writeln!(self.text, "# HELP chatmill_night_{name} {help}");
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

/// A label's value between double quotes.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{MoneyFigure, RunFigures, TokenFigure};
    use crate::night::NightState;

    #[test]
    fn a_night_is_gauges_and_ends_with_its_end() {
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
    fn a_night_that_failed_says_so_and_has_no_figures() {
        let text = open_metrics(&NightRecord::default(), None, Some(5));
        assert!(
            text.contains("chatmill_night_good 0\n") && !text.contains("conversations"),
            "{text}"
        );
    }
}
