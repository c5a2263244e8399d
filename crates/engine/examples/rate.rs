//! Rows per second of one network, for profiling: `rate FILE.mg ROWS CLASSES train|eval SECONDS`.

use engine::{Input, Network, Optimizer, OptimizerKind};
use ir::{Graph, Random};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let source = std::fs::read_to_string(&args[1]).unwrap();
    let (rows, classes): (usize, u64) = (args[2].parse().unwrap(), args[3].parse().unwrap());
    let train = args[4] == "train";
    let seconds: f64 = args[5].parse().unwrap();
    let mut graph = Graph::parse(&source).unwrap();
    graph.initialize(0);
    let width: usize = match &graph.nodes()[0].op {
        ir::Op::Placeholder(p) => p.shape.bind(1).unwrap().iter().product(),
        _ => panic!(),
    };
    let mut net = Network::new(graph, 1).unwrap();
    let r = Random::new(1, "x");
    let batches = 64;
    let x: Vec<f32> = (0..batches * rows * width)
        .map(|k| r.normal(k as u64))
        .collect();
    let y: Vec<u32> = (0..batches * rows)
        .map(|k| (r.bits(k as u64) % classes) as u32)
        .collect();
    let mut opt = Optimizer::new(OptimizerKind::Adam { weight_decay: 0.0 }, 1e-3, net.state());
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let mut n = 0;
        while start.elapsed().as_secs_f64() < seconds {
            for b in 0..batches {
                let xb = [Input::F32(&x[b * rows * width..(b + 1) * rows * width])];
                if train {
                    net.train_step(&xb, &y[b * rows..(b + 1) * rows], rows, &mut opt)
                        .unwrap();
                } else {
                    net.run(engine::PlanOptions::eval(rows), &xb).unwrap();
                }
                n += 1;
            }
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(n));
    }
    println!(
        "{} {}: {:.2} us/step, {:.0} rows/s",
        args[1],
        args[4],
        best * 1e6,
        rows as f64 / best
    );
}
