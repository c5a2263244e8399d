//! Configs of statistics: defaults, the original's files, and what is refused.

use crate::read;
use passes::statistics::{AbsMean, Dims, RangeNSigma, RangeQuantile, STATISTICS, Statistic};

#[test]
fn every_statistic_has_defaults() {
    for entry in STATISTICS {
        let statistic = read(entry.name, "").unwrap();
        assert_eq!(statistic.entry().name, entry.name);
        assert!(!entry.about.is_empty() && !entry.doc.is_empty());
    }
}

#[test]
fn every_default_of_the_table_is_the_default() {
    for entry in STATISTICS {
        let line = |field: &passes::statistics::ConfigField| {
            format!("{} = {}\n", field.name, field.default)
        };
        let text: String = entry.fields.iter().map(line).collect();
        assert_eq!(
            read(entry.name, &text),
            read(entry.name, ""),
            "{}",
            entry.name
        );
    }
}

#[test]
fn files_of_the_original_are_understood() {
    let found = read(
        "range_quantile",
        "device = \"cpu\"\ndims = \"all\"\nquantile = 0.97\n",
    );
    let wanted = RangeQuantile {
        quantile: 0.97,
        ..RangeQuantile::default()
    };
    assert_eq!(found, Ok(wanted.into()));
    let found = read(
        "range_n_sigma",
        "abs = true\nvar_mode = \"online\"\nnum_sigma = 2\ndims = [1, 0]\n",
    );
    let Ok(Statistic::RangeNSigma(RangeNSigma {
        dims,
        abs,
        num_sigma,
        ..
    })) = found
    else {
        panic!("{found:?}");
    };
    assert_eq!((dims, abs, num_sigma), (Dims::Axes(vec![1, 0]), true, 2.0));
    let per_element = Statistic::from(AbsMean {
        dims: Dims::PerElement,
    });
    assert_eq!(read("abs_mean", "dims = \"NA\""), Ok(per_element));
}

#[test]
fn what_is_wrong_is_named() {
    struct Case {
        name: &'static str,
        config: &'static str,
        problem: &'static str,
    }
    let cases = [
        Case {
            name: "range_quantile",
            config: "quantile = 1.5",
            problem: "quantile: 1.5 is not within 0 and 1",
        },
        Case {
            name: "range_quantile",
            config: "quantil = 0.5",
            problem: "unknown key 'quantil'; did you mean 'quantile'?",
        },
        Case {
            name: "abs_mean",
            config: "dims = \"al\"",
            problem: "dims: 'al' is not \"all\", \"NA\" or a list of axes",
        },
        Case {
            name: "abs_mean",
            config: "dims = [-1]",
            problem: "dims: -1 is not an axis: 0, 1, 2 …",
        },
        Case {
            name: "range_n_sigma",
            config: "var_mode = \"exact\"",
            problem: "var_mode: 'exact' is not one of precise, online",
        },
        Case {
            name: "record",
            config: "dims = \"all\"",
            problem: "unknown key 'dims'; known are device, add_new_dim_before_concat",
        },
        Case {
            name: "mean",
            config: "",
            problem: "unknown statistic 'mean'",
        },
    ];
    for case in cases {
        assert_eq!(read(case.name, case.config), Err(case.problem.to_owned()));
    }
}
