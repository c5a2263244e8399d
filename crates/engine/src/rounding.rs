//! The rounding of a port: by its format, or by the same format with a scale that training learns.
//!
//! Training learns the base-two logarithm of the step between two codes, one for all elements or one for each index of
//! axis 0. A power of two uses the nearest whole logarithm, so that the port stays fixed point at every moment (TQT); a real
//! scale uses the logarithm itself (LSQ). Either way the forward pass rounds by an ordinary format. Its gradient is that of
//! `y = step·clamp(x / step)` with rounding passed straight through: `y − x` where nothing saturates, `y` where it does.

use crate::state::State;
use format::{Affine, Format, Integer, Overflow, Rounding as Direction, StoredArray};
use ir::{Node, NodeId, Op, RowFormat, Type};
use kernels::quantize::{quantize, scale_gradient, straight_through};
use std::ops::Range;

/// The scales that training learns beside the weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LearnScales {
    /// None: formats stay as they are.
    #[default]
    Fixed,
    /// Of `integer` ports; they stay powers of two.
    PowerOfTwo,
    /// Of `affine` ports.
    Real,
}

/// Logarithms beyond these make steps that a float cannot hold.
const LOG2_STEPS: (f32, f32) = (-100.0, 100.0);

/// The rounding of a port.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rounding {
    /// By a format.
    Fixed(Format),
    /// By a format whose scales are among the parameters.
    Learned(Learned),
}

/// A format whose scales are learned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learned {
    /// The format with one scale.
    base: Base,
    /// The place of the logarithms among the trained parameters.
    pub range: Range<usize>,
    /// LSQ's factor of a gradient, which brings it to the size of a weight's.
    factor: f32,
}

/// The format of elements that share a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    PowerOfTwo(Integer),
    Real(Affine),
}

impl Base {
    fn at(self, log2_step: f32) -> Format {
        let log2_step = log2_step.clamp(LOG2_STEPS.0, LOG2_STEPS.1);
        match self {
            Self::PowerOfTwo(integer) => Format::Integer(Integer {
                frac_width: -log2_step.round_ties_even() as i32,
                ..integer
            }),
            Self::Real(affine) => affine.with_scale(f64::from(log2_step).exp2() as f32).into(),
        }
    }

    fn largest_code(self) -> f32 {
        match self {
            Self::PowerOfTwo(integer) => {
                2f32.powi(integer.width as i32 - i32::from(integer.signed)) - 1.0
            }
            Self::Real(affine) => affine.code_range().1 as f32,
        }
    }
}

/// The scales of a port that can be learned: the format with one scale, and the logarithms to start from.
struct Start {
    base: Base,
    log2_steps: Vec<f32>,
}

impl Start {
    fn of(format: &Format, learn: LearnScales) -> Option<Self> {
        let nearest = |integer: &Integer| {
            let is_even = integer.rounding == Direction::NearestEven;
            is_even && integer.overflow == Overflow::Saturate
        };
        let along_rows = || field(format, "axis") == Some(0);
        match (learn, format) {
            (LearnScales::PowerOfTwo, Format::Integer(integer)) if nearest(integer) => Some(Self {
                base: Base::PowerOfTwo(*integer),
                log2_steps: vec![-integer.frac_width as f32],
            }),
            (LearnScales::PowerOfTwo, Format::StoredInteger(stored)) if along_rows() => {
                let formats = stored.formats();
                let first = formats.first().filter(|first| nearest(first))?;
                let same = formats.iter().all(|other| other.width == first.width);
                same.then(|| Self {
                    base: Base::PowerOfTwo(*first),
                    log2_steps: formats.iter().map(|f| -f.frac_width as f32).collect(),
                })
            }
            (LearnScales::Real, Format::Affine(affine)) if affine.rounds_to_nearest() => {
                Some(Self {
                    base: Base::Real(*affine),
                    log2_steps: vec![affine.scale.log2()],
                })
            }
            (LearnScales::Real, Format::StoredAffine(stored)) if along_rows() => {
                let formats = stored.formats();
                let first = formats.first().filter(|first| first.rounds_to_nearest())?;
                let same = formats
                    .iter()
                    .all(|other| other.zero_point == first.zero_point);
                same.then(|| Self {
                    base: Base::Real(*first),
                    log2_steps: formats.iter().map(|f| f.scale.log2()).collect(),
                })
            }
            _ => None,
        }
    }
}

fn field(format: &Format, name: &str) -> Option<i64> {
    let mut fields = format.fields().into_iter();
    match fields.find(|(field, _)| *field == name)?.1 {
        format::FieldValue::Int(value) => Some(value),
        _ => None,
    }
}

/// The ports of a node whose scales are learned, each with the logarithms to start from.
///
/// The coefficients of a batch norm follow from statistics and keep their formats. A data input or result has one scale:
/// only parameters have one for each index of axis 0.
pub(crate) fn learned_ports(node: &Node, learn: LearnScales) -> Vec<(String, Vec<f32>)> {
    let is_norm = matches!(node.op, Op::BatchNorm1d(_) | Op::BatchNorm2d(_));
    let learned = node.formats.iter().filter_map(|(port, format)| {
        let is_data = port.starts_with("data_");
        let start = Start::of(format, learn).filter(|_| is_data || !is_norm)?;
        let fits = !is_data || start.log2_steps.len() == 1;
        fits.then(|| (port.clone(), start.log2_steps))
    });
    learned.collect()
}

