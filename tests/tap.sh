# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What each shell test begins with: TAP on stdout, one line a check; what the checked commands print goes to the test's
# log, after '#'. A script that ends without done_testing has failed, wherever it ended.
#
# Gives: $TMP, an empty directory that is removed at the end; RECORDER_DIR below it, so that no test sees the buffers of
# another; $RECORDER, $top_srcdir, $top_builddir, $CC, $CXX, $CFLAGS_FOR_TEST, $LDADD_FOR_TEST from the makefile.
#
#	ok NAME COMMAND...	the command succeeds
#	fails NAME COMMAND...	the command fails, with a status of its own: a signal or a sanitizer's report is a failure
#	is NAME GOT EXPECTED	two texts are equal
#	like NAME TEXT REGEX	a text matches an extended regular expression
#	unlike NAME TEXT REGEX	it does not
#	pass NAME, fail NAME	for a result that the script decides itself
#	skip NAME REASON	one check cannot be done here
#	skip_all REASON		no check can; ends the script
#	can_trace		whether a test may record the kernel: it runs as root and tracefs is mounted, now if it was not
#	diag TEXT...		into the log
#	wait_until COMMAND...	polls until the command succeeds; fails after a minute
#	is_gone PID		a process is dead, whether its parent has waited for it or not: for wait_until
#	has_size FILE BYTES	a file is at least this large: for wait_until
#	is_attached SPOOL PROGRAM [N]
#				a recorder counts from now on all that a program writes (or N programs of that file): wait_until
#	events_in SUMMARY	how many events a recording's summary counts
#	lost_in SUMMARY		and how many that are lost
#	run COMMAND...		runs it and sets $status, $out, $err
#	forget_others FILE...	removes messages about recorders that other tests have killed; run, ok and fails do so
#	repeat_by VARIABLE=VALUE...
#				if a check fails from now on, the log gets a line that repeats the test with these variables;
#				without any: no such line
#	done_testing		prints the plan, and fails if nothing was checked; the last line of every script, which then
#				exits with 0

set -u -o pipefail
export LC_ALL=C TZ=UTC

tap_count=0
tap_failed=0
tap_done=no
tap_repeat=
tap_test=tests/${0##*tests/}

TMP=$(mktemp -d "${TMPDIR:-/tmp}/recorder-test.XXXXXX") || exit 99
RECORDER_DIR=$TMP/run
mkdir -m 0700 "$RECORDER_DIR" || exit 99
export TMP RECORDER_DIR
unset RECORDER_ENABLE RECORDER_BUFFER_KB RECORDER_BUFFER_MAX_KB RECORDER_SUBBUF_KB RECORDER_MODE RECORDER_CLOCK RECORDER_MAX_KB RECORDER_DIR_MAX_KB RECORDER_KEEP

tap_exit()
{
	local status=$? job

	for job in $(jobs -p); do
		kill "$job" 2>/dev/null
	done
	wait 2>/dev/null
	cd / && rm -rf "$TMP"
	if [ "$tap_done" = no ]; then
		echo "Bail out! the script ended early, with status $status"
		exit 1
	fi
}
trap tap_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

tap_result()
{
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $2"
	[ -z "$tap_repeat" ] || diag "repeat: make check TESTS=$tap_test $tap_repeat"
	return 1
}

repeat_by()
{
	tap_repeat=$*
}

pass()
{
	tap_result 0 "$1"
}

fail()
{
	tap_result 1 "$1"
}

# Tests share the tracefs: any recorder may find the instances of one that another test has killed, and report them.
forget_others()
{
	sed -i -E '/tracefs instances? (was|were) left by killed recorders/d' "$@"
}

# The command runs in this shell, so a function may set variables. $status, $out and $err are its results. The shell
# leaves out bytes of zero, and its warning about them is suppressed.
run()
{
	status=0
	"$@" >"$TMP/.out" 2>"$TMP/.err" || status=$?
	{
		out=$(<"$TMP/.out")
		err=$(<"$TMP/.err")
		if [[ $err == *'left by killed recorders'* ]]; then
			forget_others "$TMP/.err"
			err=$(<"$TMP/.err")
		fi
	} 2>/dev/null
}

tap_show_run()
{
	diag "$(printf '%q ' "$@")"
	diag "status $status"
	sed 's/^/# out: /' "$TMP/.out" | tail -n 60
	sed 's/^/# err: /' "$TMP/.err" | tail -n 60
}

ok()
{
	local name=$1

	shift
	run "$@"
	tap_result "$status" "$name" && return 0
	tap_show_run "$@"
	return 1
}

fails()
{
	local name=$1 bad=0

	shift
	run "$@"
	if [ "$status" = 0 ] || [ "$status" -ge 126 ]; then
		bad=1
	fi
	if grep -q -e 'Sanitizer' -e 'runtime error:' "$TMP/.err"; then
		bad=1
	fi
	tap_result "$bad" "$name" && return 0
	tap_show_run "$@"
	return 1
}

is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
		return 0
	fi
	fail "$1"
	diag "got:      $2"
	diag "expected: $3"
	return 1
}

like()
{
	if [[ $2 =~ $3 ]]; then
		pass "$1"
		return 0
	fi
	fail "$1"
	diag "got:              $2"
	diag "does not match:   $3"
	return 1
}

unlike()
{
	if ! [[ $2 =~ $3 ]]; then
		pass "$1"
		return 0
	fi
	fail "$1"
	diag "got:      $2"
	diag "matches:  $3"
	return 1
}

skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $*"
	tap_done=yes
	exit 0
}

can_trace()
{
	[ "$(id -u)" = 0 ] || return
	mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
}

wait_until()
{
	local left=600

	until "$@"; do
		left=$((left - 1))
		if [ "$left" = 0 ]; then
			diag "waited a minute in vain for: $*"
			return 1
		fi
		sleep 0.1
	done
}

is_gone()
{
	# Wait until the first of several threads has ended while others still run.
	[ ! -e "/proc/$1" ] || [ "$(grep -cE '^(State:.Z|Threads:.1$)' "/proc/$1/status" 2>/dev/null)" = 2 ] || [ ! -e "/proc/$1" ]
}

has_size()
{
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -ge "$2" ]
}

# When the spool has the program, events written before the attachment have been skipped.
is_attached()
{
	[ "$(grep -a -o -F "$2" "$1" 2>/dev/null | wc -l)" -ge "${3-1}" ]
}

events_in()
{
	sed -nE 's/^(recorded|recovered|copied) ([0-9]+) event.*/\2/p' <<<"$1"
}

lost_in()
{
	sed -nE 's/^(recorded|recovered|copied) .*; ([0-9]+) lost$/\2/p' <<<"$1"
}

done_testing()
{
	# automake counts a plan of 0 tests as skipped.
	[ "$tap_count" != 0 ] || fail "something is checked"
	echo "1..$tap_count"
	tap_done=yes
	[ "$tap_failed" = 0 ] || diag "$tap_failed of $tap_count failed"
	exit 0
}
