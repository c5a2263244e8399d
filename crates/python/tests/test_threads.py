"""Threads, forks, memory, and the package without what it does not need."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import mase


def test_the_lock_is_free_while_a_network_runs():
    graph = mase.model("jsc-s")
    x = numpy.zeros((300_000, 16), numpy.float32)
    graph(x[:10])
    ticks, running = [0], [True]

    def count():
        while running[0]:
            ticks[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    before = ticks[0]
    graph(x)
    during = ticks[0] - before
    running[0] = False
    thread.join()
    assert during > 2


def test_two_threads_on_one_graph_are_told_so():
    graph = mase.model("jsc-s")
    x = numpy.zeros((200_000, 16), numpy.float32)
    results = []

    def run(graph):
        try:
            results.append(graph(x).shape)
        except mase.Error as error:
            results.append(str(error))

    threads = [threading.Thread(target=run, args=(graph,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 4 and (200_000, 5) in results
    assert all(result == (200_000, 5) or "copy()" in result for result in results)
    results.clear()
    threads = [threading.Thread(target=run, args=(graph.copy(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [(200_000, 5)] * 4


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_a_run_of_one_row_that_would_take_minutes():
    wide = "conv2d({}) { in_channels = 128, out_channels = 128, kernel_size = 3, padding = 1 }"
    layers = "\n".join(f"c{k + 1} = {wide.replace('{}', f'c{k}', 1)}" for k in range(200))
    graph = mase.Graph(f'graph "wide" {{ c0: f32[N, 128, 256, 256] = placeholder\n{layers}\nreturn c200 }}')
    graph.initialize()
    # A shell that runs the tests behind it has Ctrl-C ignored, and Python with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        graph(numpy.zeros((1, 128, 256, 256), numpy.float32))
    timer.join()


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")


def in_child(work):
    """The truth of what `work` gives in a child of this process, which must end by itself."""
    child = os.fork()
    if child == 0:
        passed = False
        try:
            passed = bool(work())
        finally:
            os._exit(0 if passed else 1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


@forks
def test_a_fork_after_the_threads_started_runs_on(tiny, rows):
    expected = tiny.run(rows, threads=2)
    assert in_child(lambda: numpy.array_equal(tiny.run(rows, threads=2), expected))


@forks
def test_a_fork_whenever_the_threads_fall_asleep_frees_and_runs_graphs():
    x = numpy.random.default_rng(0).standard_normal((4096, 16)).astype(numpy.float32)
    expected = mase.model("jsc-tiny")(x)

    def work():
        nonlocal graph
        same = numpy.array_equal(graph.run(x, threads=2), expected)
        graph = None
        other.run(x, threads=3)
        return same

    for pause in range(30):
        graph, other = mase.model("jsc-tiny"), mase.model("jsc-tiny")
        other.run(x, threads=2)
        graph.run(x, threads=2)
        until = time.perf_counter() + pause * 4e-6
        while time.perf_counter() < until:
            pass
        assert in_child(work)


@forks
def test_a_fork_while_another_thread_runs_a_network():
    graph, running = mase.model("jsc-s"), [True]
    x = numpy.random.default_rng(0).standard_normal((50_000, 16)).astype(numpy.float32)
    expected, mine = graph.run(x, threads=2), graph.copy()

    def run():
        while running[0]:
            graph.run(x, threads=2)

    def work():
        same = numpy.array_equal(mine.run(x, threads=2), expected)
        try:
            return same and numpy.array_equal(graph.run(x, threads=2), expected)
        except mase.Error as error:
            return same and "copy()" in str(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert all(in_child(work) for _ in range(5))
    finally:
        running[0] = False
        thread.join()


def test_ten_thousand_graphs_leave_no_memory():
    resource = pytest.importorskip("resource")

    def make(count):
        for _ in range(count):
            graph = mase.model("jsc-tiny")
            graph.parameters()
            graph["seq_blocks_2"].formats["weight"] = "integer(8, 4)"
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = make(2000)
    assert make(8000) < first * 1.05 + 2000


def test_importing_needs_no_torch():
    code = "import sys, mase; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_torch_the_modules_of_torch_say_so():
    if importlib.util.find_spec("torch"):
        pytest.skip("PyTorch is there")
    with pytest.raises(ModuleNotFoundError, match="mase.torch needs PyTorch 2.6 or later; pip install"):
        importlib.import_module("mase.torch")


def test_stubs_match_the_module():
    pytest.importorskip("mypy")
    line = [sys.executable, "-m", "mypy.stubtest", "mase._core"]
    checked = subprocess.run(line, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_the_program_is_in_the_package():
    shown = subprocess.run([sys.executable, "-m", "mase", "format", "integer(8, 4)", "1.97"], capture_output=True, text=True)
    assert shown.returncode == 0 and "00100000" in shown.stdout
    failed = subprocess.run([sys.executable, "-m", "mase", "show", "jsc-tinny"], capture_output=True, text=True)
    assert failed.returncode == 2 and "did you mean 'jsc-tiny'" in failed.stderr
