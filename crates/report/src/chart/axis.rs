//! Axes: round numbers, powers of two and of ten, or words.

/// The scale of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    /// Equal steps for equal differences.
    #[default]
    Linear,
    /// Equal steps for equal ratios; only positive values are shown.
    Log,
    /// Words side by side; a value is the place of its word.
    Words(Vec<String>),
}

impl Scale {
    /// The scale that suits values: logarithmic for positive ones that span more than a factor of twenty, or that are
    /// powers of two.
    pub fn suiting(values: &[f64]) -> Self {
        let (low, high) = range(values.iter().copied());
        let are_powers = values.len() > 2 && values.iter().all(|&value| is_power_of_two(value));
        if low > 0.0 && (high / low > 20.0 || are_powers) {
            Self::Log
        } else {
            Self::Linear
        }
    }

    /// A value on the scale: its logarithm of base ten where the scale is logarithmic.
    pub(super) fn apply(&self, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Words(_) => value,
            Self::Log => value.log10(),
        }
    }
}

fn is_power_of_two(value: f64) -> bool {
    value.log2().fract() == 0.0
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let ends = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    values.fold((f64::MAX, f64::MIN), ends)
}

/// A range of values on a scale, with the ticks in it.
pub(super) struct Axis {
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

/// More ticks than this are thinned out.
const MAX_TICKS: usize = 9;

impl Axis {
    /// The axis over values on a scale.
    pub(super) fn of_scale(scale: &Scale, values: impl Iterator<Item = f64>) -> Self {
        match scale {
            Scale::Linear => Self::linear(values),
            Scale::Words(words) => Self::words(words),
            Scale::Log => Self::log(&values.collect::<Vec<f64>>()),
        }
    }

    /// An axis that ends on round numbers.
    pub(super) fn linear(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values);
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let span = if high > low {
            high - low
        } else {
            high.abs().max(1.0)
        };
        let step = round_step(span / 5.0);
        let first = (low / step).floor();
        let last = (high / step).ceil().max(first + 1.0);
        let tick = |i: usize| {
            let value = (first + i as f64) * step;
            (value, number(value))
        };
        Self {
            low: first * step,
            high: last * step,
            ticks: (0..=(last - first) as usize).map(tick).collect(),
        }
    }

    /// An axis of logarithms of base ten: powers of two where all values are, else powers of ten, and their double and
    /// fivefold where the range is short.
    fn log(logs: &[f64]) -> Self {
        if logs.is_empty() {
            return Self::log(&[0.0, 1.0]);
        }
        let (low, high) = range(logs.iter().copied());
        // The logarithm of a power of two is not exact.
        let is_power =
            |log: &f64| (log / 2_f64.log10() - (log / 2_f64.log10()).round()).abs() < 1e-9;
        let margin = 0.04 * (high - low).max(0.5);
        if logs.iter().all(is_power) {
            let unit = 2_f64.log10();
            let (first, last) = ((low / unit).round() as i32, (high / unit).round() as i32);
            let every = (last - first) as usize / MAX_TICKS + 1;
            let tick = |power: i32| (f64::from(power) * unit, number(2_f64.powi(power)));
            return Self {
                low: low - margin,
                high: high + margin,
                ticks: (first..=last).step_by(every).map(tick).collect(),
            };
        }
        let (first, last) = ((low + 1e-9).floor() as i32, (high - 1e-9).ceil() as i32);
        let last = last.max(first + 1);
        let factors: &[f64] = if last - first <= 2 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let every = (last - first) as usize / MAX_TICKS + 1;
        let mut ticks = Vec::new();
        for power in (first..=last).step_by(every) {
            for factor in factors {
                let value = factor * 10_f64.powi(power);
                ticks.push((value.log10(), number(value)));
            }
        }
        let (first, last) = (f64::from(first), f64::from(last));
        ticks.retain(|tick| tick.0 <= last + 1e-9);
        Self {
            low: first,
            high: last,
            ticks,
        }
    }

    fn words(words: &[String]) -> Self {
        let ticks = words
            .iter()
            .enumerate()
            .map(|(place, word)| (place as f64, word.clone()));
        Self {
            low: -0.5,
            high: words.len().max(1) as f64 - 0.5,
            ticks: ticks.collect(),
        }
    }

    /// The ticks with their names.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks.iter().cloned()
    }

    /// The place of a value between two ends.
    pub(super) fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        from + (value - self.low) / (self.high - self.low) * (to - from)
    }
}

/// The next of 1, 2, 5, 10, … that is not below `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0].into_iter();
    let factor = factors.clone().find(|factor| factor * power >= rough);
    power * factor.unwrap_or(10.0)
}

