//! Laws over the table of statistics: any cut into batches and profiles gives the same bits, sharing changes nothing,
//! and what has no value is an error that names it.

use crate::read;
use passes::statistics::{Profile, Record, STATISTICS, Statistic, Summary};
use random::Random;

const SAMPLE: [usize; 3] = [3, 2, 4];
const WIDTH: usize = 24;

/// Every statistic with every kind of `dims`, of values and of magnitudes.
fn all_statistics() -> Vec<Statistic> {
    let mut all = Vec::new();
    for entry in STATISTICS {
        let has = |key: &str| entry.fields.iter().any(|field| field.name == key);
        for dims in ["\"all\"", "\"NA\"", "[0]", "[1]", "[2, 0]", "[0, 1, 2]"] {
            for abs in ["true", "false"] {
                let dims = if has("dims") {
                    format!("dims = {dims}\n")
                } else {
                    String::new()
                };
                let abs = if has("abs") {
                    format!("abs = {abs}\n")
                } else {
                    String::new()
                };
                let statistic = read(entry.name, &(dims + &abs)).unwrap();
                if !all.contains(&statistic) {
                    all.push(statistic);
                }
            }
        }
    }
    all
}

/// Values of many magnitudes, half of them zero in every other element.
fn samples(rows: usize) -> Vec<f32> {
    let random = Random::new(5, "samples");
    let value = |k: usize| {
        let x = random.normal(k as u64) * 10_f32.powi((k % 7) as i32 * 3 - 9) + 0.3;
        if k.is_multiple_of(2) { x.max(0.0) } else { x }
    };
    (0..rows * WIDTH).map(value).collect()
}

fn profile(statistics: &[Statistic], batches: &[&[f32]]) -> Profile {
    let mut profile = Profile::new(statistics, &SAMPLE).unwrap();
    for batch in batches {
        profile.add(batch);
    }
    profile
}

fn at_once(statistics: &[Statistic], samples: &[f32]) -> Vec<Summary> {
    profile(statistics, &[samples]).finish().unwrap()
}

#[test]
fn any_cut_into_batches_and_profiles_gives_the_same_bits() {
    let statistics = all_statistics();
    for rows in [1, 2, 7, 500] {
        let samples = samples(rows);
        let wanted = at_once(&statistics, &samples);
        for (batch, cut) in [(1, rows), (3, rows / 2), (rows, 1), (2, 0)] {
            let (early, late) = samples.split_at(cut * WIDTH);
            let [mut early, late] = [early, late].map(|samples| {
                let batches: Vec<&[f32]> = samples.chunks(batch * WIDTH).collect();
                profile(&statistics, &batches)
            });
            early.merge(late);
            assert_eq!(
                early.finish().unwrap(),
                wanted,
                "{rows} rows in batches of {batch}, cut at {cut}"
            );
        }
    }
}

#[test]
fn the_order_of_samples_does_not_matter() {
    let statistics = all_statistics();
    let samples = samples(40);
    let backward: Vec<f32> = samples.rchunks(WIDTH).flatten().copied().collect();
    let (forward, backward) = (
        at_once(&statistics, &samples),
        at_once(&statistics, &backward),
    );
    for (a, b) in forward.iter().zip(&backward) {
        assert_eq!(a.fields, b.fields);
    }
}

#[test]
fn a_statistic_is_the_same_alone_and_among_others() {
    let statistics = all_statistics();
    let samples = samples(30);
    let together = at_once(&statistics, &samples);
    for (statistic, wanted) in statistics.iter().zip(together) {
        assert_eq!(at_once(std::slice::from_ref(statistic), &samples), [wanted]);
    }
}

#[test]
fn results_have_the_fields_of_the_table() {
    let statistics = all_statistics();
    for (statistic, summary) in statistics.iter().zip(at_once(&statistics, &samples(4))) {
        let fields = statistic.entry().results.iter().map(|field| field.name);
        let wanted: Vec<&str> = fields.filter(|&name| name != "data").collect();
        let found: Vec<&str> = summary.fields.keys().map(String::as_str).collect();
        assert_eq!(found, wanted, "{statistic:?}");
        assert_eq!(
            summary.data.is_some(),
            matches!(statistic, Statistic::Record(_))
        );
    }
}

