//! Weights in the order in which tiles read them: `[block of outputs][live tap][input][output of the block]`.

use crate::gemm::transpose;
use crate::isa::versions;

/// Outputs of a block.
pub(super) const WIDE: usize = 16;
/// Outputs of the last block where no more are left.
pub(super) const NARROW: usize = 8;

/// Window elements of a block that are turned at a time; no window is larger.
pub(super) const TOGETHER: usize = 256;

/// Inputs that are read side by side: as many as are prefetched apart from each other.
const STREAMS: usize = 4;

/// Sizes of packed weights: `outputs` are the channels of the target, `inputs` those of the source.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    pub(super) outputs: usize,
    pub(super) inputs: usize,
    /// Window elements in all, and those that are packed.
    pub(super) window: usize,
    pub(super) live: Vec<usize>,
    /// Distances in the weights as trained.
    output_stride: usize,
    input_stride: usize,
}

/// A block of outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) first: usize,
    /// Outputs of the block, and the room for them.
    pub(super) len: usize,
    pub(super) width: usize,
    /// Its start in the packed weights.
    pub(super) start: usize,
}

impl Packing {
    /// Weights `[output, input, window]`.
    pub(super) fn forward(outputs: usize, inputs: usize, window: usize, live: &[usize]) -> Self {
        Self {
            outputs,
            inputs,
            window,
            live: live.to_vec(),
            output_stride: inputs * window,
            input_stride: window,
        }
    }

    /// Weights `[input, output, window]`: those of the convolution whose adjoint reads them.
    pub(super) fn adjoint(outputs: usize, inputs: usize, window: usize, live: &[usize]) -> Self {
        Self {
            output_stride: window,
            input_stride: outputs * window,
            ..Self::forward(outputs, inputs, window, live)
        }
    }

    /// Products of one output element.
    pub(super) fn depth(&self) -> usize {
        self.live.len() * self.inputs
    }

    /// Floats of the packed weights.
    pub(super) fn len(&self) -> usize {
        let last = self.blocks().last();
        last.map_or(0, |block| block.start + block.width * self.depth())
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block> + use<> {
        let (outputs, depth) = (self.outputs, self.depth());
        (0..outputs).step_by(WIDE).map(move |first| {
            let len = WIDE.min(outputs - first);
            let width = if len > NARROW { WIDE } else { NARROW };
            Block {
                first,
                len,
                width,
                start: first * depth,
            }
        })
    }

    /// Packs weights.
    pub(super) fn pack(&self, weights: &[f32], packed: &mut [f32]) {
        if self.is_by_output() {
            self.pack_by_output(weights, packed);
        } else {
            pack_by_input(self, weights, packed);
        }
    }

    /// Packs weights of which those of an output lie together.
    fn pack_by_output(&self, weights: &[f32], packed: &mut [f32]) {
        let mut turned = [0.0; WIDE * TOGETHER];
        for block in self.blocks() {
            let packed = &mut packed[block.start..][..block.width * self.depth()];
            let turned = &mut turned[..block.width * TOGETHER];
            turned.fill(0.0);
            for (from, count) in self.parts() {
                let trained = &weights[self.trained(block, from)..];
                let columns = count * self.window;
                let (ldx, ldy) = (self.output_stride, block.width);
                transpose(block.len, columns, trained, ldx, turned, ldy);
                self.for_each_row(from, count, |row, column| {
                    packed[row * block.width..][..block.width]
                        .copy_from_slice(&turned[column * block.width..][..block.width]);
                });
            }
        }
    }

    /// Writes packed gradients where the weights have theirs; taps that nothing reads have none.
    pub(super) fn unpack(&self, packed: &[f32], gradients: &mut [f32]) {
        let mut turned = [0.0; WIDE * TOGETHER];
        for block in self.blocks() {
            let packed = &packed[block.start..][..block.width * self.depth()];
            let turned = &mut turned[..block.width * TOGETHER];
            turned.fill(0.0);
            for (from, count) in self.parts() {
                self.for_each_row(from, count, |row, column| {
                    turned[column * block.width..][..block.width]
                        .copy_from_slice(&packed[row * block.width..][..block.width]);
                });
                let trained = &mut gradients[self.trained(block, from)..];
                let columns = count * self.window;
                let (ldx, ldy) = (block.width, self.output_stride);
                transpose(columns, block.len, turned, ldx, trained, ldy);
            }
        }
    }

    /// The place of the first weight of a block and an input among those trained.
    fn trained(&self, block: Block, input: usize) -> usize {
        block.first * self.output_stride + input * self.input_stride
    }

    /// True when the weights of an output lie together, and not those of an input.
    fn is_by_output(&self) -> bool {
        self.input_stride == self.window
    }

    /// Inputs that lie together for each output: their first and their number.
    fn parts(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let inputs = self.inputs;
        let together = if self.is_by_output() {
            (TOGETHER / self.window).max(1)
        } else {
            1
        };
        let firsts = (0..inputs).step_by(together);
        firsts.map(move |from| (from, together.min(inputs - from)))
    }

    /// Calls `f(packed row, trained column)` for the live taps of some inputs.
    #[inline(always)]
    fn for_each_row(&self, from: usize, count: usize, mut f: impl FnMut(usize, usize)) {
        for input in 0..count {
            for (at, &tap) in self.live.iter().enumerate() {
                f(at * self.inputs + from + input, input * self.window + tap);
            }
        }
    }
}

versions! {
    /// Packs weights of which those of an input lie together. A few inputs are read side by side through all blocks, so that memory
    /// is read in its order.
    fn pack_by_input(packing: &Packing, weights: &[f32], packed: &mut [f32]) {
        let stride = packing.output_stride;
        for first in (0..packing.inputs).step_by(STREAMS) {
            let inputs = first..packing.inputs.min(first + STREAMS);
            for block in packing.blocks() {
                let packed = &mut packed[block.start..][..block.width * packing.depth()];
                for input in inputs.clone() {
                    let trained = &weights[packing.trained(block, input)..];
                    for (at, &tap) in packing.live.iter().enumerate() {
                        let row = (at * packing.inputs + input) * block.width;
                        let row = &mut packed[row..][..block.width];
                        let (row, rest) = row.split_at_mut(block.len);
                        let trained = &trained[tap..][..=(block.len - 1) * stride];
                        for (packed, &weight) in row.iter_mut().zip(trained.iter().step_by(stride)) {
                            *packed = weight;
                        }
                        rest.fill(0.0);
                    }
                }
            }
        }
    }
}
