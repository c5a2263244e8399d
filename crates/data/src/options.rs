//! Options for opening a dataset.

use crate::arrays::NetworkInput;
use crate::preparation::Standardize;
use std::env;
use std::path::PathBuf;

/// Told of a file that is being fetched: its name, the bytes there are, the bytes there will be.
pub type Progress<'a> = dyn Fn(&str, u64, Option<u64>) + 'a;

/// Folders, split and network access for opening a dataset.
#[derive(Clone, Default)]
pub struct OpenOptions<'a> {
    /// The folder to look in first, and to download to.
    pub data_dir: Option<PathBuf>,
    /// The seed of generated rows. The splits of other sets do not depend on it.
    pub seed: u64,
    /// The origin of the validation rows.
    pub val_split: ValSplit,
    /// The standardising of a table of the user's; the named sets have their own.
    pub standardize: Standardize,
    /// True when a table of the user's is used whole, so that it may have few rows and one class.
    pub is_whole: bool,
    /// True when the network must not be used, which `$MASE_OFFLINE` says too.
    pub offline: bool,
    /// Told how far a fetch is.
    pub progress: Option<&'a Progress<'a>>,
    /// The inputs of the network that the rows are for; none when it is not known.
    pub inputs: &'a [NetworkInput],
    /// Receives notices that are no errors, such as a cache that is made anew.
    pub notice: Option<&'a dyn Fn(&str)>,
}

/// The origin of the validation rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValSplit {
    /// A tenth of the training part, which is not trained on.
    #[default]
    HeldOut,
    /// The training part itself, as the original does; for comparing with its numbers.
    Train,
}

impl OpenOptions<'_> {
    /// True when these options or the environment forbid the network.
    pub(crate) fn is_offline(&self) -> bool {
        let variable = env::var_os("MASE_OFFLINE");
        self.offline || variable.is_some_and(|value| !value.is_empty() && value != "0")
    }

    pub(crate) fn report(&self, sentence: &str) {
        if let Some(notice) = self.notice {
            notice(sentence);
        }
    }
}
