"""Arrays in any order, of any stride and type: the right numbers, or one sentence."""

import tracemalloc

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mase

RELU = mase.Graph('graph "g" { x: f32[N, 6, 6] = placeholder\n a = relu(x)\n return a }')


@st.composite
def arrays(draw):
    rows = draw(st.integers(1, 5))
    kind = draw(st.sampled_from([numpy.float32, numpy.float16, numpy.bool_, numpy.int8]))
    seed = draw(st.integers(0, 2**31))
    values = numpy.random.default_rng(seed).integers(-3, 4, (2 * rows, 12, 12)).astype(kind)
    view = values[:: draw(st.sampled_from([2, -2])), :: draw(st.sampled_from([2, -2])), ::2]
    if draw(st.booleans()):
        view = view.transpose(0, 2, 1)
    if draw(st.booleans()):
        view = numpy.asfortranarray(view)
    return view


@settings(max_examples=60, deadline=None)
@given(arrays())
def test_any_order_and_stride_gives_the_same_numbers(x):
    assert numpy.array_equal(RELU(x), numpy.maximum(x.astype(numpy.float32), 0))


def test_a_square_transposed_matrix_is_not_read_as_it_lies():
    graph = mase.Graph('graph "g" { x: f32[N, 4] = placeholder\n a = relu(x)\n return a }')
    x = numpy.arange(16, dtype=numpy.float32).reshape(4, 4)
    assert numpy.array_equal(graph(x.T), x.T)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 7), st.sampled_from(["<f4", ">f4", "<f2", ">i2"]), st.integers(0, 2**31))
def test_any_address_and_byte_order_gives_the_same_numbers(offset, kind, seed):
    x = numpy.random.default_rng(seed).integers(-3, 4, (3, 6, 6)).astype(kind)
    memory = numpy.frombuffer(bytes(offset) + x.tobytes(), numpy.uint8)
    moved = memory[offset:].view(kind).reshape(x.shape)
    assert numpy.array_equal(RELU(moved), numpy.maximum(x.astype(numpy.float32), 0))


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        (numpy.zeros((2, 16)), TypeError, "x: expected an array of float32, got float64"),
        (numpy.zeros((2, 16), object), TypeError, "x: expected an array of float32, got object"),
        (numpy.zeros((2, 16), numpy.int64), TypeError, "int64"),
        (numpy.zeros(16, numpy.float32), mase.Error, r"expected the shape \(N, 16\), got \(16,\)"),
        (numpy.zeros((2, 15), numpy.float32), mase.Error, r"got \(2, 15\)"),
        (numpy.zeros((0, 16), numpy.float32), mase.Error, "the batch is empty"),
        ("rows", TypeError, "x: expected an array of float32"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(tiny, x, error, words):
    with pytest.raises(error, match=words) as caught:
        tiny(x)
    assert "\n" not in str(caught.value)


def test_nan_stays_nan(tiny, rows):
    rows[0] = numpy.nan
    assert numpy.isfinite(tiny(rows)[1:]).all()
    assert not numpy.isfinite(RELU(numpy.full((1, 6, 6), numpy.nan, numpy.float32))).any()


def test_the_wrong_number_of_inputs_names_them(tiny, rows):
    with pytest.raises(TypeError, match="x is missing"):
        tiny()
    with pytest.raises(TypeError, match="takes x, got 2"):
        tiny(rows, rows)


def test_a_row_does_not_depend_on_its_batch(tiny):
    x = numpy.random.default_rng(1).standard_normal((5000, 16)).astype(numpy.float32)
    whole = tiny(x)
    assert numpy.array_equal(whole[1020:1030], tiny(x[1020:1030]))
    assert numpy.array_equal(whole, tiny.run(x, threads=2))


def test_a_contiguous_input_is_not_copied(tiny):
    x = numpy.zeros((400_000, 16), numpy.float32)
    tiny(x[:10])
    tracemalloc.start()
    result = tiny(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < x.nbytes / 4 and result.shape == (400_000, 5)


def test_what_is_no_array_is_named(tiny):
    with pytest.raises(TypeError, match="^x: expected an array of float32: .*inhomogeneous"):
        tiny([[1.0], [1.0, 2.0]])
    with pytest.raises(TypeError, match="^x: expected an array of float32, got <U1$"):
        tiny("x")
