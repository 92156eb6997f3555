#!/usr/bin/env bash
# A PostgreSQL server on loopback with throw-away data: Debian's, or the one in the folder POSTGRES_BIN.
#   export $(.ci/parts/postgres.sh start)    prints TEST_POSTGRES_URL and PAKHUS_POSTGRES_DIR
#   .ci/parts/postgres.sh stop
set -euo pipefail
bin=${POSTGRES_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)}

# PostgreSQL refuses to run as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }

case ${1:-} in
  start)
    dir=$(mktemp -d "${TMPDIR:-/tmp}/pakhus-postgres.XXXXXX")
    chmod 755 "$dir"
    mkdir "$dir/data"
    if [ "$(id -u)" = 0 ]; then chown -R postgres "$dir"; fi
    port=$(node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
    as_postgres "$bin/initdb" -D "$dir/data" -U pakhus --auth=trust --no-sync -E UTF8 --locale=C.UTF-8 >"$dir/initdb.log"
    as_postgres "$bin/pg_ctl" -D "$dir/data" -w -l "$dir/server.log" \
      -o "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=$dir -c max_connections=400 -c fsync=off" start >/dev/null
    echo "TEST_POSTGRES_URL=postgres://pakhus@127.0.0.1:$port/postgres PAKHUS_POSTGRES_DIR=$dir"
    ;;
  stop)
    [ -n "${PAKHUS_POSTGRES_DIR:-}" ] || exit 0
    as_postgres "$bin/pg_ctl" -D "$PAKHUS_POSTGRES_DIR/data" -m immediate stop >/dev/null || true
    rm -rf "$PAKHUS_POSTGRES_DIR"
    ;;
  *)
    echo "usage: $0 start|stop" >&2
    exit 2
    ;;
esac
