//! The training and the network that a checkpoint belongs to, in one line.

use crate::checkpoints::{Owner, recorded};
use crate::output::number::count;
use serde_json::{Value as Json, json};
use std::fmt;

/// A checkpoint and what is known of it.
pub struct Belonging {
    /// The file or folder as it was named.
    file: String,
    /// The models that its tensors fit; the first is shown.
    models: Vec<String>,
    /// The dataset, where the file records it.
    dataset: Option<String>,
    /// The epoch it was written in, from one, where the file records it.
    epoch: Option<u64>,
    /// Updates made, where the file records them.
    steps: Option<u64>,
}

impl Belonging {
    /// The facts of a checkpoint.
    pub fn of(file: &str, owner: &Owner) -> Self {
        let training = owner.file.training.as_ref();
        Self {
            file: file.to_owned(),
            models: owner.models.clone(),
            dataset: recorded(&owner.file, "dataset").map(str::to_owned),
            epoch: training.map(|training| training.epoch + 1),
            steps: training.map(|training| training.global_step),
        }
    }
}

impl Belonging {
    /// The facts for tools.
    pub fn to_json(&self) -> Json {
        json!({
            "file": self.file,
            "models": self.models,
            "dataset": self.dataset,
            "epoch": self.epoch,
            "steps": self.steps,
        })
    }
}

impl fmt::Display for Belonging {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Some((first, others)) = self.models.split_first() else {
            return Ok(());
        };
        write!(f, "{}: weights of {first}", self.file)?;
        if let Some(dataset) = &self.dataset {
            write!(f, ", trained on {dataset}")?;
        }
        if let (Some(epoch), Some(steps)) = (self.epoch, self.steps) {
            write!(f, ", epoch {epoch}, {}", count(steps, "step"))?;
        }
        match others {
            [] => Ok(()),
            others => write!(f, "; they fit {} too", others.join(" and ")),
        }
    }
}
