//! A graph made ready for training: norms, and formats whose scales can be learned.

use crate::checkpoint::load_weights;
use crate::scales::{ScalesPer, learnable};
use crate::{TrainError, norms};
use data::Split;
use engine::{LearnScales, Learning, Network};
use interop::checkpoint::NamedTensor;
use ir::{Graph, NodeId};

/// A graph to train, and the ways in which its training goes beyond its parameters.
#[derive(Clone, Debug)]
pub struct Learner {
    /// The graph that is trained.
    pub graph: Graph,
    /// The scales that are learned, and the norms that are folded.
    pub learning: Learning,
}

impl Learner {
    /// A graph that is trained as it is.
    pub fn new(graph: Graph) -> Self {
        Self {
            graph,
            learning: Learning::default(),
        }
    }

    /// The same with batch norms behind these layers, which are folded again when training ends; see
    /// [`crate::folded_layers`] and [`crate::rounded_layers`].
    ///
    /// # Errors
    /// When the training rows, which the norms take their first statistics from, do not fit the network.
    pub fn with_norms(self, layers: &[NodeId], rows: &Split) -> Result<Self, TrainError> {
        let (graph, folded_norms) = norms::unfold(self.graph, layers, rows)?;
        let learning = Learning {
            folded_norms,
            ..self.learning
        };
        Ok(Self { graph, learning })
    }

    /// The same with formats whose scales can be learned: fixed point becomes `affine` with the same steps where real scales
    /// are learned, and weights store a scale for each output channel, the one with the least squared error, where channels
    /// have their own.
    #[must_use]
    pub fn with_scales(self, scales: LearnScales, per: ScalesPer) -> Self {
        let learning = Learning {
            scales,
            ..self.learning
        };
        Self {
            graph: learnable(self.graph, scales, per),
            learning,
        }
    }

    /// The network to train.
    ///
    /// # Errors
    /// When the graph cannot be run.
    pub fn network(&self, threads: usize) -> Result<Network, TrainError> {
        let network = Network::learning(self.graph.clone(), self.learning.clone(), threads);
        Ok(network?)
    }

    /// The graph with the weights of a checkpoint of its training, the scales that were learned in its formats, and its norms
    /// folded.
    ///
    /// # Errors
    /// When the weights are those of another network.
    pub fn trained(&self, tensors: &[NamedTensor]) -> Result<Graph, TrainError> {
        let mut network = self.network(1)?;
        load_weights(&mut network, tensors)?;
        Ok(network.to_graph())
    }
}
