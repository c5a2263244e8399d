//! The learning rate over the epochs of a training, and over the updates of a short one.

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

/// The learning rate over the updates of a short training, as a factor of its start value: Hugging Face's schedules, which the
/// original takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepSchedule {
    /// The curve.
    pub curve: Curve,
    /// Updates over which the rate rises from 0; a constant rate has none.
    pub warmup_steps: u64,
    /// Updates until the rate has fallen to 0; it stays there.
    pub total_steps: u64,
}

/// The curve of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curve {
    /// 1.
    #[default]
    Constant,
    /// A rise, then 1.
    ConstantWithWarmup,
    /// A rise, then a straight line to 0.
    Linear,
    /// A rise, then half a wave of the cosine to 0.
    Cosine,
}

impl Curve {
    /// The words for it in configs.
    pub const WORDS: &'static [(&'static str, Self)] = &[
        ("linear", Self::Linear),
        ("cosine", Self::Cosine),
        ("constant", Self::Constant),
        ("constant_with_warmup", Self::ConstantWithWarmup),
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::ConstantWithWarmup => "constant_with_warmup",
            Self::Linear => "linear",
            Self::Cosine => "cosine",
        }
    }
}

impl StepSchedule {
    /// The factor of an update, from zero.
    pub fn factor(&self, step: u64) -> f64 {
        if self.curve == Curve::Constant {
            return 1.0;
        }
        if step < self.warmup_steps {
            return step as f64 / self.warmup_steps as f64;
        }
        let length = self.total_steps.saturating_sub(self.warmup_steps).max(1);
        let share = ((step - self.warmup_steps) as f64 / length as f64).min(1.0);
        match self.curve {
            Curve::Constant | Curve::ConstantWithWarmup => 1.0,
            Curve::Linear => 1.0 - share,
            Curve::Cosine => f64::midpoint(1.0, (PI * share).cos()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_updates_follow_the_formulas_of_hugging_face() {
        let (warmup, total) = (4.0_f64, 20.0_f64);
        let formula = |curve: Curve, step: f64| match curve {
            Curve::Constant => 1.0,
            _ if step < warmup => step / warmup,
            Curve::ConstantWithWarmup => 1.0,
            Curve::Linear => ((total - step) / (total - warmup)).max(0.0),
            Curve::Cosine if step >= total => 0.0,
            Curve::Cosine => 0.5 * (1.0 + (PI * (step - warmup) / (total - warmup)).cos()),
        };
        for (word, curve) in Curve::WORDS {
            assert_eq!(curve.name(), *word);
            let schedule = StepSchedule {
                curve: *curve,
                warmup_steps: 4,
                total_steps: 20,
            };
            for step in 0..30 {
                let (found, expected) = (schedule.factor(step), formula(*curve, step as f64));
                assert!((found - expected).abs() < 1e-12, "{word} {step}: {found}");
            }
        }
    }

    #[test]
    fn schedules_of_no_length_have_factors_from_0_to_1() {
        for (_, curve) in Curve::WORDS {
            for (warmup_steps, total_steps) in [(0, 0), (5, 0), (5, 5), (0, 1)] {
                let schedule = StepSchedule {
                    curve: *curve,
                    warmup_steps,
                    total_steps,
                };
                for step in 0..12 {
                    assert!((0.0..=1.0).contains(&schedule.factor(step)));
                }
            }
        }
    }

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
