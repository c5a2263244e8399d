//! Fixed graphs: the smallest, the largest, and those with a known drawing.

use crate::measure::{crossings, is_straight, overlaps};
use report::layered::{Cycle, Drawing, Spacing, draw, path};

const SIZE: [f32; 2] = [40.0, 20.0];
const SPACING: Spacing = Spacing {
    nodes: 10.0,
    layers: 30.0,
    edges: 6.0,
};

fn draw_equal(n_nodes: usize, edges: &[(usize, usize)]) -> Drawing {
    draw(&vec![SIZE; n_nodes], edges, SPACING).unwrap()
}

#[test]
fn nothing_and_one_node_are_drawings() {
    assert_eq!(draw_equal(0, &[]), Drawing::default());
    let one = draw_equal(1, &[]);
    assert_eq!((one.width, one.height), (40.0, 20.0));
    assert_eq!(one.nodes, [[20.0, 10.0]]);
}

#[test]
fn a_long_chain_has_one_position() {
    let edges: Vec<_> = (1..10_000).map(|node| (node - 1, node)).collect();
    let drawing = draw_equal(10_000, &edges);
    assert_eq!(drawing.width, SIZE[0]);
    assert!(drawing.nodes.iter().all(|node| node[0] == 20.0));
    assert!(drawing.edges.iter().all(|points| is_straight(points)));
    assert_eq!(drawing.nodes[9_999][1], 9_999.0 * 50.0 + 10.0);
}

#[test]
fn a_star_is_two_layers_with_its_centre_in_the_middle() {
    for is_source in [true, false] {
        let edge = |leaf| if is_source { (0, leaf) } else { (leaf, 0) };
        let edges: Vec<_> = (1..10_000).map(edge).collect();
        let drawing = draw_equal(10_000, &edges);
        assert_eq!(drawing.height, 2.0 * SIZE[1] + SPACING.layers);
        assert_eq!(drawing.width, 9_999.0 * 50.0 - SPACING.nodes);
        assert_eq!(drawing.nodes[0][0], drawing.width / 2.0);
        assert_eq!(crossings(&drawing, &edges[..100]), 0);
        assert_eq!(overlaps(&drawing, &vec![SIZE; 10_000]), []);
    }
}

#[test]
fn a_complete_bipartite_graph_has_as_many_crossings_as_it_must() {
    let edges: Vec<_> = (0..60)
        .flat_map(|source| (60..120).map(move |target| (source, target)))
        .collect();
    let drawing = draw_equal(120, &edges);
    assert_eq!(crossings(&drawing, &edges), (60 * 59 / 2) * (60 * 59 / 2));
    assert_eq!(drawing.width, 60.0 * 50.0 - SPACING.nodes);
}

#[test]
fn nodes_without_edges_fill_a_square() {
    let drawing = draw_equal(10_000, &[]);
    assert_eq!(overlaps(&drawing, &vec![SIZE; 10_000]), []);
    assert!((drawing.width / drawing.height - 1.0).abs() < 0.1);
}

#[test]
fn a_path_around_a_chain_leaves_it_straight() {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 3)];
    let drawing = draw_equal(5, &edges);
    assert!(drawing.nodes.iter().all(|node| node[0] == 20.0));
    // Half of the chain's box, and the mean of both spacings.
    let x = 20.0 + 20.0 + 8.0;
    let around = [[20.0, 70.0], [x, 100.0], [x, 120.0], [20.0, 150.0]];
    assert_eq!(drawing.edges[4], around);
    assert_eq!(
        path(&around),
        "M20 70C20 85 48 85 48 100V120C48 135 20 135 20 150"
    );
    assert_eq!(drawing.width, x);
}

#[test]
fn a_line_leaves_the_layer_before_it_turns() {
    let sizes = [[40.0, 20.0], [40.0, 20.0], [40.0, 60.0], [40.0, 20.0]];
    let drawing = draw(&sizes, &[(0, 1), (0, 2), (1, 3), (2, 3)], SPACING).unwrap();
    let [x, y] = drawing.nodes[1];
    assert_eq!(y, drawing.nodes[2][1]);
    // The lower side of its box, then the lower end of the layer, which the other box reaches.
    assert_eq!(drawing.edges[2][..2], [[x, y + 10.0], [x, y + 30.0]]);
    assert_eq!(drawing.nodes[0][0], drawing.nodes[3][0]);
}

#[test]
fn a_constant_stands_above_its_user() {
    let edges = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 3)];
    let drawing = draw_equal(6, &edges);
    assert_eq!(drawing.nodes[5][1], drawing.nodes[2][1]);
    assert_eq!(drawing.nodes[4][1], drawing.nodes[1][1]);
}

#[test]
fn sides_that_would_cross_are_exchanged() {
    // Two ladders whose rungs are named crosswise.
    let edges = [
        (0, 2),
        (0, 3),
        (1, 4),
        (1, 5),
        (2, 7),
        (3, 7),
        (4, 6),
        (5, 6),
        (7, 8),
        (6, 8),
    ];
    let drawing = draw_equal(9, &edges);
    assert_eq!(crossings(&drawing, &edges), 0);
}

#[test]
fn cycles_are_errors_that_name_a_node() {
    let cycle = draw(&[SIZE; 3], &[(0, 1), (1, 1)], SPACING).unwrap_err();
    assert_eq!(cycle, Cycle { nodes: vec![1] });
    let cycle = draw(&[SIZE; 4], &[(3, 1), (1, 2), (2, 3), (0, 1)], SPACING).unwrap_err();
    assert_eq!(cycle.nodes.len(), 3);
    let message = cycle.to_string();
    assert!(
        message.starts_with("the graph has a cycle of 3 nodes through node "),
        "{message}"
    );
}
