//! −1, 0 and 1, or the same times a scale.

use crate::block::{Block, Sharing};
use crate::catalog::{FieldEntry, FormatEntry};
use crate::codes::{Scale, mask};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Element, NumberFormat, Point};
use crate::round::RoundingRule;

const ENTRY: FormatEntry = FormatEntry {
    name: "ternary",
    class_suffix: "Ternary",
    about: "-1, 0 and 1 about a threshold, times a factor if wanted",
    doc: "\
threshold D = 0.75 * mean if given, else 0.05 * max if given, else 0.75 * median if given,
              else 0.75 * mean|x| of the channel (axis 0)
value = 1 if x > D, -1 if x < -D, else 0
with scaling_factor: times the channel's mean of |x| over |x| > D

The code is -1, 0 or 1 in two's complement of `width` bits.

ternary(8, scaling_factor = true) of the channel [1, -0.5, 0.1, 0]: mean|x| = 0.4, D = 0.3, factor = 0.75
  1 -> 0000_0001  0.75   -0.5 -> 1111_1111  -0.75   0.1 -> 0000_0000  0.0   0 -> 0000_0000  0.0",
    aliases: &[],
    fields: &[
            FieldEntry::optional("width", "2", "bits in which a code is stored"),
            FieldEntry::optional("scaling_factor", "false", "times the mean of what is not 0"),
            FieldEntry::optional("mean", "NA", "mean magnitude known beforehand"),
            FieldEntry::optional("median", "NA", "median magnitude known beforehand"),
            FieldEntry::optional("max", "NA", "largest magnitude known beforehand"),
        ],
};

/// Three values: 0 and ± the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ternary {
    /// Bits in which a code is stored, 2 to 64.
    pub width: u32,
    /// Scales the values by the mean magnitude of the elements that are not rounded to 0.
    pub scaling_factor: bool,
    /// A mean magnitude known beforehand.
    pub mean: Option<f64>,
    /// A median magnitude known beforehand.
    pub median: Option<f64>,
    /// A largest magnitude known beforehand.
    pub max: Option<f64>,
}

impl Ternary {
    /// The threshold that the given statistics fix.
    #[inline(always)]
    fn given_threshold(&self) -> Option<f64> {
        match (self.mean, self.max, self.median) {
            (Some(mean), _, _) => Some(0.75 * mean),
            (None, Some(max), _) => Some(0.05 * max),
            (None, None, Some(median)) => Some(0.75 * median),
            (None, None, None) => None,
        }
    }
}

impl NumberFormat for Ternary {
    type Element = ThreeLevels;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        Ok(Self {
            width: fields.int("width", 2..=64)?.unwrap_or(2),
            scaling_factor: fields.flag("scaling_factor", false)?,
            mean: fields.magnitude("mean")?,
            median: fields.magnitude("median")?,
            max: fields.magnitude("max")?,
        })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("width", self.width.into()),
            ("scaling_factor", self.scaling_factor.into()),
            ("mean", self.mean.into()),
            ("median", self.median.into()),
            ("max", self.max.into()),
        ]
    }

    fn range(&self) -> (f64, f64) {
        let largest = if self.scaling_factor {
            f64::from(f32::MAX)
        } else {
            1.0
        };
        (-largest, largest)
    }

    fn point(&self) -> Point {
        Point::Fixed
    }

    fn width(&self) -> u32 {
        self.width
    }

    #[inline(always)]
    fn sharing(&self) -> Sharing<'_> {
        Sharing::Channel
    }

    fn scale_bits(&self) -> u32 {
        if self.scaling_factor { 32 } else { 0 }
    }

    fn unit_scale(&self) -> Scale {
        Scale::Factor(1.0)
    }

    fn codes(&self) -> Vec<u64> {
        vec![mask(self.width), 0, 1]
    }

    #[inline(always)]
    fn fit(&self, block: &mut Block<'_>) -> Scale {
        let threshold = match self.given_threshold() {
            Some(threshold) => threshold,
            None => 0.75 * block.abs_mean(),
        };
        let factor = if self.scaling_factor {
            block.abs_mean_above(threshold)
        } else {
            1.0
        };
        Scale::Level { threshold, factor }
    }

    #[inline(always)]
    fn element(&self, scale: Scale) -> ThreeLevels {
        let threshold = match scale {
            Scale::Level { threshold, .. } => threshold,
            _ => 0.0,
        };
        ThreeLevels {
            threshold,
            factor: scale.factor() as f32,
            width: self.width,
        }
    }
}

/// The rule for one channel.
#[derive(Clone, Copy)]
pub(crate) struct ThreeLevels {
    threshold: f64,
    factor: f32,
    width: u32,
}

impl RoundingRule for ThreeLevels {
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            let level = if f64::from(x.abs()) > self.threshold {
                self.factor.copysign(x)
            } else {
                0.0
            };
            *y = if x.is_nan() { x } else { level };
        }
    }
}

impl Element for ThreeLevels {
    type Rule = Self;

    #[inline(always)]
    fn rule(&self) -> Self {
        *self
    }

    fn encode(&self, y: f32) -> u64 {
        let code = i64::from(y > 0.0) - i64::from(y < 0.0);
        code as u64 & mask(self.width)
    }

    fn decode(&self, code: u64) -> f32 {
        match code {
            0 => 0.0,
            1 => self.factor,
            _ => -self.factor,
        }
    }
}
