#!/bin/bash
# A throw-away S3 server for the tests: Ceph's radosgw over one monitor and one in-memory OSD, loopback only.
# Needs the packages ceph-mon ceph-osd radosgw ceph-common. Its data is disposable: stop is a kill -9.
#
#   export $(.ci/parts/ceph.sh start)    prints TEST_S3_* and PAKHUS_CEPH_DIR, one NAME=value a line
#   .ci/parts/ceph.sh stop               stops the server in PAKHUS_CEPH_DIR and removes that folder
#
# Optional: CEPH_S3_PORT, CEPH_MON_PORT (otherwise free ports are found), CEPH_MEMORY_GIB (4).
set -euo pipefail

access_key=pakhustest
secret_key=pakhustestsecret0123456789

fail() {
  echo "ceph.sh: $1" >&2
  for log in "${PAKHUS_CEPH_DIR:-/nonexistent}"/log/*.out; do
    [ -s "$log" ] && { echo "--- $log" >&2; tail -n 20 "$log" >&2; }
  done
  stop >/dev/null 2>&1 || true
  exit 1
}

stop() {
  local dir=${PAKHUS_CEPH_DIR:?set PAKHUS_CEPH_DIR to what start printed} name pid
  for name in rgw osd mon; do
    [ -f "$dir/$name.pid" ] || continue
    pid=$(cat "$dir/$name.pid")
    # Never kill another process that has reused the pid.
    if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -e ceph -e radosgw; then kill -9 "$pid"; fi
  done
  [ -f "$dir/ceph.conf" ] && rm -rf "$dir"
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

# until_ok SECONDS COMMAND…: retries every tenth of a second.
until_ok() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.1
  done
}

osd_is_up() { ceph --connect-timeout 2 osd stat 2>/dev/null | grep -q '1 up'; }

s3_answers() {
  local status
  exec 3<>"/dev/tcp/127.0.0.1/$s3_port" || return 1
  printf 'GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
  read -r -t 2 status <&3
  exec 3>&-
  [[ $status == *' 200 '* ]]
}

write_conf() {
  cat >"$CEPH_CONF" <<CONF
[global]
fsid = $1
mon_host = v2:127.0.0.1:$mon_port
ms_bind_ipv6 = false
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc
ms_client_mode = crc
ms_cluster_mode = crc
ms_service_mode = crc
ms_mon_cluster_mode = crc
ms_mon_service_mode = crc
run_dir = $dir/run
crash_dir = $dir/run
admin_socket = $dir/run/\$name.\$pid.asok
log_file = $dir/log/\$name.log
log_to_stderr = false
err_to_stderr = true
mon_cluster_log_file = $dir/log/cluster.log
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 2000
[mon]
mon_data = $dir/mon
mon_data_avail_crit = 1
mon_data_avail_warn = 1
paxos_propose_interval = 0.05
mon_tick_interval = 1
[osd]
osd_data = $dir/osd
osd_objectstore = memstore
memstore_device_bytes = $((${CEPH_MEMORY_GIB:-4} << 30))
osd_class_load_list = *
osd_class_default_list = *
[client.rgw]
rgw_frontends = beast endpoint=127.0.0.1:$s3_port tcp_nodelay=1
rgw_enable_apis = s3
rgw_enable_usage_log = false
rgw_thread_pool_size = 32
rgw_gc_obj_min_wait = 5
rgw_gc_processor_period = 10
rgw_run_sync_thread = false
rgw_override_bucket_index_max_shards = 1
rgw_dynamic_resharding = false
rgw_data_log_backing = omap
CONF
}

# One process for all pools: each start of the ceph command takes half a second.
create_pools() {
  /usr/bin/python3 - <<'PYTHON'
import json, os, rados

cluster = rados.Rados(conffile=os.environ["CEPH_CONF"])
cluster.connect()

def command(**words):
    code, _, message = cluster.mon_command(json.dumps(words), b"")
    if code:
        raise SystemExit(f"{words}: {code} {message}")

pools = [".rgw.root"] + ["default.rgw." + p for p in (
    "log", "control", "meta", "buckets.index", "buckets.data", "buckets.non-ec")]
for pool in pools:
    command(prefix="osd pool create", pool=pool, pg_num=1, pgp_num=1, pool_type="replicated")
    command(prefix="osd pool application enable", pool=pool, app="rgw", yes_i_really_mean_it=True)
cluster.shutdown()
PYTHON
}

# daemon NAME COMMAND…: closes the caller's descriptors, or $(… start) would never return.
daemon() {
  local name=$1
  shift
  setsid "$@" </dev/null >"$dir/log/$name.out" 2>&1 3>&- &
  echo $! >"$dir/$name.pid"
}

start() {
  local program
  for program in ceph-mon ceph-osd radosgw radosgw-admin ceph monmaptool; do
    command -v "$program" >/dev/null || fail "$program is not installed (apt-get install -y --no-install-recommends ceph-mon ceph-osd radosgw ceph-common)"
  done
  dir=$(mktemp -d "${TMPDIR:-/tmp}/pakhus-ceph.XXXXXX")
  PAKHUS_CEPH_DIR=$dir
  export CEPH_CONF=$dir/ceph.conf
  mkdir "$dir"/{mon,osd,log,run}
  s3_port=${CEPH_S3_PORT:-$(free_port)}
  mon_port=${CEPH_MON_PORT:-$(free_port)}
  local fsid osd_id
  fsid=$(cat /proc/sys/kernel/random/uuid)
  osd_id=$(cat /proc/sys/kernel/random/uuid)
  write_conf "$fsid"

  monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$mon_port]" "$dir/monmap" >"$dir/log/monmap.out" 2>&1 || fail 'monmaptool failed'
  ceph-mon --mkfs -i a --monmap "$dir/monmap" >"$dir/log/mon-mkfs.out" 2>&1 || fail 'the monitor could not be made'
  daemon mon ceph-mon -f -i a --public-addrv "[v2:127.0.0.1:$mon_port]"
  until_ok 30 ceph --connect-timeout 2 quorum_status || fail 'the monitor does not answer'

  ceph osd new "$osd_id" 0 >"$dir/log/osd-new.out" 2>&1 || fail 'the OSD could not be registered'
  ceph-osd -i 0 --mkfs --osd-uuid "$osd_id" >"$dir/log/osd-mkfs.out" 2>&1 || fail 'the OSD could not be made'
  ceph osd crush add osd.0 1.0 host=h root=default >"$dir/log/osd-crush.out" 2>&1 || fail 'the OSD could not be placed'
  daemon osd ceph-osd -f -i 0
  until_ok 60 osd_is_up || fail 'the OSD does not come up'

  create_pools >"$dir/log/pools.out" 2>&1 || fail 'the pools could not be made'
  radosgw-admin -n client.rgw user create --uid=pakhus --display-name=pakhus \
    --access-key="$access_key" --secret="$secret_key" >"$dir/log/user.out" 2>&1 || fail 'the S3 user could not be made'
  daemon rgw radosgw -f -n client.rgw
  until_ok 60 s3_answers || fail 'radosgw does not answer'

  echo "TEST_S3_ENDPOINT=http://127.0.0.1:$s3_port"
  echo "TEST_S3_ACCESS_KEY_ID=$access_key"
  echo "TEST_S3_SECRET_ACCESS_KEY=$secret_key"
  echo "PAKHUS_CEPH_DIR=$dir"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *) echo 'usage: ceph.sh start|stop' >&2; exit 2 ;;
esac
