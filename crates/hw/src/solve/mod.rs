//! Products with constant matrices as additions and subtractions of shifted values.
//!
//! Every weight becomes canonical signed digits (`digits.rs`); pairs of terms that several sums have in common are computed
//! once (`sharing.rs`), under a budget of depth; what is left of each sum becomes a tree (`tree.rs`). The interval of every partial
//! sum is that of its linear form, which is narrower than its operands tell where they have inputs in common.

mod digits;
mod form;
mod sharing;
mod tree;

use crate::net::{Builder, Origin, Term};
use form::Forms;
use sharing::Column;

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

/// The results of a product, one term each.
pub fn solve(net: &mut Builder, product: &Product) -> Vec<Term> {
    let mut forms = Forms::new(net, product.inputs);
    let mut columns = columns(product);
    let origin = Origin {
        node: product.node,
        element: None,
    };
    sharing::share(net, &mut forms, &mut columns, origin);
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
