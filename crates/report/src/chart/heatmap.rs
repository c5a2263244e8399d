//! A square of counts: rows of one class that were taken for another.

use super::svg::Svg;

/// Counts by two lists of names, the share of each row as its shade.
#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    /// Above the square.
    pub title: String,
    /// Beside the rows.
    pub row_label: String,
    /// Under the columns.
    pub column_label: String,
    /// The names of rows and columns.
    pub names: Vec<String>,
    /// The counts, by row and column.
    pub counts: Vec<Vec<u64>>,
}

/// The side of the square, and the space around it.
const SIDE: f64 = 400.0;
const LEFT: f64 = 120.0;
const TOP: f64 = 50.0;
/// More names than this are not written out.
const MAX_NAMES: usize = 25;
/// Characters of a name beside the square.
const MAX_NAME: usize = 12;

impl Heatmap {
    /// The square as a whole SVG document.
    pub fn to_svg(&self) -> String {
        let mut svg = Svg::new(LEFT + SIDE + 40.0, TOP + SIDE + 70.0);
        let center = TOP + SIDE / 2.0;
        let middle = LEFT + SIDE / 2.0;
        svg.text(middle, 26.0, "middle", &self.title, " font-size=\"15\"");
        svg.text(middle, TOP + SIDE + 52.0, "middle", &self.column_label, "");
        let turned = format!(" transform=\"rotate(-90 18 {center})\"");
        svg.text(18.0, center, "middle", &self.row_label, &turned);
        let cell = SIDE / self.names.len().max(1) as f64;
        for (row, counts) in self.counts.iter().enumerate() {
            let total: u64 = counts.iter().sum();
            for (column, &count) in counts.iter().enumerate() {
                let (x, y) = (LEFT + cell * column as f64, TOP + cell * row as f64);
                let share = count as f64 / total.max(1) as f64;
                svg.square([x, y, cell, cell], &shade(share));
                self.number(&mut svg, [x, y, cell], count, share);
            }
        }
        self.write_names(&mut svg, cell);
        svg.finish()
    }

    /// The count, and its share of the row under it, where both can be read.
    fn number(&self, svg: &mut Svg, [x, y, cell]: [f64; 3], count: u64, share: f64) {
        if self.names.len() > MAX_NAMES {
            return;
        }
        let color = if share > 0.5 { " fill=\"white\"" } else { "" };
        let middle = x + cell / 2.0;
        if cell < 40.0 {
            let size = format!(" font-size=\"{:.0}\"{color}", (cell / 3.5).max(5.0));
            svg.text(
                middle,
                y + cell / 2.0 + 3.0,
                "middle",
                &count.to_string(),
                &size,
            );
            return;
        }
        let center = y + cell / 2.0;
        svg.text(middle, center - 1.0, "middle", &count.to_string(), color);
        let percent = format!("{:.1} %", 100.0 * share);
        let small = format!(" font-size=\"10\"{color}");
        svg.text(middle, center + 13.0, "middle", &percent, &small);
    }

    fn write_names(&self, svg: &mut Svg, cell: f64) {
        if self.names.len() > MAX_NAMES {
            return;
        }
        for (place, name) in self.names.iter().enumerate() {
            let at = (place as f64 + 0.5) * cell;
            let short: String = name.chars().take(MAX_NAME).collect();
            svg.text(LEFT - 8.0, TOP + at + 4.0, "end", &short, "");
            let (x, y) = (LEFT + at, TOP + SIDE + 18.0);
            // A letter is seven wide.
            let fits = short.chars().count() <= (cell / 7.0) as usize;
            let turned = format!(" transform=\"rotate(-35 {x:.1} {y:.1})\"");
            let (anchor, more) = if fits {
                ("middle", "")
            } else {
                ("end", turned.as_str())
            };
            svg.text(x, y, anchor, &short, more);
        }
    }
}

/// White for nothing, blue for all.
fn shade(share: f64) -> String {
    let mix = |to: f64| (255.0 + (to - 255.0) * share.sqrt()).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0.0), mix(84.0), mix(150.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_written_and_shaded_by_its_share() {
        let svg = Heatmap {
            title: "jets".into(),
            row_label: "class".into(),
            column_label: "taken for".into(),
            names: vec!["g".into(), "q".into()],
            counts: vec![vec![3, 1], vec![0, 0]],
        }
        .to_svg();
        for expected in [
            ">3<",
            ">75.0 %<",
            ">25.0 %<",
            ">taken for<",
            "fill=\"#ffffff\"",
        ] {
            assert!(svg.contains(expected), "{expected}: {svg}");
        }
    }

    fn square(names: usize, counts: Vec<Vec<u64>>) -> String {
        Heatmap {
            title: String::new(),
            row_label: "rows".into(),
            column_label: String::new(),
            names: (0..names).map(|k| format!("n{k:04}")).collect(),
            counts,
        }
        .to_svg()
    }

    #[test]
    fn squares_counts_and_names_stand_at_their_places() {
        let svg = square(2, vec![vec![3, 1], vec![0, 2]]);
        for expected in [
            // White to #005496 by the root of the share: three quarters, a quarter, all.
            "<rect x=\"120.0\" y=\"50.0\" width=\"200.0\" height=\"200.0\" fill=\"#226ba4\"/>",
            "<rect x=\"320.0\" y=\"50.0\" width=\"200.0\" height=\"200.0\" fill=\"#80aacb\"/>",
            "<rect x=\"320.0\" y=\"250.0\" width=\"200.0\" height=\"200.0\" fill=\"#005496\"/>",
            "<text x=\"220.0\" y=\"149.0\" text-anchor=\"middle\" fill=\"white\">3</text>",
            "<text x=\"420.0\" y=\"149.0\" text-anchor=\"middle\">1</text>",
            "<text x=\"420.0\" y=\"163.0\" text-anchor=\"middle\" font-size=\"10\">25.0 %</text>",
            "<text x=\"112.0\" y=\"154.0\" text-anchor=\"end\">n0000</text>",
            "<text x=\"420.0\" y=\"468.0\" text-anchor=\"middle\">n0001</text>",
            "<text x=\"18.0\" y=\"250.0\" text-anchor=\"middle\" transform=\"rotate(-90 18 250)\">rows<",
            "viewBox=\"0 0 560 520\"",
        ] {
            assert!(svg.contains(expected), "{expected}: {svg}");
        }
        // Half of a row is not dark enough for white.
        assert!(!square(2, vec![vec![1, 1]]).contains("fill=\"white\">1<"));
    }

    #[test]
    fn what_has_no_room_is_left_out() {
        let row = |names: usize| square(names, vec![vec![7; names]]);
        // Cells of 40 have room for the share; those of 36.4 for a smaller count and names of five letters.
        assert!(row(10).contains(">10.0 %<"));
        let eleven = row(11);
        assert!(!eleven.contains('%') || !eleven.contains(">9.1 %<"));
        assert!(eleven.contains(
            "<text x=\"138.2\" y=\"71.2\" text-anchor=\"middle\" font-size=\"10\">7</text>"
        ));
        assert!(!eleven.contains("rotate(-35"));
        let twelve = row(12);
        assert!(twelve.contains("transform=\"rotate(-35 136.7 468.0)\">n0000<"));
        let most = row(25);
        assert!(most.contains("font-size=\"5\">7<") && most.contains(">n0024<"));
        let too_many = row(26);
        assert!(!too_many.contains(">7<") && !too_many.contains(">n0000<"));
    }
}
