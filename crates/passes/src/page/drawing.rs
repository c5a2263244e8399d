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
    let is_large = names.len() > MAX_BOXES;
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
    let limited = is_large.then(|| {
        let nodes = names.len();
        format!("{nodes} nodes are too many to be drawn one by one: groups are drawn closed")
    });
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
