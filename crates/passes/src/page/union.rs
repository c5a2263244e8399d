//! Two networks in one drawing: the nodes of the one, and those that only the other has.

use ir::{Graph, NodeId, Verified};

/// A node of the drawing: of the network, or one that only the other has.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    Kept(NodeId),
    Removed(NodeId),
}

/// The edges of the drawing: those of the network, and those of nodes that only the other has.
pub(super) fn edges(
    shown: &[Shown],
    pairs: &[Option<NodeId>],
    verified: &Verified,
    other: Option<&Verified>,
) -> Vec<(usize, usize)> {
    let graph = verified.graph();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for (id, _) in graph.iter() {
        edges.extend(inputs(graph, id).into_iter().map(|from| (from, id.index())));
    }
    let own = edges.len();
    if let Some(other) = other {
        let places = earlier_places(shown, pairs, other.graph());
        let n_kept = graph.nodes().len();
        for (id, _) in other.graph().iter() {
            let Some(to) = places[id.index()] else {
                continue;
            };
            let from = inputs(other.graph(), id).into_iter();
            for from in from.filter_map(|at| places[at]) {
                if from >= n_kept || to >= n_kept {
                    edges.push((from, to));
                }
            }
        }
    }
    // Nodes that changed their order could close a circle; then nodes that are gone stand by themselves.
    if has_cycle(shown.len(), &edges) {
        edges.truncate(own);
    }
    edges
}

/// The nodes that a node reads, each once.
pub(super) fn inputs(graph: &Graph, id: NodeId) -> Vec<usize> {
    let mut inputs: Vec<usize> = Vec::new();
    for value in &graph.node(id).inputs {
        if !inputs.contains(&value.node.index()) {
            inputs.push(value.node.index());
        }
    }
    inputs
}

/// For every node of the other network, its place among those shown.
pub(super) fn earlier_places(
    shown: &[Shown],
    pairs: &[Option<NodeId>],
    other: &Graph,
) -> Vec<Option<usize>> {
    let mut places = vec![None; other.nodes().len()];
    for (at, shown) in shown.iter().enumerate() {
        let before = match shown {
            Shown::Kept(id) => pairs[id.index()],
            Shown::Removed(id) => Some(*id),
        };
        if let Some(before) = before {
            places[before.index()] = Some(at);
        }
    }
    places
}

fn has_cycle(n: usize, edges: &[(usize, usize)]) -> bool {
    let mut waiting = vec![0_usize; n];
    let mut users = vec![Vec::new(); n];
    for &(from, to) in edges {
        waiting[to] += 1;
        users[from].push(to);
    }
    let mut ready: Vec<usize> = (0..n).filter(|&at| waiting[at] == 0).collect();
    let mut done = 0;
    while let Some(at) = ready.pop() {
        done += 1;
        for &to in &users[at] {
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    done < n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_found() {
        for (n, edges, wanted) in [
            (0, &[][..], false),
            (1, &[(0, 0)], true),
            (3, &[(0, 1), (1, 2), (0, 2)], false),
            (3, &[(0, 1), (1, 2), (2, 1)], true),
            (4, &[(0, 1), (1, 2), (2, 3), (3, 0)], true),
        ] {
            assert_eq!(has_cycle(n, edges), wanted, "{edges:?}");
        }
    }

    fn graph(statements: &str) -> Graph {
        let text = format!("graph \"g\" {{ x: f32[N, 4] = placeholder {statements} }}");
        Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// The edges of a network that is shown with all nodes of another whose names it has not.
    fn union(now: &str, before: &str) -> Vec<(usize, usize)> {
        let (now, before) = (graph(now), graph(before));
        let pairs: Vec<Option<NodeId>> = now.nodes().iter().map(|n| before.find(&n.name)).collect();
        let removed = before.iter().map(|(id, _)| id);
        let removed = removed.filter(|id| !pairs.contains(&Some(*id)));
        let kept = now.iter().map(|(id, _)| Shown::Kept(id));
        let shown: Vec<Shown> = kept.chain(removed.map(Shown::Removed)).collect();
        let [now, before] = [&now, &before]
            .map(|graph| ir::verify(graph).unwrap_or_else(|error| panic!("{error}")));
        edges(&shown, &pairs, &now, Some(&before))
    }

    #[test]
    fn a_node_that_is_gone_stands_between_those_that_are_left() {
        let now = "a = relu(x) b = add(a, a) return b";
        let before = "a = relu(x) r = gelu(a) b = add(r, a) return b";
        // Of x, a, b, the output and r: an operand that is read twice has one edge.
        assert_eq!(union(now, before), [(0, 1), (1, 2), (2, 3), (1, 4), (4, 2)]);
        assert_eq!(union(now, now), [(0, 1), (1, 2), (2, 3)]);
    }

    #[test]
    fn nodes_that_are_gone_stand_by_themselves_where_they_would_close_a_circle() {
        let now = "b = relu(x) a = gelu(b) return a";
        let before = "a = gelu(x) r = sigmoid(a) b = relu(r) return b";
        assert_eq!(union(now, before), [(0, 1), (1, 2), (2, 3)]);
    }
}
