//! Preparations that checkpoints hold, sound and not, and what is told of a dataset.

use data::{
    Arrays, Dataset, InputArray, PREPARATION, Preparation, Rows, Scaling, SplitName, Standardizer,
    Values, describe,
};
use interop::checkpoint::{Checkpoint, Kind, Training};
use serde_json::{Value as Json, json};

fn checkpoint(metadata: Json, training: Option<Training>) -> Checkpoint {
    Checkpoint {
        kind: Kind::Mz,
        tensors: Vec::new(),
        training,
        graph: None,
        metadata,
    }
}

fn recorded(mean: &Json, deviation: &Json) -> Result<Preparation, String> {
    let standardizer = json!({"mean": mean, "deviation": deviation});
    let metadata = json!({PREPARATION: {"dataset": "jsc", "standardizer": standardizer}});
    Preparation::of_checkpoint(&checkpoint(metadata, None))
}

#[test]
fn a_preparation_comes_from_either_place() {
    let standardizer = Standardizer {
        mean: vec![1.0, -2.0],
        deviation: vec![0.5, 4.0],
    };
    let expected = Preparation {
        dataset: Some("jsc".to_owned()),
        classes: None,
        standardizer: Some(standardizer.clone()),
    };
    assert_eq!(
        recorded(&json!([1.0, -2.0]), &json!([0.5, 4.0])),
        Ok(expected.clone())
    );
    let training = Training {
        hyper_parameters: expected.to_map(),
        ..Training::default()
    };
    let found = Preparation::of_checkpoint(&checkpoint(json!({}), Some(training)));
    assert_eq!(found, Ok(expected));
    let nothing = Preparation::of_checkpoint(&checkpoint(json!({}), None));
    assert_eq!(nothing, Ok(Preparation::default()));

    let mut rows = [1.0, 2.0, 2.0, -2.0];
    standardizer.apply(&mut rows);
    assert_eq!(rows, [0.0, 1.0, 2.0, 0.0]);
    assert_eq!(standardizer.width(), 2);
    let given = Scaling::Given(standardizer.clone());
    assert_eq!(given.standardizer(), Some(&standardizer));
    assert_eq!(Scaling::None.standardizer(), None);
}

#[test]
fn a_preparation_that_is_not_sound_is_refused() {
    for (mean, deviation) in [
        (json!([1.0]), json!([0.0])),
        (json!([1.0]), json!([-1.0])),
        (json!([1.0]), json!([1.0, 1.0])),
    ] {
        assert_eq!(
            recorded(&mean, &deviation),
            Err(
                "its mean and deviation of features are not finite, or of different lengths"
                    .to_owned()
            )
        );
    }
    let message = recorded(&json!("x"), &json!([1.0])).expect_err("a word is no mean");
    assert!(
        message.starts_with("its preparation of rows is damaged: "),
        "{message}"
    );
}

fn in_memory() -> Dataset {
    let rows = Rows {
        width: 1,
        values: vec![0.0, 0.1, 0.2, 0.3],
        labels: vec![0, 2, 0, 1],
    };
    Dataset::of_rows("own", vec![1], rows)
}

#[test]
fn rows_in_memory_are_in_every_split() {
    let set = in_memory();
    assert_eq!(set.info.classes, ["0", "1", "2"]);
    let all = [0, 1, 2, 3];
    for split in [&set.train, &set.val, &set.test, &set.whole()] {
        assert_eq!(split.indices(), all);
        assert_eq!((split.width(), split.is_empty()), (1, false));
        for count in 0..6 {
            let (head, tail) = (split.head(count), split.tail(count));
            assert_eq!(head.len(), count.min(4));
            assert_eq!([head.indices(), tail.indices()].concat(), all);
            assert_eq!(head.is_empty(), count == 0);
        }
        assert_eq!(split.labels_of(&[3, 1]), [1, 2]);
    }
    let classes = |words: &str| -> Vec<String> { words.split(' ').map(str::to_owned).collect() };
    assert!(set.orders_otherwise(&classes("2 1 0")));
    assert!(!set.orders_otherwise(&classes("0 1 2")));
    assert!(!set.orders_otherwise(&classes("2 1 x")));
    let turned = set.with_class_order(&classes("2 1 0"));
    assert_eq!(turned.train.labels(), [2, 0, 2, 1]);
}

#[test]
fn a_shortfall_is_told_where_there_is_one() {
    let set = in_memory();
    for (name, word) in [
        (SplitName::Train, "training"),
        (SplitName::Val, "validation"),
        (SplitName::Test, "test"),
    ] {
        let available = set.split(name).len();
        assert_eq!(set.shortfall(name, available), None);
        let expected = format!(
            "requested {} rows but own has only {available} {word} rows; using all of them",
            available + 1
        );
        assert_eq!(set.shortfall(name, available + 1), Some(expected));
        let by_word = SplitName::WORDS
            .iter()
            .find(|(known, _)| *known == name.name());
        assert_eq!(by_word.map(|entry| entry.1), Some(name));
    }
}

