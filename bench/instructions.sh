#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# instructions.sh [--update]: how many instructions an event takes, as bench/instructions.c counts them; --update writes
# that into bench/instructions.txt. Options are fixed, so that numbers depend on the compiler's version alone. CC and
# top_srcdir are taken from the environment.

set -u
CC=${CC:-gcc}
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
file=$top_srcdir/bench/instructions.txt
dir=$(mktemp -d "${TMPDIR:-/tmp}/recorder-instructions.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# The linker removes the parts of these sources that the ring does not need, and everything that only those parts need.
# Symbols are bound at once, so that no call takes longer the first time.
"$CC" -std=gnu11 -O2 -D_GNU_SOURCE= -DREC__DETAIL=1 -include "$top_srcdir/librecorder/core/testpoint.h" \
	-fvisibility=hidden -ffunction-sections -Wl,--gc-sections -Wl,-z,now -I"$top_srcdir/include" -I"$top_srcdir" -o "$dir/instructions" "$top_srcdir/bench/instructions.c" \
	"$top_srcdir/tests/unit/ring_fixture.c" "$top_srcdir"/librecorder/ring/ring*.c "$top_srcdir/librecorder/core/page.c" \
	"$top_srcdir/librecorder/os/signal_block.c" "$top_srcdir/librecorder/os/clock.c" "$top_srcdir"/librecorder/*/filter*.c "$top_srcdir/librecorder/core/event_fields.c" \
	"$top_srcdir/librecorder/core/event_text.c" || exit 1
timeout 120 "$dir/instructions" >"$dir/counts" || exit

if [ "${1-}" = --update ]; then
	{
		echo "# Instructions an event; what they are and how they are counted: bench/README.md. make bench-instructions writes this."
		echo "# compiler $("$CC" -dumpmachine) $("$CC" -dumpfullversion)"
		cat "$dir/counts"
	} >"$file"
fi
cat "$dir/counts"
