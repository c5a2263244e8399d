//! Partial sums as linear forms over the product's operands, which give them exact intervals.

use crate::net::{Builder, Interval, Origin, Term};

/// A partial sum: the term that holds it, and what it is a sum of.
#[derive(Clone, Debug)]
struct Form {
    term: Term,
    /// Operands with their factors, in order.
    factors: Vec<(u32, i128)>,
    offset: i64,
    bits: u32,
    depth: f32,
}

/// The partial sums of a product; the first are its operands.
#[derive(Clone, Debug)]
pub struct Forms {
    operands: Vec<Interval>,
    forms: Vec<Form>,
}

/// A partial sum, shifted.
pub type Shifted = (u32, u32);

impl Forms {
    /// The operands, without the shifts of their terms.
    pub fn new(net: &Builder, inputs: &[Term]) -> Self {
        let unshifted = |term: &Term| Term { shift: 0, ..*term };
        let mut forms = Self {
            operands: inputs
                .iter()
                .map(|term| net.interval(unshifted(term)))
                .collect(),
            forms: Vec::new(),
        };
        for (i, term) in inputs.iter().enumerate() {
            forms.push(net, unshifted(term), vec![(i as u32, 1)], 0);
        }
        forms
    }

    /// A constant.
    pub fn constant(&mut self, net: &mut Builder, value: i64, origin: Origin) -> u32 {
        let term = net.constant(value, origin);
        self.push(net, term, Vec::new(), value)
    }

    /// `a·2^sa ± b·2^sb`, where one of the shifts is 0.
    pub fn add(
        &mut self,
        net: &mut Builder,
        a: Shifted,
        b: Shifted,
        subtract: bool,
        origin: Origin,
    ) -> u32 {
        let [left, right] = [a, b].map(|(form, shift)| {
            let form = &self.forms[form as usize];
            (
                form,
                Term {
                    shift: form.term.shift + shift,
                    ..form.term
                },
                shift,
            )
        });
        let sign = if subtract { -1 } else { 1 };
        let factors = merged(
            &left.0.factors,
            1 << left.2,
            &right.0.factors,
            sign << right.2,
        );
        let offset = (left.0.offset << left.2) + ((right.0.offset << right.2) * sign as i64);
        let known = self.interval(&factors, offset);
        let term = net.add(left.1, right.1, subtract, Some(known), origin);
        self.push(net, term, factors, offset)
    }

    /// The term of a partial sum.
    pub fn term(&self, form: u32) -> Term {
        self.forms[form as usize].term
    }

    /// Levels of adders up to a partial sum.
    pub fn depth(&self, form: u32) -> f32 {
        self.forms[form as usize].depth
    }

    /// Bits of its word.
    pub fn bits(&self, form: u32) -> u32 {
        self.forms[form as usize].bits
    }

    fn interval(&self, factors: &[(u32, i128)], offset: i64) -> Interval {
        let mut ends = [i128::from(offset); 2];
        for &(operand, factor) in factors {
            let Interval { lo, hi } = self.operands[operand as usize];
            let own = [lo, hi].map(|x| factor * i128::from(x));
            ends = [ends[0] + own[0].min(own[1]), ends[1] + own[0].max(own[1])];
        }
        Interval::wide(ends[0], ends[1])
    }

    fn push(&mut self, net: &Builder, term: Term, factors: Vec<(u32, i128)>, offset: i64) -> u32 {
        let (bits, depth) = (net.interval(term).width().bits, net.depth(term.cell));
        self.forms.push(Form {
            term,
            factors,
            offset,
            bits,
            depth,
        });
        self.forms.len() as u32 - 1
    }
}

/// `a·x + b·y` of lists in order.
fn merged(x: &[(u32, i128)], a: i128, y: &[(u32, i128)], b: i128) -> Vec<(u32, i128)> {
    let mut sum = Vec::with_capacity(x.len() + y.len());
    let (mut x, mut y) = (x.iter().peekable(), y.iter().peekable());
    loop {
        let (operand, factor) = match (x.peek(), y.peek()) {
            (None, None) => return sum,
            (Some(&&(i, f)), None) => (i, f * a),
            (None, Some(&&(j, g))) => (j, g * b),
            (Some(&&(i, f)), Some(&&(j, g))) => match i.cmp(&j) {
                std::cmp::Ordering::Less => (i, f * a),
                std::cmp::Ordering::Greater => (j, g * b),
                std::cmp::Ordering::Equal => (i, f * a + g * b),
            },
        };
        x.next_if(|term| term.0 == operand);
        y.next_if(|term| term.0 == operand);
        if factor != 0 {
            sum.push((operand, factor));
        }
    }
}
