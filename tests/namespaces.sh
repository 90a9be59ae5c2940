# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced instead of tests/tap.sh, for tests that need a system to themselves: runs the script again in a mount
# namespace where /dev/shm and /run are new and empty, and no buffer directory is chosen. $as_root is "yes" unless the
# user is root only there. All these mounts end with the script.
#
#	in_pids COMMAND...	runs a command in a pid namespace of its own, with its /proc
#
# It sources tests/victim.sh, too.

if [ -z "${as_root-}" ]; then
	as_root=yes
	own_mounts=(unshare --mount)
	if [ "$(id -u)" != 0 ]; then
		as_root=no
		own_mounts=(unshare --user --map-root-user --mount)
	fi
	export as_root
	if "${own_mounts[@]}" true; then
		exec "${own_mounts[@]}" "$BASH" "$0"
	fi
	# shellcheck source=tests/tap.sh
	. "$top_srcdir/tests/tap.sh"
	skip_all "no mount namespace may be made here"
fi

# shellcheck source=tests/tap.sh
. "$top_srcdir/tests/tap.sh"
# shellcheck source=tests/victim.sh
. "$top_srcdir/tests/victim.sh"
unset RECORDER_DIR XDG_RUNTIME_DIR REC_DEBUG
cd "$TMP" && mount -t tmpfs -o mode=1777 none /dev/shm && mount -t tmpfs -o mode=755 none /run && mkdir /run/user || exit 1

# A directory that something is mounted on cannot be removed.
leave_mounts()
{
	local each

	cd /
	# shellcheck disable=SC2046
	kill -KILL $(jobs -p) 2>/dev/null
	for each in $(sed -n "s|^[^ ]* \($TMP/[^ ]*\) .*|\1|p" /proc/self/mounts); do
		umount --lazy "$each"
	done
	tap_exit
}
trap leave_mounts EXIT

# Ends with the shell that started it; then all processes in the namespace end, too.
in_pids()
{
	setpriv --pdeathsig KILL unshare --pid --fork --mount --mount-proc --kill-child "$@"
}
