//! Spaces of formats: what is wrong with one is said before the first trial, with its place, and nothing is searched that
//! makes no difference.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::{Problem, Reader, Table};
use ir::Graph;
use passes::Rules;
use search::{Choices, FormatSpace, SpaceError};

fn network(model: &str) -> Graph {
    let info = models::ModelInfo::default();
    let mut graph = models::build(model, &info).unwrap();
    graph.initialize(1);
    graph
}

/// The space of a rule for linear layers; its problems, each behind what stands at its place.
fn linear(keys: &str) -> Result<FormatSpace, Vec<String>> {
    space(
        "jsc-tiny",
        &format!("by = \"type\"\n[linear.config]\n{keys}"),
    )
}

fn space(model: &str, text: &str) -> Result<FormatSpace, Vec<String>> {
    let table = Table::parse(text).unwrap();
    let mut reader = Reader::new(&table, 0..0);
    let rules = Rules::read(&mut reader, Choices::read);
    let shown = |problems: Vec<Problem>| -> Vec<String> {
        let line = |problem: Problem| format!("{} | {}", &text[problem.span], problem.message);
        problems.into_iter().map(line).collect()
    };
    let problems = reader.finish();
    if !problems.is_empty() {
        return Err(shown(problems));
    }
    FormatSpace::new(&network(model), &rules).map_err(|error| match error {
        SpaceError::Config(problems) => shown(problems),
        other => vec![other.to_string()],
    })
}

#[test]
fn what_can_never_work_is_said_with_its_place() {
    let cases: &[(&str, &[&str])] = &[
        // Misspelt fields, of the format and of the key as a whole.
        (
            "name = [\"integer\"]\nweight_width = [4, 8]\nweight_frac_widht = [2, 3]",
            &["weight_frac_widht | ", "did you mean 'weight_frac_width'?"],
        ),
        (
            "name = [\"integer\"]\nweight_width = [4]\nwieght_width = [4, 8]",
            &[
                "wieght_width | unknown key 'wieght_width'",
                "did you mean 'weight_width'?",
            ],
        ),
        (
            "name = [\"integer\"]\nweight_width = [4, 8]\nweight_exponent_size = [2, 3]",
            &["weight_exponent_size | weight_exponent_size: integer does not have 'exponent_size'"],
        ),
        // Values out of range, and no others.
        (
            "name = [\"integer\"]\nweight_width = [0]\nweight_frac_width = [1, 2]",
            &["0 | weight_width: "],
        ),
        (
            "name = [\"integer\"]\nweight_width = [65]",
            &["65 | weight_width: "],
        ),
        (
            "name = [\"integer\"]\nweight_width = [4, true]",
            &["true | weight_width: "],
        ),
        // Formats that lack a field, and formats that do not exist.
        (
            "name = [\"integer\", \"minifloat_ieee\"]\nweight_width = [4, 8]",
            &["\"minifloat_ieee\" | name: ", "exponent_width"],
        ),
        (
            "name = [\"integer\", \"intger\"]\nweight_width = [4, 8]\nbias_width = [4]",
            &["\"intger\" | name: ", "integer"],
        ),
        (
            "name = [\"integer\"]\nweight_name = [\"intger\"]\nweight_width = [4, 8]",
            &["\"intger\" | weight_name: "],
        ),
        ("name = [\"integer\"]", &["\"integer\" | name: "]),
        // A name under which nothing can be made, though each choice works under another.
        (
            "name = [\"integer\", \"mxfp\"]\ndata_in_width = [8]\ndata_in_frac_width = [3]\ndata_in_exponent_width = [3]\n\
             weight_width = [4, 8]\nweight_frac_width = [3]\nweight_exponent_width = [3]",
            &["\"mxfp\" | name: data_in: mxfp"],
        ),
        (
            "name = [\"integer\", \"minifloat_ieee\"]\nweight_width = [2, 4]\nweight_exponent_width = [7]",
            &["7 | weight_exponent_width: weight: "],
        ),
    ];
    check_refusals(cases);
    let both = linear("name = [\"integer\"]\nweight_width = [0, 65]").unwrap_err();
    assert_eq!(both.len(), 2, "{both:?}");
}

