//! A chart as SVG, readable without a program of its own: axes with round numbers, a legend, a line or dots per series.

use std::fmt::Write;

/// The mark of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    #[default]
    Line,
    /// Joined by steps: each point's height is kept until the place of the next.
    Steps,
    /// Each by itself, and where many lie together darker.
    Dots,
    /// Each by itself, to stand out among dots.
    Points,
}

/// One line of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The mark of its points.
    pub mark: Mark,
    /// Points in the order in which they are joined; points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// Lines over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Above the chart.
    pub title: String,
    /// Under the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// True for a logarithmic horizontal axis; only positive values are shown then.
    pub log_x: bool,
    /// The lines.
    pub series: Vec<Series>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
/// Left, top, right and bottom of the plot.
const PLOT: [f64; 4] = [70.0, 40.0, 540.0, 380.0];
/// Distinguishable with any kind of colour vision (Okabe and Ito, 2008).
const COLORS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
];

impl Chart {
    /// The chart as a whole SVG document.
    pub fn to_svg(&self) -> String {
        let shown: Vec<Vec<(f64, f64)>> = self
            .series
            .iter()
            .map(|series| self.shown(series))
            .collect();
        let x = Axis::over(shown.iter().flatten().map(|point| point.0));
        let y = Axis::over(shown.iter().flatten().map(|point| point.1));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        self.labels(&mut svg);
        self.ticks(&mut svg, &x, &y);
        for (i, points) in shown.iter().enumerate() {
            draw(&mut svg, i, self.series[i].mark, points, &x, &y);
            legend(&mut svg, i, &self.series[i].name);
        }
        svg + "</svg>\n"
    }

    /// The points of a series that can be shown, on the chart's scale.
    fn shown(&self, series: &Series) -> Vec<(f64, f64)> {
        let scaled = series
            .points
            .iter()
            .map(|&(x, y)| (if self.log_x { x.log10() } else { x }, y));
        scaled
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .collect()
    }

    fn labels(&self, svg: &mut String) {
        let [left, top, right, bottom] = PLOT;
        let (middle, center) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
        text(
            svg,
            middle,
            22.0,
            "middle",
            &self.title,
            " font-size=\"15\"",
        );
        text(svg, middle, bottom + 40.0, "middle", &self.x_label, "");
        let turned = format!(" transform=\"rotate(-90 18 {center})\"");
        text(svg, 18.0, center, "middle", &self.y_label, &turned);
    }

    fn ticks(&self, svg: &mut String, x: &Axis, y: &Axis) {
        let [left, top, right, bottom] = PLOT;
        for value in x.ticks() {
            let at = x.place(value, left, right);
            rule(svg, [at, top, at, bottom]);
            let shown = if self.log_x {
                10_f64.powf(value)
            } else {
                value
            };
            text(svg, at, bottom + 18.0, "middle", &number(shown), "");
        }
        for value in y.ticks() {
            let at = y.place(value, bottom, top);
            rule(svg, [left, at, right, at]);
            text(svg, left - 6.0, at + 4.0, "end", &number(value), "");
        }
    }
}

/// A range of values that ends on round numbers.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let span = if high > low {
            high - low
        } else {
            high.abs().max(1.0)
        };
        let rough = span / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = power
            * [1.0, 2.0, 5.0, 10.0]
                .into_iter()
                .find(|m| m * power >= rough)
                .unwrap_or(10.0);
        Self {
            low: (low / step).floor() * step,
            high: (high / step).ceil().max((low / step).floor() + 1.0) * step,
            step,
        }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let count = ((self.high - self.low) / self.step).round() as usize;
        let (low, step) = (self.low, self.step);
        (0..=count).map(move |i| low + i as f64 * step)
    }

    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        from + (value - self.low) / (self.high - self.low) * (to - from)
    }
}

