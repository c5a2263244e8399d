//! Number formats as codes, scales and zero points.

use super::Style;
use crate::constant::Refusal;
use format::{FieldValue, Format};
use interop::onnx::Element;

/// Codes, their scales and their zero points.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    /// The parts that all places share.
    pub rule: Rule,
    /// The scale of every place.
    pub scales: Vec<f32>,
    /// The zero point of every place.
    pub zeros: Vec<i64>,
    /// The axis along which places lie, and the elements along it that share one; `None` for one place.
    pub layout: Option<(usize, usize)>,
    /// The axes of the stored scales.
    pub stored_shape: Vec<usize>,
    /// The axes of what is rounded.
    pub rank: usize,
}

/// The parts that all places of a format share.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Bits of a code.
    pub width: u32,
    /// True for codes about 0, false for codes from 0 up.
    pub signed: bool,
    /// Leaves out the smallest code, or the largest of codes from 0 up.
    pub narrow: bool,
    /// QONNX's word for the rounding.
    pub rounding: &'static str,
    /// The values that codes have.
    pub kind: Kind,
}

/// The values that codes have.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Multiples of the scale.
    Integers,
    /// Plus and minus the scale.
    Bipolar,
    /// Floats of few bits.
    Floats(SmallFloat),
}

/// A float of few bits.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallFloat {
    /// The type of ONNX that has these codes.
    pub element: Option<Element>,
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the fraction.
    pub fraction: u32,
    /// The bias, which is subtracted from the stored exponent.
    pub bias: i32,
    /// The largest value.
    pub max: f64,
    /// Makes what is too large the largest value.
    pub saturates: bool,
    /// Has an infinity.
    pub has_infinity: bool,
    /// Has a code that is no number.
    pub has_nan: bool,
}

/// QONNX's words for roundings.
const ROUNDINGS: &[(&str, &str)] = &[
    ("nearest_even", "ROUND"),
    ("half_even", "ROUND"),
    ("half_up", "HALF_UP"),
    ("half_down", "HALF_DOWN"),
    ("up", "UP"),
    ("down", "DOWN"),
    ("floor", "FLOOR"),
    ("ceil", "CEIL"),
];

/// The 8-bit floats of ONNX: the word of the format, the type, bits of the exponent, the bias.
const FLOAT8: [(&str, Element, u32, i32); 4] = [
    ("e4m3fn", Element::F8E4M3, 4, 7),
    ("e5m2", Element::F8E5M2, 5, 15),
    ("e4m3fnuz", Element::F8E4M3Uz, 4, 8),
    ("e5m2fnuz", Element::F8E5M2Uz, 5, 16),
];

impl Steps {
    /// The steps of a format for an array of this shape.
    pub fn of(format: &Format, shape: &[usize], style: Style) -> Result<Self, Refusal> {
        let stored = format.stored_fields();
        if stored.is_empty() {
            let (rule, scale, zero) = single(format, style)?;
            return Ok(Self {
                rule,
                scales: vec![scale],
                zeros: vec![zero],
                layout: None,
                stored_shape: Vec::new(),
                rank: shape.len(),
            });
        }
        if let Some((field, _)) = stored.iter().find(|(_, array)| array.is_none()) {
            return Err(Refusal::new(format!(
                "its {field} has no values; load a checkpoint"
            )));
        }
        let field = |name: &str| match field(format, name) {
            Some(FieldValue::Int(value)) => usize::try_from(value).ok(),
            _ => None,
        };
        let axis = field("axis").ok_or_else(|| Refusal::new("it is stored element by element"))?;
        let block = field("block").unwrap_or(0);
        let missing = || Refusal::new(format!("{shape:?} has not its axis"));
        let places = format.stored_places(shape).ok_or_else(missing)?;
        let stored_shape = format.stored_shape(shape).ok_or_else(missing)?;
        let elements = format.of_elements(shape).ok_or_else(missing)?;
        let n_places = stored_shape.iter().product();
        let mut found: Vec<Option<(Rule, f32, i64)>> = vec![None; n_places];
        for (element, &place) in elements.iter().zip(&places) {
            if found[place].is_none() {
                found[place] = Some(single(element, style)?);
            }
        }
        let found: Option<Vec<(Rule, f32, i64)>> = found.into_iter().collect();
        let found = found.ok_or_else(missing)?;
        let rule = found[0].0.clone();
        if found.iter().any(|place| place.0 != rule) {
            return Err(Refusal::new("its places have different widths"));
        }
        Ok(Self {
            rule,
            scales: found.iter().map(|place| place.1).collect(),
            zeros: found.iter().map(|place| place.2).collect(),
            layout: Some((axis, block)),
            stored_shape,
            rank: shape.len(),
        })
    }

