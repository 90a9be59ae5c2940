#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/TUTORIAL.md: every command does what it says there, with what `make install` installs.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tutorial.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES RECORDER_ENABLE
root=$TMP/root
ok "make install" make -s -C "$top_builddir" install "DESTDIR=$root"
pc=$(find "$root" -name librecorder.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root LD_LIBRARY_PATH=${pc%/pkgconfig/*}
PATH=$(dirname "$(find "$root" -type f -path '*/bin/recorder')"):$PATH
export RECORDER_DIR=$TMP/run
mkdir "$RECORDER_DIR" "$TMP/try"

kinds=()
if can_trace; then
	kinds=(kernel)
else
	skip "the kernel's events" "needs root and tracefs"
fi
tutorial_script "$TMP/try" "${kinds[@]}"
(cd "$TMP/try" && bash run.sh)
tutorial_results "$TMP/try" "${kinds[@]}"

done_testing
