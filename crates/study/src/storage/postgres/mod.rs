//! A study in PostgreSQL, in the tables of Optuna's `RDBStorage`, shared by workers on many machines.
//!
//! Whoever comes first makes the tables and the study. A trial is claimed under the lock of its study's row, the one that
//! Optuna's own workers take, so numbers are given out once and without a gap. Workers say that they are alive in
//! `trial_heartbeats`; a trial of ours whose worker is silent for the grace period is run again by another one, at the
//! same point, and the first result counts. One of another program is written off as failed. A trial that Optuna's
//! `enqueue_trial` has left waiting is begun by the next free worker. Connections are
//! encrypted where the address asks for it and the feature `tls` is there.

mod address;
mod heartbeat;
mod link;
mod read;
mod rows;
mod sql;
mod study;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod wait;
mod waiting;

use super::{Attributes, Storage, StorageError, StudyInfo, chosen};
use crate::{Point, Space, Trial};
use address::Address;
use heartbeat::Heartbeat;
use link::Links;
use read::{Head, Stage};
use rows::{Beginning, Claim, Ending};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Trials that are read at once.
const CHUNK: usize = 1000;

/// A study that several workers share.
pub struct Postgres {
    links: Links,
    heartbeat: Heartbeat,
    study: i32,
    name: String,
    space: Arc<Space>,
    /// Unlike any other worker's, as JSON.
    worker: String,
    /// Not held while the database is waited for.
    known: Mutex<Known>,
}

/// The trials of the study, as far as this worker knows.
struct Known {
    /// The first number that may be free.
    next: u64,
    /// The last trial that was looked at.
    seen: i32,
    /// Trials of others that had not ended then.
    under_way: BTreeMap<i32, u64>,
    /// Trials of this worker by number.
    mine: BTreeMap<u64, i32>,
    /// Trials that were enqueued and had not begun when they were first seen.
    waiting: BTreeSet<u64>,
    /// Trials whose workers were silent when that was last asked.
    stale: BTreeMap<u64, (i32, bool)>,
    asked: Instant,
}

impl Known {
    fn owns(&self, trial: i32) -> bool {
        self.mine.values().any(|&mine| mine == trial)
    }

    fn note(&mut self, head: &Head) {
        self.seen = self.seen.max(head.id);
        if head.stage == Stage::Waiting {
            self.waiting.insert(head.number);
        }
        match head.stage {
            Stage::Ended(_) => self.under_way.remove(&head.id),
            // Begun by another thread while this was read.
            _ if self.owns(head.id) => None,
            Stage::Waiting | Stage::Running => self.under_way.insert(head.id, head.number),
        };
    }
}

