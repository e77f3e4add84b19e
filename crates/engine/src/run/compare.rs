//! The stage before rendering that compares conversations: comparison data is
//! written shard by shard, and when all of it is present, the clusters of all
//! conversations are computed and stored, once for all workers that render.
//!
//! The clusters depend only on plan and inputs, so two workers
//! that compute them at the same time write equal files.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{COMPARE, Runner};
use crate::error::{RunError, go_on};
use crate::rerender::earlier;
use crate::slice::shards::Shard;
use crate::work::guarded;
use crate::work::survey::{self, SliceFacts, Survey};
use chatmill_dataset::SliceId;

impl Runner<'_> {
    /// Compares all conversations, if the plan requires it; shards with comparison data are not read again.
    pub(super) fn compare_all(&mut self, shards: &[Shard]) -> Result<(), RunError> {
        let unseen = self.place_conversations(shards)?;
        if unseen.is_empty() {
            return Ok(());
        }
        let unseen: Vec<Shard> = shards
            .iter()
            .filter(|shard| unseen.contains(&shard.number))
            .cloned()
            .collect();
        self.compare_shards(&unseen)?;
        match self.place_conversations(shards)?.len() {
            0 => Ok(()),
            lost => Err(RunError::Incomplete(format!(
                "the comparison data of {lost} shards is missing again"
            ))),
        }
    }

    /// Loads the cluster of each conversation, if the plan requires
    /// it; returns the shards without comparison data, if any.
    pub(crate) fn place_conversations(&mut self, shards: &[Shard]) -> Result<Vec<u32>, RunError> {
        let (plan, staging) = (self.tools.plan, self.staging);
        if plan.pipeline.surveys().is_none() {
            return Ok(Vec::new());
        }
        if let Some(survey) = staging.clusters(Survey::read_from)? {
            self.tools.survey = survey;
            return Ok(Vec::new());
        }
        let mut unseen = Vec::new();
        for shard in shards {
            if !staging.has_likenesses(shard.number)? {
                unseen.push(shard.number);
            }
        }
        if !unseen.is_empty() {
            return Ok(unseen);
        }
        let limit = plan.limits().compared;
        let mut found = 0;
        let mut facts = BTreeMap::new();
        for shard in shards {
            go_on(self.tools.stop, 0)?;
            match staging.likenesses(shard.number, |from| survey::read_facts(shard.number, from))? {
                // Beyond the limit, conversations are only counted for the error message.
                Some(of_shard) => {
                    found += of_shard.values().map(SliceFacts::size).sum::<u64>();
                    if found <= limit {
                        facts.extend(of_shard);
                    }
                }
                None => unseen.push(shard.number),
            }
        }
        if !unseen.is_empty() {
            return Ok(unseen);
        }
        if found > limit {
            return Err(RunError::TooManyToCompare { found, limit });
        }
        let earlier = earlier::likenesses(plan, limit - found, self.tools.stop)?;
        let survey = Survey::of(facts, &earlier, plan)
            .map_err(|error| RunError::Incomplete(format!("the comparison data is damaged: {error}")))?;
        survey.check_tools(plan)?;
        staging.keep_clusters(&mut |into| survey.write_to(into))?;
        self.tools.survey = survey;
        Ok(Vec::new())
    }

    /// Writes the comparison data of some shards.
    pub(crate) fn compare_shards(&self, shards: &[Shard]) -> Result<(), RunError> {
        let (plan, stop) = (self.tools.plan, self.tools.stop);
        let limit = plan.limits().compared;
        let found = AtomicU64::new(0);
        let (mut facts, _) = self.read(COMPARE.0, shards, &|_| true, &|slice| {
            let looked = guarded(slice, stop, || survey::facts(slice, plan, self.progress, stop))?;
            Ok(looked?.map(|facts| {
                let before = found.fetch_add(facts.size(), Ordering::Relaxed);
                if before > limit {
                    SliceFacts::default()
                } else {
                    facts
                }
            }))
        })?;
        let found = found.into_inner();
        if found > limit {
            return Err(RunError::TooManyToCompare { found, limit });
        }
        for shard in shards {
            let next = SliceId {
                shard: shard.number + 1,
                slice: 0,
            };
            let later = facts.split_off(&next);
            let of_shard: Vec<SliceFacts> = std::mem::replace(&mut facts, later).into_values().collect();
            let write = &mut |into: &mut dyn io::Write| survey::write_facts(&of_shard, into);
            self.staging.keep_likenesses(shard.number, write)?;
        }
        Ok(())
    }
}
