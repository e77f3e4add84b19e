//! The stage that comes before rendering where conversations are compared: each lot is looked at by itself, and when all were,
//! where every conversation stands is made out and put down, once for all who render.
//!
//! What was put down is a function of plan and inputs, so that two who do it at once write the same.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use chatmill_dataset::SliceId;
use chatmill_link::Likeness;

use super::{COMPARE, Runner};
use crate::error::{RunError, go_on};
use crate::slice::lots::Lot;
use crate::work::survey::{self, Survey};

impl Runner<'_> {
    /// Compares all conversations, if the plan wants that; what is put down already is not looked at again.
    pub(super) fn compare_all(&mut self, lots: &[Lot]) -> Result<(), RunError> {
        let unseen = self.place_conversations(lots)?;
        if unseen.is_empty() {
            return Ok(());
        }
        let unseen: Vec<Lot> = lots
            .iter()
            .filter(|lot| unseen.contains(&lot.number))
            .cloned()
            .collect();
        self.look_at(&unseen)?;
        match self.place_conversations(lots)?.len() {
            0 => Ok(()),
            lost => Err(RunError::Incomplete {
                reason: format!("what {lost} lots are compared by is lost again"),
            }),
        }
    }

    /// Makes known where each conversation stands among all, if the plan wants that; else the lots that nobody has looked at.
    pub(crate) fn place_conversations(&mut self, lots: &[Lot]) -> Result<Vec<u32>, RunError> {
        let (plan, staging) = (self.tools.plan, self.staging);
        let dedup = &plan.pipeline.dedup;
        if !dedup.is_on() {
            return Ok(Vec::new());
        }
        if let Some(survey) = staging.clusters(Survey::read_from)? {
            self.tools.survey = survey;
            return Ok(Vec::new());
        }
        let mut unseen = Vec::new();
        for lot in lots {
            if !staging.has_likenesses(lot.number)? {
                unseen.push(lot.number);
            }
        }
        if !unseen.is_empty() {
            return Ok(unseen);
        }
        let limit = plan.limits().compared;
        let mut found = 0;
        let mut likenesses = BTreeMap::new();
        for lot in lots {
            go_on(self.tools.stop, 0)?;
            match staging.likenesses(lot.number, |from| survey::read_likenesses(lot.number, from))? {
                // Beyond the limit they are counted, for the message, and not kept.
                Some(of_lot) => {
                    found += of_lot.values().map(|slice| slice.len() as u64).sum::<u64>();
                    if found <= limit {
                        likenesses.extend(of_lot);
                    }
                }
                None => unseen.push(lot.number),
            }
        }
        if !unseen.is_empty() {
            return Ok(unseen);
        }
        if found > limit {
            return Err(RunError::TooManyToCompare { found, limit });
        }
        let survey = Survey::of(likenesses, dedup);
        staging.keep_clusters(&mut |into| survey.write_to(into))?;
        self.tools.survey = survey;
        Ok(Vec::new())
    }

    /// Puts down what the conversations of some lots are compared by.
    pub(crate) fn look_at(&self, lots: &[Lot]) -> Result<(), RunError> {
        let (plan, stop) = (self.tools.plan, self.tools.stop);
        let limit = plan.limits().compared;
        let found = AtomicU64::new(0);
        let (mut likenesses, _) = self.read(COMPARE.0, lots, &|_| true, &|slice| {
            let looked =
                catch_unwind(AssertUnwindSafe(|| survey::look(slice, plan, stop))).map_err(|_| {
                    stop.store(true, Ordering::Relaxed);
                    RunError::WorkerFailed { slice: slice.id }
                })?;
            Ok(looked.map(|likenesses| {
                let before = found.fetch_add(likenesses.len() as u64, Ordering::Relaxed);
                if before > limit { Vec::new() } else { likenesses }
            }))
        })?;
        let found = found.into_inner();
        if found > limit {
            return Err(RunError::TooManyToCompare { found, limit });
        }
        for lot in lots {
            let next = SliceId {
                lot: lot.number + 1,
                slice: 0,
            };
            let later = likenesses.split_off(&next);
            let of_lot: Vec<Vec<Likeness>> =
                std::mem::replace(&mut likenesses, later).into_values().collect();
            let write = &mut |into: &mut dyn io::Write| survey::write_likenesses(&of_lot, into);
            self.staging.keep_likenesses(lot.number, write)?;
        }
        Ok(())
    }
}
