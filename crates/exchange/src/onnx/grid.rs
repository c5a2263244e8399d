//! Scales and zero points of a file as a number format.

use crate::constant::{self, Array, Refusal, Values};
use format::{Format, StoredArray};

/// Codes with their scales and zero points, as a file states them.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Bits of a code.
    pub width: u32,
    /// True for codes about 0, false for codes from 0 up.
    pub signed: bool,
    /// Leaves out the smallest code, or the largest of codes from 0 up.
    pub narrow: bool,
    /// The word for the rounding.
    pub rounding: &'static str,
    /// Adds the zero point before rounding, as QONNX does.
    pub before: bool,
    /// The scale of every place.
    pub scales: Vec<f32>,
    /// The zero point of every place, or one for all.
    pub zeros: Vec<f32>,
    /// The axis along which places lie; `None` for one place.
    pub axis: Option<usize>,
    /// The places along each axis, where neighbours along `axis` share one.
    pub blocks: Option<Blocks>,
    /// The values that codes have.
    pub kind: GridKind,
}

/// Neighbours along an axis that share a scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Their number.
    pub size: usize,
    /// The shape of the scales.
    pub shape: Vec<usize>,
}

/// The values that codes have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GridKind {
    /// Multiples of the scale.
    Integers,
    /// Plus and minus the scale.
    Bipolar,
    /// Floats of few bits, by the text of their format, times the scale.
    Floats(String),
}

impl Grid {
    /// The format that rounds so.
    pub fn format(&self) -> Result<Format, Refusal> {
        let refuse = |why: String| Refusal::new(format!("its scales make no format: {why}"));
        if self.is_scaled_float() {
            return Err(refuse("a float of few bits has none".to_owned()));
        }
        let text = self.text();
        let mut format = Format::parse(&text).map_err(|error| refuse(error.to_string()))?;
        if self.axis.is_some() {
            let fields: Vec<&'static str> = format
                .stored_fields()
                .into_iter()
                .map(|(field, _)| field)
                .collect();
            for field in fields {
                let values = match field {
                    "zero_point" => self.zeros.clone(),
                    "frac_width" => self.scales.iter().map(|scale| -scale.log2()).collect(),
                    _ => self.scales.clone(),
                };
                let shape = match &self.blocks {
                    Some(blocks) => blocks.shape.clone(),
                    None => vec![values.len()],
                };
                format = format
                    .with_stored(field, StoredArray { shape, values })
                    .map_err(refuse)?;
            }
        }
        Ok(format)
    }

    fn text(&self) -> String {
        if let GridKind::Floats(text) = &self.kind {
            return text.clone();
        }
        let axis = match (self.axis, &self.blocks) {
            (Some(axis), Some(Blocks { size, .. })) => format!(", axis = {axis}, block = {size}"),
            (Some(axis), None) => format!(", axis = {axis}"),
            (None, _) => String::new(),
        };
        let one = |values: &[f32]| match values {
            [value] if self.axis.is_none() => format!("{value:?}"),
            _ => "stored".to_owned(),
        };
        let scale = one(&self.scales);
        if self.kind == GridKind::Bipolar {
            return format!("bipolar({scale}{axis})");
        }
        let width = self.width;
        let has_zero = self.zeros.iter().any(|&zero| zero != 0.0);
        let is_fixed_point =
            !has_zero && !self.narrow && self.rounding == "half_even" && self.axis.is_none();
        let signed = if self.signed { "" } else { ", signed = false" };
        // Multiples of a power of two are fixed point, which exact integers and hardware know.
        if let ([scale], true) = (self.scales.as_slice(), is_fixed_point)
            && scale.log2().fract() == 0.0
            && scale.log2().exp2() == *scale
        {
            return format!("integer({width}, {}{signed})", -scale.log2());
        }
        let zero = if has_zero {
            one(&self.zeros)
        } else {
            "0".to_owned()
        };
        let narrow = if self.narrow { ", narrow = true" } else { "" };
        let rounding = match self.rounding {
            "half_even" => String::new(),
            other => format!(", rounding = {other}"),
        };
        let offset = if self.before && has_zero {
            ", offset = before"
        } else {
            ""
        };
        format!("affine({width}, {scale}, {zero}{signed}{narrow}{rounding}{axis}{offset})")
    }

