#!/usr/bin/env bash
# Kills trainings and searches at random moments, goes on with them until they end, and holds what they leave against runs that
# nobody disturbed; then reads the hostile files. Prints a table: class, trials, differences. Ends with 1 if there is one.
#
#   scripts/torture.sh [KILLS]      500 if not given, half of them for trainings and half for searches
set -uo pipefail
cd "$(dirname "$0")/.."

kills=${1:-500}
cargo build --quiet --release --bin ch || exit 1
ch=$PWD/target/release/ch
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

train=(train jsc-toy jsc-sim --max-epochs 4 --batch-size 64 --learning-rate 1e-3 --save-every-n-steps 20 --quiet --no-progress)
search=(search jsc-toy jsc-sim --config space.toml --load "mase_output/whole" --seed 7 --quiet --no-progress)
cat >space.toml <<'TOML'
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "name"
[search.search_space.seed.default.config]
name = ["integer"]
data_in_width = [4, 6, 8]
data_in_frac_width = ["NA"]
weight_width = [2, 3, 4, 6, 8]
weight_frac_width = ["NA"]
bias_width = [8]
bias_frac_width = ["NA"]
[search.strategy]
name = "optuna"
[search.strategy.setup]
n_trials = 400
n_jobs = 1
sampler = "tpe"
[search.strategy.metrics]
accuracy.scale = 1.0
average_bitwidth.scale = 0.2
TOML

# Runs a command, kills it after a random part of a second, and tells whether it ended before that.
disturbed() {
    "$ch" "$@" >/dev/null 2>errors &
    local process=$!
    sleep "0.$(printf '%03d' $((RANDOM % 1000)))"
    kill -KILL "$process" 2>/dev/null
    wait "$process" 2>/dev/null
    local code=$?
    case $code in
    0) return 0 ;;
    137) return 1 ;;
    *)
        echo "ch $* ended with $code: $(cat errors)" >&2
        exit 1
        ;;
    esac
}

# PROJECT, the file that a run can go on from, the command: kills it until it ends; sets `used` to the number of kills.
until_it_ends() {
    local project=$1 start=$2
    shift 2
    used=0
    while true; do
        if [ -e "mase_output/$project/software/$start" ]; then
            disturbed "$@" "--resume=mase_output/$project" && return
        else
            # Killed before there was anything to go on from.
            rm -rf "mase_output/$project"
            disturbed "$@" --project "$project" && return
        fi
        used=$((used + 1))
    done
}

weights() { grep -o '"weights_hash": "[0-9a-f]*"' "mase_output/$1/software/run.json"; }
# Everything of the trials but their times.
trials() { cut -d, -f1-8 "mase_output/$1/software/search_ckpts/trials.csv" 2>/dev/null | grep -v seconds; }

"$ch" "${train[@]}" --project whole >/dev/null || exit 1
"$ch" "${search[@]}" --project found >/dev/null || exit 1

differences=0
row() { printf '%-24s %8s %12s\n' "$1" "$2" "$3"; differences=$((differences + $3)); }
row_head() { printf '%-24s %8s %12s\n' class trials differences; }
row_head

done_kills=0 differ=0 round=0
while [ "$done_kills" -lt $((kills / 2)) ]; do
    round=$((round + 1))
    until_it_ends "train$round" run.json "${train[@]}"
    done_kills=$((done_kills + used))
    [ "$(weights "train$round")" = "$(weights whole)" ] || differ=$((differ + 1))
    rm -rf "mase_output/train$round"
done
row 'kills of trainings' "$done_kills" "$differ"

done_kills=0 differ=0 round=0
while [ "$done_kills" -lt $((kills / 2)) ]; do
    round=$((round + 1))
    until_it_ends "search$round" search_ckpts/study.journal "${search[@]}"
    done_kills=$((done_kills + used))
    [ "$(trials "search$round")" = "$(trials found)" ] || differ=$((differ + 1))
    rm -rf "mase_output/search$round"
done
row 'kills of searches' "$done_kills" "$differ"

cd - >/dev/null || exit 1
hostile=$(cargo test --quiet -p ch --test hostile 2>&1 | grep -o '[0-9]* passed; [0-9]* failed')
row 'hostile files' "${hostile%% *}" "$(grep -o '[0-9]* failed' <<<"$hostile" | cut -d' ' -f1)"

if command -v cargo-fuzz >/dev/null; then
    for target in fuzz/fuzz_targets/*.rs; do
        name=$(basename "$target" .rs)
        found=0
        cargo fuzz run "$name" -- -max_total_time="${FUZZ_SECONDS:-60}" >/dev/null 2>&1 || found=1
        row "fuzzing $name" "${FUZZ_SECONDS:-60} s" "$found"
    done
else
    echo "fuzzing: skipped, cargo-fuzz is not on this machine"
fi
[ "$differences" = 0 ]
