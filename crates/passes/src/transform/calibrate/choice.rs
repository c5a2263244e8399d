//! Choosing the point of a format for given values.

use super::point::{moved, position};
use format::{FieldValue, Format};

/// The criterion for the position of the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The finest steps at which nothing saturates.
    MinMax,
    /// The finest steps at which this share of the values does not saturate on either side.
    Percentile(f64),
    /// The least sum of squared rounding errors.
    Mse,
    /// The least loss of the network, in descent from [`Method::Mse`].
    Loss,
}

/// Positions tried beyond the finest at which nothing saturates. Heavier tails than 2^16 to 1 are left to saturate less.
const MAX_CLIPPED_BITS: i64 = 16;

/// Elements rounded at a time.
const CHUNK: usize = 4096;

impl Method {
    /// The format with the point that suits the values. It stays when the values are all zero.
    pub fn choose(self, format: &Format, values: &[f32]) -> Format {
        let range = match self {
            Self::Percentile(share) => quantiles(values, share),
            Self::MinMax | Self::Mse | Self::Loss => extremes(values),
        };
        let Some(finest) = finest_unsaturated(format, range) else {
            return format.clone();
        };
        if !matches!(self, Self::Mse | Self::Loss) {
            return moved(format, finest).unwrap_or_else(|| format.clone());
        }
        // A coarser grid without saturation is a part of a finer one: nothing coarser can be better.
        let clipped = width(format).min(MAX_CLIPPED_BITS);
        let candidates = (finest..=finest + clipped).filter_map(|at| moved(format, at));
        // Real steps have more to choose from than powers of two apart.
        let candidates = candidates.chain([format.fitted(values)]);
        let mut best = (noise(format, values), format.clone());
        for candidate in candidates {
            let error = noise(&candidate, values);
            if error < best.0 {
                best = (error, candidate);
            }
        }
        best.1
    }
}

/// The format with its point where none of the values saturates: as it is if none does, nothing if the point cannot be there.
pub fn widened(format: &Format, values: &[f32]) -> Option<Format> {
    let (min, max) = extremes(values);
    if holds(format, min, max) {
        return Some(format.clone());
    }
    let wide = moved(format, finest_unsaturated(format, (min, max))?);
    wide.filter(|format| holds(format, min, max))
}

/// The sum of squared rounding errors.
pub fn noise(format: &Format, values: &[f32]) -> f64 {
    let mut rounded = vec![0.0; CHUNK.min(values.len())];
    let chunks = values.chunks(CHUNK).map(|exact| {
        let rounded = &mut rounded[..exact.len()];
        kernels::quantize::quantize(format, exact, &[exact.len()], rounded);
        let errors = exact.iter().zip(&*rounded).map(|(x, y)| f64::from(x - y));
        errors.map(|error| error * error).sum::<f64>()
    });
    chunks.sum()
}

/// The smallest and the largest value.
pub fn extremes(values: &[f32]) -> (f32, f32) {
    let wider = |(min, max): (f32, f32), &x: &f32| (min.min(x), max.max(x));
    values
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), wider)
}

/// The values that this share of all is not below, and not above.
fn quantiles(values: &[f32], share: f64) -> (f32, f32) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mut sorted = values.to_vec();
    let last = sorted.len() - 1;
    let high = (share * last as f64).ceil() as usize;
    let mut at = |index: usize| *sorted.select_nth_unstable_by(index, f32::total_cmp).1;
    (at(last - high), at(high))
}

/// The width of a format whose point can be moved.
fn width(format: &Format) -> i64 {
    let fields = format.fields();
    match fields.iter().find(|(name, _)| *name == "width") {
        Some((_, FieldValue::Int(width))) => *width,
        _ => unreachable!("a format with a point has a width"),
    }
}

