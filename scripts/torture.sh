#!/usr/bin/env bash
# Kills trainings and searches, at random moments and at every call that changes a file, goes on with them until they end, and
# holds what they leave against runs that nobody disturbed; then reads the hostile files and fuzzes every reader. Prints a table:
# class, trials, differences. Ends with 1 if there is a difference. What the machine lacks is a row that says so.
#
#   scripts/torture.sh [KILLS [SECONDS]]    500 kills at random moments, 60 seconds of each fuzz target (0 for none)
#   scripts/torture.sh --short              a handful of each and no fuzzing, in under a minute, with the binary of the tests
#   CH=FILE scripts/torture.sh …            another binary than the one that is built from these sources
#   KEEP=FOLDER scripts/torture.sh …        copies runs that differ into an existing folder
set -uo pipefail
cd "$(dirname "$0")/.."
project=$PWD

is_short=false profile=release
if [ "${1:-}" = --short ]; then
    is_short=true profile=dev kills=6 seconds=0 stride=9
else
    kills=${1:-500} seconds=${2:-60} stride=1
fi
ch=${CH:-$PWD/target/${profile/dev/debug}/ch}
[ -n "${CH:-}" ] || cargo build --quiet --profile "$profile" --bin ch || exit 1
folder=$(mktemp -d)
server=
clean_up() {
    [ -n "$server" ] && "$project/scripts/postgres.sh" stop "$server"
    rm -rf "$folder"
}
trap clean_up EXIT
cd "$folder" || exit 1

train=(train jsc-toy jsc-sim --max-epochs 4 --batch-size 64 --learning-rate 1e-3 --save-every-n-steps 20 --quiet --no-progress)
brief=(train jsc-tiny jsc-sim --max-epochs 2 --max-steps 60 --batch-size 64 --save-every-n-steps 20 --quiet --no-progress)
search=(search jsc-toy jsc-sim --config space.toml --load mase_output/whole --seed 7 --quiet --no-progress)
few=("${search[@]}" --n-trials 5)
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

# The end of a command: 0, or 1 when it was killed. Anything else is the program's own failure, and the end of all this.
ended() {
    local code=$1
    shift
    case $code in
    0) return 0 ;;
    137) return 1 ;;
    *)
        echo "ch $* ended with $code: $(cat errors)" >&2
        exit 1
        ;;
    esac
}

# Runs a command and kills it after a random part of a second.
disturbed() {
    "$ch" "$@" >/dev/null 2>errors &
    local process=$!
    sleep "0.$(printf '%03d' $((RANDOM % 1000)))"
    kill -KILL "$process" 2>/dev/null
    wait "$process" 2>/dev/null
    ended $? "$@"
}

