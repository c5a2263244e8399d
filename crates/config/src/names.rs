//! Names that people spell in several ways.

/// The letters of a name that count: upper and lower case, `-`, `_` and spaces make no difference.
pub fn plain_name(name: &str) -> String {
    let letters = name
        .chars()
        .filter(|letter| !matches!(letter, '-' | '_' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

/// True for two spellings of one name: `brute-force`, `BruteForce`, `bruteforce`.
pub fn is_same_name(a: &str, b: &str) -> bool {
    plain_name(a) == plain_name(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_separators_make_no_difference() {
        for spelling in ["brute-force", "BruteForce", "bruteforce", "BRUTE_FORCE"] {
            assert!(is_same_name(spelling, "brute-force"), "{spelling}");
        }
        assert!(!is_same_name("tpe", "tpe2"));
    }
}
