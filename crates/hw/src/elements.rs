//! An integer program element by element: which elements of earlier steps, and which constants, one is computed from.

use engine::integer::{MatMul, Program, RoundMap, Source, Stage, pool_window};

/// An element of the value of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Element {
    /// The step.
    pub step: usize,
    /// The element's place in the step's value.
    pub at: usize,
}

/// The source of an element, before its stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// An element of a placeholder, encoded.
    Input,
    /// `Σ factor·element + offset`.
    Linear {
        /// Elements with their factors, none 0.
        terms: Vec<(Element, i64)>,
        /// The constant.
        offset: i64,
    },
    /// The largest of several.
    Max(Vec<Element>),
    /// The place of the largest of several, the first of equal ones.
    Argmax(Vec<Element>),
    /// `Σ element·element`.
    Products(Vec<[Element; 2]>),
}

impl Expression {
    /// The elements that are read.
    pub fn elements(&self) -> Vec<Element> {
        match self {
            Self::Input => Vec::new(),
            Self::Linear { terms, .. } => terms.iter().map(|term| term.0).collect(),
            Self::Max(elements) | Self::Argmax(elements) => elements.clone(),
            Self::Products(pairs) => pairs.iter().flatten().copied().collect(),
        }
    }
}

/// The source of element `i` of a step.
pub fn expression(program: &Program, step: usize, i: usize) -> Expression {
    let step = &program.steps[step];
    let element = |k: usize, at: usize| Element {
        step: step.inputs[k],
        at,
    };
    let linear = |terms: Vec<(Element, i64)>, offset: i64| Expression::Linear { terms, offset };
    match &step.source {
        Source::Encode { .. } => Expression::Input,
        Source::Constant(codes) => linear(Vec::new(), codes[i]),
        Source::Copy => linear(vec![(element(0, i), 1)], 0),
        Source::Gather(indices) => linear(vec![(element(0, indices[i]), 1)], 0),
        Source::Layer { rows, weights } => {
            let terms = rows.terms(weights, i).into_iter();
            let terms = terms.map(|(at, weight)| (element(0, at), weights.codes[weight]));
            let terms = terms.filter(|term| term.1 != 0).collect();
            linear(terms, weights.start[rows.column(weights, i)])
        }
        Source::Sum {
            indices,
            bits,
            subtract,
        } => {
            let sign = if *subtract { -1 } else { 1 };
            let terms =
                [(0, 1), (1, sign)].map(|(k, sign)| (element(k, indices[k][i]), sign << bits[k]));
            linear(terms.to_vec(), 0)
        }
        Source::Product { indices } => {
            Expression::Products(vec![[0, 1].map(|k| element(k, indices[k][i]))])
        }
        Source::Pool {
            windows,
            plane,
            is_max,
        } => {
            let all = pool_window(windows, *plane, i);
            let all = all.into_iter().map(|at| element(0, at));
            if *is_max {
                Expression::Max(all.collect())
            } else {
                linear(all.map(|own| (own, 1)).collect(), 0)
            }
        }
        Source::Total { targets } => {
            let own = targets
                .iter()
                .enumerate()
                .filter(|(_, target)| **target == i);
            linear(own.map(|(at, _)| (element(0, at), 1)).collect(), 0)
        }
        Source::Argmax { classes } => Expression::Argmax(
            (i * classes..(i + 1) * classes)
                .map(|at| element(0, at))
                .collect(),
        ),
        Source::Cat { parts } => {
            let total: usize = parts.iter().map(|part| part.run).sum();
            let (piece, mut rest, mut k) = (i / total, i % total, 0);
            while rest >= parts[k].run {
                rest -= parts[k].run;
                k += 1;
            }
            let at = piece * parts[k].run + rest;
            linear(vec![(element(k, at), 1 << parts[k].bits)], 0)
        }
        Source::MatMul(MatMul { m, k, n, pairs }) => {
            let (left, right) = pairs[i / (m * n)];
            let (row, column) = (i / n % m, i % n);
            let pair = |t: usize| {
                [
                    element(0, (left * m + row) * k + t),
                    element(1, (right * k + t) * n + column),
                ]
            };
            Expression::Products((0..*k).map(pair).collect())
        }
    }
}

/// A stage of one element.
#[derive(Clone, Debug, PartialEq)]
pub enum Map {
    /// A rounding.
    Round(RoundMap),
    /// `x·scale + offset`.
    Affine {
        /// The factor.
        scale: i64,
        /// The addend.
        offset: i64,
    },
    /// `min(max(x, lo), hi)`.
    Clamp {
        /// The smallest result.
        lo: i64,
        /// The largest result.
        hi: i64,
    },
    /// `values[x - first]`.
    Table {
        /// The code of the first value.
        first: i64,
        /// The results.
        values: Vec<i64>,
    },
}

/// The stages of element `i` of a step.
pub fn maps(program: &Program, step: usize, i: usize) -> Vec<Map> {
    let stages = program.steps[step].stages.iter();
    let map = |stage: &Stage| {
        let (channels, inner) = stage.channels();
        let c = i / inner % channels;
        match stage {
            Stage::Round { maps, .. } => Map::Round(maps[c]),
            Stage::Affine { scale, offset, .. } => Map::Affine {
                scale: scale[c],
                offset: offset[c],
            },
            Stage::Clamp { lo, hi } => Map::Clamp { lo: *lo, hi: *hi },
            Stage::Table { first, maps, .. } => Map::Table {
                first: *first,
                values: maps[c].clone(),
            },
        }
    };
    stages.map(map).collect()
}

/// For every step, true for the elements that the program's results depend on.
pub fn live(program: &Program) -> Vec<Vec<bool>> {
    let mut live: Vec<Vec<bool>> = program
        .steps
        .iter()
        .map(|step| vec![false; step.len()])
        .collect();
    for output in &program.outputs {
        live[output.step].fill(true);
    }
    for step in (0..program.steps.len()).rev() {
        for i in 0..live[step].len() {
            // Nothing behind a factor of zero is read.
            let is_zero = |map: &Map| matches!(map, Map::Affine { scale: 0, .. });
            if live[step][i] && !maps(program, step, i).iter().any(is_zero) {
                for element in expression(program, step, i).elements() {
                    live[element.step][element.at] = true;
                }
            }
        }
    }
    live
}

/// The codes of one row of floats, in the order of the ports' inputs; 0 where nobody reads.
pub fn input_codes(program: &Program, floats: &[&[f32]]) -> Vec<i64> {
    let encodes = program.steps.iter().filter_map(|step| match &step.source {
        Source::Encode { input, grids } => Some((step.len(), floats[*input], grids)),
        _ => None,
    });
    let codes = encodes.flat_map(|(n, values, grids)| {
        (0..n).map(move |i| grids.code(i, values[i], grids.point(i).frac_width))
    });
    codes.collect()
}
