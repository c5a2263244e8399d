//! Symmetric integers with a real scale per tensor, channel or row.

use crate::block::Sharing;
use crate::catalog::{FieldEntry, FormatEntry, WIDTH};
use crate::codes::{Scale, mask};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Element, NumberFormat, Point};
use crate::round::RatioGrid;

const ENTRY: FormatEntry = FormatEntry {
    name: "scale_integer",
    class_suffix: "ScaleInteger",
    about: "symmetric integers with a real scale per tensor, channel or row",
    doc: "\
M     = 2^(w-1) - 1                with w = width
max   = max|x|                     over the tensor, the channel (axis 0) or the row (along the last axis)
value = rne(x * M / max) * max / M

The largest magnitude is always exact, nothing saturates, and -2^(w-1) is not used. Both quotients are exact before they are
rounded. On a data port of a network a scale never spans two rows of the batch: `tensor` is one sample.

scale_integer(8) of [0.5, -1.984375, 0.333]: max / M = 1.984375 / 127 = 1/64
   0.5         32          code 0010_0000   0.5
  -1.984375  -127          code 1000_0001  -1.984375
   0.333       21.3 -> 21  code 0001_0101   0.328125",
    aliases: &[],
    fields: &[
            WIDTH,
            FieldEntry::optional("granularity", "tensor", "tensor, channel or row"),
        ],
};

const GRANULARITIES: [&str; 3] = ["tensor", "channel", "row"];

/// Integers from −(2^(width−1) − 1) to 2^(width−1) − 1, times a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleInteger {
    /// Bits of an element, 2 to 32.
    pub width: u32,
    /// The elements that share a scale.
    pub granularity: Granularity,
}

/// The elements that share a scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// All.
    #[default]
    Tensor,
    /// Those with the same index on axis 0.
    Channel,
    /// Those along the last axis.
    Row,
}

impl ScaleInteger {
    /// The same with no scale shared by two rows of axis 0.
    pub(crate) fn within_rows(self) -> Self {
        let granularity = match self.granularity {
            Granularity::Tensor => Granularity::Channel,
            within @ (Granularity::Channel | Granularity::Row) => within,
        };
        Self {
            granularity,
            ..self
        }
    }

    #[inline(always)]
    fn largest_code(self) -> u32 {
        (1 << (self.width - 1)) - 1
    }
}

impl NumberFormat for ScaleInteger {
    type Element = Scaled;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let granularity = match fields.choice("granularity", &GRANULARITIES)? {
            0 => Granularity::Tensor,
            1 => Granularity::Channel,
            _ => Granularity::Row,
        };
        Ok(Self {
            width: fields.required("width", 2..=32)?,
            granularity,
        })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        let granularity = GRANULARITIES[self.granularity as usize];
        vec![
            ("width", self.width.into()),
            ("granularity", granularity.into()),
        ]
    }

    fn range(&self) -> (f64, f64) {
        (f64::from(f32::MIN), f64::from(f32::MAX))
    }

    fn point(&self) -> Point {
        Point::FollowsData
    }

    fn width(&self) -> u32 {
        self.width
    }

    #[inline(always)]
    fn sharing(&self) -> Sharing<'_> {
        match self.granularity {
            Granularity::Tensor => Sharing::Tensor,
            Granularity::Channel => Sharing::Channel,
            Granularity::Row => Sharing::Row,
        }
    }

    fn scale_bits(&self) -> u32 {
        32
    }

    fn unit_scale(&self) -> Scale {
        Scale::Factor(1.0)
    }

    fn codes(&self) -> Vec<u64> {
        let unused = 1 << (self.width - 1);
        (0..1 << self.width)
            .filter(|&code| code != unused)
            .collect()
    }

    #[inline(always)]
    fn scale_for(&self, abs_max: f32) -> Scale {
        // Zeros need a scale to be divided by.
        if abs_max == 0.0 {
            return self.unit_scale();
        }
        Scale::Ratio {
            max: abs_max,
            codes: self.largest_code(),
        }
    }

    #[inline(always)]
    fn element(&self, scale: Scale) -> Scaled {
        let codes = f64::from(self.largest_code());
        let max = match scale {
            Scale::Ratio { max, .. } => f64::from(max),
            other => other.factor() * codes,
        };
        Scaled {
            grid: RatioGrid { max, codes },
            width: self.width,
        }
    }
}

/// The rule and the codes for one scale.
#[derive(Clone, Copy)]
pub(crate) struct Scaled {
    grid: RatioGrid,
    width: u32,
}

impl Element for Scaled {
    type Rule = RatioGrid;

    #[inline(always)]
    fn rule(&self) -> RatioGrid {
        self.grid
    }

    fn encode(&self, y: f32) -> u64 {
        self.grid.code(y) as i64 as u64 & mask(self.width)
    }

    fn decode(&self, code: u64) -> f32 {
        let unused = 64 - self.width;
        let code = ((code << unused) as i64) >> unused;
        self.grid.value(code as f64)
    }
}
