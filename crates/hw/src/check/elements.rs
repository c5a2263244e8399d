//! Elements of the program behind their stages.

use super::cone::Cone;
use super::form::{Form, Range, constant, sum};
use super::{Checker, Claim, fits};
use crate::rtl::Bit;
use engine::integer::{Overflow, ProgramStep, Stage};

/// The most values of a word that are tried.
const MAX_VALUES: i128 = 1 << 24;

/// The stages of an element.
struct Function<'a> {
    stages: &'a [Stage],
    element: usize,
    /// True when it never turns: what it is at both ends of an interval it then is within, if that is the same.
    is_monotone: bool,
    /// True when it is its operand within bounds.
    is_bound: bool,
}

impl<'a> Function<'a> {
    fn new(stages: &'a [Stage], element: usize) -> Self {
        let turns = |stage: &Stage| match stage {
            Stage::Round { maps, .. } => maps.iter().any(|map| map.overflow == Overflow::Wrap),
            Stage::Table { .. } => true,
            Stage::Affine { .. } | Stage::Clamp { .. } => false,
        };
        let bounds = |stage: &Stage| match stage {
            Stage::Round { maps, inner, .. } => {
                let map = &maps[element / inner % maps.len()];
                (map.shift, map.lift, map.overflow) == (0, 0, Overflow::Saturate)
            }
            Stage::Clamp { .. } => true,
            Stage::Affine { .. } | Stage::Table { .. } => false,
        };
        Self {
            stages,
            element,
            is_monotone: !stages.iter().any(turns),
            is_bound: stages.iter().all(bounds),
        }
    }

    fn of(&self, x: i128) -> i128 {
        let stages = self.stages.iter();
        stages.fold(x, |x, stage| stage.code(self.element, x))
    }

    /// The value for every number from `lo` to `hi` in steps, if it is the same.
    fn constant(&self, (lo, hi): Range, step: i128) -> Option<i128> {
        let value = self.of(lo);
        let is_constant = if self.is_monotone {
            self.of(hi) == value
        } else {
            let count = (hi - lo) / step;
            count < MAX_VALUES && (0..=count).all(|k| self.of(lo + k * step) == value)
        };
        is_constant.then_some(value)
    }
}

