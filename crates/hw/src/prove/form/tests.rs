//! Forms say what they compute: every rounding, tie, remainder and table is evaluated for all inputs and compared with arithmetic.

use super::{Atom, Form, Forms, combined};
use crate::net::Interval;
use random::Random;

const BITS: Interval = Interval { lo: -4, hi: 3 };

/// The value of a form for two inputs.
fn value(forms: &Forms, form: &Form, x: [i64; 2]) -> i64 {
    let terms = form.terms.iter();
    let sum: i128 = terms
        .map(|&(id, factor)| factor * i128::from(atom(forms, &forms.atoms()[id as usize].0, x)))
        .sum();
    let sum = sum + form.offset;
    assert_eq!(
        sum & ((1 << form.exponent) - 1),
        0,
        "{form:?} is no integer"
    );
    (sum >> form.exponent) as i64
}

fn atom(forms: &Forms, atom: &Atom, x: [i64; 2]) -> i64 {
    let of = |id: u32| value(forms, forms.form(id), x);
    match atom {
        Atom::Input(element) => x[*element as usize],
        Atom::Remainder { form, bits } => of(*form).rem_euclid(1 << bits),
        Atom::Requant {
            form,
            shift,
            tie_to_even,
            lo,
            hi,
        } => rounded(of(*form), *shift, *tie_to_even, *lo, *hi),
        Atom::TieBit { form, shift } => tie_bit(of(*form), *shift),
        Atom::Table { form, lo, values } => values[(of(*form) - lo) as usize],
        Atom::Max(forms) => forms.iter().map(|&form| of(form)).max().unwrap(),
        Atom::Argmax(entries) => {
            let values = entries.iter().map(|&(index, form)| (index, of(form)));
            lowest_of_largest(&values.collect::<Vec<_>>())
        }
        Atom::Less(less, greater) => i64::from(of(*less) < of(*greater)),
        Atom::Product(a, b) => of(*a) * of(*b),
    }
}

/// The lowest index of the largest value.
fn lowest_of_largest(entries: &[(i64, i64)]) -> i64 {
    let largest = entries.iter().map(|entry| entry.1).max().unwrap();
    let equal = entries.iter().filter(|entry| entry.1 == largest);
    equal.map(|entry| entry.0).min().unwrap()
}

/// `clamp(⌊x·2^-shift⌋, lo, hi)`, its lowest bit cleared where the dropped bits are 0 and ties go to even.
fn rounded(x: i64, shift: u32, tie_to_even: bool, lo: i64, hi: i64) -> i64 {
    let is_tie = tie_to_even && shift > 0 && x % (1 << shift) == 0;
    let floor = x.div_euclid(1 << shift);
    (if is_tie { floor & !1 } else { floor }).clamp(lo, hi)
}

fn tie_bit(x: i64, shift: u32) -> i64 {
    i64::from(x.div_euclid(1 << shift) % 2 != 0 && x.rem_euclid(1 << shift) != 0)
}

fn all() -> impl Iterator<Item = [i64; 2]> {
    (BITS.lo..=BITS.hi).flat_map(|a| (BITS.lo..=BITS.hi).map(move |b| [a, b]))
}

/// A form of two inputs, or of what a rounding has made of them, with factors that share powers of two or do not.
fn form(forms: &mut Forms, draw: &mut impl FnMut(u64) -> i64) -> Form {
    let mut parts = Vec::new();
    for element in 0..2 {
        let input = forms.input(element, BITS);
        let bent = forms
            .requant(&input.scaled(3, 0).unwrap(), 1, draw(2) == 0, -2, 3)
            .unwrap();
        let low = forms.remainder(&input, BITS, 1).unwrap();
        for own in [input, bent, low] {
            let factor = i128::from((draw(9) - 4) << draw(3)) * i128::from(draw(3) > 0);
            parts.push((own, factor));
        }
    }
    // Few values of both are a sum of steps.
    let both = parts[0].0.plus(&parts[3].0, 2, 0).unwrap();
    let steps = forms.requant(&both, 1, false, -1, 1).unwrap();
    parts.push((steps, (draw(9) - 4).into()));
    let parts: Vec<(&Form, i128, u32)> = parts
        .iter()
        .map(|(own, factor)| (own, *factor, 0))
        .collect();
    combined(&parts, (draw(41) - 20).into()).unwrap()
}

