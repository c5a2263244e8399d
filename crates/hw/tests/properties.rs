//! Single layers of random constants: sums are the matrix product, and every interval holds its values and reaches both ends.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::net::{Bounds, Builder, Cell, Interval, Net, Operation, Origin, Term};
use hw::solve::{Cache, Effort, Product, solve};
use ir::{Graph, Tensor, verify};
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

/// Three layers; the formats of the second and the third weight are those given.
fn layers(second: &str, third: &str) -> Program {
    let text = format!(
        "graph \"layers\" {{
          x: f32[N, 6] = placeholder
          a = linear(x: integer(6, 3)) {{ target = \"a\", in_features = 6, out_features = 7, weight: integer(5, 4), bias: integer(6, 4) }}
          ra = relu(a)
          b = linear(ra: integer(5, 3, signed = false)) {{ target = \"b\", in_features = 7, out_features = 7, weight: {second}, bias: integer(6, 4) }}
          rb = relu(b)
          c = linear(rb: integer(5, 3, signed = false)) {{ target = \"c\", in_features = 7, out_features = 3, weight: {third}, bias: integer(6, 4) }}
          return c
        }}"
    );
    let mut graph = Graph::parse(&text).unwrap();
    graph.initialize(7);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    Program::of(&verified, &state, 1).unwrap()
}

/// A layer whose format has changed is solved again, as are those whose operands have changed with it, and no others. The
/// netlist is that of a cache that knows nothing.
#[test]
fn only_layers_that_have_changed_are_solved_again() {
    let mut cache = Cache::default();
    let style = Style::Pipelined { levels: 2.2 };
    let wide = "integer(6, 5)";
    let narrow = "integer(3, 2)";
    for (second, third, solved) in [
        (wide, wide, 3),
        (wide, narrow, 4),
        (wide, wide, 4),
        (narrow, wide, 6),
        (narrow, narrow, 7),
        (wide, narrow, 7),
    ] {
        let program = layers(second, third);
        let cached = Emission::with(&program, style, Effort::Normal, &mut cache).unwrap();
        assert_eq!(cache.solved(), solved, "{second} {third}");
        let fresh = Emission::of(&program, style, Effort::Normal).unwrap();
        assert_eq!(cached.net, fresh.net, "{second} {third}");
    }
}

/// A masked element is 0 whatever a table before it holds: the table's operand is not computed, and 0 need not be in the table.
#[test]
fn masked_elements_need_no_table() {
    let text = "graph \"masked\" {
      x: f32[N, 2] = placeholder
      h = hardtanh(x: integer(6, 3)) { min_val = -4.0, max_val = -1.0 }
      t = tanh(h: integer(5, 2)) { data_out_0: integer(6, 5) }
      y = identity(t: integer(6, 5))
      return y
    }";
    let mut graph = Graph::parse(text).unwrap();
    let y = graph.find("y").unwrap();
    let mask = Tensor::new(vec![2], vec![0.0, 1.0]).unwrap();
    graph.node_mut(y).set_mask("data_in_0", mask);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    let emission = Emission::of(&program, Style::Combinational, Effort::Normal).unwrap();
    for x in -32..32_i64 {
        let floats = vec![0.0, x as f32 / 8.0];
        let expected = program.interpret(&[floats]).concat();
        assert_eq!(emission.evaluate(&[0, x]), expected, "{x}");
        assert_eq!(expected[0], 0);
    }
}
