//! How fast integers run: 16-64-32-32-5 with batch norm and relu, batch 256, one thread, against the float engine.
//!
//! The best of many short interleaved rounds, which other work on the machine seldom spoils all: `cargo run --release --example integer_rate`.
#![expect(clippy::print_stdout, reason = "an example prints what it measured")]

use engine::{Input, IntegerPlan, Plan, PlanOptions, Pool, State, compile};
use format::Format;
use ir::{Graph, Op, verify};
use random::Random;
use std::error::Error;
use std::time::Instant;

const ROWS: usize = 256;
const ROUNDS: usize = 200;
const RUNS: usize = 20;
const NETWORK: &str = include_str!("../../../benches/networks/mlp.mg");

/// The network without norms: what is left when they are folded into the weights.
const FOLDED: &str = "graph \"folded\" {
  x: f32[N, 16] = placeholder
  l1 = linear(x) { target = \"0\", in_features = 16, out_features = 64 }
  r1 = relu(l1) { target = \"1\" }
  l2 = linear(r1) { target = \"2\", in_features = 64, out_features = 32 }
  r2 = relu(l2) { target = \"3\" }
  l3 = linear(r2) { target = \"4\", in_features = 32, out_features = 32 }
  r3 = relu(l3) { target = \"5\" }
  l4 = linear(r3) { target = \"6\", in_features = 32, out_features = 5 }
  return l4
}";

fn main() -> Result<(), Box<dyn Error>> {
    let x: Vec<f32> = (0..ROWS as u64 * 16)
        .map(|k| Random::new(1, "x").normal(k))
        .collect();
    let linear: &[(&str, &str)] = &[
        ("linear", "data_in_0"),
        ("linear", "weight"),
        ("linear", "bias"),
    ];
    let norm: &[(&str, &str)] = &[("batch_norm1d", "weight"), ("batch_norm1d", "bias")];
    let rounded: &[(&str, &str)] = &[("batch_norm1d", "data_in_0")];
    let cases = [
        ("batch norm exact", NETWORK, [linear, norm].concat()),
        (
            "batch norm rounded",
            NETWORK,
            [linear, norm, rounded].concat(),
        ),
        ("batch norm folded", FOLDED, linear.to_vec()),
    ];
    println!("µs for {ROWS} rows: float, float with formats, integer, float / integer");
    for (name, text, ports) in cases {
        let plain = graph(text, &[])?;
        let formats = graph(text, &ports)?;
        let [float, rounded, integer] = measure(&plain, &formats, &x)?;
        println!(
            "{name:20} {float:8.2} {rounded:8.2} {integer:8.2} {:8.2}×",
            float / integer
        );
    }
    for report in integer_plan(&graph(NETWORK, &[linear, norm].concat())?)?.describe() {
        println!("  {report}");
    }
    Ok(())
}

fn graph(text: &str, ports: &[(&str, &str)]) -> Result<Graph, Box<dyn Error>> {
    let mut graph = Graph::parse(text)?;
    graph.initialize(1);
    let ids: Vec<_> = graph
        .iter()
        .filter(|(_, n)| !matches!(n.op, Op::Output(_)))
        .map(|(id, _)| id)
        .collect();
    for id in ids {
        let node = graph.node_mut(id);
        for (op, port) in ports {
            if node.op.name() == *op {
                node.formats
                    .insert((*port).to_owned(), Format::parse("integer(8, 4)")?);
            }
        }
    }
    Ok(graph)
}

fn integer_plan(graph: &Graph) -> Result<IntegerPlan, Box<dyn Error>> {
    let verified = verify(graph)?;
    Ok(IntegerPlan::compile(
        &verified,
        &State::new(&verified)?,
        ROWS,
    )?)
}

struct FloatPlan {
    plan: Plan,
    state: State,
    pool: Pool,
}

impl FloatPlan {
    fn new(graph: &Graph) -> Result<Self, Box<dyn Error>> {
        let verified = verify(graph)?;
        let state = State::new(&verified)?;
        let plan = compile(&verified, &state, PlanOptions::eval(ROWS))?;
        Ok(Self {
            plan,
            state,
            pool: Pool::new(1),
        })
    }

    fn run(&mut self, x: &[f32]) -> Result<(), Box<dyn Error>> {
        Ok(self
            .plan
            .forward(&mut self.state, &[Input::F32(x)], &self.pool)?)
    }
}

/// µs per batch: float, float with formats, integer.
fn measure(plain: &Graph, formats: &Graph, x: &[f32]) -> Result<[f64; 3], Box<dyn Error>> {
    let (mut float, mut rounded) = (FloatPlan::new(plain)?, FloatPlan::new(formats)?);
    let mut integer = integer_plan(formats)?;
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        let spent = [
            time(|| float.run(x))?,
            time(|| rounded.run(x))?,
            time(|| Ok(integer.run(&[Input::F32(x)])?))?,
        ];
        for (best, spent) in best.iter_mut().zip(spent) {
            *best = best.min(spent);
        }
    }
    Ok(best)
}

fn time(mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    for _ in 0..RUNS {
        work()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / RUNS as f64)
}
