//! Groups of dotted names: their tree, and graphs in which they are closed.

use proptest::prelude::*;
use report::layered::{Group, Groups, Member, Reduced, Spacing, draw};
use std::collections::BTreeSet;

fn group(name: &str, parent: Option<usize>, n_nodes: usize) -> Group {
    Group {
        name: name.to_owned(),
        parent,
        n_nodes,
    }
}

#[test]
fn groups_are_shared_beginnings() {
    let names = [
        "x",
        "net.stem.conv",
        "net.stem.relu",
        "net.layer1.0.conv",
        "net.layer1.1.conv",
        "net.layer1.1.relu",
        "net.layer10.conv",
        "head.deep.only.fc",
        "head.deep.only.softmax",
        "layer1",
    ];
    let Groups { groups, innermost } = Groups::new(&names);
    let expected = [
        group("net", None, 6),
        group("net.stem", Some(0), 2),
        group("net.layer1", Some(0), 3),
        group("net.layer1.1", Some(2), 2),
        group("head.deep.only", None, 2),
    ];
    assert_eq!(groups, expected);
    let inner = [
        None,
        Some(1),
        Some(1),
        Some(2),
        Some(3),
        Some(3),
        Some(0),
        Some(4),
        Some(4),
        None,
    ];
    assert_eq!(innermost, inner);
    assert_eq!(Groups::new::<&str>(&[]), Groups::default());
}

#[test]
fn a_name_is_not_in_the_group_that_it_names() {
    let groups = Groups::new(&["a", "a.b", "a.b.c", "a.b.d"]);
    assert_eq!(
        groups.groups,
        [group("a", None, 3), group("a.b", Some(0), 2)]
    );
    assert_eq!(groups.innermost, [None, Some(0), Some(1), Some(1)]);
}

#[test]
fn a_closed_group_is_one_node() {
    let groups = Groups::new(&["x", "a.0", "a.1", "y", "b.0", "b.1"]);
    let edges = [
        (0, 1),
        (0, 2),
        (1, 2),
        (2, 3),
        (3, 4),
        (1, 4),
        (2, 5),
        (4, 5),
    ];
    let reduced = groups.reduce(&edges, &BTreeSet::from([0, 1]));
    let expected = Reduced {
        nodes: vec![
            Member::Node(0),
            Member::Group(0),
            Member::Node(3),
            Member::Group(1),
        ],
        edges: vec![(0, 1), (1, 2), (2, 3), (1, 3)],
        node_of: vec![0, 1, 1, 2, 3, 3],
        kept_open: vec![],
    };
    assert_eq!(reduced, expected);
}

#[test]
fn a_group_that_would_make_a_cycle_stays_open() {
    // What leaves the group comes back through x; its inner group is closed in its place.
    let groups = Groups::new(&["a.i.0", "a.i.1", "x", "a.2"]);
    let edges = [(0, 1), (1, 2), (2, 3)];
    assert_eq!(groups.groups.len(), 2);
    let reduced = groups.reduce(&edges, &BTreeSet::from([0, 1]));
    assert_eq!(reduced.kept_open, [0]);
    assert_eq!(
        reduced.nodes,
        [Member::Group(1), Member::Node(2), Member::Node(3)]
    );
    // Two groups that only together make a cycle: the first is closed.
    let groups = Groups::new(&["a.0", "b.0", "b.1", "a.1"]);
    let edges = [(0, 1), (2, 3)];
    let reduced = groups.reduce(&edges, &BTreeSet::from([0, 1]));
    assert_eq!(reduced.kept_open, [1]);
    assert_eq!(reduced.edges, [(0, 1), (2, 0)]);
}

