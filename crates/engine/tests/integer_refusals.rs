//! What integers cannot follow is refused by name, with the reason and a way out.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use engine::{IntegerPlan, State};
use format::StoredArray;
use ir::{Graph, NodeId, Tensor, verify};

fn refusal(input: &str, nodes: &str) -> String {
    let text = format!("graph \"t\" {{ x: {input} = placeholder {nodes} return y }}");
    let mut graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    graph.initialize(0);
    let verified = verify(&graph).unwrap_or_else(|error| panic!("{text}: {error}"));
    let state = State::new(&verified).unwrap();
    match IntegerPlan::compile(&verified, &state, 3) {
        Ok(_) => panic!("{text} was accepted"),
        Err(error) => error.to_string(),
    }
}

const CASES: &[(&str, &str, &str)] = &[
    (
        "f32[N, 4]",
        "y = gelu(x: integer(8, 4))",
        "y (gelu): data_out_0 has no fixed-point format; give it one, for example data_out_0: integer(8, 4)",
    ),
    (
        "f32[N, 4]",
        "y = gelu(x: integer(13, 4))",
        "y (gelu): is exact as a table only, and data_in_0 has 13 bits; give data_in_0 at most 12 bits",
    ),
    (
        "f32[N, 4]",
        "y = tanh(x: integer(12, 4)) { data_out_0: integer(16, 8) }",
        "y (tanh): is exact as a table only, and data_out_0 has 16 bits; give data_out_0 at most 12 bits",
    ),
    (
        "f32[N, 4]",
        "y = softmax(x: integer(8, 4)) { dim = 1 }",
        "y (softmax): has no exact integer form; end the network before it, or put an operator that has one in its place",
    ),
    (
        "f32[N, 4]",
        "y = linear(x) { in_features = 4, out_features = 2, weight: integer(8, 4), bias: integer(8, 4) }",
        "y (linear): data_in_0 has no fixed-point format; give it one, for example data_in_0: integer(8, 4)",
    ),
    (
        "f32[N, 4]",
        "y = linear(x: integer(8, 4)) { in_features = 4, out_features = 2, bias: integer(8, 4) }",
        "y (linear): weight has no fixed-point format; give it one, for example weight: integer(8, 4)",
    ),
    (
        "f32[N, 4]",
        "y = linear(x: integer(8, 4)) { in_features = 4, out_features = 2, weight: integer(8, 4) }",
        "y (linear): bias has no fixed-point format; give it one, for example bias: integer(8, 4)",
    ),
    (
        "f32[N, 4]",
        "y = relu(x: minifloat_ieee(8, 4))",
        "y (relu): data_in_0 has format minifloat_ieee(8, 4), which is not fixed point; give it one that is, for example integer(8, 4)",
    ),
    (
        "f32[N, 4]",
        "y = relu(x: affine(8, 0.1))",
        "y (relu): data_in_0 has format affine(8, 0.1), whose scale 0.1 is no power of two; learn power-of-two scales, or take one, for example 0.125",
    ),
    (
        "f32[N, 4]",
        "y = relu(x: affine(8, 0.5, rounding = floor))",
        "y (relu): data_in_0 has format affine(8, 0.5, rounding = floor), whose rounding has no exact integer form; take half_even",
    ),
    (
        "f32[N, 4]",
        "y = relu(x: affine(8, 0.5, 3, offset = before))",
        "y (relu): data_in_0 has format affine(8, 0.5, 3, offset = before), whose zero point is added before rounding; take offset = after, or the zero point 0",
    ),
    (
        "f32[N, 4]",
        "y = relu(x: affine(25, 0.5))",
        "y (relu): data_in_0 has format affine(25, 0.5), whose codes of 25 bits are rounded to floats; take at most 24 bits",
    ),
    (
        "f32[N, 4]",
        "y = identity(x)",
        "output (output): data_in_0 has no fixed-point format; give it one, for example data_in_0: integer(8, 4)",
    ),
    (
        "f32[N, 4]",
        "y = hardtanh(x: integer(8, 2)) { min_val = -0.125, max_val = 1 }",
        "y (hardtanh): the bound -0.125 is not a multiple of its operand's step 2^-2",
    ),
    (
        "f32[N, 4]",
        "y = relu6(x: integer(8, -2))",
        "y (relu6): the bound 6 is not a multiple of its operand's step 2^2",
    ),
    (
        "f32[N, 4]",
        "y = mul(x: integer(8, 4)) { scalar = 0.1 }",
        "y (mul): the number 0.1 has no exact fixed-point form of 24 bits",
    ),
    (
        "f32[N, 4]",
        "y = div(x: integer(8, 4)) { scalar = 3 }",
        "y (div): the divisor 3 is not a power of two, so that the quotient is not exact",
    ),
    (
        "f32[N, 4]",
        "y = div(x: integer(8, 4), x: integer(8, 4))",
        "y (div): a quotient of two values has no exact integer form",
    ),
    (
        "f32[N, 6]",
        "y = mean(x: integer(8, 4)) { dim = 1 }",
        "y (mean): a mean of 6 elements is not exact; only powers of two are",
    ),
    (
        "f32[N, 2, 6]",
        "y = avg_pool1d(x: integer(8, 4)) { kernel_size = 3 }",
        "y (avg_pool1d): a mean of 3 elements is not exact; only powers of two are",
    ),
    (
        "f32[N, 2, 6]",
        "y = avg_pool1d(x: integer(8, 4)) { kernel_size = 2, padding = 1, count_include_pad = false }",
        "y (avg_pool1d): its windows have different numbers of elements, because count_include_pad is false",
    ),
    (
        "f32[N, 2, 8]",
        "y = adaptive_avg_pool1d(x: integer(8, 4)) { output_size = 3 }",
        "y (adaptive_avg_pool1d): its windows have different numbers of elements",
    ),
    (
        "f32[N, 4]",
        "a = mul(x: integer(32, 4), x: integer(32, 4)) y = mul(a, a)",
        "y (mul): needs 126 bits, more than the 63 and a sign there are; round its operands",
    ),
    (
        "f32[N, 4]",
        "y = add(x: integer(8, -64), x: integer(8, 100))",
        "y (add): needs 172 bits, more than the 63 and a sign there are; round its operands",
    ),
    (
        "f32[N, 4]",
        "y = relu(x: integer(64, 4, signed = false))",
        "y (relu): needs 64 bits, more than the 63 and a sign there are; round its operands",
    ),
];

