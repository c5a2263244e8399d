//! Long short-term memory: a product with all gates at every time, and gradients back through time.

use super::Site;
use super::param::Param;
use crate::arena::Span;
use crate::state::State;
use crate::step::{Memory, Step, Wires, split};
use kernels::gemm::{Init, gemm, transpose};
use kernels::math::{sigmoid, tanh};

/// `rows` sequences of `steps` times.
pub(crate) struct Lstm {
    rows: usize,
    steps: usize,
    input: usize,
    hidden: usize,
    reverse: bool,
    /// True when the first h and c are inputs.
    has_state: bool,
    weight_ih: Param,
    weight_hh: Param,
    /// Both empty without biases.
    bias_ih: Param,
    bias_hh: Param,
    /// Elements of h at one time, for all rows.
    state: usize,
}

/// The kept parts of a forward pass: the gates of every time, then h and c before the first and after every time.
struct Kept<'a> {
    gates: &'a mut [f32],
    hidden: &'a mut [f32],
    cells: &'a mut [f32],
}

impl Lstm {
    pub fn new(op: &ir::ops::lstm::Lstm, site: &Site) -> Self {
        let shape = &site.inputs[0];
        let [ih, hh, bias_ih, bias_hh] = op.names();
        let weight_ih = Param::new(site, ih, 0);
        let weight_hh = Param::new(site, hh, weight_ih.prepared_end());
        let bias_ih = Param::new(site, bias_ih, weight_hh.prepared_end());
        let bias_hh = Param::new(site, bias_hh, bias_ih.prepared_end());
        Self {
            rows: shape[0],
            steps: shape[1],
            input: op.input_size,
            hidden: op.hidden_size,
            reverse: op.reverse,
            has_state: site.inputs.len() == 3,
            weight_ih,
            weight_hh,
            bias_ih,
            bias_hh,
            state: shape[0] * op.hidden_size,
        }
    }

    /// The time of a step.
    fn time(&self, step: usize) -> usize {
        if self.reverse {
            self.steps - 1 - step
        } else {
            step
        }
    }

