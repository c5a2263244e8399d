//! The memory that a user grants holds for every file of the process, so this test has a process of its own.

use interop::Budget;

#[test]
fn a_grant_raises_what_small_files_may_take() {
    assert_eq!(Budget::of_size(10).max(), 256_000_000);
    Budget::grant(1_000_000_000);
    assert_eq!(Budget::of_size(10).max(), 1_000_000_000);
    assert_eq!(Budget::of_size(1_000_000_000).max(), 16_000_000_000);
    Budget::grant(5);
    assert_eq!(Budget::of_size(10).max(), 256_000_000);
}