#[test]
fn a_field_of_other_formats_and_a_choice_that_is_there_twice_are_no_mistakes() {
    let keys =
        "name = [\"integer\"]\nweight_width = [4, 8, 8]\nweight_exponent_width = [3]\nwidth = [7]";
    let space = linear(keys).unwrap();
    assert_eq!(space.space.parameters().len(), 1);
    let note = "none of its formats has 'weight_exponent_width', so this changes nothing";
    assert!(
        space.notes.iter().any(|n| n.contains(note)),
        "{:?}",
        space.notes
    );
}

/// Files of the original list what its formats do not refuse: the rest of a list is searched.
#[test]
fn a_number_that_no_format_has_is_left_out_with_a_note() {
    let cases = [
        ("name = [\"integer\"]\nweight_width = [0, 4, 65, 8]", 2, 2),
        (
            "name = [\"minifloat_ieee\"]\nweight_width = [2, 8, 10]\nweight_exponent_width = [4, 9]",
            2,
            2,
        ),
        // Numbers are flags as in Python, and more of them than an operand has axes are blocks of their own.
        (
            "name = [\"binary\"]\nweight_width = [1]\nweight_bipolar = [0, 1, 3]",
            2,
            0,
        ),
        (
            "name = [\"mxint\"]\nweight_width = [8]\nweight_block_size = [3, 4, 5, 6, 7]",
            5,
            0,
        ),
    ];
    for (keys, size, notes) in cases {
        let space = linear(keys).unwrap();
        assert_eq!(space.space.size(), Some(size), "{keys}");
        assert_eq!(space.notes.len(), notes, "{keys}: {:?}", space.notes);
        let is_said = |note: &String| note.ends_with("; this choice is left out");
        assert!(space.notes.iter().all(is_said), "{:?}", space.notes);
    }
}

#[test]
fn what_is_wrong_with_a_table_for_one_format_is_said_with_its_place() {
    check_refusals(&[
        (
            "name = [\"integer\"]\nweight_width = [4, 8]\n[linear.config.minifloat_ieee]\nweight_width = [6, 8]",
            &[
                "minifloat_ieee | a table for 'minifloat_ieee', but the formats named here are integer",
            ],
        ),
        (
            "name = [\"integer\"]\nweight_width = [4, 8]\n[linear.config.intger]\nweight_width = [6, 8]",
            &["intger | ", "did you mean 'integer'?"],
        ),
        (
            "name = [\"integer\", \"minifloat_ieee\"]\nweight_width = [4, 8]\n[linear.config.minifloat_ieee]\nweight_exponent_width = [3]\nweight_frac_width = [3]",
            &["weight_frac_width | weight_frac_width: minifloat_ieee does not have 'frac_width'"],
        ),
        (
            "name = [\"integer\"]\nweight_width = [4, 8]\n[linear.config.integer]\nweight_width = [6, 9]",
            &[
                "weight_width | weight_width: every format that has it has a weight_width in its own table",
            ],
        ),
        (
            "name = [\"integer\"]\n[linear.config.integer]\nweight_width = [99]",
            &["99 | weight_width: "],
        ),
        (
            "name = [\"integer\"]\nweight_width = [4, 8]\n[linear.config.integer]\nbias_width = [8]\nbypass = [true, false]",
            &["bypass | bypass does not belong to one format"],
        ),
        (
            "name = [\"integer\"]\nweight_name = [\"minifloat_ieee\"]\nweight_width = [8]\nweight_exponent_width = [3]\n\
             [linear.config.minifloat_ieee]\ndata_in_width = [8]",
            &["data_in_width | data_in_width: data_in is never minifloat_ieee"],
        ),
        (
            "name = [\"integer\"]\nweight_width = [4]\n[linear.config.integer]",
            &["integer | integer: there are no keys for this format"],
        ),
    ]);
}

