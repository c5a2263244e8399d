//! Representative parameters of every format, and the inputs that laws are tried on.

use format::Format;

/// At least one line for each format of the table.
pub const SPECS: &[&str] = &[
    "integer(8, 4)",
    "integer(1, 0)",
    "integer(4, 2)",
    "integer(8, -1)",
    "integer(6, 9)",
    "integer(16, 8)",
    "integer(24, 12)",
    "integer(32, 16)",
    "integer(40, 149)",
    "integer(64, 32)",
    "integer(64, -104)",
    "integer(8, 4, signed = false)",
    "integer(64, 10, signed = false)",
    "integer(8, 4, rounding = floor)",
    "integer(5, -3, rounding = floor)",
    "integer(32, 16, rounding = floor)",
    "integer(8, 4, rounding = nearest_up)",
    "integer(5, -3, signed = false, rounding = nearest_up)",
    "integer(40, 20, rounding = nearest_up)",
    "integer(8, 4, overflow = wrap)",
    "integer(6, 9, signed = false, rounding = floor, overflow = wrap)",
    "integer(55, 30, rounding = nearest_up, overflow = wrap)",
    "integer(24, -10, signed = false, overflow = wrap)",
    "integer(64, 11, overflow = wrap)",
    "scale_integer(8)",
    "scale_integer(4, granularity = channel)",
    "scale_integer(2, granularity = row)",
    "scale_integer(16, granularity = row)",
    "affine(8, 0.1)",
    "affine(8, 0.1, 3)",
    "affine(8, 0.0625, 200, signed = false)",
    "affine(4, 0.3, narrow = true)",
    "affine(3, 2, 5, signed = false, narrow = true)",
    "affine(8, 0.125, 3, rounding = half_up)",
    "affine(8, 0.125, 3, rounding = half_down)",
    "affine(8, 0.125, 3, rounding = up)",
    "affine(8, 0.125, 3, rounding = down)",
    "affine(8, 0.125, 3, rounding = floor)",
    "affine(8, 0.125, 3, rounding = ceil)",
    "affine(8, 0.25, 0.5, offset = before)",
    "affine(8, 0.1, 7, offset = before)",
    "affine(16, 0.0009765625, offset = before, rounding = floor)",
    "affine(24, 1e-6)",
    "affine(1, 1, signed = false)",
    "bipolar(0.5)",
    "binary(bipolar = true)",
    "binary(width = 8, bipolar = false)",
    "ternary(scaling_factor = true)",
    "ternary(scaling_factor = false)",
    "ternary(4, mean = 0.5)",
    "ternary(median = 0.25)",
    "ternary(max = 3.5)",
    "log(8)",
    "log(2)",
    "log(4, exponent_bias = 6)",
    "log(9)",
    "log(12)",
    "minifloat_ieee(8, 4)",
    "minifloat_ieee(8, 4, exponent_bias = 12)",
    "minifloat_ieee(4, 3)",
    "minifloat_ieee(2, 1)",
    "minifloat_ieee(16, 5)",
    "minifloat_ieee(16, 8)",
    "minifloat_ieee(32, 8)",
    "float8(e4m3fn)",
    "float8(e5m2)",
    "float8(e4m3fnuz)",
    "float8(e5m2fnuz)",
    "float4(e2m1)",
    "minifloat_denorm(8, 4)",
    "minifloat_denorm(3, 1)",
    "minifloat_denorm(16, 8)",
    "minifloat_denorm(8, 5, exponent_bias = 20)",
    "block_fp(8, 8, block_size = [16])",
    "block_fp(8, 8)",
    "block_fp(4, 4, block_size = [2, 3], skip_first_dim = true)",
    "block_fp(32, 8, block_size = [5])",
    "block_fp(6, 3, exponent_bias = -2, block_size = [1, 4])",
    "block_fp(8, 8, exponent_bias = 381, block_size = [4])",
    "block_minifloat(8, 4, 8, [16])",
    "block_minifloat(6, 3, 2, 5)",
    "block_minifloat(16, 8, 8, [-1, 4])",
    "block_log(4, 8)",
    "block_log(4, 8, [16])",
    "block_log(8, 3, [2, 2])",
    "block_log(10, 8, [3])",
    "mxint(8)",
    "mxint(4, [2, 8], skip_first_dim = true)",
    "mxint(8, [32])",
    "mxint(2, 3, skip_first_dim = true)",
    "mxint(32, [7])",
    "mxfp(5, 2)",
    "mxfp(4, 3, [1, 16])",
    "mxfp(3, 2, [16])",
    "mxfp(5, 2, -1)",
    "mxfp(2, 3, [-1])",
    "mxfp(2, 1, [2, 2])",
];

/// The formats of [`SPECS`].
pub fn all() -> impl Iterator<Item = Format> {
    SPECS.iter().map(|spec| Format::parse(spec).unwrap())
}

/// Every float with 16 bits, NaN left out, in order.
pub fn short_floats() -> Vec<f32> {
    let from_bits = |bits: u16| f32::from_bits(u32::from(bits) << 16);
    let mut floats: Vec<f32> = (0..=u16::MAX).map(from_bits).collect();
    floats.retain(|x| !x.is_nan());
    floats.sort_by(f32::total_cmp);
    floats
}

/// An array with many magnitudes, for formats whose elements share a scale.
pub fn mixed(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f32 / (1u64 << 31) as f32
    };
    let value = |_| {
        let (sign, exponent, fraction) = (next() - 0.5, next() * 24.0 - 16.0, 1.0 + next());
        (fraction * exponent.floor().exp2()).copysign(sign)
    };
    (0..len).map(value).collect()
}

/// The rounded array.
pub fn quantized(format: &Format, x: &[f32], shape: &[usize]) -> Vec<f32> {
    let mut y = vec![f32::NAN; x.len()];
    format.quantize(x, shape, &mut y);
    y
}

#[test]
fn every_format_is_covered() {
    for entry in Format::TABLE {
        assert!(
            all().any(|format| format.name() == entry.name),
            "{}",
            entry.name
        );
    }
}
