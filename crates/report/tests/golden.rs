//! Charts as they are drawn: every mark, every scale, legends and squares of counts, against the pictures in `golden`.
//! `BLESS=1 cargo test -p report --test golden` rewrites these; look at what it wrote.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use report::{Chart, Heatmap, Mark, Scale, Series};
use std::path::Path;

/// A name, a scale, and points on it.
type Case<'a> = (&'a str, Scale, &'a [(f64, f64)]);

fn check(name: &str, svg: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = folder.join(format!("{name}.svg"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, svg).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for (number, (got, expected)) in (1..).zip(svg.lines().zip(expected.lines())) {
        assert_eq!(got, expected, "{name}.svg, line {number}");
    }
    assert_eq!(svg.len(), expected.len(), "{name}.svg");
}

fn series(name: &str, mark: Mark, points: &[(f64, f64)]) -> Series {
    Series {
        name: name.to_owned(),
        mark,
        points: points.to_vec(),
        ..Series::default()
    }
}

fn chart(title: &str, x_scale: Scale, series: Vec<Series>) -> Chart {
    Chart {
        title: title.to_owned(),
        x_label: "step".to_owned(),
        y_label: "loss".to_owned(),
        x_scale,
        series,
        ..Chart::default()
    }
}

#[test]
fn every_mark_is_drawn() {
    let marks = [
        ("line", Mark::Line),
        ("dashes", Mark::Dashes),
        ("curve", Mark::Curve),
        ("steps", Mark::Steps),
        ("dots", Mark::Dots),
        ("points", Mark::Points),
    ];
    let of_mark = |(i, (name, mark)): (usize, (&str, Mark))| {
        let height = i as f64;
        series(
            name,
            mark,
            &[(0.0, height), (3.0, height + 0.7), (8.0, height - 0.4)],
        )
    };
    let mut all: Vec<Series> = marks.into_iter().enumerate().map(of_mark).collect();
    all[0].errors = vec![0.25, 0.0, f64::NAN];
    all[1].color = Some(9);
    all.push(series("", Mark::Line, &[(1.0, -1.5), (7.0, -1.25)]));
    let chart = Chart {
        legend: "marks & more".to_owned(),
        levels: vec![("float".to_owned(), 2.2)],
        ..chart("marks", Scale::Linear, all)
    };
    check("marks", &chart.to_svg());
}

/// Eighteen lines have room; one more, or a heading above them, and the last is a count.
#[test]
fn a_legend_has_room_for_eighteen_lines() {
    let many = |count: usize| -> Vec<Series> {
        (0..count)
            .map(|i| series(&format!("series {i}"), Mark::Line, &[(0.0, i as f64)]))
            .collect()
    };
    let counted = |count, legend: &str| {
        let chart = Chart {
            legend: legend.to_owned(),
            ..chart("many", Scale::Linear, many(count))
        };
        let svg = chart.to_svg();
        let more = svg.split(">and ").nth(1)?.split(' ').next()?;
        more.parse::<usize>().ok()
    };
    assert_eq!(counted(18, ""), None);
    assert_eq!(counted(19, ""), Some(2));
    assert_eq!(counted(17, "heading"), None);
    assert_eq!(counted(18, "heading"), Some(2));
    let chart = Chart {
        legend: "heading".to_owned(),
        ..chart("many", Scale::Linear, many(20))
    };
    check("legend", &chart.to_svg());
    for (length, is_cut) in [(26, false), (27, true)] {
        let name = "n".repeat(length);
        let svg = self::chart("name", Scale::Linear, vec![series(&name, Mark::Line, &[])]).to_svg();
        assert_eq!(svg.contains('…'), is_cut, "{length}");
        assert!(!svg.contains(&"n".repeat(if is_cut { 26 } else { 27 })));
    }
}

#[test]
fn every_scale_has_round_ticks() {
    let words = ["adam", "sgd", "lion"].map(str::to_owned).to_vec();
    let cases: [Case; 8] = [
        ("empty", Scale::Linear, &[]),
        ("constant", Scale::Linear, &[(5.0, 250.0), (5.0, 250.0)]),
        (
            "negative",
            Scale::Linear,
            &[(-30.0, -0.004), (45.0, 0.0015)],
        ),
        (
            "decades",
            Scale::Log,
            &[(1e-12, 0.1), (3.0, 0.2), (2e3, 0.15)],
        ),
        ("octave", Scale::Log, &[(0.003, 1.0), (0.008, 2.0)]),
        (
            "powers",
            Scale::Log,
            &[(16.0, 1e6), (64.0, 3e6), (256.0, 2e6)],
        ),
        (
            "many_powers",
            Scale::Log,
            &[(1.0, 1.0), (1_073_741_824.0, 2.0)],
        ),
        (
            "words",
            Scale::Words(words),
            &[(0.0, 0.5), (1.0, 0.75), (2.0, 0.625)],
        ),
    ];
    for (name, scale, points) in cases {
        let chart = chart(name, scale, vec![series("a", Mark::Line, points)]);
        check(name, &chart.to_svg());
    }
    let empty = chart("empty_log", Scale::Log, Vec::new());
    check("empty_log", &empty.to_svg());
}

/// `count` classes, of which each is taken for itself and sometimes for the next.
fn square(count: usize, name: impl Fn(usize) -> String) -> Heatmap {
    let row = |row: usize| {
        let mut counts = vec![0; count];
        counts[row] = 10 * row as u64;
        counts[(row + 1) % count] += 7;
        counts
    };
    Heatmap {
        title: "classes".to_owned(),
        row_label: "class".to_owned(),
        column_label: "taken for".to_owned(),
        names: (0..count).map(name).collect(),
        counts: (0..count).map(row).collect(),
    }
}

#[test]
fn squares_write_what_has_room() {
    // Numbers with shares, numbers alone, and neither.
    let names = ["g", "a name of fifty-seven pixels", "w"];
    check("square", &square(3, |i| names[i].to_owned()).to_svg());
    check("fine_square", &square(11, |i| format!("class{i}")).to_svg());
    let texts = |count| {
        square(count, |i| i.to_string())
            .to_svg()
            .matches("<text")
            .count()
    };
    assert_eq!(texts(10), 3 + 2 * 100 + 2 * 10);
    assert_eq!(texts(25), 3 + 625 + 2 * 25);
    assert_eq!(texts(26), 3);
}

/// A name is turned when it is as wide as its column.
#[test]
fn names_that_do_not_fit_are_turned() {
    let turned = |name: &str| {
        let svg = square(8, |_| name.to_owned()).to_svg();
        svg.matches("rotate(-35").count()
    };
    assert_eq!((turned("seven77"), turned("eight888")), (0, 8));
    let turned = |count: usize| {
        let svg = square(count, |_| "4444".to_owned()).to_svg();
        svg.matches("rotate(-35").count()
    };
    assert_eq!((turned(14), turned(15)), (0, 15));
}
