//! Charts as SVG, readable without a program of their own: lines over two axes, and squares of counts.

mod axis;
mod heatmap;
mod svg;

pub use axis::Scale;
pub use heatmap::Heatmap;

use axis::Axis;
use svg::{COLORS, Svg};

/// The mark of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    #[default]
    Line,
    /// Joined by a line of dashes.
    Dashes,
    /// Joined by a line, without a mark for each point.
    Curve,
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
    /// The name in the legend; without one it is not there.
    pub name: String,
    /// The mark of its points.
    pub mark: Mark,
    /// The number of its colour; its place among the series if not given.
    pub color: Option<usize>,
    /// Points in the order in which they are joined; points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// Half the height of the bar over each point; none where there is no entry.
    pub errors: Vec<f64>,
}

/// Lines over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Above the chart.
    pub title: String,
    /// Under the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// The scale of the horizontal axis.
    pub x_scale: Scale,
    /// Above the legend.
    pub legend: String,
    /// The lines.
    pub series: Vec<Series>,
    /// Level lines across the chart, each with its name.
    pub levels: Vec<(String, f64)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
/// Left, top, right and bottom of the plot.
const PLOT: [f64; 4] = [76.0, 40.0, 540.0, 380.0];
/// Lines of the legend that fit beside the plot.
const MAX_LEGEND: usize = 18;
/// Characters of a name that fit beside the plot.
const MAX_NAME: usize = 26;

/// A point on the scales of the axes, and half the height of its bar.
type Placed = (f64, f64, f64);

impl Chart {
    /// The chart as a whole SVG document.
    pub fn to_svg(&self) -> String {
        let shown: Vec<Vec<Placed>> = self
            .series
            .iter()
            .map(|series| self.shown(series))
            .collect();
        let points = || shown.iter().flatten();
        let x = Axis::of_scale(&self.x_scale, points().map(|point| point.0));
        let heights = points().flat_map(|&(_, y, error)| [y - error, y + error]);
        let y = Axis::linear(heights.chain(self.levels.iter().map(|level| level.1)));
        let mut svg = Svg::new(WIDTH, HEIGHT);
        self.labels(&mut svg);
        ticks(&mut svg, &x, &y);
        for (name, level) in &self.levels {
            draw_level(&mut svg, name, y.place(*level, PLOT[3], PLOT[1]));
        }
        for (i, points) in shown.iter().enumerate() {
            let places: Vec<Placed> = points.iter().map(|&point| place(point, &x, &y)).collect();
            draw(&mut svg, self.series[i].mark, self.color(i), &places);
        }
        self.legend(&mut svg);
        svg.finish()
    }

    /// The points of a series that can be shown, on the chart's scale.
    fn shown(&self, series: &Series) -> Vec<Placed> {
        let scaled = series.points.iter().enumerate().map(|(i, &(x, y))| {
            let error = series
                .errors
                .get(i)
                .copied()
                .filter(|error| error.is_finite());
            (self.x_scale.apply(x), y, error.unwrap_or(0.0))
        });
        scaled
            .filter(|(x, y, _)| x.is_finite() && y.is_finite())
            .collect()
    }

