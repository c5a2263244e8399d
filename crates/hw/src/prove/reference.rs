//! The forms of an integer program's results.

use super::ProveError;
use super::form::{Form, Forms, combined};
use crate::elements::{Element, Expression, Map, expression, live, maps};
use crate::net::Interval;
use crate::ports::Ports;
use engine::integer::{Overflow, Program, RoundMap, Rounding, Source};

/// The forms of the elements of all results, each of which lies within the bounds that the ports give it.
pub fn outputs(
    program: &Program,
    ports: &Ports,
    forms: &mut Forms,
) -> Result<Vec<Form>, ProveError> {
    let values = values(program, ports, forms)?;
    let elements = program
        .outputs
        .iter()
        .flat_map(|output| values[output.step].iter());
    let all: Vec<Form> = elements
        .map(|form| form.clone().unwrap_or_default())
        .collect();
    let (program, own) = (all.len(), ports.outputs.len());
    if program != own {
        return Err(ProveError::Elements {
            what: "results",
            program,
            ports: own,
        });
    }
    for (form, port) in all.iter().zip(&ports.outputs) {
        let bounds = word(port.width, port.signed);
        if !bounds.holds(forms.range(form)?) {
            return Err(ProveError::Differs {
                element: port.name.clone(),
            });
        }
    }
    Ok(all)
}

/// The values of a word.
fn word(width: u32, signed: bool) -> Interval {
    match (width.min(62), signed) {
        (0, _) => Interval::point(0),
        (width, true) => Interval {
            lo: -(1 << (width - 1)),
            hi: (1 << (width - 1)) - 1,
        },
        (width, false) => Interval {
            lo: 0,
            hi: (1 << width) - 1,
        },
    }
}

fn values(
    program: &Program,
    ports: &Ports,
    forms: &mut Forms,
) -> Result<Vec<Vec<Option<Form>>>, ProveError> {
    let live = live(program);
    let mut values: Vec<Vec<Option<Form>>> = Vec::with_capacity(program.steps.len());
    let mut n_inputs = 0;
    for (step, own) in program.steps.iter().enumerate() {
        let first = n_inputs;
        if let Source::Encode { .. } = own.source {
            n_inputs += own.len();
        }
        let mut elements = Vec::with_capacity(own.len());
        for (i, is_live) in live[step].iter().enumerate() {
            elements.push(match is_live {
                false => None,
                true => {
                    let source = match &own.source {
                        Source::Encode { grids, .. } => {
                            let point = grids.point(i);
                            let lift = own.ranges[0]
                                .frac
                                .saturating_sub(point.frac_width)
                                .clamp(0, 63) as u32;
                            input(
                                first + i,
                                lift,
                                Interval {
                                    lo: point.min as i64,
                                    hi: point.max as i64,
                                },
                                ports,
                                forms,
                            )?
                        }
                        _ => source(program, step, i, &values, forms)?,
                    };
                    Some(staged(program, step, i, source, forms)?)
                }
            });
        }
        values.push(elements);
    }
    if n_inputs == ports.inputs.len() {
        Ok(values)
    } else {
        Err(ProveError::Elements {
            what: "inputs",
            program: n_inputs,
            ports: ports.inputs.len(),
        })
    }
}

/// An element of the input, whose codes are all that its format has.
fn input(
    element: usize,
    lift: u32,
    codes: Interval,
    ports: &Ports,
    forms: &mut Forms,
) -> Result<Form, ProveError> {
    let port = ports.inputs.get(element);
    let is_theirs = port.is_some_and(|port| {
        (port.min, port.max) == (codes.lo, codes.hi) && word(port.width, port.signed).holds(codes)
    });
    if !is_theirs {
        return Err(ProveError::Ports("x"));
    }
    forms.input(element as u32, codes).scaled(1, lift)
}

