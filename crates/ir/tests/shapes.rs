//! Shapes that operators make, held against what is known of them apart from the code: the same elements stay, indices are
//! those of Python, windows are counted one by one.

use ir::ops::reshape::{AxisSize, Reshape};
use ir::ops::roll::Roll;
use ir::ops::upsample::{Upsample, UpsampleMode};
use ir::{Dim, Op, Operator, Shape, Type};
use serde_json::{Map, Value as Json, json};

/// The first result's shape of an operator on inputs of these shapes.
fn infer(name: &str, attributes: Json, shapes: &[&str]) -> Result<String, String> {
    let attributes: Map<String, Json> = serde_json::from_value(attributes).expect("an object");
    let op = Op::from_attributes(name, attributes).expect("a known operator");
    let op = op.map_err(|error| error.to_string())?;
    let inputs: Vec<Type> = shapes
        .iter()
        .map(|shape| Type::f32(parsed(shape)))
        .collect();
    let results = op.infer(&inputs).map_err(|error| error.to_string())?;
    Ok(results[0].shape.to_string())
}

/// A shape from its sizes, `N, 12`.
fn parsed(sizes: &str) -> Shape {
    let dims = sizes.split(',').map(|size| size.trim().parse::<Dim>());
    Shape(dims.collect::<Result<_, _>>().expect("sizes"))
}

/// −1 stands for the rest only where the rest is a size for every batch.
#[test]
fn a_reshape_keeps_the_number_of_elements() {
    let sizes = ["-1", "0", "1", "2", "3", "5", "12", "N", "2*N", "M", "3*M"];
    let inputs = ["12", "N, 12", "4*N, 3", "M, 2", "1"];
    let axis = |size: &&str| match *size {
        "-1" => AxisSize::Infer,
        size => AxisSize::Dim(size.parse().expect("a size")),
    };
    let (mut taken, mut refused) = (0, 0);
    for input in inputs {
        let input = parsed(input);
        for first in &sizes {
            for second in &sizes {
                let reshape = Op::from(Reshape {
                    shape: [first, second].map(axis).to_vec(),
                });
                let given = [first, second].map(|size| size.parse::<Dim>().ok());
                let total = input.numel().expect("a small shape");
                let Ok(results) = reshape.infer(&[Type::f32(input.clone())]) else {
                    // No size from 1 to 24, plain or of a symbol, would have made it right.
                    let candidates = (1..=24).flat_map(|n| {
                        [format!("{n}"), format!("{n}*N"), format!("{n}*M")]
                            .map(|size| size.parse::<Dim>().expect("a size"))
                    });
                    let fits = |rest: Dim| {
                        let dims = given.clone().map(|size| size.unwrap_or(rest.clone()));
                        Shape(dims.to_vec()).numel().is_ok_and(|n| n == total)
                    };
                    let n_open = given.iter().filter(|size| size.is_none()).count();
                    assert!(
                        n_open == 2 || !candidates.into_iter().any(fits),
                        "{input} as {first}, {second}"
                    );
                    refused += 1;
                    continue;
                };
                let shape = &results[0].shape;
                assert_eq!(shape.numel().as_ref(), Ok(&total), "{input} as {shape}");
                for (dim, given) in shape.0.iter().zip(given) {
                    assert!(given.is_none_or(|given| given == *dim), "{shape}");
                }
                taken += 1;
            }
        }
    }
    assert!(taken > 40 && refused > 300, "{taken} {refused}");
}

/// The beginning and the length of Python's `range(n)[a:b]`.
fn python_slice(size: i64, start: Option<i64>, end: Option<i64>) -> (i64, i64) {
    let place = |at: i64| {
        if at < 0 {
            (at + size).max(0)
        } else {
            at.min(size)
        }
    };
    let (start, end) = (start.map_or(0, place), end.map_or(size, place));
    (start, (end - start).max(0))
}

