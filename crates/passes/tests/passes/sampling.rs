//! Nodes that a pass is told to work on.

use crate::network::{jets, model, quantize, try_run};

#[test]
fn names_that_a_pass_cannot_use_are_problems() {
    for pass in ["calibrate", "gptq", "correct_bias"] {
        let rules = quantize(&["linear"], 8);
        let passes = format!("{rules}[{pass}]\nnodes = [\"module_list_22\", \"module_list_1\"]\n");
        let error = try_run(&mut model("jsc-s", 5), &jets(), 0, &passes).unwrap_err();
        let text = format!("{error:?}");
        assert!(text.contains("has no node 'module_list_22'"), "{text}");
        assert!(text.contains("module_list_1 (relu) is not"), "{text}");
    }
}
