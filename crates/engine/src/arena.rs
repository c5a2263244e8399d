//! The place of every buffer of a plan: one arena, in which buffers with disjoint live ranges share memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
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

/// More buffers than this are placed in the order of time, which takes n log n steps instead of n².
const MAX_BY_SIZE: usize = 4096;

/// Places every buffer; returns their spans and the length of the arena.
pub(crate) fn place(buffers: &[Lifetime]) -> (Vec<Span>, usize) {
    if buffers.len() <= MAX_BY_SIZE {
        place_by_size(buffers)
    } else {
        place_in_time(buffers)
    }
}

/// Largest first, each at the lowest address where nothing alive at the same time lies. Greedy by size is within a few
/// percent of the optimum on networks and does not depend on anything but the list.
fn place_by_size(buffers: &[Lifetime]) -> (Vec<Span>, usize) {
    let mut by_size: Vec<usize> = (0..buffers.len()).collect();
    by_size.sort_by_key(|&i| (Reverse(buffers[i].len), i));
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

/// In the order in which they begin to exist, each in the smallest gap that holds it.
fn place_in_time(buffers: &[Lifetime]) -> (Vec<Span>, usize) {
    let mut by_start: Vec<usize> = (0..buffers.len()).collect();
    by_start.sort_by_key(|&i| (buffers[i].first, Reverse(buffers[i].len), i));
    let mut spans: Vec<Span> = vec![0..0; buffers.len()];
    let mut alive: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    let mut gaps = Gaps::default();
    for i in by_start {
        let buffer = buffers[i];
        while let Some(&Reverse((last, ended))) = alive.peek()
            && last < buffer.first
        {
            alive.pop();
            let size = buffers[ended].len.next_multiple_of(ALIGNMENT);
            gaps.free(spans[ended].start, size);
        }
        let start = gaps.take(buffer.len.next_multiple_of(ALIGNMENT));
        spans[i] = start..start + buffer.len;
        alive.push(Reverse((buffer.last, i)));
    }
    (spans, gaps.end)
}

/// The free parts of an arena that grows when nothing fits.
#[derive(Default)]
struct Gaps {
    /// The length of each gap by its start.
    by_start: BTreeMap<usize, usize>,
    /// The same gaps, the smallest first.
    by_len: BTreeSet<(usize, usize)>,
    /// The length of the arena.
    end: usize,
}

impl Gaps {
    fn take(&mut self, size: usize) -> usize {
        if size == 0 {
            return 0;
        }
        if let Some(&(len, start)) = self.by_len.range((size, 0)..).next() {
            self.remove(start, len);
            self.insert(start + size, len - size);
            return start;
        }
        // A gap at the end of the arena grows with it.
        let last = self
            .by_start
            .last_key_value()
            .map(|(&start, &len)| (start, len));
        let start = match last.filter(|(start, len)| start + len == self.end) {
            Some((start, len)) => {
                self.remove(start, len);
                start
            }
            None => self.end,
        };
        self.end = start + size;
        start
    }

    fn free(&mut self, start: usize, size: usize) {
        if size == 0 {
            return;
        }
        let (mut start, mut len) = (start, size);
        let before = self.by_start.range(..start).next_back();
        if let Some((&other, &other_len)) = before
            && other + other_len == start
        {
            self.remove(other, other_len);
            (start, len) = (other, other_len + len);
        }
        if let Some(&after) = self.by_start.get(&(start + len)) {
            self.remove(start + len, after);
            len += after;
        }
        self.insert(start, len);
    }

    fn insert(&mut self, start: usize, len: usize) {
        if len > 0 {
            self.by_start.insert(start, len);
            self.by_len.insert((len, start));
        }
    }

    fn remove(&mut self, start: usize, len: usize) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
    }
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
        assert_eq!(place_by_size(&chain).1, 128);
        assert_eq!(place_in_time(&chain).1, 128);
    }

    fn lifetimes(buffers: &[(usize, usize, usize)]) -> Vec<Lifetime> {
        let lifetime = |&(len, first, last): &(usize, usize, usize)| Lifetime { len, first, last };
        buffers.iter().map(lifetime).collect()
    }

    /// Gaps join with those before and behind them, and one at the end of the arena grows.
    #[test]
    fn gaps_are_joined_and_the_smallest_is_taken() {
        let joined = lifetimes(&[
            (16, 0, 1),
            (32, 0, 0),
            (16, 0, 2),
            (48, 2, 3),
            (32, 3, 3),
            (64, 4, 4),
            (16, 4, 4),
            (0, 4, 4),
        ]);
        let spans = vec![32..48, 0..32, 48..64, 0..48, 48..80, 0..64, 64..80, 0..0];
        assert_eq!(place_in_time(&joined), (spans, 80));
        let chosen = lifetimes(&[
            (32, 0, 0),
            (16, 0, 9),
            (16, 0, 0),
            (16, 0, 9),
            (10, 1, 1),
            (20, 1, 1),
            (16, 2, 2),
            (16, 2, 2),
        ]);
        let spans = vec![0..32, 32..48, 48..64, 64..80, 48..58, 0..20, 48..64, 0..16];
        assert_eq!(place_in_time(&chosen), (spans, 80));
    }

    #[test]
    fn the_lowest_gap_that_is_long_enough_is_taken() {
        for (occupied, size, start) in [
            (&[][..], 8, 0),
            (&[16..32, 64..80], 16, 0),
            (&[16..32, 64..80], 17, 32),
            (&[0..16, 32..48], 16, 16),
            (&[0..16, 32..48], 17, 48),
            (&[0..64, 16..32], 1, 64),
        ] {
            assert_eq!(lowest_gap(occupied, size), start, "{occupied:?} {size}");
        }
        let buffers = lifetimes(&[(32, 0, 0), (16, 0, 9), (16, 0, 0), (16, 0, 9), (16, 1, 9)]);
        let spans = vec![0..32, 32..48, 48..64, 64..80, 0..16];
        assert_eq!(place_by_size(&buffers), (spans, 80));
    }

    proptest! {
        #[test]
        fn buffers_alive_together_are_disjoint(raw in prop::collection::vec((0_usize..100, 0_usize..20, 0_usize..20), 0..40)) {
            let buffers: Vec<Lifetime> = raw
                .into_iter()
                .map(|(len, first, extra)| Lifetime { len, first, last: first + extra })
                .collect();
            for (spans, end) in [place_by_size(&buffers), place_in_time(&buffers)] {
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
}
