#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: make.sh BUILD-DIRECTORY OUTPUT-DIRECTORY
#
# Freezes a version when it is released: copies its public headers, and makes a buffer and a spool with its build, as a killed program and
# a killed recorder leave them. The result is tests/abi/VERSION; it is never made again. written.txt has what the program wrote, as the
# program printed it; the file `spooled` has the number of these events that the recorder had drained when it was killed.

set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
rounds=20

work=/tmp/abi
mkdir -m 0700 "$work"
trap 'rm -rf "$work"' EXIT
mkdir -m 0700 "$work/run"
export RECORDER_DIR=$work/run
cd "$work"

git -C "$top" archive HEAD include/librecorder | tar -x -C "$out"
${CC:-cc} -O2 -I"$out/include" "$top/tests/abi/program.c" -o program "$build/.libs/librecorder.a"

RECORDER_ENABLE='*' RECORDER_BUFFER_KB=64 RECORDER_MAX_KB=256 ./program $rounds kill >"$out/written.txt" || true
cp --sparse=always run/*.rec buffer.rec
rm run/*.rec

"$build/recorder" record -o spooled.dat -b 64 ./program $rounds wait >printed 2>record.log &
recorder=$!
until [ "$(wc -l <printed)" = "$(wc -l <"$out/written.txt")" ]; do
	sleep 0.2
done
sleep 3
program=$(pgrep -P $recorder)
kill -KILL $recorder
kill -KILL "$program"
cp spooled.dat.spool spool
# That version itself counts, once, the events in the spool alone, without those that were left in the buffer.
rm -r run
"$build/recorder" recover -o counted.dat spooled.dat.spool 2>&1 | sed -nE 's/^recovered ([0-9]+) events.*/\1/p' >"$out/spooled"

tar --sparse --owner=0 --group=0 --mtime=@0 -cf - buffer.rec | gzip -9n >"$out/buffer.tar.gz"
gzip -9nc spool >"$out/spool.gz"
