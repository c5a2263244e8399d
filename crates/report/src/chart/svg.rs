//! The parts that charts are drawn from.

use crate::escape_line;
use std::fmt::Write;

/// Distinguishable with any kind of colour vision (Okabe and Ito, 2008).
pub(super) const COLORS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
];

/// A document that is being drawn.
pub(super) struct Svg(String);

impl Svg {
    /// An empty white page.
    pub fn new(width: f64, height: f64) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        ))
    }

    /// The whole document.
    pub fn finish(self) -> String {
        self.0 + "</svg>\n"
    }

    pub fn text(&mut self, x: f64, y: f64, anchor: &str, words: &str, more: &str) {
        let words = escaped(words);
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{more}>{words}</text>"
        );
    }

    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], color: &str, more: &str) {
        let _ = writeln!(
            self.0,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\"{more}/>"
        );
    }

    /// A line of the grid.
    pub fn rule(&mut self, ends: [f64; 4]) {
        self.line(ends, "#ddd", "");
    }

    pub fn polyline(&mut self, points: &[(f64, f64)], color: &str, more: &str) {
        let path: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let _ = writeln!(
            self.0,
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{more} points=\"{}\"/>",
            path.join(" ")
        );
    }

    pub fn circles(&mut self, centers: &[(f64, f64)], color: &str, opacity: f64) {
        let _ = writeln!(self.0, "<g fill=\"{color}\" fill-opacity=\"{opacity}\">");
        for (x, y) in centers {
            let _ = writeln!(self.0, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
        }
        self.0.push_str("</g>\n");
    }

    pub fn square(&mut self, [x, y, width, height]: [f64; 4], color: &str) {
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\"/>"
        );
    }

    /// A sample of points for the legend, left of the text at this height.
    pub fn point_key(&mut self, x: f64, y: f64, color: &str, opacity: f64) {
        self.circles(&[(x + 8.0, y - 4.0)], color, opacity);
    }

    /// A sample of a line for the legend, left of the text at this height.
    pub fn key(&mut self, x: f64, y: f64, color: &str, is_dashed: bool) {
        let dashes = if is_dashed {
            " stroke-dasharray=\"5 3\""
        } else {
            ""
        };
        let more = format!(" stroke-width=\"3\"{dashes}");
        self.line([x, y - 4.0, x + 16.0, y - 4.0], color, &more);
    }
}

fn escaped(words: &str) -> String {
    escape_line(words)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
