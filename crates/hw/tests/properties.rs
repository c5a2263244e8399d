//! Single layers of random constants: sums are the matrix product, and every interval holds its values and reaches both ends.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use hw::net::{Bounds, Builder, Cell, Interval, Net, Operation, Origin, Term};
use hw::solve::{Effort, Product, solve};
use random::Random;

/// Numbers drawn one after the other.
struct Draws(Random, u64);

impl Draws {
    fn within(&mut self, Interval { lo, hi }: Interval) -> i64 {
        self.1 += 1;
        lo + (self.0.bits(self.1) % (hi - lo + 1) as u64) as i64
    }

    fn up_to(&mut self, hi: i64) -> i64 {
        self.within(Interval { lo: 0, hi })
    }
}

/// A layer: intervals of its inputs, a row of weights and an addend for each result, and the rounding behind them.
struct Layer {
    inputs: Vec<Interval>,
    rows: Vec<Vec<i64>>,
    bias: Vec<i64>,
    shift: i32,
    ties: bool,
    bounds: Interval,
}

impl Layer {
    fn random(seed: u64) -> Self {
        let mut draws = Draws(Random::new(seed, "single layers"), 0);
        let inputs: Vec<Interval> = (0..=draws.up_to(8)).map(|_| interval(&mut draws)).collect();
        let largest = (1 << draws.up_to(7)) - 1;
        let weights = Interval {
            lo: -largest,
            hi: largest,
        };
        let zeros = draws.up_to(80);
        let mut weight = || {
            let value = draws.within(weights);
            if draws.up_to(99) < zeros { 0 } else { value }
        };
        let mut rows: Vec<Vec<i64>> = Vec::new();
        for _ in 0..9 {
            rows.push(inputs.iter().map(|_| weight()).collect());
        }
        let bias = (0..rows.len()).map(|_| draws.up_to(60) - 30).collect();
        let lo = draws.up_to(40) - 40;
        Self {
            inputs,
            rows,
            bias,
            shift: draws.up_to(6) as i32 - 2,
            ties: draws.up_to(1) == 1,
            bounds: Interval {
                lo,
                hi: lo + draws.up_to(200),
            },
        }
    }

    /// The netlist: the sums, then the rounded sums.
    fn net(&self, effort: Effort) -> Net {
        let mut net = Builder::default();
        let node = net.node("layer");
        let origin = |element| Origin {
            node,
            element: Some(element),
        };
        let inputs: Vec<Term> = (0..)
            .zip(&self.inputs)
            .map(|(i, own)| net.input(i, *own, origin(i)))
            .collect();
        let elements: Vec<u32> = (0..self.rows.len() as u32).collect();
        let product = Product {
            inputs: &inputs,
            weights: &self.rows.concat(),
            bias: &self.bias,
            elements: &elements,
            node,
        };
        let sums = solve(&mut net, &product, effort);
        let Interval { lo, hi } = self.bounds;
        let rounded = sums.iter().zip(0..).map(|(sum, element)| {
            let bounds = Bounds::Saturate { lo, hi };
            net.requant(*sum, self.shift, self.ties, bounds, origin(element))
        });
        let rounded: Vec<Term> = rounded.collect();
        net.finish(sums.into_iter().chain(rounded).collect())
    }

    /// The sums and the rounded sums, by the definition.
    fn results(&self, x: &[i64]) -> Vec<i64> {
        let sum = |(row, bias): (&Vec<i64>, &i64)| {
            bias + row.iter().zip(x).map(|(w, x)| w * x).sum::<i64>()
        };
        let sums: Vec<i64> = self.rows.iter().zip(&self.bias).map(sum).collect();
        let rounded = sums.iter().map(|&sum| {
            let step = 1_i64 << self.shift.max(0);
            let floor = (sum << (-self.shift).max(0)).div_euclid(step);
            let is_tie = self.ties && self.shift > 0 && sum.rem_euclid(step) == 0;
            let even = if is_tie { floor & !1 } else { floor };
            even.clamp(self.bounds.lo, self.bounds.hi)
        });
        let rounded: Vec<i64> = rounded.collect();
        [sums, rounded].concat()
    }
}

