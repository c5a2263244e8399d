//! `jsc-sim`: jets drawn from the statistics of simulated ones.
//!
//! For every class the facts hold quantiles of each standardised feature, and the Cholesky factor `L` of the
//! correlation between the features once each is made Gaussian. A row: the class uniform, `z = L·n` with `n` standard
//! normal, `u = Φ(z)`, each feature by linear interpolation of its quantiles at `u`. Row `k` depends on the seed and
//! on `k` alone.

use crate::dataset::{Dataset, Info, Rows};
use crate::open::Request;
use crate::prepare;
use random::Random;
use serde::Deserialize;

const N_TRAIN: usize = 100_000;
const N_TEST: usize = 20_000;

#[derive(Deserialize)]
struct Facts {
    features: Vec<String>,
    probabilities: Vec<f64>,
    class: Vec<ClassFacts>,
}

#[derive(Deserialize)]
struct ClassFacts {
    /// For each feature.
    quantiles: Vec<Vec<f64>>,
    /// Lower triangular.
    cholesky: Vec<Vec<f64>>,
}

/// Draws the rows.
pub(crate) fn load(request: &Request) -> Dataset {
    let facts = facts();
    let seed = request.options.seed;
    let rows = draw(&facts, seed, N_TRAIN + N_TEST);
    let info = Info {
        sample_shape: vec![facts.features.len()],
        features: facts.features,
        ..request.generated_info()
    };
    let parts = prepare::split_given(N_TRAIN, N_TEST);
    prepare::assemble(info, rows, &parts, request.options.val_split)
}

fn facts() -> Facts {
    serde_json::from_str(include_str!("jsc_sim_facts.json"))
        .expect("the built-in facts are as a test reads them")
}

fn draw(facts: &Facts, seed: u64, n_rows: usize) -> Rows {
    let width = facts.features.len();
    let random = Random::new(seed, "jsc-sim");
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    let mut normal = vec![0.0; width];
    for row in 0..n_rows {
        let random = random.at(row as u64);
        let label =
            ((u128::from(random.bits(width as u64)) * facts.class.len() as u128) >> 64) as usize;
        for (k, normal) in (0..).zip(&mut normal) {
            *normal = f64::from(random.normal(k));
        }
        let class = &facts.class[label];
        for (factor, quantiles) in class.cholesky.iter().zip(&class.quantiles) {
            let z: f64 = factor.iter().zip(&normal).map(|(l, n)| l * n).sum();
            values.push(interpolate(&facts.probabilities, quantiles, normal_cdf(z)) as f32);
        }
        labels.push(label as u32);
    }
    Rows {
        values,
        labels,
        width,
    }
}

/// The value at `u` of the broken line through (probability, quantile).
fn interpolate(probabilities: &[f64], quantiles: &[f64], u: f64) -> f64 {
    let last = probabilities.len() - 2;
    let bin = probabilities[1..=last].iter().filter(|&&p| p <= u).count();
    let t = (u - probabilities[bin]) / (probabilities[bin + 1] - probabilities[bin]);
    quantiles[bin] + t.clamp(0.0, 1.0) * (quantiles[bin + 1] - quantiles[bin])
}

/// The distribution function of the standard normal, within 7.5e-8 (Abramowitz and Stegun 26.2.17).
fn normal_cdf(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if z.is_sign_negative() {
        tail
    } else {
        1.0 - tail
    }
}