impl Checker<'_> {
    /// An element behind its stages: a form if all are linear, else the word that a claim says it is.
    pub fn staged(
        &mut self,
        step: &ProgramStep,
        i: usize,
        source: Option<Form>,
        claim: Option<&Claim>,
    ) -> Option<Form> {
        let is_zero = |stage: &Stage| {
            matches!(stage, Stage::Affine { .. }) && stage.code(i, 0) == stage.code(i, 1)
        };
        // Nothing before a factor of 0 matters.
        let first = step.stages.iter().rposition(is_zero);
        let source = first.map_or(source, |_| Some(Form::default()))?;
        let stages = &step.stages[first.unwrap_or(0)..];
        if let Some(form) = self.line(stages, i, &source) {
            return Some(form);
        }
        let mut found = self.function(step, &Function::new(stages, i), &source, claim);
        // What bounds are the bounds of may be computed from the source by a stage of its own.
        if let (None, [first, rest @ ..]) = (&found, stages)
            && let Some(value) = self.line(std::slice::from_ref(first), i, &source)
        {
            found = self.function(step, &Function::new(rest, i), &value, claim);
        }
        if let (None, Some(claim), None) = (&found, claim, &self.refused) {
            self.refused = Some(claim.word.to_owned());
        }
        found
    }

    /// A form behind stages that are all linear where it lies. Bounds are all that can bend a map without rounding, and they do
    /// not if they leave the ends where they are.
    fn line(&self, stages: &[Stage], i: usize, form: &Form) -> Option<Form> {
        let mut form = form.clone();
        for stage in stages {
            let (lo, hi) = self.atoms.range(&form)?;
            let (slope, offset) = match stage {
                Stage::Round { maps, inner, .. } => {
                    let map = &maps[i / inner % maps.len()];
                    let bits = map.lift + map.shift.unsigned_abs();
                    (map.shift <= 0 && bits < 62).then_some((1 << bits, 0))?
                }
                Stage::Affine { .. } => (stage.code(i, 1) - stage.code(i, 0), stage.code(i, 0)),
                Stage::Clamp { .. } => (1, 0),
                Stage::Table { .. } => return None,
            };
            let is_on_line = |x: i128| stage.code(i, x) == x * slope + offset;
            (is_on_line(lo) && is_on_line(hi)).then_some(())?;
            form = sum(&[(&form, slope), (&constant(offset), 1)])?;
        }
        Some(form)
    }

    /// An element that is a function of a form: constant, or the word that is claimed, for every value that the form can have.
    fn function(
        &mut self,
        step: &ProgramStep,
        function: &Function,
        form: &Form,
        claim: Option<&Claim>,
    ) -> Option<Form> {
        let zeros = |form: &Form| form.terms.iter().map(|term| term.1.trailing_zeros()).min();
        let start = self.atoms.range(form)?.0;
        let spacing = 1_i128 << zeros(form).unwrap_or(0);
        let down = |x: i128| start + (x - start).div_euclid(spacing) * spacing;
        // No code leaves the range that the program proves, beyond which tables end.
        let (lo, hi) = self.atoms.range(form)?;
        let proven = step.ranges[step.stages.len() - function.stages.len()];
        let (lo, hi) = (lo.max(proven.min), hi.min(proven.max));
        let (lo, hi) = (down(lo + spacing - 1), down(hi));
        if let Some(value) = function.constant((lo, hi), spacing) {
            return Some(constant(value));
        }
        let claim = claim.filter(|claim| claim.shift <= 62)?;
        let (source, word) = (self.bits(claim.source)?, self.bits(claim.word)?);
        // The source is ⌊(form + added) / 2^bits⌋.
        let own = self.read(source)?;
        let related = |whole: &Form, floored: u32| {
            let lifted = zeros(form)?.checked_sub(zeros(whole)?)?;
            let apart = sum(&[(whole, 1 << lifted), (form, -1)])?;
            (apart.terms.is_empty() && floored + lifted < 62)
                .then_some((apart.offset, floored + lifted))
        };
        let floored = || {
            self.atoms
                .whole(&own)
                .and_then(|(whole, bits)| related(&whole, bits))
        };
        let (added, bits) = related(&own, 0).or_else(floored)?;
        let mut cone = Cone::new(self, source, word)?;
        let low = cone.low;
        let (first, last) = ((lo + added) >> bits, (hi + added) >> bits);
        if function.is_bound && (added, bits) == (0, claim.shift) {
            let of = |word: i128| function.of(word << bits);
            let ends = [of(first), of(last)];
            let is_whole = ends.iter().all(|end| end % (1 << bits) == 0);
            let is_bounded = is_whole && cone.is_bounded((first, last), |word| of(word) >> bits);
            let [min, max] = ends.map(|end| end >> bits);
            return is_bounded.then(|| self.element(claim, word, (min, max)))?;
        }
        ((last >> low) - (first >> low) < MAX_VALUES).then_some(())?;
        let (mut words, mut expected, mut range) = (Vec::new(), Vec::new(), None::<Range>);
        for high in first >> low..=last >> low {
            // Words whose low bits are 0, and words whose are not.
            for (from, to) in [(0, 0), (1, (1 << low) - 1)] {
                let (from, to) = ((high << low) + from, (high << low) + to);
                let from = down(((from << bits) - added).max(lo) + spacing - 1);
                let to = down((((to + 1) << bits) - 1 - added).min(hi));
                if from > to {
                    continue;
                }
                let value = function.constant((from, to), spacing)?;
                (value % (1 << claim.shift) == 0).then_some(())?;
                let value = value >> claim.shift;
                let (min, max) = range.unwrap_or((value, value));
                range = Some((min.min(value), max.max(value)));
                words.push((from + added) >> bits);
                expected.push(value);
            }
            if words.len() > 62 || high == last >> low {
                cone.holds(&words, &expected).then_some(())?;
                words.clear();
                expected.clear();
            }
        }
        self.element(claim, word, range?)
    }

    /// The form of an element whose word has been shown to be right, and to have a range.
    fn element(&mut self, claim: &Claim, word: &[Bit], range: Range) -> Option<Form> {
        let found = self.named(claim.word, word, range)?;
        // The form is the word, and not only congruent to it.
        let is_signed = range.0 < 0;
        fits(self.atoms.range(&found)?, word.len() as u32, is_signed).then_some(())?;
        sum(&[(&found, 1 << claim.shift)])
    }
}
