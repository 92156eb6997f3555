#!/bin/bash
# A throw-away Redis for the tests, loopback only and without persistence. Needs the package redis-server.
#
#   export $(.ci/parts/redis.sh start)    prints TEST_REDIS_URL and PAKHUS_REDIS_DIR, one NAME=value a line
#   .ci/parts/redis.sh stop               stops the server in PAKHUS_REDIS_DIR and removes that folder
#
# Optional: REDIS_PORT (otherwise a free port is found).
set -euo pipefail

fail() {
  echo "redis.sh: $1" >&2
  [ -s "${PAKHUS_REDIS_DIR:-/nonexistent}/log" ] && tail -n 20 "$PAKHUS_REDIS_DIR/log" >&2
  stop >/dev/null 2>&1 || true
  exit 1
}

stop() {
  local dir=${PAKHUS_REDIS_DIR:?set PAKHUS_REDIS_DIR to what start printed} pid
  [ -f "$dir/pid" ] || return 0
  pid=$(cat "$dir/pid")
  # Never kill another process that has reused the pid.
  if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q redis-server; then kill -9 "$pid"; fi
  rm -rf "$dir"
}

# Below the kernel's ephemeral range, so that no client socket takes the port in between.
free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + RANDOM % 10000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  return 1
}

start() {
  command -v redis-server >/dev/null || fail 'redis-server is not installed (apt-get install -y --no-install-recommends redis-server)'
  dir=$(mktemp -d "${TMPDIR:-/tmp}/pakhus-redis.XXXXXX")
  PAKHUS_REDIS_DIR=$dir
  local port=${REDIS_PORT:-$(free_port)}
  # Closes the caller's descriptors, or $(… start) would never return.
  setsid redis-server --bind 127.0.0.1 --port "$port" --save '' --appendonly no --dir "$dir" \
    --maxmemory 128mb --maxmemory-policy noeviction </dev/null >"$dir/log" 2>&1 &
  echo $! >"$dir/pid"
  local deadline=$((SECONDS + 10))
  until redis-cli -h 127.0.0.1 -p "$port" ping 2>/dev/null | grep -q PONG; do
    [ "$SECONDS" -lt "$deadline" ] || fail 'redis-server does not answer'
    sleep 0.05
  done
  echo "TEST_REDIS_URL=redis://127.0.0.1:$port"
  echo "PAKHUS_REDIS_DIR=$dir"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *) echo 'usage: redis.sh start|stop' >&2; exit 2 ;;
esac
