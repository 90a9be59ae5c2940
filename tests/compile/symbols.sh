#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What librecorder.so exports is what its public headers declare, and it needs libc alone.

. "$top_srcdir/tests/tap.sh"

library=$top_builddir/.libs/librecorder.so
[ -e "$library" ] || skip_all "configured without a shared library"

nm -D --defined-only "$library" | awk '$2 ~ /[TDBRVWi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u >"$TMP/exported"
ok "it exports something" test -s "$TMP/exported"

strangers=$(grep -v -e '^rec_' -e '^LIBRECORDER_' "$TMP/exported")
is "each exported name begins with rec_" "$strangers" ""

# Every word of the headers, without comments.
for header in "$top_srcdir"/include/librecorder/*.h "$top_srcdir"/include/librecorder/detail/*.h; do
	$CC -fpreprocessed -dD -E -P "$header" 2>/dev/null
done | grep -oE '\brec_[a-z0-9_]+' | sort -u >"$TMP/declared"
undeclared=$(grep '^rec_' "$TMP/exported" | grep -vxF -f "$TMP/declared")
is "each exported function is in a public header" "$undeclared" ""

# Conversely: what the headers declare as functions, except inlines, which have a body.
# dat.h belongs to librecorder-dat: tests/compile/dat.sh.
for header in "$top_srcdir"/include/librecorder/*.h; do
	[ "${header##*/}" = dat.h ] || printf '#include <librecorder/%s>\n' "${header##*/}"
done >"$TMP/all.c"
# shellcheck disable=SC2086
ok "all public headers compile together" $CC -std=c11 -D_GNU_SOURCE $CFLAGS_FOR_TEST -fsyntax-only "$TMP/all.c"
# shellcheck disable=SC2086
$CC -std=c11 -D_GNU_SOURCE $CFLAGS_FOR_TEST -E "$TMP/all.c" 2>/dev/null |
	awk '/^# [0-9]+ "/ { ours = index($3, "/include/librecorder/") > 0; next } ours && !/^#/' | tr '\n' ' ' |
	sed -E 's/[{};]/\n&\n/g' | awk '
		/^\{$/ { depth++; next }
		/^\}$/ { depth--; next }
		/^;$/ { if (depth == 0 && text ~ /^[^=(]*[ *]rec_[a-z0-9_]+ *\(/) {
				sub(/ *\(.*/, "", text); sub(/.*[ *]/, "", text); print text }
			text = ""; next }
		depth == 0 { text = $0 }
	' | grep '^rec_' | sort -u >"$TMP/functions"
missing=$(grep -vxF -f "$TMP/exported" "$TMP/functions")
is "each declared function is exported" "$missing" ""
ok "the headers declare functions" test -s "$TMP/functions"

contracts=$top_srcdir/tests/compile/contracts.py
is "their comments name threads and signal handlers" "$(python3 "$contracts" "$top_srcdir"/include/librecorder/*.h)" ""
printf '/* Pure functions. */\n\n/* Any thread; signal-safe. */\nint rec_a(void);\n\nint rec_b(void);\n\n/* Any thread. */\nint rec_c(void); /* signals */\n' >"$TMP/bare.h"
is "a function without them is found" "$(python3 "$contracts" "$TMP/bare.h")" "$TMP/bare.h: rec_b: no comment
$TMP/bare.h: rec_c: signals"

# The map lists each symbol in the node of the release that added it. The linker silently skips a listed name that is
# not defined.
map=$top_srcdir/librecorder/librecorder.map
awk '/^LIBRECORDER_/ { node = $1 } /^\t(rec_[a-z0-9_]+);$/ { sub(/;/, "", $1); print $1, node }' "$map" | sort >"$TMP/listed"
is "the map lists each symbol once" "$(cut -d ' ' -f 1 "$TMP/listed" | uniq -d)" ""
unlike "and no pattern" "$(grep -v '^ \*' "$map" | grep '^.[^*]*[*].*;$' | grep -v '^.\*;$')" .
is "the library exports what the map lists, with the same nodes" \
	"$(nm -D --defined-only "$library" | awk '$3 ~ /^rec_/ { sub(/@+/, " ", $3); print $3 }' | sort)" "$(cat "$TMP/listed")"
is "Debian's list is the same" \
	"$(sed -nE 's/^ (rec_[a-z0-9_]+)@(LIBRECORDER_[0-9.]+) .*/\1 \2/p' "$top_srcdir/debian/librecorder0.symbols" | sort)" "$(cat "$TMP/listed")"

version=$(sed -nE 's/^#define REC_VERSION_(MAJOR|MINOR|PATCH) //p' "$top_srcdir/include/librecorder/version.h" | paste -sd .)
is "version.h has the version of configure.ac" "$version" \
	"$(sed -nE 's/^AC_INIT\(\[librecorder\], \[([0-9.]+)\].*/\1/p' "$top_srcdir/configure.ac")"
last=$(sed -nE 's/^LIBRECORDER_([0-9.]+) .*/\1/p' "$map" | sort -V | tail -n 1)
is "no node is of a later version" "$(printf '%s\n' "$last" "$version" | sort -V | tail -n 1)" "$version"
cat >"$TMP/version.c" <<'EOF'
#include <librecorder/event.h>
#include <stdio.h>
int main(void)
{
#if REC_VERSION < REC_VERSION_NUMBER(1, 0, 0)
#error the preprocessor compares versions
#endif
	printf("%u.%u.%u\n", rec_version() / 1000000, rec_version() / 1000 % 1000, rec_version() % 1000);
	return rec_version() != REC_VERSION;
}
EOF
# shellcheck disable=SC2086
ok "a program compares versions" $CC $CFLAGS_FOR_TEST "$TMP/version.c" -o "$TMP/version" "$library"
is "and that of the library is this one" "$(LD_LIBRARY_PATH=${library%/*} "$TMP/version")" "$version"

# rec_save() writes a trace.dat; nothing in the library reads one.
# readers LIBRARY: the functions in it that read one
readers()
{
	nm "$1" | awk 'NF == 3 { print $3 }' | grep -E '^(dat_(open|parse|merge|time|walk|cursor)|bytes_(from|get|left|skip))'
}
if [ -n "$(nm "$library" | grep ' dat_write_open$')" ]; then
	is "it has no reader of trace.dat" "$(readers "$library")" ""
	[ ! -e "${library%.so}-dat.so" ] || ok "librecorder-dat has one" test "$(readers "${library%.so}-dat.so" | wc -l)" -gt 20
else
	skip "it has no reader of trace.dat" "its own symbols were stripped"
fi

if [ -n "$(nm -D "$library" | grep -E '__(asan|tsan|ubsan)_')" ]; then
	skip "it needs libc alone" "a sanitizer build needs the sanitizer"
else
	needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -e '^libc\.so' -e '^ld-linux')
	is "it needs libc alone" "$needed" ""
	# Only if the headers offer them, the library uses __rseq_size (2.35), and the __isoc23_ forms of strtol() and others (2.38).
	newest=$(nm -D --undefined-only "$library" | sed -nE '/__rseq_|__isoc23_/d; s/^ *U .*@(GLIBC_[0-9.]+)$/\1/p' | sort -V | tail -n 1)
	is "README and CONTRIBUTING name the C library that it needs" \
		"$(grep -ohE 'GNU C library, [0-9.]+ or later' "$top_srcdir/README.md" "$top_srcdir/CONTRIBUTING.md")" \
		"GNU C library, ${newest#GLIBC_} or later
GNU C library, ${newest#GLIBC_} or later"
fi

done_testing
