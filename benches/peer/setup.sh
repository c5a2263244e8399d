#!/usr/bin/env bash
# Makes the Python environment of the benchmarks' other side: PyTorch, Lightning, NumPy and Optuna in benches/.venv.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 -m venv .venv
.venv/bin/pip install --quiet torch==2.6.0 'lightning==2.5.*' numpy tensorboard optuna
