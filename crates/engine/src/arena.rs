//! The place of every buffer of a plan: one arena, in which buffers with disjoint live ranges share memory.

use std::ops::Range;

/// Part of an arena, in elements.
pub(crate) type Span = Range<usize>;

/// Buffers start on cache lines.
pub(crate) const ALIGNMENT: usize = 16;

/// A buffer and the times at which it must exist, both ends included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    pub len: usize,
    pub first: usize,
    pub last: usize,
}

/// Places every buffer; returns their spans and the length of the arena.
///
/// Largest first, each at the lowest address where nothing alive at the same time lies. Greedy by size is within a few
/// percent of the optimum on networks and does not depend on anything but the list.
pub(crate) fn place(buffers: &[Lifetime]) -> (Vec<Span>, usize) {
    let mut by_size: Vec<usize> = (0..buffers.len()).collect();
    by_size.sort_by_key(|&i| (std::cmp::Reverse(buffers[i].len), i));
    let mut spans: Vec<Span> = vec![0..0; buffers.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut end = 0;
    for i in by_size {
        let buffer = buffers[i];
        let size = buffer.len.next_multiple_of(ALIGNMENT);
        let mut occupied: Vec<Span> = placed
            .iter()
            .filter(|&&j| buffers[j].first <= buffer.last && buffer.first <= buffers[j].last)
            .map(|&j| spans[j].start..spans[j].end.next_multiple_of(ALIGNMENT))
            .collect();
        occupied.sort_by_key(|span| span.start);
        let start = lowest_gap(&occupied, size);
        spans[i] = start..start + buffer.len;
        placed.push(i);
        end = end.max(start + size);
    }
    (spans, end)
}

/// The lowest address with `size` free elements between the occupied spans, which are sorted by their start.
fn lowest_gap(occupied: &[Span], size: usize) -> usize {
    let mut start = 0;
    for span in occupied {
        if span.start >= start + size {
            break;
        }
        start = start.max(span.end);
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buffers_that_never_meet_share_memory() {
        let chain: Vec<Lifetime> = (0..10)
            .map(|t| Lifetime {
                len: 64,
                first: t,
                last: t + 1,
            })
            .collect();
        assert_eq!(place(&chain).1, 128);
    }

    proptest! {
        #[test]
        fn buffers_alive_together_are_disjoint(raw in prop::collection::vec((0_usize..100, 0_usize..20, 0_usize..20), 0..40)) {
            let buffers: Vec<Lifetime> = raw
                .into_iter()
                .map(|(len, first, extra)| Lifetime { len, first, last: first + extra })
                .collect();
            let (spans, end) = place(&buffers);
            for (i, a) in buffers.iter().enumerate() {
                prop_assert!(spans[i].len() == a.len && spans[i].end <= end);
                for (j, b) in buffers.iter().enumerate().skip(i + 1) {
                    let together = a.first <= b.last && b.first <= a.last && a.len > 0 && b.len > 0;
                    let apart = spans[i].end <= spans[j].start || spans[j].end <= spans[i].start;
                    prop_assert!(!together || apart, "{i} {j}");
                }
            }
        }
    }
}
