//! Words of arithmetic cells and registers.

use super::{Reading, Words, aligned};
use crate::net::Interval;
use crate::prove::form::{Atom, Form};
use crate::prove::{ProveError, Word};
use crate::rtl::{Bit, Kind, RtlCell};

impl Words<'_> {
    pub(super) fn arithmetic(&mut self, cell: &RtlCell) -> Result<Word, ProveError> {
        let bits = cell.y.len();
        let a = self.operand(cell, &cell.a, bits)?;
        let b = match cell.kind {
            Kind::Neg => Reading {
                form: Form::default(),
                interval: Some(Interval::point(0)),
                stage: None,
            },
            _ => self.operand(cell, &cell.b, bits)?,
        };
        let stage = aligned(&cell.name, [a.stage, b.stage])?;
        let negated = b.interval.map(Interval::negated);
        let sum = |x: Option<Interval>, y: Option<Interval>| Some(x?.plus(y?));
        let (form, interval) = match cell.kind {
            Kind::Add => (a.form.plus(&b.form, 1, 0)?, sum(a.interval, b.interval)),
            Kind::Sub => (a.form.plus(&b.form, -1, 0)?, sum(a.interval, negated)),
            Kind::Neg => (a.form.scaled(-1, 0)?, a.interval.map(Interval::negated)),
            _ => self.product(&a, &b)?,
        };
        self.fitted(form, interval, bits, stage)
    }

    fn product(
        &mut self,
        a: &Reading,
        b: &Reading,
    ) -> Result<(Form, Option<Interval>), ProveError> {
        let (Some(x), Some(y)) = (a.interval, b.interval) else {
            return Err(ProveError::TooWide);
        };
        let interval = x.times(y);
        Ok((self.forms.product(&a.form, &b.form)?, Some(interval)))
    }

    /// The word of `bits` bits that is congruent to a form; its value where it fits.
    pub(super) fn fitted(
        &mut self,
        form: Form,
        interval: Option<Interval>,
        bits: usize,
        stage: Option<u32>,
    ) -> Result<Word, ProveError> {
        let range = self.forms.range(&form)?;
        let interval = interval.map_or(range, |own| own.intersect(range));
        if fits(interval, bits) {
            return Ok(Word {
                form,
                interval,
                is_exact: true,
                stage,
            });
        }
        // Operands are congruent; another representative may fit.
        let whole = 1_i64.checked_shl(bits as u32).ok_or(ProveError::TooWide)?;
        for steps in [-1_i64, 1] {
            let moved = range.plus(Interval::point(whole.saturating_mul(steps)));
            if fits(moved, bits) {
                let form =
                    form.plus(&Form::constant(i128::from(whole) * i128::from(steps)), 1, 0)?;
                return Ok(Word {
                    form,
                    interval: moved,
                    is_exact: true,
                    stage,
                });
            }
        }
        Ok(Word {
            form,
            interval: range,
            is_exact: false,
            stage,
        })
    }

    /// The word with a form that is its value.
    pub(super) fn exact(&mut self, word: &Word, bits: usize) -> Result<Word, ProveError> {
        if word.is_exact {
            return Ok(word.clone());
        }
        let form = self
            .forms
            .remainder(&word.form, word.interval, bits as u32)?;
        let interval = self.forms.range(&form)?.intersect(Interval {
            lo: 0,
            hi: (1 << bits) - 1,
        });
        Ok(Word {
            form,
            interval,
            is_exact: true,
            ..*word
        })
    }

    pub(super) fn register(&mut self, cell: &RtlCell) -> Result<Word, ProveError> {
        let value = self.read(&cell.a)?;
        let stage = value.stage.map(|stage| stage + 1);
        self.fitted(value.form, value.interval, cell.y.len(), stage)
    }

    pub(super) fn comparison(&mut self, cell: &RtlCell) -> Result<Word, ProveError> {
        let bits = cell.a.len().max(cell.b.len());
        let [a, b] = [
            self.operand(cell, &cell.a, bits)?,
            self.operand(cell, &cell.b, bits)?,
        ];
        let stage = aligned(&cell.name, [a.stage, b.stage])?;
        // The comparison is that of the values only if both are what the bits are taken for.
        for reading in [&a, &b] {
            let is_own = |own: Interval| {
                if cell.signed {
                    fits_signed(own, bits)
                } else {
                    fits_unsigned(own, bits)
                }
            };
            if !reading.interval.is_some_and(is_own) {
                return Err(ProveError::NotUnderstood {
                    cell: cell.name.clone(),
                });
            }
        }
        let (less, greater) = if cell.kind == Kind::Lt {
            (a.form, b.form)
        } else {
            (b.form, a.form)
        };
        let (x, y) = (self.forms.intern(&less), self.forms.intern(&greater));
        let interval = Interval { lo: 0, hi: 1 };
        let form = self.forms.atom(Atom::Less(x, y), interval);
        Ok(Word {
            form,
            interval,
            is_exact: true,
            stage,
        })
    }

    /// An operand of a cell, extended to `bits` bits.
    pub(super) fn operand(
        &mut self,
        cell: &RtlCell,
        bits: &[Bit],
        wide: usize,
    ) -> Result<Reading, ProveError> {
        let mut all = bits.to_vec();
        let fill = match bits.last() {
            Some(&sign) if cell.signed => sign,
            _ => Bit::Const(false),
        };
        all.resize(wide, fill);
        self.read(&all)
    }
}

fn fits(interval: Interval, bits: usize) -> bool {
    fits_unsigned(interval, bits) || fits_signed(interval, bits)
}

fn fits_unsigned(interval: Interval, bits: usize) -> bool {
    interval.lo >= 0 && i128::from(interval.hi) < 1 << bits.min(100)
}

fn fits_signed(interval: Interval, bits: usize) -> bool {
    let half = 1_i128 << (bits.min(100) - 1);
    -half <= i128::from(interval.lo) && i128::from(interval.hi) < half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_fits_a_word_that_has_its_ends() {
        for bits in 1..5_usize {
            let half = 1_i64 << (bits - 1);
            for lo in -9..18 {
                for hi in lo..18 {
                    let interval = Interval { lo, hi };
                    let within = |from: i64, to: i64| from <= lo && hi <= to;
                    assert_eq!(fits_signed(interval, bits), within(-half, half - 1));
                    assert_eq!(fits_unsigned(interval, bits), within(0, 2 * half - 1));
                }
            }
        }
        let all = Interval {
            lo: i64::MIN,
            hi: i64::MAX,
        };
        assert!(fits(all, 64) && !fits(all, 63));
    }
}
