//! `chatmill night accept`: a night that something objects to counts as a good one from now on.

use std::path::PathBuf;

use chatmill_dataset::NightName;
use chatmill_report::night::NightState;
use clap::Args;

use super::books::Books;
use super::settle::derive;
use crate::context::Context;
use crate::exit::{Exit, WrongRequest, refuse};
use crate::output;

/// Arguments of `night accept`.
#[derive(Debug, Args)]
pub(super) struct AcceptArguments {
    /// Name of the night
    #[arg(value_name = "NIGHT")]
    night: String,
    /// Folder of the nights
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
}

/// Accepts a night.
pub(super) fn execute(arguments: &AcceptArguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    if Books::find(&arguments.store)?.is_none() {
        return Err(WrongRequest::new(format!("{} holds no nights", arguments.store.display())).into());
    }
    let mut books = Books::open(&arguments.store)?;
    let name = NightName::parse(&arguments.night);
    let night = books
        .nights
        .iter()
        .find(|night| Some(&night.name) == name.as_ref());
    let Some(mut night) = night.cloned() else {
        return refuse(
            format!("there is no night `{}`", arguments.night),
            "`chatmill night status` lists the nights",
        );
    };
    if night.record.state != NightState::Objected || night.record.is_removed {
        let state = if night.record.is_removed {
            "removed"
        } else {
            night.record.state.word()
        };
        let message = format!("the night {} is {state}", night.name);
        return refuse(
            message,
            "only a complete night that something objects to can be accepted",
        );
    }
    night.record.state = NightState::Accepted;
    let said = format!("the night {} is accepted\n", night.name);
    books.save(night)?;
    derive(&books, context)?;
    output::print(&said)?;
    Ok(Exit::Complete)
}
