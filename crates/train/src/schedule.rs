//! The learning rate over the epochs.

use std::f64::consts::PI;

/// Cosine annealing: `η_min + (η − η_min)·(1 + cos(π·epoch/T))/2`, never above the start value η.
///
/// The same as PyTorch's `CosineAnnealingLR` stepped once an epoch. Differs from MASE: a start value below `eta_min` stays
/// where it is instead of rising.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cosine {
    /// Epochs from the start value to the end value.
    pub t_max: u64,
    /// The end value.
    pub eta_min: f64,
}

impl Cosine {
    /// The learning rate of an epoch, from zero.
    pub fn rate(&self, start: f64, epoch: u64) -> f64 {
        let low = self.eta_min.min(start);
        let share = f64::midpoint(1.0, (PI * epoch as f64 / self.t_max.max(1) as f64).cos());
        low + (start - low) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_run_from_start_to_end_along_a_cosine() {
        let cosine = Cosine {
            t_max: 10,
            eta_min: 1e-6,
        };
        // Of PyTorch's CosineAnnealingLR(Adam(lr=1e-3), T_max=10, eta_min=1e-6).
        let expected = [
            1e-3,
            9.755527298894294e-4,
            9.046039886902864e-4,
            7.940987335200904e-4,
        ];
        for (epoch, rate) in expected.into_iter().enumerate() {
            assert!(
                (cosine.rate(1e-3, epoch as u64) - rate).abs() < 1e-12,
                "{epoch}"
            );
        }
        assert!((cosine.rate(1e-3, 10) - 1e-6).abs() < 1e-18);
    }

    #[test]
    fn rates_never_rise_above_the_start() {
        for start in [1e-8, 1e-6, 1e-3, 0.1] {
            for epoch in 0..40 {
                let rate = Cosine {
                    t_max: 20,
                    eta_min: 1e-6,
                }
                .rate(start, epoch);
                assert!(rate <= start && rate >= 0.0, "{start} {epoch} {rate}");
            }
        }
    }
}
