//! Runs that are profiled.

use crate::{Folder, config, network, train, train_on};
use engine::Subject;
use std::time::Duration;
use train::FitConfig;

#[test]
fn a_profiled_run_has_the_same_bits_and_counts_all_batches() {
    for accumulate in [1, 3] {
        let folder = Folder::new(&format!("profiled-{accumulate}"));
        let config = FitConfig {
            accumulate,
            ..config(&folder.0)
        };
        let (plain, expected) = train(&config, 1, None);
        let mut network = network(2);
        network.start_profile();
        let (outcome, got) = train_on(&mut network, &config, None);
        assert_eq!(got, expected);
        let profile = network.take_profile().unwrap();
        let batches = 3 * 250_u64.div_ceil(32);
        assert_eq!(profile.batches, batches);
        assert_eq!((outcome.steps, outcome.epochs), (plain.steps, 3));
        let rows: Duration = profile.rows.iter().map(|row| row.total).sum();
        assert_eq!(rows, profile.total);
        let traced = profile.events.iter().map(|event| event.batch);
        assert!(traced.max() < Some(batches) && traced_data(&profile));
    }
}

/// True when the order of rows and their copies are among the events.
fn traced_data(profile: &engine::Profile) -> bool {
    let mut events = profile.events.iter();
    events.any(|event| profile.row_of(event).subject == Subject::Data)
}
