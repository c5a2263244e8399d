//! Comparisons and logic: 1 for what is true, 0 for what is not.

use super::pair::{self, PairFunction};
use super::{Lowered, Site};
use ir::Op;

/// The step of a comparison, or of the logic of two operands.
pub(crate) fn lower(op: &Op, site: &Site) -> Lowered {
    match op {
        Op::Eq(op) => pair::lower(Eq, op.scalar, site),
        Op::Ne(op) => pair::lower(Ne, op.scalar, site),
        Op::Lt(op) => pair::lower(Lt, op.scalar, site),
        Op::Le(op) => pair::lower(Le, op.scalar, site),
        Op::Gt(op) => pair::lower(Gt, op.scalar, site),
        Op::Ge(op) => pair::lower(Ge, op.scalar, site),
        Op::And(_) => pair::lower(And, None, site),
        Op::Or(_) => pair::lower(Or, None, site),
        _ => unreachable!("{} compares nothing", op.name()),
    }
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident: |$a:ident, $b:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl PairFunction for $name {
            const HAS_SLOPE: bool = false;

            fn value(self, $a: f32, $b: f32) -> f32 {
                if $value { 1.0 } else { 0.0 }
            }

            fn slopes(self, _a: f32, _b: f32) -> [f32; 2] {
                [0.0; 2]
            }
        }
    )*};
}

comparisons! {
    /// `a = b`.
    Eq: |a, b| a == b;
    /// `a ≠ b`.
    Ne: |a, b| a != b;
    /// `a < b`.
    Lt: |a, b| a < b;
    /// `a ≤ b`.
    Le: |a, b| a <= b;
    /// `a > b`.
    Gt: |a, b| a > b;
    /// `a ≥ b`.
    Ge: |a, b| a >= b;
    /// Both.
    And: |a, b| a != 0.0 && b != 0.0;
    /// One or both.
    Or: |a, b| a != 0.0 || b != 0.0;
}
