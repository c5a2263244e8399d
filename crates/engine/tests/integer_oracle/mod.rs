//! A slow, obviously right interpreter: every value is a list of 128-bit codes over one power of two, and every operator
//! is written out as its equation says.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test binary uses a part, and a test may panic"
)]

mod rounding;
mod windows;

use ir::{Graph, Node, Op, Shape, Tensor, Value, Verified};
use rounding::{encode, round};
use std::collections::BTreeMap;
use windows::{conv, pool};

/// value = code / 2^frac.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    pub shape: Vec<usize>,
    pub codes: Vec<i128>,
    pub frac: i32,
}

/// The results of a graph for inputs of these values.
pub fn interpret(verified: &Verified, rows: usize, inputs: &[Vec<f32>]) -> Vec<Exact> {
    let graph = verified.graph();
    let mut values: BTreeMap<Value, Exact> = BTreeMap::new();
    let mut floats: BTreeMap<Value, (Vec<usize>, Vec<f32>)> = BTreeMap::new();
    let mut next_input = inputs.iter();
    for (id, node) in graph.iter() {
        let shapes: Vec<Vec<usize>> = verified
            .outputs(id)
            .iter()
            .map(|ty| ty.shape.bind(rows).unwrap())
            .collect();
        let stored = match &node.op {
            Op::Placeholder(_) => next_input.next().cloned(),
            Op::Constant(_) => Some(node.params["value"].values().to_vec()),
            _ => None,
        };
        if let Some(stored) = stored {
            match node.formats.get("data_out_0") {
                Some(format) => drop(values.insert(id.into(), encode(&shapes[0], &stored, format))),
                None => drop(floats.insert(id.into(), (shapes[0].clone(), stored))),
            }
            continue;
        }
        let operands: Vec<Exact> = node
            .inputs
            .iter()
            .enumerate()
            .map(|(k, value)| {
                let port = format!("data_in_{k}");
                let keeps = |i: usize| node.masks.get(&port).is_none_or(|mask| keeps(mask, i));
                match (floats.get(value), node.formats.get(&port)) {
                    (Some((shape, values)), Some(format)) => {
                        let kept = |(i, &v): (usize, &f32)| if keeps(i) { v } else { 0.0 };
                        let kept: Vec<f32> = values.iter().enumerate().map(kept).collect();
                        encode(shape, &kept, format)
                    }
                    (Some(_), None) => panic!("{}: {port} is not fixed point", node.name),
                    (None, format) => {
                        let mut value = values[value].clone();
                        let codes = value.codes.iter_mut().enumerate();
                        codes
                            .filter(|(i, _)| !keeps(*i))
                            .for_each(|(_, code)| *code = 0);
                        format.map_or_else(|| value.clone(), |format| round(&value, format))
                    }
                }
            })
            .collect();
        if matches!(node.op, Op::Output(_)) {
            return operands;
        }
        for (output, mut result) in operator(node, &operands, &shapes).into_iter().enumerate() {
            if let Some(format) = node.formats.get(&format!("data_out_{output}")) {
                result = round(&result, format);
            }
            values.insert(
                Value {
                    node: id,
                    output: output as u16,
                },
                result,
            );
        }
    }
    Vec::new()
}

/// Whether a mask over samples keeps element `i` of a batch.
fn keeps(mask: &Tensor, i: usize) -> bool {
    mask.values()[i % mask.values().len()] != 0.0
}

impl Exact {
    /// The same values over a finer power of two.
    pub fn finer(&self, frac: i32) -> Self {
        let bits = (frac - self.frac) as u32;
        let up = |&code: &i128| {
            if code == 0 {
                0
            } else {
                code.checked_mul(1_i128.checked_shl(bits).unwrap()).unwrap()
            }
        };
        Self {
            shape: self.shape.clone(),
            codes: self.codes.iter().map(up).collect(),
            frac,
        }
    }

    /// One number.
    fn number(value: f64) -> Self {
        let mut frac = 0;
        while (value * 2_f64.powi(frac)).fract() != 0.0 {
            frac += 1;
        }
        Self {
            shape: Vec::new(),
            codes: vec![(value * 2_f64.powi(frac)) as i128],
            frac,
        }
    }

