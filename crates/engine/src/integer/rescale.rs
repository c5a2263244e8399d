//! Stages as float maps, where 24 bits hold every number in between: the same bits, many lanes at a time.

use super::buffer::Buffer;
use super::range::CodeRange;
use super::stage::Stage;
use format::{FixedPoint, Overflow, Rounding};
use kernels::requantize::{NarrowCode, Rescalable, Rescale, rescale_once, rescale_twice};

/// Whole numbers below this are exact in f32, and so are their products with powers of two.
const EXACT: i128 = 1 << 24;
/// Bounds up to here can be rounded by the kernel.
const BOUND: i128 = 1 << 22;
/// Places that a map has at least, so that short rows are walked several at a time.
const PLACES: usize = 64;

/// One or two float maps that end in narrow codes.
pub(crate) struct Rescaling(Vec<Rescale>);

impl Rescaling {
    /// The stages after codes of this range, in rows of `columns`, or `None` when floats do not hold them.
    pub fn of(source: CodeRange, stages: &[Stage], columns: usize) -> Option<Self> {
        Self::after(
            Vec::new(),
            source,
            stages,
            [columns, places(stages, columns)],
        )
    }

    /// The rounding of floats to a fixed point, and the stages after it.
    pub fn of_floats(format: FixedPoint, stages: &[Stage], columns: usize) -> Option<Self> {
        let range = CodeRange::from(format);
        let is_held = range.magnitude() <= BOUND && (-100..=126).contains(&format.frac_width);
        if !is_held || !is_usual(format.rounding, format.overflow) {
            return None;
        }
        let places = places(stages, columns);
        let first = PartialMap::new(places).map(-format.frac_width, range.min, range.max);
        Self::after(vec![first], range, stages, [columns, places])
    }

    fn after(
        mut maps: Vec<Rescale>,
        source: CodeRange,
        stages: &[Stage],
        [columns, places]: [usize; 2],
    ) -> Option<Self> {
        let mut range = source;
        let mut partial = PartialMap::new(places);
        for stage in stages {
            let before = range;
            range = stage.range(range).ok()?;
            match stage {
                Stage::Affine {
                    scale,
                    offset,
                    inner,
                    ..
                } => {
                    let is_by_column = scale.len() == 1 || (*inner == 1 && scale.len() == columns);
                    let is_first = partial.affine.is_none() && partial.bounds.is_none();
                    let largest =
                        |codes: &[i64]| codes.iter().map(|&code| i128::from(code).abs()).max();
                    let terms = (largest(scale)? * before.magnitude()).max(largest(offset)?);
                    if !is_by_column || !is_first || terms >= EXACT {
                        return None;
                    }
                    partial.affine = Some((floats(scale), floats(offset)));
                }
                Stage::Clamp { lo, hi } => {
                    let (old_lo, old_hi) =
                        partial.bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
                    let clamp = |bound: f64| bound.max(*lo as f64).min(*hi as f64);
                    partial.bounds = Some((clamp(old_lo), clamp(old_hi)));
                }
                Stage::Table { .. } => return None,
                Stage::Round { maps: rounds, .. } => {
                    let [round] = rounds.as_slice() else {
                        return None;
                    };
                    let (lo, hi) = (
                        range.min.max(round.lo.into()),
                        range.max.min(round.hi.into()),
                    );
                    // One channel of several may move its codes to the step that all have.
                    if !is_usual(round.rounding, round.overflow)
                        || round.lift > 0
                        || round.shift.abs() > 60
                        || before.magnitude() >= EXACT
                    {
                        return None;
                    }
                    maps.push(partial.map(round.shift, lo, hi));
                    partial = PartialMap::new(places);
                }
            }
            if range.magnitude() >= EXACT {
                return None;
            }
        }
        if maps.is_empty() && partial.affine.is_none() {
            // Nothing is rounded: only clamped, or merely stored.
            maps.push(partial.map(0, range.min, range.max));
        } else if let Some((lo, hi)) = partial.bounds {
            let last = maps.pop()?;
            maps.push(last.clamped(lo as f32, hi as f32));
        }
        let is_rounded = partial.affine.is_none() && source.magnitude() < EXACT;
        let is_held = maps.iter().all(|map| {
            let (lo, hi) = map.bounds();
            lo.abs().max(hi.abs()) <= BOUND as f32
        });
        (is_rounded && is_held && (1..=2).contains(&maps.len())).then_some(Self(maps))
    }

