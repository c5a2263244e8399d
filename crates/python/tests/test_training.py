"""Training, testing, searching, datasets: as `ch` does it, with progress, interruption and errors."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy
import pytest

import mase

FAST = {"max_epochs": 3, "batch_size": 256, "learning_rate": 1e-2}


def test_training_learns_and_leaves_the_files_of_ch(tiny, jets):
    before = mase.test(tiny, jets)
    seen = []
    run = mase.train(tiny, jets, progress=seen.append, **FAST)
    after = mase.test(tiny, jets)
    assert after["test_loss_epoch"] < before["test_loss_epoch"] and after["rows"] == 400
    assert [epoch.epoch for epoch in seen] == [1, 2, 3] == [epoch.epoch for epoch in run.epochs]
    assert run.ending == "done" and run.graph is tiny
    assert str(seen[0]).startswith("epoch 1/3: train_loss")
    assert run.val_loss_epoch == min(epoch.val_loss_epoch for epoch in seen)
    facts = json.loads((run.folder / "software/run.json").read_text())
    assert facts["ending"] == "done" and facts["config"]["batch_size"] == 256
    assert mase.load(run.folder) == tiny == mase.load(run.best)


def test_training_is_that_of_the_program(jets, own_folder):
    line = "train jsc-tiny jsc-sim --max-epochs 1 --batch-size 512 --learning-rate 1e-2 --project p --quiet"
    subprocess.run([sys.executable, "-m", "mase", *line.split()], check=True)
    graph, data = mase.model("jsc-tiny"), mase.dataset("jsc-sim")
    mase.train(graph, data, max_epochs=1, batch_size=512, learning_rate=1e-2)
    assert mase.load("mase_output/p") == graph


def test_an_exception_in_progress_ends_the_training(tiny, jets):
    def fail(epoch):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mase.train(tiny, jets, progress=fail, max_epochs=100_000, project="p")
    run = mase.train(tiny, jets, resume="mase_output/p", max_epochs=1)
    assert run.ending == "done"


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_the_training_and_keeps_a_checkpoint(tiny, jets, own_folder):
    # A shell that runs the tests behind it has Ctrl-C ignored, and Python with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        mase.train(tiny, jets, max_epochs=10_000_000, project="p")
    timer.join()
    assert (own_folder / "mase_output/p/software/training_ckpts/last.ckpt").exists()


def test_progress_true_prints(tiny, jets, capsys):
    mase.train(tiny, jets, progress=True, **FAST)
    assert capsys.readouterr().out.count("val_loss_epoch") == 3


def test_mistakes_are_named(tiny, jets):
    with pytest.raises(KeyError, match="did you mean 'learning_rate'"):
        mase.train(tiny, jets, lerning_rate=1)
    with pytest.raises(mase.Error, match="batch_size"):
        mase.train(tiny, jets, batch_size=0)
    with pytest.raises(TypeError, match="data: expected a mase.Dataset, got str"):
        mase.train(tiny, "jsc-sim")
    with pytest.raises(TypeError, match="progress: expected a function, True or None, got int"):
        mase.train(tiny, jets, progress=3)
    with pytest.raises(mase.Error, match="returns 5 values"):
        mase.train(tiny, mase.dataset(x=numpy.zeros((90, 16), numpy.float32), y=numpy.arange(90) % 9))
    with pytest.raises(mase.Error, match="split: 'tests'"):
        mase.test(tiny, jets, split="tests")


def test_notes_are_logged(jets, caplog):
    graph = mase.model("jsc-tiny")
    mase.train(graph, jets, max_epochs=1, batch_size=100_000)
    assert "larger than the 3200 training rows" in caplog.text


def test_datasets_of_arrays_are_split_by_the_seed():
    x = numpy.arange(1000, dtype=numpy.float32).reshape(1000, 1)
    y = numpy.arange(1000) % 3
    data = mase.dataset("mine", x=x, y=y, split=(0.5, 0.2, 0.3), seed=1)
    assert [len(part) for part in (data.train, data.val, data.test)] == [500, 200, 300]
    parts = [data.train, data.val, data.test]
    assert sorted(numpy.concatenate([part.x for part in parts]).ravel().tolist()) == x.ravel().tolist()
    for part in parts:
        assert numpy.array_equal(part.x.ravel() % 3, part.y)
        assert not part.x.flags.owndata and not part.x.flags.writeable
    again = pickle.loads(pickle.dumps(data))
    assert numpy.array_equal(again.val.x, data.val.x) and again.name == "mine"
    other = mase.dataset(x=x, y=y, seed=2)
    assert not numpy.array_equal(other.train.x[:500], data.train.x)
    with pytest.raises(mase.Error, match="has 3 rows, but y has 4"):
        mase.dataset(x=x[:3], y=y[:4])
    with pytest.raises(TypeError, match="both arrays"):
        mase.dataset(x=x)
    with pytest.raises(KeyError, match="did you mean 'jsc'"):
        mase.dataset("jcs")


def test_a_named_dataset_is_pickled_by_its_name():
    data = mase.dataset("jsc-sim", seed=3)
    pickled = pickle.dumps(data)
    assert len(pickled) < 1000
    assert numpy.array_equal(pickle.loads(pickled).test.x[:9], data.test.x[:9])


SEARCH = {
    "search_space": {
        "name": "graph/quantize/mixed_precision_ptq",
        "setup": {"by": "name"},
        "seed": {
            "default": {"config": {"name": ["NA"]}},
            "seq_blocks_2": {
                "config": {
                    "name": ["integer"],
                    "data_in_width": [4, 8],
                    "data_in_frac_width": [None],
                    "weight_width": [2, 4, 8],
                    "weight_frac_width": [None],
                    "bias_width": [2, 4, 8],
                    "bias_frac_width": [None],
                }
            },
        },
    },
    "strategy": {
        "name": "optuna",
        "eval_mode": True,
        "sw_runner": {"basic_evaluation": {"data_loader": "val_dataloader", "num_samples": 256}},
        "hw_runner": {"average_bitwidth": {"compare_to": 32}},
        "setup": {"n_jobs": 1, "n_trials": 20, "timeout": 200, "sampler": "tpe", "sum_scaled_metrics": False},
        "metrics": {
            "accuracy": {"scale": 1.0, "direction": "maximize"},
            "average_bitwidth": {"scale": 0.2, "direction": "minimize"},
        },
    },
}


def test_search_finds_a_front_and_its_graphs_load(tiny, jets):
    mase.train(tiny, jets, **FAST)
    trials = []
    found = mase.search(tiny, jets, SEARCH, n_trials=6, progress=trials.append)
    assert len(trials) == 6 == found.json["trials"]
    assert found.best and (found.folder / "software/search_ckpts/log.json").exists()
    graphs = sorted((found.folder / "software/search_ckpts/best").glob("*.mz"))
    assert mase.load(graphs[0])["seq_blocks_2"].formats
    with pytest.raises(mase.Error, match="did you mean 'tpe'"):
        mase.search(tiny, jets, SEARCH, sampler="tpee")
    with pytest.raises(mase.Error, match="search_space"):
        mase.search(tiny, jets, {})


def test_arrays_without_rows_and_shares_that_are_no_shares_are_named():
    x, y = numpy.zeros((8, 4), numpy.float32), numpy.zeros(8, numpy.int64)
    with pytest.raises(mase.Error, match="the arrays are empty; give at least one row"):
        mase.dataset(x=x[:0], y=y[:0])
    with pytest.raises(mase.Error, match=r"^split: \(0.5, 0.6\) is not the shares of training, validation and test rows"):
        mase.dataset(x=x, y=y, split=(0.5, 0.6))
