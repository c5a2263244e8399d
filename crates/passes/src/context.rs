//! State shared by passes: the data, the graph as it was at the start, the files that wait to be written.

use crate::PassError;
use data::{Dataset, Split, SplitName};
use interop::checkpoint::Training;
use ir::{Graph, Tensor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The inputs and outputs of passes besides the graph.
pub struct Context<'a> {
    /// The key of the running pass in its file, `quantize_2`: the folder of what the pass writes.
    pub key: String,
    /// The rows that a network can be run on.
    pub data: Option<&'a Dataset>,
    /// Rows of a batch, for shapes and costs.
    pub batch_size: usize,
    /// Rows of a batch of the run, for times.
    pub run_batch_size: usize,
    /// Threads that may be used; results do not depend on them.
    pub threads: usize,
    /// The seed of every random choice.
    pub seed: u64,
    /// True when costs show their formulas.
    pub explain: bool,
    /// The graph before the first pass.
    pub original: Graph,
    /// The record of the training that made the weights; it goes into every graph file.
    pub training: Option<Training>,
    /// The decision of the last quantisation for each node, by name.
    pub decisions: BTreeMap<String, Decision>,
    /// Parameters that a pass replaced by values chosen for their formats, by dotted name.
    pub replaced: BTreeMap<String, Replaced>,
    /// Files to write when all passes are done.
    pub files: Vec<OutputFile>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// The reason for the formats of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A rule gave it formats.
    Ruled(String),
    /// The rule is `name = "NA"`.
    LeftAlone(String),
    /// The rule is `bypass = true`.
    Bypassed(String),
    /// The rule has no key for a port of this operator.
    NoOperand(String),
    /// No rule names it, and there is no default.
    Unmatched,
    /// The operator has nothing to round.
    NothingToRound,
}

impl Decision {
    /// The reason in words.
    pub fn why(&self) -> String {
        match self {
            Self::Ruled(rule) => format!("rule {rule}"),
            Self::LeftAlone(rule) => format!("rule {rule} is \"NA\""),
            Self::Bypassed(rule) => format!("rule {rule} says bypass"),
            Self::NoOperand(rule) => format!("rule {rule} has no key for its ports"),
            Self::Unmatched => "no rule matched".to_owned(),
            Self::NothingToRound => "op has nothing to round".to_owned(),
        }
    }
}

/// A parameter that a pass replaced to suit its format.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced {
    /// The parameter of the exact network.
    pub exact: Tensor,
    /// The parameter that took its place.
    pub rounded: Tensor,
}

/// A file that waits to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Relative to the folder of the passes, unless the user named a place of their own.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl<'a> Context<'a> {
    /// A context for passes over `graph`.
    pub fn new(graph: &Graph, data: Option<&'a Dataset>) -> Self {
        Self {
            key: String::new(),
            data,
            batch_size: 8,
            run_batch_size: 128,
            threads: 1,
            seed: 0,
            explain: false,
            original: graph.clone(),
            training: None,
            decisions: BTreeMap::new(),
            replaced: BTreeMap::new(),
            files: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Leaves a file; one of the same name is replaced.
    pub fn write(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        let (path, bytes) = (path.into(), bytes.into());
        self.files.retain(|file| file.path != path);
        self.files.push(OutputFile { path, bytes });
    }

    /// A file that an earlier pass left.
    pub fn written(&self, path: &Path) -> Option<&[u8]> {
        let file = self.files.iter().find(|file| file.path == path)?;
        Some(&file.bytes)
    }

    /// Up to `count` rows of a split: `train`, `val` or `test`.
    pub fn rows(&mut self, split: SplitName, count: usize) -> Result<Split, PassError> {
        let data = self.data.ok_or(PassError::NoData)?;
        let rows = data.split(split);
        if rows.is_empty() {
            return Err(PassError::EmptySplit {
                dataset: data.info.name.clone(),
                split: split.name(),
            });
        }
        self.notes.extend(data.shortfall(split, count));
        Ok(rows.head(count.min(rows.len())))
    }

    /// The same; nothing without a dataset.
    pub fn rows_if_any(
        &mut self,
        split: SplitName,
        count: usize,
    ) -> Result<Option<Split>, PassError> {
        match self.rows(split, count) {
            Err(PassError::NoData) => Ok(None),
            rows => rows.map(Some),
        }
    }
}
