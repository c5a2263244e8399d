//! Colours, and tables within the width of a terminal.

mod folder;
mod support;

use folder::Folder;
use std::path::Path;
use support::{Printed, ch, ch_with, words};

const WIDTHS: [&str; 2] = ["80", "120"];

fn run(line: &str, folder: &Path, variables: &[(&str, &str)]) -> Printed {
    ch_with(&words(line), folder, variables)
}

/// The lines of a text that are wider than so many columns.
fn wide_lines(text: &str, width: &str) -> Vec<String> {
    let width: usize = width.parse().expect("a number of columns");
    let lines = text.lines().filter(|line| line.chars().count() > width);
    lines.map(str::to_owned).collect()
}

#[test]
fn colors_are_not_for_pipes_nor_where_they_are_unwanted() {
    let folder = Folder::new("terminal_colors");
    let force = ("CLICOLOR_FORCE", "1");
    for line in [
        "list passess",
        "test jsc-tiny jsc-sim",
        "test jsc-tiny jsc-sim --batch-sise 3",
    ] {
        for variables in [&[][..], &[force, ("NO_COLOR", "1")]] {
            let printed = run(line, &folder, variables);
            assert!(!printed.stdout.contains('\x1b'), "{}", printed.stdout);
            assert!(!printed.stderr.contains('\x1b'), "{}", printed.stderr);
        }
        let colored = run(line, &folder, &[force]);
        let plain = ch(&words(line), &folder);
        assert!(colored.stderr.starts_with("\x1b[1;3"), "{}", colored.stderr);
        let uncolored = ["\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"]
            .iter()
            .fold(colored.stderr, |text, code| text.replace(code, ""));
        assert_eq!(uncolored, plain.stderr);
    }
}

#[test]
fn lists_and_tables_fit_the_terminal() {
    let folder = Folder::new("terminal_lists");
    for width in WIDTHS {
        for line in [
            "list",
            "list passes",
            "list settings",
            "data list",
            "format 'integer(8, 4)' 0.03125 1.97 8",
            "test resnet18 jsc-sim",
            "test jsc-tiny jsc-sim --seed 7 --load-type auto",
        ] {
            let printed = run(line, &folder, &[("COLUMNS", width)]);
            let text = printed.stdout + &printed.stderr;
            assert!(text.lines().count() > 1, "{line}: {text}");
            let wide = wide_lines(&text, width);
            assert!(wide.is_empty(), "{line} at {width}: {wide:#?}");
        }
    }
}

#[test]
fn a_table_that_is_cut_says_what_is_missing_and_who_has_it() {
    let folder = Folder::new("terminal_cut");
    let shown = run("show resnet18", &folder, &[("COLUMNS", "80")]).stdout;
    let (_, table) = shown.split_once("Node name").expect("a table of nodes");
    assert!(wide_lines(table, "80").is_empty(), "{table}");
    let line = "(cut to 80 columns, without Fx Node op, Mase type, BitOPs; --json has all)";
    assert!(table.lines().any(|own| own == line), "{table}");
    let whole = ch(&words("show resnet18"), &folder).stdout;
    assert!(!whole.contains("cut to") && !whole.contains('…'));
    let table = run("data list", &folder, &[("COLUMNS", "80")]).stdout;
    assert!(table.ends_with("(cut to 80 columns; --json has all)\n"));
}

#[test]
fn passes_and_sweeps_name_the_file_of_a_cut_table() {
    let folder = Folder::new("terminal_files");
    let config = "[passes.quantize]\nby = \"type\"\n[passes.quantize.linear.config]\nname = \"integer\"\n\
                  data_in_width = 8\nweight_width = 8\n[passes.check_quantization]\n";
    std::fs::write(folder.join("q.toml"), config).expect("the folder is writable");
    for (line, file) in [
        (
            "transform jsc-toy --config q.toml --project q",
            "transform/quantize/quantize_table.csv",
        ),
        (
            "train jsc-tiny jsc-sim --max-steps 2 --sweep learning_rate=0.1,0.01 --sweep batch_size=64,128 --project s",
            "./mase_output/s/software/sweep.csv",
        ),
    ] {
        let printed = run(line, &folder, &[("COLUMNS", "80")]);
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        let text = printed.stdout.replace("\n    ", " ");
        assert!(text.contains(&format!("{file} has all)")), "{text}");
        let tables = printed.stdout.lines();
        let tables =
            tables.filter(|line| !line.contains("mase_output") && !line.starts_with("use it"));
        let tables: Vec<&str> = tables.collect();
        assert!(
            wide_lines(&tables.join("\n"), "80").is_empty(),
            "{tables:#?}"
        );
    }
}

const TIES: &str = "model = \"jsc-tiny\"\ndataset = \"jsc-sim\"\n[search.search_space.setup]\nby = \"type\"\n\
    [search.search_space.seed.linear.config]\nname = [\"integer\"]\ndata_in_width = [8]\nweight_width = [4, 8]\n\
    bias_width = [24]\nbias_frac_width = [16, 17, 18, 19]\n[search.strategy]\nname = \"brute_force\"\n\
    [search.strategy.metrics]\naverage_bitwidth.direction = \"minimize\"\nbitops.direction = \"minimize\"\n";

/// The fractions of the bias are too fine to change a digit of the loss, so that four trials are one line.
#[test]
fn equal_results_of_a_search_are_one_line() {
    let folder = Folder::new("terminal_ties");
    std::fs::write(folder.join("ties.toml"), TIES).expect("the folder is writable");
    let line = "search --config ties.toml --project ties --quiet";
    let printed = run(line, &folder, &[("COLUMNS", "80")]);
    let (_, best) = printed
        .stdout
        .split_once("Best trial(s):\n")
        .expect("a table");
    let lines: Vec<&str> = best.lines().collect();
    assert!(
        lines[0].starts_with("number  average_bitwidth  bitops"),
        "{best}"
    );
    assert!(lines[2].starts_with("     0                 4"), "{best}");
    assert_eq!(lines[3], "        3 more with these values", "{best}");
    assert!(
        lines[4].starts_with("(cut to 80 columns, without memory_density"),
        "{best}"
    );
}
