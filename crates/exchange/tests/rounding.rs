//! Rounding as ONNX Runtime and qonnx do it, to the bit.
//!
//! `ROUNDING_VALUES=10000000 cargo test -p exchange --test rounding` compares as many random values, and every multiple of half a step.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod runtime;

use format::{Format, StoredArray};
use interop::onnx::proto::tensor_shape_proto::{Dimension, dimension};
use interop::onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, attribute_proto::AttributeType, type_proto,
};
use interop::onnx::{Element, Tensor, Values};
use random::Random;
use runtime::Run;
use std::env;

/// Random values of all cases together, unless the environment asks for more.
const VALUES: usize = 200_000;
/// Columns of a case, and neighbours in a block.
const COLUMNS: usize = 64;
const BLOCK: usize = 16;
/// The set of QONNX's operators.
const QONNX: &str = "qonnx.custom_op.general";

/// The places that share a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Tensor,
    Axis,
    Block,
}

struct Case {
    layout: Layout,
    width: u32,
    zero: i64,
    /// Adds the zero point before rounding, as qonnx does.
    before: bool,
    rows: usize,
    values: Vec<f32>,
}

fn wanted() -> Option<usize> {
    env::var("ROUNDING_VALUES").ok()?.parse().ok()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for before in [false, true] {
        for layout in [Layout::Tensor, Layout::Axis, Layout::Block] {
            for width in [2, 4, 8, 16] {
                // Codes of 2 bits are -2 to 1, and those of 4 hold every one of these zero points.
                for zero in (-3..=3).filter(|zero| width > 2 || (-2..=1).contains(zero)) {
                    cases.push((layout, width, zero, before));
                }
            }
        }
    }
    let n = wanted().unwrap_or(VALUES).div_ceil(cases.len() / 2);
    let case = |(at, (layout, width, zero, before)): (usize, (Layout, u32, i64, bool))| {
        let mut case = Case {
            layout,
            width,
            zero,
            before,
            rows: 0,
            values: Vec::new(),
        };
        case.fill(at, n);
        case
    };
    cases.into_iter().enumerate().map(case).collect()
}

impl Case {
    fn name(&self) -> String {
        let Self {
            layout,
            width,
            zero,
            before,
            ..
        } = self;
        format!("{layout:?}_{width}_{zero}_{before}").replace('-', "m")
    }

    /// The shape of the scales for the rows of the case.
    fn places(&self) -> Vec<usize> {
        match self.layout {
            Layout::Tensor => Vec::new(),
            Layout::Axis => vec![COLUMNS],
            Layout::Block => vec![self.rows, COLUMNS / BLOCK],
        }
    }

    fn scales(&self) -> Vec<f32> {
        let random = Random::new(u64::from(self.width), "scales");
        let n = self.places().iter().product::<usize>() as u64;
        // One that no binary fraction is, then any.
        let scale = |k: u64| match k {
            0 => 0.1,
            k => 0.001 + random.uniform(k),
        };
        (0..n).map(scale).collect()
    }

    /// The scale of an element.
    fn scale(&self, scales: &[f32], at: usize) -> f32 {
        let (row, column) = (at / COLUMNS, at % COLUMNS);
        match self.layout {
            Layout::Tensor => scales[0],
            Layout::Axis => scales[column],
            Layout::Block => scales[row * (COLUMNS / BLOCK) + column / BLOCK],
        }
    }

    /// Random values and multiples of half a step, from beyond the smallest code to beyond the largest.
    fn fill(&mut self, at: usize, n_random: usize) {
        let codes = 1_i64 << self.width;
        let all_halves = 2 * codes + 8;
        let halves = match wanted() {
            Some(_) => all_halves,
            None => all_halves.min(1024),
        };
        // Few of many halves: those about both ends.
        let half = |k: i64| {
            let from_below = k - codes - 4;
            if k < halves / 2 {
                from_below
            } else {
                from_below + all_halves - halves
            }
        };
        let n = n_random + halves as usize;
        self.rows = n.div_ceil(COLUMNS);
        let scales = self.scales();
        let random = Random::new(at as u64, "values");
        let value = |at: usize| {
            let scale = self.scale(&scales, at);
            if at < halves as usize {
                return (half(at as i64) as f32 - 2.0 * self.zero as f32) * 0.5 * scale;
            }
            let share = 1.5 * random.uniform(at as u64) - 0.75;
            (share * codes as f32 - self.zero as f32) * scale
        };
        self.values = (0..self.rows * COLUMNS).map(value).collect();
    }

