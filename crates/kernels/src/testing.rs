//! Inputs for tests: deterministic noise and the sizes at which vector loops go wrong.

/// Empty, one, and around every vector width.
pub(crate) const SIZES: [usize; 14] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257];

/// `n` values in [-1, 1) from a splitmix64 stream.
pub(crate) fn noise(n: usize, seed: u64) -> Vec<f32> {
    (0..n as u64)
        .map(|i| unit(seed.wrapping_mul(0x9e37_79b9).wrapping_add(i)))
        .collect()
}

fn unit(i: u64) -> f32 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

/// Asserts that `got` is within `tolerance` of `want`, relative to `max(1, |want|)`.
#[track_caller]
pub(crate) fn assert_close(got: &[f32], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}: length");
    for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
        let error = (f64::from(got) - want).abs() / want.abs().max(1.0);
        assert!(
            error <= tolerance,
            "{what}: element {i} is {got}, wanted {want}"
        );
    }
}
