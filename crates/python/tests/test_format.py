"""Formats: rounding, codes, tables, gradients."""

import pickle

import numpy
import pytest

import mase

SPECS = ["integer(8, 4)", "minifloat_ieee(8, 4)", "mxint(8)", "block_fp(8, 8, block_size = 16)", "log(8)", "binary(bipolar = true)"]


def usable():
    return [mase.Format(spec) for spec in SPECS]


def values():
    return (numpy.random.default_rng(0).standard_normal((33, 48)) * 3).astype(numpy.float32)


@pytest.mark.parametrize("format", usable(), ids=str)
def test_rounding_in_place_is_rounding(format):
    x = values()
    rounded = format.quantize(x)
    assert not numpy.array_equal(rounded, x)
    assert numpy.array_equal(format.quantize(numpy.asfortranarray(x)), rounded)
    out = numpy.empty_like(x)
    assert format.quantize(x, out=out) is not None and numpy.array_equal(out, rounded)
    assert format.quantize(x, out=x) is x and numpy.array_equal(x, rounded)


@pytest.mark.parametrize("format", usable(), ids=str)
def test_codes_decode_to_the_rounded_values(format):
    x = values()
    codes = format.encode(x)
    assert numpy.array_equal(format.decode(codes), format.quantize(x))
    assert codes.codes.shape == x.shape and int(codes.codes.max()) < 2**codes.width
    assert len(codes.bits) == -(-x.size * codes.width // 8)


@pytest.mark.parametrize(
    ("spec", "apart"),
    [("integer(8, 4)", True), ("block_fp(8, 8, block_size = 16)", True), ("block_fp(8, 8, block_size = [4, 8])", False), ("scale_integer(8)", False)],
)
def test_large_arrays_are_rounded_in_pieces_to_the_same_numbers(spec, apart):
    format = mase.Format(spec)
    x = (numpy.random.default_rng(1).standard_normal((9, 1_000_001)) * 3).astype(numpy.float32)
    x[4] *= 40
    rounded = format.quantize(x)
    assert numpy.array_equal(format.decode(format.encode(x)), rounded)
    by_row = numpy.concatenate([format.quantize(x[at : at + 1]) for at in range(9)])
    assert numpy.array_equal(rounded, by_row) == apart
    gradient = format.gradient(x, numpy.ones_like(x))
    rows = [format.gradient(x[at : at + 1], numpy.ones_like(x[:1])) for at in range(9)]
    assert numpy.array_equal(gradient, numpy.concatenate(rows)) or not apart
    assert numpy.array_equal(format.quantize(x, out=x), rounded)


def test_integer_is_what_the_book_says():
    format = mase.Format("integer(8, 4)")
    assert format.quantize(numpy.float32([0.03125, 1.97, 8])).tolist() == [0, 2, 7.9375]
    assert (format.name, format.range, format.precision) == ("integer", (-8.0, 7.9375), [8, 4])
    assert len(format.table()) == 256 and format.table()[1] == (1, 0.0625)
    assert format.fields["width"] == 8 and format.bits() == 8


def test_the_gradient_is_zero_where_it_saturates():
    format = mase.Format("integer(8, 4)")
    x = numpy.float32([-9, 0.3, 7.9, 8.5])
    assert format.gradient(x, numpy.float32([1, 2, 3, 4])).tolist() == [0, 2, 3, 0]


def test_formats_are_values():
    a, b = mase.Format("integer(8,4)"), mase.Format("integer(width = 8, frac_width = 4)")
    assert a == b and hash(a) == hash(b) and str(a) == "integer(8, 4)"
    assert pickle.loads(pickle.dumps(a)) == a and a != mase.Format("integer(8, 5)")


def test_mistakes_are_sentences():
    with pytest.raises(KeyError, match="did you mean 'integer'"):
        mase.Format("integr(8, 4)")
    with pytest.raises(TypeError):
        mase.Format(8)
    x = values()
    with pytest.raises(mase.Error, match="row-major"):
        mase.Format("integer(8, 4)").quantize(x, out=x[:, ::2])
    with pytest.raises(mase.Error, match="shape of x"):
        mase.Format("integer(8, 4)").quantize(x, out=x[:3].copy())
    fixed = x.copy()
    fixed.setflags(write=False)
    with pytest.raises(mase.Error, match="out: the array is read-only"):
        mase.Format("integer(8, 4)").quantize(x, out=fixed)
    with pytest.raises(mase.Error, match="out: the array has memory in common"):
        mase.Format("integer(8, 4)").quantize(x[:4], out=x[2:6])
    with pytest.raises(mase.Error, match="not aligned"):
        mase.Format("integer(8, 4)").quantize(x, out=numpy.zeros(x.nbytes + 1, numpy.uint8)[1:].view(numpy.float32).reshape(x.shape))
    with pytest.raises(mase.Error, match="more than 8 bits"):
        mase.Format("integer(16, 4)").table()
    with pytest.raises(mase.Error, match="nan"):
        mase.Format("integer(8, 4)").encode(numpy.float32([numpy.nan]))
    with pytest.raises(mase.Error, match="codes: they have 8 bits"):
        mase.Format("integer(6, 4)").decode(mase.Format("integer(8, 4)").encode(x))


def test_every_listed_word_is_explained():
    for name in mase.formats() + mase.ops() + mase.passes():
        assert name in mase.explain(name)