    /// Elements from a list of places.
    fn select(&self, shape: &[usize], places: impl Iterator<Item = usize>) -> Self {
        Self {
            shape: shape.to_vec(),
            codes: places.map(|at| self.codes[at]).collect(),
            frac: self.frac,
        }
    }

    /// The element at a position of a shape that this one broadcasts to.
    fn at(&self, position: &[usize]) -> i128 {
        let own = &position[position.len() - self.shape.len()..];
        let index = own.iter().zip(&self.shape).fold(0, |index, (&i, &size)| {
            index * size + if size == 1 { 0 } else { i }
        });
        self.codes[index]
    }
}

/// Every position of a shape, in row-major order.
pub fn positions(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in shape {
        all = all
            .into_iter()
            .flat_map(|p| (0..size).map(move |i| [p.clone(), vec![i]].concat()))
            .collect();
    }
    all
}

fn zip(a: &Exact, b: &Exact, shape: &[usize], frac: i32, f: impl Fn(i128, i128) -> i128) -> Exact {
    let codes = positions(shape)
        .iter()
        .map(|p| f(a.at(p), b.at(p)))
        .collect();
    Exact {
        shape: shape.to_vec(),
        codes,
        frac,
    }
}

fn sum(a: &Exact, b: &Exact, shape: &[usize], sign: i128) -> Exact {
    let frac = a.frac.max(b.frac);
    zip(&a.finer(frac), &b.finer(frac), shape, frac, |a, b| {
        a + sign * b
    })
}

fn product(a: &Exact, b: &Exact, shape: &[usize]) -> Exact {
    zip(a, b, shape, a.frac + b.frac, |a, b| a * b)
}

fn clamp(x: &Exact, lo: f64, hi: f64) -> Exact {
    let unit = 2_f64.powi(x.frac);
    let bound = |v: f64, none: i128| {
        if v.is_infinite() {
            none
        } else {
            (v * unit) as i128
        }
    };
    let (lo, hi) = (bound(lo, i128::MIN), bound(hi, i128::MAX));
    Exact {
        codes: x.codes.iter().map(|&code| code.clamp(lo, hi)).collect(),
        ..x.clone()
    }
}

/// Adds up groups of elements and divides by their number, a power of two.
fn mean(x: &Exact, shape: &[usize], count: usize, groups: &[Vec<usize>]) -> Exact {
    assert!(count.is_power_of_two());
    let codes = groups
        .iter()
        .map(|group| group.iter().map(|&at| x.codes[at]).sum())
        .collect();
    Exact {
        shape: shape.to_vec(),
        codes,
        frac: x.frac + count.ilog2() as i32,
    }
}

fn param(node: &Node, port: &str) -> Exact {
    let tensor = &node.params[port];
    encode(tensor.shape(), tensor.values(), &node.formats[port])
}

/// Scale and shift of a batch norm, by the definition of the float engine.
fn norm(node: &Node, eps: f64, x: &Exact, shape: &[usize]) -> Exact {
    let values = |port: &str| {
        node.params[port]
            .values()
            .iter()
            .map(|&v| f64::from(v))
            .collect::<Vec<f64>>()
    };
    let (gamma, beta, mean, var) = (
        values("weight"),
        values("bias"),
        values("running_mean"),
        values("running_var"),
    );
    let scale: Vec<f64> = gamma
        .iter()
        .zip(&var)
        .map(|(g, v)| g * (1.0 / (v + eps).sqrt()))
        .collect();
    let shift: Vec<f64> = (0..scale.len())
        .map(|c| beta[c] - mean[c] * scale[c])
        .collect();
    // The float nearest to the code nearest to the double, which is what floats compute with.
    let rounded = |values: &[f64], port: &str| {
        let mut rounded: Vec<f32> = values.iter().map(|&v| v as f32).collect();
        let shape = [values.len()];
        node.formats[port].round_doubles(|c| values[c], &shape, &mut rounded);
        rounded
    };
    let (scale, shift) = (rounded(&scale, "weight"), rounded(&shift, "bias"));
    let per_channel = |values: &[f32], port: &str| {
        let mut axes = vec![1; shape.len() - 1];
        axes[0] = values.len();
        Exact {
            shape: axes,
            ..encode(&[values.len()], values, &node.formats[port])
        }
    };
    sum(
        &product(x, &per_channel(&scale, "weight"), shape),
        &per_channel(&shift, "bias"),
        shape,
        1,
    )
}

