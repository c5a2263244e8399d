//! The standard normal distribution: cumulative probability, its logarithm, mass of an interval, quantile.
//!
//! The standard library has no error function, and these are all that the samplers need of statistics. A relative
//! error of 1e-7 is far below what a sampler could notice.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

/// `ln(sqrt(2π))`, what the logarithm of the density subtracts.
pub const LN_SQRT_TAU: f64 = 0.918_938_533_204_672_8;

/// `Φ(x)`, the probability of a value below `x`.
pub fn cumulative(x: f64) -> f64 {
    if x > 0.0 {
        return 1.0 - cumulative(-x);
    }
    log_cumulative(x).exp()
}

/// `ln Φ(x)`, also where `Φ(x)` is too small for a float.
pub fn log_cumulative(x: f64) -> f64 {
    if x > 0.0 {
        return (-cumulative(-x)).ln_1p();
    }
    log_erfc(-x * FRAC_1_SQRT_2) - LN_2
}

/// `ln(Φ(b) - Φ(a))` for `a < b`, without cancellation in either tail.
pub fn log_mass(a: f64, b: f64) -> f64 {
    if a > 0.0 {
        return log_mass(-b, -a);
    }
    if b > 0.0 {
        return (1.0 - cumulative(a) - cumulative(-b)).ln();
    }
    let high = log_cumulative(b);
    // Φ(a)/Φ(b) is below exp((b² - a²)/2): often nothing is left to subtract.
    if b * b - a * a < -40.0 {
        return high;
    }
    high + (-(log_cumulative(a) - high).exp()).ln_1p()
}

/// `Φ⁻¹(p)` by Acklam's rational approximation, relative error 1.2e-9; infinite at 0 and 1.
pub fn quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    if p < 0.02425 {
        let q = (-2.0 * p.ln()).sqrt();
        return polynomial(&TAIL_NUMERATOR, q) / polynomial(&TAIL_DENOMINATOR, q);
    }
    let q = p - 0.5;
    q * polynomial(&CENTER_NUMERATOR, q * q) / polynomial(&CENTER_DENOMINATOR, q * q)
}

/// `ln erfc(z)` for `z ≥ 0`, by the Chebyshev fit of Press et al., "Numerical recipes", 6.2; it holds for any `z`.
fn log_erfc(z: f64) -> f64 {
    const FIT: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let t = 1.0 / (1.0 + 0.5 * z);
    t.ln() - z * z + polynomial(&FIT, t)
}

/// Horner's rule, highest power first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

