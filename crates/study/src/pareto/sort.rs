//! Non-dominated sorting.

use std::cmp::Ordering;

use super::dominates;

/// The rank of each item: 0 for those that nothing dominates, 1 for those that only rank 0 dominates, and so on.
///
/// Efficient non-dominated sort with binary search (Zhang, Tian, Cheng and Jin, 2015): in lexicographic order an item
/// can only be dominated by earlier ones, and if one front dominates it, so does every front before. With two
/// objectives only the last member of a front has to be asked, which makes it O(n log n).
pub fn ranks(losses: &[Vec<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..losses.len()).collect();
    order.sort_by(|&a, &b| lexicographic(&losses[a], &losses[b]));
    let mut fronts: Vec<Vec<usize>> = Vec::new();
    let mut ranks = vec![0; losses.len()];
    for item in order {
        let rank = fronts.partition_point(|front| is_dominated(losses, front, item));
        if rank == fronts.len() {
            fronts.push(Vec::new());
        }
        fronts[rank].push(item);
        ranks[item] = rank;
    }
    ranks
}

/// [`ranks`] under Deb's rule (2000): what satisfies the constraints comes before what does not, and the rest is
/// ordered by how far it exceeds them, whatever its losses.
pub fn constrained_ranks(losses: &[Vec<f64>], excess: &[f64]) -> Vec<usize> {
    let is_feasible = |item: &usize| excess[*item] <= 0.0;
    let (feasible, rest): (Vec<usize>, Vec<usize>) = (0..losses.len()).partition(is_feasible);
    let of_feasible: Vec<Vec<f64>> = feasible.iter().map(|&item| losses[item].clone()).collect();
    let of_rest: Vec<Vec<f64>> = rest.iter().map(|&item| vec![excess[item]]).collect();
    let mut all = vec![0; losses.len()];
    for (item, rank) in feasible.iter().zip(ranks(&of_feasible)) {
        all[*item] = rank;
    }
    let next = feasible
        .iter()
        .map(|&item| all[item] + 1)
        .max()
        .unwrap_or(0);
    for (item, rank) in rest.iter().zip(ranks(&of_rest)) {
        all[*item] = next + rank;
    }
    all
}

fn lexicographic(a: &[f64], b: &[f64]) -> Ordering {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| a.partial_cmp(b).unwrap_or(Ordering::Equal))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn is_dominated(losses: &[Vec<f64>], front: &[usize], item: usize) -> bool {
    let mut asked = front.iter().rev();
    if losses[item].len() <= 2 {
        return asked
            .next()
            .is_some_and(|&last| dominates(&losses[last], &losses[item]));
    }
    asked.any(|&other| dominates(&losses[other], &losses[item]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: the rank is one more than the largest among those that dominate.
    fn by_definition(losses: &[Vec<f64>]) -> Vec<usize> {
        let mut ranks = vec![0; losses.len()];
        for _ in 0..losses.len() {
            for item in 0..losses.len() {
                let better = (0..losses.len()).filter(|&o| dominates(&losses[o], &losses[item]));
                ranks[item] = better.map(|other| ranks[other] + 1).max().unwrap_or(0);
            }
        }
        ranks
    }

    fn small_losses() -> impl Strategy<Value = Vec<Vec<f64>>> {
        (1..5_usize).prop_flat_map(|objectives| {
            let value = (0..6_i32).prop_map(f64::from);
            proptest::collection::vec(proptest::collection::vec(value, objectives), 0..24)
        })
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_the_definition(losses in small_losses()) {
            prop_assert_eq!(ranks(&losses), by_definition(&losses));
        }

        #[test]
        fn feasible_comes_first(losses in small_losses(), excess in proptest::collection::vec(0..3_i32, 24)) {
            let excess: Vec<f64> = excess.iter().take(losses.len()).map(|&e| f64::from(e)).collect();
            let ranks = constrained_ranks(&losses, &excess);
            for a in 0..losses.len() {
                for b in 0..losses.len() {
                    if excess[a] < excess[b] {
                        prop_assert!(ranks[a] < ranks[b]);
                    }
                }
            }
        }
    }
}
