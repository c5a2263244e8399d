//! Products with constant matrices as additions and subtractions of shifted values.
//!
//! A result whose weights are near those of another is the other and a difference where that leaves fewer terms
//! (`differences.rs`). Every weight becomes canonical signed digits (`digits.rs`); pairs of terms that several sums have in common are computed
//! once (`sharing.rs`), under a budget of depth; what is left of each sum becomes a tree (`tree.rs`). The interval of every partial
//! sum is that of its linear form, which is narrower than its operands tell where they have inputs in common. [`Effort`] says how
//! many orders of sharing are tried. A [`Cache`] holds what was solved before.

mod cache;
mod differences;
pub(crate) mod digits;
mod form;
mod sharing;
mod tree;

pub use cache::{Cache, solve};

use crate::net::{Builder, Origin, Term};
use differences::Near;
use form::Forms;
use sharing::{Column, Digit, Order};

/// `y = W·x + b` with constants.
#[derive(Clone, Debug)]
pub struct Product<'a> {
    /// The operands.
    pub inputs: &'a [Term],
    /// The weights, one row of `inputs.len()` for every result.
    pub weights: &'a [i64],
    /// The addends, one for every result.
    pub bias: &'a [i64],
    /// The element of the node's result that each result is; also their number.
    pub elements: &'a [u32],
    /// The number of the node's name.
    pub node: u32,
}

/// The work that goes into a smaller netlist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Effort {
    /// Every sum for itself.
    Fast,
    /// Shared pairs, the one that saves most first.
    #[default]
    Normal,
    /// The smallest of many orders of sharing, by several measures and by chance.
    Best {
        /// The seed of the orders.
        seed: u64,
    },
}

/// Orders of sharing that [`Effort::Best`] tries beside the normal one.
const TRIES: u64 = 24;

/// The results of a product, one term each.
fn solved(net: &mut Builder, product: &Product, effort: Effort) -> Vec<Term> {
    match effort {
        Effort::Fast => sums(net, product, &alone(product), None),
        Effort::Normal => least(net, product, [Order::Saving]),
        Effort::Best { seed } => {
            let tried = (0..TRIES).map(|number| Order::Varied {
                measure: number % Order::MEASURES,
                seed: (number >= Order::MEASURES)
                    .then(|| seed.wrapping_mul(TRIES).wrapping_add(number)),
            });
            least(net, product, [Order::Saving].into_iter().chain(tried))
        }
    }
}

/// The results with the fewest bits of adders among orders, each with and without differences; of equals the first.
fn least(
    net: &mut Builder,
    product: &Product,
    orders: impl IntoIterator<Item = Order>,
) -> Vec<Term> {
    let (alone, differences) = (alone(product), differences::differences(product));
    let mut attempts = orders.into_iter().flat_map(|order| {
        let both = [
            Some((&alone, order)),
            differences.as_ref().map(|own| (own, order)),
        ];
        both.into_iter().flatten()
    });
    let (Some(first), second) = (attempts.next(), attempts.next()) else {
        return Vec::new();
    };
    let Some(second) = second else {
        return sums(net, product, first.0, Some(first.1));
    };
    let before = net.net().cells.len();
    let attempt = |(results, order): (&Vec<Near>, Order)| {
        let mut own = net.clone();
        let terms = sums(&mut own, product, results, Some(order));
        let depths = terms.iter().map(|term| own.depth(term.cell));
        let depth = depths.fold(0.0, f32::max);
        (own.net().adder_bits_from(before), depth, own, terms)
    };
    let mut least = attempt(first);
    let deepest = least.1;
    for other in [second].into_iter().chain(attempts) {
        let is_alone = other.0.iter().all(|near| near.other.is_none());
        let other = attempt(other);
        // A difference waits for what it is the difference to: fewer bits are not worth another cycle.
        if other.0 < least.0 && (is_alone || other.1 <= deepest) {
            least = other;
        }
    }
    *net = least.2;
    least.3
}

/// Every result by its own weights.
fn alone(product: &Product) -> Vec<Near> {
    let n = product.inputs.len();
    let near = |result: usize| Near {
        result,
        other: None,
        weights: product.weights[result * n..(result + 1) * n].to_vec(),
    };
    (0..product.bias.len()).map(near).collect()
}

/// The results with one order of sharing, or none.
fn sums(net: &mut Builder, product: &Product, results: &[Near], order: Option<Order>) -> Vec<Term> {
    let mut forms = Forms::new(net, product.inputs);
    let column = |near: &Near| column(product.inputs, &near.weights, product.bias[near.result]);
    let mut columns: Vec<Column> = results.iter().map(column).collect();
    let origin = Origin {
        node: product.node,
        element: None,
    };
    if let Some(order) = order {
        sharing::share(net, &mut forms, &mut columns, order, origin);
    }
    let mut digits: Vec<Option<Digit>> = vec![None; results.len()];
    let mut terms = vec![None; results.len()];
    for (near, mut column) in results.iter().zip(columns) {
        let origin = Origin {
            node: product.node,
            element: Some(product.elements[near.result]),
        };
        let mut bias = product.bias[near.result];
        if let Some((other, minus)) = near.other {
            let sign = if minus { -1 } else { 1 };
            bias -= sign * product.bias[other];
            if let Some(digit) = digits[other] {
                column.push(Digit {
                    negative: digit.negative != minus,
                    ..digit
                });
            }
        }
        let digit = tree::sum(net, &mut forms, &column, bias, origin);
        digits[near.result] = digit;
        terms[near.result] = Some(tree::value(net, &forms, digit, origin));
    }
    terms.into_iter().flatten().collect()
}

/// The signed digits of a result's weights.
fn column(inputs: &[Term], weights: &[i64], bias: i64) -> Column {
    let mut column = Column::new(bias != 0);
    for (i, (&weight, term)) in weights.iter().zip(inputs).enumerate() {
        for (shift, negative) in digits::canonical(weight) {
            column.push(Digit {
                form: i as u32,
                shift: shift + term.shift,
                negative,
            });
        }
    }
    column
}