    fn format(&self) -> Format {
        let (width, zero) = (self.width, self.zero);
        let order = if self.before { "before" } else { "after" };
        let (scales, shape) = (self.scales(), self.places());
        let layout = match self.layout {
            Layout::Tensor => {
                let scale = scales[0];
                let text = format!("affine({width}, {scale:?}, {zero}, offset = {order})");
                return Format::parse(&text).unwrap();
            }
            Layout::Axis => "axis = 1".to_owned(),
            Layout::Block => format!("axis = 1, block = {BLOCK}"),
        };
        let text = format!("affine({width}, stored, stored, {layout}, offset = {order})");
        let zeros = vec![zero as f32; scales.len()];
        let stored = |values| StoredArray {
            shape: shape.clone(),
            values,
        };
        let format = Format::parse(&text).unwrap();
        let format = format.with_stored("scale", stored(scales)).unwrap();
        format.with_stored("zero_point", stored(zeros)).unwrap()
    }

    fn run(&self) -> Run {
        Run {
            name: self.name(),
            network: if self.before {
                self.qonnx()
            } else {
                self.qdq()
            },
            inputs: vec![Tensor {
                name: "x".to_owned(),
                shape: vec![self.rows, COLUMNS],
                element: Element::F32,
                values: Values::Floats(self.values.clone()),
            }],
            program: if self.before { "qonnx" } else { "onnx" },
        }
    }

    fn qdq(&self) -> ModelProto {
        // ONNX Runtime has codes of 4, 8 and 16 bits; those of 2 bits are clipped ones of 8.
        let element = match self.width {
            4 => Element::I4,
            16 => Element::I16,
            _ => Element::I8,
        };
        let (scales, shape) = (self.scales(), self.places());
        let zeros = vec![self.zero; scales.len()];
        let mut tensors = vec![
            tensor("scale", &shape, Element::F32, Values::Floats(scales)),
            tensor("zero", &shape, element, Values::Ints(zeros)),
        ];
        let attributes = match self.layout {
            Layout::Tensor => Vec::new(),
            Layout::Axis => vec![int("axis", 1)],
            Layout::Block => vec![int("axis", 1), int("block_size", BLOCK as i64)],
        };
        let quantize = node("QuantizeLinear", "", &["x", "scale", "zero"], "codes");
        let mut nodes = vec![with(quantize, attributes.clone())];
        let mut codes = "codes";
        if self.width == 2 {
            for (name, bound) in [("min", -2), ("max", 1)] {
                tensors.push(tensor(name, &[], element, Values::Ints(vec![bound])));
            }
            nodes.push(node("Clip", "", &["codes", "min", "max"], "clipped"));
            codes = "clipped";
        }
        let dequantize = node("DequantizeLinear", "", &[codes, "scale", "zero"], "y");
        nodes.push(with(dequantize, attributes));
        model(nodes, tensors, &[self.rows, COLUMNS], 21)
    }

    /// Scales broadcast in qonnx; those of blocks are repeated for every element.
    fn qonnx(&self) -> ModelProto {
        let scales = self.scales();
        let (shape, scales) = match self.layout {
            Layout::Tensor => (Vec::new(), scales),
            Layout::Axis => (vec![1, COLUMNS], scales),
            Layout::Block => {
                let all = (0..self.rows * COLUMNS).map(|at| self.scale(&scales, at));
                (vec![self.rows, COLUMNS], all.collect())
            }
        };
        let float = |name, shape: &[usize], values| {
            tensor(name, shape, Element::F32, Values::Floats(values))
        };
        let tensors = vec![
            float("scale", &shape, scales),
            float("zero", &[], vec![self.zero as f32]),
            float("bits", &[], vec![self.width as f32]),
        ];
        let quant = node("Quant", QONNX, &["x", "scale", "zero", "bits"], "y");
        let attributes = vec![
            int("signed", 1),
            int("narrow", 0),
            AttributeProto {
                name: Some("rounding_mode".to_owned()),
                r#type: Some(AttributeType::String as i32),
                s: Some("ROUND".into()),
                ..AttributeProto::default()
            },
        ];
        let nodes = vec![with(quant, attributes)];
        model(nodes, tensors, &[self.rows, COLUMNS], 21)
    }
}

