//! Exact numbers of crossings between neighbouring layers, in O(e log e).
//!
//! The edges are visited from left to right along the upper layer; a Fenwick tree over the lower layer counts those that
//! were visited before and end further to the right (Barth, Jünger and Mutzel, *Simple and efficient bilayer cross counting*).

use super::order::Order;
use super::proper::Proper;

/// The crossings of a whole drawing.
pub fn count(graph: &Proper, order: &Order) -> u64 {
    let mut tree = Vec::new();
    let pairs = order.rows.windows(2);
    pairs
        .map(|pair| count_between(graph, &pair[0], &pair[1], &order.position, &mut tree))
        .sum()
}

fn count_between(
    graph: &Proper,
    upper: &[usize],
    lower: &[usize],
    position: &[usize],
    tree: &mut Vec<u64>,
) -> u64 {
    tree.clear();
    tree.resize(lower.len() + 1, 0);
    let (mut crossings, mut n_visited) = (0, 0);
    for &node in upper {
        let below = graph.down.of(node);
        // Edges of one node do not cross each other: all are compared before any is entered.
        for &end in below {
            crossings += n_visited - count_up_to(tree, position[end]);
        }
        for &end in below {
            enter(tree, position[end]);
        }
        n_visited += below.len() as u64;
    }
    crossings
}

/// The ends entered at a position or to the left of it.
fn count_up_to(tree: &[u64], position: usize) -> u64 {
    let mut sum = 0;
    let mut at = position + 1;
    while at > 0 {
        sum += tree[at];
        at &= at - 1;
    }
    sum
}

fn enter(tree: &mut [u64], position: usize) {
    let mut at = position + 1;
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}

/// The crossings of the edges of two nodes side by side, from the sorted positions of their ends: as they are, and exchanged.
pub fn count_pair(left: &[usize], right: &[usize]) -> (u64, u64) {
    let (mut kept, mut exchanged) = (0, 0);
    let (mut n_less, mut n_less_or_equal) = (0, 0);
    for &end in left {
        while n_less < right.len() && right[n_less] < end {
            n_less += 1;
        }
        while n_less_or_equal < right.len() && right[n_less_or_equal] <= end {
            n_less_or_equal += 1;
        }
        kept += n_less as u64;
        exchanged += (right.len() - n_less_or_equal) as u64;
    }
    (kept, exchanged)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two layers with the given edges; the lower nodes are numbered behind the upper ones.
    fn count_bilayer(n_upper: usize, n_lower: usize, edges: &[(usize, usize)]) -> u64 {
        let layers: Vec<usize> = (0..n_upper + n_lower)
            .map(|node| usize::from(node >= n_upper))
            .collect();
        let edges: Vec<_> = edges.iter().map(|&(a, b)| (a, n_upper + b)).collect();
        let graph = Proper::new(&layers, &edges);
        let rows = vec![
            (0..n_upper).collect(),
            (n_upper..n_upper + n_lower).collect(),
        ];
        count(&graph, &Order::new(rows, graph.n_nodes()))
    }

    #[test]
    fn crossings_are_those_of_all_pairs_of_edges() {
        let edges: Vec<_> = (0..40).map(|i| (i * 7 % 9, i * i * 5 % 11)).collect();
        let pairs = edges.iter().flat_map(|a| edges.iter().map(move |b| (a, b)));
        let crossing = pairs.filter(|(a, b)| a.0 < b.0 && a.1 > b.1).count();
        assert_eq!(count_bilayer(9, 11, &edges), crossing as u64);
        let complete: Vec<_> = (0..5).flat_map(|a| (0..4).map(move |b| (a, b))).collect();
        assert_eq!(count_bilayer(5, 4, &complete), 10 * 6);
    }

    #[test]
    fn ends_of_two_nodes_are_compared_both_ways() {
        assert_eq!(
            count_pair(&[1, 3, 3, 8], &[0, 3, 9]),
            (1 + 1 + 1 + 2, 2 + 1 + 1 + 1)
        );
        assert_eq!(count_pair(&[], &[1]), (0, 0));
    }

    #[test]
    fn crossings_of_all_small_graphs_are_those_of_all_pairs_of_edges() {
        for (n_upper, n_lower) in [(1, 3), (3, 1), (2, 2), (2, 3), (3, 2), (3, 3)] {
            let all = (0..n_upper).flat_map(|a| (0..n_lower).map(move |b| (a, b)));
            let all: Vec<(usize, usize)> = all.collect();
            for chosen in 0..1_u32 << all.len() {
                let own = all.iter().enumerate().filter(|(k, _)| chosen >> k & 1 == 1);
                let edges: Vec<_> = own.map(|(_, edge)| *edge).collect();
                let pairs = edges.iter().flat_map(|a| edges.iter().map(move |b| (a, b)));
                let crossing = pairs.filter(|(a, b)| a.0 < b.0 && a.1 > b.1).count();
                assert_eq!(
                    count_bilayer(n_upper, n_lower, &edges),
                    crossing as u64,
                    "{edges:?}"
                );
            }
        }
    }
}
