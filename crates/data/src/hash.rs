//! A fast hash of rows, labels and splits: to compare datasets by one number and to notice damaged caches.
//! It protects against accidents, not against forgers.

use crate::arrays::Arrays;
use interop::npy::Values;

const PRIME: u64 = 0x9e37_79b1_85eb_ca87;

/// The hash of a dataset: all bits of all rows, the labels, and which row is in which part.
pub(crate) fn dataset(values: &[f32], labels: &[u32], parts: &[u8]) -> u64 {
    let values = words(values.len() as u64, values, |value| {
        u64::from(value.to_bits())
    });
    let labels = words(values, labels, |&label| u64::from(label));
    words(labels, parts, |&part| u64::from(part))
}

/// The hash of named arrays: names, shapes and all elements, the labels, and which row is in which part.
pub(crate) fn arrays(arrays: &Arrays, parts: &[u8]) -> u64 {
    let inputs = arrays.inputs.iter().fold(0, |hash, input| {
        let name = words(hash, input.name.as_bytes(), |&byte| u64::from(byte));
        let shape = words(name, &input.shape, |&size| size as u64);
        match &input.values {
            Values::F32(values) => words(shape, values, |value| u64::from(value.to_bits())),
            Values::I64(values) => words(shape, values, |&value| value as u64),
        }
    });
    let labels = words(inputs, &arrays.labels, |&label| u64::from(label));
    words(labels, parts, |&part| u64::from(part))
}

/// The hash of bytes.
pub(crate) fn bytes(bytes: &[u8]) -> u64 {
    words(0, bytes, |&byte| u64::from(byte))
}

/// Eight independent lanes, so that the processor need not wait for one multiplication to begin the next.
fn words<T>(seed: u64, items: &[T], word: impl Fn(&T) -> u64) -> u64 {
    let mut lanes: [u64; 8] = std::array::from_fn(|lane| mix(seed, lane as u64));
    let mut blocks = items.chunks_exact(8);
    for block in &mut blocks {
        for (lane, item) in lanes.iter_mut().zip(block) {
            *lane = mix(*lane, word(item));
        }
    }
    for (lane, item) in lanes.iter_mut().zip(blocks.remainder()) {
        *lane = mix(*lane, word(item));
    }
    let all = lanes.into_iter().fold(items.len() as u64, mix);
    all ^ (all >> 32)
}

/// Combines a hash with one more number.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(PRIME).rotate_left(31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::InputArray;

    /// Hashes stand in caches and in the files of runs; these were computed from the definition in Python.
    #[test]
    fn hashes_stay_the_same() {
        assert_eq!(bytes(b""), 0xb0b3_b8b9_7169_085c);
        assert_eq!(bytes(b"hello, world"), 0x8053_a8f1_22f9_7428);
        let table = dataset(&[0.5, -1.0, 2.0, 0.0], &[1, 0], &[0, 2]);
        assert_eq!(table, 0xb5e0_f283_26bd_c26d);
        let input = |name: &str, shape: &[usize], values| InputArray {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values,
        };
        let named = Arrays {
            inputs: vec![
                input("ids", &[2, 2], Values::I64(vec![3, -4, 1 << 40, 0])),
                input("mask", &[2], Values::F32(vec![0.5, -1.0])),
            ],
            labels: vec![1, 0],
        };
        assert_eq!(arrays(&named, &[0, 2]), 0xae35_9a2d_a6d3_1525);
    }
}