fn linear(node: &Node, x: &Exact, shape: &[usize]) -> Exact {
    let weight = param(node, "weight");
    let (n, k) = (weight.shape[0], weight.shape[1]);
    let dot = |at: usize| {
        (0..k)
            .map(|i| x.codes[at / n * k + i] * weight.codes[at % n * k + i])
            .sum()
    };
    let len = shape.iter().product();
    let y = Exact {
        shape: shape.to_vec(),
        codes: (0..len).map(dot).collect(),
        frac: x.frac + weight.frac,
    };
    with_bias(node, y, |shape| {
        vec![1; shape.len() - 1]
            .into_iter()
            .chain([shape[shape.len() - 1]])
            .collect()
    })
}

fn with_bias(node: &Node, y: Exact, axes: impl Fn(&[usize]) -> Vec<usize>) -> Exact {
    if !node.params.contains_key("bias") {
        return y;
    }
    let bias = Exact {
        shape: axes(&y.shape),
        ..param(node, "bias")
    };
    sum(&y, &bias, &y.shape, 1)
}

fn matmul(a: &Exact, b: &Exact, shape: &[usize]) -> Exact {
    let k = a.shape[a.shape.len() - 1];
    let entry = |p: &Vec<usize>| {
        let (batch, place) = p.split_at(p.len() - 2);
        let term = |i: usize| {
            a.at(&[batch, &[place[0], i]].concat()) * b.at(&[batch, &[i, place[1]]].concat())
        };
        (0..k).map(term).sum()
    };
    Exact {
        shape: shape.to_vec(),
        codes: positions(shape).iter().map(entry).collect(),
        frac: a.frac + b.frac,
    }
}

fn index(shape: &[usize], position: &[usize]) -> usize {
    position
        .iter()
        .zip(shape)
        .fold(0, |index, (&i, &size)| index * size + i)
}

fn axis(dim: i64, rank: usize) -> usize {
    (if dim < 0 { dim + rank as i64 } else { dim }) as usize
}

/// Axis i of the result is axis `axes[i]` of x.
fn permute(x: &Exact, axes: &[usize], shape: &[usize]) -> Exact {
    let places = positions(shape).into_iter().map(|p| {
        let mut from = vec![0; p.len()];
        axes.iter().zip(&p).for_each(|(&axis, &i)| from[axis] = i);
        index(&x.shape, &from)
    });
    x.select(shape, places)
}

fn cat(operands: &[Exact], dim: usize, shape: &[usize]) -> Exact {
    let frac = operands.iter().map(|x| x.frac).max().unwrap();
    let aligned: Vec<Exact> = operands.iter().map(|x| x.finer(frac)).collect();
    let codes = positions(shape).into_iter().map(|mut p| {
        let mut part = 0;
        while p[dim] >= aligned[part].shape[dim] {
            p[dim] -= aligned[part].shape[dim];
            part += 1;
        }
        aligned[part].at(&p)
    });
    Exact {
        shape: shape.to_vec(),
        codes: codes.collect(),
        frac,
    }
}

fn getitem(op: &ir::ops::getitem::Getitem, x: &Exact, shape: &[usize]) -> Exact {
    let slices = op.parsed(&Shape::of(&x.shape)).unwrap();
    let sizes: Vec<usize> = slices.iter().map(|s| s.len.fixed().unwrap()).collect();
    let places = positions(&sizes).into_iter().map(|p| {
        let from: Vec<usize> = p.iter().zip(&slices).map(|(i, s)| i + s.start).collect();
        index(&x.shape, &from)
    });
    x.select(shape, places)
}