    fn color(&self, i: usize) -> &'static str {
        COLORS[self.series[i].color.unwrap_or(i) % COLORS.len()]
    }

    fn labels(&self, svg: &mut Svg) {
        let [left, top, right, bottom] = PLOT;
        let (middle, center) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
        svg.text(middle, 22.0, "middle", &self.title, " font-size=\"15\"");
        svg.text(middle, bottom + 40.0, "middle", &self.x_label, "");
        let turned = format!(" transform=\"rotate(-90 18 {center})\"");
        svg.text(18.0, center, "middle", &self.y_label, &turned);
    }

    fn legend(&self, svg: &mut Svg) {
        let [_, top, right, _] = PLOT;
        let named: Vec<usize> = (0..self.series.len())
            .filter(|&i| !self.series[i].name.is_empty())
            .collect();
        let max = MAX_LEGEND - usize::from(!self.legend.is_empty());
        let fits = named.len() <= max;
        let shown = if fits { named.len() } else { max - 1 };
        let at = |line: usize| top + 10.0 + 18.0 * line as f64;
        let first = usize::from(!self.legend.is_empty());
        svg.text(right + 14.0, at(0), "start", &self.legend, " fill=\"#666\"");
        for (line, &i) in named[..shown].iter().enumerate() {
            let y = at(first + line);
            let series = &self.series[i];
            match series.mark {
                Mark::Dots => svg.point_key(right + 14.0, y, self.color(i), 0.4),
                Mark::Points => svg.point_key(right + 14.0, y, self.color(i), 1.0),
                mark => svg.key(right + 14.0, y, self.color(i), mark == Mark::Dashes),
            }
            svg.text(right + 36.0, y, "start", &shortened(&series.name), "");
        }
        if !fits {
            let more = format!("and {} more", named.len() - shown);
            svg.text(
                right + 36.0,
                at(first + shown),
                "start",
                &more,
                " fill=\"#666\"",
            );
        }
    }
}

/// A name that fits beside the plot.
fn shortened(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    let head: String = name.chars().take(MAX_NAME - 1).collect();
    head + "…"
}

fn place((a, b, error): Placed, x: &Axis, y: &Axis) -> Placed {
    let [left, top, right, bottom] = PLOT;
    let height = y.place(b, bottom, top);
    (
        x.place(a, left, right),
        height,
        height - y.place(b + error, bottom, top),
    )
}

fn ticks(svg: &mut Svg, x: &Axis, y: &Axis) {
    let [left, top, right, bottom] = PLOT;
    for (value, name) in x.ticks() {
        let at = x.place(value, left, right);
        svg.rule([at, top, at, bottom]);
        svg.text(at, bottom + 18.0, "middle", &name, "");
    }
    for (value, name) in y.ticks() {
        let at = y.place(value, bottom, top);
        svg.rule([left, at, right, at]);
        svg.text(left - 6.0, at + 4.0, "end", &name, "");
    }
}

fn draw_level(svg: &mut Svg, name: &str, at: f64) {
    let [left, _, right, _] = PLOT;
    svg.line([left, at, right, at], "#666", " stroke-dasharray=\"2 3\"");
    svg.text(left + 6.0, at - 5.0, "start", name, " fill=\"#666\"");
}

