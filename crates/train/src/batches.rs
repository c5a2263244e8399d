//! The rows of an epoch in the order they are learned.

use data::Split;
use engine::Network;
use ir::Op;
use random::Random;

/// The row numbers of one epoch and their labels, batch after batch. Reused from epoch to epoch.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    rows: Vec<u32>,
    labels: Vec<u32>,
    size: usize,
}

/// Seed and shuffling of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub seed: u64,
    pub shuffle: bool,
}

impl Batches {
    /// Lays out an epoch. A last batch of a single row is left out when `needs_two`: a batch norm has no statistics of it.
    pub fn begin(&mut self, split: &Split, size: usize, order: Order, epoch: u64, needs_two: bool) {
        self.size = size;
        self.rows.clear();
        self.rows.extend_from_slice(split.indices());
        if order.shuffle {
            shuffle(&mut self.rows, Random::new(order.seed, "shuffle").at(epoch));
        }
        if needs_two && self.rows.len() % size == 1 && self.rows.len() > 1 {
            self.rows.pop();
        }
        self.labels.clear();
        self.labels
            .extend(self.rows.iter().map(|&row| split.labels()[row as usize]));
    }

    /// The number of batches.
    pub fn count(&self) -> usize {
        self.rows.len().div_ceil(self.size)
    }

    /// Row numbers and labels of a batch.
    pub fn get(&self, batch: usize) -> (&[u32], &[u32]) {
        let start = batch * self.size;
        let end = (start + self.size).min(self.rows.len());
        (&self.rows[start..end], &self.labels[start..end])
    }
}

/// True for a network with a batch norm, which has no statistics of a single row.
pub(crate) fn needs_two_rows(network: &Network) -> bool {
    let mut nodes = network.graph().nodes().iter();
    nodes.any(|node| matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_)))
}

/// Fisher and Yates' shuffle with counted random numbers.
fn shuffle(rows: &mut [u32], random: Random) {
    for last in (1..rows.len()).rev() {
        let wide = u128::from(random.bits(last as u64)) * (last as u128 + 1);
        rows.swap(last, (wide >> 64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Rows;
    use std::sync::Arc;

    fn split(rows: u32) -> Split {
        let values = (0..rows).map(|row| row as f32).collect();
        let all = Rows {
            values,
            labels: (0..rows).map(|row| row % 3).collect(),
            width: 1,
        };
        Split::new(Arc::new(all), (0..rows).collect())
    }

    #[test]
    fn every_row_comes_once_with_its_label() {
        let split = split(103);
        let mut batches = Batches::default();
        for (epoch, shuffle) in [(0, false), (0, true), (1, true)] {
            batches.begin(&split, 10, Order { seed: 1, shuffle }, epoch, false);
            let mut seen = Vec::new();
            for batch in 0..batches.count() {
                let (rows, labels) = batches.get(batch);
                assert!(
                    rows.iter()
                        .zip(labels)
                        .all(|(row, label)| row % 3 == *label)
                );
                seen.extend_from_slice(rows);
            }
            assert_eq!(seen.is_sorted(), !shuffle);
            seen.sort_unstable();
            assert_eq!(seen, (0..103).collect::<Vec<_>>());
        }
    }

    #[test]
    fn orders_differ_between_epochs_and_seeds_and_repeat() {
        let split = split(50);
        let order = |seed, epoch| {
            let mut batches = Batches::default();
            batches.begin(
                &split,
                50,
                Order {
                    seed,
                    shuffle: true,
                },
                epoch,
                false,
            );
            batches.get(0).0.to_vec()
        };
        assert_eq!(order(1, 0), order(1, 0));
        assert_ne!(order(1, 0), order(1, 1));
        assert_ne!(order(1, 0), order(2, 0));
    }

    #[test]
    fn a_single_row_is_left_out_only_where_two_are_needed() {
        let order = Order {
            seed: 0,
            shuffle: false,
        };
        for (rows, size, needs_two, expected) in [
            (21, 10, true, 20),
            (21, 10, false, 21),
            (20, 10, true, 20),
            (22, 10, true, 22),
            // A row that is all there is stays.
            (1, 10, true, 1),
            (2, 10, true, 2),
            (0, 10, true, 0),
        ] {
            let mut batches = Batches::default();
            batches.begin(&split(rows), size, order, 0, needs_two);
            let found: usize = (0..batches.count()).map(|k| batches.get(k).0.len()).sum();
            assert_eq!(found, expected, "{rows} rows by {size}, {needs_two}");
        }
    }
}
