//! The distance of two arrays of numbers.

/// Sums over pairs of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    signal: f64,
    signal_b: f64,
    noise: f64,
    product: f64,
    /// The largest difference; not a number when one of the differences is none.
    pub largest: f64,
}

impl Distance {
    /// Adds pairs of numbers.
    pub fn add(&mut self, a: &[f32], b: &[f32]) {
        for (&a, &b) in a.iter().zip(b) {
            let (a, b) = (f64::from(a), f64::from(b));
            let difference = (a - b).abs();
            self.signal += a * a;
            self.signal_b += b * b;
            self.noise += difference * difference;
            self.product += a * b;
            if difference > self.largest || difference.is_nan() {
                self.largest = difference;
            }
        }
    }

    /// True when all pairs are equal. A value that is not finite equals nothing.
    pub fn is_zero(&self) -> bool {
        self.noise == 0.0
    }

    /// Signal-to-quantisation-noise ratio in decibels; there is none when all pairs are equal.
    pub fn sqnr(&self) -> Option<f64> {
        (!self.is_zero()).then(|| 10.0 * (self.signal / self.noise).log10())
    }

    /// The same in words.
    pub fn sqnr_text(&self) -> String {
        self.sqnr()
            .map_or_else(|| "exact".to_owned(), |sqnr| format!("{sqnr:.2}"))
    }

    /// Cosine of the angle between the two.
    pub fn cosine(&self) -> f64 {
        let norms = (self.signal * self.signal_b).sqrt();
        if norms == 0.0 {
            1.0
        } else {
            self.product / norms
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_not_exact() {
        for wrong in [f32::NAN, f32::INFINITY] {
            for [a, b] in [[wrong, 1.0], [1.0, wrong], [wrong, wrong]] {
                let mut distance = Distance::default();
                distance.add(&[0.0, a, 2.0], &[0.0, b, 3.0]);
                assert!(!distance.is_zero(), "{a} and {b}");
                assert!(!distance.largest.is_finite(), "{a} and {b}");
            }
        }
        let mut equal = Distance::default();
        equal.add(&[0.0, 2.0], &[-0.0, 2.0]);
        assert!(equal.is_zero() && equal.sqnr().is_none());
    }

    #[test]
    fn the_cosine_is_that_of_the_angle() {
        let cosine = |a: &[f32], b: &[f32]| {
            let mut distance = Distance::default();
            distance.add(a, b);
            distance.cosine()
        };
        assert_eq!(cosine(&[1.0, 2.0], &[2.0, 4.0]), 1.0);
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
        assert_eq!(cosine(&[1.0, 0.0], &[-2.0, 0.0]), -1.0);
        assert_eq!(cosine(&[0.0], &[0.0]), 1.0);
    }
}
