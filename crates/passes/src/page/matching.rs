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

    #[test]
    fn a_name_or_a_target_of_another_operator_is_another_node() {
        let layer = |op: &str| format!("{op} {{ target = \"t\" }}");
        let before = graph(
            &format!("a = {}\nb = {}", layer("relu(x)"), layer("gelu(a)")),
            "b",
        );
        let after = graph(
            &format!("c = {}\na = {}", layer("gelu(x)"), layer("gelu(c)")),
            "a",
        );
        // `c` has the target of `b`, which then is taken; `a` was another operator, and nothing is left for it.
        let index = |at: usize| matched(&before, &after)[at].map(NodeId::index);
        assert_eq!([0, 1, 2, 3].map(index), [Some(0), Some(2), None, Some(3)]);
    }

    /// All lists of up to four words out of two, each given by its bits.
    fn lists() -> impl Iterator<Item = Vec<&'static str>> {
        (0..=4).flat_map(|len| {
            (0..1_u32 << len).map(move |bits| {
                let word = |k: u32| if bits >> k & 1 == 0 { "a" } else { "b" };
                (0..len).map(word).collect()
            })
        })
    }

    /// The words of a list at the places that a number has bits for.
    fn part<'a>(list: &[&'a str], bits: u32) -> Vec<&'a str> {
        let places = (0..list.len()).filter(|k| bits >> k & 1 == 1);
        places.map(|k| list[k]).collect()
    }

    #[test]
    fn the_common_order_is_as_long_as_the_longest_part_of_both() {
        for a in lists() {
            let parts: Vec<Vec<&str>> = (0..1 << a.len()).map(|bits| part(&a, bits)).collect();
            for b in lists() {
                let shared = (0..1 << b.len()).map(|bits| part(&b, bits));
                let shared = shared.filter(|own| parts.contains(own));
                let pairs = common_order(&a, &b);
                assert_eq!(Some(pairs.len()), shared.map(|own| own.len()).max());
                assert!(pairs.iter().all(|&(i, j)| a[i] == b[j]), "{a:?}, {b:?}");
                assert!(pairs.is_sorted_by(|p, q| p.0 < q.0 && p.1 < q.1));
            }
        }
        assert_eq!(common_order(&["a", "b"], &["b", "a"]), [(1, 0)]);
    }

    #[test]
    fn no_order_is_looked_for_in_lists_that_are_too_long() {
        let list = vec!["a"; 2001];
        assert_eq!(common_order(&list[1..], &list[1..]).len(), 2000);
        assert_eq!(common_order(&list, &list[1..]), []);
    }
}
