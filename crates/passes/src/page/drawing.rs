//! The drawings of a graph: all groups open, and closed from each depth on.

use report::layered::{self, Drawing, Frame, Groups, Member, Spacing};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Boxes above this are drawn closed only.
const MAX_BOXES: usize = 8_000;
/// Depths of groups that have a drawing of their own.
const MAX_DEPTH: usize = 3;
/// Height of the box of a closed group, its widths, and the width of a letter.
const HEIGHT: f32 = 46.0;
const WIDTHS: (f32, f32) = (84.0, 260.0);
const LETTER: f32 = 7.0;

/// The groups, the drawings, and a sentence when not everything is drawn.
pub(super) struct Drawings {
    pub groups: Vec<Json>,
    pub group_of: Vec<Option<usize>>,
    pub views: Vec<Json>,
    pub limited: Option<String>,
}

/// Draws nodes with these dotted names, sizes and edges.
pub(super) fn drawings(names: &[String], sizes: &[[f32; 2]], edges: &[(usize, usize)]) -> Drawings {
    let groups = Groups::new(names);
    let limited = limited(names.len());
    let is_large = limited.is_some();
    let mut views = Vec::new();
    if !is_large {
        views.push(view(&groups, sizes, edges, &BTreeSet::new()));
    }
    // A view for every depth, from the inside out; the outermost groups of a large graph are always drawn.
    let depths = depths(&groups);
    let deepest = depths.iter().copied().max().unwrap_or(0);
    let shown = if is_large {
        0..1
    } else {
        0..deepest.min(MAX_DEPTH)
    };
    for depth in shown.rev() {
        let closed = depths.iter().enumerate();
        let closed = closed.filter(|(_, own)| **own == depth + 1);
        let closed = closed.map(|(group, _)| group).collect();
        views.push(view(&groups, sizes, edges, &closed));
    }
    let shown = groups
        .groups
        .iter()
        .map(|group| json!({ "name": group.name, "parent": group.parent, "closed": is_large }));
    Drawings {
        groups: shown.collect(),
        group_of: groups.innermost.clone(),
        views: views.into_iter().flatten().collect(),
        limited,
    }
}

/// The sentence on a network of which only closed groups are drawn.
fn limited(nodes: usize) -> Option<String> {
    (nodes > MAX_BOXES).then(|| {
        format!("{nodes} nodes are too many to be drawn one by one: groups are drawn closed")
    })
}

/// The number of groups around each group, itself included.
fn depths(groups: &Groups) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(groups.groups.len());
    for group in &groups.groups {
        depths.push(1 + group.parent.map_or(0, |parent| depths[parent]));
    }
    depths
}

fn view(
    groups: &Groups,
    sizes: &[[f32; 2]],
    edges: &[(usize, usize)],
    closed: &BTreeSet<usize>,
) -> Option<Json> {
    let reduced = groups.reduce(edges, closed);
    let size = |member: &Member| match member {
        Member::Node(node) => sizes[*node],
        Member::Group(group) => {
            let letters = groups.groups[*group].name.chars().count();
            let width = letters as f32 * LETTER + 30.0;
            [width.clamp(WIDTHS.0, WIDTHS.1), HEIGHT]
        }
    };
    let sizes: Vec<[f32; 2]> = reduced.nodes.iter().map(size).collect();
    let spacing = groups.framed_spacing(&reduced, Spacing::default());
    let mut drawing = layered::draw(&sizes, &reduced.edges, spacing).ok()?;
    let mut frames = groups.frames(&reduced, &drawing, &sizes);
    make_room(&mut drawing, &mut frames);
    let frames: Vec<Json> = frames.iter().map(frame).collect();
    let number = |member: &Member| match member {
        Member::Node(node) => *node as i64,
        Member::Group(group) => -(*group as i64) - 1,
    };
    let boxes = reduced.nodes.iter().zip(&sizes).zip(&drawing.nodes);
    let boxes: Vec<Json> = boxes
        .map(|((member, [w, h]), [x, y])| {
            json!([number(member), tenth(*x), tenth(*y), tenth(*w), tenth(*h)])
        })
        .collect();
    let lines = reduced.edges.iter().zip(&drawing.edges);
    let lines: Vec<Json> = lines
        .map(|((from, to), points)| {
            let ends = [json!(from), json!(to)].into_iter();
            let points = points.iter().flatten().map(|place| tenth(*place));
            ends.chain(points).collect()
        })
        .collect();
    Some(json!({
        "closed": closed,
        "width": tenth(drawing.width),
        "height": tenth(drawing.height),
        "boxes": boxes,
        "edges": lines,
        "frames": frames,
    }))
}