/// An interval around 0 and 1, with or without negative values.
fn interval(draws: &mut Draws) -> Interval {
    let bits = draws.up_to(5);
    let lo = -(draws.up_to(1) << bits);
    Interval {
        lo,
        hi: (1 << bits) + draws.up_to(2),
    }
}

/// The values of all cells.
fn cells(net: &Net, x: &[i64]) -> Vec<i64> {
    let all = net.iter().map(|(cell, _)| Term { cell, shift: 0 });
    let whole = Net {
        outputs: all.collect(),
        ..net.clone()
    };
    whole.evaluate(x.len(), x)
}

/// Inputs at which a cell, which never decreases with what it rounds, is smallest and largest. Its slopes are seen from 0.
fn ends(layer: &Layer, slopes: &[i64]) -> [Vec<i64>; 2] {
    let at = |largest: bool| {
        let inputs = layer.inputs.iter().zip(slopes);
        let end = |(own, slope): (&Interval, &i64)| {
            if (*slope > 0) == largest {
                own.hi
            } else {
                own.lo
            }
        };
        inputs.map(end).collect()
    };
    [at(false), at(true)]
}

#[test]
fn sums_are_the_matrix_product_within_intervals_whose_ends_are_reached() {
    let efforts = [Effort::Fast, Effort::Normal, Effort::Best { seed: 5 }];
    for seed in 0..60 {
        let layer = Layer::random(seed);
        let net = layer.net(efforts[seed as usize % 3]);
        let n = layer.inputs.len();
        assert_eq!(
            Net::from_json(&net.to_json(), Some(n)).as_ref(),
            Ok(&net),
            "seed {seed}"
        );
        let mut draws = Draws(Random::new(seed, "rows"), 0);
        for _ in 0..50 {
            let x: Vec<i64> = layer.inputs.iter().map(|own| draws.within(*own)).collect();
            assert_eq!(
                net.evaluate(n, &x),
                layer.results(&x),
                "seed {seed} at {x:?}"
            );
            for ((id, cell), value) in net.iter().zip(cells(&net, &x)) {
                let is_inside = cell.interval.lo <= value && value <= cell.interval.hi;
                assert!(is_inside, "seed {seed}: cell {id:?} is {value} at {x:?}");
            }
        }
        reached(&layer, &net, seed);
    }
}

/// The ends of all sums, and of the rounded results, are values at some input.
fn reached(layer: &Layer, net: &Net, seed: u64) {
    let n = layer.inputs.len();
    let zero = cells(net, &vec![0; n]);
    let units: Vec<Vec<i64>> = (0..n)
        .map(|i| cells(net, &(0..n).map(|k| i64::from(k == i)).collect::<Vec<_>>()))
        .collect();
    let is_sum = |cell: &Cell| {
        let operation = &cell.operation;
        !matches!(
            operation,
            Operation::Requant { .. } | Operation::Clamp { .. }
        )
    };
    for (id, cell) in net.iter().filter(|(_, cell)| is_sum(cell)) {
        let at = id.index();
        let slopes: Vec<i64> = units.iter().map(|unit| unit[at] - zero[at]).collect();
        let got = ends(layer, &slopes).map(|x| cells(net, &x)[at]);
        assert_eq!(
            got,
            [cell.interval.lo, cell.interval.hi],
            "seed {seed}: cell {id:?}"
        );
    }
    let rounded = &net.outputs[layer.rows.len()..];
    for (row, output) in layer.rows.iter().zip(rounded) {
        let at = net.outputs.iter().position(|own| own == output).unwrap();
        let results = ends(layer, row).map(|x| net.evaluate(n, &x)[at]);
        let Interval { lo, hi } = net.output_interval(*output);
        assert_eq!(results, [lo, hi], "seed {seed}");
    }
}
