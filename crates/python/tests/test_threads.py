"""Threads, forks, memory, and the package without what it does not need."""

import os
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_after_the_threads_started_runs_on(tiny, rows):
    expected = tiny.run(rows, threads=2)
    child = os.fork()
    if child == 0:
        os._exit(0 if numpy.array_equal(tiny.run(rows, threads=2), expected) else 1)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        pytest.fail("the child hangs")
    assert status == 0


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
