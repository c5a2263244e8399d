//! Laws that every format keeps, over the whole table: a new entry is covered as soon as it is listed in `specs`.
#![expect(clippy::unwrap_used, reason = "what cannot be made must fail the test")]

mod arrays;
mod codes;
mod fit;
mod fixed_point;
mod gradient;
mod nearest;
mod oracle;
mod ratio;
mod rounding;
mod small_float;
mod specs;
mod stored;
mod text;
