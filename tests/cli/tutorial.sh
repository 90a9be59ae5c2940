#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/TUTORIAL.md: every command does what it says there, with what `make install` installs.

. "$top_srcdir/tests/tap.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES RECORDER_ENABLE
root=$TMP/root
ok "make install" make -s -C "$top_builddir" install "DESTDIR=$root"
pc=$(find "$root" -name librecorder.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root LD_LIBRARY_PATH=${pc%/pkgconfig/*}
PATH=$(dirname "$(find "$root" -type f -path '*/bin/recorder')"):$PATH
export RECORDER_DIR=$TMP/run
mkdir "$RECORDER_DIR" "$TMP/try"

kinds=()
if [ "$(id -u)" != 0 ]; then
	skip "the kernel's events" "only root may trace the kernel"
elif ! mountpoint -q /sys/kernel/tracing && ! mount -t tracefs nodev /sys/kernel/tracing; then
	skip "the kernel's events" "this kernel has no tracefs"
else
	kinds=(kernel)
fi
python3 "$top_srcdir/tests/tutorial.py" script "$top_srcdir/docs/TUTORIAL.md" "$TMP/try" "${kinds[@]}"
(cd "$TMP/try" && bash run.sh)
while read -r line; do
	case $line in
	"ok "*) pass "${line#* - }" ;;
	"not ok "*) fail "${line#* - }" ;;
	*) echo "$line" ;;
	esac
done < <(python3 "$top_srcdir/tests/tutorial.py" check "$top_srcdir/docs/TUTORIAL.md" "$TMP/try" "${kinds[@]}")
ok "there are commands" test "$tap_count" -gt 15

done_testing