#[test]
fn forms_have_the_values_of_what_they_stand_for() {
    for seed in 0..400 {
        let random = Random::new(seed, "forms");
        let mut at = 0;
        let mut draw = |below: u64| {
            at += 1;
            (random.bits(at) % below) as i64
        };
        let mut forms = Forms::default();
        let form = form(&mut forms, &mut draw);
        let (shift, ties, lo) = (draw(5) as u32, draw(2) == 0, draw(12) - 8);
        let hi = lo + draw(20);
        let range = forms.range(&form).unwrap();
        let requant = forms.requant(&form, shift as i32, ties, lo, hi).unwrap();
        let tie = forms.tie_bit(&form, shift).unwrap();
        let low = forms.remainder(&form, range, shift).unwrap();
        let gathered = forms.gathered(&form).unwrap();
        for x in all() {
            let own = value(&forms, &form, x);
            assert!(
                range.lo <= own && own <= range.hi,
                "seed {seed}: {own} is not in {range:?}"
            );
            let expected = rounded(own, shift, ties, lo, hi);
            assert_eq!(
                value(&forms, &requant, x),
                expected,
                "seed {seed}: {form:?} at {x:?}"
            );
            assert_eq!(
                value(&forms, &tie, x),
                tie_bit(own, shift),
                "seed {seed}: {form:?} at {x:?}"
            );
            assert_eq!(
                value(&forms, &low, x),
                own.rem_euclid(1 << shift),
                "seed {seed}: {x:?}"
            );
            assert_eq!(
                value(&forms, &gathered, x),
                own,
                "seed {seed}: {form:?} at {x:?}"
            );
        }
    }
}

/// An odd multiple of a value with few results, which is a sum of steps, loses its low bit by itself: where a sum is halved first and
/// rounded then, the result is the same form.
#[test]
fn roundings_of_halves_are_those_of_the_whole() {
    let mut forms = Forms::default();
    let [a, b] = [0, 1].map(|element| forms.input(element, BITS));
    let few = a.plus(&b, 2, 0).unwrap();
    let few = forms.requant(&few, 2, false, -1, 1).unwrap();
    let many = a.plus(&b, -3, 0).unwrap();
    let many = forms.requant(&many, 0, false, 0, 7).unwrap();
    for factor in [-3, -1, 1, 5] {
        let whole = combined(&[(&few, factor, 0), (&many, 6, 0)], 4).unwrap();
        let half = forms.requant(&whole, 1, false, i64::MIN, i64::MAX).unwrap();
        let of_half = forms.requant(&half, 2, false, 0, 4).unwrap();
        let of_whole = forms.requant(&whole, 3, false, 0, 4).unwrap();
        assert_eq!(of_half, of_whole, "{factor}");
    }
}

/// Maxima and their indices, of three of which one may be constant, alone and joined as a tree of comparisons joins them.
#[test]
fn maxima_have_the_values_of_what_they_stand_for() {
    for seed in 0..400 {
        let random = Random::new(seed, "maxima");
        let mut at = 0;
        let mut draw = |below: u64| {
            at += 1;
            (random.bits(at) % below) as i64
        };
        let mut forms = Forms::default();
        let mut parts = [0, 1].map(|_| form(&mut forms, &mut draw)).to_vec();
        let moved = Form::constant((draw(9) - 4).into());
        parts.push(match draw(3) {
            0 => moved,
            1 => parts[0].plus(&moved, 1, 0).unwrap(),
            _ => form(&mut forms, &mut draw),
        });
        let largest = forms.max(&parts).unwrap();
        let first = forms.max(&parts[..2]).unwrap();
        let nested = forms.max(&[first.clone(), parts[2].clone()]).unwrap();
        assert_eq!(largest, nested, "seed {seed}");
        let entries: Vec<(i64, Form)> = (0..).zip(parts.iter().cloned()).collect();
        let index = forms.argmax(&entries).unwrap();
        let of_first = forms.argmax(&entries[..2]).unwrap();
        let last = Form::constant(2);
        let joined = forms.joined_argmax([(&of_first, &first), (&last, &parts[2])]);
        let joined = joined.unwrap();
        for x in all() {
            let values: Vec<(i64, i64)> = (0..)
                .zip(&parts)
                .map(|(at, part)| (at, value(&forms, part, x)))
                .collect();
            let most = values.iter().map(|own| own.1).max().unwrap();
            assert_eq!(value(&forms, &largest, x), most, "seed {seed} at {x:?}");
            let expected = lowest_of_largest(&values);
            assert_eq!(value(&forms, &index, x), expected, "seed {seed} at {x:?}");
            if let Some(joined) = &joined {
                assert_eq!(value(&forms, joined, x), expected, "seed {seed} at {x:?}");
            }
        }
    }
}
