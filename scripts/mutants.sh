#!/usr/bin/env bash
# Breaks the sources in small ways and counts the changes that the tests of the crate notice. Prints a table: crate, tried,
# caught, missed, not compiling, share; then the missed changes. Ends with 1 if a crate is under 95 %.
#
#   scripts/mutants.sh [-n COUNT] [-s SEED] [CRATE...]
#
# COUNT changes of each crate are tried, 20 if not given; every SEED, 1 if not given, tries others. `.cargo/mutants.toml` names
# what no test can notice. Tests that do not end have noticed. The tree is copied, so that nothing here changes; the copy and its
# build are kept in `target/mutants`.
set -euo pipefail
cd "$(dirname "$0")/.."

count=20 seed=1
while getopts n:s: option; do
    case $option in
    n) count=$OPTARG ;;
    s) seed=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[[ $count =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || { echo "-n takes a number from 1 on, -s one from 0 on" >&2; exit 2; }
crates=("$@")
[ $# -gt 0 ] || crates=(random config format kernels ir engine interop data models exchange report passes train hw study search mase ch)
for crate in "${crates[@]}"; do
    [ -d "crates/$crate" ] || { echo "there is no crate '$crate'; the folder crates has them all" >&2; exit 2; }
done
if ! cargo mutants --version >/dev/null 2>&1; then
    echo "cargo-mutants is not on this machine; cargo install cargo-mutants --locked gets it" >&2
    exit 2
fi

# A file whose content is the same keeps its time, so that what is built stays built.
tree=$PWD/target/mutants/tree
# Tests read the reference vectors beside the project, so that the copy has them beside it too.
mkdir -p target/mutants
[ ! -d ../shared ] || ln -sfn "$PWD/../shared" target/mutants/shared
mkdir -p "$tree"
exec 9>"$tree.lock"
flock --nonblock 9 || { echo "another run is under way here; begin when it has ended" >&2; exit 2; }
git ls-files --cached --others --exclude-standard | while read -r file; do [ ! -f "$file" ] || echo "$file"; done >"$tree.list"
while read -r file; do
    cmp --silent "$file" "$tree/$file" || install -D "$file" "$tree/$file"
done <"$tree.list"
find "$tree" -type f -printf '%P\n' | { grep -vxFf "$tree.list" || true; } | (cd "$tree" && xargs -r -d '\n' rm)
[ -x .tools/python/bin/python ] && export BENCH_PYTHON="${BENCH_PYTHON:-$PWD/.tools/python/bin/python}"
export CARGO_TARGET_DIR=$PWD/target/mutants/build
cd "$tree"

lines() { { cat "$@" 2>/dev/null || true; } | wc -l; }
printf '%-10s %6s %7s %7s %14s %7s\n' crate tried caught missed 'not compiling' share
weak=0 missed=''
for crate in "${crates[@]}"; do
    total=$(cargo mutants --all-features --package "$crate" --list | wc -l)
    # Every n-th change, from one that the seed decides: all files have their part.
    stride=$(((total + count - 1) / count))
    out=$tree/../out/$crate
    rm -rf "$out"
    mkdir -p "$out"
    if [ "$total" -gt 0 ]; then
        code=0
        cargo mutants --in-place --all-features --package "$crate" --output "$out" --no-shuffle --colors never \
            --sharding round-robin --shard "$((seed % stride))/$stride" --minimum-test-timeout 180 >"$out/log" 2>&1 || code=$?
        # 2 and 3: changes that were missed, and tests that did not end.
        if [ "$code" != 0 ] && [ "$code" != 2 ] && [ "$code" != 3 ]; then
            tail -n 40 "$out/log" >&2
            exit 1
        fi
    fi
    found=$out/mutants.out
    n_caught=$(lines "$found/caught.txt" "$found/timeout.txt") n_missed=$(lines "$found/missed.txt")
    tried=$((n_caught + n_missed))
    share=-
    if [ "$tried" -gt 0 ]; then
        share="$((100 * n_caught / tried)) %"
        [ $((100 * n_caught)) -ge $((95 * tried)) ] || weak=1
    fi
    printf '%-10s %6d %7d %7d %14d %7s\n' "$crate" "$tried" "$n_caught" "$n_missed" "$(lines "$found/unviable.txt")" "$share"
    missed+=$(cat "$found/missed.txt" 2>/dev/null || true)$'\n'
done
missed=$(grep . <<<"$missed" || true)
[ -z "$missed" ] || printf '\nmissed:\n%s\n' "$missed"
exit "$weak"
