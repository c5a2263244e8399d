//! The codes that a port rounds to. Where its format stores fields, every channel or element has its own step and bounds;
//! all codes are brought to the finest of these steps, so that what follows sees one.

use super::codes::encode;
use super::error::Refusal;
use super::lowering::Param;
use super::range::{CodeRange, Fit, refined};
use super::round_map::RoundMap;
use super::stage::Stage;
use format::FixedPoint;
use ir::Node;

/// The fixed point of every channel, where element `i` has the channel `c = ⌊i/inner⌋ mod channels`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grids {
    channels: Vec<FixedPoint>,
    inner: usize,
}

impl Grids {
    /// Those of a port, if it has a format, for a value of this shape.
    pub(crate) fn of(node: &Node, port: &str, shape: &[usize]) -> Result<Option<Self>, Refusal> {
        let Some(format) = node.formats.get(port) else {
            return Ok(None);
        };
        let points = format
            .fixed_points()
            .map_err(|why| Refusal::NotFixedPoint(port.to_owned(), format.clone(), why))?;
        for &point in &points {
            CodeRange::from(point).fit()?;
        }
        let mut shape = shape.to_vec();
        if let Some(rows) = shape.first_mut().filter(|_| port.starts_with("data_")) {
            // Every row of a batch is rounded alike.
            *rows = 1;
        }
        let places = format.stored_places(&shape);
        let spread = places.map(|places| Self::spread(&points, &places));
        Ok(Some(spread.unwrap_or_else(|| points[0].into())))
    }

    /// Those of elements that have these places.
    fn spread(points: &[FixedPoint], places: &[usize]) -> Self {
        let n = points.len();
        let inner = places.iter().take_while(|place| **place == 0).count();
        let is_regular = |inner: usize| {
            let mut all = places.iter().enumerate();
            inner > 0 && all.all(|(i, &place)| place == i / inner % n)
        };
        if is_regular(inner) {
            let channels = points.to_vec();
            return Self { channels, inner };
        }
        Self {
            channels: places.iter().map(|&place| points[place]).collect(),
            inner: 1,
        }
    }

    /// The fixed point of every channel, and the elements of a channel that follow each other.
    pub fn channels(&self) -> (&[FixedPoint], usize) {
        (&self.channels, self.inner)
    }

    /// The fixed point of element `i`.
    pub fn point(&self, i: usize) -> FixedPoint {
        self.channels[i / self.inner % self.channels.len()]
    }

    /// The code of a float at element `i`, with `frac` bits behind the point: at least those that the element's own has.
    pub fn code(&self, i: usize, value: f32, frac: i32) -> i64 {
        let point = self.point(i);
        encode(value, point) << Self::lift(point, frac)
    }