/// The largest position at which neither end of the range saturates; nothing when all is zero.
fn finest_unsaturated(format: &Format, (min, max): (f32, f32)) -> Option<i64> {
    let (lowest, highest) = format.range();
    // What is below zero has no place in an unsigned format, wherever its point.
    let min = if lowest == 0.0 { 0.0 } else { min.min(0.0) };
    let max = max.max(0.0);
    let room = |bound: f64, end: f32| (end != 0.0).then(|| (bound / f64::from(end)).log2());
    let rooms = [room(lowest, min), room(highest, max)];
    let steps = rooms.into_iter().flatten().reduce(f64::min)?.floor() as i64;
    let guess = position(format)? + steps;
    (guess - 2..=guess + 2)
        .rev()
        .find(|&at| moved(format, at).is_some_and(|format| holds(&format, min, max)))
}

fn holds(format: &Format, min: f32, max: f32) -> bool {
    let mut passes = [1.0, 1.0];
    format.straight_through(&[min, max], &[2], &mut passes);
    passes == [1.0, 1.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(method: Method, spec: &str, values: &[f32]) -> String {
        let format = Format::parse(spec).unwrap();
        method.choose(&format, values).to_string()
    }

    #[test]
    fn the_finest_steps_that_hold_the_range() {
        let choose = |spec: &str, values: &[f32]| chosen(Method::MinMax, spec, values);
        assert_eq!(choose("integer(8, 4)", &[0.3, -0.9]), "integer(8, 7)");
        assert_eq!(choose("integer(8, 4)", &[0.3, -1.0]), "integer(8, 7)");
        assert_eq!(choose("integer(8, 4)", &[0.3, 1.0]), "integer(8, 6)");
        assert_eq!(choose("integer(8, 4)", &[1000.0]), "integer(8, -3)");
        assert_eq!(choose("integer(8, 4)", &[0.0]), "integer(8, 4)");
        let unsigned = "integer(8, 4, signed = false)";
        assert!(choose(unsigned, &[-5.0, 0.99]).starts_with("integer(8, 8,"));
    }

    #[test]
    fn a_format_is_widened_only_where_it_saturates() {
        let widened = |spec: &str, values: &[f32]| {
            let format = Format::parse(spec).unwrap();
            widened(&format, values).map(|format| format.to_string())
        };
        let as_is = Some("integer(8, 4)".to_owned());
        assert_eq!(widened("integer(8, 4)", &[0.3, -0.9]), as_is);
        let wider = Some("integer(8, 2)".to_owned());
        assert_eq!(widened("integer(8, 4)", &[0.3, 20.0]), wider);
        let unsigned = "integer(8, 4, signed = false)";
        assert_eq!(widened(unsigned, &[-1.0, 2.0]), None, "no point is enough");
    }

    #[test]
    fn a_share_of_outliers_may_saturate() {
        let mut values: Vec<f32> = (0..1000).map(|k| k as f32 / 1100.0).collect();
        values[0] = 100.0;
        let all = chosen(Method::Percentile(1.0), "integer(8, 4)", &values);
        assert_eq!(all, chosen(Method::MinMax, "integer(8, 4)", &values));
        assert_eq!(all, "integer(8, 0)");
        let without_outliers = chosen(Method::Percentile(0.998), "integer(8, 4)", &values);
        assert_eq!(without_outliers, "integer(8, 7)");
    }

    #[test]
    fn the_least_error_is_never_above_that_of_min_max_or_before() {
        let random = random::Random::new(1, "values");
        for spec in [
            "integer(3, 1)",
            "integer(8, 4)",
            "integer(4, 9, signed = false)",
            "log(4)",
            "minifloat_ieee(6, 3)",
            "minifloat_denorm(6, 3)",
        ] {
            let format = Format::parse(spec).unwrap();
            for scale in [1e-3_f32, 0.2, 1.0, 77.0] {
                let values: Vec<f32> = (0..500).map(|k| scale * random.normal(k).powi(3)).collect();
                let error = |method: Method| noise(&method.choose(&format, &values), &values);
                assert!(error(Method::Mse) <= error(Method::MinMax), "{spec}");
                assert!(error(Method::Mse) <= noise(&format, &values), "{spec}");
            }
        }
    }
}
