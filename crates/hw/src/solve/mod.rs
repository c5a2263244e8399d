//! Products with constant matrices as additions and subtractions of shifted values.
//!
//! Every weight becomes canonical signed digits (`digits.rs`); pairs of terms that several sums have in common are computed
//! once (`sharing.rs`), under a budget of depth; what is left of each sum becomes a tree (`tree.rs`). The interval of every partial
//! sum is that of its linear form, which is narrower than its operands tell where they have inputs in common. [`Effort`] says how
//! many orders of sharing are tried.

mod digits;
mod form;
mod sharing;
mod tree;

use crate::net::{Builder, Origin, Term};
use form::Forms;
use sharing::{Column, Order};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
pub fn solve(net: &mut Builder, product: &Product, effort: Effort) -> Vec<Term> {
    match effort {
        Effort::Fast => sums(net, product, None),
        Effort::Normal => sums(net, product, Some(Order::Saving)),
        Effort::Best { seed } => best(net, product, seed),
    }
}

/// The results with the fewest bits of adders among many orders; of equals the first.
fn best(net: &mut Builder, product: &Product, seed: u64) -> Vec<Term> {
    let first = net.net().cells.len();
    let attempt = |order: Order| {
        let mut own = net.clone();
        let terms = sums(&mut own, product, Some(order));
        (own.net().adder_bits_from(first), own, terms)
    };
    let mut least = attempt(Order::Saving);
    for number in 0..TRIES {
        let measure = number % Order::MEASURES;
        let chance =
            (number >= Order::MEASURES).then(|| seed.wrapping_mul(TRIES).wrapping_add(number));
        let other = attempt(Order::Varied {
            measure,
            seed: chance,
        });
        if other.0 < least.0 {
            least = other;
        }
    }
    *net = least.1;
    least.2
}

/// The results with one order of sharing, or none.
fn sums(net: &mut Builder, product: &Product, order: Option<Order>) -> Vec<Term> {
    let mut forms = Forms::new(net, product.inputs);
    let mut columns = columns(product);
    let origin = Origin {
        node: product.node,
        element: None,
    };
    if let Some(order) = order {
        sharing::share(net, &mut forms, &mut columns, order, origin);
    }
    let sums = columns.into_iter().zip(product.bias).zip(product.elements);
    sums.map(|((column, &bias), &element)| {
        let origin = Origin {
            node: product.node,
            element: Some(element),
        };
        tree::sum(net, &mut forms, &column, bias, origin)
    })
    .collect()
}

/// The signed digits of every result's weights.
fn columns(product: &Product) -> Vec<Column> {
    let n = product.inputs.len();
    let column = |(j, &bias): (usize, &i64)| {
        let mut column = Column::new(bias != 0);
        for (i, (&weight, term)) in product.weights[j * n..(j + 1) * n]
            .iter()
            .zip(product.inputs)
            .enumerate()
        {
            for (shift, negative) in digits::canonical(weight) {
                column.push(sharing::Digit {
                    form: i as u32,
                    shift: shift + term.shift,
                    negative,
                });
            }
        }
        column
    };
    product.bias.iter().enumerate().map(column).collect()
}
