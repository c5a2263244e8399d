//! Canonical signed digits.

/// The digits of an integer, each a power of two and true where it is subtracted: the fewest that there are, no two of them
/// neighbours, the lowest first.
pub fn canonical(value: i64) -> impl Iterator<Item = (u32, bool)> {
    let is_negative = value < 0;
    let mut rest = i128::from(value).abs();
    let mut shift = 0;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let zeros = rest.trailing_zeros();
        rest >>= zeros;
        shift += zeros;
        // 1 or -1, whichever leaves a multiple of four.
        let digit = 2 - (rest & 3);
        rest -= digit;
        Some((shift, (digit < 0) != is_negative))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_add_up_and_no_two_are_neighbours() {
        for value in (-3000..=3000).chain([i64::MAX, i64::MIN]) {
            let digits: Vec<(u32, bool)> = canonical(value).collect();
            let sum: i128 = digits
                .iter()
                .map(|&(shift, negative)| {
                    if negative {
                        -(1_i128 << shift)
                    } else {
                        1 << shift
                    }
                })
                .sum();
            assert_eq!(sum, value.into());
            assert!(
                digits.windows(2).all(|pair| pair[0].0 + 1 < pair[1].0),
                "{value}: {digits:?}"
            );
        }
    }
}
