#!/bin/sh
# setup.sh DIR: make DIR/child.mjs, a real pi subagent's asking side that Node can run at once.
#
# Fetches the published pi permission system and a bundler with npm, and bundles the package's child class together with
# our glue (child.mts). Nothing of the package enters this repository. Needs node 20 or later and npm.
set -eu
package=@gotgenes/pi-permission-system
version=20.7.3
bundler=esbuild@0.25.10

glue=$(cd "$(dirname "$0")" && pwd)/child.mts
mkdir -p "$1"
cd "$1"
printf '{"private": true}\n' >package.json
npm install --ignore-scripts --no-audit --no-fund --silent "$bundler"
npm pack --silent "$package@$version" >/dev/null
rm -rf package
tar -xzf "gotgenes-pi-permission-system-$version.tgz"
# the package's own short names for its files
printf '{"compilerOptions": {"baseUrl": ".", "paths": {"#src/*": ["./package/src/*"]}}}\n' >tsconfig.json
sed "s|PACKAGE/|$PWD/package/|" "$glue" >child.mts
node_modules/.bin/esbuild child.mts --bundle --platform=node --format=esm --target=node20 \
  --tsconfig=tsconfig.json --log-level=warning --outfile=child.new.mjs
mv child.new.mjs child.mjs
