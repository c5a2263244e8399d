//! From an integer program with one row to a netlist.
//!
//! Steps become cells element by element. Sums of the same elements are solved together; the constant that a rounding to the
//! nearest adds goes into their addend, and bounds before a rounding into its own.

mod stages;

use crate::elements::{Element, Expression, expression, live, maps};
use crate::net::{Builder, Interval, Net, NetError, Origin, Term};
use crate::ports::{Ports, packed};
use crate::solve::{Cache, Effort, Product};
use engine::integer::{Program, Source};
use std::collections::BTreeMap;
use thiserror::Error;

/// A network that has no netlist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LowerError {
    /// The program is one for several rows.
    #[error("the program has {0} rows, and hardware computes one")]
    Rows(usize),
    /// An element outside of the range that the program proves for its whole tensor.
    #[error("{node}[{element}] is within {} … {}, beyond the {} … {} of its tensor; please report this", .own.lo, .own.hi, .all.lo, .all.hi)]
    Range {
        /// The node of the graph.
        node: String,
        /// The element.
        element: usize,
        /// The interval of the element.
        own: Interval,
        /// That of the tensor.
        all: Interval,
    },
    /// A netlist that breaks a rule of netlists.
    #[error("{node}: a value of it {}; give its operands fewer bits", error.problem)]
    Net {
        /// The node of the graph.
        node: String,
        /// The rule.
        error: NetError,
    },
}

/// The netlist of a program, without registers, and the places of its inputs and results.
pub fn lower(program: &Program, effort: Effort) -> Result<(Net, Ports), LowerError> {
    lower_with(program, effort, &mut Cache::default())
}

/// The same, with products that were solved before.
pub fn lower_with(
    program: &Program,
    effort: Effort,
    cache: &mut Cache,
) -> Result<(Net, Ports), LowerError> {
    if program.rows != 1 {
        return Err(LowerError::Rows(program.rows));
    }
    let mut lowering = Lowering {
        program,
        effort,
        cache,
        live: live(program),
        net: Builder::default(),
        values: Vec::new(),
        inputs: Vec::new(),
    };
    for step in 0..program.steps.len() {
        lowering.step(step)?;
    }
    lowering.finish()
}

/// An element of an input: name, bits behind the point, interval.
type Input = (String, i32, i64, i64);

/// An element, the factors of its operands, its addend.
type Sum = (usize, Vec<i64>, i64);

struct Lowering<'a> {
    program: &'a Program,
    effort: Effort,
    cache: &'a mut Cache,
    live: Vec<Vec<bool>>,
    net: Builder,
    /// The terms of every step so far; none for elements that nobody reads.
    values: Vec<Vec<Option<Term>>>,
    inputs: Vec<Input>,
}