fn tensor(name: &str, shape: &[usize], element: Element, values: Values) -> TensorProto {
    let tensor = Tensor {
        name: name.to_owned(),
        shape: shape.to_vec(),
        element,
        values,
    };
    tensor.write()
}

fn node(op: &str, domain: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(op.to_owned()),
        domain: Some(domain.to_owned()),
        name: Some(output.to_owned()),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

fn with(node: NodeProto, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto { attribute, ..node }
}

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(value),
        ..AttributeProto::default()
    }
}

fn value(name: &str, shape: &[usize]) -> ValueInfoProto {
    let dim = |&size: &usize| Dimension {
        value: Some(dimension::Value::DimValue(size as i64)),
        ..Dimension::default()
    };
    let tensor = type_proto::Tensor {
        elem_type: Some(Element::F32.code()),
        shape: Some(TensorShapeProto {
            dim: shape.iter().map(dim).collect(),
        }),
    };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            value: Some(type_proto::Value::TensorType(tensor)),
            ..TypeProto::default()
        }),
        ..ValueInfoProto::default()
    }
}

/// A network from `x` to `y`.
fn model(
    node: Vec<NodeProto>,
    initializer: Vec<TensorProto>,
    shape: &[usize],
    opset: i64,
) -> ModelProto {
    let set = |domain: &str, version: i64| OperatorSetIdProto {
        domain: Some(domain.to_owned()),
        version: Some(version),
    };
    ModelProto {
        ir_version: Some(10),
        opset_import: vec![set("", opset), set(QONNX, 1)],
        graph: Some(GraphProto {
            name: Some("rounding".to_owned()),
            node,
            initializer,
            input: vec![value("x", shape)],
            output: vec![value("y", shape)],
            ..GraphProto::default()
        }),
        ..ModelProto::default()
    }
}

#[test]
fn affine_formats_round_as_onnx_runtime_and_qonnx_do() {
    let cases = cases();
    let runs: Vec<Run> = cases.iter().map(Case::run).collect();
    let Some(outputs) = runtime::outputs("rounding", &runs) else {
        return;
    };
    let mut n_values = 0;
    for (case, outputs) in cases.iter().zip(outputs) {
        let mut rounded = vec![0.0; case.values.len()];
        let shape = [case.rows, COLUMNS];
        case.format().quantize(&case.values, &shape, &mut rounded);
        let expected = &outputs[0].0;
        assert_eq!(rounded.len(), expected.len());
        n_values += rounded.len();
        let differs = |at: &usize| rounded[*at].to_bits() != expected[*at].to_bits();
        if let Some(at) = (0..rounded.len()).find(differs) {
            let (x, own, other) = (case.values[at], rounded[at], expected[at]);
            panic!("{}: {x:e} becomes {own:e}, there {other:e}", case.name());
        }
    }
    println!("{n_values} values are rounded to the same bits");
}

/// The types of small floats, their formats, and the program that has them.
const FLOATS: [(Element, &str, &str, i64); 5] = [
    (Element::F8E4M3, "float8(e4m3fn)", "onnx", 21),
    (Element::F8E4M3Uz, "float8(e4m3fnuz)", "onnx", 21),
    (Element::F8E5M2, "float8(e5m2)", "onnx", 21),
    (Element::F8E5M2Uz, "float8(e5m2fnuz)", "onnx", 21),
    (Element::F4E2M1, "float4(e2m1)", "reference", 23),
];

/// All codes of a type as a stored tensor.
fn codes(element: Element) -> (usize, TensorProto) {
    let n = 1_usize << element.bits();
    let raw: Vec<u8> = if element.bits() == 4 {
        (0..8).map(|k| (2 * k) | (2 * k + 1) << 4).collect()
    } else {
        (0..=255).collect()
    };
    let proto = TensorProto {
        name: Some("codes".to_owned()),
        dims: vec![n as i64],
        data_type: Some(element.code()),
        raw_data: Some(raw.into()),
        ..TensorProto::default()
    };
    (n, proto)
}

