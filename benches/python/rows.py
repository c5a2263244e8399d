"""What Python costs: a network on many rows through `mase` and through `ch`, and the overhead of one call.

    python benches/python/rows.py [CH]

CH is the program, `ch` of the path unless given; both sides must be release builds of the same version. Each side reads the rows
from a file, runs them on one thread and writes the results; what is counted is the processor time of both, interleaved, the best of
several turns. A Python's own start is not counted, the program's is.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

import mase

ROWS, TURNS, CALLS = 1_000_000, 9, 20_000


def seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def through_python(graph: mase.Graph, folder: Path) -> float:
    start = seconds(resource.RUSAGE_SELF)
    numpy.save(folder / "python.npy", graph.run(numpy.load(folder / "x.npy")))
    return seconds(resource.RUSAGE_SELF) - start


def through_program(program: str, folder: Path) -> float:
    start = seconds(resource.RUSAGE_CHILDREN)
    command = [program, "predict", "net.mz", "x.npy", "--out", "program.npy", "--quiet"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return seconds(resource.RUSAGE_CHILDREN) - start


def overhead(graph: mase.Graph) -> float:
    """The microseconds of a call with one row, of which the network itself takes a tenth of one."""
    row = numpy.zeros((1, 16), numpy.float32)
    graph.run(row)
    turns = []
    for _ in range(TURNS):
        start = time.perf_counter()
        for _ in range(CALLS // TURNS):
            graph.run(row)
        turns.append((time.perf_counter() - start) / (CALLS // TURNS))
    return min(turns) * 1e6


def peak_megabytes(graph: mase.Graph) -> tuple[float, float]:
    """The memory that a run adds at its peak, and that of its results."""
    x = numpy.ones((4 * ROWS, 16), numpy.float32)
    graph.run(x[:1024])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    y = graph.run(x)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, y.nbytes / 2**20


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else "ch"
    graph = mase.model("jsc-tiny")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        numpy.save(folder / "x.npy", numpy.random.default_rng(0).standard_normal((ROWS, 16)).astype(numpy.float32))
        graph.save(folder / "net.mz")
        pairs = [(through_python(graph, folder), through_program(program, folder)) for _ in range(TURNS)]
        same = (folder / "python.npy").read_bytes() == (folder / "program.npy").read_bytes()
    ours, theirs = (min(pair[side] for pair in pairs) for side in (0, 1))
    peak, results = peak_megabytes(graph)
    print(f"{ROWS} rows of jsc-tiny: Python {ours * 1e3:.1f} ms, ch {theirs * 1e3:.1f} ms, ratio {ours / theirs:.3f}; same bytes: {same}")
    print(f"a call with one row: {overhead(graph):.1f} µs")
    print(f"{4 * ROWS} rows of {4 * ROWS * 64 / 2**20:.0f} MB add {peak:.0f} MB at the peak, {results:.0f} MB of them results")


if __name__ == "__main__":
    main()