    /// The steps of `scale_integer` for the values that a parameter has, whose largest magnitudes make the scales; `None` for
    /// other formats.
    pub fn of_values(format: &Format, values: &[f32], shape: &[usize]) -> Option<Self> {
        if format.name() != "scale_integer" {
            return None;
        }
        let width = number(format, "width") as u32;
        let last = shape.len().checked_sub(1)?;
        let n = values.len();
        let (layout, stored_shape) = match word(format, "granularity").as_str() {
            "channel" => (Some((0, 0)), vec![shape[0]]),
            "row" if last == 0 => (None, Vec::new()),
            "row" if last == 1 => (Some((0, 0)), vec![shape[0]]),
            // Every row along the last axis is a block.
            "row" => {
                let rows = [&shape[..last], &[1]].concat();
                (Some((last, shape[last])), rows)
            }
            _ => (None, Vec::new()),
        };
        let n_places: usize = stored_shape.iter().product();
        let largest = (1_u64 << (width - 1)) - 1;
        let scale = |place: &[f32]| {
            let max = place.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
            let scale = (f64::from(max) / largest as f64) as f32;
            if scale.is_normal() { scale } else { 1.0 }
        };
        let scales: Vec<f32> = values.chunks((n / n_places).max(1)).map(scale).collect();
        let rule = Rule {
            width,
            signed: true,
            narrow: true,
            rounding: "ROUND",
            kind: Kind::Integers,
        };
        (width <= 16 && scales.len() == n_places).then(|| Self {
            rule,
            zeros: vec![0; n_places],
            scales,
            layout,
            stored_shape,
            rank: shape.len(),
        })
    }

