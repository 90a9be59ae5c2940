#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Test points (librecorder/core/testpoint.h) cost nothing: no instruction in an event's path, no byte of what is loaded; and
# tests find them whichever linker was used.

. "$top_srcdir/tests/tap.sh"

cat >"$TMP/events.c" <<'END'
#include <librecorder/event.h>
REC_EVENT(test, one, u64(id));
REC_EVENT(test, seven, s32(a), s32(b), s32(c), s32(d), s32(e), s32(f), s32(g));
REC_EVENT(test, text, u64(id), string(path));
void write_events(const int *v, const char *path);
void write_events(const int *v, const char *path)
{
	REC(test, one, (unsigned int)v[0]);
	REC(test, seven, v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
	REC(test, text, (unsigned int)v[7], path);
}
END

# Bytes of the sections that are loaded; instructions, except those that only pad.
loaded()
{
	readelf -SW "$1" | sed -nE 's/^ *\[ *[0-9]+\] //p' | awk '$7 ~ /A/ && $1 !~ /eh_frame/ { print $1, $5 }'
}

instructions()
{
	objdump -d --no-show-raw-insn "$1" | grep -P '^ +[0-9a-f]+:\t' | grep -cvE '\b(nop|nopw|nopl|xchg +%ax,%ax)\b'
}

names()
{
	objcopy -O binary --only-section=.debug.rec_testpoints --set-section-flags .debug.rec_testpoints=alloc "$1" "$TMP/points" &&
		grep -aoE '[a-z][a-z0-9_]{4,}' "$TMP/points" | sort -u
}

for cc in "$CC" clang; do
	if ! command -v "${cc%% *}" >/dev/null; then
		skip "$cc compiles events with test points" "$cc is not installed"
		continue
	fi
	for part in with without; do
		option=()
		[ $part = without ] || option=(-include "$top_srcdir/librecorder/core/testpoint.h")
		# shellcheck disable=SC2086
		ok "$cc compiles events $part test points" \
			$cc -std=gnu11 -O2 -D_GNU_SOURCE -I"$top_srcdir/include" "${option[@]}" -c "$TMP/events.c" -o "$TMP/$part.o"
	done
	is "$cc: what is loaded is no larger" "$(loaded "$TMP/with.o")" "$(loaded "$TMP/without.o")"
	is "$cc: no more instructions" "$(instructions "$TMP/with.o")" "$(instructions "$TMP/without.o")"
	like "$cc: the points are in the object" "$(names "$TMP/with.o")" "reserve_tail"
	is "$cc: a program that includes the public headers alone has none" "$(readelf -SW "$TMP/without.o" | grep -c rec_testpoints)" 0
done

# All copies of a template except one are discarded; no linker objects to that.
cat >"$TMP/copies.h" <<'END'
#include "librecorder/core/testpoint.h"
#include <librecorder/event.h>
extern int word;
template<int N> struct copy {
	static __attribute__((noinline)) void write()
	{
		word = N;
		REC_TESTPOINT(in_template);
	}
};
void other();
END
cat >"$TMP/first.cc" <<'END'
#include "copies.h"
int word;
int main()
{
	copy<1>::write();
	other();
	return word != 2;
}
END
cat >"$TMP/second.cc" <<'END'
#include "copies.h"
void other()
{
	copy<1>::write();
	copy<2>::write();
}
END
for linker in bfd gold lld; do
	if ! command -v ld.$linker >/dev/null; then
		skip "ld.$linker links copies of a point" "ld.$linker is not installed"
		continue
	fi
	for flags in "-fPIE -pie" "-static" "-ffunction-sections -Wl,--gc-sections" "-O0"; do
		# shellcheck disable=SC2086
		ok "ld.$linker links copies of a point with $flags" "$CXX" -O2 $flags -fuse-ld=$linker -I"$top_srcdir/include" \
			-I"$top_srcdir" -I"$TMP" "$TMP/first.cc" "$TMP/second.cc" -o "$TMP/copies"
		ok "and the program runs" "$TMP/copies"
		like "and has the point" "$(names "$TMP/copies")" "in_template"
	done
done
strip -o "$TMP/stripped" "$TMP/copies"
is "strip takes the points away" "$(readelf -SW "$TMP/stripped" | grep -c rec_testpoints)" 0

library=$top_builddir/.libs/librecorder.so
if [ -e "$library" ]; then
	is "the library loads nothing of them" "$(readelf -SW "$library" | awk '/rec_testpoints/ { print ($0 ~ / A /) }')" 0
	ok "it has points of the rare cases" test "$(names "$library" | wc -l)" -ge 40
else
	skip "the library loads nothing of them" "this build has no shared library"
fi

done_testing
