//! Mean and sum of squares of each channel, for a batch norm that another step makes.

use crate::step::{Memory, Step, Wires};
use kernels::batch_norm::{ChannelLayout, moments};

/// The moments of a value: a row of means, a row of centred sums of squares.
pub(crate) struct Moments(pub ChannelLayout);

impl Step for Moments {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        let (mean, m2) = y.split_at_mut(self.0.channels);
        moments(&self.0, x, mean, m2);
    }

    /// The norm that reads them makes the gradient of its input from them, and nothing comes back here.
    fn backward(&self, _: &Wires, _: &mut Memory) {}
}
