//! The order of execution of a graph, and the layer of every node.

use super::Cycle;
use super::adjacency::Adjacency;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The nodes with every source in front of its targets, small numbers first.
pub fn topological(n_nodes: usize, edges: &[(usize, usize)]) -> Result<Vec<usize>, Cycle> {
    let users = Adjacency::new(n_nodes, edges.iter().copied());
    let mut n_waiting = vec![0; n_nodes];
    for &(_, target) in edges {
        n_waiting[target] += 1;
    }
    let ready = (0..n_nodes).filter(|&node| n_waiting[node] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
    let mut order = Vec::with_capacity(n_nodes);
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &user in users.of(node) {
            n_waiting[user] -= 1;
            if n_waiting[user] == 0 {
                ready.push(Reverse(user));
            }
        }
    }
    match n_waiting.iter().position(|&n| n > 0) {
        None => Ok(order),
        Some(stuck) => Err(find_cycle(stuck, &n_waiting, edges)),
    }
}

/// A cycle above a node that waits: each such node has an input that waits too, so going up comes back.
fn find_cycle(stuck: usize, n_waiting: &[usize], edges: &[(usize, usize)]) -> Cycle {
    let reversed = edges.iter().map(|&(source, target)| (target, source));
    let inputs = Adjacency::new(n_waiting.len(), reversed);
    let mut step_of = vec![None; n_waiting.len()];
    let mut path = Vec::new();
    let mut node = stuck;
    while step_of[node].is_none() {
        step_of[node] = Some(path.len());
        path.push(node);
        let waiting = inputs.of(node).iter().find(|&&input| n_waiting[input] > 0);
        node = *waiting.expect("a node waits for an input that waits");
    }
    let mut nodes = path.split_off(step_of[node].unwrap_or(0));
    nodes.reverse();
    Cycle { nodes }
}

/// The layer of every node of a graph whose edges go from smaller to larger numbers: the longest path to it, and for nodes
/// with more users than inputs the layer above the first user, which makes their edges shorter.
pub fn assign(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let users = Adjacency::new(n_nodes, edges.iter().copied());
    let reversed = edges.iter().map(|&(source, target)| (target, source));
    let inputs = Adjacency::new(n_nodes, reversed);
    let mut layers = vec![0; n_nodes];
    for node in 0..n_nodes {
        for &input in inputs.of(node) {
            layers[node] = layers[node].max(layers[input] + 1);
        }
    }
    // Inputs that nothing else uses and that hang on nothing come along, so they hold no node back.
    let mut is_free = vec![false; n_nodes];
    let mut n_holding = vec![0; n_nodes];
    for node in 0..n_nodes {
        let holding = inputs.of(node).iter().filter(|&&input| !is_free[input]);
        n_holding[node] = holding.count();
        is_free[node] = n_holding[node] == 0 && users.degree(node) == 1;
    }
    for node in (0..n_nodes).rev() {
        let first_user = users.of(node).iter().map(|&user| layers[user]).min();
        match first_user {
            Some(first) if users.degree(node) > n_holding[node] => layers[node] = first - 1,
            _ => {}
        }
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_more_users_than_inputs_go_to_their_users() {
        // A chain of four; a constant that the last one reads through one more node.
        let edges = [(0, 1), (1, 2), (2, 5), (3, 4), (4, 5)];
        assert_eq!(assign(6, &edges), [0, 1, 2, 1, 2, 3]);
        // A node with as many inputs as users stays at its input.
        let edges = [(0, 1), (0, 2), (2, 3), (3, 4), (1, 4)];
        assert_eq!(assign(5, &edges), [0, 1, 1, 2, 3]);
    }

    #[test]
    fn a_cycle_is_named_in_its_direction() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)];
        let Cycle { mut nodes } = topological(5, &edges).unwrap_err();
        let first = nodes.iter().position(|&node| node == 1).unwrap();
        nodes.rotate_left(first);
        assert_eq!(nodes, [1, 2, 3]);
        assert_eq!(topological(1, &[(0, 0)]).unwrap_err().nodes, [0]);
    }
}
