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

#[cfg(test)]
mod tests {
    use super::{FoldedInto, Learning, folded_norms};
    use crate::LearnScales;
    use format::{Format, StoredArray};
    use ir::{Graph, Node, Tensor, verify};

    const NET: &str = "graph \"net\" { x: f32[N, 4] = placeholder
        a = linear(x) { in_features = 4, out_features = 3 }
        n = batch_norm1d(a) { num_features = 3 }
        r = relu(n)
        return r }";

    fn node<'g>(graph: &'g mut Graph, name: &str) -> &'g mut Node {
        let id = graph.find(name).expect("a node");
        graph.node_mut(id)
    }

    fn round(graph: &mut Graph, name: &str, port: &str, spec: &str) {
        let mut format = Format::parse(spec).expect("a format");
        if !format.stored_fields().is_empty() {
            let (shape, values) = (vec![3], vec![0.5; 3]);
            let stored = format.with_stored("scale", StoredArray { shape, values });
            format = stored.expect("a scale for each channel");
        }
        node(graph, name).formats.insert(port.to_owned(), format);
    }

    fn mask(graph: &mut Graph, name: &str, port: &str) {
        let mask = Tensor::new(vec![3], vec![1.0; 3]).expect("a mask");
        node(graph, name).masks.insert(port.to_owned(), mask);
    }

    /// The part of the layer that takes in the norm, of a network whose weight has the format.
    fn folded(weight: &str, scales: LearnScales, edit: impl Fn(&mut Graph)) -> Option<FoldedInto> {
        let mut graph = Graph::parse(NET).expect("a graph");
        round(&mut graph, "a", "weight", weight);
        edit(&mut graph);
        let verified = verify(&graph).expect("a valid graph");
        let norms = verified.graph().find("n").into_iter().collect();
        let learning = Learning {
            scales,
            folded_norms: norms,
        };
        let folded = folded_norms(&verified, &learning);
        assert!(folded_norms(&verified, &scales.into()).is_empty());
        folded.first().map(|folded| folded.into)
    }

    #[test]
    fn a_norm_is_folded_into_scales_only_where_each_channel_learns_a_real_one() {
        use LearnScales::{Fixed, PowerOfTwo, Real};
        for (weight, scales, expected) in [
            ("integer(4, 3)", Fixed, FoldedInto::Weight),
            ("integer(4, 3)", Real, FoldedInto::Weight),
            ("affine(4, 0.1)", Real, FoldedInto::Weight),
            ("affine(4, stored, axis = 0)", Fixed, FoldedInto::Weight),
            (
                "affine(4, stored, axis = 0)",
                PowerOfTwo,
                FoldedInto::Weight,
            ),
            ("affine(4, stored, axis = 0)", Real, FoldedInto::Scales),
        ] {
            let into = folded(weight, scales, |_| ());
            assert_eq!(into, Some(expected), "{weight} {scales:?}");
        }
    }

    #[test]
    fn a_norm_stays_where_folding_would_be_seen() {
        type Edit = fn(&mut Graph);
        let edits: [(&str, Edit); 7] = [
            ("a weight in floats", |graph| {
                node(graph, "a").formats.clear();
            }),
            ("a rounded result", |graph| {
                round(graph, "a", "data_out_0", "integer(8, 4)");
            }),
            ("a masked bias", |graph| mask(graph, "a", "bias")),
            ("a rounded norm", |graph| {
                round(graph, "n", "data_in_0", "integer(8, 4)");
            }),
            ("a masked norm", |graph| mask(graph, "n", "weight")),
            ("a second reader", |graph| {
                let a = graph.find("a").expect("a node");
                let r = node(graph, "r");
                r.op = ir::ops::arithmetic::Add { scalar: None }.into();
                r.inputs.push(a.into());
            }),
            ("channels in the middle", |graph| {
                let text = NET.replace("[N, 4]", "[N, 3, 4]");
                let rounded = node(graph, "a").formats.clone();
                *graph = Graph::parse(&text).expect("a graph");
                node(graph, "a").formats = rounded;
            }),
        ];
        for (name, edit) in edits {
            assert_eq!(
                folded("integer(4, 3)", LearnScales::Fixed, edit),
                None,
                "{name}"
            );
        }
    }
}
