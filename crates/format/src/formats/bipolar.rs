//! One bit: plus or minus a scale.

use crate::catalog::{AXIS, FieldEntry, FormatEntry};
use crate::codes::Scale;
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::formats::affine::{check_scale, shortest};
use crate::formats::binary::TwoLevels;
use crate::number_format::{NumberFormat, Point};
use crate::stored::Storable;

const ENTRY: FormatEntry = FormatEntry {
    name: "bipolar",
    class_suffix: "Bipolar",
    about: "one bit: plus or minus a scale",
    doc: "\
value = scale if x >= 0 else -scale

The code is 1 for the upper value and 0 for the lower. scale may be stored, along axis or element by element.

bipolar(0.5):  0.3 -> code 1  0.5     -0.2 -> code 0  -0.5",
    aliases: &[],
    fields: &[
        FieldEntry::optional("scale", "1.0", "the magnitude, or stored").shown(),
        AXIS,
    ],
};

/// Plus or minus a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bipolar {
    /// The magnitude of both values.
    pub scale: f32,
}

impl NumberFormat for Bipolar {
    type Element = TwoLevels;

    const ENTRY: FormatEntry = ENTRY;

    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        fields.no_layout()?;
        let scale = fields.number("scale")?.unwrap_or(1.0);
        let checked = check_scale(scale).map_err(|rule| fields.bad_value("scale", scale, rule));
        Ok(Self { scale: checked? })
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        vec![
            ("scale", shortest(self.scale)),
            ("axis", FieldValue::not_given()),
        ]
    }

    fn precision(&self) -> Vec<FieldValue> {
        vec![shortest(self.scale)]
    }

    fn range(&self) -> (f64, f64) {
        (-f64::from(self.scale), f64::from(self.scale))
    }

    fn point(&self) -> Point {
        Point::Factor("scale")
    }

    fn width(&self) -> u32 {
        1
    }

    #[inline(always)]
    fn element(&self, _: Scale) -> TwoLevels {
        TwoLevels::new(-self.scale, self.scale, 0.0)
    }
}

impl Storable for Bipolar {
    const STORABLE: &'static [(&'static str, FieldValue)] = &[("scale", FieldValue::Float(1.0))];

    fn stored_bits(_: &str) -> u32 {
        32
    }

    fn with_value(self, _: &str, value: f32) -> Result<Self, String> {
        Ok(Self {
            scale: check_scale(value.into())?,
        })
    }
}
