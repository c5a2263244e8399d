//! Convolutions in exact integers.

use crate::integer::error::Refusal;
use crate::integer::rows::{Rows, Windows};
use crate::integer::{Lowered, Site};
use crate::ops::linear::integer::product;
use crate::ops::pool::integer::taps;
use ir::ops::conv::Conv;

pub(crate) fn lower<const K: usize>(op: &Conv<K>, site: &Site) -> Result<Lowered, Refusal> {
    let (input, output) = (&site.operands[0].shape, &site.outputs[0]);
    let window = op.window();
    let axis = |k: usize| taps(&window, k, input[2 + k], output[2 + k]);
    let [rows, columns] = match K {
        1 => [vec![vec![Some(0)]], axis(0)],
        _ => [axis(0), axis(1)],
    };
    let inner = rows.len() * columns.len();
    let windows = Windows {
        images: input[0],
        channels: op.in_channels,
        groups: op.groups,
        plane: input[2..].iter().product(),
        width: input[1 + K],
        rows,
        columns,
    };
    let taps = op.group_channels() * op.kernel_size.iter().product::<usize>();
    let columns = op.out_channels / op.groups;
    product(
        Rows::Windows(windows),
        op.groups,
        [taps, columns],
        op.bias,
        inner,
        site,
    )
}
