//! Batch norms folded into the layers before them.
//!
//! In evaluation a batch norm is `y = x·scale + shift` per channel, and a linear or convolution before it can compute both:
//! its weight times the scale, its bias times the scale plus the shift. Everything is computed in double precision and
//! rounded once.

use crate::{Graph, Node, NodeId, Op, Tensor, Verified};

/// The factor that a batch norm gives a channel: `γ/√(σ² + ε)`.
pub fn norm_scale(gamma: f32, variance: f32, eps: f64) -> f64 {
    f64::from(gamma) / (f64::from(variance) + eps).sqrt()
}

/// A weight times the factor of its channel.
pub fn folded_weight(weight: f32, scale: f64) -> f32 {
    (f64::from(weight) * scale) as f32
}

/// The ε of a batch norm; none for other operators.
pub fn norm_eps(op: &Op) -> Option<f64> {
    match op {
        Op::BatchNorm1d(op) => Some(op.eps),
        Op::BatchNorm2d(op) => Some(op.eps),
        _ => None,
    }
}

/// Scale and shift of a batch norm in evaluation; none when the node is another operator or lacks a parameter.
pub fn scale_and_shift(norm: &Node) -> Option<[Vec<f64>; 2]> {
    let eps = norm_eps(&norm.op)?;
    let values = |port: &str| norm.params.get(port).map(Tensor::values);
    let (gamma, beta) = (values("weight")?, values("bias")?);
    let (mean, variance) = (values("running_mean")?, values("running_var")?);
    let pairs = gamma.iter().zip(variance);
    let scale: Vec<f64> = pairs.map(|(&g, &v)| norm_scale(g, v, eps)).collect();
    let shift = (0..beta.len())
        .map(|c| f64::from(beta[c]) - f64::from(mean[c]) * scale[c])
        .collect();
    Some([scale, shift])
}

/// True when the channels of the node that makes a batch norm's input are those of the norm: always those of a convolution,
/// but those of a linear only on `[N, C]`.
pub fn makes_channels(verified: &Verified, input: crate::Value) -> bool {
    match verified.graph().node(input.node).op {
        Op::Linear(_) => verified.ty(input).shape.rank() == 2,
        Op::Conv1d(_) | Op::Conv2d(_) => true,
        _ => false,
    }
}

