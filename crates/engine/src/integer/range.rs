//! Ranges of codes in the 64-bit integers that the executor computes with: what does not fit is refused before it runs,
//! so that no sum ever overflows.

use super::error::Refusal;
pub(crate) use ir::CodeRange;

/// A range that 64-bit integers must hold.
pub(crate) trait Fit {
    /// The range itself, if they do.
    fn fit(self) -> Result<CodeRange, Refusal>;
}

impl Fit for CodeRange {
    fn fit(self) -> Result<CodeRange, Refusal> {
        let fits = |code: i128| i64::try_from(code).is_ok();
        if fits(self.min) && fits(self.max) {
            Ok(self)
        } else {
            Err(Refusal::TooWide(self.format().width))
        }
    }
}

impl Fit for Option<CodeRange> {
    fn fit(self) -> Result<CodeRange, Refusal> {
        let why = || Refusal::NoForm("its result has no fixed-point form of 128 bits".into());
        self.ok_or_else(why)?.fit()
    }
}

/// The same values as codes of a finer step, and the bits by which codes move to the left.
pub(crate) fn refined(range: CodeRange, frac: i32) -> Result<(CodeRange, u32), Refusal> {
    let bits = (i64::from(frac) - i64::from(range.frac)).max(0) as u32;
    let too_wide = || Refusal::TooWide(range.format().width.saturating_add(bits));
    let finer = range.with_frac(frac).ok_or_else(too_wide)?;
    // Zeros may move by any number of bits; no shift instruction does.
    Ok((finer.fit()?, bits.min(63)))
}

/// Sums of `n` elements, in any order: partial sums are within the range too.
pub(crate) fn summed(range: CodeRange, n: usize) -> Result<CodeRange, Refusal> {
    range.with_zero().summed(n).fit()
}

/// Bits behind the point of a product.
pub(crate) fn product_frac(a: i32, b: i32) -> Result<i32, Refusal> {
    a.checked_add(b).ok_or_else(|| {
        Refusal::NoForm("its result has more than 2^31 bits behind the point".into())
    })
}
