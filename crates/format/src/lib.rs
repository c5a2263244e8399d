//! Number formats: value sets, rounding, saturation and codes.
#![forbid(unsafe_code)]
