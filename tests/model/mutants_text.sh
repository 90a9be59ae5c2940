#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Each mutant in tests/model/mutants still fits the sources: what it replaces is in its file exactly once. mutants.sh, in
# the long tier, builds and runs them.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/model/damage.sh"

nr_mutants=0
wrong=

mutant()
{
	local name=$1 file=$2

	shift 3
	nr_mutants=$((nr_mutants + 1))
	damage "$top_srcdir" "$file" "$@" >"$TMP/why" || wrong+="$name: $(<"$TMP/why")"$'\n'
}

spare()
{
	mutant "${@:1:3}" "${@:5}"
}

. "$top_srcdir/tests/model/mutants"
is "the texts of $nr_mutants mutants are in their files exactly once" "$wrong" ""
ok "there are mutants" test "$nr_mutants" -gt 0

printf 'one two two\n' >"$TMP/file"
ok "a text that is there" damage "$TMP" file 'one' 'three' in file 'three' 'four'
is "is replaced" "${damaged[file]}" "four two two"
fails "a text that is not there" damage "$TMP" file 'one' 'three' 'one' 'four'
fails "a text that is there twice" damage "$TMP" file 'two' 'three'
fails "a text without a replacement" damage "$TMP" file 'one'
fails "a file that is not there" damage "$TMP" none 'one' 'two'
done_testing
