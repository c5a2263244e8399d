#!/usr/bin/env bash
# A PostgreSQL server of one's own for tests and for trying out shared searches, in a folder that is thrown away.
#
#   scripts/postgres.sh start           starts a server on a free port; prints its folder and its address
#   scripts/postgres.sh down FOLDER     stops it, as a crash would; the data stay
#   scripts/postgres.sh up FOLDER       starts it again on the same port
#   scripts/postgres.sh stop FOLDER     stops it and removes the folder
#
# PostgreSQL refuses to run as root; root runs it as nobody.
set -euo pipefail

bin() {
    local places=("$(dirname "$(command -v pg_ctl || echo /none)")" /usr/lib/postgresql/*/bin /usr/local/pgsql/bin)
    for place in "${places[@]}"; do
        if [ -x "$place/initdb" ] && [ -x "$place/pg_ctl" ]; then
            echo "$place"
            return
        fi
    done
    echo "no PostgreSQL found; scripts/test-tools.sh gets one" >&2
    exit 3
}

as_user() {
    if [ "$(id -u)" = 0 ]; then runuser -u nobody -- "$@"; else "$@"; fi
}

# Starts the server of a folder; fails when the port is taken.
up() {
    local folder=$1 port
    port=$(cat "$folder/port")
    # Without waiting for the disk: the data are thrown away, and a stopped process loses nothing.
    as_user "$(bin)/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 -s \
        -o "-p $port -k '$folder' -c listen_addresses=127.0.0.1 -c fsync=off" start >/dev/null 2>&1 </dev/null
}

down() { as_user "$(bin)/pg_ctl" -D "$1/data" -m immediate -s stop; }

start() {
    local place folder
    place=$(bin)
    folder=$(mktemp -d /tmp/mase-postgres.XXXXXX)
    [ "$(id -u)" = 0 ] && chown nobody "$folder"
    cd "$folder"
    as_user "$place/initdb" -D "$folder/data" -A trust -U mase --no-sync >/dev/null
    for _ in $(seq 20); do
        echo $((20000 + RANDOM % 30000)) >"$folder/port"
        if up "$folder"; then
            echo "$folder postgresql://mase@127.0.0.1:$(cat "$folder/port")/postgres"
            return
        fi
    done
    cat "$folder/log" >&2
    rm -rf "$folder"
    exit 1
}

case "${1:-}" in
start) start ;;
up) up "$2" ;;
down) down "$2" ;;
stop)
    case "$2" in /tmp/mase-postgres.*) ;; *) echo "$2 is no folder of this script" >&2 && exit 2 ;; esac
    down "$2" || true
    rm -rf "$2"
    ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
