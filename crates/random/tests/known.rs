//! Numbers that never change, because results of earlier runs are reproduced by their seeds. All but Sobol's were computed from
//! the definitions in Python.

use random::{Draws, Permutation, Random, Sobol};

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-6, "{left} is not {right}");
}

#[test]
fn streams() {
    let random = Random::new(7, "weight");
    assert_eq!(random.bits(0), 0x432e_5c36_a3d1_7bb6);
    assert_eq!(random.bits(1), 0xc3ce_a8b7_1739_e260);
    assert_eq!(random.at(3).bits(2), 0x95d4_9516_818a_54d1);
    let uniform = [0.262_426_14, 0.764_872_1, 0.060_214_4];
    let normal = [-1.043_316_752_632, 0.616_404_793_043, 2.201_606_015_102];
    for k in 0..3 {
        close(random.uniform(k as u64).into(), uniform[k]);
        close(random.normal(k as u64).into(), normal[k]);
    }
}

#[test]
fn draws() {
    let start = || Draws::new(Random::new(7, "weight"));
    let mut draws = start();
    assert_eq!(
        [(); 3].map(|()| draws.uniform()),
        [0.2624261506460409, 0.764872116756329, 0.06021445080161647]
    );
    let mut draws = start();
    assert_eq!([(); 6].map(|()| draws.below(10)), [2, 7, 0, 6, 9, 1]);
    // To the bit: the middle of a step of 2^-53, by polynomials alone.
    let mut draws = start();
    assert_eq!(
        [(); 3].map(|()| draws.normal()),
        [-0.6358835871676071, 0.72206296468846, -1.5529758609997282]
    );
}

#[test]
fn orders() {
    let order = Permutation::new(Random::new(5, "order"), 10);
    assert_eq!(order.size(), 10);
    let numbers: Vec<u64> = (0..10).map(|k| order.at(k)).collect();
    assert_eq!(numbers, [3, 9, 7, 4, 1, 8, 5, 0, 6, 2]);
}

/// The 16 leading bits of some elements on every axis.
#[test]
fn sequences() {
    let sobol = Sobol::new(12, Random::new(1, "sequence"));
    let element = |index: u32| -> Vec<u32> {
        (0..12)
            .map(|axis| (sobol.at(index, axis) * 65536.0) as u32)
            .collect()
    };
    assert_eq!(
        element(0),
        [
            24201, 51625, 25632, 12050, 65290, 37039, 36451, 9638, 19904, 13298, 29646, 49616
        ]
    );
    assert_eq!(
        element(1),
        [
            58503, 6322, 54417, 36279, 15458, 28068, 29006, 34558, 61942, 38861, 49551, 4750
        ]
    );
    assert_eq!(
        element(1000),
        [
            20309, 64078, 47191, 152, 53610, 23803, 34967, 7917, 25730, 8849, 20415, 61068
        ]
    );
    assert_eq!(
        element(3_000_000_000),
        [
            24290, 55361, 60667, 28432, 18354, 35795, 38274, 56368, 24091, 46641, 48265, 41780
        ]
    );
}