impl Graph {
    /// Folds a batch norm into the linear or convolution before it, which must have no other reader; the layer gets a bias
    /// if it has none. Nothing is changed and `None` returned when the layer is another operator or a parameter is missing.
    pub fn fold_norm(&mut self, norm: NodeId) -> Option<()> {
        let input = *self.node(norm).inputs.first()?;
        let [scale, shift] = scale_and_shift(self.node(norm))?;
        let mut layer = self.node(input.node).clone();
        match &mut layer.op {
            Op::Linear(op) => op.bias = true,
            Op::Conv1d(op) => op.bias = true,
            Op::Conv2d(op) => op.bias = true,
            _ => return None,
        }
        let weight = layer.params.get_mut("weight")?;
        let per_channel = weight.values().len() / scale.len().max(1);
        let rows = weight.values_mut().chunks_exact_mut(per_channel.max(1));
        for (row, &scale) in rows.zip(&scale) {
            for value in row {
                *value = folded_weight(*value, scale);
            }
        }
        let bias = layer.params.get("bias").map(Tensor::values);
        let folded = |c: usize| {
            let own = bias.map_or(0.0, |bias| f64::from(bias[c]));
            (own * scale[c] + shift[c]) as f32
        };
        let values = (0..scale.len()).map(folded).collect();
        let bias = Tensor::new(vec![scale.len()], values)?;
        layer.params.insert("bias".to_owned(), bias);
        *self.node_mut(input.node) = layer;
        self.replace_uses(norm.into(), input);
        self.remove(norm).ok().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_norm_scales_and_shifts_by_its_statistics() {
        let text = "graph \"g\" { x: f32[N, 2] = placeholder
             b = batch_norm1d(x) { target = \"b\", num_features = 2, eps = 0.75 }
             return b }";
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(0);
        let id = graph.find("b").unwrap_or_else(|| panic!("no node b"));
        let norm = graph.node_mut(id);
        for (port, values) in [
            ("weight", [2.0, 3.0]),
            ("bias", [1.0, -1.0]),
            ("running_mean", [4.0, 0.5]),
            ("running_var", [0.25, 3.25]),
        ] {
            if let Some(tensor) = norm.params.get_mut(port) {
                tensor.values_mut().copy_from_slice(&values);
            }
        }
        assert_eq!(
            scale_and_shift(norm),
            Some([vec![2.0, 1.5], vec![-7.0, -1.75]])
        );
        assert_eq!(norm_eps(&graph.nodes()[0].op), None);
    }

    /// A network of one layer and a norm of two channels, with weights 1, 2, 3, … and the statistics of the test above.
    fn layer_and_norm(input: &str, layer: &str, norm: &str) -> Graph {
        let text = format!(
            "graph \"g\" {{ x: {input} = placeholder fc = {layer} b = {norm}(fc) {{ num_features = 2, eps = 0.75 }} return b }}"
        );
        let mut graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        graph.initialize(0);
        for (node, port, values) in [
            (2, "weight", [2.0, 3.0]),
            (2, "bias", [1.0, -1.0]),
            (2, "running_mean", [4.0, 0.5]),
            (2, "running_var", [0.25, 3.25]),
            (1, "bias", [0.5, -2.0]),
        ] {
            if let Some(tensor) = graph.node_mut(NodeId(node)).params.get_mut(port) {
                tensor.values_mut().copy_from_slice(&values);
            }
        }
        if let Some(weight) = graph.node_mut(NodeId(1)).params.get_mut("weight") {
            for (k, value) in weight.values_mut().iter_mut().enumerate() {
                *value = (k + 1) as f32;
            }
        }
        graph
    }

    /// Rows of the weight take the factors 2 and 1.5; 0.5·2 − 7 and −2·1.5 − 1.75 are the biases.
    #[test]
    fn a_folded_layer_scales_its_rows_and_shifts_its_bias() {
        let linear = "linear(x) { in_features = 3, out_features = 2";
        let conv = "conv1d(x) { in_channels = 1, out_channels = 2, kernel_size = 3";
        let conv2d = "conv2d(x) { in_channels = 1, out_channels = 2, kernel_size = [1, 3]";
        let cases = [
            (
                "f32[N, 3]",
                format!("{linear} }}"),
                "batch_norm1d",
                [-6.0, -4.75],
            ),
            (
                "f32[N, 3]",
                format!("{linear}, bias = false }}"),
                "batch_norm1d",
                [-7.0, -1.75],
            ),
            (
                "f32[N, 1, 5]",
                format!("{conv} }}"),
                "batch_norm1d",
                [-6.0, -4.75],
            ),
            (
                "f32[N, 1, 5, 5]",
                format!("{conv2d}, bias = false }}"),
                "batch_norm2d",
                [-7.0, -1.75],
            ),
        ];
        for (input, layer, norm, bias) in cases {
            let mut graph = layer_and_norm(input, &layer, norm);
            assert_eq!(graph.fold_norm(NodeId(2)), Some(()), "{layer}");
            assert_eq!(graph.nodes().len(), 3, "{graph}");
            assert_eq!(graph.nodes()[2].inputs, [NodeId(1).into()]);
            let params = &graph.nodes()[1].params;
            assert_eq!(
                params["weight"].values(),
                [2.0, 4.0, 6.0, 6.0, 7.5, 9.0],
                "{layer}"
            );
            assert_eq!(params["bias"].values(), bias, "{layer}");
            assert!(crate::verify(&graph).is_ok(), "{layer}");
        }
    }

    #[test]
    fn a_norm_behind_another_operator_stays() {
        let mut graph = layer_and_norm("f32[N, 2]", "relu(x)", "batch_norm1d");
        let before = graph.clone();
        assert_eq!(graph.fold_norm(NodeId(2)), None);
        let linear = "linear(x) { in_features = 3, out_features = 2 }";
        let mut without = layer_and_norm("f32[N, 3]", linear, "batch_norm1d");
        without.node_mut(NodeId(2)).params.remove("running_var");
        assert_eq!(without.fold_norm(NodeId(2)), None);
        assert_eq!((graph, without.nodes().len()), (before, 4));
    }
}