    /// True for small floats that are multiplied by a scale, which no format has.
    pub fn is_scaled_float(&self) -> bool {
        matches!(self.kind, GridKind::Floats(_)) && self.scales.iter().any(|&scale| scale != 1.0)
    }

    /// The same small floats without a scale.
    #[must_use]
    pub fn unscaled(&self) -> Self {
        Self {
            scales: vec![1.0],
            zeros: vec![0.0],
            axis: None,
            blocks: None,
            ..self.clone()
        }
    }

    /// The place of every element of a tensor of this shape.
    pub fn places(&self, shape: &[usize]) -> Result<Vec<usize>, Refusal> {
        let len = shape.iter().product();
        let Some(axis) = self.axis else {
            return Ok(vec![0; len]);
        };
        let misfit = || Refusal::new(format!("its scales do not fit the shape {shape:?}"));
        let size = *shape.get(axis).ok_or_else(misfit)?;
        let inner: usize = shape[axis + 1..].iter().product();
        let (block, n_blocks, within) = match &self.blocks {
            Some(blocks) => (blocks.size, size.div_ceil(blocks.size.max(1)), inner),
            None => (1, size, 1),
        };
        let place = |at: usize| {
            let (outer, along) = (at / inner / size, at / inner % size);
            match self.blocks {
                Some(_) => (outer * n_blocks + along / block) * within + at % inner,
                None => along,
            }
        };
        let places: Vec<usize> = (0..len).map(place).collect();
        let fits = places.iter().all(|&place| place < self.scales.len());
        fits.then_some(places).ok_or_else(misfit)
    }

    /// `(code − zero point)·scale`, in floats.
    pub fn decode(&self, codes: &Array) -> Result<Array, Refusal> {
        let values = constant::cast(codes, ir::DType::F32)?;
        let places = self.places(&codes.shape)?;
        let pick = |list: &[f32], place: usize| list.get(place).or(list.first()).copied();
        let value = |(&code, &place): (&f32, &usize)| {
            let zero = pick(&self.zeros, place).unwrap_or(0.0);
            (code - zero) * pick(&self.scales, place).unwrap_or(1.0)
        };
        let values = values.floats().unwrap_or_default().iter().zip(&places);
        let values = values.map(value).collect();
        Ok(Array::new(codes.shape.clone(), Values::F32(values)))
    }

    /// The values that a tensor rounds to.
    pub fn round(&self, array: &Array) -> Result<Array, Refusal> {
        let Values::F32(values) = &array.values else {
            return Err(Refusal::new("its input is not of floats"));
        };
        let shape = &array.shape;
        let mut rounded = vec![0.0; values.len()];
        if self.is_scaled_float() {
            let places = self.places(shape)?;
            let scales: Vec<f32> = places.iter().map(|&place| self.scales[place]).collect();
            let scaled: Vec<f32> = values.iter().zip(&scales).map(|(x, s)| x / s).collect();
            let format = self.unscaled().format()?;
            format.quantize(&scaled, shape, &mut rounded);
            for (value, scale) in rounded.iter_mut().zip(&scales) {
                *value *= scale;
            }
        } else {
            self.places(shape)?;
            self.format()?.quantize(values, shape, &mut rounded);
        }
        Ok(Array::new(shape.clone(), Values::F32(rounded)))
    }

    /// The smallest and the largest code.
    pub fn code_range(&self) -> (i64, i64) {
        let narrow = i64::from(self.narrow);
        if self.signed {
            (
                -(1_i64 << (self.width - 1)) + narrow,
                (1_i64 << (self.width - 1)) - 1,
            )
        } else {
            (0, (1_i64 << self.width) - 1 - narrow)
        }
    }

    /// The same codes within bounds; `None` when they are those of no width.
    pub fn clipped(&self, low: i64, high: i64) -> Option<Self> {
        let candidates =
            (1..=self.width).flat_map(|width| [false, true].map(|narrow| (width, narrow)));
        let mut grids = candidates.map(|(width, narrow)| Self {
            width,
            narrow,
            ..self.clone()
        });
        grids.find(|grid| grid.code_range() == (low, high))
    }

