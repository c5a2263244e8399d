//! Where trials are kept, so that a killed search goes on, other programs can look at it, and other machines can help.
//!
//! Every storage speaks Optuna's own layout: what is written here is a study that Optuna opens.

mod clock;
mod journal;
mod layout;
mod postgres;

pub use journal::Journal;
pub use postgres::Postgres;

use crate::{Direction, Outcome, Parameter};
use serde_json::{Map, Value as Json};
use std::time::SystemTime;

/// What a study is, written once when it is made and compared when it is opened again.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyInfo {
    /// Its name.
    pub name: String,
    /// One for each objective.
    pub directions: Vec<Direction>,
    /// What each objective is called, in their order.
    pub metric_names: Vec<String>,
    /// What the results follow from: seed, sampler, network, rows, space. A study that was made with other facts is not
    /// continued.
    pub facts: Map<String, Json>,
}

/// A value that a trial has for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen<'a> {
    /// The parameter with its distribution.
    pub parameter: &'a Parameter,
    /// Its value as users wrote it.
    pub value: Json,
}

/// A trial with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTrial {
    /// Its number in the study, from 0.
    pub number: u64,
    /// Active parameters by name.
    pub parameters: Map<String, Json>,
    /// Values and state.
    pub outcome: Outcome,
    /// Facts about it: metrics, the sampled configuration.
    pub attributes: Map<String, Json>,
    /// When it was begun.
    pub started: SystemTime,
    /// When it was done.
    pub finished: SystemTime,
}

/// Why a storage cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// What is there is not a study of ours.
    #[error("{place}: {message}")]
    Foreign {
        /// The file, and the line where there is one; the database and the study.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// The database cannot be used from the beginning.
    #[error("{place}: {message}")]
    NoConnection {
        /// The database, without its password.
        place: String,
        /// What it says.
        message: String,
    },
    /// The database does not answer any more, or answers with an error.
    #[error(
        "{place}: {message}; finished trials are safe there, give the same command again when it is back"
    )]
    Connection {
        /// The database, without its password.
        place: String,
        /// What it says.
        message: String,
    },
}

/// Opens a storage by its address: `postgresql://…`, or a journal, which is made if it is not there.
pub fn open(address: &str, info: &StudyInfo) -> Result<Box<dyn Storage>, StorageError> {
    let wrong = |message: String| {
        Err(StorageError::Foreign {
            place: "--storage".to_owned(),
            message,
        })
    };
    match address.split_once("://") {
        _ if address.is_empty() => wrong("is empty; name a journal or postgresql://…".to_owned()),
        Some((scheme, _)) if scheme.starts_with("postgres") => {
            Ok(Box::new(Postgres::create_or_join(address, info)?))
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
pub trait Storage: Send {
    /// The finished trials that were not given yet, by number: at first all of an earlier run, later those of others.
    fn news(&mut self) -> Result<Vec<StoredTrial>, StorageError>;

    /// Takes a trial for this worker; false when another one has it.
    fn claim(&mut self, number: u64, chosen: &[Chosen]) -> Result<bool, StorageError>;

    /// Takes over a trial whose worker has not been heard of; false when it is alive, or somebody else was faster.
    fn take_over(&mut self, number: u64) -> Result<bool, StorageError>;

    /// Writes the result of a trial that this worker has claimed.
    fn finish(&mut self, trial: &StoredTrial) -> Result<(), StorageError>;

    /// Brings what was written to the disk, if it is time to or `now` is set. Called after every trial.
    fn sync(&mut self, now: bool) -> Result<(), StorageError>;
}