#[test]
fn slices_are_those_of_python() {
    let size = 5;
    let ends: Vec<Option<i64>> = (-7..=7).map(Some).chain([None]).collect();
    let shown = |end: Option<i64>| end.map_or(String::new(), |end| end.to_string());
    for start in &ends {
        for end in &ends {
            for step in ["", ":", ":1"] {
                let index = format!(":, {}:{}{step}", shown(*start), shown(*end));
                let item = ir::ops::getitem::Getitem {
                    index: index.clone(),
                };
                let parsed = item.parsed(&parsed("N, 5"));
                let (first, len) = python_slice(size, *start, *end);
                if len == 0 {
                    let error = parsed.expect_err(&index).to_string();
                    assert!(error.contains("takes nothing"), "{index}: {error}");
                    continue;
                }
                let slice = &parsed.expect(&index)[1];
                assert_eq!(slice.start as i64, first, "{index}");
                assert_eq!(slice.len, Dim::from(len as usize), "{index}");
                assert!(slice.keep, "{index}");
            }
        }
    }
    for at in -7..=7_i64 {
        let item = ir::ops::getitem::Getitem {
            index: format!(":, {at}"),
        };
        match item.parsed(&parsed("N, 5")) {
            Ok(slices) => {
                assert_eq!(slices[1].start as i64, at.rem_euclid(size), "{at}");
                assert!(!slices[1].keep && slices[0].keep);
                assert!((-size..size).contains(&at), "{at}");
            }
            Err(_) => assert!(!(-size..size).contains(&at), "{at}"),
        }
    }
    for index in [
        ":, ::0", ":, ::-1", "::2", ":, a", ":, 1:b", ":, ", "0", "1:", ":, 0, 0",
    ] {
        let found = infer("getitem", json!({ "index": index }), &["N, 5"]);
        assert!(found.is_err(), "{index}: {found:?}");
    }
}

/// Windows that lie wholly on the padded axis, laid out one by one.
fn count_windows(
    size: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
) -> usize {
    let last = |window: usize| window * stride + (kernel - 1) * dilation;
    (0..100)
        .take_while(|&window| last(window) < size + 2 * padding)
        .count()
}

#[test]
fn windows_are_as_many_as_fit() {
    for size in [1, 4, 7, 10] {
        for kernel in 1..5 {
            for stride in 1..4 {
                for padding in 0..3 {
                    for dilation in 1..4 {
                        let attributes = json!({
                            "in_channels": 2, "out_channels": 3, "kernel_size": kernel,
                            "stride": stride, "padding": padding, "dilation": dilation,
                        });
                        let found = infer("conv1d", attributes, &[&format!("N, 2, {size}")]);
                        let count = count_windows(size, kernel, stride, padding, dilation);
                        let expected = (count > 0).then(|| format!("[N, 3, {count}]"));
                        assert_eq!(found.ok(), expected, "{size} {kernel} {stride} {padding}");
                    }
                }
            }
        }
    }
}

/// Every padding that PyTorch takes for a pool: at most half of the window.
#[test]
fn a_pool_window_holds_something_of_the_input() {
    for name in ["max_pool1d", "avg_pool1d"] {
        for kernel in 1..6 {
            for padding in 0..5 {
                let attributes = json!({ "kernel_size": kernel, "padding": padding });
                let found = infer(name, attributes, &["N, 2, 9"]);
                assert_eq!(
                    found.is_ok(),
                    padding <= kernel / 2,
                    "{name} {kernel} {padding}"
                );
            }
        }
    }
}

#[test]
fn attributes_that_count_are_at_least_one() {
    let conv = |name: &str, value: usize| {
        let mut attributes = json!({ "in_channels": 2, "out_channels": 2, "kernel_size": 1 });
        attributes[name] = json!(value);
        infer("conv1d", attributes, &["N, 2, 9"])
    };
    for name in [
        "in_channels",
        "out_channels",
        "kernel_size",
        "stride",
        "dilation",
        "groups",
    ] {
        let error = conv(name, 0).expect_err(name);
        assert!(error.contains("must be at least 1"), "{error}");
        assert_eq!(conv(name, 1).is_ok(), name != "in_channels", "{name}");
    }
    assert!(infer("chunk", json!({ "chunks": 0, "dim": 1 }), &["N, 4"]).is_err());
}

/// Space must be known, so that windows can be laid out: of the axes only the batch is a symbol.
#[test]
fn only_the_batch_of_an_image_is_a_symbol() {
    let pool = |shape: &str| infer("max_pool2d", json!({ "kernel_size": 1 }), &[shape]);
    assert_eq!(pool("N, 2, 3, 4"), Ok("[N, 2, 3, 4]".to_owned()));
    for shape in [
        "N, 2, 3",
        "N, N, 3, 4",
        "N, 2, N, 4",
        "N, 2, 3, N",
        "N, 2, 0, 4",
        "1, N, 2, 3, 4",
    ] {
        let error = pool(shape).expect_err(shape);
        assert!(
            error.contains("f32[N, C, H, W] with sizes for all but N"),
            "{error}"
        );
    }
    let line = infer("max_pool1d", json!({ "kernel_size": 1 }), &["N, 2"]);
    assert!(line.is_err_and(|error| error.contains("f32[N, C, L] with sizes")));
}

