//! The nearest names for a misspelled one.

/// `; did you mean 'label'?` with up to three of `names` that are close to `word`, else nothing.
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    hint(&nearest(word, names))
}

/// `; did you mean 'a' or 'b'?` for candidates that were found before; nothing when there are none.
pub fn hint(candidates: &[&str]) -> String {
    match candidates {
        [] => String::new(),
        [only] => format!("; did you mean '{only}'?"),
        [rest @ .., last] => format!("; did you mean '{}' or '{last}'?", rest.join("', '")),
    }
}

/// Up to three of `names` that are close to `word`, nearest first.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Measuring takes time in the product of the lengths, and nobody misspells a name of a hundred letters.
    if word.len() > 100 {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let limit = (word.chars().count() / 3).max(2);
    let measure = |name: &str| strsim::damerau_levenshtein(&word, &name.to_lowercase());
    let mut close: Vec<(usize, &str)> = names
        .into_iter()
        .filter(|name| name.len() <= 100)
        .map(|name| (measure(name), name))
        .filter(|(distance, name)| *distance <= limit && *distance < name.chars().count())
        .collect();
    close.sort_unstable();
    close.dedup();
    close.into_iter().take(3).map(|(_, name)| name).collect()
}
