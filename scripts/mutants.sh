#!/usr/bin/env bash
# Breaks the sources in small ways and counts the changes that the tests of the crate notice. Prints a table: crate, tried,
# caught, missed, left out, share; then the missed changes. Ends with 1 if a crate is under 95 %.
#
#   scripts/mutants.sh [-n COUNT] [-s SEED] [-F REGEX] [-t SECONDS] [CRATE...]
#
# COUNT changes of each crate are tried, 60 if not given; every SEED, 1 if not given, tries others. With -F, all changes whose
# name the regular expression finds. The changes are those of cargo-mutants; `scripts/mutants` has all of a crate in one build. Left
# out is what does not compile there. Tests that do not end have noticed; those that take longer than SECONDS without a change, 900 if
# not given, are not asked. `.cargo/mutants.toml` names what no test can notice. The tree is copied, so that nothing here changes; the
# copy and its build are kept in `target/mutants`.
set -euo pipefail
cd "$(dirname "$0")/.."

count=60 seed=1 filter= limit=900
while getopts n:s:F:t: option; do
    case $option in
    n) count=$OPTARG ;;
    s) seed=$OPTARG ;;
    F) filter=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[[ $count =~ ^[1-9][0-9]*$ && $limit =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] ||
    { echo "-n and -t take a number from 1 on, -s one from 0 on" >&2; exit 2; }
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
[ ! -e .tools ] || ln -sfn "$(readlink -f .tools)" "$tree/.tools"
cargo build --quiet --release --manifest-path scripts/mutants/Cargo.toml
# Nobody reads a backtrace here, and without them tests link faster.
export CARGO_TARGET_DIR=$PWD/target/mutants/build CARGO_PROFILE_DEV_DEBUG=0
if command -v mold >/dev/null && command -v clang >/dev/null; then
    export RUSTFLAGS="-Clinker=clang -Clink-arg=-fuse-ld=mold"
fi
# A server that a test has left behind does not hold the lock.
scripts/mutants/target/release/mutants "$tree" "$count" "$seed" "$filter" "$limit" "${crates[@]}" 9>&-
