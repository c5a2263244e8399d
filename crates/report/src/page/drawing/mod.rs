//! The graph of a report as an SVG file of its own: boxes in the colours of their kinds, smooth lines between them.

mod theme;
mod words;

pub use words::box_size;

use super::{cut, escaped, list, text};
use serde_json::Value as Json;
use std::fmt::Write;
use theme::{DARK, LIGHT, Theme, blend};
use words::{ABOUT_SIZE, BADGE_SIZE, CHARACTER, NAME_SIZE, PADDING, Words, groups_around};

const FRAME_SIZE: f64 = 9.0;
/// Characters of the name of a frame.
const MAX_FRAME_NAME: usize = 24;
/// Boxes of a drawing that stands in the page for browsers without JavaScript.
const MAX_BOXES: usize = 200;
/// Free room around the drawing.
const MARGIN: f64 = 10.0;

/// The first view of a report's graph as a standalone SVG, in light or dark colours.
pub fn svg(graph: &Json, dark: bool) -> String {
    view_svg(graph, &graph["views"][0], if dark { &DARK } else { &LIGHT })
}

/// The first view that has few boxes, else the most closed one, in light colours.
pub(super) fn small_svg(graph: &Json) -> String {
    let views = list(graph, "views");
    let is_small = |view: &&Json| list(view, "boxes").len() <= MAX_BOXES;
    let view = views.iter().find(is_small).or(views.last());
    view.map_or_else(String::new, |view| view_svg(graph, view, &LIGHT))
}

fn view_svg(graph: &Json, view: &Json, theme: &Theme) -> String {
    let (width, height) = (number(&view["width"]), number(&view["height"]));
    let [full_width, full_height] = [width, height].map(|size| size + 2.0 * MARGIN);
    let low = -MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{low} {low} {full_width:.1} {full_height:.1}\" \
         width=\"{full_width:.1}\" height=\"{full_height:.1}\" font-family=\"sans-serif\" role=\"img\">\n\
         <title>{}</title>\n\
         <rect x=\"{low}\" y=\"{low}\" width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
        escaped(text(graph, "name")),
        theme.ground,
    );
    draw_frames(&mut out, graph, view, theme);
    draw_edges(&mut out, view, theme);
    for place in list(view, "boxes") {
        draw_box(&mut out, graph, place, theme);
    }
    out + "</svg>\n"
}

/// The frames of open groups, with their names on the upper edge.
fn draw_frames(out: &mut String, graph: &Json, view: &Json, theme: &Theme) {
    for frame in list(view, "frames") {
        let at = |k: usize| number(&frame[k]);
        let [left, top] = [at(1) - at(3) / 2.0, at(2) - at(4) / 2.0];
        let group = frame[0].as_u64().unwrap_or_default() as usize;
        let name = cut(text(&graph["groups"][group], "name"), MAX_FRAME_NAME);
        // A name does not stand on that of the frame around it.
        let (x, anchor) = match groups_around(graph, group).count() % 2 {
            0 => (left + at(3) - 9.0, "end"),
            _ => (left + 9.0, "start"),
        };
        let _ = writeln!(
            out,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"5\" fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"{FRAME_SIZE}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"4\" paint-order=\"stroke\">{}</text>",
            at(3),
            at(4),
            theme.edge,
            top + 3.0,
            theme.faint,
            theme.ground,
            escaped(&name),
        );
    }
}

fn draw_edges(out: &mut String, view: &Json, theme: &Theme) {
    let edge = theme.edge;
    let _ = writeln!(
        out,
        "<g fill=\"none\" stroke=\"{edge}\" stroke-width=\"1.3\">"
    );
    let mut heads = String::new();
    for edge in list(view, "edges").iter().filter_map(Json::as_array) {
        let numbers: Vec<f64> = edge.iter().skip(2).map(number).collect();
        let points: Vec<[f64; 2]> = numbers.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
        let Some([x, y]) = points.last() else {
            continue;
        };
        let _ = writeln!(out, "<path d=\"{}\"/>", smooth(&points));
        let _ = write!(heads, "M{x:.1} {y:.1}l-3.5 -6h7z");
    }
    let _ = writeln!(out, "</g>\n<path d=\"{heads}\" fill=\"{edge}\"/>");
}

