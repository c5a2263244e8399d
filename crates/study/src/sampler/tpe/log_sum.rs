//! The logarithm of a sum of exponentials, in blocks.

/// Lanes that are summed side by side, so that the compiler can use vectors.
const LANES: usize = 8;

/// `ln Σ exp(x)` of all x so far, as the largest block maximum and the sum relative to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogSum {
    largest: f32,
    sum: f64,
}

impl Default for LogSum {
    fn default() -> Self {
        Self {
            largest: f32::NEG_INFINITY,
            sum: 0.0,
        }
    }
}

impl LogSum {
    /// Takes in some values.
    pub(super) fn add(&mut self, values: &[f32]) {
        let largest = maximum(values);
        if largest > self.largest {
            self.sum *= f64::from(self.largest - largest).exp();
            self.largest = largest;
        }
        self.sum += f64::from(sum_exp(values, self.largest));
    }

    /// The logarithm.
    pub(super) fn get(&self) -> f64 {
        f64::from(self.largest) + self.sum.ln()
    }
}

fn maximum(values: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, *value);
        }
    }
    lanes
        .iter()
        .chain(rest)
        .copied()
        .fold(f32::NEG_INFINITY, larger)
}

fn sum_exp(values: &[f32], largest: f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += exp(value - largest);
        }
    }
    let tail: f32 = rest.iter().map(|value| exp(value - largest)).sum();
    lanes.iter().sum::<f32>() + tail
}

/// `exp(x)` for `x ≤ 0` with a relative error below 1e-6, without branches: 2^n by the bits of the exponent, 2^f for f in
/// [-1/2, 1/2] by its Taylor series. Anything below e^-80 is e^-80.
#[inline]
fn exp(x: f32) -> f32 {
    // Adding 1.5·2^23 rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let scaled = if x > -80.0 { x } else { -80.0 } * std::f32::consts::LOG2_E;
    let rounded = scaled + ROUND;
    let power = rounded.to_bits().wrapping_sub(ROUND.to_bits());
    let f = (scaled - (rounded - ROUND)) * std::f32::consts::LN_2;
    let series = 1.0 + f * (1.0 + f * (1.0 / 2.0 + f * (1.0 / 6.0 + f * (1.0 / 24.0 + f / 120.0))));
    series * f32::from_bits(power.wrapping_add(127) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_exp() {
        for k in 0..8000_i16 {
            let x = -f32::from(k) / 100.0;
            let (ours, exact) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((ours / exact - 1.0).abs() < 8e-6, "{x}: {ours} {exact}");
        }
        assert!(exp(f32::NEG_INFINITY) < 1e-34);
    }

    #[test]
    fn blocks_add_up() {
        let values: Vec<f32> = (0..50_u8)
            .map(|k| f32::from(k) * 37.0 % 50.0 - 60.0)
            .collect();
        let exact = values.iter().map(|v| f64::from(*v).exp()).sum::<f64>().ln();
        let mut sum = LogSum::default();
        for block in values.chunks(13) {
            sum.add(block);
        }
        assert!((sum.get() - exact).abs() < 1e-5, "{} {exact}", sum.get());
    }

    #[test]
    fn a_block_without_values_adds_nothing() {
        let mut sum = LogSum::default();
        sum.add(&[]);
        assert_eq!(sum.get(), f64::NEG_INFINITY);
        sum.add(&[-3.0]);
        sum.add(&[]);
        assert_eq!(sum.get(), -3.0);
    }
}