fn mean_axes(op: &ir::ops::reduce::Mean, x: &Exact, shape: &[usize]) -> Exact {
    let reduced = op.reduced(&Shape::of(&x.shape)).unwrap();
    let kept: Vec<usize> = x
        .shape
        .iter()
        .zip(&reduced)
        .map(|(&n, &r)| if r { 1 } else { n })
        .collect();
    let mut groups = vec![Vec::new(); kept.iter().product()];
    for (at, p) in positions(&x.shape).iter().enumerate() {
        let target: Vec<usize> = p
            .iter()
            .zip(&reduced)
            .map(|(&i, &r)| if r { 0 } else { i })
            .collect();
        groups[index(&kept, &target)].push(at);
    }
    mean(x, shape, groups[0].len(), &groups)
}

fn argmax(x: &Exact, shape: &[usize]) -> Exact {
    let classes = x.shape[x.shape.len() - 1];
    let place = |row: &[i128]| {
        let largest = row.iter().max().unwrap();
        row.iter().position(|code| code == largest).unwrap() as i128
    };
    Exact {
        shape: shape.to_vec(),
        codes: x.codes.chunks(classes).map(place).collect(),
        frac: 0,
    }
}

fn operator(node: &Node, operands: &[Exact], shapes: &[Vec<usize>]) -> Vec<Exact> {
    let (x, shape) = (&operands[0], &shapes[0]);
    let right = |scalar: Option<f64>| scalar.map_or_else(|| operands[1].clone(), Exact::number);
    let result = match &node.op {
        Op::Linear(_) => linear(node, x, shape),
        Op::Conv1d(_) | Op::Conv2d(_) => conv(node, x, shape),
        Op::BatchNorm1d(op) => norm(node, op.eps, x, shape),
        Op::BatchNorm2d(op) => norm(node, op.eps, x, shape),
        Op::Relu(_) => clamp(x, 0.0, f64::INFINITY),
        Op::Relu6(_) => clamp(x, 0.0, 6.0),
        Op::Hardtanh(op) => clamp(x, op.min_val, op.max_val),
        Op::Add(op) => sum(x, &right(op.scalar), shape, 1),
        Op::Sub(op) => sum(x, &right(op.scalar), shape, -1),
        Op::Mul(op) => product(x, &right(op.scalar), shape),
        Op::Div(op) => product(x, &Exact::number(op.scalar.unwrap().recip()), shape),
        Op::Matmul(_) | Op::Bmm(_) => matmul(x, &operands[1], shape),
        Op::Mean(op) => mean_axes(op, x, shape),
        Op::Argmax(_) => argmax(x, shape),
        Op::Transpose(op) => {
            let mut axes: Vec<usize> = (0..shape.len()).collect();
            axes.swap(axis(op.dim0, shape.len()), axis(op.dim1, shape.len()));
            permute(x, &axes, shape)
        }
        Op::Permute(op) => {
            let axes: Vec<usize> = op.dims.iter().map(|&dim| axis(dim, shape.len())).collect();
            permute(x, &axes, shape)
        }
        Op::Cat(op) => cat(operands, axis(op.dim, shape.len()), shape),
        Op::Getitem(op) => getitem(op, x, shape),
        Op::Chunk(op) => return chunk(axis(op.dim, shape.len()), x, shapes),
        Op::Identity(_) | Op::Dropout(_) | Op::Flatten(_) | Op::Reshape(_) | Op::View(_) => Exact {
            shape: shape.clone(),
            ..x.clone()
        },
        _ => pool(node, x, shape),
    };
    vec![result]
}

fn chunk(dim: usize, x: &Exact, shapes: &[Vec<usize>]) -> Vec<Exact> {
    let mut start = 0;
    let piece = |shape: &Vec<usize>| {
        let places = positions(shape).into_iter().map(|mut p| {
            p[dim] += start;
            index(&x.shape, &p)
        });
        let piece = x.select(shape, places);
        start += shape[dim];
        piece
    };
    shapes.iter().map(piece).collect()
}

/// The parameters of a graph as text, for messages.
pub fn show(graph: &Graph) -> String {
    let params = graph
        .parameters()
        .map(|(name, tensor)| format!("{name} = {:?}\n", tensor.values()));
    format!("{graph}\n{}", params.collect::<String>())
}