/// `torch.chunk` on an axis of every size, by its own rule: pieces of ⌈n/chunks⌉, the last with the rest.
#[test]
fn chunks_are_those_of_pytorch() {
    for size in 1..12_usize {
        for chunks in 1..9 {
            let op = Op::from(ir::ops::cat::Chunk { chunks, dim: -1 });
            let input = Type::f32(Shape(vec![Dim::symbol("N"), size.into()]));
            let results = op.infer(&[input]).expect("a size");
            let sizes: Vec<usize> = results
                .iter()
                .filter_map(|ty| ty.shape.0[1].fixed())
                .collect();
            assert_eq!(sizes.iter().sum::<usize>(), size);
            assert!(sizes.len() <= chunks);
            let (last, whole) = sizes.split_last().expect("a piece");
            let piece = (1..=size)
                .find(|piece| piece * chunks >= size)
                .expect("a piece");
            assert!(
                whole.iter().all(|&n| n == piece) && (1..=piece).contains(last),
                "{sizes:?}"
            );
        }
    }
    let many = |size: usize, chunks: usize| {
        infer(
            "chunk",
            json!({ "chunks": chunks, "dim": 1 }),
            &[&format!("N, {size}")],
        )
    };
    assert!(many(65_535, 65_535).is_ok());
    assert!(many(65_536, 65_536).is_err());
}

/// `PyTorch` divides by the padding too, unless the window may reach beyond it.
#[test]
fn a_mean_with_a_ceiling_counts_no_padding() {
    for (padding, ceil_mode, count_include_pad) in [
        (0, true, true),
        (1, false, true),
        (1, true, false),
        (0, true, false),
        (1, true, true),
    ] {
        let attributes = json!({
            "kernel_size": 3, "padding": padding, "ceil_mode": ceil_mode, "count_include_pad": count_include_pad,
        });
        let is_refused = padding == 1 && ceil_mode && count_include_pad;
        for (name, shape) in [("avg_pool1d", "N, 2, 9"), ("avg_pool2d", "N, 2, 9, 9")] {
            let found = infer(name, attributes.clone(), &[shape]);
            assert_eq!(found.is_err(), is_refused, "{name} {attributes}");
        }
    }
}

/// Heads of q in groups of the same size, each with a head of k and v: their numbers divide and have one symbol.
#[test]
fn heads_share_keys_in_groups() {
    let cases = [
        ("N, 4, 3, 2", "N, 4, 5, 2", true, true),
        ("N, 4, 3, 2", "N, 2, 5, 2", true, false),
        ("N, 4, 3, 2", "N, 1, 5, 2", true, false),
        ("N, 4, 3, 2", "N, 3, 5, 2", false, false),
        ("N, 4, 3, 2", "N, 8, 5, 2", false, false),
        ("4*N, 3, 2", "2*N, 5, 2", true, false),
        ("4, 3, 2", "2*N, 5, 2", false, false),
        ("4*N, 3, 2", "2, 5, 2", false, false),
    ];
    for (q, k, in_groups, alone) in cases {
        for (enable_gqa, fits) in [(true, in_groups), (false, alone)] {
            let attributes = json!({ "enable_gqa": enable_gqa });
            let found = infer("scaled_dot_product_attention", attributes, &[q, k, k]);
            assert_eq!(found.is_ok(), fits, "{q} and {k}: {found:?}");
            assert!(
                !fits || found.as_deref() == Ok(&format!("[{q}]")),
                "{found:?}"
            );
        }
    }
}

/// A row-major array of these sizes read at the places that `sources` gives each axis.
fn read_at(values: &[i64], sizes: [usize; 2], sources: &[Vec<Option<usize>>]) -> Vec<i64> {
    let rows = sources[0].iter().flatten();
    rows.flat_map(|row| {
        let columns = sources[1].iter().flatten();
        columns.map(move |column| values[row * sizes[1] + column])
    })
    .collect()
}

