"""Feeds the rows of x.bin to the network and compares its answers with those of y.bin, by cocotb 2 and Icarus.

    python test_net.py [ROWS]
"""
import json
import os
import struct
import sys
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

HERE = Path(__file__).resolve().parent


def vectors(name):
    """The rows of a file of vectors."""
    data = (HERE / name).read_bytes()
    magic, rows, elements, size = struct.unpack_from("<8sIHH", data)
    assert magic == b"MASEVEC1" and size in (4, 8), name
    form = "<%d%s" % (elements, "i" if size == 4 else "q")
    return list(struct.iter_unpack(form, data[16:16 + rows * elements * size]))


def pack(row, elements):
    """One number of all bits of a row, element 0 lowest."""
    fields = ((code & (1 << e["width"]) - 1) << e["offset"] for code, e in zip(row, elements))
    return sum(fields)


def unpack(word, elements):
    """The codes of a row."""
    row = []
    for e in elements:
        code = word >> e["offset"] & (1 << e["width"]) - 1
        is_negative = e["signed"] and e["width"] and code >> e["width"] - 1
        row.append(code - (1 << e["width"]) if is_negative else code)
    return tuple(row)


@cocotb.test()
async def every_row_is_right(dut):
    """Every row of the vectors, at the network's latency."""
    ports = json.loads((HERE.parent / "ports.json").read_text())
    limit = int(os.environ.get("ROWS", "1000"))
    x, y = vectors("x.bin")[:limit], vectors("y.bin")[:limit]
    behind = max(ports["latency"] - 1, 0)
    dut.clk.value = 0
    for step in range(len(x) + behind):
        if step < len(x):
            dut.x.value = pack(x[step], ports["inputs"])
        await Timer(5, "ns")
        dut.clk.value = int(ports["latency"] > 0)
        await Timer(4, "ns")
        if step >= behind:
            got = unpack(int(dut.y.value), ports["outputs"])
            assert got == y[step - behind], f"row {step - behind}: {got}, not {y[step - behind]}"
        dut.clk.value = 0
        await Timer(1, "ns")


if __name__ == "__main__":
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    os.environ["ROWS"] = sys.argv[1] if len(sys.argv) > 1 else "1000"
    runner = get_runner("icarus")
    net = HERE.parent / "rtl" / "net.sv"
    runner.build(sources=[net], hdl_toplevel="net", always=True, timescale=("1ns", "1ps"))
    count, failed = get_results(runner.test(hdl_toplevel="net", test_module="test_net", test_dir=HERE))
    sys.exit(0 if count and not failed else 1)