# CALL, N, the command: kills it where a thread is about to make its N-th CALL.
killed_at() {
    local call=$1 n=$2
    shift 2
    { strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" "$ch" "$@" >/dev/null 2>errors; } 2>/dev/null
    ended $? "$@"
}

# NAME, the command: begins a run, or goes on with the one of that name, by whatever `how` holds.
step() {
    local name=$1
    shift
    if [ -d "mase_output/$name" ]; then
        "${how[@]}" "$@" "--resume=mase_output/$name"
    else
        "${how[@]}" "$@" --project "$name"
    fi
}
whole() { "$ch" "$@" >/dev/null 2>errors; ended $? "$@"; }

# What a training leaves: its weights, its steps and its epochs.
weights() {
    grep -E '"(weights_hash|steps|epochs|ending)"' "mase_output/$1/software/run.json"
    cat "mase_output/$1/software/metrics.csv"
}
# Everything of the trials but their times.
trials() { cut -d, -f1-8 "mase_output/$1/software/search_ckpts/trials.csv" | grep -v seconds; }
# PRINT, ONE, OTHER: counts a run that is missing something, or differs.
differs() {
    local one other
    one=$("$1" "$2" 2>/dev/null) && other=$("$1" "$3" 2>/dev/null) && [ -n "$one" ] && [ "$one" = "$other" ] && return 1
    [ -n "${KEEP:-}" ] && cp -r "mase_output/$2" "$KEEP/"
    return 0
}

differences=0
row() { printf '%-28s %12s %12s\n' "$1" "$2" "$3"; }
result() { row "$@" && differences=$((differences + $3)); }
skipped() { row "$1" skipped "$2"; }

# A run is killed so many times at most, so that it ends on a slow machine too.
max_kills=10

# CLASS, PRINT, the run to compare with, the command: random kills.
random_kills() {
    local class=$1 print=$2 expected=$3 used=0 differ=0 round=0 left
    shift 3
    while [ "$used" -lt $((kills / 2)) ]; do
        round=$((round + 1)) left=$max_kills how=(disturbed)
        until step "round$round" "$@"; do
            used=$((used + 1)) left=$((left - 1))
            [ "$left" -gt 0 ] || how=(whole)
        done
        differs "$print" "round$round" "$expected" && differ=$((differ + 1))
        rm -rf "mase_output/round$round"
    done
    result "$class" "$used" "$differ"
}

# CLASS, PRINT, the run to compare with, the command: a kill before every call that changes a file.
kills_at_calls() {
    local class=$1 print=$2 expected=$3 used=0 differ=0 call n
    shift 3
    for call in mkdir openat write ftruncate fsync fdatasync rename; do
        n=1
        while true; do
            how=(killed_at "$call" "$n")
            step cut "$@" && break
            how=(whole)
            step cut "$@"
            differs "$print" cut "$expected" && differ=$((differ + 1))
            rm -rf mase_output/cut
            used=$((used + 1)) n=$((n + stride))
        done
        rm -rf mase_output/cut
    done
    result "$class" "$used" "$differ"
}

# Kills of searches whose trials are in PostgreSQL; every number must be there once, whoever has run it.
postgres_kills() {
    local used=0 differ=0 round=0 address count left
    while [ "$used" -lt $((kills / 5)) ]; do
        round=$((round + 1)) left=$max_kills how=(disturbed)
        address="$1?study=round$round&grace=1"
        until "${how[@]}" "${search[@]}" --storage "$address" --project "pg$round"; do
            used=$((used + 1)) left=$((left - 1))
            [ "$left" -gt 0 ] || how=(whole)
            rm -rf "mase_output/pg$round"
        done
        differs trials "pg$round" found && differ=$((differ + 1))
        if command -v psql >/dev/null; then
            count=$(psql -At "$1" -c "SELECT count(*), count(DISTINCT number), count(*) FILTER (WHERE state = 'COMPLETE') FROM trials \
                JOIN studies USING (study_id) WHERE study_name = 'round$round'")
            [ "$count" = '400|400|400' ] || differ=$((differ + 1))
        fi
        rm -rf "mase_output/pg$round"
    done
    result 'kills, PostgreSQL' "$used" "$differ"
}

"$ch" "${train[@]}" --project whole >/dev/null || exit 1
"$ch" "${brief[@]}" --project brief >/dev/null || exit 1
"$ch" "${search[@]}" --project found >/dev/null || exit 1
"$ch" "${few[@]}" --project few >/dev/null || exit 1

row class trials differences
random_kills 'kills, training' weights whole "${train[@]}"
random_kills 'kills, search' trials found "${search[@]}"
if command -v strace >/dev/null; then
    kills_at_calls 'kills at calls, training' weights brief "${brief[@]}"
    kills_at_calls 'kills at calls, search' trials few "${few[@]}"
else
    skipped 'kills at calls' 'there is no strace'
fi
if started=$("$project/scripts/postgres.sh" start 2>/dev/null); then
    server=${started%% *}
    postgres_kills "${started#* }"
else
    skipped 'kills, PostgreSQL' 'there is no server'
fi

cd "$project" || exit 1
if ! $is_short; then
    hostile=$(cargo test --quiet -p ch --test hostile 2>&1 | grep -o '[0-9]* passed; [0-9]* failed')
    failed=${hostile##* passed; }
    result 'hostile files' "${hostile%% *}" "${failed%% *}"
    [ "$seconds" -gt 0 ] || skipped fuzzing 'as asked'
    for target in fuzz/fuzz_targets/*.rs; do
        [ "$seconds" -gt 0 ] || break
        name=$(basename "$target" .rs)
        found=0
        fuzz/run "$seconds" "$name" >"$folder/fuzzing" 2>&1 || found=1
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/fuzzing")
        result "fuzzing $name, $seconds s" "${runs:-0}" "$found"
    done
fi
[ "$differences" = 0 ]