/// The format of a port with the scales that have been learned.
pub(crate) fn learned_format(format: &Format, learn: LearnScales, log2_steps: &[f32]) -> Format {
    let Some(start) = Start::of(format, learn) else {
        return format.clone();
    };
    let formats = log2_steps.iter().map(|&log2| start.base.at(log2));
    let (name, values): (_, Vec<f32>) = match start.base {
        Base::PowerOfTwo(_) => (
            "frac_width",
            formats
                .filter_map(|f| Some(f.fixed_point()?.frac_width as f32))
                .collect(),
        ),
        Base::Real(_) => (
            "scale",
            formats
                .filter_map(|f| match f {
                    Format::Affine(affine) => Some(affine.scale),
                    _ => None,
                })
                .collect(),
        ),
    };
    if format.stored_fields().is_empty() {
        return start.base.at(log2_steps[0]);
    }
    let shape = vec![values.len()];
    format
        .with_stored(name, StoredArray { shape, values })
        .unwrap_or_else(|_| format.clone())
}

impl Rounding {
    /// The rounding of a node's port.
    pub fn of(id: NodeId, node: &Node, port: &str, state: &State) -> Option<Self> {
        let format = node.formats.get(port)?;
        let learned = state.scale(id, port).and_then(|(range, elements)| {
            let base = Start::of(format, state.learning().scales)?.base;
            let per_scale = (elements / range.len()).max(1) as f32;
            let factor = 1.0 / (per_scale * base.largest_code().max(1.0)).sqrt();
            Some(Learned {
                base,
                range,
                factor,
            })
        });
        Some(learned.map_or_else(|| Self::Fixed(format.clone()), Self::Learned))
    }

    /// The format, when it stays as it is.
    pub fn fixed(self) -> Option<Format> {
        match self {
            Self::Fixed(format) => Some(format),
            Self::Learned(_) => None,
        }
    }

    /// True when every element is rounded by itself, so that an array can be rounded in any pieces.
    pub fn rounds_alone(&self) -> bool {
        match self {
            Self::Fixed(format) => format.rounds_alone(),
            Self::Learned(learned) => learned.range.len() == 1,
        }
    }

    /// Writes the rounded values to `y`.
    pub fn round(&self, state: &State, x: &[f32], shape: &[usize], y: &mut [f32]) {
        match self {
            Self::Fixed(format) => quantize(format, x, shape, y),
            Self::Learned(learned) => {
                for (part, format) in learned.parts(state, x.len()) {
                    let (x, y) = (&x[part.clone()], &mut y[part]);
                    quantize(&format, x, &[x.len()], y);
                }
            }
        }
    }

    /// Makes the gradient of the rounded values that of the values themselves; that of the scales goes into `grads`, laid
    /// out as the trained parameters.
    pub fn backward(
        &self,
        state: &State,
        x: &[f32],
        shape: &[usize],
        gradient: &mut [f32],
        grads: Option<&mut [f32]>,
    ) {
        match (self, grads) {
            (Self::Fixed(format), _) => straight_through(format, x, shape, gradient),
            (Self::Learned(learned), Some(scales)) => {
                for ((part, format), scale) in learned.parts(state, x.len()).zip(scales) {
                    let (x, gradient) = (&x[part.clone()], &mut gradient[part]);
                    let sum = scale_gradient(&format, x, gradient).unwrap_or_default();
                    *scale = sum * std::f32::consts::LN_2 * learned.factor;
                }
            }
            (Self::Learned(learned), None) => {
                for (part, format) in learned.parts(state, x.len()) {
                    let (x, gradient) = (&x[part.clone()], &mut gradient[part]);
                    straight_through(&format, x, &[x.len()], gradient);
                }
            }
        }
    }

    /// The place of its scales among the trained parameters; empty if it has none.
    pub fn scales(&self) -> Range<usize> {
        match self {
            Self::Fixed(_) => 0..0,
            Self::Learned(learned) => learned.range.clone(),
        }
    }
}

/// The rounding of a data port, in the shape that keeps the rows of a batch apart.
#[derive(Clone, Debug)]
pub(crate) struct DataRounding {
    pub rounding: Rounding,
    shape: Vec<usize>,
}

impl DataRounding {
    /// The rounding of a node's data port for values of this type in `rows` rows.
    pub fn of(
        id: NodeId,
        node: &Node,
        port: &str,
        ty: &Type,
        rows: usize,
        state: &State,
    ) -> Option<Self> {
        match Rounding::of(id, node, port, state)? {
            Rounding::Fixed(format) => {
                let RowFormat { format, shape } = RowFormat::of(&format, &ty.shape, rows)?;
                Some(Self {
                    rounding: Rounding::Fixed(format),
                    shape,
                })
            }
            rounding @ Rounding::Learned(_) => Some(Self {
                rounding,
                shape: ty.shape.bind(rows)?,
            }),
        }
    }

    /// Writes the rounded values to `y`.
    pub fn round(&self, state: &State, x: &[f32], y: &mut [f32]) {
        self.rounding.round(state, x, &self.shape, y);
    }

    /// Makes the gradient of the rounded values that of the values themselves; that of the scales goes into `grads`.
    pub fn backward(
        &self,
        state: &State,
        x: &[f32],
        gradient: &mut [f32],
        grads: Option<&mut [f32]>,
    ) {
        self.rounding
            .backward(state, x, &self.shape, gradient, grads);
    }
}

impl Learned {
    /// The parts of an array that share a scale, each with its format.
    fn parts<'a>(
        &'a self,
        state: &'a State,
        len: usize,
    ) -> impl Iterator<Item = (Range<usize>, Format)> + 'a {
        let logs = &state.trained[self.range.clone()];
        let part = len / logs.len();
        logs.iter()
            .enumerate()
            .map(move |(at, &log2)| (at * part..(at + 1) * part, self.base.at(log2)))
    }
}
