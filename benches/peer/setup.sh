#!/usr/bin/env bash
# Makes a Python environment of the benchmarks' other side in benches/: .venv with PyTorch, Lightning, NumPy and Optuna,
# .venv-brevitas with Brevitas and the newer PyTorch that it was measured with, .venv-onnx with ONNX Runtime, .venv-jax with
# JAX for CPUs, or .venv-da4ml with da4ml and alkaid. Without a name: all. Git ignores what an environment holds.
set -euo pipefail
cd "$(dirname "$0")/.."

make_environment() {
    python3 -m venv "$1"
    echo '*' >"$1/.gitignore"
    "$1/bin/pip" install --quiet "${@:2}"
}

[ $# -gt 0 ] || set -- .venv .venv-brevitas .venv-onnx .venv-jax .venv-da4ml
for environment in "$@"; do
    case "$environment" in
        .venv) make_environment .venv torch==2.6.0 'lightning==2.5.*' numpy tensorboard optuna ;;
        .venv-brevitas)
            make_environment .venv-brevitas torch==2.12.1 numpy 'setuptools<70' dependencies==2.0.1 brevitas==0.13.0
            ;;
        .venv-onnx) make_environment .venv-onnx numpy onnx==1.23.2 onnxruntime==1.31.1 ;;
        .venv-jax) make_environment .venv-jax numpy==2.4.6 jax==0.10.2 jaxlib==0.10.2 ;;
        .venv-da4ml) make_environment .venv-da4ml numpy da4ml==0.6.0 alkaid==0.8.2 ;;
        *)
            echo "no environment called '$environment'; name .venv, .venv-brevitas, .venv-onnx, .venv-jax or .venv-da4ml" >&2
            exit 1
            ;;
    esac
done
