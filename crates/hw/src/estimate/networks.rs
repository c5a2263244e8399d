//! Random networks in fixed point: linear layers, rectified between, of many widths, depths and sparsities.

use crate::net::{Bounds, Builder, Interval, Net, Origin, Term};
use crate::ports::{Ports, packed};
use crate::solve::{Effort, Product, solve};
use random::Random;

/// Numbers drawn one after the other.
struct Draws {
    random: Random,
    count: u64,
}

impl Draws {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.random.bits(self.count)
    }

    /// A whole number from `min` to `max`.
    fn within(&mut self, min: i64, max: i64) -> i64 {
        min + (self.next() % (max - min + 1) as u64) as i64
    }

    fn normal(&mut self) -> f64 {
        self.count += 1;
        f64::from(self.random.normal(self.count))
    }
}

/// Bits of adders, at least: of a few LUTs, no share can be told.
const MIN_BITS: u64 = 200;

/// The network number `index` of a seed, with registers, and its ports.
pub fn random_network(seed: u64, index: u64) -> (Net, Ports) {
    let mut draws = Draws {
        random: Random::new(seed, "hardware networks").at(index),
        count: 0,
    };
    loop {
        let (net, ports) = network(&mut draws);
        if net.adders().1 >= MIN_BITS {
            return (net, ports);
        }
    }
}

fn network(draws: &mut Draws) -> (Net, Ports) {
    let (input_bits, result_bits, weight_bits) =
        (draws.within(4, 8), draws.within(3, 8), draws.within(3, 7));
    let zeros = [0, 30, 60, 80][draws.within(0, 3) as usize];
    let hidden = draws.within(1, 2);
    let mut net = Builder::default();
    let node = net.node("x");
    let interval = Interval {
        lo: -(1 << (input_bits - 1)),
        hi: (1 << (input_bits - 1)) - 1,
    };
    let inputs = draws.within(8, 16) as u32;
    let origin = |node, element| Origin {
        node,
        element: Some(element),
    };
    let mut terms: Vec<Term> = (0..inputs)
        .map(|i| net.input(i, interval, origin(node, i)))
        .collect();
    for layer in 0..=hidden {
        let is_last = layer == hidden;
        let count = if is_last {
            5
        } else {
            draws.within(8, 16) as u32
        };
        let shift = (weight_bits - 1 + if layer == 0 { input_bits - 5 } else { 0 }).max(1) as i32;
        let node = net.node(&format!("fc{layer}"));
        let half = if is_last { 0 } else { 1 << (shift - 1) };
        terms = linear(
            &mut net,
            draws,
            &terms,
            count,
            (weight_bits, zeros, half),
            node,
        );
        if !is_last {
            let hi = (1 << result_bits) - 1;
            let bounds = Bounds::Saturate { lo: 0, hi };
            let results = terms.iter().zip(0..);
            let requantized = results.map(|(term, element)| {
                net.requant(*term, shift, false, bounds, origin(node, element))
            });
            terms = requantized.collect();
        }
    }
    let levels = [2.2, 4.0, 6.0][draws.within(0, 2) as usize];
    let net = net.finish(terms).pipelined(levels);
    let element = |port: &str, k: u32, interval: Interval| {
        (format!("{port}[{k}]"), 0, interval.lo, interval.hi)
    };
    let outputs = net
        .outputs
        .iter()
        .zip(0..)
        .map(|(term, k)| element("y", k, net.output_interval(*term)));
    let ports = Ports {
        inputs: packed((0..inputs).map(|k| element("x", k, interval))),
        outputs: packed(outputs),
        latency: net.latency,
    };
    (net, ports)
}

/// A layer of random weights: `zeros` in a hundred are 0.
fn linear(
    net: &mut Builder,
    draws: &mut Draws,
    inputs: &[Term],
    count: u32,
    (bits, zeros, half): (i64, i64, i64),
    node: u32,
) -> Vec<Term> {
    let largest = (1 << (bits - 1)) - 1;
    let deviation = (1 << (bits - 1)) as f64 / 2.5;
    let mut weight = |_| {
        let is_zero = draws.within(0, 99) < zeros;
        let value = (draws.normal() * deviation).round() as i64;
        if is_zero {
            0
        } else {
            value.clamp(-largest, largest)
        }
    };
    let weights: Vec<i64> = (0..inputs.len() * count as usize)
        .map(&mut weight)
        .collect();
    let bias: Vec<i64> = (0..count)
        .map(|_| draws.within(-(1 << (bits + 2)), 1 << (bits + 2)) + half)
        .collect();
    let elements: Vec<u32> = (0..count).collect();
    let product = Product {
        inputs,
        weights: &weights,
        bias: &bias,
        elements: &elements,
        node,
    };
    solve(net, &product, Effort::Normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_networks() {
        assert_eq!(random_network(1, 3), random_network(1, 3));
        let sizes: Vec<usize> = (0..6)
            .map(|index| random_network(1, index).0.adders().0)
            .collect();
        let different: std::collections::BTreeSet<&usize> = sizes.iter().collect();
        assert!(different.len() > 3, "{sizes:?}");
    }
}