fn source(
    program: &Program,
    step: usize,
    i: usize,
    values: &[Vec<Option<Form>>],
    forms: &mut Forms,
) -> Result<Form, ProveError> {
    let zero = Form::default();
    let value = |element: &Element| values[element.step][element.at].as_ref().unwrap_or(&zero);
    match expression(program, step, i) {
        Expression::Input => Ok(zero),
        Expression::Linear { terms, offset } => {
            let parts = terms
                .iter()
                .map(|(element, factor)| (value(element), i128::from(*factor), 0));
            combined(&parts.collect::<Vec<_>>(), offset.into())
        }
        Expression::Max(elements) => {
            let all: Vec<Form> = elements
                .iter()
                .map(|element| value(element).clone())
                .collect();
            forms.max(&all)
        }
        Expression::Argmax(elements) => {
            let entries = (0..)
                .zip(&elements)
                .map(|(place, element)| (place, value(element).clone()));
            forms.argmax(&entries.collect::<Vec<_>>())
        }
        Expression::Products(pairs) => {
            let products = pairs.iter().map(|[a, b]| forms.product(value(a), value(b)));
            let products = products.collect::<Result<Vec<_>, _>>()?;
            let parts: Vec<(&Form, i128, u32)> = products.iter().map(|form| (form, 1, 0)).collect();
            combined(&parts, 0)
        }
    }
}

fn staged(
    program: &Program,
    step: usize,
    i: usize,
    form: Form,
    forms: &mut Forms,
) -> Result<Form, ProveError> {
    let mut form = form;
    // Bounds go into a rounding behind them: both never decrease.
    let mut bounds: Option<Interval> = None;
    for map in maps(program, step, i) {
        match map {
            Map::Clamp { lo, hi } => {
                let own = Interval { lo, hi };
                bounds = Some(bounds.map_or(own, |before| before.map(|x| x.clamp(lo, hi))));
            }
            Map::Round(map) => form = rounded(&form, &map, bounds.take(), forms)?,
            Map::Affine { scale, offset } => {
                let value = bounded(&form, bounds.take(), forms)?;
                form = combined(&[(&value, scale.into(), 0)], offset.into())?;
            }
            Map::Table { first, values } => {
                let value = bounded(&form, bounds.take(), forms)?;
                let Interval { lo, hi } = forms.range(&value)?;
                let own = values.get((lo - first) as usize..=(hi - first) as usize);
                let own = own.ok_or(ProveError::TooWide)?;
                form = forms.table(&value, lo, own.to_vec())?;
            }
        }
    }
    bounded(&form, bounds, forms)
}

fn bounded(form: &Form, bounds: Option<Interval>, forms: &mut Forms) -> Result<Form, ProveError> {
    match bounds {
        Some(Interval { lo, hi }) => forms.requant(form, 0, false, lo, hi),
        None => Ok(form.clone()),
    }
}

/// `clamp(round(x·2^-shift), lo, hi)·2^lift`. Rounding to the nearest is rounding down with half a step more, and ties then are
/// where the dropped bits are 0.
fn rounded(
    form: &Form,
    map: &RoundMap,
    before: Option<Interval>,
    forms: &mut Forms,
) -> Result<Form, ProveError> {
    let (is_nearest, is_even) = match map.rounding {
        Rounding::Floor => (false, false),
        Rounding::NearestUp => (true, false),
        Rounding::NearestEven => (true, true),
    };
    let half = if is_nearest && map.shift > 0 {
        1_i64
            .checked_shl(map.shift as u32 - 1)
            .ok_or(ProveError::TooWide)?
    } else {
        0
    };
    let lifted = form.plus(&Form::constant(half.into()), 1, 0)?;
    let before = before.map(|own| own.plus(Interval::point(half)));
    let rounded = match map.overflow {
        Overflow::Saturate => {
            let own = Interval {
                lo: map.lo,
                hi: map.hi,
            };
            let own = before.map_or(own, |before| {
                let before = before.requantized(map.shift, is_even);
                before.map(|x| x.clamp(own.lo, own.hi))
            });
            forms.requant(&lifted, map.shift, is_even, own.lo, own.hi)?
        }
        Overflow::Wrap => {
            let lifted = bounded(&lifted, before, forms)?;
            let free = forms.requant(&lifted, map.shift, is_even, i64::MIN, i64::MAX)?;
            let range = forms.range(&free)?;
            let codes = i128::from(map.hi) - i128::from(map.lo) + 1;
            forms.wrapped(&free, range, codes.ilog2(), map.lo < 0)?
        }
    };
    rounded.scaled(1, map.lift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_a_word_are_those_of_its_bits() {
        for width in 1..8 {
            let half = 1 << (width - 1);
            let [signed, unsigned] = [true, false].map(|signed| word(width, signed));
            assert_eq!((signed.lo, signed.hi), (-half, half - 1));
            assert_eq!((unsigned.lo, unsigned.hi), (0, 2 * half - 1));
        }
        assert_eq!(word(0, true), Interval::point(0));
    }
}
