//! The steps after a night has ended: the link, the history, the metrics for Prometheus, the removal of old nights, and the notice.

use chatmill_dataset::{DatasetError, LatestLink, NIGHT_JSON, NIGHT_NOTE};
use chatmill_report::night::{History, NightNote, NightRecord, NightState, open_metrics, retained};
use chatmill_report::trend::trend_page;
use jiff::Timestamp;

use super::notify::notify;
use super::records::{Night, Records};
use super::settings::NightSettings;
use crate::context::Context;
use crate::exit::{Exit, Outcome};

/// Performs the steps after a recorded night, and records that they are done.
pub(super) fn follow_up(
    records: &mut Records,
    mut night: Night,
    settings: &NightSettings,
    context: &Context<'_>,
) -> Outcome<Exit> {
    derive(records, context)?;
    remove_old(records, settings.section.keep as usize, context)?;
    let mut exit = exit_of(night.record.exit_code);
    if let Err(reason) = notify(&settings.section.notify, records, &night) {
        context.note(&format!("nobody was notified: {reason}"));
        if exit == Exit::Complete {
            exit = Exit::Failed;
        }
    }
    night.record.is_settled = true;
    if let Some(known) = records.nights.iter().find(|known| known.name == night.name) {
        night.record.is_removed = known.record.is_removed;
    }
    records.save(night)?;
    Ok(exit)
}

/// Writes the note of a night into its folder.
pub(super) fn write_note(records: &Records, night: &Night) -> Outcome<()> {
    let (store, note) = (&records.store, NightNote(&night.record));
    store.write_summary(&night.name, NIGHT_JSON, note.json()?.as_bytes())?;
    store.write_summary(&night.name, NIGHT_NOTE, note.markdown()?.as_bytes())?;
    Ok(())
}

/// Writes the files that are derived from the records: the link to the last good night, the page, the history and the metrics.
pub(super) fn derive(records: &Records, context: &Context<'_>) -> Outcome<()> {
    if let Some(good) = records.good().next()
        && records.store.set_latest(&good.name)? == LatestLink::Foreign
    {
        context.note("`latest` in the store is not a link that chatmill made; it is kept as it is");
    }
    let all_records: Vec<NightRecord> = records.nights.iter().map(|night| night.record.clone()).collect();
    records.store.write_page(trend_page(&all_records)?.as_bytes())?;
    let history = History::of(&all_records)?;
    records.store.write_history(&history.columns, &history.cells())?;
    let mut latest = all_records.iter().rev();
    if let Some(record) = latest.find(|record| record.state != NightState::Begun) {
        let good = records.good().next().and_then(|good| seconds(&good.record));
        let text = open_metrics(record, seconds(record), good);
        records.store.write_metrics(text.as_bytes())?;
    }
    Ok(())
}

/// The end of a night, in seconds since 1970.
fn seconds(record: &NightRecord) -> Option<i64> {
    let ended: Timestamp = record.ended_at.as_deref()?.parse().ok()?;
    Some(ended.as_second())
}

/// Removes the datasets of nights that are not kept. The removal is recorded first, so that a kill cannot leave a partial dataset that
/// looks complete.
fn remove_old(records: &mut Records, keep: usize, context: &Context<'_>) -> Outcome<()> {
    let nights = records.nights.iter();
    let nights: Vec<_> = nights
        .map(|night| (night.name.clone(), night.record.state))
        .collect();
    for (mut night, stays) in records.nights.clone().into_iter().zip(retained(&nights, keep)) {
        if !stays && !night.record.is_removed {
            night.record.is_removed = true;
            records.save(night)?;
        }
    }
    for night in records.nights.iter().filter(|night| night.record.is_removed) {
        match records.store.remove(&night.name) {
            Err(error @ DatasetError::WrongPath { .. }) => {
                context.note(&format!("the run {} is not removed: {error}", night.name));
            }
            other => other?,
        }
    }
    Ok(())
}

/// The exit for a recorded exit code.
fn exit_of(code: Option<u8>) -> Exit {
    let exits = [Exit::Complete, Exit::Failed, Exit::WrongRequest];
    let exit = exits.into_iter().find(|exit| Some(exit.code()) == code);
    exit.unwrap_or(Exit::Incomplete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_code_is_read_back_and_none_means_incomplete() {
        for exit in [Exit::Complete, Exit::Failed, Exit::WrongRequest, Exit::Incomplete] {
            assert_eq!(exit_of(Some(exit.code())), exit);
        }
        assert_eq!(exit_of(None), Exit::Incomplete);
    }
}
