//! Checks, defaults and serde forms that many operators share.

use crate::{DType, Dim, OpError, Shape, Type};

/// The number of elements of a concrete shape; saturates, so that absurd shapes cost "too much" instead of panicking.
pub fn numel(shape: &[usize]) -> u64 {
    product(shape.iter().map(|&n| n as u64))
}

/// A product that saturates.
pub fn product(factors: impl IntoIterator<Item = u64>) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

/// Input `index`, of any type.
pub fn any_input(inputs: &[Type], index: usize) -> Result<&Type, OpError> {
    inputs
        .get(index)
        .ok_or_else(|| OpError::missing_input(index))
}

/// The shape of input `index`, which must be f32.
pub fn f32_input(inputs: &[Type], index: usize) -> Result<&Shape, OpError> {
    input_of(inputs, index, DType::F32)
}

/// The shape of input `index`, which must have this element type.
pub fn input_of(inputs: &[Type], index: usize, dtype: DType) -> Result<&Shape, OpError> {
    let input = any_input(inputs, index)?;
    if input.dtype == dtype {
        Ok(&input.shape)
    } else {
        Err(OpError::input(index, dtype.to_string(), input))
    }
}

/// The type of two inputs after broadcasting, which must have the same element type.
pub fn alike(inputs: &[Type], [a, b]: [usize; 2]) -> Result<Type, OpError> {
    let left = any_input(inputs, a)?;
    let right = input_of(inputs, b, left.dtype)?;
    Ok(left.with_shape(left.shape.broadcast(right)?))
}

/// The largest size of an axis that an operator lays out place by place.
pub const MAX_AXIS: usize = 1 << 24;

/// The size of an axis, which must be a number.
pub fn fixed_axis(input: &Type, axis: usize) -> Result<usize, OpError> {
    let size = input.shape.0[axis].fixed().filter(|&n| n > 0);
    size.filter(|&n| n <= MAX_AXIS).ok_or_else(|| {
        let expected = format!("a fixed size of at most 2^24 on axis {axis}");
        OpError::input(0, expected, input)
    })
}

/// The sizes of the last `K` axes of input 0, which must be f32 of rank `K + 2`: batch, channels, then space.
/// A symbol cannot stand for a size in space, because windows are laid out when the graph is built.
pub fn spatial_input<const K: usize>(inputs: &[Type]) -> Result<(&Shape, [usize; K]), OpError> {
    let shape = f32_input(inputs, 0)?;
    let expected = if K == 1 {
        "f32[N, C, L]"
    } else {
        "f32[N, C, H, W]"
    };
    let wrong = || {
        OpError::input(
            0,
            format!("{expected} with sizes for all but N"),
            &inputs[0],
        )
    };
    if shape.rank() != K + 2 || shape.0[1].fixed().is_none() {
        return Err(wrong());
    }
    let mut sizes = [0; K];
    for (size, dim) in sizes.iter_mut().zip(&shape.0[2..]) {
        *size = dim.fixed().filter(|&n| n > 0).ok_or_else(wrong)?;
    }
    Ok((shape, sizes))
}

/// `shape` with its channels and its last `K` axes replaced.
pub fn with_space<const K: usize>(shape: &Shape, channels: Dim, sizes: [usize; K]) -> Shape {
    let batch = shape.0[0].clone();
    let space = sizes.iter().map(|&n| n.into());
    Shape([batch, channels].into_iter().chain(space).collect())
}

/// Groups must divide the channels of a convolution.
pub fn channels(inputs: usize, outputs: usize, groups: usize) -> Result<(), OpError> {
    positive("in_channels", inputs)?;
    positive("out_channels", outputs)?;
    positive("groups", groups)?;
    if !inputs.is_multiple_of(groups) || !outputs.is_multiple_of(groups) {
        let why = format!("must divide in_channels {inputs} and out_channels {outputs}");
        return Err(OpError::attribute("groups", groups, why));
    }
    Ok(())
}

/// Input 0 must have this number of channels on axis 1.
pub fn input_channels(shape: &Shape, channels: usize, inputs: &[Type]) -> Result<(), OpError> {
    if shape.0.get(1).and_then(Dim::fixed) == Some(channels) {
        return Ok(());
    }
    let expected = format!("{channels} channels on axis 1");
    Err(OpError::input(0, expected, &inputs[0]))
}

/// An attribute that counts something must not be zero.
pub fn positive(name: &'static str, value: usize) -> Result<(), OpError> {
    if value == 0 {
        return Err(OpError::attribute(name, value, "must be at least 1"));
    }
    Ok(())
}

/// No element of an attribute that lists sizes may be zero.
pub fn all_positive(name: &'static str, values: &[usize]) -> Result<(), OpError> {
    if values.contains(&0) {
        return Err(OpError::attribute(
            name,
            format!("{values:?}"),
            "must be at least 1 everywhere",
        ));
    }
    Ok(())
}

/// An attribute that is a small positive or zero number, such as `eps`.
pub fn finite_not_negative(name: &'static str, value: f64) -> Result<(), OpError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(OpError::attribute(
        name,
        value,
        "must be a number of at least 0",
    ))
}

/// An attribute that is any number, but a number.
pub fn finite(name: &'static str, value: f64) -> Result<(), OpError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(OpError::attribute(name, value, "must be a finite number"))
}

/// serde default.
pub fn yes() -> bool {
    true
}

/// serde default.
pub fn one() -> usize {
    1
}

/// serde default.
pub fn minus_one() -> i64 {
    -1
}

/// serde default: one for every axis.
pub fn ones<const K: usize>() -> [usize; K] {
    [1; K]
}

/// serde default: zero for every axis.
pub fn zeros<const K: usize>() -> [usize; K] {
    [0; K]
}

/// serde: left out of the text form when true.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub fn is_yes(value: &bool) -> bool {
    *value
}

/// serde: left out of the text form when false.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub fn is_no(value: &bool) -> bool {
    !*value
}

/// serde: left out of the text form when zero.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// serde: left out of the text form when one.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub fn is_one(value: &usize) -> bool {
    *value == 1
}

/// serde: left out of the text form when −1, the last axis.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub fn is_minus_one(value: &i64) -> bool {
    *value == -1
}

/// serde: left out of the text form when one on every axis.
pub fn are_ones(values: &[usize]) -> bool {
    values.iter().all(|&n| n == 1)
}

/// serde: left out of the text form when zero on every axis.
pub fn are_zeros(values: &[usize]) -> bool {
    values.iter().all(|&n| n == 0)
}

/// serde form of an attribute with one size per axis: `3` and `[3, 3]` mean the same, the list is printed.
pub mod per_axis {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a size or a list of sizes")]
    enum Raw {
        One(usize),
        Each(Vec<usize>),
    }

    pub fn serialize<S: Serializer>(sizes: &[usize], serializer: S) -> Result<S::Ok, S::Error> {
        sizes.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>, const K: usize>(
        deserializer: D,
    ) -> Result<[usize; K], D::Error> {
        match Raw::deserialize(deserializer)? {
            Raw::One(size) => Ok([size; K]),
            Raw::Each(sizes) => <[usize; K]>::try_from(sizes).map_err(|sizes| {
                de::Error::custom(format!("expected {K} sizes, got {}", sizes.len()))
            }),
        }
    }

    /// The same for an attribute that may be left out.
    pub fn optional<'de, D: Deserializer<'de>, const K: usize>(
        deserializer: D,
    ) -> Result<Option<[usize; K]>, D::Error> {
        deserialize(deserializer).map(Some)
    }
}
