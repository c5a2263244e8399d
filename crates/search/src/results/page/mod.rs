//! One HTML file that shows a search without a network: the trials and their front, the history, the importances, the best.
//!
//! The file is put together from the markup, the looks and the program beside this one, and the data of [`data`]. A
//! content policy in the markup forbids the browser to load anything else.

mod data;

use super::Report;

const MARKUP: &str = include_str!("page.html");
const LOOKS: &str = include_str!("page.css");
/// The data model, the drawing, and the interaction.
const PROGRAM: &str = concat!(
    include_str!("study.js"),
    include_str!("chart.js"),
    include_str!("page.js")
);

/// The page of a search.
pub fn page(report: &Report, title: &str) -> String {
    // In JSON a `<` stands only in texts, where it may be written as a number; so no text can end the script element.
    let data = data::data(report).to_string().replace('<', "\\u003c");
    let title = escaped(title);
    fill(
        MARKUP,
        &[
            ("{title}", &title),
            ("{looks}", LOOKS),
            ("{data}", &data),
            ("{program}", PROGRAM),
        ],
    )
}

/// Puts texts at their places; what a text holds is never taken for a place.
fn fill(markup: &str, texts: &[(&str, &str)]) -> String {
    let mut page =
        String::with_capacity(markup.len() + texts.iter().map(|t| t.1.len()).sum::<usize>());
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

fn escaped(text: &str) -> String {
    report::escape(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
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
    }
}