/// The example of `torch.roll`'s page, and every shift of five elements by steps of one.
#[test]
fn rolled_elements_come_in_at_the_other_end() {
    let values: Vec<i64> = (1..=8).collect();
    let rolled = |shifts: &[i64], dims: &[i64]| {
        let roll = Roll {
            shifts: shifts.to_vec(),
            dims: dims.to_vec(),
        };
        read_at(&values, [4, 2], &roll.sources(&[4, 2]))
    };
    assert_eq!(rolled(&[1], &[0]), [7, 8, 1, 2, 3, 4, 5, 6]);
    assert_eq!(rolled(&[-1], &[0]), [3, 4, 5, 6, 7, 8, 1, 2]);
    assert_eq!(rolled(&[2, 1], &[0, 1]), [6, 5, 8, 7, 2, 1, 4, 3]);
    // An axis named twice moves by both.
    assert_eq!(rolled(&[3, -2], &[0, -2]), rolled(&[1], &[0]));
    assert_eq!(rolled(&[i64::MIN, i64::MAX], &[0, 0]), rolled(&[-1], &[0]));
    for shift in -12..=12_i64 {
        let mut expected = vec![0, 1, 2, 3, 4];
        for _ in 0..shift.rem_euclid(5) {
            let last = expected.pop().expect("five elements");
            expected.insert(0, last);
        }
        let roll = Roll {
            shifts: vec![shift],
            dims: vec![0],
        };
        let [sources] = roll.sources(&[5]).try_into().expect("one axis");
        let found: Vec<usize> = sources.into_iter().flatten().collect();
        assert_eq!(found, expected, "{shift}");
    }
}

/// Pixel i of the result is the last one whose left edge i/out does not lie before: `⌊i·in/out⌋`.
#[test]
fn nearest_pixels_are_those_of_pytorch() {
    let upsample = Upsample {
        output_size: [4, 7],
        mode: UpsampleMode::Nearest,
        align_corners: false,
    };
    let sources = upsample.sources(&[2, 3, 5, 3]);
    let found: Vec<Vec<usize>> = sources
        .into_iter()
        .map(|axis| axis.into_iter().flatten().collect())
        .collect();
    let expected: [&[usize]; 4] = [&[0, 1], &[0, 1, 2], &[0, 1, 2, 3], &[0, 0, 0, 1, 1, 2, 2]];
    assert_eq!(found, expected);
}

/// The rows [1, 2] and [1, 2, 0] of the examples on `torch.nn.Upsample`'s page, and sizes that shrink to the mean of the
/// two in the middle.
#[test]
fn blended_pixels_are_those_of_pytorch() {
    let cases: [(&[f32], bool, &[f32]); 9] = [
        (&[1.0, 2.0], false, &[1.0, 1.25, 1.75, 2.0]),
        (&[1.0, 2.0], true, &[1.0, 1.3333, 1.6667, 2.0]),
        (&[1.0, 2.0, 0.0], false, &[1.0, 1.25, 1.75, 1.5, 0.5, 0.0]),
        (&[1.0, 2.0, 0.0], true, &[1.0, 1.4, 1.8, 1.6, 0.8, 0.0]),
        (&[1.0, 2.0, 4.0, 8.0], false, &[1.5, 6.0]),
        (&[1.0, 2.0, 4.0, 8.0], false, &[3.0]),
        (&[1.0, 2.0, 4.0, 8.0], true, &[1.0, 8.0]),
        (&[1.0, 2.0, 4.0, 8.0], true, &[1.0]),
        (&[3.0], true, &[3.0, 3.0, 3.0]),
    ];
    for (row, align_corners, expected) in cases {
        for axis in [0, 1] {
            let mut output_size = [99, 99];
            output_size[axis] = expected.len();
            let upsample = Upsample {
                output_size,
                mode: UpsampleMode::Bilinear,
                align_corners,
            };
            let blends = upsample.blends(axis, row.len());
            assert_eq!(blends.len(), expected.len());
            for (blend, expected) in blends.into_iter().zip(expected) {
                let (low, high) = (row[blend.low], row[blend.high]);
                let found = low + blend.weight * (high - low);
                assert!(
                    (found - expected).abs() < 1e-4,
                    "{row:?} {align_corners}: {found} for {expected}"
                );
                assert!((0.0..1.0).contains(&blend.weight));
            }
        }
    }
}
