//! Mistakes of users of `ch search`: each answer is a sentence, and nothing is lost.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
mod support;
mod workspace;

use std::fs;
use workspace::{Workspace, config};

#[test]
fn a_folder_without_a_search_cannot_be_resumed() {
    let workspace = Workspace::new("resumed", "jsc-tiny");
    workspace.config(&config("jsc-tiny", "random", 4, 100));
    let error = workspace.error(&workspace.search("x", "--resume=mase_output/net"));
    assert!(
        error.contains("mase_output/net has no search to go on with"),
        "{error}"
    );
    assert!(
        !workspace
            .0
            .join("mase_output/net/software/search_ckpts")
            .exists()
    );
}

#[test]
fn a_space_beyond_counting_is_called_one() {
    let workspace = Workspace::new("huge", "jsc-toy");
    let widths: Vec<String> = (2..=32).map(|width| width.to_string()).collect();
    let fields = ["data_in", "weight", "bias", "data_out"].map(|operand| {
        let widths = widths.join(", ");
        format!("{operand}_width = [{widths}]\n{operand}_frac_width = [{widths}]\n")
    });
    let keys = |layer: &str| {
        format!(
            "[search.search_space.seed.{layer}.config]\nname = [\"integer\"]\n{}",
            fields.concat()
        )
    };
    let text = config("jsc-toy", "random", 2, 100);
    let start = text.find("[search.search_space.seed.linear").unwrap();
    let end = text.find("[search.strategy]").unwrap();
    let layers = ["linear", "batch_norm1d", "relu"].map(keys);
    let text = format!("{}{}{}", &text[..start], layers.concat(), &text[end..]);
    workspace.config(&text);
    let line = workspace.search("h", "").replace(" --quiet", "");
    let output = workspace.run(&line);
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(
        printed.contains("over more than 10^38 configurations"),
        "{printed}"
    );
}

#[test]
fn mistakes_are_answered_with_a_sentence() {
    let workspace = Workspace::new("wrong", "jsc-tiny");
    let good = config("jsc-tiny", "random", 4, 100);
    let cases = [
        (
            good.replace("weight_width = [2, 4, 8]", "weight_width = []"),
            "weight_width: there are no choices",
        ),
        (
            good.replace("accuracy.scale", "acuracy.scale"),
            "unknown metric 'acuracy'",
        ),
        (
            good.replace("\"random\"", "\"randon\""),
            "did you mean 'random'?",
        ),
        (
            good.replace("seed.linear.config", "seed.conv2d.config"),
            "there is nothing to search",
        ),
        (
            good.replace("name = [\"integer\"]", "name = [\"NA\"]"),
            "there is nothing to search",
        ),
        (
            good.replace("data_loader = \"val_dataloader\"", "data_loader = \"vall\""),
            "'vall' is not one of",
        ),
        (
            good.replace(
                "[search.strategy.metrics]",
                "[search.strategy.budget]\nmin_speed = 3\n[search.strategy.metrics]",
            ),
            "unknown metric 'speed'",
        ),
        (
            good.clone() + "[search.strategy.sampler_config]\nshuffle = 3\n",
            "s.toml:30:1: unknown key 'shuffle'; there are no keys here",
        ),
        (
            good.replace("\"random\"", "\"brute_force\"")
                + "[search.strategy.sampler_config]\nlimit = 3\n",
            "`ch list samplers` shows others",
        ),
    ];
    for (text, expected) in cases {
        workspace.config(&text);
        let error = workspace.error(&workspace.search("x", ""));
        assert!(
            error.starts_with("error: ") && error.contains(expected),
            "{error}"
        );
    }
    workspace.config(
        &good
            .replace("accuracy.scale", "acuracy.scale")
            .replace("average_bitwidth.scale = 0.2\n", ""),
    );
    let error = workspace.error(&workspace.search("x", ""));
    assert!(!error.contains("problems"), "there is one: {error}");
    workspace.config(&good);
    let error = workspace.error(&workspace.search("x", "--sampler tp"));
    assert!(error.contains("did you mean 'tpe'?"), "{error}");
    assert!(
        !workspace.0.join("mase_output/x").exists(),
        "a mistake leaves no folder"
    );
}

#[test]
fn a_journal_that_is_broken_or_foreign_is_refused() {
    let workspace = Workspace::new("journal", "jsc-tiny");
    workspace.config(&config("jsc-tiny", "random", 6, 100));
    workspace.searched("j", "");
    let path = workspace
        .0
        .join("mase_output/j/software/search_ckpts/study.journal");
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.replacen("\"op_code\":4", "\"op_code\":", 1)).unwrap();
    let error = workspace.error(&workspace.search("j", "--resume"));
    assert!(
        error.contains("study.journal:4: is not a line of a journal"),
        "{error}"
    );
    fs::write(&path, &good).unwrap();
    let error = workspace.error(&workspace.search("j", "--resume --seed 9"));
    assert!(
        error.contains("was made with seed = 1, now it is 9"),
        "{error}"
    );
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        good,
        "a refused journal is left alone"
    );
}

/// A key with one choice is no parameter, and results follow from it all the same.
#[test]
fn a_search_with_another_fixed_key_is_another_search() {
    let workspace = Workspace::new("fixed", "jsc-tiny");
    let text = config("jsc-tiny", "random", 4, 100);
    workspace.config(&text.replace("bias_width = [2, 4, 8]", "bias_width = [8]"));
    workspace.searched("j", "");
    workspace.config(&text.replace("bias_width = [2, 4, 8]", "bias_width = [2]"));
    let error = workspace.error(&workspace.search("j", "--resume"));
    let expected = ".bias_width = [8], now it is [2]";
    assert!(error.contains(expected), "{error}");
    let hardware = "[search.strategy.hw_runner.average_bitwidth]\ncompare_to = 16\n";
    workspace.config(&(text.replace("bias_width = [2, 4, 8]", "bias_width = [8]") + hardware));
    let error = workspace.error(&workspace.search("j", "--resume"));
    let expected = "was made with compare_to = 32.0, now it is 16.0";
    assert!(error.contains(expected), "{error}");
    // The order of the keys is the order of the parameters, which the points follow from.
    let (first, second) = ("data_in_width = [4, 8]", "weight_width = [2, 4, 8]");
    let swapped = text
        .replace(first, "%")
        .replace(second, first)
        .replace('%', second);
    workspace.config(&text);
    workspace.searched("k", "");
    workspace.config(&swapped);
    let error = workspace.error(&workspace.search("k", "--resume"));
    assert!(error.contains("was made with parameters = ["), "{error}");
}