/// Four rows of two columns, the first two to train on, one to choose by, one to report on.
fn in_parts() -> Dataset {
    let rows = Rows {
        width: 2,
        values: vec![1.0, 10.0, 3.0, 30.0, -5.0, 50.0, 7.0, 70.0],
        labels: vec![0, 2, 2, 1],
    };
    Dataset::of_table("parts", vec![2], rows, [2, 1, 1])
}

#[test]
fn parts_in_memory_follow_one_another() {
    let set = in_parts();
    assert_eq!(set.info.classes, ["0", "1", "2"]);
    assert_eq!(set.info.sample_shape, [2]);
    let parts = [&set.train, &set.val, &set.test].map(|split| split.indices().to_vec());
    assert_eq!(parts, [vec![0, 1], vec![2], vec![3]]);
    assert_eq!(set.whole().indices(), [0, 1, 2, 3]);
    let other = |counts| {
        let rows = Rows {
            width: 2,
            values: set.train.rows().to_vec(),
            labels: set.train.labels().to_vec(),
        };
        Dataset::of_table("parts", vec![2], rows, counts).info.hash
    };
    assert_eq!(other([2, 1, 1]), set.info.hash);
    assert_ne!(other([1, 2, 1]), set.info.hash);

    let array = |name: &str, shape: &[usize], values| InputArray {
        name: name.to_owned(),
        shape: shape.to_vec(),
        values,
    };
    let arrays = Arrays {
        inputs: vec![
            array("ids", &[2], Values::I64((0..8).collect())),
            array("mask", &[], Values::F32(vec![0.5; 4])),
        ],
        labels: vec![1, 0, 1, 0],
    };
    let set = Dataset::of_named_arrays("arrays", arrays, [1, 1, 2]);
    assert_eq!(
        (set.info.sample_shape.as_slice(), set.train.width()),
        (&[2][..], 3)
    );
    let parts = [&set.train, &set.val, &set.test].map(|split| split.indices().to_vec());
    assert_eq!(parts, [vec![0], vec![1], vec![2, 3]]);
    let rest = Dataset {
        train: set.test.clone(),
        ..set
    };
    // Rows 2 and 3 of two integers each: 4, 5, 6 and 7.
    let ids = describe(&rest).features.remove(0);
    assert_eq!((ids.min, ids.max, ids.mean), (4.0, 7.0, 5.5));
}

/// Means and deviations over the rows to train on: 1 and 3, 10 and 30, all four of them.
#[test]
fn a_description_has_the_ranges_of_the_training_rows() {
    let mut set = in_parts();
    let ranges = |set: &Dataset| -> Vec<(String, [f64; 4])> {
        let features = describe(set).features.into_iter();
        let numbers = features.map(|range| {
            let ends = [range.min, range.max].map(f64::from);
            (range.name, [ends[0], ends[1], range.mean, range.deviation])
        });
        numbers.collect()
    };
    let squares = [10.0, 1.0, 8.0, 19.0].map(|x: f64| x * x);
    let deviation = (squares.iter().sum::<f64>() / 4.0).sqrt();
    let all = ("all pixels".to_owned(), [1.0, 30.0, 11.0, deviation]);
    assert_eq!(ranges(&set), [all]);
    set.info.features = vec!["a".to_owned(), "b".to_owned()];
    let columns = [
        ("a".to_owned(), [1.0, 3.0, 2.0, 1.0]),
        ("b".to_owned(), [10.0, 30.0, 20.0, 10.0]),
    ];
    assert_eq!(ranges(&set), columns);

    set.info.hash = 0x1234;
    let expected = "parts: samples of [2], 3 classes
source  memory
values  not standardised
hash    0000000000001234

class       train       val      test
0               1         0         0
1               0         0         1
2               1         1         0
total           2         1         1

feature        min        max       mean  deviation
a           1.0000     3.0000     2.0000     1.0000
b          10.0000    30.0000    20.0000    10.0000
";
    assert_eq!(describe(&set).to_string(), expected);
    // Names wider than the headings make their column wider.
    set.info.classes[2] = "long-name".to_owned();
    set.info.features[1] = "multiplicity".to_owned();
    let text = describe(&set).to_string();
    for line in [
        "class         train       val      test",
        "long-name         1         1         0",
        "feature             min        max       mean  deviation",
        "multiplicity    10.0000    30.0000    20.0000    10.0000",
    ] {
        assert!(text.lines().any(|other| other == line), "{text}");
    }
}
