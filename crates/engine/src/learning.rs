//! The ways in which training goes beyond the parameters of a graph.

use crate::rounding::{LearnScales, learned_ports};
use format::Format;
use ir::{Graph, NodeId, Verified, makes_channels, norm_eps, scale_and_shift};

/// The ways in which training goes beyond the parameters of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learning {
    /// The scales of formats that are learned.
    pub scales: LearnScales,
    /// Batch norms that the layers with rounded weights before them take in: the weight that is rounded is the folded one, as
    /// it will be when training has ended, while the batch is normalised by its own statistics.
    ///
    /// Evaluation runs the folded network, and [`crate::Network::to_graph`] gives it.
    pub folded_norms: Vec<NodeId>,
}

impl From<LearnScales> for Learning {
    fn from(scales: LearnScales) -> Self {
        Self {
            scales,
            folded_norms: Vec::new(),
        }
    }
}

/// A layer and the batch norm behind it that is folded into its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoldedNorm {
    pub layer: NodeId,
    pub norm: NodeId,
    pub into: FoldedInto,
}

/// The part of a layer that takes in the factors of its norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldedInto {
    /// The weight, before it is rounded.
    Weight,
    /// The scales of the weight's format, a learned real one for each channel: its codes stay as they are.
    Scales,
}

/// Of the norms that are to be folded those that can be, in their order: without formats and masks of their own, behind a
/// layer with a rounded weight that nothing else reads.
pub(crate) fn folded_norms(verified: &Verified, learning: &Learning) -> Vec<FoldedNorm> {
    let graph = verified.graph();
    let readers = graph.reader_counts();
    let folded = graph.iter().filter_map(|(id, norm)| {
        norm_eps(&norm.op).filter(|_| learning.folded_norms.contains(&id))?;
        let input = *norm.inputs.first()?;
        let layer = graph.node(input.node);
        let is_plain = norm.formats.is_empty() && norm.masks.is_empty();
        let is_rounded = layer.formats.contains_key("weight");
        let is_seen = readers[&input] > 1 || layer.formats.contains_key("data_out_0");
        let folds = is_plain && is_rounded && !is_seen && !layer.masks.contains_key("bias");
        let format = layer.formats.get("weight");
        let has_scales = learning.scales == LearnScales::Real
            && format.is_some_and(|format| !format.stored_fields().is_empty())
            && learned_ports(layer, learning.scales)
                .iter()
                .any(|(port, _)| port == "weight");
        (folds && makes_channels(verified, input)).then_some(FoldedNorm {
            layer: input.node,
            norm: id,
            into: if has_scales {
                FoldedInto::Scales
            } else {
                FoldedInto::Weight
            },
        })
    });
    folded.collect()
}

/// Folds a norm into its layer, after training.
pub(crate) fn fold(graph: &mut Graph, folded: &FoldedNorm) -> Option<()> {
    if folded.into == FoldedInto::Scales {
        // The factors are positive, as they are in training, so that the codes keep their signs.
        let gamma = graph.node_mut(folded.norm).params.get_mut("weight")?;
        gamma
            .values_mut()
            .iter_mut()
            .for_each(|gamma| *gamma = gamma.abs());
        let [gains, _] = scale_and_shift(graph.node(folded.norm))?;
        let format = graph.node_mut(folded.layer).formats.get_mut("weight")?;
        *format = with_gains(format, &gains)?;
    }
    graph.fold_norm(folded.norm)
}

/// A format with a scale for each channel, times the factors.
fn with_gains(format: &Format, gains: &[f64]) -> Option<Format> {
    let mut fields = format.stored_fields().into_iter();
    let (_, scales) = fields.find(|(field, _)| *field == "scale")?;
    let mut scales = scales?.clone();
    for (scale, gain) in scales.values.iter_mut().zip(gains) {
        // A channel that is turned off keeps a scale that formats allow.
        *scale = ((f64::from(*scale) * gain) as f32).max(f32::MIN_POSITIVE);
    }
    format.with_stored("scale", scales).ok()
}
