//! The definitions, told again: value sets listed in exact f64 arithmetic, and the choice among neighbours.

use format::{Format, Overflow, Rounding};

/// A value set in increasing order, each value with whether ties go to it.
pub struct Oracle {
    pub values: Vec<(f64, bool)>,
    choice: Choice,
    /// Whether signs are kept apart from magnitudes.
    signed: bool,
    /// The smallest value, and the distance after which values come again, where they wrap.
    turn: Option<(f64, f64)>,
}

/// How a number between two values is rounded.
#[derive(Clone, Copy, PartialEq)]
enum Choice {
    Nearest,
    NearestUp,
    Below,
    /// By the logarithm; only zero becomes zero.
    Logarithm,
}

impl Oracle {
    /// The value set of an element format of few bits.
    pub fn of(format: &Format) -> Self {
        match format {
            Format::Integer(f) => {
                let n = 1i64 << f.width;
                let first = if f.signed { -n / 2 } else { 0 };
                let step = 0.5f64.powi(f.frac_width);
                let choice = match f.rounding {
                    Rounding::NearestEven => Choice::Nearest,
                    Rounding::NearestUp => Choice::NearestUp,
                    Rounding::Floor => Choice::Below,
                };
                let code = |k: i64| (k as f64 * step, k % 2 == 0);
                match f.overflow {
                    Overflow::Saturate => Self::new((first..first + n).map(code).collect(), choice),
                    Overflow::Wrap => Self {
                        turn: Some((first as f64 * step, n as f64 * step)),
                        ..Self::new((-n - 1..=n + 1).map(code).collect(), choice)
                    },
                }
            }
            Format::Log(f) => log(f.width, f.exponent_bias),
            Format::MinifloatIeee(f) => ieee(f.width, f.exponent_width, f.exponent_bias),
            Format::MinifloatDenorm(f) => denorm(f.width, f.exponent_width, f.exponent_bias),
            other => panic!("no oracle for {other}"),
        }
    }

    fn new(mut values: Vec<(f64, bool)>, choice: Choice) -> Self {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|a, b| a.0 == b.0);
        Self {
            values,
            choice,
            signed: false,
            turn: None,
        }
    }

    /// Both signs of magnitudes.
    fn mirrored(magnitudes: Vec<(f64, bool)>, choice: Choice) -> Self {
        let negative = magnitudes.iter().map(|&(value, even)| (0.0 - value, even));
        let values = negative.collect::<Vec<_>>().into_iter().chain(magnitudes);
        Self {
            signed: true,
            ..Self::new(values.collect(), choice)
        }
    }

    /// The set without what lies beyond `max`.
    pub fn up_to(mut self, max: f64) -> Self {
        self.values.retain(|(value, _)| value.abs() <= max);
        self
    }

    /// The value that `x` is rounded to.
    pub fn round(&self, x: f64) -> f64 {
        let Some((first, span)) = self.turn else {
            return self.round_once(x);
        };
        let max = f64::from(f32::MAX);
        let mut y = self.round_once(x.clamp(-max, max) % span);
        while y < first {
            y += span;
        }
        while y >= first + span {
            y -= span;
        }
        y
    }

    fn round_once(&self, x: f64) -> f64 {
        if self.signed && x < 0.0 {
            return -self.round_once(-x);
        }
        let above = self.values.partition_point(|&(value, _)| value <= x);
        if above == 0 {
            return self.values[0].0;
        }
        let (below, below_even) = self.values[above - 1];
        let Some(&(above, _)) = self.values.get(above) else {
            return below;
        };
        match self.choice {
            Choice::Below => below,
            Choice::NearestUp => {
                if x >= f64::midpoint(below, above) {
                    above
                } else {
                    below
                }
            }
            Choice::Nearest => {
                let middle = f64::midpoint(below, above);
                let up = x > middle || (x == middle && !below_even);
                if up { above } else { below }
            }
            Choice::Logarithm if x == below => below,
            // Zero has no logarithm; otherwise the middle of two logarithms is the root of the product.
            Choice::Logarithm if below * above == 0.0 => below + above,
            Choice::Logarithm => {
                if x * x > below * above {
                    above
                } else {
                    below
                }
            }
        }
    }
}

/// ±2^e for `width` − 1 bits of e + bias, and 0.
pub fn log(width: u32, bias: i32) -> Oracle {
    let exponents = (0..1 << (width - 1)).map(|e| (2f64.powi(e - bias), false));
    let magnitudes = exponents.chain([(0.0, true)]).collect();
    Oracle::mirrored(magnitudes, Choice::Logarithm)
}

/// An implicit leading one but for the exponent 0.
pub fn ieee(width: u32, exponent_width: u32, bias: i32) -> Oracle {
    let one = 1 << (width - 1 - exponent_width);
    let mut magnitudes = Vec::new();
    for e in 0..1 << exponent_width {
        for m in 0..one {
            let significand = if e == 0 { m } else { one + m };
            let exponent = e.max(1) - bias;
            let value = f64::from(significand) / f64::from(one) * 2f64.powi(exponent);
            // With no fraction bits the exponent's last bit is the code's, but the significand decides.
            magnitudes.push((value, significand % 2 == 0));
        }
    }
    Oracle::mirrored(magnitudes, Choice::Nearest)
}

/// No implicit one; a value is even if the fraction is, under the smallest exponent that holds it.
fn denorm(width: u32, exponent_width: u32, bias: i32) -> Oracle {
    let one = 1 << (width - 1 - exponent_width);
    let mut magnitudes: Vec<(f64, bool)> = Vec::new();
    for e in 0..1 << exponent_width {
        for m in 0..one {
            let value = f64::from(m) / f64::from(one) * 2f64.powi(e - bias);
            if !magnitudes.iter().any(|&(known, _)| known == value) {
                magnitudes.push((value, m % 2 == 0));
            }
        }
    }
    Oracle::mirrored(magnitudes, Choice::Nearest)
}
