//! `chatmill night accept`: declares a night that failed its conditions a good one.

use std::path::PathBuf;

use chatmill_dataset::NightName;
use chatmill_report::night::NightState;
use clap::Args;

use super::follow_up::derive;
use super::records::{Records, no_store};
use crate::context::Context;
use crate::exit::{Exit, Outcome, refuse};
use crate::output;

/// Arguments of `night accept`.
#[derive(Debug, Args)]
pub(super) struct AcceptArguments {
    /// Name of the run
    #[arg(value_name = "NIGHT")]
    night: String,
    /// Store of `chatmill night`
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
}

/// Accepts a night.
pub(super) fn execute(arguments: &AcceptArguments, context: &Context<'_>) -> Outcome<Exit> {
    if Records::find(&arguments.store)?.is_none() {
        return Err(no_store(&arguments.store));
    }
    let mut records = Records::open(&arguments.store)?;
    let name = NightName::parse(&arguments.night);
    let night = records
        .nights
        .iter()
        .find(|night| Some(&night.name) == name.as_ref());
    let Some(mut night) = night.cloned() else {
        return refuse(
            format!("there is no run `{}`", arguments.night),
            "`chatmill night status` lists the runs",
        );
    };
    if night.record.state != NightState::Objected || night.record.is_removed {
        let state = if night.record.is_removed {
            "removed"
        } else {
            night.record.state.word()
        };
        let message = format!("the run {} is {state}", night.name);
        return refuse(
            message,
            "only a complete run that failed its conditions can be accepted",
        );
    }
    night.record.state = NightState::Accepted;
    let message = format!("the run {} is accepted\n", night.name);
    records.save(night)?;
    derive(&records, context)?;
    output::print(&message)?;
    Ok(Exit::Complete)
}