    fn kept<'a>(&self, saved: &'a mut [f32]) -> Kept<'a> {
        let (gates, rest) = saved.split_at_mut(4 * self.state * self.steps);
        let (hidden, rest) = rest.split_at_mut(self.state * (self.steps + 1));
        let cells = &mut rest[..self.state * (self.steps + 1)];
        Kept {
            gates,
            hidden,
            cells,
        }
    }

    /// The transposed weights in the prepared memory.
    fn turned<'a>(&self, wires: &Wires, memory: &Memory<'a>) -> (&'a [f32], &'a [f32]) {
        let prepared = &memory.prepared[wires.prepared.clone()];
        prepared[self.bias_hh.prepared_end()..].split_at(4 * self.hidden * self.input)
    }

    /// The first h and c.
    fn start(&self, wires: &Wires, memory: &mut Memory) {
        let saved = wires.saved.clone();
        if !self.has_state {
            let kept = self.kept(&mut memory.arena[saved]);
            kept.hidden[..self.state].fill(0.0);
            kept.cells[..self.state].fill(0.0);
            return;
        }
        let [h, c, saved] = memory.split([wires.x(1), wires.x(2), saved]);
        let kept = self.kept(saved);
        kept.hidden[..self.state].copy_from_slice(h);
        kept.cells[..self.state].copy_from_slice(c);
    }

    /// The new h and c of one row from its gates, which become what they let through.
    fn advance(&self, gates: &mut [f32], cell: &[f32], new_cell: &mut [f32], h: &mut [f32]) {
        let n = self.hidden;
        for j in 0..n {
            let i = sigmoid(gates[j]);
            let f = sigmoid(gates[n + j]);
            let g = tanh(gates[2 * n + j]);
            let o = sigmoid(gates[3 * n + j]);
            [gates[j], gates[n + j], gates[2 * n + j], gates[3 * n + j]] = [i, f, g, o];
            new_cell[j] = f * cell[j] + i * g;
            h[j] = o * tanh(new_cell[j]);
        }
    }

    /// The gradient of one row before its gates, from those of h and c; that of c becomes the one before this time.
    fn retreat(
        &self,
        gates: &[f32],
        cells: [&[f32]; 2],
        dh: &[f32],
        dc: &mut [f32],
        d: &mut [f32],
    ) {
        let n = self.hidden;
        let [before, after] = cells;
        for j in 0..n {
            let [i, f, g, o] = [gates[j], gates[n + j], gates[2 * n + j], gates[3 * n + j]];
            let squashed = tanh(after[j]);
            let cell = dc[j] + dh[j] * o * (1.0 - squashed * squashed);
            d[j] = cell * g * i * (1.0 - i);
            d[n + j] = cell * before[j] * f * (1.0 - f);
            d[2 * n + j] = cell * i * (1.0 - g * g);
            d[3 * n + j] = dh[j] * squashed * o * (1.0 - o);
            dc[j] = cell * f;
        }
    }

    /// The gradients of h, of c and before the gates, in the working memory.
    fn working<'a>(&self, scratch: &'a mut [f32]) -> [&'a mut [f32]; 3] {
        let (dh, rest) = scratch.split_at_mut(self.state);
        let (dc, rest) = rest.split_at_mut(self.state);
        [dh, dc, &mut rest[..4 * self.state]]
    }

    /// Fills a part of the working memory with the gradient of a result; zeros where none is wanted.
    fn begin(&self, wires: &Wires, memory: &mut Memory, result: usize) {
        let start = wires.scratch.start + (result - 1) * self.state;
        let part: Span = start..start + self.state;
        match &wires.outputs[result].grad {
            Some(slot) => {
                let [grad, own] = memory.split([slot.span.clone(), part]);
                own.copy_from_slice(grad);
            }
            None => memory.arena[part].fill(0.0),
        }
    }

    /// Adds the gradients of weights and biases at one time.
    fn add_weights(&self, grads: &mut [f32], d: &[f32], x: &[f32], time: usize, h: &[f32]) {
        let (rows, n, gates) = (self.rows, self.hidden, 4 * self.hidden);
        let (input, line) = (self.input, self.steps * self.input);
        let x = &x[time * input..];
        if let Some(grad) = grads.get_mut(self.weight_ih.range.clone()) {
            gemm(
                gates,
                rows,
                input,
                d,
                1,
                gates,
                x,
                line,
                grad,
                input,
                Init::Accumulate,
            );
        }
        if let Some(grad) = grads.get_mut(self.weight_hh.range.clone()) {
            gemm(gates, rows, n, d, 1, gates, h, n, grad, n, Init::Accumulate);
        }
        for bias in [&self.bias_ih, &self.bias_hh] {
            if let Some(grad) = grads.get_mut(bias.range.clone()) {
                for row in d
                    .chunks_exact(gates)
                    .take(if grad.is_empty() { 0 } else { rows })
                {
                    kernels::elementwise::add_assign(row, grad);
                }
            }
        }
    }

    fn params(&self) -> [&Param; 4] {
        [
            &self.weight_ih,
            &self.weight_hh,
            &self.bias_ih,
            &self.bias_hh,
        ]
    }
}

