//! Netlists cell by cell: intervals are computed, constants folded, equal operations shared.

use super::{Bounds, Cell, CellId, Interval, Mark, Net, Operation, Origin, Term};
use std::collections::HashMap;

/// A netlist that grows.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    net: Net,
    /// Levels of adders before each cell's value, its own among them.
    depths: Vec<f32>,
    shared: HashMap<Operation, CellId>,
}

impl Builder {
    /// The netlist so far.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// Levels of adders up to a cell's value.
    pub fn depth(&self, id: CellId) -> f32 {
        self.depths[id.index()]
    }

    /// The interval of a term.
    pub fn interval(&self, term: Term) -> Interval {
        self.net.output_interval(term)
    }

    /// The number of a node's name.
    pub fn node(&mut self, name: &str) -> u32 {
        let names = &mut self.net.nodes;
        let found = names.iter().position(|own| own == name);
        found.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }) as u32
    }

    /// An element of the input.
    pub fn input(&mut self, element: u32, interval: Interval, origin: Origin) -> Term {
        self.push(Operation::Input { element }, interval, origin)
    }

    /// An operand of a part that is solved by itself: an input so many levels of adders deep.
    pub(crate) fn operand(&mut self, number: u32, interval: Interval, depth: f32) {
        let origin = Origin {
            node: 0,
            element: None,
        };
        self.input(number, interval, origin);
        self.depths.pop();
        self.depths.push(depth);
    }

    /// A constant.
    pub fn constant(&mut self, value: i64, origin: Origin) -> Term {
        self.push(Operation::Const { value }, Interval::point(value), origin)
    }

    /// `a + b`, or `a - b`. The interval may be known better than from the operands.
    pub fn add(
        &mut self,
        a: Term,
        b: Term,
        subtract: bool,
        known: Option<Interval>,
        origin: Origin,
    ) -> Term {
        let right = self.interval(b);
        let right = if subtract { right.negated() } else { right };
        let own = self.interval(a).plus(right);
        let interval = known.map_or(own, |known| own.intersect(known));
        if right == Interval::point(0) {
            return a;
        }
        if !subtract && self.interval(a) == Interval::point(0) {
            return b;
        }
        let shift = a.shift.min(b.shift);
        let interval = Interval {
            lo: interval.lo >> shift,
            hi: interval.hi >> shift,
        };
        let operation = Operation::AddSub {
            a: a.cell,
            sa: a.shift - shift,
            b: b.cell,
            sb: b.shift - shift,
            subtract,
        };
        let sum = self.push(operation, interval, origin);
        Term {
            shift: sum.shift + shift,
            ..sum
        }
    }

    /// `-a`.
    pub fn negate(&mut self, a: Term, origin: Origin) -> Term {
        let interval = self.net.cell(a.cell).interval.negated();
        let negated = self.push(Operation::Neg { a: a.cell }, interval, origin);
        Term {
            shift: a.shift,
            ..negated
        }
    }

    /// `⌊a·2^-shift⌋` within bounds.
    pub fn requant(
        &mut self,
        a: Term,
        shift: i32,
        tie_to_even: bool,
        bounds: Bounds,
        origin: Origin,
    ) -> Term {
        let shift = shift - a.shift as i32;
        let operand = self.net.cell(a.cell).interval;
        let tie_to_even = tie_to_even && shift > 0;
        let free = operand.requantized(shift, tie_to_even);
        let (interval, is_inside) = match bounds {
            Bounds::Saturate { lo, hi } => (
                free.map(|x| x.clamp(lo, hi)),
                Interval { lo, hi }.holds(free),
            ),
            Bounds::Wrap { bits, signed } => {
                let all = wrapped(bits, signed);
                if all.holds(free) {
                    (free, true)
                } else {
                    (all, false)
                }
            }
        };
        if is_inside && shift <= 0 {
            return Term {
                cell: a.cell,
                shift: shift.unsigned_abs(),
            };
        }
        let operation = Operation::Requant {
            a: a.cell,
            shift,
            tie_to_even,
            bounds,
        };
        self.push(operation, interval, origin)
    }

    /// `min(max(a, lo), hi)`.
    pub fn clamp(&mut self, a: Term, lo: i64, hi: i64, origin: Origin) -> Term {
        let interval = self.interval(a);
        if (Interval { lo, hi }).holds(interval) {
            return a;
        }
        // A bound beyond all values is that of the values.
        let (lo, hi) = if lo <= interval.hi && hi >= interval.lo {
            (lo.max(interval.lo), hi.min(interval.hi))
        } else {
            (lo, hi)
        };
        // Shifted bounds stay on the operand's grid when they are rounded towards each other only if they lie on it.
        let on_grid = |bound: i64| bound & ((1_i64 << a.shift.min(62)) - 1) == 0;
        let lo_matters = interval.lo < lo;
        let hi_matters = interval.hi > hi;
        if (!lo_matters || on_grid(lo)) && (!hi_matters || on_grid(hi)) {
            let bound = |bound: i64| bound >> a.shift;
            let operation = Operation::Clamp {
                a: a.cell,
                lo: bound(lo),
                hi: bound(hi),
            };
            let own = self
                .net
                .cell(a.cell)
                .interval
                .map(|x| x.clamp(bound(lo), bound(hi)));
            let clamped = self.push(operation, own, origin);
            return Term {
                shift: a.shift + clamped.shift,
                ..clamped
            };
        }
        let a = self.unshifted(a, origin);
        self.push(
            Operation::Clamp { a, lo, hi },
            interval.map(|x| x.clamp(lo, hi)),
            origin,
        )
    }

    /// 1 where `a < b`.
    pub fn less(&mut self, a: Term, b: Term, origin: Origin) -> Term {
        let (left, right) = (self.interval(a), self.interval(b));
        if left.hi < right.lo || left.lo >= right.hi {
            return self.constant((left.hi < right.lo).into(), origin);
        }
        let (a, b) = (self.unshifted(a, origin), self.unshifted(b, origin));
        self.push(Operation::Less { a, b }, Interval { lo: 0, hi: 1 }, origin)
    }

    /// `one` where `select` is 1, else `zero`.
    pub fn mux(&mut self, select: Term, zero: Term, one: Term, origin: Origin) -> Term {
        match self.net.constant(select.cell) {
            Some(0) => return zero,
            Some(_) => return one,
            None if zero == one => return zero,
            None => {}
        }
        let interval = self.interval(zero).hull(self.interval(one));
        let select = select.cell;
        let (zero, one) = (self.unshifted(zero, origin), self.unshifted(one, origin));
        self.push(Operation::Mux { select, zero, one }, interval, origin)
    }

    /// The larger of both.
    pub fn max(&mut self, a: Term, b: Term, origin: Origin) -> Term {
        let (left, right) = (self.interval(a), self.interval(b));
        if left.lo >= right.hi || a == b {
            return a;
        }
        if right.lo >= left.hi {
            return b;
        }
        let interval = Interval {
            lo: left.lo.max(right.lo),
            hi: left.hi.max(right.hi),
        };
        let (a, b) = (self.unshifted(a, origin), self.unshifted(b, origin));
        let (a, b) = (a.min(b), a.max(b));
        self.push(Operation::Max { a, b }, interval, origin)
    }

    /// The product of two values.
    pub fn multiply(&mut self, a: Term, b: Term, origin: Origin) -> Term {
        let interval = self
            .net
            .cell(a.cell)
            .interval
            .times(self.net.cell(b.cell).interval);
        let (x, y) = (a.cell.min(b.cell), a.cell.max(b.cell));
        let product = self.push(Operation::Mul { a: x, b: y }, interval, origin);
        Term {
            shift: a.shift + b.shift + product.shift,
            ..product
        }
    }

    /// `values[a - lo]` for the interval of `a` from `lo` on.
    pub fn table(&mut self, a: Term, values: Vec<i64>, origin: Origin) -> Term {
        let lo = values.iter().copied().min().unwrap_or(0);
        let hi = values.iter().copied().max().unwrap_or(0);
        let a = self.unshifted(a, origin);
        self.push(Operation::Table { a, values }, Interval { lo, hi }, origin)
    }

    /// The cell of a term's own value.
    pub fn unshifted(&mut self, a: Term, origin: Origin) -> CellId {
        if a.shift == 0 {
            return a.cell;
        }
        let interval = self.interval(a);
        let operation = Operation::Shift {
            a: a.cell,
            bits: a.shift,
        };
        self.push(operation, interval, origin).cell
    }

    /// Notes that an element of the program is a function of another value, if it is one at all.
    pub fn mark(&mut self, (step, element): (usize, usize), source: Term, result: Term) {
        if source != result && self.net.constant(result.cell).is_none() {
            self.net.marks.push(Mark {
                step: step as u32,
                element: element as u32,
                source: source.cell,
                result,
            });
        }
    }

    /// The netlist with these results, without cells that nobody reads.
    pub fn finish(mut self, outputs: Vec<Term>) -> Net {
        self.net.outputs = outputs;
        self.net.without_dead()
    }

    /// An operation that is not simplified; an equal one is shared.
    pub(crate) fn push(
        &mut self,
        operation: Operation,
        interval: Interval,
        origin: Origin,
    ) -> Term {
        let (operation, interval) = match interval.single() {
            Some(value) => (Operation::Const { value }, Interval::point(value)),
            None => (operation, interval),
        };
        if let Some(&cell) = self.shared.get(&operation) {
            return Term { cell, shift: 0 };
        }
        let cell = CellId(self.net.cells.len() as u32);
        let before = operation.operands().map(|a| self.depths[a.index()]);
        let depth = before.fold(0.0, f32::max) + levels(&operation, &self.net);
        self.shared.insert(operation.clone(), cell);
        self.net.cells.push(Cell {
            operation,
            interval,
            origin,
        });
        self.depths.push(depth);
        Term { cell, shift: 0 }
    }
}

