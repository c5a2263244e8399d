//! Problems in which a parameter exists only where another has some choice.

use study::Parameter;

use super::{Numbers, Problem, choices, float, int, parameter, when};

const SAMPLERS: &[&str] = &["random", "tpe", "nsgaii"];

/// All of them.
pub const PROBLEMS: &[Problem] = &[
    Problem::new("formats", &[60, 200], SAMPLERS)
        .over(layers, |x| vec![rounding_loss(x) + 0.02 * bits(x)]),
    Problem::new("formats_bits", &[60, 200], SAMPLERS)
        .over(layers, |x| vec![rounding_loss(x), bits(x)])
        .beyond(&[1.0, 16.0]),
    Problem::new("nested", &[60, 200], SAMPLERS).over(branches, |x| vec![branch_loss(x)]),
    Problem::new("nested_cost", &[60, 200], SAMPLERS)
        .over(branches, |x| vec![branch_loss(x), branch_cost(x)])
        .beyond(&[3.0, 3.0]),
];

const LAYERS: usize = 4;
const KEYS: usize = 5;

/// A format for each layer: fixed point with its two widths, floating point with its two, or none.
pub(super) fn layers() -> Vec<Parameter> {
    let layer = |k: usize| {
        let at = KEYS * k;
        [
            parameter(at, choices(3)),
            when(at, 0, parameter(at + 1, int(2, 10))),
            when(at, 0, parameter(at + 2, int(0, 9))),
            when(at, 1, parameter(at + 3, int(3, 10))),
            when(at, 1, parameter(at + 4, int(1, 5))),
        ]
    };
    (0..LAYERS).flat_map(layer).collect()
}

/// Loss of accuracy: what lies between two values of the format, and what is beyond them. Layers differ in sensitivity,
/// in the bits before the point and in the exponents that they need.
pub(super) fn rounding_loss(x: &Numbers) -> f64 {
    let layer = |k: usize| {
        let [format, width, frac, mini_width, exponent] =
            [0, 1, 2, 3, 4].map(|key| x.0[KEYS * k + key]);
        let sensitivity = [1.0, 0.3, 0.6, 0.1][k];
        let (fine, beyond) = match format as usize {
            0 => (frac, [1.0, 3.0, 2.0, 4.0][k] - (width - frac)),
            1 => (mini_width - exponent, [2.0, 3.0, 4.0, 3.0][k] - exponent),
            _ => return 0.0,
        };
        sensitivity * (0.5_f64.powf(fine) + 0.25 * beyond.max(0.0))
    };
    (0..LAYERS).map(layer).sum()
}

/// Bits of a weight.
pub(super) fn bits(x: &Numbers) -> f64 {
    let layer = |k: usize| match x.0[KEYS * k] as usize {
        0 => x.0[KEYS * k + 1],
        1 => x.0[KEYS * k + 3],
        _ => 16.0,
    };
    (0..LAYERS).map(layer).sum::<f64>() / LAYERS as f64
}

/// Three branches, the first of which divides twice more.
fn branches() -> Vec<Parameter> {
    vec![
        parameter(0, choices(3)),
        when(0, 0, parameter(1, float(0.0, 1.0))),
        when(0, 0, parameter(2, choices(2))),
        when(2, 0, parameter(3, float(-1.0, 1.0))),
        when(2, 1, parameter(4, int(0, 20))),
        when(2, 1, parameter(5, choices(3))),
        when(5, 2, parameter(6, float(-1.0, 1.0))),
        when(0, 1, parameter(7, float(-2.0, 2.0))),
        when(0, 1, parameter(8, float(-2.0, 2.0))),
        when(0, 2, parameter(9, int(1, 30))),
        when(0, 2, parameter(10, float(0.0, 4.0))),
        parameter(11, float(-1.0, 1.0)),
    ]
}

/// The deepest branch holds the least loss, 0; the others end at 0.1 to 0.5.
fn branch_loss(x: &Numbers) -> f64 {
    let x = &x.0;
    let deep = || match x[2] as usize {
        0 => 0.3 + (x[3] + 0.2).powi(2),
        _ if x[5] == 2.0 => (x[4] - 13.0).abs() / 10.0 + 2.0 * (x[6] - 0.5).powi(2),
        _ => 0.1 + 0.2 * x[5] + (x[4] - 6.0).abs() / 10.0,
    };
    let branch = match x[0] as usize {
        0 => (x[1] - 0.7).powi(2) + deep(),
        1 => 0.2 + (x[8] - x[7] * x[7]).powi(2) + 0.1 * (1.0 - x[7]).powi(2),
        _ => 0.5 + (x[9] / 8.0).ln().powi(2) * 0.2 + 0.1 * (x[10] - 3.0).powi(2),
    };
    branch + (x[11] - 0.3).powi(2)
}

/// What a branch costs: the deeper, the more, and a parameter of each trades it against the loss.
fn branch_cost(x: &Numbers) -> f64 {
    let x = &x.0;
    let deep = || match x[2] as usize {
        0 => 0.3 + (x[3] - 0.6).powi(2),
        _ if x[5] == 2.0 => 0.8 + x[4] / 20.0 + (x[6] + 0.5).powi(2),
        _ => 0.5 + x[4] / 20.0 - 0.1 * x[5],
    };
    let branch = match x[0] as usize {
        0 => x[1] + deep(),
        1 => 0.6 + 0.2 * (x[7] + 1.0).powi(2) + 0.1 * x[8].powi(2),
        _ => 0.1 + x[9] / 10.0 + 0.2 * x[10],
    };
    branch + 0.5 * (x[11] + 0.3).powi(2)
}
