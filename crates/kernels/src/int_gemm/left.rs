//! The rows of a left operand in memory: those of a matrix, or the windows of a convolution where they lie.

use super::LeftOperand;

/// Bytes of a group.
pub(crate) const GROUP: usize = 4;

/// Rows of elements. Row `i` is made of runs of `run` elements; run `r` begins at `starts[i] + runs[r]`. A run is read in whole
/// groups: what follows it there is multiplied with the zeros that fill up the packed weights.
#[derive(Clone, Copy)]
pub struct LeftRows<'a, T> {
    /// Memory of all rows.
    pub elements: &'a [T],
    /// The places of rows.
    pub starts: Starts<'a>,
    /// The places of a row's runs.
    pub runs: &'a [usize],
    /// Elements of a run.
    pub run: usize,
}

impl<'a, T: LeftOperand> LeftRows<'a, T> {
    /// The rows of a matrix, `k` elements each, padded to whole groups.
    pub fn dense(rows: usize, k: usize, elements: &'a [T]) -> Self {
        Self {
            elements,
            starts: Starts::Every(rows, k.next_multiple_of(T::GROUP)),
            runs: &[0],
            run: k,
        }
    }
}

/// The places of rows in memory.
#[derive(Clone, Copy)]
pub enum Starts<'a> {
    /// So many rows, each this many elements after the one before it.
    Every(usize, usize),
    /// Some rows of a list, from one on.
    At(&'a Places, usize, usize),
}

/// Any places of rows, and the last of them.
#[derive(Clone, Debug)]
pub struct Places {
    starts: Vec<usize>,
    last: usize,
}

impl Places {
    /// Rows at these places.
    pub fn new(starts: Vec<usize>) -> Self {
        let last = starts.iter().copied().max().unwrap_or(0);
        Self { starts, last }
    }

    /// The places from the `first` on, `count` of them.
    ///
    /// # Panics
    /// When there are not as many.
    pub fn some(&self, first: usize, count: usize) -> &[usize] {
        &self.starts[first..first + count]
    }
}

impl Starts<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Every(rows, _) | Self::At(_, _, rows) => *rows,
        }
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place after which no row begins.
    fn last(&self) -> usize {
        match self {
            Self::Every(rows, step) => rows.saturating_sub(1) * step,
            Self::At(places, ..) => places.last,
        }
    }
}

/// Rows as pointers, in 32-bit groups.
#[derive(Clone, Copy)]
pub(crate) struct RowPointers {
    elements: *const u8,
    /// Bytes of an element.
    unit: usize,
    /// Elements from row to row, where rows have no places of their own.
    step: usize,
    /// The places of rows, or null.
    starts: *const usize,
    runs: *const usize,
    /// Runs of a row.
    pub n_runs: usize,
    /// Groups of a run.
    pub groups: usize,
}

impl RowPointers {
    /// Pointers to rows of at least one element.
    ///
    /// # Panics
    /// When the memory ends before the last row does: an error of the caller.
    pub fn new<T>(rows: &LeftRows<T>) -> Self {
        let unit = size_of::<T>();
        let groups = (rows.run * unit).div_ceil(GROUP);
        let last = rows.starts.last() + rows.runs.iter().copied().max().unwrap_or(0);
        let (has, needs) = (size_of_val(rows.elements), last * unit + groups * GROUP);
        assert!(
            has >= needs || rows.starts.is_empty() || rows.runs.is_empty(),
            "int_gemm: A has {has} bytes, needs {needs}"
        );
        let (step, starts) = match rows.starts {
            Starts::Every(_, step) => (step, std::ptr::null()),
            Starts::At(places, first, count) => (0, places.some(first, count).as_ptr()),
        };
        Self {
            elements: rows.elements.as_ptr().cast(),
            unit,
            step,
            starts,
            runs: rows.runs.as_ptr(),
            n_runs: rows.runs.len(),
            groups,
        }
    }

    /// The places of `MR` rows from row `i` on.
    ///
    /// # Safety
    /// There must be as many rows.
    #[inline(always)]
    pub unsafe fn rows<const MR: usize>(&self, i: usize) -> [*const u8; MR] {
        std::array::from_fn(|r| {
            let start = if self.starts.is_null() {
                (i + r) * self.step
            } else {
                // SAFETY: the caller's promise.
                unsafe { *self.starts.add(i + r) }
            };
            // SAFETY: `new` checked that the row lies in its memory.
            unsafe { self.elements.add(start * self.unit) }
        })
    }

    /// Bytes from the start of a row to that of its run `run`.
    ///
    /// # Safety
    /// There must be such a run.
    #[inline(always)]
    pub unsafe fn run(&self, run: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { *self.runs.add(run) * self.unit }
    }
}

/// Group `at` bytes after the start of a row.
///
/// # Safety
/// The row must have it.
#[inline(always)]
pub(crate) unsafe fn group(row: *const u8, at: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { row.add(at).cast::<i32>().read_unaligned() }
}