#[test]
fn a_large_mean_does_not_hide_a_small_variance() {
    let random = Random::new(2, "far");
    let samples: Vec<f32> = (0..100_000)
        .map(|k| 1e4 + 1e-2 * random.normal(k))
        .collect();
    let mean = samples.iter().map(|&x| f64::from(x) - 1e4).sum::<f64>() / 1e5;
    let squares = samples.iter().map(|&x| (f64::from(x) - 1e4 - mean).powi(2));
    let wanted = squares.sum::<f64>() / (1e5 - 1.0);
    for name in ["variance_online", "variance_precise"] {
        let mut profile = Profile::new(&[read(name, "").unwrap()], &[]).unwrap();
        profile.add(&samples);
        let found = profile.finish().unwrap().remove(0).fields;
        let variance = found["variance"].as_f64().unwrap();
        assert!(
            (variance / wanted - 1.0).abs() < 1e-12,
            "{variance}, wanted {wanted}"
        );
        assert!((found["mean"].as_f64().unwrap() - 1e4 - mean).abs() < 1e-9);
    }
}

#[test]
fn the_variance_of_one_value_is_null() {
    let summaries = at_once(
        &[read("variance_precise", "dims = \"NA\"").unwrap()],
        &samples(1),
    );
    assert!(summaries[0].fields["variance"][2][1][3].is_null());
    assert!(summaries[0].fields["mean"][2][1][3].is_number());
}

#[test]
fn a_record_is_what_was_added() {
    let samples = samples(5);
    let record = |add_new_dim_before_concat| {
        let record = Record {
            add_new_dim_before_concat,
        };
        at_once(&[record.into()], &samples).remove(0)
    };
    assert_eq!(
        record(false).data,
        Some((vec![5, 3, 2, 4], samples.clone()))
    );
    let with_axis = record(true);
    assert_eq!(with_axis.data.unwrap().0, [5, 1, 3, 2, 4]);
    assert_eq!(with_axis.fields["count"], 5);
    assert_eq!(with_axis.fields["size_in_bytes"], 5 * 24 * 4);
}

#[test]
fn no_values_are_an_error() {
    for statistic in all_statistics() {
        let message = |sample: &[usize]| {
            let profile = Profile::new(std::slice::from_ref(&statistic), sample).unwrap();
            profile.finish().unwrap_err().to_string()
        };
        assert_eq!(
            message(&SAMPLE),
            "there are no values: 0 samples of shape [3, 2, 4]"
        );
        assert_eq!(
            message(&[3, 0, 4]),
            "there are no values: 0 samples of shape [3, 0, 4]"
        );
    }
}

#[test]
fn a_value_that_is_not_finite_is_an_error_with_its_place() {
    for statistic in all_statistics() {
        for (bad, word) in [
            (f32::NAN, "NaN"),
            (f32::INFINITY, "inf"),
            (f32::NEG_INFINITY, "-inf"),
        ] {
            let mut samples = samples(9);
            samples[7 * WIDTH + 13] = bad;
            samples[8 * WIDTH] = f32::NAN;
            let (early, late) = samples.split_at(4 * WIDTH);
            let statistics = std::slice::from_ref(&statistic);
            let mut early = profile(statistics, &[early]);
            early.merge(profile(statistics, &[&late[..WIDTH], &late[WIDTH..]]));
            let wanted = format!(
                "the value at [1, 1, 1] of sample 7 is {word}; statistics are of finite values"
            );
            assert_eq!(early.finish().unwrap_err().to_string(), wanted);
        }
    }
}

#[test]
fn no_end_of_a_range_is_a_negative_zero() {
    for abs in ["true", "false"] {
        let statistic = read("range_min_max", &format!("abs = {abs}\n")).unwrap();
        for values in [[-0.0; WIDTH], [0.0; WIDTH]] {
            let found = at_once(std::slice::from_ref(&statistic), &values).remove(0);
            for end in ["min", "max", "range"] {
                assert_eq!(found.fields[end].to_string(), "0.0", "{end}, abs = {abs}");
            }
        }
    }
}
