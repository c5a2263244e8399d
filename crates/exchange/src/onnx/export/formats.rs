//! Number formats as nodes: pairs of `QuantizeLinear` and `DequantizeLinear`, or QONNX's quantisers.

use super::site::{int, text};
use super::steps::{Kind, SmallFloat, Steps};
use super::{Exporter, QONNX_DOMAIN, Style};
use format::Format;
use interop::onnx::proto::{AttributeProto, NodeProto};
use interop::onnx::{Element, Values};
use ir::Node;

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
        let codes = codes(&node.formats[port], steps, rounded, shape);
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
        let packed = steps.element(self.options.opset >= 21);
        // No operator clips codes of 4 bits.
        let element = if steps.fills(packed) {
            packed
        } else {
            steps.element(false)
        };
        let (scale, zero) = self.places(node, port, steps, element);
        let mut codes = self.linear_node("QuantizeLinear", name, &[name, &scale, &zero], steps);
        if !steps.fills(element) {
            codes = self.clipped(&node.param_path(port), name, &codes, element, steps);
        }
        self.linear_node("DequantizeLinear", name, &[&codes, &scale, &zero], steps)
    }

    /// Codes within the bounds of a narrower width.
    fn clipped(
        &mut self,
        path: &str,
        name: &str,
        codes: &str,
        element: Element,
        steps: &Steps,
    ) -> String {
        let (min, max) = steps.code_range();
        // ONNX Runtime clips bytes and words of 64 bits, and none of 16.
        let clips = if element.bits() == 8 {
            element
        } else {
            Element::I64
        };
        let mut codes = codes.to_owned();
        let cast = |exporter: &mut Self, codes: &str, to: Element| {
            let attributes = vec![int("to", i64::from(to.code()))];
            exporter.plain_node("", "Cast", name, &[codes], attributes)
        };
        if clips != element {
            codes = cast(self, &codes, clips);
        }
        let bounds = [min, max].map(|bound| {
            let value = Values::Ints(vec![bound]);
            self.store(&format!("{path}_code"), Vec::new(), clips, value)
        });
        codes = self.plain_node(
            "",
            "Clip",
            name,
            &[&codes, &bounds[0], &bounds[1]],
            Vec::new(),
        );
        if clips != element {
            codes = cast(self, &codes, element);
        }
        codes
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
        if let (Kind::Floats(float), "QuantizeLinear") = (&steps.rule.kind, op)
            && !float.saturates
        {
            attributes.push(int("saturate", 0));
        }
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
        match &steps.rule.kind {
            Kind::Integers => {}
            Kind::Bipolar => {
                let inputs = [name, &scale];
                return self.plain_node(QONNX_DOMAIN, "BipolarQuant", name, &inputs, Vec::new());
            }
            Kind::Floats(float) => return self.float_quant(node, port, name, &scale, float),
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

    /// QONNX's quantiser to floats of few bits.
    fn float_quant(
        &mut self,
        node: &Node,
        port: &str,
        name: &str,
        scale: &str,
        float: &SmallFloat,
    ) -> String {
        let path = node.param_path(port);
        let mut inputs = vec![name.to_owned(), scale.to_owned()];
        for (what, value) in [
            ("exponent_width", f64::from(float.exponent)),
            ("fraction_width", f64::from(float.fraction)),
            ("exponent_bias", f64::from(float.bias)),
            ("max", float.max),
        ] {
            let value = Values::Floats(vec![value as f32]);
            inputs.push(self.store(&format!("{path}_{what}"), Vec::new(), Element::F32, value));
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let attributes = vec![
            int("has_inf", i64::from(float.has_infinity)),
            int("has_nan", i64::from(float.has_nan)),
            int("has_subnormal", 1),
            int("saturation", 1),
            text("rounding_mode", "ROUND"),
        ];
        self.plain_node(QONNX_DOMAIN, "FloatQuant", name, &inputs, attributes)
    }
}

/// The codes of a parameter's values.
fn codes(format: &Format, steps: &Steps, rounded: &[f32], shape: &[usize]) -> Vec<i64> {
    if matches!(steps.rule.kind, Kind::Floats(_)) {
        let codes = format.encode(rounded, shape);
        return (0..rounded.len()).map(|at| codes.get(at) as i64).collect();
    }
    let places = steps.places(shape);
    let (min, max) = steps.code_range();
    let code = |(&value, &place): (&f32, &usize)| {
        let code = (f64::from(value) / f64::from(steps.scales[place])).round_ties_even();
        (code as i64 + steps.zeros[place]).clamp(min, max)
    };
    rounded.iter().zip(&places).map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (code − 3)/2: -1 is code 1, and what is far above is the largest code.
    #[test]
    fn codes_are_multiples_of_the_scale_about_the_zero_point() {
        let format = Format::parse("affine(4, 0.5, 3)").unwrap();
        let steps = Steps::of(&format, &[4], Style::Qdq).unwrap();
        let found = codes(&format, &steps, &[-1.0, 0.0, 1.5, 100.0], &[4]);
        assert_eq!(found, [1, 3, 6, 7]);
    }
}