#[test]
fn refusals_name_the_node_and_the_reason() {
    for (input, nodes, expected) in CASES {
        assert_eq!(refusal(input, nodes), *expected, "{nodes}");
    }
}

#[test]
fn refusals_of_stored_fields_name_the_place() {
    let cases = [
        (
            "affine(8, stored, axis = 0)",
            "scale",
            [0.5, 0.3],
            "y (linear): weight has format affine(8, stored, axis = 0), whose scale 0.3 is no power of two; learn power-of-two scales, or take one, for example 0.25",
        ),
        (
            "integer(8, stored, axis = 0)",
            "frac_width",
            [-60.0, 8.0],
            "y (linear): needs 70 bits, more than the 63 and a sign there are; round its operands",
        ),
    ];
    for (weight, field, stored, expected) in cases {
        let text = format!(
            "graph \"t\" {{
               x: f32[N, 2] = placeholder
               y = linear(x: integer(8, 4)) {{ in_features = 2, out_features = 2, bias = false, weight: {weight} }}
               return y
             }}"
        );
        let mut graph = Graph::parse(&text).unwrap();
        graph.initialize(0);
        let node = graph.node_mut(NodeId(1));
        let values = Tensor::new(vec![2, 2], vec![3e18, 1.0, 0.25, 0.5]).unwrap();
        node.params.insert("weight".to_owned(), values);
        let array = StoredArray {
            shape: vec![2],
            values: stored.to_vec(),
        };
        let format = node.formats["weight"].with_stored(field, array).unwrap();
        node.formats.insert("weight".to_owned(), format);
        let verified = verify(&graph).unwrap();
        let state = State::new(&verified).unwrap();
        let error = IntegerPlan::compile(&verified, &state, 3).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn an_empty_batch_and_wrong_inputs_are_refused() {
    let graph = Graph::parse(
        "graph \"t\" { x: f32[N, 4] = placeholder y = relu(x: integer(8, 4)) return y }",
    )
    .unwrap();
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let error = IntegerPlan::compile(&verified, &state, 0).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the batch is empty; give at least one row"
    );
    let mut plan = IntegerPlan::compile(&verified, &state, 2).unwrap();
    let error = plan.run(&[engine::Input::F32(&[0.0; 7])]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "input x: expected 8 values for 2 rows, got 7"
    );
    assert!(plan.run(&[]).is_err());
}
