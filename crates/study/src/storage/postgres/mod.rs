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
mod sql;
mod study;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod waiting;

use super::layout::{distribution, internal, result, system_attributes};
use super::{Attributes, Storage, StorageError, StudyInfo, chosen, with_note};
use crate::{Distribution, Point, Space, Trial};
use address::Address;
use heartbeat::Heartbeat;
use link::{Link, Open};
use postgres::Error;
use postgres::types::ToSql;
use read::{Head, Stage};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Trials that are read at once.
const CHUNK: usize = 1000;

/// A study that several workers share.
pub struct Postgres {
    link: Link,
    heartbeat: Heartbeat,
    study: i32,
    name: String,
    space: Arc<Space>,
    /// Unlike any other worker's, as JSON.
    worker: String,
    /// The first number that may be free, as far as is known.
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

impl Postgres {
    /// Makes the study, or joins it if it is there and was made with the same facts. The address is PostgreSQL's, with
    /// `study=NAME`, `grace=SECONDS` and `reconnect=SECONDS` behind the question mark where they are wanted.
    pub fn create_or_join(url: &str, info: &StudyInfo) -> Result<Self, StorageError> {
        let address = Address::read(url)?;
        let study = study::create_or_join(&address, info)?;
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
            next: 0,
            seen: 0,
            under_way: BTreeMap::new(),
            mine: BTreeMap::new(),
            waiting: BTreeSet::new(),
            stale: BTreeMap::new(),
            asked: Instant::now(),
            link: Link::new(address),
        })
    }

    fn foreign(&self, message: String) -> StorageError {
        StorageError::Foreign {
            place: format!("{}, study '{}'", self.link.address.place, self.name),
            message,
        }
    }

    fn own(&mut self, number: u64, trial: i32) {
        self.heartbeat.insert(trial);
        self.mine.insert(number, trial);
        self.under_way.remove(&trial);
    }

    /// The trials that are new or have newly ended.
    fn heads(&mut self) -> Result<Vec<Head>, StorageError> {
        let under_way: Vec<i32> = self.under_way.keys().copied().collect();
        let (study, seen) = (self.study, self.seen);
        let rows = self
            .link
            .run(|open, _| open.client.query(&open.ended, &[&study, &seen, &under_way]))?;
        let mine: BTreeSet<i32> = self.mine.values().copied().collect();
        let heads: Result<Vec<Head>, String> = rows.iter().map(Head::of).collect();
        let mut heads = heads.map_err(|why| self.foreign(why))?;
        heads.retain(|head| !mine.contains(&head.id));
        Ok(heads)
    }

    /// Begins a trial that was enqueued, unless somebody else has. One whose values are none of the space's fails.
    fn begin_waiting(&mut self, number: u64, point: &Point) -> Result<Option<Point>, StorageError> {
        let space = Arc::clone(&self.space);
        let begun = self.link.run(|open, _| {
            waiting::begin(
                &mut open.client,
                self.study,
                number,
                &space,
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
    fn look_for_stale(&mut self) -> Result<(), StorageError> {
        let grace = self.link.address.grace;
        if self.asked.elapsed() < (grace / 4).min(Duration::from_secs(2)) {
            return Ok(());
        }
        self.asked = Instant::now();
        let (study, seconds) = (self.study, grace.as_secs_f64());
        let stale = self.link.run(|open, _| {
            let rows = open.client.query(&open.stale, &[&study, &seconds])?;
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
        self.stale = stale;
        Ok(())
    }
}

impl Storage for Postgres {
    fn poll(&mut self) -> Result<Vec<(Trial, Attributes)>, StorageError> {
        let heads = self.heads()?;
        let mut ended = Vec::new();
        let finished: Vec<Head> = heads
            .iter()
            .filter(|head| matches!(head.stage, Stage::Ended(_)))
            .cloned()
            .collect();
        for chunk in finished.chunks(CHUNK) {
            let trials = self
                .link
                .run(|open, _| read::trials(&mut open.client, chunk))?;
            let wrong = |(number, why)| self.foreign(format!("trial {number}: {why}"));
            for row in trials.map_err(wrong)? {
                ended.push(row.into_trial(&self.space)?);
            }
        }
        for head in heads {
            self.seen = self.seen.max(head.id);
            if head.stage == Stage::Waiting {
                self.waiting.insert(head.number);
            }
            match head.stage {
                Stage::Ended(_) => self.under_way.remove(&head.id),
                Stage::Waiting | Stage::Running => self.under_way.insert(head.id, head.number),
            };
        }
        Ok(ended)
    }

    fn claim(&mut self, number: u64, point: &Point) -> Result<bool, StorageError> {
        if number < self.next {
            return Ok(false);
        }
        let space = Arc::clone(&self.space);
        let row = Beginning::new(self.study, number, chosen(&space, point), &self.worker);
        match self.link.run(|open, is_again| row.write(open, is_again))? {
            Claim::Mine(trial) => {
                self.next = number + 1;
                self.own(number, trial);
                Ok(true)
            }
            Claim::Next(next) if next > number => {
                self.next = next;
                Ok(false)
            }
            Claim::Next(next) => {
                Err(self.foreign(format!("has {next} trials, but {number} were seen in it")))
            }
            Claim::NoStudy => Err(self.foreign("is no longer there".to_owned())),
        }
    }

    fn take_over(&mut self, number: u64, point: &Point) -> Result<Option<Point>, StorageError> {
        if self.waiting.remove(&number) {
            return self.begin_waiting(number, point);
        }
        self.look_for_stale()?;
        let Some((trial, true)) = self.stale.remove(&number) else {
            return Ok(None);
        };
        let seconds = self.link.address.grace.as_secs_f64();
        let taken = self
            .link
            .run(|open, _| open.client.execute(&open.take_over, &[&trial, &seconds]))?;
        if taken == 0 {
            return Ok(None);
        }
        self.own(number, trial);
        let space = Arc::clone(&self.space);
        let fixed = self
            .link
            .run(|open, _| waiting::fixed(&mut open.client, trial, &space, point))?;
        Ok(Some(fixed.unwrap_or_else(|_| point.clone())))
    }

    fn finish(&mut self, trial: &Trial, attributes: &Attributes) -> Result<(), StorageError> {
        let number = trial.number;
        let Some(&id) = self.mine.get(&number) else {
            return Err(self.foreign(format!("trial {number} was not claimed by this worker")));
        };
        let row = Ending::new(id, trial, attributes);
        self.link.run(|open, _| row.write(open))?;
        self.heartbeat.remove(id);
        Ok(())
    }

    fn sync(&mut self, _now: bool) -> Result<(), StorageError> {
        // Every result is committed when it is written.
        Ok(())
    }
}

/// The outcome of a claim.
enum Claim {
    Mine(i32),
    /// Another number is the next.
    Next(u64),
    NoStudy,
}

/// A trial that begins, as columns.
struct Beginning<'a> {
    study: i32,
    number: i32,
    names: Vec<&'a str>,
    values: Vec<Option<f64>>,
    distributions: Vec<String>,
    worker: &'a str,
}

impl<'a> Beginning<'a> {
    fn new(
        study: i32,
        number: u64,
        chosen: impl Iterator<Item = (&'a str, &'a Distribution, Json)>,
        worker: &'a str,
    ) -> Self {
        let mut row = Self {
            study,
            number: number as i32,
            names: Vec::new(),
            values: Vec::new(),
            distributions: Vec::new(),
            worker,
        };
        for (name, own, value) in chosen {
            row.names.push(name);
            row.values.push(internal(own, &value));
            row.distributions.push(distribution(own));
        }
        row
    }

    fn write(&self, open: &mut Open, is_again: bool) -> Result<Claim, Error> {
        let columns: &[&(dyn ToSql + Sync)] = &[
            &self.study,
            &self.number,
            &self.names,
            &self.values,
            &self.distributions,
            &self.worker,
            &is_again,
        ];
        let row = open.client.query_one(&open.claim, columns)?;
        let (trial, next): (Option<i32>, i32) = (row.try_get(0)?, row.try_get(1)?);
        Ok(match trial {
            Some(trial) => Claim::Mine(trial),
            None => u64::try_from(next).map_or(Claim::NoStudy, Claim::Next),
        })
    }
}

/// The result of a trial, as columns.
struct Ending {
    trial: i32,
    state: &'static str,
    started: f64,
    finished: f64,
    values: Vec<Option<f64>>,
    kinds: Vec<&'static str>,
    names: Vec<String>,
    attributes: Vec<String>,
    system_names: Vec<&'static str>,
    system: Vec<String>,
}

impl Ending {
    fn new(id: i32, trial: &Trial, attributes: &Attributes) -> Self {
        let outcome = &trial.outcome;
        let (state, values) = result(outcome);
        let kind = |value: &f64| match *value {
            f64::INFINITY => "INF_POS",
            f64::NEG_INFINITY => "INF_NEG",
            _ => "FINITE",
        };
        let (names, attributes) = with_note(trial, attributes)
            .map(|(name, value)| (name.to_owned(), value.to_string()))
            .unzip();
        let (system_names, system) = system_attributes(outcome).into_iter().unzip();
        Self {
            trial: id,
            state: state.name(),
            started: seconds(trial.started),
            finished: seconds(trial.finished),
            values: values.iter().map(|v| v.is_finite().then_some(*v)).collect(),
            kinds: values.iter().map(kind).collect(),
            names,
            attributes,
            system_names,
            system,
        }
    }

    fn write(&self, open: &mut Open) -> Result<(), Error> {
        let columns: &[&(dyn ToSql + Sync)] = &[
            &self.trial,
            &self.state,
            &self.started,
            &self.finished,
            &self.values,
            &self.kinds,
            &self.names,
            &self.attributes,
            &self.system_names,
            &self.system,
        ];
        open.client.query_one(&open.finish, columns).map(|_| ())
    }
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
