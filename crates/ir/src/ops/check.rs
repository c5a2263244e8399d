//! Checks and defaults that many operators share.

use crate::{DType, OpError, Shape, Type};

/// The number of elements of a concrete shape.
pub fn numel(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The shape of input `index`, which must be f32.
pub fn f32_input(inputs: &[Type], index: usize) -> Result<&Shape, OpError> {
    let input = &inputs[index];
    if input.dtype == DType::F32 {
        Ok(&input.shape)
    } else {
        Err(OpError::input(index, "f32", input))
    }
}

/// An attribute that counts something must not be zero.
pub fn positive(name: &'static str, value: usize) -> Result<(), OpError> {
    if value == 0 {
        return Err(OpError::attribute(name, value, "must be at least 1"));
    }
    Ok(())
}

/// An attribute that is a small positive or zero number, such as `eps`.
pub fn finite_not_negative(name: &'static str, value: f64) -> Result<(), OpError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(OpError::attribute(name, value, "must be a number of at least 0"))
}

/// serde default.
pub fn yes() -> bool {
    true
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
