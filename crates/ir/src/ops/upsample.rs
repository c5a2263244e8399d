//! Pictures of another size.

use super::check;
use super::pad::Sources;
use crate::{
    CodeRange, Cost, OpError, OperandRanges, Operator, PortSpec, RowCoupling, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `upsample`, whose input is `[N, C, H, W]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upsample {
    /// Height and width of the result.
    #[serde(with = "check::per_axis")]
    pub output_size: [usize; 2],
    /// The pixels of the result.
    #[serde(default, skip_serializing_if = "UpsampleMode::is_nearest")]
    pub mode: UpsampleMode,
    /// Puts the corner pixels of both pictures onto each other, in mode `bilinear`.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub align_corners: bool,
}

/// The pixels of a picture of another size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpsampleMode {
    /// Pixel i is pixel `⌊i·in/out⌋`.
    #[default]
    Nearest,
    /// A mean of four neighbours.
    Bilinear,
}

impl UpsampleMode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_nearest(&self) -> bool {
        *self == Self::Nearest
    }
}

/// Two neighbouring pixels along an axis, and the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// The first pixel.
    pub low: usize,
    /// The second pixel, which is the first one at the edge.
    pub high: usize,
    /// The weight of the second pixel.
    pub weight: f32,
}

impl Upsample {
    /// In mode `nearest`, the elements of the result for each axis of an input of these sizes.
    pub fn sources(&self, sizes: &[usize]) -> Vec<Sources> {
        let axis = |(at, &size): (usize, &usize)| {
            let out = match at.checked_sub(sizes.len() - 2) {
                Some(k) => self.output_size[k],
                None => size,
            };
            (0..out).map(|i| Some(i * size / out)).collect()
        };
        sizes.iter().enumerate().map(axis).collect()
    }

    /// In mode `bilinear`, the pixels along an axis of space of this size.
    pub fn blends(&self, axis: usize, size: usize) -> Vec<Blend> {
        let out = self.output_size[axis];
        let place = |i: usize| match self.align_corners {
            true if out > 1 => i as f32 * ((size - 1) as f32 / (out - 1) as f32),
            true => 0.0,
            false => ((i as f32 + 0.5) * (size as f32 / out as f32) - 0.5).max(0.0),
        };
        let blend = |i: usize| {
            let low = (place(i) as usize).min(size - 1);
            Blend {
                low,
                high: (low + 1).min(size - 1),
                weight: place(i) - low as f32,
            }
        };
        (0..out).map(blend).collect()
    }
}

impl Operator for Upsample {
    fn ports(&self) -> Vec<PortSpec> {
        PortSpec::data(1)
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::all_positive("output_size", &self.output_size)?;
        if self.output_size.iter().any(|&size| size > check::MAX_AXIS) {
            let value = format!("{:?}", self.output_size);
            return Err(OpError::attribute(
                "output_size",
                value,
                "must be at most 2^24",
            ));
        }
        if self.align_corners && self.mode == UpsampleMode::Nearest {
            let why = "belongs to mode bilinear";
            return Err(OpError::attribute("align_corners", true, why));
        }
        let (shape, _) = check::spatial_input::<2>(inputs)?;
        let channels = shape.0[1].clone();
        Ok(vec![Type::f32(check::with_space(
            shape,
            channels,
            self.output_size,
        ))])
    }

    fn cost(&self, _inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        match self.mode {
            UpsampleMode::Nearest => Cost::per_result(outputs),
            UpsampleMode::Bilinear => Cost::per_window(outputs, 4),
        }
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], operands: &OperandRanges) -> Option<CodeRange> {
        operands
            .data()
            .filter(|_| self.mode == UpsampleMode::Nearest)
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
