//! The nodes of two graphs that are the same node: by name, then by target, then by the longest common order of operators.

use ir::{Graph, NodeId};

/// Pairs of operators that are tried; a longer order is not looked for.
const MAX_PAIRS: usize = 4_000_000;

/// For every node of `after`, its node in `before`.
pub(super) fn matched(before: &Graph, after: &Graph) -> Vec<Option<NodeId>> {
    let mut found = vec![None; after.nodes().len()];
    let mut is_taken = vec![false; before.nodes().len()];
    for (id, node) in after.iter() {
        let same = before.find(&node.name);
        if let Some(other) = same.filter(|other| before.node(*other).op.name() == node.op.name()) {
            found[id.index()] = Some(other);
            is_taken[other.index()] = true;
        }
    }
    for (id, node) in after.iter() {
        if found[id.index()].is_some() || node.target.is_empty() {
            continue;
        }
        let same = before.iter().find(|(other, known)| {
            let is_free = !is_taken[other.index()];
            is_free && known.target == node.target && known.op.name() == node.op.name()
        });
        if let Some((other, _)) = same {
            found[id.index()] = Some(other);
            is_taken[other.index()] = true;
        }
    }
    let free_before: Vec<NodeId> = before
        .iter()
        .map(|(id, _)| id)
        .filter(|id| !is_taken[id.index()])
        .collect();
    let free_after: Vec<NodeId> = after
        .iter()
        .map(|(id, _)| id)
        .filter(|id| found[id.index()].is_none())
        .collect();
    let name = |graph: &Graph, id: &NodeId| graph.node(*id).op.name();
    let words = |graph: &Graph, ids: &[NodeId]| -> Vec<&'static str> {
        ids.iter().map(|id| name(graph, id)).collect()
    };
    for (a, b) in common_order(&words(before, &free_before), &words(after, &free_after)) {
        found[free_after[b].index()] = Some(free_before[a]);
    }
    found
}

/// The places of a longest common subsequence in both lists; none for lists that are too long.
fn common_order(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    if a.len().saturating_mul(b.len()) > MAX_PAIRS {
        return Vec::new();
    }
    // lengths[i][j]: that of the longest of a[i..] and b[j..].
    let mut lengths = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i][j] = if a[i] == b[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(statements: &str, last: &str) -> Graph {
        let text =
            format!("graph \"g\" {{ x: f32[N, 4] = placeholder\n{statements}\nreturn {last} }}");
        Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn names_come_first_then_targets_then_the_order() {
        let layer = "linear(x) { target = \"fc\", in_features = 4, out_features = 4 }";
        let before = graph(&format!("a = {layer}\nr = relu(a)\ns = sigmoid(r)"), "s");
        let after = graph(
            &format!("b = {layer}\nq = gelu(b)\nother = sigmoid(q)"),
            "other",
        );
        let pairs = matched(&before, &after);
        let name = |at: usize| pairs[at].map(|id: NodeId| before.node(id).name.clone());
        assert_eq!(name(0).as_deref(), Some("x"), "by name");
        assert_eq!(name(1).as_deref(), Some("a"), "by target");
        assert_eq!(name(2), None, "gelu is nowhere");
        assert_eq!(name(3).as_deref(), Some("s"), "by order");
        assert_eq!(name(4).as_deref(), Some("output"));
    }

    #[test]
    fn the_common_order_is_the_longest() {
        let pairs = common_order(&["a", "b", "c", "a"], &["b", "a", "c", "a"]);
        assert_eq!(pairs.len(), 3);
        assert!(pairs.is_sorted());
        assert_eq!(common_order(&[], &["a"]), []);
    }
}
