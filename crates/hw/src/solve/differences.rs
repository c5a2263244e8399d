//! Decomposition by differences: a result whose weights are near those of another is the other and a few terms.

use super::Product;

/// Results that are computed from each other, one after the other, at most.
const MAX_CHAIN: u32 = 2;
/// Digits that are compared at most; larger products are solved without.
const MAX_WORK: usize = 1 << 24;

/// A result as another one, or its negative, and terms of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The result.
    pub result: usize,
    /// The other, which comes before it, and true where it is subtracted; none where all terms are its own.
    pub other: Option<(usize, bool)>,
    /// The weights of its own terms.
    pub weights: Vec<i64>,
}

/// The digits of a result that is not placed yet, the result, and what they are the difference to.
type Candidate = (u32, usize, Option<(usize, bool)>);

/// The results in an order in which each is near one before it, if that leaves fewer digits than their own weights have.
pub fn differences(product: &Product) -> Option<Vec<Near>> {
    let (n, k) = (product.bias.len(), product.inputs.len());
    let are_wide = product
        .weights
        .iter()
        .any(|weight| weight.unsigned_abs() > 1 << 60);
    if n < 2 || k == 0 || n * n * k > MAX_WORK || are_wide {
        return None;
    }
    let row = |j: usize| &product.weights[j * k..(j + 1) * k];
    let alone = |j: usize| digits(row(j).iter().copied());
    // A spanning tree of least digits, grown from nothing.
    let mut open: Vec<Candidate> = (0..n).map(|j| (alone(j), j, None)).collect();
    let mut chains = vec![0; n];
    let mut order = Vec::with_capacity(n);
    let mut total = 0;
    while let Some(at) = (0..open.len()).min_by_key(|&at| (open[at].0, open[at].1)) {
        let (cost, result, other) = open.swap_remove(at);
        total += cost;
        let chain = other.map_or(0, |(other, _)| chains[other] + 1);
        chains[result] = chain;
        let weights = difference(row(result), other.map(|(other, minus)| (row(other), minus)));
        order.push(Near {
            result,
            other,
            weights: weights.collect(),
        });
        if chain == MAX_CHAIN {
            continue;
        }
        for (cost, j, from) in &mut open {
            for minus in [false, true] {
                // One more addition brings the other in.
                let own = 1 + digits(difference(row(*j), Some((row(result), minus))));
                if own < *cost {
                    (*cost, *from) = (own, Some((result, minus)));
                }
            }
        }
    }
    let before: u32 = (0..n).map(alone).sum();
    (total < before).then_some(order)
}

fn difference<'a>(
    row: &'a [i64],
    other: Option<(&'a [i64], bool)>,
) -> impl Iterator<Item = i64> + 'a {
    row.iter().enumerate().map(move |(i, &weight)| match other {
        Some((other, true)) => weight + other[i],
        Some((other, false)) => weight - other[i],
        None => weight,
    })
}

/// Signed digits of weights, in their canonical form.
fn digits(weights: impl Iterator<Item = i64>) -> u32 {
    let of = |weight: i64| {
        let size = u128::from(weight.unsigned_abs());
        (size ^ (3 * size)).count_ones()
    };
    weights.map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::super::digits::canonical;
    use super::*;
    use crate::net::{CellId, Term};

    #[test]
    fn digits_are_counted_as_they_are_made() {
        for weight in -3000..=3000 {
            let expected = canonical(weight).count() as u32;
            assert_eq!(digits([weight].into_iter()), expected, "{weight}");
        }
    }

    #[test]
    fn near_results_are_differences_and_far_ones_are_not() {
        let inputs = [0, 1, 2, 3].map(|cell| Term {
            cell: CellId(cell),
            shift: 0,
        });
        let near = |weights: &[i64], n: usize| {
            differences(&Product {
                inputs: &inputs,
                weights,
                bias: &vec![0; n],
                elements: &vec![0; n],
                node: 0,
            })
        };
        let order = near(&[45, 91, -53, 77, 45, 91, -53, 78, -45, -91, 53, -77], 3).unwrap();
        let others: Vec<_> = order.iter().map(|near| near.other).collect();
        assert_eq!(others, [None, Some((1, false)), Some((0, true))]);
        assert_eq!(order[1].weights, [0, 0, 0, -1]);
        assert_eq!(order[2].weights, [0, 0, 0, 0]);
        assert_eq!(near(&[1, 0, 0, 0, 0, 1, 0, 0], 2), None);
    }
}
