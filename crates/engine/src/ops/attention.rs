//! Scaled dot-product attention, `softmax(q·kᵀ·scale)·v` per head.

use super::Site;
use crate::arena::Span;
use crate::step::{Memory, Step, Wires};
use kernels::attention::{attention_backward, attention_forward, attention_scratch_len};

/// Attention over all heads of the shard.
pub(crate) struct Attention {
    /// Batch times heads.
    heads: usize,
    queries: usize,
    keys: usize,
    head_dim: usize,
    scale: f32,
    causal: bool,
}

impl Attention {
    pub fn new(op: &ir::ops::attention::ScaledDotProductAttention, site: &Site) -> Self {
        let [q, k] = [&site.inputs[0], &site.inputs[1]];
        let (rank, head) = (q.len(), q[q.len() - 1]);
        let scale = op
            .scale
            .map_or_else(|| 1.0 / (head as f32).sqrt(), |scale| scale as f32);
        Self {
            heads: q[..rank - 2].iter().product(),
            queries: q[rank - 2],
            keys: k[rank - 2],
            head_dim: head,
            scale,
            causal: op.is_causal,
        }
    }

    /// Working memory of the kernels.
    fn work_len(&self) -> usize {
        attention_scratch_len(self.queries, self.keys, self.head_dim)
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
        let Self {
            heads,
            queries,
            keys,
            head_dim,
            scale,
            causal,
        } = *self;
        attention_forward(
            heads,
            queries,
            keys,
            head_dim,
            scale,
            causal,
            q,
            k,
            v,
            y,
            probabilities,
            scratch,
        );
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        // The kernel makes all three gradients at once; one that nobody wants goes to the working memory.
        let work = self.work_len();
        let mut spare = wires.scratch.start + work;
        let targets: [Span; 3] = std::array::from_fn(|i| {
            wires.grad_target(i).unwrap_or_else(|| {
                let start = spare;
                spare += wires.inputs[i].value.len();
                start..spare
            })
        });
        let [dq, dk, dv] = targets;
        let scratch = wires.scratch.start..wires.scratch.start + work;
        let spans = [
            wires.x(0),
            wires.x(1),
            wires.x(2),
            wires.saved.clone(),
            wires.dy(),
            dq,
            dk,
            dv,
            scratch,
        ];
        let [q, k, v, probabilities, dy, dq, dk, dv, scratch] = memory.split(spans);
        let Self {
            heads,
            queries,
            keys,
            head_dim,
            scale,
            causal,
        } = *self;
        attention_backward(
            heads,
            queries,
            keys,
            head_dim,
            scale,
            causal,
            q,
            k,
            v,
            probabilities,
            dy,
            dq,
            dk,
            dv,
            scratch,
        );
        for i in 0..3 {
            memory.commit_grad(wires, i);
        }
    }

    fn saved_len(&self) -> usize {
        self.heads * self.queries * self.keys
    }

    fn scratch_len(&self) -> usize {
        self.work_len() + self.heads * self.head_dim * (self.queries + 2 * self.keys)
    }
}
