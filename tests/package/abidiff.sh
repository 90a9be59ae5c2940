#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No type or function of the libraries has changed since the dumps beside this file were made. Additions are permitted.
#
# At a release, and only then, for LIBRARY librecorder and librecorder-dat: abidw --headers-dir include/librecorder --no-show-locs
#	--drop-private-types --no-corpus-path --no-comp-dir-path --out-file tests/package/LIBRARY.abi BUILD/.libs/LIBRARY.so, of a
#	build with -g by gcc.

. "$top_srcdir/tests/tap.sh"

[ -e "$top_builddir/.libs/librecorder.so" ] || skip_all "configured without a shared library"
command -v abidiff >/dev/null || skip_all "abidiff is not installed"
grep -q '\.debug_info' <<<"$(readelf -S "$top_builddir/.libs/librecorder.so")" || skip_all "built without debugging information"

compare()
{
	abidiff --no-added-syms "$@"
}

# agrees LIBRARY FUNCTIONS STRUCT BITS FUNCTION: the library has all that its dump has, at least FUNCTIONS functions.
# The comparison must fail with a dump in which the member of STRUCT at offset BITS is 32 bits further, and with one
# that has a function that does not exist now.
agrees()
{
	local library=$top_builddir/.libs/$1.so dump=$top_srcdir/tests/package/$1.abi

	is "the dump of $1 is of the same library" "$(sed -nE "s/^<abi-corpus .*soname='([^']*)'.*/\1/p" "$dump")" \
		"$(readelf -d "$library" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')"
	ok "the dump of $1 names its functions" test "$(grep -c '<elf-symbol ' "$dump")" -gt "$2"
	ok "nothing has changed in $1" compare "$dump" "$library"

	sed "/<class-decl name='$3' /,/<\/class-decl>/s/layout-offset-in-bits='$4'/layout-offset-in-bits='$(($4 + 32))'/" "$dump" >"$TMP/moved.abi"
	unlike "the dump of $1 contains $3" "$(cmp "$dump" "$TMP/moved.abi")" '^$'
	fails "a member of $3 that has moved is found" compare "$TMP/moved.abi" "$library"
	sed "s/name='$5'/name='rec_gone'/; s/mangled-name='$5'/mangled-name='rec_gone'/; s/elf-symbol-id='$5@/elf-symbol-id='rec_gone@/" \
		"$dump" >"$TMP/gone.abi"
	fails "$5 would be missed" compare "$TMP/gone.abi" "$library"
}

agrees librecorder 100 rec_slot 128 rec_save
agrees librecorder-dat 20 rec_dat_record 128 rec_dat_open

done_testing