impl Net {
    /// Levels of adders up to every cell's value.
    pub fn depths(&self) -> Vec<f32> {
        let mut depths: Vec<f32> = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            let before = cell.operation.operands().map(|a| depths[a.index()]);
            depths.push(before.fold(0.0, f32::max) + levels(&cell.operation, self));
        }
        depths
    }
}

/// Levels of adders that an operation is as slow as.
fn levels(operation: &Operation, net: &Net) -> f32 {
    match operation {
        Operation::Input { .. }
        | Operation::Const { .. }
        | Operation::Shift { .. }
        | Operation::Delay { .. } => 0.0,
        Operation::AddSub { .. } | Operation::Neg { .. } | Operation::Less { .. } => 1.0,
        Operation::Mux { .. } => 0.5,
        Operation::Max { .. } => 1.5,
        Operation::Clamp { .. } => 0.25,
        Operation::Requant {
            a,
            shift,
            tie_to_even,
            bounds,
        } => {
            let free = net.cell(*a).interval.requantized(*shift, *tie_to_even);
            let from_above = matches!(bounds, Bounds::Saturate { hi, .. } if free.hi > *hi);
            let rounding = if *tie_to_even { 0.25 } else { 0.0 };
            rounding + if from_above { 0.5 } else { 0.25 }
        }
        Operation::Table { a, .. } => (net.width(*a).bits as f32 - 4.0).max(1.0) * 0.5,
        // An array of adders.
        Operation::Mul { a, b } => net.width(*a).bits.min(net.width(*b).bits) as f32,
    }
}