/// Vertical cubics through points.
fn smooth(points: &[[f64; 2]]) -> String {
    let mut path = String::new();
    if let Some([x, y]) = points.first() {
        let _ = write!(path, "M{x:.1} {y:.1}");
    }
    for pair in points.windows(2) {
        let [[x, y], [u, v]] = [pair[0], pair[1]];
        let middle = f64::midpoint(y, v);
        let _ = write!(path, "C{x:.1} {middle:.1} {u:.1} {middle:.1} {u:.1} {v:.1}");
    }
    path
}

/// A box at its place `[reference, x, y, width, height]`.
fn draw_box(out: &mut String, graph: &Json, place: &Json, theme: &Theme) {
    let at = |k: usize| number(&place[k]);
    let [width, height] = [at(3), at(4)];
    let [left, top] = [at(1) - width / 2.0, at(2) - height / 2.0];
    let reference = place[0].as_i64().unwrap_or_default();
    let node = usize::try_from(reference)
        .map(|node| &graph["nodes"][node])
        .ok();
    let words = match node {
        Some(node) => Words::of_node(node),
        None => Words::of_group(graph, (-reference - 1) as usize),
    };
    let kind = node.map_or("", |node| text(node, "kind"));
    let color = theme.kinds.iter().find(|(name, _)| *name == kind);
    let color = color.map_or(theme.faint, |(_, color)| *color);
    let outline = outline(node.map_or("", |node| text(node, "state")), color, theme);
    let fill = blend(color, theme.ground, 0.86);
    let _ = writeln!(
        out,
        "<g transform=\"translate({left:.1} {top:.1})\"><title>{}</title>\
         <rect width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\" fill=\"{fill}\" {outline}/>",
        escaped(&words.name)
    );
    if kind == "opaque" {
        hatch(out, width, height, color);
    }
    let bar = (height - 8.0).max(0.0);
    let _ = writeln!(
        out,
        "<rect x=\"1\" y=\"4\" width=\"3.5\" height=\"{bar:.1}\" fill=\"{color}\"/>"
    );
    draw_words(out, &words, [width, height], theme);
    out.push_str("</g>\n");
}

/// The attributes of the outline of a box by its state in a diff.
fn outline(state: &str, own: &str, theme: &Theme) -> String {
    let (color, width, more) = match state {
        "changed" => (theme.changed, 2.0, ""),
        "added" => (theme.added, 2.4, ""),
        "removed" => (theme.removed, 1.4, " stroke-dasharray=\"5 3\""),
        _ => (own, 1.0, ""),
    };
    format!("stroke=\"{color}\" stroke-width=\"{width}\"{more}")
}

/// Strokes over an opaque operator, cut at its edges.
fn hatch(out: &mut String, width: f64, height: f64, color: &str) {
    let mut path = String::new();
    let mut at = 7.0 - height;
    while at < width {
        let [x, y] = [at.max(0.0), height.min(height + at)];
        let reach = y.min(width - x);
        let _ = write!(path, "M{x:.1} {y:.1}l{reach:.1} {:.1}", -reach);
        at += 7.0;
    }
    let _ = writeln!(
        out,
        "<path d=\"{path}\" stroke=\"{color}\" stroke-opacity=\"0.35\"/>"
    );
}

/// The texts of a box, as many as have room: name, operator and shape, formats.
fn draw_words(out: &mut String, words: &Words, [width, height]: [f64; 2], theme: &Theme) {
    let rows = match height {
        46.0.. if !words.badges.is_empty() => 3,
        30.0.. => 2,
        _ => 1,
    };
    let pitch = f64::min(15.0, (height - 6.0) / f64::from(rows));
    let mut y = (height - pitch * f64::from(rows - 1)) / 2.0;
    let lines = [
        (&words.name, NAME_SIZE, theme.ink, " font-weight=\"600\""),
        (&words.about, ABOUT_SIZE, theme.faint, ""),
        (&words.badges, BADGE_SIZE, theme.faint, ""),
    ];
    for (words, size, color, more) in lines.into_iter().take(rows as usize) {
        let room = ((width - PADDING + 4.0) / (size * CHARACTER)).max(1.0);
        let words = escaped(&cut(words, room as usize));
        let base = y + size * 0.35;
        let _ = writeln!(
            out,
            "<text x=\"11\" y=\"{base:.1}\" font-size=\"{size}\" fill=\"{color}\"{more} xml:space=\"preserve\">{words}</text>"
        );
        y += pitch;
    }
}

