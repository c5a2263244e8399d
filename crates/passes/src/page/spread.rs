//! The values of one port: their spread, and what its format makes of them.

use super::numbers::{number, optional};
use format::Format;
use ir::{NodeId, RowFormat, Tensor, Verified};
use serde_json::{Value as Json, json};

/// Bins of a histogram.
const BINS: usize = 64;

/// A port with its values, and what they are rounded to.
pub(super) struct Spread {
    pub node: NodeId,
    port: String,
    format: Option<Format>,
    values: Vec<f32>,
    rounded: Vec<f32>,
    saturated: usize,
}

impl Spread {
    /// A port without values yet.
    pub fn new(node: NodeId, port: &str, format: Option<Format>) -> Self {
        Self {
            node,
            port: port.to_owned(),
            format,
            values: Vec::new(),
            rounded: Vec::new(),
            saturated: 0,
        }
    }

    /// A parameter with its values.
    pub fn of_parameter(node: NodeId, port: &str, format: Option<Format>, tensor: &Tensor) -> Self {
        let mut own = Self::new(node, port, format.clone());
        own.values = tensor.values().to_vec();
        if let Some(format) = format {
            own.round(&format, tensor.shape(), tensor.values());
        }
        own
    }

    /// Adds values of a part of the rows.
    pub fn add(&mut self, verified: &Verified, shape: &[usize], values: &[f32]) {
        self.values.extend_from_slice(values);
        let Some(format) = self.format.clone() else {
            return;
        };
        let ty = match self.port.strip_prefix("data_in_") {
            Some(k) => {
                let k: usize = k.parse().unwrap_or(0);
                verified.input_types(self.node)[k].clone()
            }
            None => verified.ty(self.node.into()).clone(),
        };
        let rows = shape.first().copied().unwrap_or(1);
        match RowFormat::of(&format, &ty.shape, rows) {
            Some(by_row) if by_row.shape.iter().product::<usize>() == values.len() => {
                self.round(&by_row.format, &by_row.shape, values);
            }
            _ => self.round(&format, shape, values),
        }
    }

    fn round(&mut self, format: &Format, shape: &[usize], values: &[f32]) {
        let mut rounded = vec![0.0; values.len()];
        format.quantize(values, shape, &mut rounded);
        self.rounded.extend_from_slice(&rounded);
        let mut inside = vec![1.0; values.len()];
        format.straight_through(values, shape, &mut inside);
        self.saturated += inside.iter().filter(|&&kept| kept == 0.0).count();
    }