/// Each of the keys has one problem, which begins with the first part and has all.
fn check_refusals(cases: &[(&str, &[&str])]) {
    for (keys, expected) in cases {
        let problems = linear(keys).unwrap_err();
        assert_eq!(problems.len(), 1, "{keys}\n{problems:?}");
        for part in *expected {
            assert!(problems[0].contains(part), "{keys}\n{problems:?}");
        }
        assert!(problems[0].starts_with(expected[0]), "{keys}\n{problems:?}");
    }
}

/// There are too many combinations to try them all. What can never work is found all the same, and what goes only with
/// some of the others, as a wide exponent does with a wide format, is left in.
#[test]
fn of_many_combinations_each_choice_is_tried() {
    let many = |width: &str, block: &str| {
        let sizes: Vec<String> = (1..60).map(|n| format!("[1, {n}]")).collect();
        let sizes = sizes.join(", ");
        linear(&format!(
            "name = [\"block_minifloat\"]\nweight_width = [3, 4, 5, 6, 7, 8{width}]\n\
             weight_exponent_width = [2, 3, 4, 5, 6, 7, 8]\nweight_exponent_bias_width = [1, 2, 3, 4, 5, 6, 7, 8]\n\
             weight_block_size = [{sizes}{block}]",
        ))
    };
    many("", "").unwrap();
    let notes = many(", 0", ", [1, 0]").unwrap().notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("weight_width: "), "{notes:?}");
    assert!(notes[1].starts_with("weight_block_size: "), "{notes:?}");
}

/// Where one name has too many combinations to try, all points count, those of the other names too.
#[test]
fn beside_a_name_with_many_combinations_nothing_is_ruled_out() {
    let sizes: Vec<String> = (1..60).map(|n| format!("[1, {n}]")).collect();
    let keys = |names: &str| {
        format!(
            "name = [{names}]\nweight_width = [3, 4, 5, 6, 7, 8]\nweight_exponent_width = [2, 3, 4, 5, 6, 7, 8]\n\
             weight_exponent_bias_width = [1, 2, 3, 4, 5, 6, 7, 8]\nweight_block_size = [{}]",
            sizes.join(", ")
        )
    };
    let size = |names: &str| linear(&keys(names)).unwrap().space.size().unwrap();
    let (few, many) = (6 * 7, 6 * 7 * 8 * 59);
    assert_eq!(size("\"minifloat_ieee\", \"block_minifloat\""), few + many);
    // An exponent must be smaller than its width: 1 of 3 bits, 2 of 4, … 6 of 8.
    assert_eq!(size("\"minifloat_ieee\""), 1 + 2 + 3 + 4 + 5 + 6);
}

#[test]
fn an_operand_with_a_format_of_its_own_has_its_fields() {
    let sizes = [
        // The exponent belongs to one of two names of the weight: 2 + 2·3.
        (
            "name = [\"integer\"]\nweight_name = [\"integer\", \"minifloat_ieee\"]\nweight_width = [4, 8]\nweight_exponent_width = [1, 2, 3]",
            8,
        ),
        // The weight's own format has it whatever the others have.
        (
            "name = [\"integer\"]\ndata_in_width = [4, 8]\nweight_name = [\"minifloat_ieee\"]\nweight_width = [6, 8]\nweight_exponent_width = [2, 3]",
            8,
        ),
        // Nothing is searched for an operand that is left alone.
        (
            "name = [\"integer\"]\ndata_in_width = [4, 8]\nweight_name = [\"NA\"]\nweight_width = [4, 6, 8]",
            2,
        ),
        // Without a name for all: only the weight is rounded.
        (
            "name = [\"NA\"]\nweight_name = [\"integer\"]\nweight_width = [4, 6, 8]\nbias_width = [4, 8]",
            3,
        ),
    ];
    let graph = network("jsc-tiny");
    for (keys, size) in sizes {
        let formats = linear(keys).unwrap();
        assert_eq!(formats.space.size(), Some(size), "{keys}");
        let mut seen = Vec::new();
        for index in 0..size {
            let point = formats.space.nth(index).unwrap();
            let changed = formats.graph(&graph, &point).unwrap();
            assert!(!seen.contains(&changed), "{keys}: two points are the same");
            seen.push(changed);
        }
    }
}

