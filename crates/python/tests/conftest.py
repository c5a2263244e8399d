"""Every test runs in a folder of its own."""

import copy

import numpy
import pytest

import mase

QUANTIZE = {
    "by": "type",
    "linear": {
        "config": {
            "name": "integer",
            "data_in_width": 8,
            "data_in_frac_width": 4,
            "weight_width": 8,
            "weight_frac_width": 4,
            "bias_width": 8,
            "bias_frac_width": 4,
        }
    },
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def quantize():
    return copy.deepcopy(QUANTIZE)


@pytest.fixture
def tiny():
    return mase.model("jsc-tiny")


@pytest.fixture
def rows():
    random = numpy.random.default_rng(0)
    return random.standard_normal((12, 16)).astype(numpy.float32)


@pytest.fixture(scope="session")
def jets():
    data = mase.dataset("jsc-sim")
    return mase.dataset("jets", x=data.test.x[:4000], y=data.test.y[:4000])
