//! Scaled dot-product attention, `softmax(q·kᵀ·scale + mask)·v` per head.

use super::Site;
use super::matmul::broadcast_index;
use crate::arena::Span;
use crate::step::{Memory, Step, Wires};
use ir::DType;
use kernels::attention::{AttentionMask, AttentionShape, attention_backward, attention_forward};

/// Attention over all heads of the shard.
pub(crate) struct Attention {
    shape: AttentionShape,
    mask: Option<Mask>,
}

/// The entries of a mask that each head reads.
struct Mask {
    starts: Vec<usize>,
    steps: [usize; 2],
    is_truth: bool,
}

impl Mask {
    /// The mask of heads with these axes.
    fn new(heads: &[usize], site: &Site) -> Self {
        let own = &site.inputs[3];
        let mut shape = vec![1; (heads.len() + 2).saturating_sub(own.len())];
        shape.extend(own);
        let (batch, scores) = shape.split_at(heads.len());
        let step = |size: usize, step: usize| if size == 1 { 0 } else { step };
        let count: usize = heads.iter().product();
        let part: usize = scores.iter().product();
        Self {
            starts: (0..count)
                .map(|head| broadcast_index(batch, heads, head) * part)
                .collect(),
            steps: [step(scores[0], scores[1]), step(scores[1], 1)],
            is_truth: site.verified.ty(site.node.inputs[3]).dtype == DType::Bool,
        }
    }

    fn view(&self) -> AttentionMask<'_> {
        AttentionMask {
            starts: &self.starts,
            steps: self.steps,
            is_truth: self.is_truth,
        }
    }
}

impl Attention {
    pub fn new(op: &ir::ops::attention::ScaledDotProductAttention, site: &Site) -> Self {
        let [q, k, v] = [&site.inputs[0], &site.inputs[1], &site.inputs[2]];
        let rank = q.len();
        let key_dim = q[rank - 1];
        let default_scale = || 1.0 / (key_dim as f32).sqrt();
        let (heads, shared): (usize, usize) = (
            q[..rank - 2].iter().product(),
            k[..rank - 2].iter().product(),
        );
        let shape = AttentionShape {
            heads,
            group: heads / shared.max(1),
            queries: q[rank - 2],
            keys: k[rank - 2],
            key_dim,
            value_dim: v[rank - 1],
            scale: op.scale.map_or_else(default_scale, |scale| scale as f32),
            causal: op.is_causal,
        };
        let has_mask = site.inputs.len() > 3;
        let mask = has_mask.then(|| Mask::new(&q[..rank - 2], site));
        Self { shape, mask }
    }

    /// The gradient of the mask: the span where it is wanted and the mask is one of numbers, else nothing.
    fn mask_target(&self, wires: &Wires) -> Option<Span> {
        let is_truth = self.mask.as_ref().is_none_or(|mask| mask.is_truth);
        wires.grad_target(3).filter(|_| !is_truth)
    }
}

impl Step for Attention {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let nothing = wires.y().start..wires.y().start;
        let spans = [
            wires.x(0),
            wires.x(1),
            wires.x(2),
            self.mask.as_ref().map_or(nothing, |_| wires.x(3)),
            wires.y(),
            wires.saved.clone(),
            wires.scratch.clone(),
        ];
        let [q, k, v, entries, y, probabilities, scratch] = memory.split(spans);
        let mask = self.mask.as_ref().map(|mask| (mask.view(), &*entries));
        attention_forward(&self.shape, q, k, v, mask, y, probabilities, scratch);
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
        if let Some(target) = wires.inputs.get(3).and_then(|_| wires.grad_target(3)) {
            memory.arena[target].fill(0.0);
        }
        let dmask = self.mask.as_ref().and_then(|_| self.mask_target(wires));
        let spans = [
            wires.x(0),
            wires.x(1),
            wires.x(2),
            wires.saved.clone(),
            wires.dy(),
            dq,
            dk,
            dv,
            dmask.clone().unwrap_or(spare..spare),
            wires.scratch.start..work,
        ];
        let [q, k, v, probabilities, dy, dq, dk, dv, dmasked, scratch] = memory.split(spans);
        let mask = self.mask.as_ref().filter(|_| dmask.is_some());
        let dmask = mask.map(|mask| (mask.view(), dmasked));
        let s = &self.shape;
        attention_backward(s, q, k, v, probabilities, dy, dq, dk, dv, dmask, scratch);
        for i in 0..wires.inputs.len() {
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
