//! Results as aligned columns.

/// Prints a header and rows, every column as wide as its widest cell; all but the first are right-aligned.
pub fn print(header: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells
            .chain([header[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
        println!("{}", padded.collect::<Vec<_>>().join("  "));
    };
    line(&header.iter().map(ToString::to_string).collect::<Vec<_>>());
    for row in rows {
        line(row);
    }
    println!();
}

/// Seconds as microseconds, below ten with one digit more.
pub fn micros(seconds: f64) -> String {
    let micros = seconds * 1e6;
    let digits = if micros < 10.0 { 2 } else { 1 };
    format!("{micros:.digits$}")
}

/// A ratio.
pub fn times(ratio: f64) -> String {
    format!("{ratio:.2}×")
}