/// The default chooses what quantising by default chooses: not what only moves its elements.
#[test]
fn the_default_leaves_alone_what_only_moves() {
    let rule = "[default.config]\nname = [\"integer\"]\ndata_in_width = [4, 8]\n";
    let formats = space("lenet5", &format!("by = \"type\"\n{rule}")).unwrap();
    let graph = network("lenet5");
    let searched = |op: &str| {
        let mut nodes = formats.nodes.iter();
        nodes.any(|node| graph.node(node.id).op.name() == op)
    };
    assert!(graph.nodes().iter().any(|node| node.op.name() == "flatten"));
    assert!(searched("linear") && searched("relu"));
    assert!(!searched("flatten"));
    let named = "[flatten.config]\nname = [\"integer\"]\ndata_in_width = [4, 8]\n";
    let formats = space("lenet5", &format!("by = \"type\"\n{named}")).unwrap();
    assert_eq!(formats.nodes.len(), 1, "a rule of its own chooses it");
}

/// A message may speak of another field than the one that never works.
#[test]
fn a_choice_that_is_part_of_nothing_is_refused() {
    let cases = [
        (
            "name = [\"integer\"]\nweight_width = [8]\nbypass = [\"on\", false]",
            "\"on\" | bypass: on is not true or false",
        ),
        (
            "name = [\"integer\"]\nweight_width = [8]\nweight_floor = [\"yes\", false]",
            "\"yes\" | weight_floor: yes is not true or false",
        ),
    ];
    for (keys, said) in cases {
        let problems = linear(keys).unwrap_err();
        assert!(
            problems.iter().any(|line| line.starts_with(said)),
            "{problems:?}"
        );
    }
    let keys = "name = [\"minifloat_ieee\"]\nweight_width = [2, 8]\nweight_exponent_width = [4]";
    let notes = linear(keys).unwrap().notes;
    assert!(notes[0].starts_with("weight_width: "), "{notes:?}");
    let keys = "name = [\"integer\"]\nbypass = [true, false]\nweight_width = [\"NA\", 8]\n";
    let formats = linear(keys).unwrap();
    let graph = network("jsc-tiny");
    for number in 0..formats.space.size().unwrap() {
        let point = formats.space.nth(number).unwrap();
        assert!(formats.graph(&graph, &point).is_ok(), "{number}");
    }
}

#[test]
fn what_a_node_does_not_have_is_not_searched() {
    let keys = "name = [\"integer\"]\ndata_in_width = [4, 8]\nweight_width = [2, 4, 8]\nbias_name = [\"integer\", \"NA\"]\nbias_width = [2, 4]\n";
    let formats = space("jsc-tiny", &format!("by = \"type\"\n[relu.config]\n{keys}")).unwrap();
    let relus = formats.nodes.len() as u32;
    assert_eq!(formats.space.size(), Some(2_u128.pow(relus)));
    let toml = formats.to_toml(&formats.space.nth(0).unwrap());
    assert!(!toml.contains("weight") && !toml.contains("bias"), "{toml}");
    assert_eq!(
        formats.notes,
        [
            "rule 'relu': none of its nodes has a bias or a weight, so its keys bias_… and weight_… do nothing"
        ]
    );
    // A default gives each node what it has: the others' keys are not idle.
    let formats = space(
        "jsc-tiny",
        &format!("by = \"type\"\n[default.config]\n{keys}"),
    )
    .unwrap();
    assert_eq!(formats.notes, [""; 0]);
    let weight = "name = [\"integer\"]\nweight_width = [2, 4]\n";
    let nothing = space(
        "jsc-tiny",
        &format!("by = \"type\"\n[relu.config]\n{weight}"),
    );
    assert!(nothing.unwrap_err()[0].starts_with("there is nothing to search"));
}