/// A number without the noise of binary fractions.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{value:.0e}")
    } else {
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: &Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::of_scale(scale, values.iter().map(|&value| scale.apply(value)));
        axis.ticks().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            names(&Scale::Linear, &[0.832, 1.354]),
            ["0.8", "1", "1.2", "1.4"]
        );
        assert_eq!(
            names(&Scale::Log, &[1e-5, 3e-2]),
            ["1e-5", "1e-4", "0.001", "0.01", "0.1"]
        );
        assert_eq!(
            names(&Scale::Log, &[64.0, 16.0, 256.0]),
            ["16", "32", "64", "128", "256"]
        );
        assert_eq!(
            names(&Scale::Log, &[0.003, 0.008]),
            ["0.001", "0.002", "0.005", "0.01"]
        );
        let words = ["adam".to_owned(), "sgd".to_owned()];
        assert_eq!(names(&Scale::Words(words.to_vec()), &[0.0, 1.0]), words);
    }

    #[test]
    fn powers_of_two_are_positive() {
        for value in [1.0, 0.125, 1024.0] {
            assert!(is_power_of_two(value), "{value}");
        }
        for value in [0.0, -2.0, 3.0, f64::NAN, f64::INFINITY] {
            assert!(!is_power_of_two(value), "{value}");
        }
    }

    #[test]
    fn a_scale_suits_its_values() {
        assert_eq!(Scale::suiting(&[1e-4, 1e-2]), Scale::Log);
        assert_eq!(Scale::suiting(&[16.0, 32.0, 64.0]), Scale::Log);
        assert_eq!(Scale::suiting(&[1.0, 5.0, 20.5]), Scale::Log);
        for values in [
            &[1.0, 2.0][..],
            &[0.0, 1000.0],
            &[-1.0, 100.0],
            &[3.0, 5.0, 6.0],
            &[1.0, 3.0, 20.0],
            &[0.0, 2.0, 4.0],
            &[],
        ] {
            assert_eq!(Scale::suiting(values), Scale::Linear, "{values:?}");
        }
    }

    #[test]
    fn numbers_are_short_and_whole() {
        for (value, wanted) in [
            (0.0, "0"),
            (-0.25, "-0.25"),
            (12.0, "12"),
            (1e-3, "0.001"),
            (0.000_9, "9e-4"),
            (999_999.0, "999999"),
            (1e6, "1e6"),
            (-2e7, "-2e7"),
            (0.1 + 0.2, "0.3"),
        ] {
            assert_eq!(number(value), wanted);
        }
    }

    #[test]
    fn a_step_is_the_next_round_one() {
        for (rough, wanted) in [
            (1.0, 1.0),
            (1.5, 2.0),
            (3.0, 5.0),
            (6.0, 10.0),
            (40.0, 50.0),
        ] {
            assert_eq!(round_step(rough), wanted, "{rough}");
        }
        assert!((round_step(0.03) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_single_value_and_none_have_an_axis_too() {
        assert_eq!(names(&Scale::Linear, &[5.0]), ["5", "6"]);
        assert_eq!(names(&Scale::Linear, &[5.5]), ["4", "6"]);
        assert_eq!(names(&Scale::Linear, &[0.0]), ["0", "0.2"]);
        let from_zero_to_one = ["0", "0.2", "0.4", "0.6", "0.8", "1"];
        assert_eq!(names(&Scale::Linear, &[]), from_zero_to_one);
        assert_eq!(names(&Scale::Log, &[]), ["1", "2", "5", "10"]);
        assert_eq!(names(&Scale::Log, &[30.0]), ["10", "20", "50", "100"]);
    }

    #[test]
    fn powers_are_thinned_out_where_there_are_many() {
        let powers = |low: i32, high: i32| {
            let values = [10_f64.powi(low), 3.0, 10_f64.powi(high)];
            names(&Scale::Log, &values).len()
        };
        // Ones, twos and fives over two decades; the powers of up to eight; every second of more.
        assert_eq!(powers(0, 2), 7);
        assert_eq!(powers(0, 3), 4);
        assert_eq!(powers(0, 8), 9);
        assert_eq!(powers(0, 9), 5);
        assert_eq!(powers(-6, 6), 7);
        let doubles = |high: i32| names(&Scale::Log, &[1.0, 2_f64.powi(high)]);
        assert_eq!(doubles(8).len(), 9);
        assert_eq!(doubles(9), ["1", "4", "16", "64", "256"]);
    }

    #[test]
    fn an_axis_places_values_between_its_ends() {
        let axis = |scale: &Scale, values: &[f64]| {
            Axis::of_scale(scale, values.iter().map(|&value| scale.apply(value)))
        };
        let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1e-9, "{got}, {wanted}");
        let linear = axis(&Scale::Linear, &[0.0, 10.0]);
        near(linear.place(2.5, 100.0, 200.0), 125.0);
        near(linear.place(10.0, 380.0, 40.0), 40.0);
        // A word has a place of one, and stands in its middle.
        let words = axis(
            &Scale::Words(vec!["a".to_owned(), "b".to_owned()]),
            &[0.0, 1.0],
        );
        near(words.place(0.0, 0.0, 100.0), 25.0);
        near(words.place(1.0, 0.0, 100.0), 75.0);
        let decades = axis(&Scale::Log, &[3.0, 700.0]);
        near(decades.place(2.0, 0.0, 300.0), 200.0);
        // Beside powers of two there is a margin: 4 % of their range on both sides, or of half a decade.
        let powers = axis(&Scale::Log, &[1.0, 1024.0]);
        let range = 1024_f64.log10();
        near(powers.place(0.0, 0.0, 1.08), 0.04);
        near(powers.place(range, 0.0, 1.08), 1.04);
        let close = axis(&Scale::Log, &[2.0, 2.0]);
        near(close.place(2_f64.log10(), 0.0, 1.0), 0.5);
        near(close.low, 2_f64.log10() - 0.02);
    }
}