fn draw(svg: &mut String, i: usize, mark: Mark, points: &[(f64, f64)], x: &Axis, y: &Axis) {
    let [left, top, right, bottom] = PLOT;
    let color = COLORS[i % COLORS.len()];
    let places: Vec<(f64, f64)> = points
        .iter()
        .map(|&(a, b)| (x.place(a, left, right), y.place(b, bottom, top)))
        .collect();
    if matches!(mark, Mark::Line | Mark::Steps) {
        let corners = if mark == Mark::Steps {
            steps(&places)
        } else {
            places.clone()
        };
        let path: Vec<String> = corners
            .iter()
            .map(|(a, b)| format!("{a:.1},{b:.1}"))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" points=\"{}\"/>",
            path.join(" ")
        );
    }
    let opacity = if mark == Mark::Dots {
        " fill-opacity=\"0.4\""
    } else {
        ""
    };
    let _ = writeln!(svg, "<g fill=\"{color}\"{opacity}>");
    for (a, b) in places {
        let _ = writeln!(svg, "<circle cx=\"{a:.1}\" cy=\"{b:.1}\" r=\"3\"/>");
    }
    svg.push_str("</g>\n");
}

/// The places with the corners of the steps between them.
fn steps(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * places.len());
    for &place in places {
        if let Some(&last) = corners.last() {
            corners.push((place.0, last.1));
        }
        corners.push(place);
    }
    corners
}

fn legend(svg: &mut String, i: usize, name: &str) {
    let [_, top, right, _] = PLOT;
    let at = top + 10.0 + 18.0 * i as f64;
    let color = COLORS[i % COLORS.len()];
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{color}\"/>",
        right + 14.0,
        at - 10.0
    );
    text(svg, right + 32.0, at, "start", name, "");
}

fn rule(svg: &mut String, [x1, y1, x2, y2]: [f64; 4]) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#ddd\"/>"
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str, more: &str) {
    let words = words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{more}>{words}</text>"
    );
}

/// A tick's number without the noise of binary fractions.
fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{value:.0e}")
    } else {
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)], log_x: bool) -> String {
        let series = vec![Series {
            name: "a < b".into(),
            points: points.to_vec(),
            ..Series::default()
        }];
        Chart {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            log_x,
            series,
        }
        .to_svg()
    }

    #[test]
    fn every_point_lies_inside_the_plot() {
        for points in [
            &[(0.0, 1.0), (3.0, 1.0)][..],
            &[(1e-6, 1.35), (0.1, 0.83)],
            &[(5.0, 5.0)],
            &[],
        ] {
            for log_x in [false, true] {
                let svg = chart(points, log_x);
                for circle in svg.lines().filter(|line| line.starts_with("<circle")) {
                    let numbers: Vec<f64> = circle
                        .split('"')
                        .filter_map(|part| part.parse().ok())
                        .collect();
                    assert!(
                        (69.9..540.1).contains(&numbers[0]) && (39.9..380.1).contains(&numbers[1]),
                        "{circle}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_shown_is_left_out() {
        assert_eq!(
            chart(&[(0.0, 1.0), (1.0, f64::NAN), (10.0, 2.0)], true)
                .matches("<circle")
                .count(),
            1
        );
        assert!(chart(&[], false).contains("a &lt; b"));
    }

    #[test]
    fn steps_are_level_or_upright() {
        let corners = steps(&[(0.0, 3.0), (2.0, 1.0), (5.0, 4.0)]);
        for pair in corners.windows(2) {
            assert!(pair[0].0 == pair[1].0 || pair[0].1 == pair[1].1, "{pair:?}");
        }
        assert_eq!(corners[1..3], [(2.0, 3.0), (2.0, 1.0)]);
        assert_eq!((steps(&[]).len(), corners.len()), (0, 5));
    }

    #[test]
    fn ticks_are_round() {
        let axis = Axis::over([0.832, 1.354].into_iter());
        let ticks: Vec<String> = axis.ticks().map(number).collect();
        assert_eq!(ticks, ["0.8", "1", "1.2", "1.4"]);
    }
}
