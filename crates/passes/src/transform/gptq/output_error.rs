//! The squared error that other weights make in the outputs of a layer.

use super::inputs::Layer;
use kernels::gemm::{Init, gemm, transpose};

/// The sums over all inputs seen so far.
pub struct OutputError {
    layer: Layer,
    /// By group, the change of the weights: a column for each output channel.
    changes: Vec<Vec<f32>>,
    /// Of the errors of all outputs.
    squares: f64,
    /// Rows of inputs.
    count: usize,
    outputs: Vec<f32>,
}

impl OutputError {
    /// Nothing seen yet of weights instead of the exact ones, both of all groups.
    pub fn new(layer: Layer, exact: &[f32], weights: &[f32]) -> Self {
        let columns = layer.columns();
        let change: Vec<f32> = exact.iter().zip(weights).map(|(a, b)| a - b).collect();
        let per_group = (change.len() / layer.groups()).max(1);
        let changes = change.chunks(per_group).map(|rows| {
            let channels = rows.len() / columns;
            let mut turned = vec![0.0; rows.len()];
            transpose(channels, columns, rows, columns, &mut turned, channels);
            turned
        });
        Self {
            layer,
            changes: changes.collect(),
            squares: 0.0,
            count: 0,
            outputs: Vec::new(),
        }
    }

    /// Adds the inputs of some rows.
    pub fn add(&mut self, shape: &[usize], values: &[f32]) {
        let layer = self.layer;
        layer.for_each_part(shape, values, |group, x| self.add_part(group, x));
    }

    fn add_part(&mut self, group: usize, x: &[f32]) {
        let (k, change) = (self.layer.columns(), &self.changes[group]);
        let (rows, n) = (x.len() / k, change.len() / k);
        self.count += if group == 0 { rows } else { 0 };
        self.outputs.resize(rows * n, 0.0);
        let y = &mut self.outputs;
        gemm(rows, k, n, x, k, 1, change, n, y, n, Init::Zero);
        let squares = y.iter().map(|&error| f64::from(error).powi(2));
        self.squares += squares.sum::<f64>();
    }

    /// The mean over rows and output channels.
    pub fn mean(&self) -> f64 {
        let elements: usize = self.changes.iter().map(Vec::len).sum();
        let channels = elements / self.layer.columns().max(1);
        self.squares / (self.count * channels).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean squared error of other weights of a layer for some inputs.
    fn mean(statement: &str, weights: [[f32; 2]; 2], shape: &[usize], x: &[f32]) -> f64 {
        let text =
            format!("graph \"g\" {{ x: f32[N, 2, 3] = placeholder y = {statement} return y }}");
        let graph = ir::Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        let layer = Layer::of(&graph.nodes()[1].op).expect("it is a layer");
        let mut error = OutputError::new(layer, &weights[0], &weights[1]);
        error.add(shape, x);
        error.add(shape, x);
        error.mean()
    }

    #[test]
    fn the_error_is_the_mean_over_rows_and_output_channels() {
        // Changes of 1/2 and 0: errors of 1 and 2.
        let linear = "linear(x) { in_features = 2, out_features = 1, bias = false }";
        let got = mean(
            linear,
            [[1.5, 2.0], [1.0, 2.0]],
            &[2, 2],
            &[2.0, 1.0, 4.0, 0.0],
        );
        assert_eq!(got, 2.5);
        // Each channel for itself: errors of 0.5, 1 and 1.5, and of 1, 0 and 1.
        let grouped = "conv1d(x) { in_channels = 2, out_channels = 2, kernel_size = 1, groups = 2, bias = false }";
        let x = [1.0, 2.0, 3.0, 1.0, 0.0, 1.0];
        let got = mean(grouped, [[1.0, 1.0], [0.5, 0.0]], &[1, 2, 3], &x);
        assert!((got - 5.5 / 6.0).abs() < 1e-6, "{got}");
    }
}