    /// The place of every element of an array of this shape.
    pub fn places(&self, shape: &[usize]) -> Vec<usize> {
        let len: usize = shape.iter().product();
        let Some((axis, block)) = self.layout else {
            return vec![0; len];
        };
        let (size, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let place = |at: usize| {
            let (outer, along) = (at / inner / size, at / inner % size);
            match block {
                0 => along,
                _ => (outer * size.div_ceil(block) + along / block) * inner + at % inner,
            }
        };
        (0..len).map(place).collect()
    }

    /// The smallest and the largest code.
    pub fn code_range(&self) -> (i64, i64) {
        let Rule {
            width,
            signed,
            narrow,
            ..
        } = self.rule;
        let narrow = i64::from(narrow);
        if signed {
            (-(1_i64 << (width - 1)) + narrow, (1_i64 << (width - 1)) - 1)
        } else {
            (0, (1_i64 << width) - 1 - narrow)
        }
    }

    /// The type of the codes: the narrowest that holds them, 4 bits where `may_pack`.
    pub fn element(&self, may_pack: bool) -> Element {
        if let Kind::Floats(SmallFloat {
            element: Some(element),
            ..
        }) = self.rule.kind
        {
            return element;
        }
        match (self.rule.width, self.rule.signed) {
            (0..=4, true) if may_pack => Element::I4,
            (0..=4, false) if may_pack => Element::U4,
            (0..=8, true) => Element::I8,
            (0..=8, false) => Element::U8,
            (_, true) => Element::I16,
            (_, false) => Element::U16,
        }
    }

    /// The steps, if `QuantizeLinear` of a version of ONNX's operators has them.
    pub fn linear(self, opset: i64) -> Result<Self, Refusal> {
        let element = self.element(false);
        let is_blocked = self.layout.is_some_and(|(_, block)| block > 0);
        let since = match element {
            Element::F4E2M1 => 23,
            Element::I16 | Element::U16 => 21,
            _ if is_blocked => 21,
            Element::F8E4M3 | Element::F8E4M3Uz | Element::F8E5M2 | Element::F8E5M2Uz => 19,
            _ => 10,
        };
        if opset < since {
            let what = if is_blocked {
                "scales of blocks".to_owned()
            } else {
                format!("codes of {}", element.name())
            };
            return Err(Refusal::new(format!(
                "{what} are written from --opset {since} on"
            )));
        }
        Ok(self)
    }

    /// True when every code of a type is one of the format.
    pub fn fills(&self, element: Element) -> bool {
        matches!(self.rule.kind, Kind::Floats(_))
            || element.integer_range() == Some(self.code_range())
    }
}

/// The value of a field of a format.
fn field(format: &Format, name: &str) -> Option<FieldValue> {
    let fields = format.fields();
    fields
        .into_iter()
        .find(|(own, _)| *own == name)
        .map(|(_, value)| value)
}

fn number(format: &Format, name: &str) -> f64 {
    match field(format, name) {
        Some(FieldValue::Int(value)) => value as f64,
        Some(FieldValue::Float(value)) => value,
        _ => 0.0,
    }
}

fn flag(format: &Format, name: &str, default: bool) -> bool {
    match field(format, name) {
        Some(FieldValue::Bool(value)) => value,
        _ => default,
    }
}

fn word(format: &Format, name: &str) -> String {
    match field(format, name) {
        Some(FieldValue::Text(word)) => word,
        _ => String::new(),
    }
}

/// The rule, the scale and the zero point of a format with one place.
fn single(format: &Format, style: Style) -> Result<(Rule, f32, i64), Refusal> {
    match format.name() {
        "integer" => {
            let scale = 2.0_f64.powi(-(number(format, "frac_width") as i32));
            integers(format, style, scale, 0.0)
        }
        "affine" => {
            let (scale, zero) = (number(format, "scale"), number(format, "zero_point"));
            integers(format, style, scale, zero)
        }
        "bipolar" => Ok((bipolar(style)?, number(format, "scale") as f32, 0)),
        "binary" if flag(format, "bipolar", false) => Ok((bipolar(style)?, 1.0, 0)),
        "float8" | "float4" | "minifloat_ieee" => Ok((small_float(format, style)?, 1.0, 0)),
        name => Err(no_operator(name)),
    }
}

fn no_operator(name: &str) -> Refusal {
    Refusal::new(format!("ONNX has no operator for {name}"))
}

fn integers(
    format: &Format,
    style: Style,
    scale: f64,
    zero: f64,
) -> Result<(Rule, f32, i64), Refusal> {
    if word(format, "overflow") == "wrap" {
        return Err(Refusal::new("its codes wrap, and those of ONNX saturate"));
    }
    let width = number(format, "width") as u32;
    let rounding = word(format, "rounding");
    let rounding = ROUNDINGS
        .iter()
        .find(|row| row.0 == rounding)
        .map(|row| row.1);
    let rounding = rounding.ok_or_else(|| Refusal::new("its rounding has no word there"))?;
    let adds_before = word(format, "offset") == "before";
    let fits = match style {
        Style::Qonnx => adds_before || zero == 0.0,
        _ => rounding == "ROUND" && (!adds_before || zero == 0.0),
    };
    if !fits {
        return Err(Refusal::new(
            "its rounding, or the order in which it adds its zero point, is another one",
        ));
    }
    let max_width = if style == Style::Qonnx { 24 } else { 16 };
    if !(1..=max_width).contains(&width) || zero.fract() != 0.0 || !(scale as f32).is_normal() {
        return Err(Refusal::new(format!(
            "{width} bits, or its scale, are beyond what is written"
        )));
    }
    let rule = Rule {
        width,
        signed: flag(format, "signed", true),
        narrow: flag(format, "narrow", false),
        rounding,
        kind: Kind::Integers,
    };
    Ok((rule, scale as f32, zero as i64))
}

fn bipolar(style: Style) -> Result<Rule, Refusal> {
    if style == Style::Qdq {
        return Err(Refusal::new(
            "two values of one magnitude have no codes there; write --to qonnx",
        ));
    }
    Ok(Rule {
        width: 1,
        signed: true,
        narrow: false,
        rounding: "ROUND",
        kind: Kind::Bipolar,
    })
}

fn small_float(format: &Format, style: Style) -> Result<Rule, Refusal> {
    let kind = word(format, "kind");
    let float8 = FLOAT8.iter().find(|row| row.0 == kind);
    let (element, width, exponent, bias) = match (format.name(), float8) {
        ("float8", Some((_, element, exponent, bias))) => (Some(*element), 8, *exponent, *bias),
        ("float4", _) => (Some(Element::F4E2M1), 4, 2, 1),
        _ => {
            let field = |name: &str| number(format, name);
            let (width, exponent) = (field("width") as u32, field("exponent_width") as u32);
            (None, width, exponent, field("exponent_bias") as i32)
        }
    };
    let float = SmallFloat {
        element,
        exponent,
        fraction: width - 1 - exponent,
        bias,
        max: match element {
            Some(Element::F8E4M3) => 448.0,
            Some(Element::F8E4M3Uz) => 240.0,
            Some(Element::F8E5M2 | Element::F8E5M2Uz) => 57344.0,
            _ => format.range().1,
        },
        saturates: flag(format, "saturate", true),
        has_infinity: element == Some(Element::F8E5M2),
        has_nan: format.name() == "float8",
    };
    match style {
        Style::Qdq if element.is_none() => return Err(no_operator(format.name())),
        Style::Qonnx if !float.saturates => {
            return Err(Refusal::new("it does not saturate, as FloatQuant does"));
        }
        Style::Qonnx if float.fraction == 0 || !(float.max as f32).is_normal() => {
            return Err(Refusal::new(
                "FloatQuant has a fraction and a largest value within f32",
            ));
        }
        _ => {}
    }
    Ok(Rule {
        width,
        signed: true,
        narrow: false,
        rounding: "ROUND",
        kind: Kind::Floats(float),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::StoredArray;

    #[test]
    fn codes_have_the_narrowest_type_that_holds_them() {
        use Element::{I4, I8, I16, U4, U8, U16};
        for (width, packed, plain) in [
            (2, [I4, U4], [I8, U8]),
            (4, [I4, U4], [I8, U8]),
            (5, [I8, U8], [I8, U8]),
            (8, [I8, U8], [I8, U8]),
            (9, [I16, U16], [I16, U16]),
        ] {
            for (k, signed) in [(0, ""), (1, ", 0, false")] {
                let format = Format::parse(&format!("affine({width}, 0.3{signed})")).unwrap();
                let steps = Steps::of(&format, &[4], Style::Qdq).unwrap();
                assert_eq!(steps.element(true), packed[k], "{format}");
                assert_eq!(steps.element(false), plain[k], "{format}");
            }
        }
    }

    /// Places along every axis, of one element and of blocks that do not always divide it.
    #[test]
    fn every_element_has_the_place_of_its_format() {
        let shape = [2, 5, 3];
        for (axis, block) in (0..3).flat_map(|axis| [0, 1, 2, 5].map(|block| (axis, block))) {
            let blocks = match block {
                0 => String::new(),
                n => format!(", block = {n}"),
            };
            let text = format!("affine(8, stored, axis = {axis}{blocks})");
            let format = Format::parse(&text).unwrap();
            let sizes = format.stored_shape(&shape).unwrap();
            let n: usize = sizes.iter().product();
            let array = StoredArray {
                shape: sizes,
                values: (1..=n).map(|k| k as f32).collect(),
            };
            let format = format.with_stored("scale", array).unwrap();
            let steps = Steps::of(&format, &shape, Style::Qdq).unwrap();
            assert_eq!(
                steps.places(&shape),
                format.stored_places(&shape).unwrap(),
                "{text}"
            );
            let scales: Vec<f32> = (1..=n).map(|k| k as f32).collect();
            assert_eq!(steps.scales, scales, "{text}");
        }
    }
}
