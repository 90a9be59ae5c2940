# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh, for tests that let recorder trace this kernel. Sets $tracing to the tracefs
# directory, and defines
#
#	record ARGUMENT...		removes out.dat and runs recorder record -o out.dat ARGUMENT...; sets $pid, $status and $err
#	refused NAME REGEX ARGUMENT...	the same: it fails, prints one matching line, does not start the command and leaves nothing
#	inject CALL ACTION FILE ARGUMENT...
#				starts recorder ARGUMENT... with this ACTION of strace's --inject at each CALL for FILE, the end of a
#				path that begins with the recorder's instance; sets $recorder; its output is in said and log
#	is_stopped		whether ACTION signal=STOP has stopped it: for wait_until
#	left PID		the instances of that recorder
#	is_left PID		whether it has any: for wait_until
#	is_swept PID		makes a recording, and tells whether that has removed it: for wait_until
#	traces PID		whether it records the kernel: for wait_until

[ "$(id -u)" = 0 ] || skip_all "only root may trace the kernel"
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs nodev $tracing || skip_all "this kernel has no tracefs"
cd "$TMP" || exit 1

record()
{
	rm -f out.dat
	# shellcheck disable=SC2016
	run sh -c 'echo $$ >pid; exec "$@"' sh "$RECORDER" record -o out.dat "$@"
	pid=$(<pid)
}

inject()
{
	rm -f calls
	# An instance is named after the process and the time of its start.
	# shellcheck disable=SC2016
	sh -c 'call=$1 action=$2 path=$0/instances/recorder-$$-$(cut -d " " -f 22 "/proc/$$/stat")$3
		shift 3
		exec strace -D -qq -o calls -e trace="$call" -e inject="$call:$action" -P "$path" "$@"' \
		$tracing "$1" "$2" "$3" "$RECORDER" "${@:4}" >said 2>log &
	recorder=$!
}

is_stopped()
{
	grep -qs 'stopped by SIGSTOP' calls
}

left()
{
	ls $tracing/instances | grep -E "^recorder-$1-[0-9]+(-[a-z]+)?$"
}

is_left()
{
	left "$1" >/dev/null
}

# tracing_on alone does not show it: it is 1 in a new instance, and then 0 until an event is switched on.
traces()
{
	local instance

	for instance in $(left "$1"); do
		grep -q . "$tracing/instances/$instance/set_event" && grep -qx 1 "$tracing/instances/$instance/tracing_on" && return
	done
	return 1
}

refused()
{
	local name=$1 regex=$2

	shift 2
	rm -f started
	record "$@"
	like "$name: its status" "$status" '^(1|2)$'
	like "$name: its message" "$err" "^recorder record: $regex"
	is "$name: one message, with the filter and a caret at most" "$(grep -vc '^  ' <<<"$err")" 1
	is "$name: nothing is left" "$(left "$pid"; ls out.dat* started 2>/dev/null)" ""
}

# If the recorder's command still had its descriptors, or another test swept, the first recording does not remove it.
is_swept()
{
	"$RECORDER" record -q -o next.dat -u none -e sched_process_exec true
	! is_left "$1"
}
