//! The records of a store, which are read once and written one by one.

use std::path::Path;

use chatmill_dataset::{NightName, NightStore, RecordBytes};
use chatmill_report::night::{NIGHT_FORMAT, NightRecord, NightState};
use jiff::Timestamp;

use crate::exit::{CommandError, Outcome, refuse};

/// A night with its record.
#[derive(Clone, Debug)]
pub(super) struct Night {
    /// Its name.
    pub name: NightName,
    /// Its record.
    pub record: NightRecord,
}

/// An open store with its records.
pub(super) struct Records {
    /// The store.
    pub store: NightStore,
    /// The nights, the earliest first.
    pub nights: Vec<Night>,
    /// Nights with records that cannot be read, and the reasons. Their outcome is unknown, so they are not touched.
    pub unreadable: Vec<(NightName, String)>,
}

impl Records {
    /// Opens a store for writing.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        Self::read(NightStore::open(path)?)
    }

    /// Opens a store for reading.
    pub(super) fn find(path: &Path) -> Outcome<Option<Self>> {
        NightStore::find(path)?.map(Self::read).transpose()
    }

    fn read(store: NightStore) -> Outcome<Self> {
        let mut records = Self {
            nights: Vec::new(),
            unreadable: Vec::new(),
            store,
        };
        for name in records.store.nights()? {
            let reason = match records.store.record(&name)? {
                None => continue,
                Some(RecordBytes::Corrupt(reason)) => reason,
                Some(RecordBytes::Whole(bytes)) => match serde_json::from_slice::<NightRecord>(&bytes) {
                    Ok(record) if record.format > NIGHT_FORMAT => {
                        let message = format!(
                            "the record of {name} is of format {}, and this chatmill reads {NIGHT_FORMAT}",
                            record.format
                        );
                        return refuse(message, "use the chatmill that wrote it, or a newer one");
                    }
                    Ok(record) if record.night == name.as_str() => {
                        records.nights.push(Night { name, record });
                        continue;
                    }
                    Ok(record) => format!("it is the record of {}", record.night),
                    Err(error) => error.to_string(),
                },
            };
            records.unreadable.push((name, reason));
        }
        Ok(records)
    }

    /// Writes the record of a night.
    pub(super) fn save(&mut self, night: Night) -> Outcome<()> {
        let mut bytes = serde_json::to_vec_pretty(&night.record)?;
        bytes.push(b'\n');
        self.store.write_record(&night.name, &bytes)?;
        match self.nights.iter_mut().find(|known| known.name == night.name) {
            Some(known) => *known = night,
            None => self.nights.push(night),
        }
        self.nights.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(())
    }

    /// The good nights that still have their datasets, the latest first.
    pub(super) fn good(&self) -> impl Iterator<Item = &Night> {
        let nights = self.nights.iter().rev();
        nights.filter(|night| night.record.state.is_good() && !night.record.is_removed)
    }

    /// The latest name of all nights, also of those with unreadable records.
    pub(super) fn latest(&self) -> Option<&NightName> {
        let readable = self.nights.iter().map(|night| &night.name);
        readable.chain(self.unreadable.iter().map(|(name, _)| name)).max()
    }

    /// The night that has begun and not ended, if there is one.
    pub(super) fn begun(&self) -> Option<&Night> {
        let mut nights = self.nights.iter().rev();
        nights.find(|night| night.record.state == NightState::Begun)
    }
}

/// The refusal of a folder that is not a store.
pub(super) fn no_store(folder: &Path) -> CommandError {
    CommandError::request(format!("{} is not a store of scheduled runs", folder.display()))
}

/// The name of a night that begins at an instant.
pub(super) fn name_at(instant: Timestamp) -> Outcome<NightName> {
    let text = instant.strftime("%Y-%m-%dT%H%M%SZ").to_string();
    let refused = || CommandError::request(format!("no run can be named after {instant}"));
    NightName::parse(&text).ok_or_else(refused)
}

/// The instant in the name of a night.
pub(super) fn instant_of(name: &NightName) -> Option<Timestamp> {
    let text = name.as_str();
    let (day, time) = text.split_once('T')?;
    let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..6)?);
    format!("{day}T{hour}:{minute}:{second}Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_its_instant_are_the_same_second() {
        let instant: Timestamp = "2026-11-22T02:15:00.7Z".parse().unwrap();
        let name = name_at(instant).unwrap();
        assert_eq!(name.as_str(), "2026-11-22T021500Z");
        assert_eq!(instant_of(&name).unwrap().as_second(), instant.as_second());
        assert!(name_at("-000001-01-01T00:00:00Z".parse().unwrap()).is_err());
        let never = NightName::parse("2026-13-22T021500Z").unwrap();
        assert_eq!(instant_of(&never), None);
    }
}