    /// The one fixed point of all elements.
    pub(crate) fn single(&self) -> Option<FixedPoint> {
        match self.channels.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The range of all codes.
    pub(crate) fn range(&self) -> Result<CodeRange, Refusal> {
        let why = || "the steps of its places lie too far apart; store fractions that are closer";
        CodeRange::of_places(&self.channels)
            .ok_or_else(|| Refusal::NoForm(why().to_owned()))?
            .fit()
    }

    /// Bits by which the codes of a fixed point move to the left, to `frac` bits behind the point.
    pub fn lift(point: FixedPoint, frac: i32) -> u32 {
        // Only zeros have a finer step than the finest.
        frac.saturating_sub(point.frac_width).clamp(0, 63) as u32
    }

    /// The codes of floats, with the step of the range.
    pub(crate) fn encode<'a>(
        &'a self,
        values: &'a [f32],
        range: CodeRange,
    ) -> impl Iterator<Item = i64> + 'a {
        let values = values.iter().enumerate();
        values.map(move |(i, &value)| self.code(i, value, range.frac))
    }

    /// The codes of a parameter, with the finest step that any of them but 0 needs.
    pub(crate) fn param(&self, values: &[f32]) -> Result<Param, Refusal> {
        let codes = || self.own_codes(values);
        let steps = codes().filter(|(code, _)| *code != 0);
        let finest = steps.map(|(_, point)| point.frac_width).max();
        let frac = finest.unwrap_or(self.channels[0].frac_width);
        let moved = |(code, point): (i64, FixedPoint)| {
            let code = CodeRange::code(code.into(), point.frac_width);
            Ok(refined(code, frac)?.0.min as i64)
        };
        Ok(Param {
            codes: codes().map(moved).collect::<Result<_, Refusal>>()?,
            frac,
        })
    }

    /// Every float's code with the step of its channel.
    fn own_codes<'a>(&'a self, values: &'a [f32]) -> impl Iterator<Item = (i64, FixedPoint)> + 'a {
        let points = (0..values.len()).map(|i| self.point(i));
        let codes = values.iter().zip(points);
        codes.map(|(&value, point)| (encode(value, point), point))
    }

    /// Rounding from codes with `from` bits behind the point to codes of the range.
    pub(crate) fn round(&self, from: i32, range: CodeRange) -> Stage {
        let map = |point: &FixedPoint| RoundMap {
            shift: from.saturating_sub(point.frac_width).clamp(-127, 127),
            lo: point.min as i64,
            hi: point.max as i64,
            rounding: point.rounding,
            overflow: point.overflow,
            lift: Self::lift(*point, range.frac),
        };
        Stage::Round {
            maps: self.channels.iter().map(map).collect(),
            inner: self.inner,
            frac: range.frac,
        }
    }
}

impl From<FixedPoint> for Grids {
    fn from(point: FixedPoint) -> Self {
        Self {
            channels: vec![point],
            inner: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::Integer;

    #[test]
    fn places_that_repeat_are_channels() {
        let points: Vec<FixedPoint> = [2, 5, 3].map(|f| Integer::new(8, f).into()).to_vec();
        let fracs = |grids: &Grids| -> Vec<i32> {
            let channels = grids.channels.iter();
            channels.map(|point| point.frac_width).collect()
        };
        let planes = Grids::spread(&points, &[0, 0, 1, 1, 2, 2]);
        assert_eq!((fracs(&planes), planes.inner), (vec![2, 5, 3], 2));
        let rows = Grids::spread(&points, &[0, 1, 2, 0, 1, 2]);
        assert_eq!((fracs(&rows), rows.inner), (vec![2, 5, 3], 1));
        let blocks = Grids::spread(&points, &[0, 0, 1, 2, 2]);
        assert_eq!((fracs(&blocks), blocks.inner), (vec![2, 2, 5, 3, 3], 1));
    }

    #[test]
    fn results_saturate_at_the_format() {
        let signed = Integer::new(8, 4);
        let unsigned = Integer {
            signed: false,
            ..signed
        };
        for (format, x, expected) in [
            (signed, 2032, 127),
            (signed, 2039, 127),
            (signed, 2040, 127),
            (signed, -2049, -128),
            (signed, -99999, -128),
            (unsigned, -1, 0),
            (unsigned, 4080, 255),
            (unsigned, 5000, 255),
        ] {
            let stage = Grids::from(FixedPoint::from(format)).round(8, CodeRange::of(format));
            let mut codes = [x];
            stage.apply(0, &mut codes);
            assert_eq!(codes, [expected], "{x}");
        }
    }

    #[test]
    fn codes_have_the_finest_step_and_zeros_have_none() {
        let points: Vec<FixedPoint> = [2, 100, 3].map(|f| Integer::new(8, f).into()).to_vec();
        let grids = Grids::spread(&points, &[0, 1, 2]);
        let param = grids.param(&[1.5, 0.0, -0.125]).ok();
        let param = param.map(|param| (param.codes, param.frac));
        assert_eq!(param, Some((vec![12, 0, -1], 3)));
        assert!(grids.param(&[1.5, 1.0, 0.0]).is_err());
        assert!(grids.range().is_err());
    }
}