#[test]
fn small_floats_have_the_values_and_the_rounding_of_onnx() {
    let mut runs = Vec::new();
    let mut inputs = Vec::new();
    for (element, text, program, opset) in FLOATS {
        let format = Format::parse(text).unwrap();
        let (n, codes) = codes(element);
        // From codes to values: x is added, a vector of zeros.
        let one = tensor("scale", &[], Element::F32, Values::Floats(vec![1.0]));
        let decode = vec![
            node("DequantizeLinear", "", &["codes", "scale"], "decoded"),
            node("Add", "", &["decoded", "x"], "y"),
        ];
        let zeros = vec![0.0; n];
        runs.push(run(
            &format!("{element:?}_decode"),
            program,
            zeros.clone(),
            |shape| model(decode, vec![codes, one.clone()], shape, opset),
        ));
        inputs.push(zeros);
        // From values to codes and back: every value, every middle between two, and neighbours of these.
        let mut values: Vec<f32> = (0..n as u64)
            .filter_map(|code| element.small_float(code as u8))
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f32::total_cmp);
        let middles: Vec<f32> = values.windows(2).map(|w| w[0].midpoint(w[1])).collect();
        let near = |v: f32| [v, v.next_up(), v.next_down()];
        let random = Random::new(3, text);
        let largest = format.range().1 as f32;
        let mut x: Vec<f32> = values
            .iter()
            .chain(&middles)
            .flat_map(|&v| near(v))
            .collect();
        x.extend((0..2000).map(|k| (2.4 * random.uniform(k) - 1.2) * largest));
        x.extend((2000..4000).map(|k| random.normal(k)));
        let zero = TensorProto {
            name: Some("zero".to_owned()),
            data_type: Some(element.code()),
            raw_data: Some(vec![0_u8].into()),
            ..TensorProto::default()
        };
        let encode = vec![
            node("QuantizeLinear", "", &["x", "scale", "zero"], "codes"),
            node("DequantizeLinear", "", &["codes", "scale", "zero"], "y"),
        ];
        runs.push(run(
            &format!("{element:?}_encode"),
            program,
            x.clone(),
            |shape| model(encode, vec![one, zero], shape, opset),
        ));
        inputs.push(x);
    }
    let Some(outputs) = runtime::outputs("small_floats", &runs) else {
        return;
    };
    for (k, (element, text, ..)) in FLOATS.into_iter().enumerate() {
        let format = Format::parse(text).unwrap();
        let decoded = &outputs[2 * k][0].0;
        for (code, &expected) in decoded.iter().enumerate() {
            let own = element.small_float(code as u8).unwrap();
            let same = own == expected || own.is_nan() && expected.is_nan();
            assert!(same, "{text}: code {code:#x} is {own}, there {expected}");
        }
        let x = &inputs[2 * k + 1];
        let mut rounded = vec![0.0; x.len()];
        format.quantize(x, &[x.len()], &mut rounded);
        let expected = &outputs[2 * k + 1][0].0;
        for (at, (own, other)) in rounded.iter().zip(expected).enumerate() {
            assert!(
                own == other,
                "{text}: {:e} becomes {own:e}, there {other:e}",
                x[at]
            );
        }
        // And the codes that the format gives its values are those of the type.
        let finite = |code: &usize| decoded[*code].is_finite();
        for code in (0..decoded.len()).filter(finite) {
            let codes = format.encode(&[decoded[code]], &[1]);
            let again = element.small_float(codes.get(0) as u8).unwrap();
            assert!(again == decoded[code], "{text}: code {code:#x}");
        }
    }
}

fn run(
    name: &str,
    program: &'static str,
    values: Vec<f32>,
    network: impl FnOnce(&[usize]) -> ModelProto,
) -> Run {
    let shape = vec![values.len()];
    Run {
        name: name.to_owned(),
        network: network(&shape),
        inputs: vec![Tensor {
            name: "x".to_owned(),
            shape,
            element: Element::F32,
            values: Values::Floats(values),
        }],
        program,
    }
}