const CENTER_NUMERATOR: [f64; 6] = [
    -3.969_683_028_665_376e1,
    2.209_460_984_245_205e2,
    -2.759_285_104_469_687e2,
    1.383_577_518_672_69e2,
    -3.066_479_806_614_716e1,
    2.506_628_277_459_239,
];
const CENTER_DENOMINATOR: [f64; 6] = [
    -5.447_609_879_822_406e1,
    1.615_858_368_580_409e2,
    -1.556_989_798_598_866e2,
    6.680_131_188_771_972e1,
    -1.328_068_155_288_572e1,
    1.0,
];
const TAIL_NUMERATOR: [f64; 6] = [
    -7.784_894_002_430_293e-3,
    -3.223_964_580_411_365e-1,
    -2.400_758_277_161_838,
    -2.549_732_539_343_734,
    4.374_664_141_464_968,
    2.938_163_982_698_783,
];
const TAIL_DENOMINATOR: [f64; 5] = [
    7.784_695_709_041_462e-3,
    3.224_671_290_700_398e-1,
    2.445_134_137_142_996,
    3.754_408_661_907_416,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64, relative: f64) {
        assert!(
            (left - right).abs() <= relative * right.abs(),
            "{left} is not {right}"
        );
    }

    /// Values of `scipy.stats.norm.cdf` and `logcdf`.
    #[test]
    fn agrees_with_known_values() {
        close(cumulative(0.0), 0.5, 2e-7);
        close(cumulative(1.0), 0.841_344_746_068_542_9, 2e-7);
        close(cumulative(-3.0), 1.349_898_031_630_094_5e-3, 2e-7);
        close(cumulative(-8.0), 6.220_960_574_271_786e-16, 2e-7);
        close(log_cumulative(-10.0), -53.231_285_051_514_5, 1e-8);
        close(log_cumulative(-40.0), -804.608_442_014_171_1, 1e-9);
    }

    /// Values of Python's `math.erfc` and `statistics.NormalDist`, in every branch.
    #[test]
    fn tails_and_center_agree_with_known_values() {
        for (x, expected) in [
            (0.5, -0.368_946_415_288_656_35),
            (2.0, -0.023_012_909_328_963_49),
            (3.5, -0.000_232_656_141_376_819_6),
        ] {
            close(log_cumulative(x), expected, 1e-6);
        }
        for (a, b, expected) in [
            (-1.0, -0.5, -1.897_905_061_013_982_3),
            (-0.5, 0.75, -0.766_072_540_804_100_6),
            (0.25, 2.0, -0.971_424_173_437_400_6),
            (-9.0, -5.0, -15.064_998_393_989_118),
            (-8.0, -3.0, -6.607_726_221_510_809),
            (3.0, 8.0, -6.607_726_221_510_809),
            (-7.0, -6.9, -27.353_151_209_397_755),
            (0.0, 1.0, -1.074_862_326_862_071_4),
            (-1.0, 0.0, -1.074_862_326_862_071_4),
        ] {
            close(log_mass(a, b), expected, 1e-6);
        }
        for (p, expected) in [
            (1e-10, -6.361_340_902_404_056),
            (0.001, -3.090_232_306_167_813),
            (0.02, -2.053_748_910_631_822_5),
            (0.02425, -1.972_961_051_311_884_5),
            (0.03, -1.880_793_608_151_250_9),
            (0.3, -0.524_400_512_708_040_7),
            (0.5, 0.0),
            (0.7, 0.524_400_512_708_040_7),
            (0.99, 2.326_347_874_040_840_8),
            (1.0 - 1e-9, 5.997_807_019_601_638),
        ] {
            close(quantile(p), expected, 2e-9);
        }
        // What is left out is below 2e-9, and where it begins is a matter of bits.
        let from = |squares: f64| log_mass(-(9.0 + squares).sqrt(), -3.0);
        assert_eq!(from(40.1), log_cumulative(-3.0));
        assert!(from(39.9) < log_cumulative(-3.0));
        assert!(log_mass(-7.0, -3.0) < log_cumulative(-3.0));
        // The first number of the center, by its polynomials alone.
        assert_eq!(quantile(0.02425), -1.9729610490848712);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert_eq!(
            (quantile(-1.0), quantile(2.0)),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
    }

    /// Results of earlier runs are reproduced to the bit, so that each interval has its one way.
    #[test]
    fn an_interval_around_zero_is_what_both_tails_leave() {
        for (a, b) in [
            (-0.5, 0.75),
            (-2.0, 0.25),
            (0.0, 1.0),
            (0.0, 0.3),
            (0.0, 2.5),
        ] {
            let left: f64 = 1.0 - cumulative(a) - cumulative(-b);
            assert_eq!(log_mass(a, b), left.ln(), "{a} to {b}");
        }
        for a in [-0.3, -1.0, -2.5] {
            let share = (log_cumulative(a) - log_cumulative(0.0)).exp();
            let tail = log_cumulative(0.0) + (-share).ln_1p();
            assert_eq!(log_mass(a, 0.0), tail, "{a} to 0");
            assert_eq!(log_mass(-0.0, -a), log_mass(0.0, -a), "0 to {}", -a);
        }
    }

    #[test]
    fn quantile_inverts_cumulative() {
        for k in -60..=40 {
            let x = f64::from(k) / 10.0;
            close(quantile(cumulative(x)) + 100.0, x + 100.0, 1e-7);
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn masses_of_neighboring_cells_add_up() {
        for center in [-60.0, -12.0, -1.0, 0.0, 0.3, 2.0, 30.0_f64] {
            let (a, b, c) = (center - 0.5, center, center + 0.5);
            let (left, right, both) = (log_mass(a, b), log_mass(b, c), log_mass(a, c));
            let larger = left.max(right);
            let sum = larger + ((left - larger).exp() + (right - larger).exp()).ln();
            assert!(both.is_finite());
            assert!((sum - both).abs() < 1e-6, "{sum} {both}");
        }
    }
}