    /// All that the page tells of the port.
    pub fn profile(&self) -> Json {
        let finite = || {
            self.values
                .iter()
                .copied()
                .filter(|value| value.is_finite())
        };
        let mut sizes: Vec<f32> = finite().map(f32::abs).collect();
        let n = sizes.len().max(1) as f64;
        let mean = finite().map(f64::from).sum::<f64>() / n;
        let squares = finite().map(|x| (f64::from(x) - mean).powi(2));
        // As profile_statistics has it: one degree of freedom less.
        let deviation = (squares.sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
        let logarithmic = octaves(&sizes);
        let quantiles: Vec<Json> = quantiles(&mut sizes).map(number).into();
        let end = |value: Option<f32>| value.map_or(0.0, f64::from);
        let low = end(finite().min_by(f32::total_cmp));
        let high = end(finite().max_by(f32::total_cmp));
        let zeros = sizes.iter().filter(|&&value| value == 0.0).count();
        let is_rounded = self.format.is_some();
        let all = self.values.len().max(1) as f64;
        let nonzero = (self.values.len() - zeros).max(1) as f64;
        let pairs = self.values.iter().zip(&self.rounded);
        let zeroed = pairs.filter(|(x, y)| **x != 0.0 && **y == 0.0).count() as f64;
        json!({
            "node": self.node.index(),
            "port": self.port,
            "count": self.values.len(),
            "min": number(low),
            "max": number(high),
            "mean": number(mean),
            "deviation": number(deviation),
            "quantiles": quantiles,
            "zeros": number(zeros as f64 / all),
            "nans": self.values.iter().filter(|value| value.is_nan()).count(),
            "histogram": {
                "low": number(low),
                "high": number(high),
                "counts": histogram(&self.values, low, high),
            },
            "logarithmic": logarithmic,
            "format": self.format.as_ref().map(ToString::to_string),
            "range": self.format.as_ref().map(|format| {
                let (low, high) = format.range();
                json!([number(low), number(high)])
            }),
            "step": optional(self.format.as_ref().and_then(step)),
            "saturated": optional(is_rounded.then(|| self.saturated as f64 / all)),
            "zeroed": optional(is_rounded.then(|| zeroed / nonzero)),
            "rounded": is_rounded.then(|| histogram(&self.rounded, low, high)),
            "before": Json::Null,
            "values": Json::Null,
        })
    }
}

/// The distance of neighbouring values of a format that has one.
fn step(format: &Format) -> Option<f64> {
    match format {
        Format::Affine(affine) => Some(f64::from(affine.scale)),
        other => other
            .fixed_point()
            .map(|integer| 2f64.powi(-integer.frac_width)),
    }
}

fn histogram(values: &[f32], low: f64, high: f64) -> Vec<u64> {
    let mut counts = vec![0; BINS];
    let width = (high - low) / BINS as f64;
    for &value in values.iter().filter(|value| value.is_finite()) {
        let at = if width > 0.0 {
            ((f64::from(value) - low) / width).max(0.0) as usize
        } else {
            0
        };
        counts[at.min(BINS - 1)] += 1;
    }
    counts
}

/// The quantiles 0, 1 %, 25 %, 50 %, 75 %, 99 % and 1 of magnitudes, which it reorders. Choosing them from the top
/// down leaves ever shorter parts to look at: a quarter of the time of sorting.
fn quantiles(sizes: &mut [f32]) -> [f64; 7] {
    const SHARES: [f64; 7] = [0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0];
    let last = sizes.len().max(1) - 1;
    let mut rest = sizes;
    let mut chosen = [0.0; 7];
    for (share, place) in SHARES.iter().zip(&mut chosen).rev() {
        let at = (share * last as f64).round() as usize;
        if at < rest.len() {
            rest.select_nth_unstable_by(at, f32::total_cmp);
            *place = f64::from(rest[at]);
            rest = &mut rest[..=at];
        }
    }
    chosen
}

/// Counts of magnitudes over powers of two; nothing when all are zero.
fn octaves(sizes: &[f32]) -> Json {
    // The exponent of a double is in its bits, and no value of 32 bits is too small for a normal double.
    let exponent = |&size: &f32| {
        let bits = f64::from(size).to_bits();
        (size > 0.0).then(|| (bits >> 52) as i64 - 1023)
    };
    let exponents = || sizes.iter().filter_map(exponent);
    let (Some(min), Some(high)) = (exponents().min(), exponents().max()) else {
        return Json::Null;
    };
    let low = min.max(high - BINS as i64 + 1);
    let mut counts = vec![0_u64; (high - low + 1) as usize];
    for exponent in exponents() {
        counts[(exponent.max(low) - low) as usize] += 1;
    }
    json!({ "low": low, "high": high, "counts": counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_tells_what_saturates_and_what_becomes_zero() {
        let format = Format::parse("integer(4, 1)").unwrap_or_else(|e| panic!("{e}"));
        let values = vec![0.0, 0.1, -0.2, 0.6, 3.4, 9.0, -20.0, 1.0];
        let tensor = Tensor::new(vec![8], values).unwrap_or_else(|| panic!("a tensor"));
        let profile = Spread::of_parameter(NodeId(2), "weight", Some(format), &tensor).profile();
        assert_eq!(profile["range"], json!([-4, 3.5]));
        assert_eq!(profile["step"], json!(0.5));
        assert_eq!(profile["saturated"], json!(0.25));
        assert_eq!(profile["zeroed"], json!(0.2857));
        assert_eq!(profile["zeros"], json!(0.125));
        assert_eq!([&profile["min"], &profile["max"]], [&json!(-20), &json!(9)]);
        // Sorted magnitudes: 0, 0.1, 0.2, 0.6, 1, 3.4, 9, 20.
        assert_eq!(profile["quantiles"], json!([0, 0, 0.2, 1, 3.4, 20, 20]));
        assert_eq!(
            [
                &profile["count"],
                &profile["mean"],
                &profile["deviation"],
                &profile["nans"],
            ],
            [&json!(8), &json!(-0.7625), &json!(8.361), &json!(0)]
        );
        // A bin is 29/64 wide; all but the two that saturate are rounded to halves.
        let bins = [(0, 1), (43, 1), (44, 2), (45, 1), (46, 1), (51, 1), (63, 1)];
        assert_eq!(filled(&profile["histogram"]["counts"]), bins);
        let bins = [(35, 1), (44, 3), (45, 1), (46, 1), (51, 2)];
        assert_eq!(filled(&profile["rounded"]), bins);
        assert_eq!(
            profile["logarithmic"],
            json!({ "low": -4, "high": 4, "counts": [1, 1, 0, 1, 1, 1, 0, 1, 1] })
        );
    }

    /// The bins of a histogram that hold something, with their counts.
    fn filled(counts: &Json) -> Vec<(usize, u64)> {
        let counts = counts.as_array().into_iter().flatten();
        let counts = counts.map(|count| count.as_u64().unwrap_or(0));
        counts.enumerate().filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn one_value_and_what_it_is_rounded_to_are_in_the_first_bin() {
        let format = Format::parse("integer(4, 1)").unwrap_or_else(|e| panic!("{e}"));
        let tensor = Tensor::filled(vec![3], 1.4);
        let profile = Spread::of_parameter(NodeId(0), "weight", Some(format), &tensor).profile();
        assert_eq!(filled(&profile["histogram"]["counts"]), [(0, 3)]);
        assert_eq!(filled(&profile["rounded"]), [(0, 3)]);
        assert_eq!(profile["deviation"], json!(0));
    }

    #[test]
    fn powers_of_two_below_the_highest_bins_are_counted_in_the_lowest() {
        let exponents = [-100, -64, -63, -62, 0];
        let sizes = exponents.map(|exponent| 2_f32.powi(exponent));
        let found = octaves(&sizes);
        assert_eq!([&found["low"], &found["high"]], [&json!(-63), &json!(0)]);
        assert_eq!(filled(&found["counts"]), [(0, 3), (1, 1), (63, 1)]);
        assert_eq!(octaves(&[0.0, 0.0]), Json::Null);
        assert_eq!(octaves(&[]), Json::Null);
    }

    #[test]
    fn data_are_rounded_row_by_row_as_the_network_rounds_them() {
        let text = "graph \"g\" { x: f32[N, 2] = placeholder
            y: f32[N, 3] = placeholder
            both = cat(x, y: scale_integer(3)) { dim = 1 }
            return both }";
        let graph = ir::Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let verified = ir::verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let format = graph.nodes()[2].formats["data_in_1"].clone();
        let mut spread = Spread::new(NodeId(2), "data_in_1", Some(format));
        // The scale of a row follows from its largest magnitude, which has the code 3.
        spread.add(&verified, &[2, 3], &[3.0, 1.2, -0.4, 300.0, 120.0, -40.0]);
        spread.add(&verified, &[1, 3], &[30.0, 12.0, -4.0]);
        let rows = [[3.0, 1.0, 0.0], [300.0, 100.0, 0.0], [30.0, 10.0, 0.0]];
        for (got, wanted) in spread.rounded.iter().zip(rows.concat()) {
            assert!((got - wanted).abs() < 1e-4, "{:?}", spread.rounded);
        }
        assert_eq!(spread.rounded.len(), 9);
        assert_eq!(spread.values.len(), 9);
    }

    #[test]
    fn a_step_is_the_distance_of_neighbouring_values() {
        for (format, wanted) in [
            ("integer(8, 3)", Some(0.125)),
            ("integer(8, -2)", Some(4.0)),
            ("minifloat_ieee(8, 4)", None),
        ] {
            let format = Format::parse(format).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(step(&format), wanted, "{format}");
        }
    }

    #[test]
    fn values_that_are_no_numbers_are_counted_apart() {
        let values = vec![f32::NAN, 1.0, f32::INFINITY];
        let tensor = Tensor::new(vec![3], values).unwrap_or_else(|| panic!("a tensor"));
        let profile = Spread::of_parameter(NodeId(0), "bias", None, &tensor).profile();
        assert_eq!(profile["nans"], json!(1));
        assert_eq!(profile["max"], json!(1));
        assert_eq!(profile["format"], Json::Null);
    }
}
