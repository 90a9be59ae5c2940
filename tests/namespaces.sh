# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Instead of tests/tap.sh, for tests that need a machine of their own: runs the script again in a mount namespace where
# /dev/shm and /run are new and empty, and no buffer directory is chosen. $as_root is "yes" unless the user is root there
# alone. Everything that is mounted ends with the script.
#
#	begin NAME COMMAND...	starts a victim by COMMAND... (empty: as it is) that comes past events without end, and counts
#				them in the file NAME; the victim's pid in $pid
#	counter NAME		how far it has come
#	end PID...		kills it, and waits until it is gone
#	in_pids COMMAND...	runs a command in a pid namespace of its own, with its /proc

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

victim=$top_builddir/tests/programs/victim

# Ends with the shell that started it, and with it all that is in there.
in_pids()
{
	setpriv --pdeathsig KILL unshare --pid --fork --mount --mount-proc --kill-child "$@"
}

counter()
{
	od -An -t u8 "$1" | tr -d ' '
}

counts()
{
	[ -s "$1" ] && [ "$(counter "$1")" != 0 ]
}

# The pid of the process PID or of a descendant of it that has file $2 as its program.
find_pid()
{
	local child

	if [ "$(readlink "/proc/$1/exe")" = "$2" ]; then
		echo "$1"
		return
	fi
	for child in $(pgrep -P "$1"); do
		find_pid "$child" "$2"
	done
}

begin()
{
	local name=$1

	shift
	rm -f "$name"
	"$@" "$victim" "$name" 1000000000000 &
	wait_until counts "$name"
	pid=$(find_pid $! "$(readlink -f "$victim")")
}

end()
{
	local each

	kill -KILL "$@" 2>/dev/null
	for each in "$@"; do
		wait_until eval "! kill -0 $each 2>/dev/null || [ \"\$(sed -n 's/^State:\t//p' /proc/$each/status 2>/dev/null | cut -c 1)\" = Z ]"
	done
}