    /// The grid of a tensor whose axes have another order.
    pub fn permuted(mut self, order: &[usize]) -> Result<Self, Refusal> {
        let place = |axis: usize| order.iter().position(|&from| from == axis);
        self.axis = self.axis.and_then(place);
        if let Some(blocks) = &mut self.blocks {
            for list in [&mut self.scales, &mut self.zeros] {
                let array = Array::new(blocks.shape.clone(), Values::F32(list.clone()));
                let array = constant::permute(&array, order)?;
                *list = array.floats().unwrap_or_default().to_vec();
            }
            blocks.shape = order.iter().map(|&axis| blocks.shape[axis]).collect();
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(scale: f32, zero: f32) -> Grid {
        Grid {
            width: 8,
            signed: true,
            narrow: false,
            rounding: "half_even",
            before: false,
            scales: vec![scale],
            zeros: vec![zero],
            axis: None,
            blocks: None,
            kind: GridKind::Integers,
        }
    }

    #[test]
    fn powers_of_two_are_fixed_point_and_others_are_not() {
        let text = |grid: &Grid| grid.format().unwrap().to_string();
        assert_eq!(text(&grid(0.0625, 0.0)), "integer(8, 4)");
        assert_eq!(text(&grid(0.1, 0.0)), "affine(8, 0.1)");
        assert_eq!(text(&grid(0.5, 3.0)), "affine(8, 0.5, 3)");
        let along = Grid {
            scales: vec![0.1, 0.2],
            axis: Some(0),
            ..grid(0.1, 0.0)
        };
        assert_eq!(text(&along), "affine(8, stored, axis = 0)");
    }

    #[test]
    fn bounds_on_codes_are_a_width() {
        let clipped = grid(0.1, 0.0).clipped(-32, 31).unwrap();
        assert_eq!((clipped.width, clipped.narrow), (6, false));
        let narrow = grid(0.1, 0.0).clipped(-127, 127).unwrap();
        assert_eq!((narrow.width, narrow.narrow), (8, true));
        assert_eq!(grid(0.1, 0.0).clipped(-5, 100), None);
    }

    #[test]
    fn codes_have_the_range_of_their_width() {
        let range = |width, signed, narrow| {
            Grid {
                width,
                signed,
                narrow,
                ..grid(1.0, 0.0)
            }
            .code_range()
        };
        assert_eq!(range(8, true, false), (-128, 127));
        assert_eq!(range(8, true, true), (-127, 127));
        assert_eq!(range(8, false, false), (0, 255));
        assert_eq!(range(8, false, true), (0, 254));
        assert_eq!(range(1, true, false), (-1, 0));
        assert_eq!(range(32, false, false), (0, (1 << 32) - 1));
        for signed in [true, false] {
            let whole = Grid {
                signed,
                ..grid(1.0, 0.0)
            };
            for (width, narrow) in (2..=8).flat_map(|width| [(width, true), (width, false)]) {
                let (low, high) = Grid {
                    width,
                    narrow,
                    ..whole.clone()
                }
                .code_range();
                let clipped = whole.clipped(low, high).expect("a width");
                assert_eq!(clipped.code_range(), (low, high));
            }
        }
    }

    /// Places along an axis, and of blocks of two neighbours, in a tensor of 2·3·4 elements.
    #[test]
    fn every_element_has_its_place() {
        let shape = [2, 3, 4];
        let along = |axis| {
            let scales = vec![1.0; 4];
            Grid {
                scales,
                axis: Some(axis),
                ..grid(1.0, 0.0)
            }
            .places(&shape)
        };
        for axis in 0..3 {
            let inner: usize = shape[axis + 1..].iter().product();
            let expected: Vec<usize> = (0..24).map(|at| at / inner % shape[axis]).collect();
            assert_eq!(along(axis), Ok(expected), "{axis}");
        }
        assert_eq!(grid(1.0, 0.0).places(&shape), Ok(vec![0; 24]));
        assert!(along(3).is_err());
        let few = Grid {
            scales: vec![1.0; 2],
            axis: Some(1),
            ..grid(1.0, 0.0)
        };
        assert_eq!(
            few.places(&shape).unwrap_err().0,
            "its scales do not fit the shape [2, 3, 4]"
        );
        for axis in 0..3 {
            let mut counts = shape;
            counts[axis] = shape[axis].div_ceil(2);
            let blocks = Grid {
                scales: vec![1.0; counts.iter().product()],
                axis: Some(axis),
                blocks: Some(Blocks {
                    size: 2,
                    shape: counts.to_vec(),
                }),
                ..grid(1.0, 0.0)
            };
            let place = |at: usize| {
                let mut index = [at / 12, at / 4 % 3, at % 4];
                index[axis] /= 2;
                (index[0] * counts[1] + index[1]) * counts[2] + index[2]
            };
            assert_eq!(
                blocks.places(&shape),
                Ok((0..24).map(place).collect()),
                "{axis}"
            );
        }
    }

    #[test]
    fn codes_are_decoded_at_their_places() {
        let codes = Array::new(vec![2, 2], Values::I64(vec![1, 2, 3, 4]));
        let decoded = |grid: &Grid| grid.decode(&codes).unwrap().floats().unwrap().to_vec();
        assert_eq!(decoded(&grid(0.5, 1.0)), [0.0, 0.5, 1.0, 1.5]);
        let along = Grid {
            scales: vec![0.5, 2.0],
            zeros: vec![1.0, 0.0],
            axis: Some(1),
            ..grid(1.0, 0.0)
        };
        assert_eq!(decoded(&along), [0.0, 4.0, 1.0, 8.0]);
        let one_zero = Grid {
            zeros: vec![1.0],
            ..along.clone()
        };
        assert_eq!(decoded(&one_zero), [0.0, 2.0, 1.0, 6.0]);
        let turned = along.clone().permuted(&[1, 0]).unwrap();
        assert_eq!(turned.axis, Some(0));
        assert_eq!(decoded(&turned), [0.0, 0.5, 6.0, 8.0]);
        let blocks = Grid {
            scales: vec![1.0, 2.0, 3.0, 4.0],
            axis: Some(1),
            blocks: Some(Blocks {
                size: 1,
                shape: vec![2, 2],
            }),
            ..grid(1.0, 0.0)
        };
        assert_eq!(
            decoded(&Grid {
                zeros: vec![0.0; 4],
                ..blocks.clone()
            }),
            [1.0, 4.0, 9.0, 16.0]
        );
        let turned = Grid {
            zeros: vec![0.0; 4],
            ..blocks
        }
        .permuted(&[1, 0])
        .unwrap();
        assert_eq!(
            (turned.axis, &turned.scales[..]),
            (Some(0), &[1.0, 3.0, 2.0, 4.0][..])
        );
    }

    #[test]
    fn the_text_of_a_format_states_what_differs() {
        let text = |grid: &Grid| grid.format().unwrap().to_string();
        let narrow = Grid {
            narrow: true,
            ..grid(0.5, 0.0)
        };
        assert_eq!(text(&narrow), "affine(8, 0.5, narrow = true)");
        let floor = Grid {
            rounding: "floor",
            ..grid(0.5, 0.0)
        };
        assert_eq!(text(&floor), "affine(8, 0.5, rounding = floor)");
        let unsigned = Grid {
            signed: false,
            ..grid(0.25, 0.0)
        };
        assert_eq!(text(&unsigned), "integer(8, 2, false)");
        let before = Grid {
            before: true,
            ..grid(0.5, 3.0)
        };
        assert_eq!(text(&before), "affine(8, 0.5, 3, offset = before)");
        let bipolar = Grid {
            kind: GridKind::Bipolar,
            ..grid(0.5, 0.0)
        };
        assert_eq!(text(&bipolar), "bipolar(0.5)");
        let float = Grid {
            kind: GridKind::Floats("float8(e5m2)".to_owned()),
            ..grid(1.0, 0.0)
        };
        assert_eq!(text(&float), "float8(e5m2)");
        assert!(!float.is_scaled_float());
        let scaled = Grid {
            scales: vec![0.5],
            ..float
        };
        assert!(scaled.is_scaled_float() && !scaled.unscaled().is_scaled_float());
        assert!(scaled.format().is_err());
        // 0.375 is 0.75·0.5, and 0.75 is a number of this format.
        let halves = Array::new(vec![2], Values::F32(vec![0.375, -0.5]));
        assert_eq!(scaled.round(&halves), Ok(halves));
    }
}
