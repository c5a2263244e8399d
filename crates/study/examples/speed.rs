//! How long samplers take: `cargo run --release -p study --example speed`.
//!
//! For spaces of 20 parameters of one kind, the time that the sampler adds to a trial after 1000 finished ones, and how
//! many points a second random search proposes.
#![expect(clippy::print_stdout, reason = "the output is the purpose")]

use std::sync::Arc;
use std::time::Instant;

use study::{
    Direction, Distribution, Next, Outcome, Parameter, SAMPLERS, SamplerContext, Space, Study,
};

const FINISHED: u64 = 1000;
const TIMED: u64 = 200;

fn main() {
    let kinds = [
        ("20 choices of 4", Distribution::categorical(0..4)),
        ("20 integers 2..16", Distribution::int(2, 16)),
        ("20 integers 0..1000", Distribution::int(0, 1000)),
        ("20 reals", Distribution::float(0.0, 1.0)),
    ];
    for (kind, distribution) in kinds {
        let space = Arc::new(space(&distribution));
        for entry in SAMPLERS {
            let objectives = if entry.name.starts_with("nsga") { 2 } else { 1 };
            for objectives in [objectives, 2] {
                let context = SamplerContext {
                    space: space.clone(),
                    objectives,
                    seed: 0,
                };
                let Ok(sampler) = (entry.defaults)().build(context) else {
                    continue;
                };
                let directions = vec![Direction::Minimize; objectives];
                let study = Study::new(space.clone(), sampler, directions, FINISHED + TIMED);
                let micros = time_per_trial(study.expect("there are objectives"), objectives);
                println!(
                    "{kind:20} {:8} {objectives} objectives {micros:9.1} µs a trial",
                    entry.name
                );
                if objectives == 2 {
                    break;
                }
            }
        }
    }
}

fn time_per_trial(mut study: Study, objectives: usize) -> f64 {
    let mut started = Instant::now();
    while let Next::Trial { number, point } = study.ask() {
        if number == FINISHED {
            started = Instant::now();
        }
        let wave = |k: usize| {
            let space = study.space();
            let places = space.parameters().iter().zip(point.coordinates());
            let places = places.filter_map(|(p, c)| c.map(|c| p.distribution.place(c)));
            places
                .enumerate()
                .map(|(at, x)| (x * (1.0 + (at + k) as f64 % 3.0)).sin())
                .sum()
        };
        let values = (0..objectives).map(wave).collect();
        study
            .tell(number, Outcome::complete(values))
            .expect("the trial runs");
    }
    started.elapsed().as_secs_f64() * 1e6 / TIMED as f64
}

fn space(distribution: &Distribution) -> Space {
    let parameters = (0..20).map(|k| Parameter::new(format!("x{k}"), distribution.clone()));
    Space::new(parameters.collect()).expect("the space is valid")
}
