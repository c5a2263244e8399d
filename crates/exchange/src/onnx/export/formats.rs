//! Number formats as nodes: pairs of `QuantizeLinear` and `DequantizeLinear`, or QONNX's quantisers.

use super::site::{int, text};
use super::{Exporter, QONNX_DOMAIN, Style};
use crate::constant::Refusal;
use format::{FieldValue, Format};
use interop::onnx::proto::{AttributeProto, NodeProto};
use interop::onnx::{Element, Values};
use ir::Node;

/// Codes, their scales and their zero points.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    rule: Rule,
    /// The scale of every place.
    scales: Vec<f32>,
    /// The zero point of every place.
    zeros: Vec<i64>,
    /// The axis along which places lie, and the elements along it that share one; `None` for one place.
    layout: Option<(usize, usize)>,
    /// The axes of the stored scales.
    stored_shape: Vec<usize>,
    rank: usize,
}

/// The parts that all places of a format share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    width: u32,
    signed: bool,
    narrow: bool,
    /// QONNX's word for the rounding.
    rounding: &'static str,
    /// Two values of one magnitude.
    bipolar: bool,
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

    /// The smallest and the largest code.
    fn code_range(&self) -> (i64, i64) {
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

    /// The narrowest type that holds the codes; 4 bits where `may_pack`.
    fn element(&self, may_pack: bool) -> Element {
        match (self.rule.width, self.rule.signed) {
            (0..=4, true) if may_pack => Element::I4,
            (0..=4, false) if may_pack => Element::U4,
            (0..=8, true) => Element::I8,
            (0..=8, false) => Element::U8,
            (_, true) => Element::I16,
            (_, false) => Element::U16,
        }
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

/// The rule, the scale and the zero point of a format with one place.
fn single(format: &Format, style: Style) -> Result<(Rule, f32, i64), Refusal> {
    let number = |name: &str| match field(format, name) {
        Some(FieldValue::Int(value)) => value as f64,
        Some(FieldValue::Float(value)) => value,
        _ => 0.0,
    };
    let flag = |name: &str, default: bool| match field(format, name) {
        Some(FieldValue::Bool(value)) => value,
        _ => default,
    };
    let word = |name: &str| match field(format, name) {
        Some(FieldValue::Text(word)) => word,
        _ => String::new(),
    };
    if format.name() == "bipolar" {
        if style == Style::Qdq {
            return Err(Refusal::new(
                "two values of one magnitude have no codes there; write --to qonnx",
            ));
        }
        let rule = Rule {
            width: 1,
            signed: true,
            narrow: false,
            rounding: "ROUND",
            bipolar: true,
        };
        return Ok((rule, number("scale") as f32, 0));
    }
    let (scale, zero) = match format.name() {
        "integer" => (2.0_f64.powi(-(number("frac_width") as i32)), 0.0),
        "affine" => (number("scale"), number("zero_point")),
        name => return Err(Refusal::new(format!("ONNX has no operator for {name}"))),
    };
    if word("overflow") == "wrap" {
        return Err(Refusal::new("its codes wrap, and those of ONNX saturate"));
    }
    let width = number("width") as u32;
    let rounding = word("rounding");
    let rounding = ROUNDINGS
        .iter()
        .find(|row| row.0 == rounding)
        .map(|row| row.1);
    let rounding = rounding.ok_or_else(|| Refusal::new("its rounding has no word there"))?;
    let adds_before = word("offset") == "before";
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
        signed: flag("signed", true),
        narrow: flag("narrow", false),
        rounding,
        bipolar: false,
    };
    Ok((rule, scale as f32, zero as i64))
}

impl Exporter<'_> {
    /// A weight as codes, and the node that decodes them.
    pub(super) fn stored_codes(
        &mut self,
        node: &Node,
        port: &str,
        steps: &Steps,
        rounded: &[f32],
        shape: &[usize],
    ) -> String {
        let path = node.param_path(port);
        let format = &node.formats[port];
        let places = format.stored_places(shape);
        let place = |at: usize| places.as_ref().map_or(0, |places| places[at]);
        let (min, max) = steps.code_range();
        let code = |(at, &value): (usize, &f32)| {
            let (scale, zero) = (f64::from(steps.scales[place(at)]), steps.zeros[place(at)]);
            ((f64::from(value) / scale).round_ties_even() as i64 + zero).clamp(min, max)
        };
        let codes: Vec<i64> = rounded.iter().enumerate().map(code).collect();
        let element = steps.element(self.options.opset >= 21);
        self.store_as(&path, shape.to_vec(), element, Values::Ints(codes));
        let (scale, zero) = self.places(node, port, steps, element);
        self.linear_node("DequantizeLinear", &path, &[&path, &scale, &zero], steps)
    }

    /// A value rounded as the steps say.
    pub(super) fn quantized(
        &mut self,
        node: &Node,
        port: &str,
        name: &str,
        steps: &Steps,
    ) -> String {
        if self.options.style == Style::Qonnx {
            return self.quant(node, port, name, steps);
        }
        let is_whole = |element: Element| element.integer_range() == Some(steps.code_range());
        let packed = steps.element(self.options.opset >= 21);
        // No operator clips codes of 4 bits.
        let element = if is_whole(packed) {
            packed
        } else {
            steps.element(false)
        };
        let (scale, zero) = self.places(node, port, steps, element);
        let mut codes = self.linear_node("QuantizeLinear", name, &[name, &scale, &zero], steps);
        if !is_whole(element) {
            let (min, max) = steps.code_range();
            let stem = format!("{}_code", node.param_path(port));
            let bound = |exporter: &mut Self, value: i64| {
                exporter.store(&stem, Vec::new(), element, Values::Ints(vec![value]))
            };
            let (min, max) = (bound(self, min), bound(self, max));
            codes = self.plain_node("", "Clip", name, &[&codes, &min, &max], Vec::new());
        }
        self.linear_node("DequantizeLinear", name, &[&codes, &scale, &zero], steps)
    }

    /// The stored scales and zero points of a port.
    fn places(
        &mut self,
        node: &Node,
        port: &str,
        steps: &Steps,
        element: Element,
    ) -> (String, String) {
        let shape = steps.stored_shape.clone();
        let scale = self.fresh(&node.stored_path(port, "scale"));
        self.store_as(
            &scale,
            shape.clone(),
            Element::F32,
            Values::Floats(steps.scales.clone()),
        );
        let zero = self.fresh(&node.stored_path(port, "zero_point"));
        self.store_as(&zero, shape, element, Values::Ints(steps.zeros.clone()));
        (scale, zero)
    }

    fn linear_node(&mut self, op: &str, stem: &str, inputs: &[&str], steps: &Steps) -> String {
        let mut attributes = Vec::new();
        if let Some((axis, block)) = steps.layout {
            attributes.push(int("axis", axis as i64));
            if block > 0 {
                attributes.push(int("block_size", block as i64));
            }
        }
        self.plain_node("", op, stem, inputs, attributes)
    }

    fn plain_node(
        &mut self,
        domain: &str,
        op: &str,
        stem: &str,
        inputs: &[&str],
        attributes: Vec<AttributeProto>,
    ) -> String {
        let name = self.fresh(&format!("{stem}/{op}"));
        self.proto.node.push(NodeProto {
            op_type: Some(op.to_owned()),
            domain: (!domain.is_empty()).then(|| domain.to_owned()),
            name: Some(name.clone()),
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: vec![name.clone()],
            attribute: attributes,
            ..NodeProto::default()
        });
        name
    }

    /// QONNX's quantisers.
    fn quant(&mut self, node: &Node, port: &str, name: &str, steps: &Steps) -> String {
        // Scales broadcast: those along an axis have size 1 on all others.
        let mut shape = steps.stored_shape.clone();
        if let Some((axis, 0)) = steps.layout {
            shape = vec![1; steps.rank];
            shape[axis] = steps.scales.len();
        }
        let scale = self.fresh(&node.stored_path(port, "scale"));
        self.store_as(
            &scale,
            shape.clone(),
            Element::F32,
            Values::Floats(steps.scales.clone()),
        );
        if steps.rule.bipolar {
            return self.plain_node(
                QONNX_DOMAIN,
                "BipolarQuant",
                name,
                &[name, &scale],
                Vec::new(),
            );
        }
        let zeros: Vec<f32> = steps.zeros.iter().map(|&zero| zero as f32).collect();
        let zero = self.fresh(&node.stored_path(port, "zero_point"));
        self.store_as(&zero, shape, Element::F32, Values::Floats(zeros));
        let bits = Values::Floats(vec![steps.rule.width as f32]);
        let bits = self.store(
            &format!("{}_bits", node.param_path(port)),
            Vec::new(),
            Element::F32,
            bits,
        );
        let attributes = vec![
            int("signed", i64::from(steps.rule.signed)),
            int("narrow", i64::from(steps.rule.narrow)),
            text("rounding_mode", steps.rule.rounding),
        ];
        self.plain_node(
            QONNX_DOMAIN,
            "Quant",
            name,
            &[name, &scale, &zero, &bits],
            attributes,
        )
    }
}