impl Postgres {
    /// Makes the study, or joins it if it is there and was made with the same facts. The address is PostgreSQL's, with
    /// `study=NAME`, `grace=SECONDS` and `reconnect=SECONDS` behind the question mark where they are wanted. `on_wait` is
    /// called with a sentence now and then while somebody else holds a lock.
    pub fn create_or_join(
        url: &str,
        info: &StudyInfo,
        on_wait: &mut dyn FnMut(&str),
    ) -> Result<Self, StorageError> {
        let address = Address::read(url)?;
        let study = study::create_or_join(&address, info, on_wait)?;
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let host = std::env::var("HOSTNAME").unwrap_or_default();
        let worker = json!(format!(
            "{host}-{}-{}",
            std::process::id(),
            since.as_nanos()
        ));
        Ok(Self {
            heartbeat: Heartbeat::start(address.clone()),
            study,
            space: Arc::clone(&info.space),
            name: address.study.clone().unwrap_or_else(|| info.name.clone()),
            worker: worker.to_string(),
            known: Mutex::new(Known {
                next: 0,
                seen: 0,
                under_way: BTreeMap::new(),
                mine: BTreeMap::new(),
                waiting: BTreeSet::new(),
                stale: BTreeMap::new(),
                asked: Instant::now(),
            }),
            links: Links::new(address),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn foreign(&self, message: String) -> StorageError {
        StorageError::Foreign {
            place: format!("{}, study '{}'", self.links.address.place, self.name),
            message,
        }
    }

    fn own(&self, number: u64, trial: i32) {
        self.heartbeat.insert(trial);
        let mut known = self.known();
        known.mine.insert(number, trial);
        known.under_way.remove(&trial);
    }

    /// The trials that are new or have newly ended.
    fn heads(&self) -> Result<Vec<Head>, StorageError> {
        let (seen, under_way) = {
            let known = self.known();
            let under_way: Vec<i32> = known.under_way.keys().copied().collect();
            (known.seen, under_way)
        };
        let rows = self.links.run(|open, _| {
            open.client
                .query(&open.ended, &[&self.study, &seen, &under_way])
        })?;
        let heads: Result<Vec<Head>, String> = rows.iter().map(Head::of).collect();
        let mut heads = heads.map_err(|why| self.foreign(why))?;
        let mine: BTreeSet<i32> = self.known().mine.values().copied().collect();
        heads.retain(|head| !mine.contains(&head.id));
        Ok(heads)
    }

    /// Begins a trial that was enqueued, unless somebody else has. One whose values are none of the space's fails.
    fn begin_waiting(&self, number: u64, point: &Point) -> Result<Option<Point>, StorageError> {
        let begun = self.links.run(|open, _| {
            waiting::begin(
                &mut open.client,
                self.study,
                number,
                &self.space,
                point,
                &self.worker,
            )
        })?;
        Ok(begun.map(|(trial, point)| {
            self.own(number, trial);
            point
        }))
    }

    /// Asks now and then which workers are silent, and writes off what other programs have left behind.
    fn look_for_stale(&self) -> Result<(), StorageError> {
        let grace = self.links.address.grace;
        {
            let mut known = self.known();
            if known.asked.elapsed() < (grace / 4).min(Duration::from_secs(2)) {
                return Ok(());
            }
            known.asked = Instant::now();
        }
        let seconds = grace.as_secs_f64();
        let stale = self.links.run(|open, _| {
            let rows = open.client.query(&open.stale, &[&self.study, &seconds])?;
            let mut stale = BTreeMap::new();
            for row in rows {
                let (trial, number, is_ours): (i32, Option<i32>, bool) =
                    (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
                if !is_ours {
                    open.client.execute(sql::WRITE_OFF, &[&trial])?;
                }
                let number = number.and_then(|number| u64::try_from(number).ok());
                stale.extend(number.map(|number| (number, (trial, is_ours))));
            }
            Ok(stale)
        })?;
        self.known().stale = stale;
        Ok(())
    }
}

impl Storage for Postgres {
    fn poll(&self) -> Result<Vec<(Trial, Attributes)>, StorageError> {
        let heads = self.heads()?;
        let mut ended = Vec::new();
        let finished: Vec<Head> = heads
            .iter()
            .filter(|head| matches!(head.stage, Stage::Ended(_)))
            .cloned()
            .collect();
        for chunk in finished.chunks(CHUNK) {
            let trials = self
                .links
                .run(|open, _| read::trials(&mut open.client, chunk))?;
            let wrong = |(number, why)| self.foreign(format!("trial {number}: {why}"));
            for row in trials.map_err(wrong)? {
                ended.push(row.into_trial(&self.space)?);
            }
        }
        let mut known = self.known();
        for head in &heads {
            known.note(head);
        }
        Ok(ended)
    }

    fn claim(&self, number: u64, point: &Point) -> Result<bool, StorageError> {
        if number < self.known().next {
            return Ok(false);
        }
        let row = Beginning::new(self.study, number, chosen(&self.space, point), &self.worker);
        match self.links.run(|open, is_again| row.write(open, is_again))? {
            Claim::Mine(trial) => {
                self.own(number, trial);
                self.known().next = number + 1;
                Ok(true)
            }
            Claim::Next(next) if next > number => {
                self.known().next = next;
                Ok(false)
            }
            Claim::Next(next) => {
                Err(self.foreign(format!("has {next} trials, but {number} were seen in it")))
            }
            Claim::NoStudy => Err(self.foreign("is no longer there".to_owned())),
        }
    }

    fn take_over(&self, number: u64, point: &Point) -> Result<Option<Point>, StorageError> {
        if self.known().waiting.remove(&number) {
            return self.begin_waiting(number, point);
        }
        self.look_for_stale()?;
        let stale = self.known().stale.remove(&number);
        let Some((trial, true)) = stale else {
            return Ok(None);
        };
        let seconds = self.links.address.grace.as_secs_f64();
        let taken = self
            .links
            .run(|open, _| open.client.execute(&open.take_over, &[&trial, &seconds]))?;
        if taken == 0 {
            return Ok(None);
        }
        self.own(number, trial);
        let fixed = self
            .links
            .run(|open, _| waiting::fixed(&mut open.client, trial, &self.space, point))?;
        Ok(Some(fixed.unwrap_or_else(|_| point.clone())))
    }

    fn finish(&self, trial: &Trial, attributes: &Attributes) -> Result<(), StorageError> {
        let number = trial.number;
        let id = self.known().mine.get(&number).copied();
        let Some(id) = id else {
            return Err(self.foreign(format!("trial {number} was not claimed by this worker")));
        };
        let row = Ending::new(id, trial, attributes);
        self.links.run(|open, _| row.write(open))?;
        self.heartbeat.remove(id);
        Ok(())
    }

    fn sync(&self, _now: bool) -> Result<(), StorageError> {
        // Every result is committed when it is written.
        Ok(())
    }

    fn describe_wait(&self, trials: &[u64]) -> String {
        wait::describe(&self.links, self.study, trials)
    }
}