/// The interval of words of a number of bits.
pub(super) fn wrapped(bits: u32, signed: bool) -> Interval {
    match (bits, signed) {
        (0, _) => Interval::point(0),
        (1..64, true) => Interval {
            lo: -(1 << (bits - 1)),
            hi: (1 << (bits - 1)) - 1,
        },
        (1..63, false) => Interval {
            lo: 0,
            hi: (1 << bits) - 1,
        },
        _ => Interval {
            lo: i64::MIN,
            hi: i64::MAX,
        },
    }
}

/// `⌊x·2^-shift⌋` within bounds, ties cleared to even where asked.
pub(super) fn requant(x: i64, shift: i32, tie_to_even: bool, bounds: Option<Bounds>) -> i64 {
    let steps = shift.unsigned_abs().min(63);
    let mut y = if shift < 0 {
        Interval::point(x).shifted(steps).lo
    } else {
        x >> steps
    };
    if tie_to_even && shift > 0 && x & ((1_i64 << steps.min(62)) - 1) == 0 {
        y &= !1;
    }
    match bounds {
        None => y,
        Some(Bounds::Saturate { lo, hi }) => y.clamp(lo, hi),
        Some(Bounds::Wrap { bits: 0, .. }) => 0,
        Some(Bounds::Wrap { bits, signed }) => {
            let unused = 64 - bits.min(64);
            if signed {
                y << unused >> unused
            } else {
                ((y as u64) << unused >> unused) as i64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Origin = Origin {
        node: 0,
        element: None,
    };

    /// A netlist of one input between bounds, shifted left, and what a step makes of it: its values, which must lie in its
    /// interval.
    fn made(
        (lo, hi): (i64, i64),
        shift: u32,
        step: impl Fn(&mut Builder, Term) -> Term,
    ) -> (Vec<i64>, Interval) {
        let mut net = Builder::default();
        net.node("n");
        let input = net.input(0, Interval { lo, hi }, ORIGIN);
        let result = step(&mut net, Term { shift, ..input });
        let interval = net.interval(result);
        let x: Vec<i64> = (lo..=hi).collect();
        let values = net.finish(vec![result]).evaluate(1, &x);
        for value in &values {
            let is_inside = interval.lo <= *value && *value <= interval.hi;
            assert!(is_inside, "{value} in {interval:?}");
        }
        (values, interval)
    }

    #[test]
    fn clamps_of_shifted_words_are_those_of_integers() {
        for range in [(-8, 7), (0, 9), (-5, -2)] {
            for shift in 0..3 {
                for (lo, hi) in [
                    (-40, 40),
                    (-7, 7),
                    (0, 3),
                    (-8, 4),
                    (2, 2),
                    (-20, -10),
                    (10, 30),
                ] {
                    let (values, interval) =
                        made(range, shift, |net, a| net.clamp(a, lo, hi, ORIGIN));
                    let expected: Vec<i64> = (range.0..=range.1)
                        .map(|x| (x << shift).clamp(lo, hi))
                        .collect();
                    assert_eq!(values, expected, "{range:?} << {shift} in {lo}..={hi}");
                    let ends = [expected[0], expected[expected.len() - 1]];
                    assert_eq!(
                        [interval.lo, interval.hi],
                        ends,
                        "{range:?} {shift} {lo} {hi}"
                    );
                }
            }
        }
    }

    #[test]
    fn words_of_so_many_bits_are_between_their_bounds() {
        let ends = |bits, signed| {
            let interval = wrapped(bits, signed);
            (interval.lo, interval.hi)
        };
        for bits in 1..8 {
            let half = 1 << (bits - 1);
            assert_eq!(ends(bits, true), (-half, half - 1));
            assert_eq!(ends(bits, false), (0, 2 * half - 1));
        }
        assert_eq!([ends(0, true), ends(0, false)], [(0, 0); 2]);
        assert_eq!(ends(63, true), (-(1 << 62), (1 << 62) - 1));
        assert_eq!(ends(62, false), (0, (1 << 62) - 1));
        let all = (i64::MIN, i64::MAX);
        assert_eq!([ends(63, false), ends(64, true), ends(64, false)], [all; 3]);
    }

    /// Dividing rounds down, and to the even multiple where asked and nothing is left over.
    #[test]
    fn requantising_is_dividing_within_bounds() {
        let wrap = |y: i64, bits: u32, signed: bool| {
            let y = y.rem_euclid(1 << bits);
            if signed && y >= 1 << (bits - 1) {
                y - (1 << bits)
            } else {
                y
            }
        };
        for x in -70..70_i64 {
            for shift in -3..6 {
                for tie_to_even in [false, true] {
                    let one = 1_i64 << shift.max(0);
                    let mut y = (x << (-shift).max(0)).div_euclid(one);
                    if tie_to_even && shift > 0 && x.rem_euclid(one) == 0 {
                        y -= y.rem_euclid(2);
                    }
                    let case = format!("{x} by {shift}, {tie_to_even}");
                    assert_eq!(requant(x, shift, tie_to_even, None), y, "{case}");
                    let bounds = Bounds::Saturate { lo: -5, hi: 9 };
                    let found = requant(x, shift, tie_to_even, Some(bounds));
                    assert_eq!(found, y.clamp(-5, 9), "{case}");
                    for (bits, signed) in [(1, false), (1, true), (3, false), (4, true)] {
                        let bounds = Bounds::Wrap { bits, signed };
                        let found = requant(x, shift, tie_to_even, Some(bounds));
                        assert_eq!(found, wrap(y, bits, signed), "{case}: {bounds:?}");
                    }
                }
            }
        }
        let nothing = Bounds::Wrap {
            bits: 0,
            signed: true,
        };
        assert_eq!(requant(77, 2, false, Some(nothing)), 0);
    }

    /// Every way of adding, with shifts, is that of integers, and so are the ends of its interval.
    #[test]
    fn sums_of_shifted_words_are_those_of_integers() {
        let (first, second) = ((-4, 3), (0, 5));
        for (sa, sb) in [(0, 0), (2, 0), (0, 3), (1, 1), (3, 2)] {
            for subtract in [false, true] {
                let mut net = Builder::default();
                net.node("n");
                let [a, b] = [(0, first), (1, second)]
                    .map(|(element, (lo, hi))| net.input(element, Interval { lo, hi }, ORIGIN));
                let [a, b] = [Term { shift: sa, ..a }, Term { shift: sb, ..b }];
                let sum = net.add(a, b, subtract, None, ORIGIN);
                let negative = net.negate(sum, ORIGIN);
                let interval = net.interval(sum);
                let net = net.finish(vec![sum, negative]);
                let (mut lo, mut hi) = (i64::MAX, i64::MIN);
                for x in first.0..=first.1 {
                    for y in second.0..=second.1 {
                        let y_part = if subtract { -(y << sb) } else { y << sb };
                        let expected = (x << sa) + y_part;
                        assert_eq!(net.evaluate(2, &[x, y]), [expected, -expected]);
                        (lo, hi) = (lo.min(expected), hi.max(expected));
                    }
                }
                assert_eq!((interval.lo, interval.hi), (lo, hi), "{sa} {sb} {subtract}");
            }
        }
    }
}