fn draw(svg: &mut Svg, mark: Mark, color: &str, places: &[Placed]) {
    for &(x, y, error) in places.iter().filter(|place| place.2 > 0.0) {
        svg.line([x, y - error, x, y + error], color, "");
        for end in [y - error, y + error] {
            svg.line([x - 4.0, end, x + 4.0, end], color, "");
        }
    }
    let points: Vec<(f64, f64)> = places.iter().map(|&(x, y, _)| (x, y)).collect();
    match mark {
        Mark::Line | Mark::Curve => svg.polyline(&points, color, ""),
        Mark::Dashes => svg.polyline(&points, color, " stroke-dasharray=\"6 4\""),
        Mark::Steps => svg.polyline(&steps(&points), color, ""),
        Mark::Dots | Mark::Points => {}
    }
    if mark != Mark::Curve {
        svg.circles(&points, color, if mark == Mark::Dots { 0.4 } else { 1.0 });
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)], x_scale: Scale) -> String {
        let series = vec![Series {
            name: "a < b".into(),
            points: points.to_vec(),
            errors: vec![0.1; points.len()],
            ..Series::default()
        }];
        Chart {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            x_scale,
            legend: "l".into(),
            series,
            levels: vec![("float".into(), 1.1)],
        }
        .to_svg()
    }

    fn numbers(line: &str) -> Vec<f64> {
        let parts = line.split('"').filter_map(|part| part.parse().ok());
        parts.collect()
    }

    #[test]
    fn everything_lies_inside_the_plot() {
        let words = Scale::Words(vec!["adam".into(), "sgd".into()]);
        for points in [
            &[(0.0, 1.0), (1.0, 1.0)][..],
            &[(1e-6, 1.35), (0.1, 0.83)],
            &[(5.0, 5.0)],
            &[(8.0, 1.0), (64.0, 2.0)],
            &[],
        ] {
            for scale in [Scale::Linear, Scale::Log, words.clone()] {
                let is_words = matches!(scale, Scale::Words(_));
                if is_words && points.iter().any(|point| point.0 > 1.0) {
                    continue;
                }
                let svg = chart(points, scale);
                for line in svg.lines() {
                    let inside =
                        |x: f64, y: f64| (75.9..540.1).contains(&x) && (39.9..380.1).contains(&y);
                    let is_inside = match numbers(line)[..] {
                        [x, y, _] if line.starts_with("<circle") => inside(x, y),
                        [x1, y1, x2, y2, ..] if line.starts_with("<line") && x2 <= 540.0 => {
                            inside(x1.max(76.0), y1) && inside(x2, y2)
                        }
                        _ => true,
                    };
                    assert!(is_inside, "{line}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_shown_is_left_out() {
        let svg = chart(&[(0.0, 1.0), (1.0, f64::NAN), (10.0, 2.0)], Scale::Log);
        assert_eq!(svg.matches("<circle").count(), 1);
        assert!(svg.contains("a &lt; b"));
    }

    #[test]
    fn a_long_legend_ends_with_a_count() {
        let series = |i: usize| Series {
            name: format!("{i}: a name that is far too long to stand beside a plot"),
            points: vec![(0.0, i as f64)],
            ..Series::default()
        };
        let svg = Chart {
            series: (0..30).map(series).collect(),
            ..Chart::default()
        }
        .to_svg();
        assert!(svg.contains("and 13 more"));
        assert!(svg.contains(">0: a name that is far too…<"), "{svg}");
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
    fn everything_stands_at_its_place() {
        let svg = Chart {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            legend: "runs".into(),
            series: vec![
                Series {
                    name: "a".into(),
                    points: vec![(0.0, 0.0), (5.0, 1.0), (10.0, 2.0)],
                    errors: vec![0.0, 0.5, f64::NAN],
                    ..Series::default()
                },
                Series {
                    name: "b".into(),
                    mark: Mark::Dots,
                    points: vec![(5.0, 0.5)],
                    ..Series::default()
                },
            ],
            levels: vec![("float".into(), 1.5)],
            ..Chart::default()
        }
        .to_svg();
        for expected in [
            "<text x=\"308.0\" y=\"22.0\" text-anchor=\"middle\" font-size=\"15\">t</text>",
            "<text x=\"308.0\" y=\"420.0\" text-anchor=\"middle\">x</text>",
            "<text x=\"18.0\" y=\"210.0\" text-anchor=\"middle\" transform=\"rotate(-90 18 210)\">y</text>",
            // Ticks at 2 of 10 across, and at 0.5 of 2 up.
            "<line x1=\"168.8\" y1=\"40.0\" x2=\"168.8\" y2=\"380.0\" stroke=\"#ddd\"/>",
            "<text x=\"168.8\" y=\"398.0\" text-anchor=\"middle\">2</text>",
            "<line x1=\"76.0\" y1=\"295.0\" x2=\"540.0\" y2=\"295.0\" stroke=\"#ddd\"/>",
            "<text x=\"70.0\" y=\"299.0\" text-anchor=\"end\">0.5</text>",
            // The level at three quarters.
            "<line x1=\"76.0\" y1=\"125.0\" x2=\"540.0\" y2=\"125.0\" stroke=\"#666\" stroke-dasharray=\"2 3\"/>",
            "<text x=\"82.0\" y=\"120.0\" text-anchor=\"start\" fill=\"#666\">float</text>",
            // The points, and the bar over the second, with its ends.
            "points=\"76.0,380.0 308.0,210.0 540.0,40.0\"/>",
            "<line x1=\"308.0\" y1=\"125.0\" x2=\"308.0\" y2=\"295.0\" stroke=\"#0072b2\"/>",
            "<line x1=\"304.0\" y1=\"125.0\" x2=\"312.0\" y2=\"125.0\" stroke=\"#0072b2\"/>",
            "<line x1=\"304.0\" y1=\"295.0\" x2=\"312.0\" y2=\"295.0\" stroke=\"#0072b2\"/>",
            "<g fill=\"#d55e00\" fill-opacity=\"0.4\">\n<circle cx=\"308.0\" cy=\"295.0\" r=\"3\"/>",
            // The legend: its heading, then a line for each.
            "<text x=\"554.0\" y=\"50.0\" text-anchor=\"start\" fill=\"#666\">runs</text>",
            "<line x1=\"554.0\" y1=\"64.0\" x2=\"570.0\" y2=\"64.0\" stroke=\"#0072b2\" stroke-width=\"3\"/>",
            "<text x=\"576.0\" y=\"68.0\" text-anchor=\"start\">a</text>",
            "<circle cx=\"562.0\" cy=\"82.0\" r=\"3\"/>",
            "<text x=\"576.0\" y=\"86.0\" text-anchor=\"start\">b</text>",
        ] {
            assert!(svg.contains(expected), "{expected}: {svg}");
        }
        // One bar with two ends: no other point has one.
        assert_eq!(svg.matches("stroke=\"#0072b2\"/>").count(), 3);
    }

    #[test]
    fn marks_are_drawn_as_they_say() {
        let drawn = |mark: Mark| {
            let series = Series {
                name: "s".into(),
                mark,
                color: Some(9),
                points: vec![(0.0, 0.0), (1.0, 1.0)],
                ..Series::default()
            };
            let svg = Chart {
                series: vec![series],
                ..Chart::default()
            }
            .to_svg();
            // Colours begin anew after the seventh.
            assert!(svg.contains("#009e73") && !svg.contains("#0072b2"));
            let count = |part: &str| svg.matches(part).count();
            [
                count("<polyline"),
                count("dasharray"),
                count("<circle"),
                count("opacity=\"0.4\""),
            ]
        };
        assert_eq!(drawn(Mark::Line), [1, 0, 2, 0]);
        assert_eq!(drawn(Mark::Dashes), [1, 2, 2, 0]);
        assert_eq!(drawn(Mark::Curve), [1, 0, 0, 0]);
        assert_eq!(drawn(Mark::Steps), [1, 0, 2, 0]);
        assert_eq!(drawn(Mark::Dots), [0, 0, 3, 2]);
        assert_eq!(drawn(Mark::Points), [0, 0, 3, 0]);
    }

    #[test]
    fn a_legend_has_as_many_lines_as_there_is_room_for() {
        for (legend, named, shown) in [
            ("", 18, 18),
            ("", 19, 17),
            ("runs", 17, 17),
            ("runs", 18, 16),
        ] {
            let series = |i: usize| Series {
                name: if i == 0 {
                    String::new()
                } else {
                    format!("s{i}.")
                },
                points: vec![(0.0, i as f64)],
                ..Series::default()
            };
            let svg = Chart {
                legend: legend.into(),
                series: (0..=named).map(series).collect(),
                ..Chart::default()
            }
            .to_svg();
            assert_eq!(
                svg.matches(".</text>").count(),
                shown,
                "{named} under '{legend}'"
            );
            let rest = format!(
                "y=\"356.0\" text-anchor=\"start\" fill=\"#666\">and {} more<",
                named - shown
            );
            assert_eq!(svg.contains(&rest), named > shown, "{svg}");
        }
        assert_eq!(shortened(&"n".repeat(MAX_NAME)), "n".repeat(26));
        assert_eq!(shortened(&"n".repeat(27)), "n".repeat(25) + "…");
    }
}
