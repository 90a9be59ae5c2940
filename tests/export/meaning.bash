# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh: makes meaning.dat, a recording of tests/export/meaning.c, and sets $main and $server
# to the tids of its threads.

# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o meaning "$top_srcdir/tests/export/meaning.c" $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o meaning.dat ./meaning
main=$(sed -n 's/^main //p' .out)
server=$(sed -n 's/^server //p' .out)
