//! What follows from a night that ended: link, history, figures for Prometheus, removal of old nights, and the notice.

use chatmill_dataset::{DatasetError, FreeKind, LatestLink, NIGHT_JSON, NIGHT_NOTE};
use chatmill_report::night::{
    HISTORY_COLUMNS, HistoryRow, NightNote, NightRecord, NightState, history_rows, kept, open_metrics,
};
use chatmill_report::trend::trend_page;
use jiff::Timestamp;

use super::books::{BookedNight, Books};
use super::notify::notify;
use super::settings::NightSettings;
use crate::context::Context;
use crate::exit::Exit;

/// Does all that follows from a recorded night, and records that it is done.
pub(super) fn settle(
    books: &mut Books,
    mut night: BookedNight,
    settings: &NightSettings,
    context: &Context<'_>,
) -> anyhow::Result<Exit> {
    derive(books, context)?;
    remove_old(books, settings.section.keep as usize, context)?;
    let mut exit = exit_of(night.record.exit_code);
    if let Err(reason) = notify(&settings.section.notify, books, &night) {
        context.note(&format!("nobody was told: {reason}"));
        if exit == Exit::Complete {
            exit = Exit::Objection;
        }
    }
    night.record.is_settled = true;
    if let Some(known) = books.nights.iter().find(|known| known.name == night.name) {
        night.record.is_removed = known.record.is_removed;
    }
    books.save(night)?;
    Ok(exit)
}

/// Writes what is told of a night into its folder.
pub(super) fn tell(books: &Books, night: &BookedNight) -> anyhow::Result<()> {
    let (store, note) = (&books.store, NightNote(&night.record));
    store.tell(&night.name, NIGHT_JSON, note.json()?.as_bytes())?;
    store.tell(&night.name, NIGHT_NOTE, note.markdown()?.as_bytes())?;
    Ok(())
}

/// Writes what is derived from the records: the link to the last good night, the history and the last figures.
pub(super) fn derive(books: &Books, context: &Context<'_>) -> anyhow::Result<()> {
    if let Some(good) = books.good().next()
        && books.store.set_latest(&good.name)? == LatestLink::Foreign
    {
        context.note("`latest` in the store is no link of ours and stays as it is");
    }
    let records: Vec<NightRecord> = books.nights.iter().map(|night| night.record.clone()).collect();
    let columns = HISTORY_COLUMNS.iter();
    let columns: Vec<(String, FreeKind)> = columns.map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    books.store.write_page(trend_page(&records)?.as_bytes())?;
    let rows = history_rows(&records);
    let cells: Vec<_> = rows.iter().map(HistoryRow::cells).collect();
    books.store.write_history(&columns, &cells)?;
    let mut latest = records.iter().rev();
    if let Some(record) = latest.find(|record| record.state != NightState::Begun) {
        let good = books.good().next().and_then(|good| seconds(&good.record));
        let text = open_metrics(record, seconds(record), good);
        books.store.write_metrics(text.as_bytes())?;
    }
    Ok(())
}

/// When a night ended, in seconds since 1970.
fn seconds(record: &NightRecord) -> Option<i64> {
    let ended: Timestamp = record.ended_at.as_deref()?.parse().ok()?;
    Some(ended.as_second())
}

/// Removes the datasets of nights that are kept no longer. That they go is recorded first, so that a kill cannot leave one that
/// looks whole.
fn remove_old(books: &mut Books, keep: usize, context: &Context<'_>) -> anyhow::Result<()> {
    let nights = books.nights.iter();
    let nights: Vec<_> = nights
        .map(|night| (night.name.clone(), night.record.state))
        .collect();
    for (mut night, is_kept) in books.nights.clone().into_iter().zip(kept(&nights, keep)) {
        if !is_kept && !night.record.is_removed {
            night.record.is_removed = true;
            books.save(night)?;
        }
    }
    for night in books.nights.iter().filter(|night| night.record.is_removed) {
        match books.store.remove(&night.name) {
            Err(error @ DatasetError::WrongPath { .. }) => {
                context.note(&format!("the night {} is not removed: {error}", night.name));
            }
            other => other?,
        }
    }
    Ok(())
}

/// The exit that a record's code stands for.
fn exit_of(code: Option<u8>) -> Exit {
    let exits = [Exit::Complete, Exit::Objection, Exit::WrongRequest];
    let exit = exits.into_iter().find(|exit| Some(exit.code()) == code);
    exit.unwrap_or(Exit::Incomplete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_stands_for_its_exit_and_none_for_incomplete() {
        for exit in [
            Exit::Complete,
            Exit::Objection,
            Exit::WrongRequest,
            Exit::Incomplete,
        ] {
            assert_eq!(exit_of(Some(exit.code())), exit);
        }
        assert_eq!(exit_of(None), Exit::Incomplete);
    }
}
