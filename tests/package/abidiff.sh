#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No type or function of librecorder.so has changed since the dump beside this file was made. Additions are permitted.
#
# At a release, and only then: abidw --headers-dir include/librecorder --no-show-locs --drop-private-types \
#	--no-corpus-path --no-comp-dir-path --out-file tests/package/librecorder.abi BUILD/.libs/librecorder.so, of a build with -g by gcc.

. "$top_srcdir/tests/tap.sh"

library=$top_builddir/.libs/librecorder.so
dump=$top_srcdir/tests/package/librecorder.abi
[ -e "$library" ] || skip_all "configured without a shared library"
command -v abidiff >/dev/null || skip_all "abidiff is not installed"
readelf -S "$library" | grep -q '\.debug_info' || skip_all "built without debugging information"

compare()
{
	abidiff --no-added-syms "$@"
}

is "the dump is of the same library" "$(sed -nE "s/^<abi-corpus .*soname='([^']*)'.*/\1/p" "$dump")" \
	"$(readelf -d "$library" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')"
ok "the dump names its functions" test "$(grep -c '<elf-symbol ' "$dump")" -gt 100
ok "nothing has changed" compare "$dump" "$library"

# The comparison can fail: with a dump in which a member of a struct is at another offset, and with one that has a function that
# does not exist now.
sed "/<class-decl name='rec_slot' /,/<\/class-decl>/s/layout-offset-in-bits='128'/layout-offset-in-bits='160'/" "$dump" >"$TMP/moved.abi"
unlike "the dump contains the reservation's type" "$(cmp "$dump" "$TMP/moved.abi")" '^$'
fails "a member that has moved is found" compare "$TMP/moved.abi" "$library"
sed "s/name='rec_save'/name='rec_gone'/; s/mangled-name='rec_save'/mangled-name='rec_gone'/; s/elf-symbol-id='rec_save@/elf-symbol-id='rec_gone@/" \
	"$dump" >"$TMP/gone.abi"
fails "a function that is gone is found" compare "$TMP/gone.abi" "$library"

done_testing