    /// The maps, each with a place for every column.
    pub fn maps(&self) -> &[Rescale] {
        &self.0
    }

    /// Maps elements to codes of a buffer from `start` on.
    pub fn run(&self, x: &[impl Rescalable], start: usize, y: &mut Buffer) {
        let own = start..start + x.len();
        match y {
            Buffer::U8(codes) => self.apply(x, &mut codes[own]),
            Buffer::I8(codes) => self.apply(x, &mut codes[own]),
            Buffer::I16(codes) => self.apply(x, &mut codes[own]),
            Buffer::I32(_) | Buffer::I64(_) => {}
        }
    }

    /// Maps elements to codes.
    pub fn apply(&self, x: &[impl Rescalable], y: &mut [impl NarrowCode]) {
        match self.0.as_slice() {
            [one] => rescale_once(x, one, y),
            [first, second] => rescale_twice(x, first, second, y),
            _ => {}
        }
    }
}

/// True for what the kernels do.
fn is_usual(rounding: Rounding, overflow: Overflow) -> bool {
    rounding == Rounding::NearestEven && overflow == Overflow::Saturate
}

fn floats(codes: &[i64]) -> Vec<f64> {
    codes.iter().map(|&code| code as f64).collect()
}

/// The places of maps of rows of `columns`: whole rows, or whole vectors where all columns are mapped alike.
fn places(stages: &[Stage], columns: usize) -> usize {
    let columns = columns.max(1);
    if stages.iter().all(|stage| stage.channels().0 == 1) {
        columns.next_multiple_of(PLACES)
    } else {
        columns * PLACES.div_ceil(columns)
    }
}

/// The maps since the last rounding.
struct PartialMap {
    places: usize,
    affine: Option<(Vec<f64>, Vec<f64>)>,
    bounds: Option<(f64, f64)>,
}

impl PartialMap {
    fn new(places: usize) -> Self {
        Self {
            places,
            affine: None,
            bounds: None,
        }
    }

    /// The map that ends in a rounding to whole numbers from `lo` to `hi`.
    fn map(&self, shift: i32, lo: i128, hi: i128) -> Rescale {
        let factor = 2_f64.powi(-shift);
        let (lo, hi) = (lo as f64, hi as f64);
        let (low, high) = self.bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let bound = |bound: f64| (bound * factor).clamp(lo, hi) as f32;
        let one = (vec![1.0], vec![0.0]);
        let (scale, offset) = self.affine.as_ref().unwrap_or(&one);
        let spread = |values: &[f64]| {
            (0..self.places)
                .map(|at| (values[at % values.len()] * factor) as f32)
                .collect()
        };
        Rescale::new(spread(scale), spread(offset), (bound(low), bound(high)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_map::RoundMap;
    use super::*;

    #[test]
    fn a_channel_that_moves_its_codes_is_no_float_map() {
        let stage = |lift: u32| Stage::Round {
            maps: vec![RoundMap {
                shift: 4,
                lo: -255,
                hi: 255,
                rounding: Rounding::NearestEven,
                overflow: Overflow::Saturate,
                lift,
            }],
            inner: 1,
            frac: 3,
        };
        let source = CodeRange {
            min: -49,
            max: 4242,
            frac: 4,
        };
        assert!(Rescaling::of(source, &[stage(0)], 1).is_some());
        assert!(Rescaling::of(source, &[stage(3)], 1).is_none());
    }
}