impl Lowering<'_> {
    fn step(&mut self, step: usize) -> Result<(), LowerError> {
        let own = &self.program.steps[step];
        let node = self.net.node(&own.node);
        let mut terms: Vec<Option<Term>> = vec![None; own.len()];
        if let Source::Encode { .. } = own.source {
            terms = self.encode(step, node);
        }
        // Sums over the same elements, to be solved together.
        let mut groups: BTreeMap<Vec<Element>, Vec<Sum>> = BTreeMap::new();
        let product = matches!(own.source, Source::Layer { .. } | Source::Total { .. });
        let live: Vec<usize> = (0..own.len()).filter(|&i| self.live[step][i]).collect();
        for i in live {
            let origin = Origin {
                node,
                element: Some(i as u32),
            };
            match expression(self.program, step, i) {
                Expression::Input => {}
                Expression::Linear { terms: own, offset } if !product => {
                    let (elements, factors): (Vec<Element>, Vec<i64>) = own.into_iter().unzip();
                    terms[i] = self
                        .sums(step, node, &elements, &[(i, factors, offset)])
                        .pop();
                }
                Expression::Linear { terms: own, offset } => {
                    let operands = self.operands(step, i, own);
                    let (elements, factors) = operands;
                    groups
                        .entry(elements)
                        .or_default()
                        .push((i, factors, offset));
                }
                Expression::Max(elements) => terms[i] = Some(self.max(&elements, origin)),
                Expression::Argmax(elements) => terms[i] = Some(self.argmax(&elements, origin)),
                Expression::Products(pairs) => terms[i] = Some(self.products(&pairs, origin)),
            }
        }
        for (elements, members) in groups {
            let places: Vec<usize> = members.iter().map(|member| member.0).collect();
            for (i, term) in places
                .into_iter()
                .zip(self.sums(step, node, &elements, &members))
            {
                terms[i] = Some(term);
            }
        }
        for (i, term) in terms.iter_mut().enumerate() {
            let origin = Origin {
                node,
                element: Some(i as u32),
            };
            let added = self.half(step, i);
            *term = term.map(|source| {
                let staged = self.stages(step, i, source, added, origin);
                self.net.mark((step, i), staged.source, staged.result);
                staged.result
            });
        }
        let all = own.range();
        for (element, term) in terms.iter().enumerate() {
            let Some(Interval { lo, hi }) = term.map(|term| self.net.interval(term)) else {
                continue;
            };
            if i128::from(lo) < all.min || i128::from(hi) > all.max {
                return Err(LowerError::Range {
                    node: own.node.clone(),
                    element,
                    own: Interval { lo, hi },
                    all: Interval::wide(all.min, all.max),
                });
            }
        }
        self.values.push(terms);
        Ok(())
    }

    /// All elements that sums of a product may read, so that those with zeros among their factors are solved with the others.
    fn operands(
        &self,
        step: usize,
        i: usize,
        terms: Vec<(Element, i64)>,
    ) -> (Vec<Element>, Vec<i64>) {
        let Source::Layer { rows, weights } = &self.program.steps[step].source else {
            return terms.into_iter().unzip();
        };
        let operand = self.program.steps[step].inputs[0];
        let all = rows.terms(weights, i).into_iter();
        all.map(|(at, weight)| (Element { step: operand, at }, weights.codes[weight]))
            .unzip()
    }

    /// Sums of the same elements. Each holds the constant of its first rounding.
    fn sums(&mut self, step: usize, node: u32, elements: &[Element], members: &[Sum]) -> Vec<Term> {
        let n = elements.len();
        let mut bias: Vec<i64> = members
            .iter()
            .map(|member| member.2 + self.half(step, member.0))
            .collect();
        let mut inputs: Vec<Term> = Vec::new();
        let mut columns: Vec<usize> = Vec::new();
        for (column, element) in elements.iter().enumerate() {
            let Some(term) = self.values[element.step][element.at] else {
                continue;
            };
            if let Some(value) = self.net.net().constant(term.cell) {
                for (bias, member) in bias.iter_mut().zip(members) {
                    *bias += member.1[column] * (value << term.shift);
                }
            } else {
                inputs.push(term);
                columns.push(column);
            }
        }
        debug_assert!(members.iter().all(|member| member.1.len() == n));
        let weights = members
            .iter()
            .flat_map(|member| columns.iter().map(|&column| member.1[column]));
        let weights: Vec<i64> = weights.collect();
        let places: Vec<u32> = members.iter().map(|member| member.0 as u32).collect();
        let product = Product {
            inputs: &inputs,
            weights: &weights,
            bias: &bias,
            elements: &places,
            node,
        };
        self.cache.solve(&mut self.net, &product, self.effort)
    }

    /// The constant that the first rounding of an element adds, if nothing but bounds lies before it.
    fn half(&self, step: usize, i: usize) -> i64 {
        let is_linear = !matches!(
            self.program.steps[step].source,
            Source::Encode { .. }
                | Source::Argmax { .. }
                | Source::Pool { is_max: true, .. }
                | Source::Product { .. }
                | Source::MatMul(_)
        );
        if is_linear {
            stages::first_round(&maps(self.program, step, i)).map_or(0, stages::half)
        } else {
            0
        }
    }

    fn encode(&mut self, step: usize, node: u32) -> Vec<Option<Term>> {
        let own = &self.program.steps[step];
        let Source::Encode { input, grids } = &own.source else {
            return Vec::new();
        };
        let name = &self.program.inputs[*input].name;
        let frac = own.ranges[0].frac;
        let element = |i: usize| {
            let point = grids.point(i);
            let (lo, hi) = (point.min as i64, point.max as i64);
            let lift = frac.saturating_sub(point.frac_width).clamp(0, 63) as u32;
            let place = self.inputs.len() as u32;
            let is_live = self.live[step][i] && (lo, hi) != (0, 0);
            let (min, max) = if is_live { (lo, hi) } else { (0, 0) };
            self.inputs
                .push((format!("{name}[{i}]"), point.frac_width, min, max));
            let origin = Origin {
                node,
                element: Some(i as u32),
            };
            let term = if is_live {
                self.net.input(place, Interval { lo, hi }, origin)
            } else {
                self.net.constant(0, origin)
            };
            Some(Term {
                shift: term.shift + lift,
                ..term
            })
        };
        (0..own.len()).map(element).collect()
    }

    fn value(&mut self, element: Element, origin: Origin) -> Term {
        let value = self.values[element.step][element.at];
        value.unwrap_or_else(|| self.net.constant(0, origin))
    }

    /// The largest of several, by a tree.
    fn max(&mut self, elements: &[Element], origin: Origin) -> Term {
        let mut open: Vec<Term> = elements
            .iter()
            .map(|&element| self.value(element, origin))
            .collect();
        while open.len() > 1 {
            let pairs = open.chunks(2);
            let larger = pairs.map(|pair| match *pair {
                [a, b] => self.net.max(a, b, origin),
                _ => pair[0],
            });
            open = larger.collect();
        }
        open.pop().unwrap_or_else(|| self.net.constant(0, origin))
    }

    /// The place of the largest of several, by a tree of places with their values.
    fn argmax(&mut self, elements: &[Element], origin: Origin) -> Term {
        let mut open: Vec<(Term, Term)> = Vec::with_capacity(elements.len());
        for (place, &element) in elements.iter().enumerate() {
            let place = self.net.constant(place as i64, origin);
            open.push((place, self.value(element, origin)));
        }
        while open.len() > 1 {
            let pairs = open.chunks(2);
            let larger = pairs.map(|pair| match *pair {
                [a, b] => {
                    let is_less = self.net.less(a.1, b.1, origin);
                    (
                        self.net.mux(is_less, a.0, b.0, origin),
                        self.net.max(a.1, b.1, origin),
                    )
                }
                _ => pair[0],
            });
            open = larger.collect();
        }
        open.pop()
            .map_or_else(|| self.net.constant(0, origin), |last| last.0)
    }

    fn products(&mut self, pairs: &[[Element; 2]], origin: Origin) -> Term {
        let mut products = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let [a, b] = pair.map(|element| self.value(element, origin));
            products.push(self.product(a, b, origin));
        }
        self.scaled(&products, &vec![1; products.len()], 0, origin)
    }

    fn product(&mut self, a: Term, b: Term, origin: Origin) -> Term {
        let constant = |net: &Builder, term: Term| {
            net.net()
                .constant(term.cell)
                .map(|value| value << term.shift)
        };
        match (constant(&self.net, a), constant(&self.net, b)) {
            (Some(factor), _) => self.scaled(&[b], &[factor], 0, origin),
            (None, Some(factor)) => self.scaled(&[a], &[factor], 0, origin),
            (None, None) => self.net.multiply(a, b, origin),
        }
    }

    /// `Σ factor·term + offset`.
    fn scaled(&mut self, terms: &[Term], factors: &[i64], offset: i64, origin: Origin) -> Term {
        let product = Product {
            inputs: terms,
            weights: factors,
            bias: &[offset],
            elements: &[origin.element.unwrap_or(0)],
            node: origin.node,
        };
        self.cache
            .solve(&mut self.net, &product, self.effort)
            .remove(0)
    }

    fn finish(mut self) -> Result<(Net, Ports), LowerError> {
        let mut outputs = Vec::new();
        let mut elements = Vec::new();
        for (k, output) in self.program.outputs.iter().enumerate() {
            let node = self.net.node(&self.program.steps[output.step].node);
            for (i, term) in self.values[output.step].clone().into_iter().enumerate() {
                let origin = Origin {
                    node,
                    element: Some(i as u32),
                };
                let term = term.unwrap_or_else(|| self.net.constant(0, origin));
                let Interval { lo, hi } = self.net.interval(term);
                let name = if self.program.outputs.len() == 1 {
                    "y".to_owned()
                } else {
                    format!("y{k}")
                };
                elements.push((format!("{name}[{i}]"), output.range.frac, lo, hi));
                outputs.push(term);
            }
        }
        let net = self.net.finish(outputs);
        let ports = Ports {
            inputs: packed(self.inputs),
            outputs: packed(elements),
            latency: 0,
        };
        net.verify(ports.inputs.len()).map_err(|error| {
            let cell = error.cell.and_then(|cell| net.cells.get(cell));
            let node = cell.map_or_else(String::new, |cell| {
                net.nodes[cell.origin.node as usize].clone()
            });
            LowerError::Net { node, error }
        })?;
        Ok((net, ports))
    }
}
