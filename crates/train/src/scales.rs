//! The formats of a network whose scales training is to learn.

use engine::LearnScales;
use format::{Affine, FieldValue, Format, Integer, Rounding, StoredArray};
use ir::{Graph, Tensor};

/// The elements of a weight that share a learned scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScalesPer {
    /// All.
    #[default]
    Tensor,
    /// Those of one output channel.
    Channel,
}

/// Scales tried for a channel: this many, each smaller than the one before it by the same factor.
const CANDIDATES: i32 = 24;

/// The graph with formats whose scales can be learned: fixed point becomes `affine` with the same steps where real scales
/// are learned, and weights store a scale for each output channel, the one with the least squared error, where channels
/// have their own. What is learnt from there on is the engine's.
#[must_use]
pub fn learnable(mut graph: Graph, learn: LearnScales, per: ScalesPer) -> Graph {
    if learn == LearnScales::Fixed {
        return graph;
    }
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        for (port, format) in &mut node.formats {
            if learn == LearnScales::Real {
                *format = with_real_scale(format);
            }
            let weight = node.params.get(port).filter(|w| w.shape().len() > 1);
            if let (ScalesPer::Channel, Some(weight)) = (per, weight) {
                *format = per_channel(format, weight).unwrap_or_else(|| format.clone());
            }
        }
    }
    graph
}

fn with_real_scale(format: &Format) -> Format {
    match format {
        Format::Integer(integer) if integer.rounding == Rounding::NearestEven => {
            let scale = 0.5f32.powi(integer.frac_width);
            let affine = Affine::new(integer.width, scale, integer.signed);
            // Beyond 32 bits, or where no float holds the step, fixed point it stays.
            let fits = integer.width <= 32 && scale.is_normal();
            if fits { affine.into() } else { format.clone() }
        }
        other => other.clone(),
    }
}

/// A weight's format with a scale for each index of axis 0; nothing if it has no scale to give.
fn per_channel(format: &Format, weight: &Tensor) -> Option<Format> {
    let (field, factor) = match format {
        Format::Integer(_) => ("frac_width", 2f64),
        Format::Affine(_) => ("scale", 2f64.powf(0.125)),
        _ => return None,
    };
    let (_, largest) = format.range();
    let channels = weight.shape()[0];
    let rows = weight.values().chunks(weight.values().len() / channels);
    let values = rows.map(|row| {
        let max = row.iter().fold(0f32, |max, v| max.max(v.abs()));
        // All zero, a channel keeps the scale of the tensor.
        let ratio = if max == 0.0 {
            1.0
        } else {
            f64::from(max) / largest
        };
        let candidates = (0..CANDIDATES).filter_map(|k| scaled(format, ratio / factor.powi(k)));
        let error = |candidate: &Format| {
            let mut rounded = vec![0.0; row.len()];
            candidate.quantize(row, &[row.len()], &mut rounded);
            let errors = row.iter().zip(&rounded).map(|(x, y)| f64::from(x - y));
            errors.map(|e| e * e).sum::<f64>()
        };
        let best = candidates.min_by(|a, b| error(a).total_cmp(&error(b)));
        match best.unwrap_or_else(|| format.clone()) {
            Format::Integer(Integer { frac_width, .. }) => frac_width as f32,
            Format::Affine(affine) => affine.scale,
            _ => 0.0,
        }
    });
    let values: Vec<f32> = values.collect();
    let stored = format
        .with_field(field, FieldValue::Text("stored".to_owned()))
        .and_then(|format| format.with_field("axis", FieldValue::Int(0)))?;
    let shape = vec![values.len()];
    stored
        .with_stored(field, StoredArray { shape, values })
        .ok()
}

/// The format with its steps multiplied.
fn scaled(format: &Format, ratio: f64) -> Option<Format> {
    match format {
        Format::Integer(integer) => {
            let frac_width = integer.frac_width - ratio.log2().ceil() as i32;
            format.with_field("frac_width", FieldValue::Int(frac_width.into()))
        }
        Format::Affine(affine) => {
            let scale = f64::from(affine.scale) * ratio;
            format.with_field("scale", FieldValue::Float(scale))
        }
        _ => None,
    }
}
