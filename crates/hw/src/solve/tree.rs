//! The terms of one sum as a tree of adders.

use super::form::Forms;
use super::sharing::{Column, Digit};
use crate::net::{Builder, Origin, Term};

/// The sum of a column's terms and a constant, as one term of other sums; none where it is 0.
pub fn sum(
    net: &mut Builder,
    forms: &mut Forms,
    column: &Column,
    bias: i64,
    origin: Origin,
) -> Option<Digit> {
    let mut open: Vec<Digit> = column.digits().to_vec();
    if bias != 0 {
        let form = forms.constant(net, bias.saturating_abs(), origin);
        open.push(Digit {
            form,
            shift: 0,
            negative: bias < 0,
        });
    }
    // The shallowest two first, and of these the two with the lowest bits.
    while open.len() > 1 {
        open.sort_by(|x, y| {
            order(forms, *y)
                .total_cmp(&order(forms, *x))
                .then(y.shift.cmp(&x.shift))
        });
        let (Some(x), Some(y)) = (open.pop(), open.pop()) else {
            break;
        };
        open.push(add(net, forms, x, y, origin));
    }
    open.pop()
}

/// The value of such a term.
pub fn value(net: &mut Builder, forms: &Forms, digit: Option<Digit>, origin: Origin) -> Term {
    let Some(last) = digit else {
        return net.constant(0, origin);
    };
    let term = forms.term(last.form);
    let term = Term {
        shift: term.shift + last.shift,
        ..term
    };
    if last.negative {
        net.negate(term, origin)
    } else {
        term
    }
}

fn order(forms: &Forms, digit: Digit) -> f32 {
    forms.depth(digit.form)
}

fn add(net: &mut Builder, forms: &mut Forms, x: Digit, y: Digit, origin: Origin) -> Digit {
    let (x, y) = if x.negative && !y.negative {
        (y, x)
    } else {
        (x, y)
    };
    let shift = x.shift.min(y.shift);
    let (left, right) = ((x.form, x.shift - shift), (y.form, y.shift - shift));
    let form = forms.add(net, left, right, x.negative != y.negative, origin);
    Digit {
        form,
        shift,
        negative: x.negative,
    }
}
