//! A hash of all weights, to compare runs by one number.

use engine::State;

/// FNV-1a over the names and the bits of all parameters and buffers, in execution order.
pub fn weights_hash(state: &State) -> u64 {
    fnv1a(state.iter().flat_map(|(name, values)| {
        let bits = values
            .iter()
            .flat_map(|value| value.to_bits().to_le_bytes());
        name.bytes().chain(bits)
    }))
}

/// FNV-1a over bytes.
pub(crate) fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    bytes.into_iter().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_fowler_noll_and_vo() {
        // Of their published test vectors.
        for (text, expected) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a(text.bytes()), expected, "{text}");
        }
    }
}
