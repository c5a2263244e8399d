//! One bit for each element.

use crate::block::{Block, Sharing};
use crate::catalog::{FieldEntry, FormatEntry};
use crate::codes::Scale;
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{Element, NumberFormat, Point};
use crate::round::{ColumnRule, Columns, RoundingRule};

const ENTRY: FormatEntry = FormatEntry {
    name: "binary",
    class_suffix: "Binary",
    about: "one bit: +1 and -1, or 0 and the channel's mean magnitude",
    doc: "\
bipolar:  value = +1 if x >= 0 else -1
else:     value = mean|x| of the output channel (axis 0) if x > 0 else 0

The code is 1 for the upper value and 0 for the lower, in `width` bits.

binary(8, bipolar = true):  0.3 -> 0000_0001  1.0     -0.3 -> 0000_0000  -1.0
binary(8) of the channel [0.5, -0.25, 0, 0.25]: mean|x| = 0.25
  0.5 -> 0000_0001  0.25   -0.25 -> 0000_0000  0.0   0 -> 0000_0000  0.0   0.25 -> 0000_0001  0.25",
    aliases: &[],
    fields: &[
        FieldEntry::optional("width", "1", "bits in which a code is stored"),
        FieldEntry::optional(
            "stochastic",
            "false",
            "must be false: rounding is a function",
        ),
        FieldEntry::optional("bipolar", "false", "+1 and -1 instead of 0 and the mean"),
    ],
};

/// Two values: ±1, or 0 and the channel's mean magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Bits in which a code is stored, 1 to 64.
    pub width: u32,
    /// Makes the values ±1.
    pub bipolar: bool,
}

impl NumberFormat for Binary {
    type Element = TwoLevels;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        // Differs from MASE: the same value always gets the same code, on every run and thread.
        if fields.flag("stochastic", false)? {
            let rule = "is not available, only false: the same value always gets the same code";
            return Err(fields.bad_value("stochastic", true, rule));
        }
        Ok(Self {
            width: fields.int("width", 1..=64)?.unwrap_or(1),
            bipolar: fields.flag("bipolar", false)?,
        })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("width", self.width.into()),
            ("stochastic", false.into()),
            ("bipolar", self.bipolar.into()),
        ]
    }

    fn range(&self) -> (f64, f64) {
        if self.bipolar {
            (-1.0, 1.0)
        } else {
            (0.0, f64::from(f32::MAX))
        }
    }

    fn point(&self) -> Point {
        Point::Fixed
    }

    fn width(&self) -> u32 {
        self.width
    }

    #[inline(always)]
    fn sharing(&self) -> Sharing<'_> {
        if self.bipolar {
            Sharing::Nobody
        } else {
            Sharing::Channel
        }
    }

    fn scale_bits(&self) -> u32 {
        if self.bipolar { 0 } else { 32 }
    }

    fn unit_scale(&self) -> Scale {
        Scale::Factor(1.0)
    }

    fn codes(&self) -> Vec<u64> {
        vec![0, 1]
    }

    #[inline(always)]
    fn fit(&self, block: &mut Block<'_>) -> Scale {
        Scale::Factor(block.abs_mean())
    }

    #[inline(always)]
    fn element(&self, scale: Scale) -> TwoLevels {
        if self.bipolar {
            return TwoLevels::new(-1.0, 1.0, 0.0);
        }
        // The smallest float above 0: x > 0 is x >= this.
        TwoLevels::new(0.0, scale.factor() as f32, f32::from_bits(1))
    }
}

/// One value from a threshold on, another below it.
#[derive(Clone, Copy)]
pub(crate) struct TwoLevels {
    low: f32,
    high: f32,
    from: f32,
}

impl TwoLevels {
    /// `high` from `from` on, `low` below it.
    #[inline(always)]
    pub fn new(low: f32, high: f32, from: f32) -> Self {
        Self { low, high, from }
    }

    /// The last of the four is of no use.
    #[inline(always)]
    fn numbers(&self) -> Columns {
        [self.low, self.high, self.from, 0.0]
    }
}

impl RoundingRule for TwoLevels {
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        let columns = self.numbers();
        for (y, &x) in y.iter_mut().zip(x) {
            *y = Self::round_by(columns, x);
        }
    }
}

impl ColumnRule for TwoLevels {
    #[inline(always)]
    fn columns(&self) -> Option<Columns> {
        Some(self.numbers())
    }

    #[inline(always)]
    fn round_by([low, high, from, _]: Columns, x: f32) -> f32 {
        let level = if x >= from { high } else { low };
        if x.is_nan() { x } else { level }
    }
}

impl Element for TwoLevels {
    type Rule = Self;

    #[inline(always)]
    fn rule(&self) -> Self {
        *self
    }

    fn encode(&self, y: f32) -> u64 {
        u64::from(y > self.low)
    }

    fn decode(&self, code: u64) -> f32 {
        if code == 1 { self.high } else { self.low }
    }
}
