#!/usr/bin/env bash
# The newest release of one major version of Node from the npm registry, unpacked into a folder outside the checkout.
#   folder=$(.ci/parts/node.sh 22 /tmp/some-folder)    prints the folder that holds `node`
set -euo pipefail
major=$1 target=$2/node-$1
package=node-$(node -p '`${process.platform}-${process.arch}`')
# Not the package `node`: it downloads this one in an install script, which npm may not be allowed to run.
npm install --prefix "$target" --no-save --ignore-scripts --no-audit --no-fund --silent "$package@$major" >&2
"$target/node_modules/$package/bin/node" --version >&2
echo "$target/node_modules/$package/bin"
