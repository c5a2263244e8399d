//! Storage of trials, so that a killed search goes on, other programs can look at it, and other machines can help.
//!
//! Every storage speaks Optuna's own layout: what is written here is a study that Optuna opens.

mod clock;
mod journal;
mod layout;
mod postgres;

pub use journal::Journal;
pub use postgres::Postgres;

use crate::{Direction, Distribution, Outcome, Point, Space, StudyError, Trial};
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use std::time::SystemTime;

/// The identity of a study: written once when it is created and compared when it is opened again.
#[derive(Clone, Debug)]
pub struct StudyInfo {
    /// Its name.
    pub name: String,
    /// One for each objective.
    pub directions: Vec<Direction>,
    /// The names of the objectives, in their order.
    pub metric_names: Vec<String>,
    /// Everything that the results follow from: seed, sampler, network, rows, space. A study that was made with other
    /// facts is not continued.
    pub facts: Map<String, Json>,
    /// The searched space, in which points are stored by name.
    pub space: Arc<Space>,
}

/// Facts stored beside a trial, by name: metrics, the sampled configuration.
pub type Attributes = Map<String, Json>;

/// The attribute that holds [`Trial::note`].
const NOTE: &str = "note";

/// A trial as storages hold it, before its parameters are looked up in the space.
struct TrialRow {
    number: u64,
    /// Active parameters by name.
    parameters: Map<String, Json>,
    outcome: Outcome,
    attributes: Attributes,
    started: SystemTime,
    finished: SystemTime,
}

impl TrialRow {
    /// The trial of the row. Other programs share studies, and their trials can fail before everything is chosen.
    fn into_trial(self, space: &Space) -> Result<(Trial, Attributes), StorageError> {
        let point = match space.point(&self.parameters) {
            Err(_) if self.outcome.values.is_empty() => space.nearest(&self.parameters),
            Err(source) => {
                return Err(StorageError::ForeignTrial {
                    number: self.number,
                    source,
                });
            }
            Ok(point) => point,
        };
        let mut attributes = self.attributes;
        let note = match attributes.shift_remove(NOTE) {
            Some(Json::String(note)) => Some(note),
            _ => None,
        };
        let trial = Trial {
            note,
            started: self.started,
            finished: self.finished,
            ..Trial::new(self.number, point, self.outcome)
        };
        Ok((trial, attributes))
    }
}

/// The attributes of a trial, its note among them.
fn with_note<'a>(
    trial: &'a Trial,
    attributes: &'a Attributes,
) -> impl Iterator<Item = (&'a str, Json)> {
    let note = trial.note.as_deref().map(|note| (NOTE, Json::from(note)));
    let given = attributes.iter();
    given
        .map(|(name, value)| (name.as_str(), value.clone()))
        .chain(note)
}

/// The active parameters of a point: name, distribution, value.
fn chosen<'a>(
    space: &'a Space,
    point: &'a Point,
) -> impl Iterator<Item = (&'a str, &'a Distribution, Json)> {
    let parameters = space.parameters().iter().enumerate();
    parameters.filter_map(|(index, parameter)| {
        let value = space.value(index, point.get(index)?);
        Some((parameter.name.as_str(), &parameter.distribution, value))
    })
}

/// A failure of a storage.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file or database that does not hold a study of ours.
    #[error("{place}: {message}")]
    Foreign {
        /// The file, and the line where there is one; the database and the study.
        place: String,
        /// The reason.
        message: String,
    },
    /// A trial that another program ran does not fit the space.
    #[error("trial {number}, which another program ran: {source}")]
    ForeignTrial {
        /// The trial.
        number: u64,
        /// The parameter that does not fit.
        source: StudyError,
    },
    /// The database cannot be used from the beginning.
    #[error("{place}: {message}")]
    NoConnection {
        /// The database, without its password.
        place: String,
        /// Its error.
        message: String,
    },
    /// The database does not answer any more, or answers with an error.
    #[error(
        "{place}: {message}; finished trials are safe there, give the same command again when it is back"
    )]
    Connection {
        /// The database, without its password.
        place: String,
        /// Its error.
        message: String,
    },
}

/// Opens a storage by its address: `postgresql://…`, or a journal, which is made if it is not there.
/// `on_wait` is called with a sentence when opening has to wait for somebody else.
pub fn open(
    address: &str,
    info: &StudyInfo,
    on_wait: &mut dyn FnMut(&str),
) -> Result<Box<dyn Storage>, StorageError> {
    let wrong = |message: String| {
        Err(StorageError::Foreign {
            place: "--storage".to_owned(),
            message,
        })
    };
    match address.split_once("://") {
        _ if address.is_empty() => wrong("is empty; name a journal or postgresql://…".to_owned()),
        Some((scheme, _)) if scheme.starts_with("postgres") => {
            Ok(Box::new(Postgres::create_or_join(address, info, on_wait)?))
        }
        Some((scheme, _)) => wrong(format!("knows postgresql:// and files, not {scheme}://")),
        None if address.starts_with("postgresql:") => {
            wrong("an address begins with postgresql://, with two slashes".to_owned())
        }
        None => {
            let path = std::path::Path::new(address);
            let journal = if path.exists() {
                Journal::open(path, info)
            } else {
                Journal::create(path, info)
            };
            Ok(Box::new(journal?))
        }
    }
}

/// A place for the trials of one study. Numbers are claimed, so that several workers can share a study.
///
/// The threads of a worker share a storage, and a call that waits for the network or the disk does not keep the calls of
/// other threads waiting. Claims come one after the other, in the order of the numbers, and so do polls.
pub trait Storage: Send + Sync {
    /// The finished trials that were not given yet, by number: at first all of an earlier run, later those of others.
    fn poll(&self) -> Result<Vec<(Trial, Attributes)>, StorageError>;

    /// Takes a trial for this worker; false when another one has it.
    fn claim(&self, number: u64, point: &Point) -> Result<bool, StorageError>;

    /// Takes over a trial that waits to be run, or whose worker has not been heard of; none when it is alive, or somebody
    /// else was faster. Gives the point to run: the one asked for, with what whoever enqueued the trial has fixed.
    fn take_over(&self, number: u64, point: &Point) -> Result<Option<Point>, StorageError>;

    /// Writes the result of a trial that this worker has claimed, and what is known beside it.
    fn finish(&self, trial: &Trial, attributes: &Attributes) -> Result<(), StorageError>;

    /// Brings what was written to the disk, if it is time to or `now` is set. Called after every trial.
    fn sync(&self, now: bool) -> Result<(), StorageError>;

    /// The thing that keeps this worker waiting, as part of a sentence: a lock and its holder, or these trials of others.
    fn describe_wait(&self, trials: &[u64]) -> String;
}
