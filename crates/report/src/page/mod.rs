//! One HTML file that shows a network without a network connection: its graph, what changed, its numbers, its training.
//!
//! [`page`] puts the file together from the markup, the looks and the programs beside this one, and the data of a report
//! (`report.json`). A content policy in the markup forbids the browser to load anything else. Without JavaScript the file
//! shows a drawing, the summary and tables. [`svg`] is that drawing, which papers can use too.

mod drawing;
mod plain;
mod squeeze;
mod training;

use serde_json::Value as Json;

pub use drawing::{box_size, svg};
pub use plain::table;

const MARKUP: &str = include_str!("page.html");
const LOOKS: &str = include_str!("page.css");
/// The programs, each after what it uses.
const PROGRAM: &str = concat!(
    include_str!("data.js"),
    include_str!("table.js"),
    include_str!("chart.js"),
    include_str!("view.js"),
    include_str!("colors.js"),
    include_str!("graph.js"),
    include_str!("camera.js"),
    include_str!("find.js"),
    include_str!("profiles.js"),
    include_str!("panel.js"),
    include_str!("nodes.js"),
    include_str!("picture.js"),
    include_str!("main.js"),
);

/// A chapter of the pages whose data has its entry.
pub struct Chapter {
    /// The entry of the data.
    pub entry: &'static str,
    /// Its place in the page.
    pub place: Place,
    /// Its elements.
    pub markup: &'static str,
    /// Its looks.
    pub looks: &'static str,
    /// Its program, which may use the functions of the page.
    pub program: &'static str,
    /// The form of its entry for browsers without JavaScript.
    pub plain: fn(&Json) -> String,
}

/// The place of a chapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind the summary.
    First,
    /// At the end.
    Last,
}

/// The page of a report.
pub fn page(data: &Json, title: &str, chapters: &[Chapter]) -> String {
    let (mut looks, mut program) = (squeeze::style(LOOKS), squeeze::program(PROGRAM));
    let [mut first, mut last] = [String::new(), String::new()];
    let mut plain = plain::plain(data);
    let chapters = chapters.iter().chain([&training::CHAPTER]);
    for chapter in chapters.filter(|own| !data[own.entry].is_null()) {
        looks += &squeeze::style(chapter.looks);
        // Names of its own, in a block, do not meet those of the page.
        program += &squeeze::program(&format!("{{\n{}}}\n", chapter.program));
        match chapter.place {
            Place::First => first += chapter.markup,
            Place::Last => last += chapter.markup,
        }
        plain += &(chapter.plain)(&data[chapter.entry]);
    }
    // In JSON a `<` stands only in texts, where it may be written as a number; so no text can end the script element.
    let json = data.to_string().replace('<', "\\u003c");
    fill(
        MARKUP,
        &[
            ("{title}", &escaped(title)),
            ("{looks}", &looks),
            ("{plain}", &plain),
            ("{first}", &first),
            ("{last}", &last),
            ("{data}", &json),
            ("{program}", &program),
        ],
    )
}

/// The data of a page as text, to be read again.
pub fn data_text(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("id=\"data\">")?;
    Some(rest.split_once("</script>")?.0)
}

/// Puts texts at their places in a markup; what a text holds is never taken for a place.
fn fill(markup: &str, texts: &[(&str, &str)]) -> String {
    let mut page = String::with_capacity(texts.iter().fold(markup.len(), |n, t| n + t.1.len()));
    let mut rest = markup;
    while let Some((at, place, text)) = next_place(rest, texts) {
        page.push_str(&rest[..at]);
        page.push_str(text);
        rest = &rest[at + place.len()..];
    }
    page + rest
}

/// The first place in the markup, and what belongs there.
fn next_place<'a>(markup: &str, texts: &[(&'a str, &'a str)]) -> Option<(usize, &'a str, &'a str)> {
    let found = |&(place, text): &(&'a str, &'a str)| Some((markup.find(place)?, place, text));
    texts.iter().filter_map(found).min_by_key(|found| found.0)
}

/// A text as HTML and SVG show it, with its control characters made visible.
pub(crate) fn escaped(text: &str) -> String {
    crate::escape(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// The entries of a list; none where there is no list.
fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// A text of the data; empty where there is none.
fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A text of at most so many characters.
fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let kept = max.saturating_sub(1);
    text.chars().take(kept).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_what_they_are() {
        let texts = [("{title}", "{data}"), ("{data}", "{title}")];
        let page = fill("<h1>{title}</h1>{data}<b>{title}</b>", &texts);
        assert_eq!(page, "<h1>{data}</h1>{title}<b>{data}</b>");
        assert_eq!(escaped("</script>\"&"), "&lt;/script&gt;&quot;&amp;");
        assert_eq!(cut("größer", 4), "grö…");
    }
}