impl Step for Lstm {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        self.start(wires, memory);
        let (turned_ih, turned_hh) = self.turned(wires, memory);
        let biases = [&self.bias_ih, &self.bias_hh].map(|bias| bias.values(wires, memory));
        let (n, gates, line) = (self.hidden, 4 * self.hidden, self.steps * self.input);
        let outputs = [1, 2].map(|k| wires.outputs[k].value.clone());
        let [last_h, last_c] = outputs;
        let spans = [wires.x(0), wires.y(), last_h, last_c, wires.saved.clone()];
        let [x, y, last_h, last_c, saved] = memory.split(spans);
        let kept = self.kept(saved);
        for step in 0..self.steps {
            let time = self.time(step);
            let own = &mut kept.gates[4 * self.state * step..][..4 * self.state];
            for row in own.chunks_exact_mut(gates) {
                row.fill(0.0);
                for bias in biases.iter().filter(|bias| !bias.is_empty()) {
                    kernels::elementwise::add_assign(bias, row);
                }
            }
            let (past, now) = kept.hidden[self.state * step..].split_at_mut(self.state);
            let (cell, new_cell) = kept.cells[self.state * step..].split_at_mut(self.state);
            let x = &x[time * self.input..];
            gemm(
                self.rows,
                self.input,
                gates,
                x,
                line,
                1,
                turned_ih,
                gates,
                own,
                gates,
                Init::Accumulate,
            );
            gemm(
                self.rows,
                n,
                gates,
                past,
                n,
                1,
                turned_hh,
                gates,
                own,
                gates,
                Init::Accumulate,
            );
            for row in 0..self.rows {
                let part = row * n..(row + 1) * n;
                self.advance(
                    &mut own[row * gates..(row + 1) * gates],
                    &cell[part.clone()],
                    &mut new_cell[part.clone()],
                    &mut now[part.clone()],
                );
                y[(row * self.steps + time) * n..][..n].copy_from_slice(&now[part]);
            }
        }
        last_h.copy_from_slice(&kept.hidden[self.state * self.steps..][..self.state]);
        last_c.copy_from_slice(&kept.cells[self.state * self.steps..][..self.state]);
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        self.begin(wires, memory, 1);
        self.begin(wires, memory, 2);
        for param in self.params() {
            if let Some(grad) = memory.grads.get_mut(param.range.clone()) {
                grad.fill(0.0);
            }
        }
        let weight_ih = self.weight_ih.values(wires, memory);
        let weight_hh = self.weight_hh.values(wires, memory);
        let (n, gates, line) = (self.hidden, 4 * self.hidden, self.steps * self.input);
        let dx = wires.grad_target(0).unwrap_or(0..0);
        let spans = [
            wires.x(0),
            wires.dy(),
            wires.saved.clone(),
            dx,
            wires.scratch.clone(),
        ];
        let [x, dy, saved, dx, scratch] = split(memory.arena, spans);
        let (kept, [dh, dc, d]) = (self.kept(saved), self.working(scratch));
        for step in (0..self.steps).rev() {
            let time = self.time(step);
            for row in 0..self.rows {
                let part = row * n..(row + 1) * n;
                if let Some(dy) = dy
                    .get((row * self.steps + time) * n..)
                    .filter(|dy| dy.len() >= n)
                {
                    kernels::elementwise::add_assign(&dy[..n], &mut dh[part.clone()]);
                }
                let cells =
                    [step, step + 1].map(|step| &kept.cells[self.state * step..][part.clone()]);
                let own = &kept.gates[4 * self.state * step + row * gates..][..gates];
                let d = &mut d[row * gates..(row + 1) * gates];
                self.retreat(own, cells, &dh[part.clone()], &mut dc[part], d);
            }
            let past = &kept.hidden[self.state * step..][..self.state];
            self.add_weights(memory.grads, d, x, time, past);
            gemm(
                self.rows,
                gates,
                n,
                d,
                gates,
                1,
                weight_hh,
                n,
                dh,
                n,
                Init::Zero,
            );
            if !dx.is_empty() {
                let dx = &mut dx[time * self.input..];
                gemm(
                    self.rows,
                    gates,
                    self.input,
                    d,
                    gates,
                    1,
                    weight_ih,
                    self.input,
                    dx,
                    line,
                    Init::Zero,
                );
            }
        }
        if wires.inputs[0].grad.is_some() {
            memory.commit_grad(wires, 0);
        }
        for input in 1..wires.inputs.len() {
            if let Some(target) = wires.grad_target(input) {
                let start = wires.scratch.start + (input - 1) * self.state;
                let [own, grad] = memory.split([start..start + self.state, target]);
                grad.copy_from_slice(own);
                memory.commit_grad(wires, input);
            }
        }
        for param in self.params() {
            param.pass_gradient(memory);
        }
    }

    fn saved_len(&self) -> usize {
        4 * self.state * self.steps + 2 * self.state * (self.steps + 1)
    }

    fn scratch_len(&self) -> usize {
        6 * self.state
    }

    fn prepared_len(&self) -> usize {
        self.bias_hh.prepared_end() + 4 * self.hidden * (self.input + self.hidden)
    }

    fn prepare(&self, state: &State, prepared: &mut [f32]) {
        for param in self.params() {
            param.prepare(state, prepared);
        }
        let gates = 4 * self.hidden;
        let (own, turned) = prepared.split_at_mut(self.bias_hh.prepared_end());
        let (ih, hh) = turned.split_at_mut(gates * self.input);
        let weight = self.weight_ih.prepared_values(state, own);
        transpose(gates, self.input, weight, self.input, ih, gates);
        let weight = self.weight_hh.prepared_values(state, own);
        transpose(gates, self.hidden, weight, self.hidden, hh, gates);
    }

    fn is_trained(&self) -> bool {
        true
    }
}
