//! Every requantisation to few bits, of every code: exact integers, the program and floats against the definition.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use engine::integer::Program;
use engine::{Input, IntegerPlan, PlanOptions, Pool, State, compile};
use format::{Format, Integer, Overflow, Rounding};
use ir::{Graph, verify};

/// Bits and bits behind the point of the codes that are rounded.
const OPERAND: (u32, i32) = (10, 4);

/// The code of a format for a code of the operand, by the definition.
fn expected(code: i64, format: Integer) -> i64 {
    let scaled = code as f64 * 2_f64.powi(format.frac_width - OPERAND.1);
    let whole = match format.rounding {
        Rounding::NearestEven => scaled.round_ties_even(),
        Rounding::NearestUp => (scaled + 0.5).floor(),
        Rounding::Floor => scaled.floor(),
    } as i64;
    let span = 1 << format.width;
    let lo = if format.signed { -span / 2 } else { 0 };
    match format.overflow {
        Overflow::Saturate => whole.clamp(lo, lo + span - 1),
        Overflow::Wrap => (whole - lo).rem_euclid(span) + lo,
    }
}

fn check(format: Integer) {
    let (width, frac) = OPERAND;
    let result = Format::from(format);
    let text = format!(
        "graph \"t\" {{
           x: f32[N, 1] = placeholder
           a = identity(x: integer({width}, {frac}))
           y = identity(a: {result})
           return y
         }}"
    );
    let graph = Graph::parse(&text).unwrap();
    let verified = verify(&graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let codes = -(1_i64 << (width - 1))..1 << (width - 1);
    let values: Vec<f32> = codes
        .clone()
        .map(|code| code as f32 / 2_f32.powi(frac))
        .collect();
    let rows = values.len();
    let want: Vec<i64> = codes.map(|code| expected(code, format)).collect();

    let program = Program::of(&verified, &state, rows).unwrap();
    let own = program.outputs[0].range;
    // A range that needs no rounding keeps the step of the operand.
    let lift = (own.frac - format.frac_width) as u32;
    let lifted: Vec<i64> = want.iter().map(|code| code << lift).collect();
    assert_eq!(
        program.interpret(std::slice::from_ref(&values))[0],
        lifted,
        "{result}"
    );

    let input = [Input::F32(&values)];
    let mut integers = IntegerPlan::compile(&verified, &state, rows).unwrap();
    integers.run(&input).unwrap();
    assert_eq!(integers.output_codes(0).0, lifted, "{result}");

    let mut floats = compile(&verified, &state, PlanOptions::eval(rows)).unwrap();
    floats.forward(&mut state, &input, &Pool::new(1)).unwrap();
    let step = 2_f32.powi(-format.frac_width);
    let decoded: Vec<f32> = want.iter().map(|&code| code as f32 * step).collect();
    assert_eq!(*floats.output(0), decoded, "{result}");
}

#[test]
fn every_requantisation_of_every_code_is_exact() {
    let mut count = 0;
    for width in 1..=6 {
        for shift in -3..=7 {
            for signed in [true, false] {
                for rounding in [Rounding::NearestEven, Rounding::NearestUp, Rounding::Floor] {
                    for overflow in [Overflow::Saturate, Overflow::Wrap] {
                        check(Integer {
                            width,
                            frac_width: OPERAND.1 - shift,
                            signed,
                            rounding,
                            overflow,
                        });
                        count += 1;
                    }
                }
            }
        }
    }
    assert_eq!(count, 792);
}
