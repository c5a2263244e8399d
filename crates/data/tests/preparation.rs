//! Preparations that checkpoints hold, sound and not, and what is told of a dataset.

use data::{Dataset, PREPARATION, Preparation, Rows, Scaling, SplitName, Standardizer};
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
