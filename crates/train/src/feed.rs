//! The rows of a training on their way into the network: order, batches, augmentation.

use crate::augment::TrainingRows;
use crate::batches::{Batches, Order, needs_two_rows};
use crate::{FitConfig, TrainError};
use data::Dataset;
use engine::{Network, Optimizer, Part, Score};

/// The batches of a training, epoch by epoch.
pub(crate) struct Feed<'a> {
    data: &'a Dataset,
    config: &'a FitConfig,
    rows: TrainingRows<'a>,
    needs_two: bool,
    epoch: u64,
    /// Those of the epoch.
    pub batches: Batches,
}

impl<'a> Feed<'a> {
    pub fn new(network: &Network, data: &'a Dataset, config: &'a FitConfig) -> Self {
        Self {
            data,
            config,
            rows: TrainingRows::new(data, config.augment, config.seed),
            needs_two: needs_two_rows(network),
            epoch: 0,
            batches: Batches::default(),
        }
    }

    /// Lays out an epoch.
    pub fn begin(&mut self, epoch: u64, network: &mut Network) {
        let config = self.config;
        let order = Order {
            seed: config.seed,
            shuffle: config.shuffle,
        };
        let (rows, size) = (&self.data.train, config.batch_size);
        self.epoch = epoch;
        network.profiler().time(Part::Data, || {
            self.batches.begin(rows, size, order, epoch, self.needs_two);
        });
    }

    /// Learns one batch: an update of its own, or part of one when gradients are accumulated.
    pub fn learn(
        &mut self,
        batch: usize,
        network: &mut Network,
        optimizer: &mut Optimizer,
    ) -> Result<Score, TrainError> {
        let (rows, labels) = self.batches.get(batch);
        let inputs = network
            .profiler()
            .time(Part::Data, || self.rows.inputs(rows, self.epoch));
        let accumulate = self.config.accumulate;
        if accumulate == 1 {
            return Ok(network.train_step(&inputs, labels, rows.len(), optimizer)?);
        }
        let score = network.accumulate(&inputs, labels, rows.len())?;
        let of_update = batch % accumulate + 1;
        if of_update == accumulate || batch + 1 == self.batches.count() {
            network.update(optimizer, of_update);
        }
        Ok(score)
    }
}