/// Moves a drawing and its frames so that the frames are within it too.
fn make_room(drawing: &mut Drawing, frames: &mut [Frame]) {
    let size = [&mut drawing.width, &mut drawing.height];
    for (axis, size) in size.into_iter().enumerate() {
        let low = frames.iter().map(|own| own.low[axis]).fold(0.0, f32::min);
        let high = frames
            .iter()
            .map(|own| own.high[axis])
            .fold(*size, f32::max);
        *size = high - low;
        let points = drawing
            .nodes
            .iter_mut()
            .chain(drawing.edges.iter_mut().flatten());
        let corners = frames
            .iter_mut()
            .flat_map(|own| [&mut own.low, &mut own.high]);
        for point in points.chain(corners) {
            point[axis] -= low;
        }
    }
}

/// A frame as the page has it: group, centre and size.
fn frame(own: &Frame) -> Json {
    let middle = |axis: usize| tenth(f32::midpoint(own.low[axis], own.high[axis]));
    let size = |axis: usize| tenth(own.high[axis] - own.low[axis]);
    json!([own.group, middle(0), middle(1), size(0), size(1)])
}

/// A place, to a tenth of a pixel.
fn tenth(place: f32) -> Json {
    let rounded = (f64::from(place) * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 {
        json!(rounded as i64)
    } else {
        json!(rounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(names: &[&str], edges: &[(usize, usize)]) -> Drawings {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        drawings(&names, &vec![[60.0, 20.0]; names.len()], edges)
    }

    fn numbers(list: &Json) -> Vec<f64> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Json::as_f64).collect()
    }

    fn items(list: &Json) -> Vec<Vec<f64>> {
        list.as_array().into_iter().flatten().map(numbers).collect()
    }

    /// Two blocks in one module, between an input and a result.
    const BLOCKS: [&str; 6] = ["x", "b.0.fc", "b.0.act", "b.1.fc", "b.1.act", "out"];
    const CHAIN: [(usize, usize); 5] = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)];

    #[test]
    fn groups_are_drawn_open_then_closed_from_the_inside_out() {
        let found = drawn(&BLOCKS, &CHAIN);
        let group = |name: &str, parent: Option<usize>| json!({ "name": name, "parent": parent, "closed": false });
        let groups = [
            group("b", None),
            group("b.0", Some(0)),
            group("b.1", Some(0)),
        ];
        assert_eq!(found.groups, groups);
        let own = [None, Some(1), Some(1), Some(2), Some(2), None];
        assert_eq!(found.group_of, own);
        assert_eq!(found.limited, None);
        let closed: Vec<&Json> = found.views.iter().map(|view| &view["closed"]).collect();
        assert_eq!(closed, [&json!([]), &json!([1, 2]), &json!([0])]);
        // A node has its number; a closed group the negative one, from -1 on.
        let members = |view: &Json| items(&view["boxes"]).iter().map(|own| own[0]).collect();
        let members: Vec<Vec<f64>> = found.views.iter().map(members).collect();
        let all = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(
            members,
            [all, vec![0.0, -2.0, -3.0, 5.0], vec![0.0, -1.0, 5.0]]
        );
    }

    #[test]
    fn no_more_depths_have_a_drawing_than_a_reader_opens() {
        let names = ["a.p", "a.b.q", "a.b.c.r", "a.b.c.d.s", "a.b.c.d.t"];
        let found = drawn(&names, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        let closed: Vec<&Json> = found.views.iter().map(|view| &view["closed"]).collect();
        assert_eq!(closed, [&json!([]), &json!([2]), &json!([1]), &json!([0])]);
    }

    #[test]
    fn everything_lies_within_its_drawing_and_edges_join_the_sides_of_boxes() {
        for view in drawn(&BLOCKS, &CHAIN).views {
            let size = ["width", "height"].map(|side| view[side].as_f64().unwrap_or(0.0));
            let (boxes, frames) = (items(&view["boxes"]), items(&view["frames"]));
            for own in boxes.iter().chain(&frames) {
                for axis in 0..2 {
                    let (middle, half) = (own[1 + axis], own[3 + axis] / 2.0);
                    assert!(middle - half >= -0.1 && middle + half <= size[axis] + 0.1);
                }
            }
            let edges = items(&view["edges"]);
            assert_eq!(edges.len(), boxes.len() - 1);
            for (k, edge) in edges.iter().enumerate() {
                assert_eq!(edge[..2], [k as f64, k as f64 + 1.0]);
                let (from, to, last) = (&boxes[k], &boxes[k + 1], edge.len() - 1);
                assert!((edge[3] - (from[2] + from[4] / 2.0)).abs() < 0.2);
                assert!((edge[last] - (to[2] - to[4] / 2.0)).abs() < 0.2);
            }
        }
        // The frames of the open drawing hold their nodes, the outer one all four.
        let open = &drawn(&BLOCKS, &CHAIN).views[0];
        let (boxes, frames) = (items(&open["boxes"]), items(&open["frames"]));
        for (frame, nodes) in frames.iter().zip([1..5, 1..3, 3..5]) {
            for own in &boxes[nodes] {
                for axis in 1..3 {
                    let room = (frame[axis + 2] - own[axis + 2]) / 2.0;
                    assert!((frame[axis] - own[axis]).abs() < room, "{frame:?}, {own:?}");
                }
            }
        }
        assert_eq!(frames.len(), 3);
    }

    #[test]
    fn the_box_of_a_closed_group_is_as_wide_as_its_name_within_bounds() {
        for (letters, width) in [(1, 84), (7, 84), (8, 86), (20, 170), (32, 254), (33, 260)] {
            let name = "m".repeat(letters);
            let found = drawn(&[&format!("{name}.a"), &format!("{name}.b")], &[(0, 1)]);
            let own = &found.views[1]["boxes"][0];
            assert_eq!([&own[3], &own[4]], [&json!(width), &json!(46)], "{letters}");
        }
    }

    #[test]
    fn a_large_network_is_drawn_with_its_outermost_groups_closed() {
        assert_eq!(limited(MAX_BOXES), None);
        let names: Vec<String> = (0..=MAX_BOXES).map(|k| format!("m.{}.k", k % 2)).collect();
        let found = drawings(&names, &vec![[60.0, 20.0]; names.len()], &[]);
        let text = found.limited.unwrap_or_default();
        assert!(text.starts_with("8001 nodes are too many"), "{text}");
        assert_eq!(found.views.len(), 1);
        assert_eq!(found.views[0]["closed"], json!([0]));
        assert!(found.groups.iter().all(|group| group["closed"] == true));
    }

    #[test]
    fn a_drawing_is_moved_and_widened_until_its_frames_are_within() {
        let mut drawing = Drawing {
            width: 10.0,
            height: 20.0,
            nodes: vec![[5.0, 5.0]],
            edges: vec![vec![[5.0, 6.0], [5.0, 9.0]]],
        };
        let mut frames = [Frame {
            group: 3,
            low: [-3.0, 2.0],
            high: [8.0, 25.5],
        }];
        make_room(&mut drawing, &mut frames);
        assert_eq!([drawing.width, drawing.height], [13.0, 25.5]);
        assert_eq!(drawing.nodes, [[8.0, 5.0]]);
        assert_eq!(drawing.edges, [[[8.0, 6.0], [8.0, 9.0]]]);
        assert_eq!(frame(&frames[0]), json!([3, 5.5, 13.8, 11, 23.5]));
    }

    #[test]
    fn places_are_to_a_tenth_of_a_pixel() {
        for (place, shown) in [(1.26, json!(1.3)), (2.04, json!(2)), (-0.31, json!(-0.3))] {
            assert_eq!(tenth(place), shown);
        }
    }
}
