//! Scaled dot-product attention, `softmax(q·kᵀ·scale)·v` per head.

use super::Site;
use crate::arena::Span;
use crate::step::{Memory, Step, Wires};
use kernels::attention::{AttentionShape, attention_backward, attention_forward};

/// Attention over all heads of the shard.
pub(crate) struct Attention {
    shape: AttentionShape,
}

impl Attention {
    pub fn new(op: &ir::ops::attention::ScaledDotProductAttention, site: &Site) -> Self {
        let [q, k, v] = [&site.inputs[0], &site.inputs[1], &site.inputs[2]];
        let rank = q.len();
        let key_dim = q[rank - 1];
        let default_scale = || 1.0 / (key_dim as f32).sqrt();
        let shape = AttentionShape {
            heads: q[..rank - 2].iter().product(),
            queries: q[rank - 2],
            keys: k[rank - 2],
            key_dim,
            value_dim: v[rank - 1],
            scale: op.scale.map_or_else(default_scale, |scale| scale as f32),
            causal: op.is_causal,
        };
        Self { shape }
    }
}

impl Step for Attention {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let spans = [
            wires.x(0),
            wires.x(1),
            wires.x(2),
            wires.y(),
            wires.saved.clone(),
            wires.scratch.clone(),
        ];
        let [q, k, v, y, probabilities, scratch] = memory.split(spans);
        attention_forward(&self.shape, q, k, v, y, probabilities, scratch);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        // The kernel makes all three gradients at once; one that nobody wants goes to the working memory.
        let work = wires.scratch.start + self.shape.scratch_len();
        let mut spare = work;
        let targets: [Span; 3] = std::array::from_fn(|i| {
            wires.grad_target(i).unwrap_or_else(|| {
                let start = spare;
                spare += wires.inputs[i].value.len();
                start..spare
            })
        });
        let [dq, dk, dv] = targets;
        let spans = [
            wires.x(0),
            wires.x(1),
            wires.x(2),
            wires.saved.clone(),
            wires.dy(),
            dq,
            dk,
            dv,
            wires.scratch.start..work,
        ];
        let [q, k, v, probabilities, dy, dq, dk, dv, scratch] = memory.split(spans);
        attention_backward(&self.shape, q, k, v, probabilities, dy, dq, dk, dv, scratch);
        for i in 0..3 {
            memory.commit_grad(wires, i);
        }
    }

    fn saved_len(&self) -> usize {
        self.shape.heads * self.shape.queries * self.shape.keys
    }

    fn scratch_len(&self) -> usize {
        let s = &self.shape;
        let operands = s.queries * s.key_dim + s.keys * (s.key_dim + s.value_dim);
        s.scratch_len() + s.heads * operands
    }
}