/// Keys of one format stand in its table; what becomes of a point has them under their plain names.
#[test]
fn a_format_can_have_choices_of_its_own() {
    let keys = "name = [\"integer\", \"minifloat_ieee\", \"NA\"]\nweight_width = [2, 4, 8]\nbias_width = [8]\n\
                [linear.config.minifloat_ieee]\nweight_width = [6, 8]\nweight_exponent_width = [3, 4]\nbias_exponent_width = 4\n";
    let formats = linear(keys).unwrap();
    let names: Vec<&str> = formats
        .space
        .parameters()
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "seq_blocks_2/config/name",
            "seq_blocks_2/config/weight_width",
            "seq_blocks_2/config/minifloat_ieee/weight_width",
            "seq_blocks_2/config/minifloat_ieee/weight_exponent_width",
        ]
    );
    // integer 3, minifloat_ieee 2·2, nothing 1.
    let points: Vec<_> = (0..8)
        .map(|index| formats.space.nth(index).unwrap())
        .collect();
    assert_eq!(formats.space.size(), Some(8));
    let shown =
        |at: usize| formats.sampled_config(&points[at])["seq_blocks_2"]["config"].to_string();
    assert_eq!(
        shown(0),
        r#"{"name":"integer","weight_width":2,"bias_width":8}"#
    );
    assert_eq!(
        shown(4),
        r#"{"name":"minifloat_ieee","bias_width":8,"weight_width":6,"weight_exponent_width":4,"bias_exponent_width":4}"#
    );
    let toml = formats.to_toml(&points[4]);
    assert!(toml.contains("\nweight_width = 6\n"), "{toml}");
    let graph = network("jsc-tiny");
    let made: Vec<String> = points
        .iter()
        .map(|point| formats.graph(&graph, point).unwrap())
        .map(|graph| {
            format!(
                "{:?}",
                graph.node(formats.nodes[0].id).formats.get("weight")
            )
        })
        .collect();
    for (at, one) in made.iter().enumerate() {
        assert!(!made[..at].contains(one), "{one} twice");
    }
}

/// Every operand left without a value: the node is left alone, as if its format were called NA.
#[test]
fn a_node_without_values_is_left_alone() {
    let keys = "name = [\"integer\"]\nweight_width = [\"NA\", 4]\ndata_in_width = [\"NA\", 8]";
    let formats = linear(keys).unwrap();
    let graph = network("jsc-tiny");
    let alone = formats.space.nth(0).unwrap();
    assert_eq!(formats.graph(&graph, &alone).unwrap(), graph);
    assert!(
        formats
            .to_toml(&alone)
            .ends_with("name = \"NA\"\nweight_width = \"NA\"\ndata_in_width = \"NA\"\n")
    );
}

/// A flat list of sizes is one block: who meant a choice is told how to write it.
#[test]
fn a_flat_list_of_block_sizes_is_noted() {
    let with = |sizes: &str| {
        linear(&format!(
            "name = [\"mxint\"]\nweight_width = [4]\nweight_block_size = {sizes}"
        ))
        .unwrap()
    };
    let flat = with("[8, 16]");
    assert_eq!(flat.space.size(), Some(1));
    assert_eq!(
        flat.notes,
        [
            "rule 'linear': weight_block_size = [8, 16] is one block of 8 × 16; \
             a choice of blocks is a list of lists, such as [[8], [16]]"
        ]
    );
    for (sizes, count) in [("[[8], [16]]", 2), ("[[8, 16]]", 1), ("[8]", 1), ("8", 1)] {
        let formats = with(sizes);
        assert_eq!(formats.notes, [""; 0], "{sizes}");
        assert_eq!(formats.space.size(), Some(count), "{sizes}");
    }
}
