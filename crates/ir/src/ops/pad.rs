//! Elements added around a value, and elements moved around its axes.

use super::check;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, Shape, TorchModule,
    Type,
};
use serde::{Deserialize, Serialize};

/// The element of the input at each place of an axis of the result; `None` where there is none.
pub type Sources = Vec<Option<usize>>;

/// Attributes of `pad`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// Elements in front of and behind the last axis, then the axis before it, as PyTorch has them.
    pub pad: Vec<usize>,
    /// The added elements.
    #[serde(default, skip_serializing_if = "PadMode::is_constant")]
    pub mode: PadMode,
    /// The added number in mode `constant`.
    #[serde(default, skip_serializing_if = "check::is_zero")]
    pub value: f64,
}

/// The elements that padding adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PadMode {
    /// One number.
    #[default]
    Constant,
    /// The elements mirrored at the first and the last one.
    Reflect,
    /// The first and the last element.
    Edge,
}

impl PadMode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_constant(&self) -> bool {
        *self == Self::Constant
    }
}

impl Pad {
    /// Elements in front of and behind each axis of a value of this rank.
    fn amounts(&self, rank: usize) -> Result<Vec<[usize; 2]>, OpError> {
        let (pairs, rest) = self.pad.as_chunks::<2>();
        if !rest.is_empty() || pairs.len() > rank {
            let why = format!("must have two numbers for each of at most {rank} axes");
            return Err(OpError::attribute("pad", format!("{:?}", self.pad), why));
        }
        let untouched = std::iter::repeat_n([0, 0], rank - pairs.len());
        Ok(untouched.chain(pairs.iter().rev().copied()).collect())
    }

    /// For each axis of an input of these sizes, the elements of the result.
    pub fn sources(&self, sizes: &[usize]) -> Vec<Sources> {
        let amounts = self.amounts(sizes.len()).unwrap_or_default();
        let axis = |(&size, [before, after]): (&usize, [usize; 2])| {
            let places = 0..before + size + after;
            places.map(|at| self.source(at, before, size)).collect()
        };
        sizes.iter().zip(amounts).map(axis).collect()
    }

    fn source(&self, at: usize, before: usize, size: usize) -> Option<usize> {
        let inside = at.checked_sub(before).filter(|&at| at < size);
        match self.mode {
            PadMode::Constant => inside,
            PadMode::Reflect => {
                Some(at.abs_diff(before)).map(|at| if at < size { at } else { 2 * (size - 1) - at })
            }
            PadMode::Edge => Some(at.saturating_sub(before).min(size - 1)),
        }
    }
}

impl Operator for Pad {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::finite("value", self.value)?;
        let input = check::any_input(inputs, 0)?;
        let amounts = self.amounts(input.shape.rank())?;
        let mut dims = input.shape.0.clone();
        for (axis, [before, after]) in amounts.into_iter().enumerate() {
            if [before, after] == [0, 0] {
                continue;
            }
            let size = check::fixed_axis(input, axis)?;
            let max = before.max(after);
            if self.mode == PadMode::Reflect && max >= size {
                let why = format!("must be below {size}, the size of axis {axis} that is mirrored");
                return Err(OpError::attribute("pad", max, why));
            }
            let padded = before
                .checked_add(after)
                .and_then(|n| n.checked_add(size))
                .filter(|&n| n <= check::MAX_AXIS);
            let why = || {
                format!(
                    "axis {axis} would have more than {} places",
                    check::MAX_AXIS
                )
            };
            dims[axis] = padded
                .ok_or_else(|| OpError::attribute("pad", max, why()))?
                .into();
        }
        Ok(vec![input.with_shape(Shape(dims))])
    }

    fn cost(&self, _inputs: &[&[usize]], _outputs: &[&[usize]]) -> Cost {
        Cost::FREE
    }

    /// An axis sized by a symbol is not padded.
    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        match self.mode {
            PadMode::Constant => operands.data()?.joined(CodeRange::number(self.value)?),
            PadMode::Reflect | PadMode::Edge => operands.data(),
        }
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Pad, PadMode};

    #[test]
    fn each_mode_reads_its_elements() {
        let read = |mode, pad: [usize; 2], size| {
            let pad = Pad {
                pad: pad.to_vec(),
                mode,
                value: 0.0,
            };
            let [sources] = pad.sources(&[size]).try_into().expect("one axis");
            sources
                .into_iter()
                .map(|source| source.map_or(-1, |at| at as i32))
                .collect::<Vec<_>>()
        };
        let cases = [
            (PadMode::Constant, [-1, -1, 0, 1, 2, 3, 4, -1, -1, -1, -1]),
            (PadMode::Reflect, [2, 1, 0, 1, 2, 3, 4, 3, 2, 1, 0]),
            (PadMode::Edge, [0, 0, 0, 1, 2, 3, 4, 4, 4, 4, 4]),
        ];
        for (mode, expected) in cases {
            assert_eq!(read(mode, [2, 4], 5), expected, "{mode:?}");
        }
        assert_eq!(read(PadMode::Reflect, [1, 1], 2), [1, 0, 1, 0]);
    }
}