/// A number of the data; zero where there is none.
fn number(value: &Json) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_leave_and_arrive_upright() {
        let path = smooth(&[[0.0, 0.0], [10.0, 20.0], [10.0, 40.0]]);
        assert_eq!(
            path,
            "M0.0 0.0C0.0 10.0 10.0 10.0 10.0 20.0C10.0 30.0 10.0 30.0 10.0 40.0"
        );
        assert_eq!(blend("#000000", "#ffffff", 0.5), "#808080");
    }

    /// The drawing of a graph with one view of these boxes, edges and frames.
    fn drawn(view: &Json, nodes: &Json) -> String {
        let groups = json!([{ "name": "outer" }, { "name": "inner", "parent": 0 }]);
        svg(
            &json!({ "name": "g", "nodes": nodes, "groups": groups, "views": [view] }),
            false,
        )
    }

    fn assert_holds(svg: &str, parts: &[&str]) {
        for part in parts {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }

    #[test]
    fn boxes_edges_and_frames_stand_at_their_places() {
        let svg = drawn(
            &json!({
                "width": 100, "height": 80,
                "boxes": [[0, 50, 20, 60, 40], [-2, 50, 60, 84, 46]],
                "edges": [[0, 1, 50, 40, 60, 50]],
                "frames": [[0, 50, 40, 80, 60], [1, 50, 45, 60, 30]],
            }),
            &json!([{ "name": "layer_one", "op": "linear", "shape": "1×4", "kind": "product", "group": 1 }]),
        );
        assert_holds(
            &svg,
            &[
                "viewBox=\"-10 -10 120.0 100.0\" width=\"120.0\" height=\"100.0\"",
                "<g transform=\"translate(20.0 0.0)\"><title>layer_one</title>\
                 <rect width=\"60.0\" height=\"40.0\" rx=\"5\" fill=\"#e0ecf4\" stroke=\"#2477b3\" stroke-width=\"1\"/>",
                "<rect x=\"1\" y=\"4\" width=\"3.5\" height=\"32.0\" fill=\"#2477b3\"/>",
                // Two lines 15 apart around the middle, with room for five and six letters.
                "<text x=\"11\" y=\"16.7\" font-size=\"12\" fill=\"#1c1e21\" font-weight=\"600\" xml:space=\"preserve\">laye…</text>",
                "<text x=\"11\" y=\"31.2\" font-size=\"10.5\" fill=\"#626a73\" xml:space=\"preserve\">linea…</text>",
                // A closed group, by its number and the nodes in it.
                "<g transform=\"translate(8.0 37.0)\"><title>inner</title>",
                ">1 nodes, …<",
                "<path d=\"M50.0 40.0C50.0 45.0 60.0 45.0 60.0 50.0\"/>",
                "<path d=\"M60.0 50.0l-3.5 -6h7z\" fill=\"#a9b0b8\"/>",
                // The outer frame has its name on the left, the inner on the right.
                "<rect x=\"10.0\" y=\"10.0\" width=\"80.0\" height=\"60.0\" rx=\"5\" fill=\"none\"",
                "<text x=\"19.0\" y=\"13.0\" text-anchor=\"start\"",
                "<rect x=\"20.0\" y=\"30.0\" width=\"60.0\" height=\"30.0\"",
                "<text x=\"71.0\" y=\"33.0\" text-anchor=\"end\"",
            ],
        );
    }

    #[test]
    fn a_box_has_as_many_lines_as_there_is_room_for() {
        let format = json!([{ "port": "weight", "format": "integer(8, 4)" }]);
        for (height, formats, lines) in [
            (54, &format, 3),
            (46, &format, 3),
            (45, &format, 2),
            (54, &json!([]), 2),
            (30, &format, 2),
            (29, &format, 1),
        ] {
            let svg = drawn(
                &json!({ "width": 300, "height": 80, "boxes": [[0, 150, 40, 260, height]] }),
                &json!([{ "name": "n", "op": "linear", "formats": formats }]),
            );
            assert_eq!(svg.matches("<text").count(), lines, "{height}: {svg}");
        }
        let svg = drawn(
            &json!({ "width": 300, "height": 80, "boxes": [[0, 150, 40, 260, 46]] }),
            &json!([{ "name": "n", "op": "linear", "formats": format }]),
        );
        // Three lines 13.3 apart.
        assert_holds(&svg, &["y=\"13.9\"", "y=\"26.7\"", "y=\"39.7\""]);
    }

    #[test]
    fn what_has_changed_has_another_outline() {
        for (state, wanted) in [
            ("changed", "stroke=\"#c94f00\" stroke-width=\"2\""),
            ("added", "stroke=\"#00786a\" stroke-width=\"2.4\""),
            (
                "removed",
                "stroke=\"#8a929b\" stroke-width=\"1.4\" stroke-dasharray=\"5 3\"",
            ),
            ("same", "stroke=\"own\" stroke-width=\"1\""),
        ] {
            assert_eq!(outline(state, "own", &LIGHT), wanted);
        }
    }

    #[test]
    fn an_opaque_box_is_hatched_up_to_its_edges() {
        let mut out = String::new();
        hatch(&mut out, 20.0, 10.0, "red");
        let path = "M0.0 7.0l7.0 -7.0M4.0 10.0l10.0 -10.0M11.0 10.0l9.0 -9.0M18.0 10.0l2.0 -2.0";
        assert_eq!(
            out,
            format!("<path d=\"{path}\" stroke=\"red\" stroke-opacity=\"0.35\"/>\n")
        );
        let of = |kind: &str| {
            let nodes = json!([{ "name": "n", "op": "own", "kind": kind }]);
            drawn(&json!({ "boxes": [[0, 50, 20, 60, 40]] }), &nodes)
        };
        assert!(of("opaque").contains("stroke-opacity") && !of("shape").contains("stroke-opacity"));
    }

    #[test]
    fn a_small_drawing_is_the_first_view_of_few_boxes_or_the_last() {
        let view =
            |boxes: usize| json!({ "width": boxes, "boxes": vec![json!([0, 0, 0, 9, 9]); boxes] });
        let drawn = |views: &[usize]| {
            let views: Vec<Json> = views.iter().map(|&boxes| view(boxes)).collect();
            small_svg(&json!({ "nodes": [{ "name": "n" }], "views": views }))
                .matches("<g t")
                .count()
        };
        assert_eq!(drawn(&[MAX_BOXES, 3]), 200);
        assert_eq!(drawn(&[MAX_BOXES + 1, 3, 2]), 3);
        assert_eq!(drawn(&[MAX_BOXES + 2, MAX_BOXES + 1]), 201);
        assert_eq!(drawn(&[]), 0);
    }

    #[test]
    fn a_box_has_room_for_its_texts() {
        let size = |node: Json| box_size(&node);
        // The widest of the lines by its letters, 20 around it, and no less than 60 or more than the largest box.
        assert_eq!(size(json!({ "name": "n", "op": "relu" })), (80.0, 38.0));
        assert_eq!(
            size(json!({ "name": "twelve_chars", "op": "relu" })),
            (113.0, 38.0)
        );
        let op = json!({ "name": "n", "op": "batch_norm2d", "shape": "1×64" });
        assert_eq!(size(op), (141.0, 38.0));
        let format =
            json!({ "name": "n", "formats": [{ "port": "weight", "format": "integer(16, 8)" }] });
        assert_eq!(size(format), (106.0, 54.0));
    }
}
