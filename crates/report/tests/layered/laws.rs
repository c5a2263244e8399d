//! Laws over random graphs without cycles.

use crate::measure::{boxes_crossed, chain_edges, is_straight, overlaps, parts};
use proptest::prelude::*;
use report::layered::{Drawing, Spacing, draw};

#[derive(Clone, Debug)]
struct Graph {
    sizes: Vec<[f32; 2]>,
    edges: Vec<(usize, usize)>,
    spacing: Spacing,
}

impl Graph {
    fn draw(&self) -> Drawing {
        draw(&self.sizes, &self.edges, self.spacing).unwrap()
    }
}

/// Graphs of up to 300 nodes in any order, from single nodes to dense ones, with edges that are named twice. Edges are
/// short or span everything, so that there are chains and long edges.
fn graphs() -> impl Strategy<Value = Graph> {
    let nodes = (1_usize..300).prop_flat_map(|n| {
        let sizes = prop::collection::vec((0_u8..120, 0_u8..60), n);
        let edges = prop::collection::vec((0..n, 1..n.max(2), any::<bool>()), 0..n + n / 2);
        (sizes, edges, Just((0..n).collect()).prop_shuffle())
    });
    let spacing = (1_u8..40, 1_u8..40, 1_u8..40).prop_map(|(nodes, layers, edges)| Spacing {
        nodes: nodes.into(),
        layers: layers.into(),
        edges: edges.into(),
    });
    (nodes, spacing).prop_map(
        |((sizes, edges, names), spacing): ((_, _, Vec<usize>), _)| {
            let edges = edges.into_iter().filter_map(|(source, span, is_long)| {
                let target = source + if is_long { span } else { 1 + span % 3 };
                Some((names[source], *names.get(target)?))
            });
            let sizes: Vec<(u8, u8)> = sizes;
            Graph {
                sizes: sizes
                    .into_iter()
                    .map(|(w, h)| [w.into(), h.into()])
                    .collect(),
                edges: edges.collect(),
                spacing,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn boxes_do_not_overlap_and_lie_within_the_drawing(graph in graphs()) {
        let drawing = graph.draw();
        prop_assert_eq!(overlaps(&drawing, &graph.sizes), []);
        let size = [drawing.width, drawing.height];
        for (centre, own) in drawing.nodes.iter().zip(&graph.sizes) {
            for axis in 0..2 {
                let half = own[axis] / 2.0 - 0.01;
                prop_assert!(centre[axis] - half >= 0.0 && centre[axis] + half <= size[axis]);
            }
        }
    }

    #[test]
    fn edges_go_down_from_box_to_box_and_through_none(graph in graphs()) {
        let drawing = graph.draw();
        for (points, &(source, target)) in drawing.edges.iter().zip(&graph.edges) {
            let (first, last) = (points[0], points[points.len() - 1]);
            let end = |node: usize, side: f32| {
                let [x, y] = drawing.nodes[node];
                [x, y + side * graph.sizes[node][1] / 2.0]
            };
            let near = |a: [f32; 2], b: [f32; 2]| a[0] == b[0] && (a[1] - b[1]).abs() < 0.01;
            prop_assert!(near(first, end(source, 1.0)) && near(last, end(target, -1.0)));
            prop_assert!(first[1] < last[1]);
            prop_assert!(points.is_sorted_by(|a, b| a[1] <= b[1]), "{:?}", points);
        }
        prop_assert_eq!(boxes_crossed(&drawing, &graph.sizes), []);
    }

    #[test]
    fn chains_are_straight(graph in graphs()) {
        let drawing = graph.draw();
        for edge in chain_edges(graph.sizes.len(), &graph.edges) {
            prop_assert!(is_straight(&drawing.edges[edge]), "{:?}", drawing.edges[edge]);
        }
    }

    #[test]
    fn a_drawing_is_a_function_of_its_input(graph in graphs()) {
        prop_assert_eq!(graph.draw(), graph.draw());
    }

    #[test]
    fn the_same_edge_named_twice_is_one_line(mut graph in graphs()) {
        let once = graph.draw();
        graph.edges.extend_from_within(..);
        let twice = graph.draw();
        prop_assert_eq!(&once.nodes, &twice.nodes);
        let (first, second) = twice.edges.split_at(once.edges.len());
        prop_assert!(once.edges == first && first == second);
    }

    #[test]
    fn parts_that_no_edge_joins_do_not_touch(mut graph in graphs()) {
        let n_nodes = graph.sizes.len();
        let copy: Vec<_> = graph.edges.iter().map(|&(a, b)| (a + n_nodes, b + n_nodes)).collect();
        graph.sizes.extend_from_within(..);
        graph.edges.extend(copy);
        let drawing = graph.draw();
        let frames: Vec<_> = parts(&drawing, &graph.sizes, &graph.edges);
        prop_assert!(frames.len() >= 2);
        for (place, a) in frames.iter().enumerate() {
            for b in &frames[place + 1..] {
                let is_apart = |axis: usize| a[axis].1 < b[axis].0 || b[axis].1 < a[axis].0;
                prop_assert!(is_apart(0) || is_apart(1), "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn an_edge_back_is_a_cycle_with_its_nodes(mut graph in graphs(), place in any::<prop::sample::Index>()) {
        prop_assume!(!graph.edges.is_empty());
        let (source, target) = graph.edges[place.index(graph.edges.len())];
        graph.edges.push((target, source));
        let cycle = draw(&graph.sizes, &graph.edges, graph.spacing).unwrap_err();
        let next = cycle.nodes.iter().cycle().skip(1);
        for edge in cycle.nodes.iter().copied().zip(next.copied()) {
            prop_assert!(graph.edges.contains(&edge), "{:?}", cycle);
        }
    }
}
