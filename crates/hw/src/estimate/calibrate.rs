//! Calibration: random networks are synthesised, and a line is laid through their LUTs.

use super::{Features, Line, random_network};
use crate::print::verilog;
use crate::simulate::Scratch;
use crate::synth::{Area, Design, Target, synthesize};
use crate::tools::{ToolError, Toolbox};

/// A network that was measured.
struct Sample {
    features: Features,
    luts: f64,
}

/// Measures `networks` random networks of a seed for a target; `progress` gets each as it is done.
pub fn calibrate(
    tools: &Toolbox,
    target: &'static Target,
    (seed, networks): (u64, u64),
    mut progress: impl FnMut(u64, u64),
) -> Result<Line, ToolError> {
    let mut samples = Vec::new();
    let mut tool = String::new();
    for index in 0..networks {
        let (net, ports) = random_network(seed, index);
        let scratch = Scratch::new()?;
        let design = Design {
            target,
            top: "net",
            sources: vec![scratch.write("net.sv", verilog(&net, &ports))?],
        };
        let synthesis = synthesize(&design, tools, &scratch)?;
        let luts = Area::of(&synthesis.netlist("net")?).lut;
        tool = tools.identify(synthesis.tool).label();
        let features = Features::of(&net);
        samples.push(Sample {
            features,
            luts: luts as f64,
        });
        progress(index, luts);
    }
    Ok(line(target, tool, &samples))
}

/// The line through samples, with its errors.
fn line(target: &Target, tool: String, samples: &[Sample]) -> Line {
    let errors: Vec<f64> = (0..samples.len())
        .map(|left_out| unseen_error(samples, left_out))
        .collect();
    Line {
        target: target.name.to_owned(),
        tool,
        networks: samples.len() as u64,
        luts: fitted(samples, None),
        mean_error: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
        max_error: errors.into_iter().fold(0.0, f64::max),
    }
}

/// The relative error of a network that is predicted from all others.
fn unseen_error(samples: &[Sample], left_out: usize) -> f64 {
    let Sample { features, luts } = &samples[left_out];
    let costs = fitted(samples, Some(left_out));
    (features.dot(&costs) - luts).abs() / luts.max(1.0)
}

/// Costs of least squared relative error, none of them negative: a kind whose cost would be is left out and the rest fitted again.
fn fitted(samples: &[Sample], left_out: Option<usize>) -> Features {
    let used = samples
        .iter()
        .enumerate()
        .filter(|(k, _)| Some(*k) != left_out);
    let used: Vec<&Sample> = used.map(|(_, sample)| sample).collect();
    let mut kinds: Vec<usize> = (0..Features::COUNT)
        .filter(|kind| *kind != Features::REST)
        .collect();
    loop {
        let costs = least_squares(&used, &kinds);
        let negative = costs.iter().zip(&kinds).filter(|(cost, _)| **cost < 0.0);
        let worst = negative
            .min_by(|a, b| a.0.total_cmp(b.0))
            .map(|(_, kind)| *kind);
        let Some(worst) = worst else {
            let mut all = Features::default();
            all.0[Features::REST] = 1.0;
            let fitted = kinds.iter().zip(costs);
            fitted.for_each(|(kind, cost)| all.0[*kind] = cost);
            return all;
        };
        kinds.retain(|kind| *kind != worst);
    }
}

/// The normal equations of some kinds, each network weighed by its LUTs.
fn least_squares(samples: &[&Sample], kinds: &[usize]) -> Vec<f64> {
    let n = kinds.len();
    // A trace of the identity keeps a kind that no network has from dividing by zero.
    let mut matrix: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..=n).map(|j| if i == j { 1e-9 } else { 0.0 }).collect())
        .collect();
    for sample in samples {
        let weight = 1.0 / sample.luts.max(1.0);
        let row: Vec<f64> = kinds
            .iter()
            .map(|kind| sample.features.0[*kind] * weight)
            .collect();
        let luts = (sample.luts - sample.features.0[Features::REST]) * weight;
        for i in 0..n {
            for j in 0..n {
                matrix[i][j] += row[i] * row[j];
            }
            matrix[i][n] += row[i] * luts;
        }
    }
    solved(matrix)
}

/// The solution of a system whose matrix is symmetric and positive, by elimination; its right side is the last column.
fn solved(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for k in 0..n {
        let pivot = rows[k].clone();
        for row in rows.iter_mut().skip(k + 1) {
            let factor = row[k] / pivot[k];
            row.iter_mut()
                .zip(&pivot)
                .for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(counts: [f64; 4], luts: f64) -> Sample {
        let [a, b, c, d] = counts;
        Sample {
            features: Features([a, b, c, d, 0.0, 0.0, 0.0]),
            luts,
        }
    }

    #[test]
    fn a_line_is_found_again() {
        let costs = [1.0, 0.5, 0.25, 0.75];
        let counts = [
            [100.0, 10.0, 5.0, 1.0],
            [50.0, 40.0, 0.0, 9.0],
            [10.0, 80.0, 30.0, 2.0],
            [70.0, 7.0, 60.0, 30.0],
            [33.0, 44.0, 55.0, 66.0],
        ];
        let samples: Vec<Sample> = counts
            .iter()
            .map(|counts| {
                sample(
                    *counts,
                    counts
                        .iter()
                        .zip(costs)
                        .map(|(count, cost)| count * cost)
                        .sum(),
                )
            })
            .collect();
        let found = fitted(&samples, None);
        for (found, cost) in found.0.iter().zip(costs) {
            assert!((found - cost).abs() < 1e-4, "{found} {cost}");
        }
        assert!((0..5).all(|k| unseen_error(&samples, k) < 1e-4));
    }

    #[test]
    fn no_cost_is_negative() {
        let samples = [
            sample([100.0, 10.0, 0.0, 0.0], 90.0),
            sample([100.0, 20.0, 0.0, 0.0], 80.0),
            sample([50.0, 0.0, 0.0, 0.0], 50.0),
        ];
        let found = fitted(&samples, None);
        assert!(found.0.iter().all(|cost| *cost >= 0.0), "{found:?}");
        assert!(found.0[Features::SUM] > 0.7, "{found:?}");
    }
}