/// Names in a few groups and edges from earlier to later nodes.
pub fn named_graphs() -> impl Strategy<Value = (Vec<String>, Vec<(usize, usize)>)> {
    (2_usize..80).prop_flat_map(|n| {
        let parts = prop::collection::vec(0_u8..3, 0..5);
        let names = prop::collection::vec(parts, n).prop_map(|names| {
            let names = names.iter().enumerate().map(|(node, parts)| {
                let mut words: Vec<String> = parts.iter().map(u8::to_string).collect();
                words.push(format!("n{node}"));
                words.join(".")
            });
            let mut names: Vec<String> = names.collect();
            // Neighbours in execution share groups, as in networks, but not all.
            let n_sorted = names.len() * 3 / 4;
            names[..n_sorted].sort_unstable();
            names
        });
        let edges = prop::collection::vec((0..n - 1, 1..6_usize), 0..2 * n);
        let edges = edges.prop_map(move |edges| {
            let edges = edges.into_iter();
            let edges = edges.map(|(source, span)| (source, (source + span).min(n - 1)));
            edges.collect()
        });
        (names, edges)
    })
}

proptest! {
    #[test]
    fn every_group_is_a_beginning_with_its_nodes((names, _) in named_graphs()) {
        let Groups { groups, innermost } = Groups::new(&names);
        let is_in = |node: usize, group: usize| {
            let around = |&inner: &usize| groups[inner].parent;
            std::iter::successors(innermost[node], around).any(|inner| inner == group)
        };
        for (number, group) in groups.iter().enumerate() {
            let beginning = format!("{}.", group.name);
            for (node, name) in names.iter().enumerate() {
                prop_assert_eq!(is_in(node, number), name.starts_with(&beginning));
            }
            let n_nodes = (0..names.len()).filter(|&node| is_in(node, number)).count();
            prop_assert_eq!(group.n_nodes, n_nodes);
            prop_assert!(n_nodes >= 2 && group.parent.is_none_or(|parent| parent < number));
        }
        let paths = names.iter().flat_map(|name| name.match_indices('.').map(|(dot, _)| &name[..=dot]));
        let sets = paths.map(|path| (0..names.len()).filter(|&node| names[node].starts_with(path)).collect());
        let sets: BTreeSet<Vec<usize>> = sets.filter(|set: &Vec<usize>| set.len() >= 2).collect();
        prop_assert_eq!(groups.len(), sets.len());
    }

    #[test]
    fn opening_all_groups_gives_back_the_graph((names, mut edges) in named_graphs()) {
        let groups = Groups::new(&names);
        let opened = groups.reduce(&edges, &BTreeSet::new());
        let nodes: Vec<_> = (0..names.len()).map(Member::Node).collect();
        prop_assert_eq!(opened.nodes, nodes);
        let mut seen = BTreeSet::new();
        edges.retain(|&edge| seen.insert(edge));
        prop_assert_eq!(opened.edges, edges);
    }

    #[test]
    fn closing_groups_keeps_edges_and_makes_no_cycle(
        (names, edges) in named_graphs(),
        is_closed in prop::collection::vec(any::<bool>(), 80),
        all in any::<bool>(),
    ) {
        let groups = Groups::new(&names);
        let n_groups = groups.groups.len();
        let closed = (0..n_groups).filter(|&group| all || is_closed[group % 80]).collect();
        let reduced = groups.reduce(&edges, &closed);
        let n_nodes = reduced.nodes.len();
        prop_assert!(draw(&vec![[10.0; 2]; n_nodes], &reduced.edges, Spacing::default()).is_ok());
        let moved = edges.iter().map(|&(a, b)| (reduced.node_of[a], reduced.node_of[b]));
        let moved: BTreeSet<_> = moved.filter(|edge| edge.0 != edge.1).collect();
        prop_assert_eq!(reduced.edges.len(), moved.len());
        prop_assert_eq!(reduced.edges.iter().copied().collect::<BTreeSet<_>>(), moved);
        // A group is closed, or within a closed one, or would make a cycle.
        for &group in &closed {
            let around = std::iter::successors(Some(group), |&inner| groups.groups[inner].parent);
            let mut around = around.map(Member::Group);
            let is_gone = around.any(|outer| reduced.nodes.contains(&outer));
            prop_assert_eq!(is_gone, !reduced.kept_open.contains(&group));
            if !is_gone {
                let mut more: BTreeSet<usize> = closed.clone();
                more.retain(|own| reduced.nodes.contains(&Member::Group(*own)));
                more.insert(group);
                let again = groups.reduce(&edges, &more);
                prop_assert!(!again.kept_open.is_empty());
            }
        }
    }
}
