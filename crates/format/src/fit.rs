//! The steps that suit given values best.

use crate::field::FieldValue;
use crate::{Format, StoredArray};

/// Steps tried, each smaller than the one before it by the same factor.
const CANDIDATES: i32 = 24;

impl Format {
    /// The format with the steps that give these values the least squared error: powers of two for `integer`, eighth parts of
    /// powers of two for `affine`, the mean magnitude for `bipolar`. Other formats, and any for zeros, stay as they are.
    #[must_use]
    pub fn fitted(&self, values: &[f32]) -> Self {
        let max = values.iter().fold(0f32, |max, v| max.max(v.abs()));
        let (_, largest) = self.range();
        let ratio = f64::from(max) / largest;
        let candidate: Box<dyn Fn(i32) -> Option<Self>> = match self {
            _ if max == 0.0 => return self.clone(),
            Self::Integer(integer) => {
                let widest = integer.frac_width - ratio.log2().ceil() as i32;
                Box::new(move |k| self.with_field("frac_width", (widest + k).into()))
            }
            Self::Affine(affine) => {
                let widest = f64::from(affine.scale) * ratio;
                let step = move |k: i32| widest * 2f64.powf(-0.125 * f64::from(k));
                Box::new(move |k| self.with_field("scale", FieldValue::Float(step(k))))
            }
            Self::Bipolar(_) => {
                let sum: f64 = values.iter().map(|v| f64::from(v.abs())).sum();
                let mean = FieldValue::Float(sum / values.len() as f64);
                Box::new(move |_| self.with_field("scale", mean.clone()))
            }
            _ => return self.clone(),
        };
        let candidates = (0..CANDIDATES).filter_map(candidate);
        let best = candidates.min_by(|a, b| a.error(values).total_cmp(&b.error(values)));
        best.unwrap_or_else(|| self.clone())
    }

    /// The format with a `field`, `frac_width` or `scale`, stored along axis 0, that suits every row of an array of this
    /// shape; nothing where the format has no such field.
    pub fn fitted_to_rows(&self, values: &[f32], shape: &[usize]) -> Option<Self> {
        let field = match self {
            Self::Integer(_) => "frac_width",
            Self::Affine(_) | Self::Bipolar(_) => "scale",
            _ => return None,
        };
        let stored = self.with_field(field, "stored".into())?;
        let stored = stored.with_field("axis", FieldValue::Int(0))?;
        stored.fitted_to_places(values, shape)
    }

    /// A format with stored `frac_width` or `scale`, with the values that suit every place of an array of this shape best;
    /// nothing if other fields are stored too.
    pub fn fitted_to_places(&self, values: &[f32], shape: &[usize]) -> Option<Self> {
        let [(field, _)] = self.stored_fields()[..] else {
            return None;
        };
        let one = match field {
            "frac_width" => FieldValue::Int(0),
            "scale" => FieldValue::Float(1.0),
            _ => return None,
        };
        let alone = self.without_layout()?.with_field(field, one)?;
        let array_shape = self.stored_shape(shape)?;
        let mut groups = vec![Vec::new(); array_shape.iter().product()];
        for (&place, &value) in self.stored_places(shape)?.iter().zip(values) {
            groups[place].push(value);
        }
        let step = |group: &Vec<f32>| match alone.fitted(group) {
            Self::Integer(integer) => integer.frac_width as f32,
            Self::Affine(affine) => affine.scale,
            Self::Bipolar(bipolar) => bipolar.scale,
            _ => 0.0,
        };
        let array = StoredArray {
            values: groups.iter().map(step).collect(),
            shape: array_shape,
        };
        self.with_stored(field, array).ok()
    }

    /// The format without `axis` and `block`, before its stored field becomes one number.
    fn without_layout(&self) -> Option<Self> {
        let without = self.with_field("block", FieldValue::Int(0));
        without
            .unwrap_or_else(|| self.clone())
            .with_field("axis", FieldValue::not_given())
    }

    /// The sum of squared rounding errors.
    fn error(&self, values: &[f32]) -> f64 {
        let mut rounded = vec![0.0; values.len()];
        self.quantize(values, &[values.len()], &mut rounded);
        let errors = values.iter().zip(&rounded).map(|(x, y)| f64::from(x - y));
        errors.map(|error| error * error).sum()
    }
}
