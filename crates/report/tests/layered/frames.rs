//! Frames around open groups: each holds its nodes and no others, and no two cross.

use crate::groups::named_graphs;
use proptest::prelude::*;
use report::layered::{Drawing, Frame, Groups, Member, Reduced, Spacing, draw};
use std::collections::BTreeSet;

const SIZE: [f32; 2] = [40.0, 20.0];

/// A graph with these groups closed, drawn with room for frames.
fn framed(
    groups: &Groups,
    edges: &[(usize, usize)],
    closed: &BTreeSet<usize>,
) -> (Reduced, Drawing, Vec<Frame>) {
    let reduced = groups.reduce(edges, closed);
    let sizes = vec![SIZE; reduced.nodes.len()];
    let spacing = groups.framed_spacing(&reduced, Spacing::default());
    let drawing = draw(&sizes, &reduced.edges, spacing).unwrap();
    let frames = groups.frames(&reduced, &drawing, &sizes);
    (reduced, drawing, frames)
}

/// True when the box around a place is inside a frame; nothing when it is partly.
fn is_inside(frame: &Frame, place: [f32; 2]) -> Option<bool> {
    let inside = (0..2).all(|axis| {
        let half = SIZE[axis] / 2.0;
        frame.low[axis] < place[axis] - half && place[axis] + half < frame.high[axis]
    });
    let outside = (0..2).any(|axis| {
        let half = SIZE[axis] / 2.0;
        frame.high[axis] <= place[axis] - half || place[axis] + half <= frame.low[axis]
    });
    (inside != outside).then_some(inside)
}

#[test]
fn blocks_of_a_chain_have_nested_frames() {
    let names = ["x", "net.0.a", "net.0.b", "net.1.a", "net.1.b", "y"];
    let groups = Groups::new(&names);
    let edges: Vec<_> = (1..6).map(|node| (node - 1, node)).collect();
    let (_, drawing, frames) = framed(&groups, &edges, &BTreeSet::new());
    let framed_groups: Vec<usize> = frames.iter().map(|frame| frame.group).collect();
    assert_eq!(framed_groups, [0, 1, 2]);
    assert!(frames[0].holds(&frames[1]) && frames[0].holds(&frames[2]));
    assert!(frames[1].high[1] < frames[2].low[1]);
    assert!(drawing.nodes[0][1] + 10.0 < frames[0].low[1]);
    let (_, _, closed) = framed(&groups, &edges, &BTreeSet::from([0]));
    assert_eq!(closed, []);
    let (_, _, inner) = framed(&groups, &edges, &BTreeSet::from([1]));
    assert_eq!(
        inner.iter().map(|own| own.group).collect::<Vec<_>>(),
        [0, 2]
    );
}

#[test]
fn a_group_with_others_in_its_midst_has_no_frame() {
    let groups = Groups::new(&["a.0", "x", "a.1"]);
    let (_, _, frames) = framed(&groups, &[(0, 1), (1, 2)], &BTreeSet::new());
    assert_eq!(frames, []);
}

proptest! {
    #[test]
    fn frames_hold_their_nodes_alone_and_do_not_cross((names, edges) in named_graphs(), is_closed in prop::collection::vec(any::<bool>(), 80)) {
        let groups = Groups::new(&names);
        let closed = (0..groups.groups.len()).filter(|&group| is_closed[group % 80]).collect();
        let (reduced, drawing, frames) = framed(&groups, &edges, &closed);
        for frame in &frames {
            prop_assert!(!reduced.nodes.contains(&Member::Group(frame.group)));
            let beginning = format!("{}.", groups.groups[frame.group].name);
            for (node, member) in reduced.nodes.iter().enumerate() {
                let name = match member {
                    Member::Node(node) => names[*node].clone(),
                    Member::Group(group) => format!("{}.", groups.groups[*group].name),
                };
                prop_assert_eq!(is_inside(frame, drawing.nodes[node]), Some(name.starts_with(&beginning)));
            }
            for other in frames.iter().filter(|other| *other != frame) {
                let is_apart = (0..2).any(|axis| frame.high[axis] <= other.low[axis] || other.high[axis] <= frame.low[axis]);
                prop_assert!(is_apart || frame.holds(other) || other.holds(frame));
            }
        }
    }
}
