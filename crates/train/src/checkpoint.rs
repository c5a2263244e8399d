//! Between a network in training and the files that hold it.

use crate::TrainError;
use crate::identity::optimizer_words;
use engine::{Network, Optimizer, State};
use interop::checkpoint::{Checkpoint, Kind, NamedTensor, OptimizerState, Training};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The position of a run: the part of a checkpoint besides weights and the optimiser's state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The epoch under way, from zero.
    pub epoch: u64,
    /// Its batches done.
    pub batch: usize,
    /// Updates done.
    pub step: u64,
    /// Training passes done, which dropout counts.
    pub passes: u64,
    /// Sums over the batches of this epoch: loss times labels, right answers, labels.
    pub loss_sum: f64,
    pub correct: usize,
    pub count: usize,
    /// The lowest validation loss so far; none before the first epoch ends.
    pub best_loss: Option<f64>,
}

/// The network as a file that PyTorch and Lightning open.
pub(crate) fn snapshot(
    network: &Network,
    optimizer: &Optimizer,
    position: &Position,
    hyper_parameters: &Map<String, Json>,
) -> Checkpoint {
    let state = network.state();
    let (first, second) = optimizer.moments();
    let (name, weight_decay) = optimizer_words(optimizer.kind());
    // Lightning counts the epoch that was last worked on; between two epochs that is the one that has ended.
    let is_between = position.batch == 0;
    let training = Training {
        epoch: position.epoch.saturating_sub(u64::from(is_between)),
        global_step: position.step,
        optimizer: Some(OptimizerState {
            name: name.to_owned(),
            steps: optimizer.steps(),
            learning_rate: optimizer.learning_rate,
            weight_decay: f64::from(weight_decay),
            first: named(state, first),
            second: named(state, second),
        }),
        hyper_parameters: hyper_parameters.clone(),
        resume: serde_json::to_value(position).unwrap_or(Json::Null),
    };
    Checkpoint {
        kind: Kind::Lightning,
        tensors: weights_of(network),
        training: Some(training),
        graph: None,
        metadata: Json::Null,
    }
}

/// All parameters and buffers by their dotted names, and the logarithms of learned scales.
pub fn weights_of(network: &Network) -> Vec<NamedTensor> {
    let mut tensors = models::weights::tensors_of(&network.training_graph());
    tensors.extend(network.state().scales().map(|(name, values)| NamedTensor {
        name: name.to_owned(),
        shape: vec![values.len()],
        values: values.to_vec(),
    }));
    tensors
}

/// Gives a network the weights and masks of a checkpoint; nothing is changed when they do not fit.
pub fn load_weights(network: &mut Network, tensors: &[NamedTensor]) -> Result<(), TrainError> {
    let mut graph = network.training_graph();
    models::weights::load_into(&mut graph, tensors)?;
    if !graph.masks().eq(network.graph().masks()) {
        return Ok(network.replace(graph)?);
    }
    let scales = network.state().scales();
    let own = scales.map(|(name, values)| (name.to_owned(), values.to_vec()));
    let mut by_name: BTreeMap<String, Vec<f32>> = own.collect();
    let given = tensors
        .iter()
        .map(|tensor| (tensor.name.clone(), tensor.values.clone()));
    let learned: Vec<_> = given
        .filter(|(name, _)| by_name.contains_key(name))
        .collect();
    by_name.extend(learned);
    let parameters = graph.parameters();
    by_name.extend(parameters.map(|(name, tensor)| (name, tensor.values().to_vec())));
    let loaded = network
        .state_mut()
        .load_named(|name| by_name.get(name).map(Vec::as_slice));
    debug_assert!(
        loaded.is_some(),
        "the graph has every parameter of the network"
    );
    Ok(())
}

/// The checkpoint that a run is resumed from.
pub(crate) struct Resumed {
    /// The position of the run.
    pub position: Position,
    /// The settings of the run.
    pub hyper_parameters: Map<String, Json>,
    path: PathBuf,
    tensors: Vec<NamedTensor>,
    optimizer: OptimizerState,
}

impl Resumed {
    /// Reads a checkpoint of this program.
    pub fn read(path: &Path) -> Result<Self, TrainError> {
        let refuse = refusal(path);
        let checkpoint = interop::checkpoint::read(path, None)?;
        let training = checkpoint
            .training
            .ok_or_else(|| refuse("it does not say where training stood"))?;
        let position = serde_json::from_value(training.resume).map_err(|_| {
            refuse("it was not written by this program, or by another version of it")
        })?;
        let optimizer = training
            .optimizer
            .ok_or_else(|| refuse("it has no optimizer state"))?;
        Ok(Self {
            position,
            hyper_parameters: training.hyper_parameters,
            path: path.to_owned(),
            tensors: checkpoint.tensors,
            optimizer,
        })
    }

    /// Puts network and optimiser where the run stood.
    pub fn restore(
        &self,
        network: &mut Network,
        optimizer: &mut Optimizer,
    ) -> Result<(), TrainError> {
        load_weights(network, &self.tensors)?;
        let memory = &self.optimizer;
        let state = network.state();
        let first = flatten(state, &memory.first);
        let restored = first
            .zip(flatten(state, &memory.second))
            .is_some_and(|(first, second)| optimizer.restore(memory.steps, &first, &second));
        if !restored {
            return Err(refusal(&self.path)(
                "its optimizer state does not fit the network and the optimizer",
            ));
        }
        network.set_passes(self.position.passes);
        Ok(())
    }
}

fn refusal(path: &Path) -> impl Fn(&str) -> TrainError {
    move |why| TrainError::Resume {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

/// Named tensors in the order of the trained parameters; an optimiser without memory has none.
fn flatten(state: &State, tensors: &[NamedTensor]) -> Option<Vec<f32>> {
    let find = |name: &str| Some(tensors.iter().find(|t| t.name == name)?.values.as_slice());
    if tensors.is_empty() {
        return Some(Vec::new());
    }
    state.flatten_trained(find)
}

fn named(state: &State, flat: &[f32]) -> Vec<NamedTensor> {
    let tensors = state.name_trained(flat);
    tensors
        .map(|(name, tensor)| NamedTensor {
            name: name.to_owned(),
            shape: tensor.shape().to_vec(),
            values: tensor.values().to_vec(),
        })
        .collect()
}
