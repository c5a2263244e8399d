//! Running two graphs side by side, batch after batch.

use super::distance::Distance;
use super::outputs::Outputs;
use super::{Compare, Pair};
use crate::PassError;
use crate::observe::{Observer, ROWS};
use engine::Port;
use ir::{NodeId, Value};

/// The observed ports of two graphs, and the differences so far.
struct Measure<'a, 'b> {
    pairs: &'a mut [Pair<'b>],
    outputs: &'a mut Outputs,
    /// The pairs whose results are watched.
    watched: Vec<usize>,
    /// Rounded data inputs of the second graph: the pair, the port.
    rounded: Vec<(usize, String)>,
    /// Elements at the rounded inputs of each pair: those that saturate, all.
    clipped: Vec<(usize, usize)>,
}

impl Compare<'_> {
    /// Runs both graphs on all rows. Only a batch of values is kept at a time.
    pub(super) fn measure(
        &self,
        pairs: &mut [Pair],
        outputs: &mut Outputs,
    ) -> Result<(), PassError> {
        let mut measure = Measure::new(pairs, outputs);
        let [ports_a, ports_b] = measure.ports();
        let mut a = Observer::new(self.a.1, ports_a, self.rows, self.threads)?;
        let mut b = Observer::new(self.b.1, ports_b, self.rows, self.threads)?;
        for indices in self.rows.indices().chunks(ROWS) {
            let mut of_a = vec![Vec::new(); measure.watched.len() + 1];
            a.read(indices, |index, _, values| {
                of_a[index].extend_from_slice(values);
            })?;
            let mut of_b = vec![Vec::new(); of_a.len()];
            b.read(indices, |index, shape, values| match of_b.get_mut(index) {
                Some(of_b) => of_b.extend_from_slice(values),
                None => measure.saturate(index - of_a.len(), shape, values),
            })?;
            measure.add(&of_a, &of_b, indices.len());
        }
        measure.finish();
        Ok(())
    }
}

impl<'a, 'b> Measure<'a, 'b> {
    fn new(pairs: &'a mut [Pair<'b>], outputs: &'a mut Outputs) -> Self {
        let is_watched = |index: &usize| pairs[*index].distance.is_some();
        let watched = (0..pairs.len()).filter(is_watched).collect();
        let inputs = |(index, pair): (usize, &Pair)| {
            let ports = pair.b.1.formats.keys();
            let inputs = ports.filter(|port| port.starts_with("data_in_"));
            let inputs = inputs.map(|port| (index, port.clone()));
            inputs.collect::<Vec<_>>()
        };
        Self {
            watched,
            rounded: pairs.iter().enumerate().flat_map(inputs).collect(),
            clipped: vec![(0, 0); pairs.len()],
            pairs,
            outputs,
        }
    }

    /// In both graphs the results of nodes and what is returned; in the second its rounded inputs behind them.
    fn ports(&self) -> [Vec<Port>; 2] {
        let port = |node: NodeId, port: &str| Port {
            node,
            port: port.to_owned(),
        };
        let watched = || self.watched.iter().map(|&index| &self.pairs[index]);
        let mut a: Vec<Port> = watched().map(|pair| port(pair.a.0, "data_out_0")).collect();
        let mut b: Vec<Port> = watched().map(|pair| port(pair.b.0, "data_out_0")).collect();
        a.push(port(self.outputs.a, "data_in_0"));
        b.push(port(self.outputs.b, "data_in_0"));
        let inputs = self.rounded.iter();
        b.extend(inputs.map(|(index, name)| port(self.pairs[*index].b.0, name)));
        [a, b]
    }

    /// Counts what saturates at a rounded input.
    fn saturate(&mut self, index: usize, shape: &[usize], values: &[f32]) {
        let (pair, port) = &self.rounded[index];
        let mut inside = vec![1.0; values.len()];
        self.pairs[*pair].b.1.formats[port].straight_through(values, shape, &mut inside);
        let (clipped, all) = &mut self.clipped[*pair];
        *clipped += inside.iter().filter(|&&g| g == 0.0).count();
        *all += values.len();
    }

    /// Adds a batch: the values of each watched result, and behind them what the graphs return.
    fn add(&mut self, of_a: &[Vec<f32>], of_b: &[Vec<f32>], rows: usize) {
        let mut values = of_a.iter().zip(of_b);
        for (&index, (a, b)) in self.watched.iter().zip(&mut values) {
            let distance = &mut self.pairs[index].distance;
            distance.get_or_insert_default().add(a, b);
        }
        for (a, b) in values {
            self.outputs.add(a, b, rows);
        }
    }

    fn finish(self) {
        for (pair, (clipped, all)) in self.pairs.iter_mut().zip(self.clipped) {
            pair.saturated = (all > 0).then(|| clipped as f64 / all as f64);
        }
    }
}

/// Nothing seen yet of two results, if they have the same shape for every sample.
pub(super) fn comparable(compare: &[&ir::Verified; 2], values: [Value; 2]) -> Option<Distance> {
    let [a, b] = [0, 1].map(|side| compare[side].ty(values[side]).shape.bind(1));
    (a.is_some() && a == b).then(Distance::default)
}
