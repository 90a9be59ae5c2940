#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each system call of the recorder fails once, or the recorder is killed at it: in a small recording, and in recoveries
# of what was left. After each fault, the recorder must have ended by itself, it must have reported the fault unless the
# file is complete nevertheless, and no event may be lost: each is in the file, or recover finds it. FAULTS=all for
# every call and every error; otherwise a sample that begins at RECORDER_SEED. FAULTS=at:CALL:NUMBER:FAULT for a single
# one: that repeats a failure.

. "$top_srcdir/tests/tap.sh"

events=5000
mkdir "$TMP/work"
cd "$TMP/work" || exit 1
command -v strace >/dev/null || skip_all "strace is not installed"
strace -qq -o "$TMP/trace" -e inject=write:error=EIO:when=1 true 2>/dev/null || skip_all "strace cannot make calls fail here"
# A name of its own, so that it can be found among all processes.
cp "$top_builddir/tests/programs/producer" "$TMP/producer"

program_is_gone()
{
	! pgrep -f "^$TMP/producer 1" >/dev/null
}

# faults_of CALL: sets $faults to the faults for the call. There are none for brk, which sets no errno, and for close,
# which closes the descriptor even if it fails.
faults_of()
{
	faults=
	case $1 in
	pwritev | pwrite64 | copy_file_range) faults='ENOSPC EIO EINTR EDQUOT' ;;
	write) faults='ENOSPC EIO EPIPE' ;;
	openat) faults='EMFILE ENOMEM EACCES' ;;
	mmap | mremap) faults=ENOMEM ;;
	pread64 | read) faults='EIO EINTR' ;;
	clone | clone3 | fork | vfork) faults=EAGAIN ;;
	pipe2 | signalfd4) faults=EMFILE ;;
	flock) faults='EINTR ENOLCK' ;;
	fsync) faults='EIO EINTR EINVAL' ;;
	poll | ppoll | wait4) faults=EINTR ;;
	fallocate) faults='EOPNOTSUPP EIO' ;;
	fcntl) faults='ENOLCK EMFILE' ;;
	getdents64 | newfstatat | linkat | rename | symlinkat | mkdir | unlink | unlinkat | rmdir | ftruncate | faccessat2) faults=EIO ;;
	esac
	faults=${faults:+error=${faults// / error=}}
}

kills_of()
{
	faults=signal=KILL
}

# own_calls FILE: "CALL NUMBER" for each call that the recorder's own code makes, NUMBER among those of its kind.
own_calls()
{
	awk '/^[a-z]/ { call = $0; sub(/\(.*/, "", call); nr[call]++; if (/^rt_sigaction\(SIGBUS/) own = 1
		if (own && call !~ /^(exit_group|rt_sig)/) print call, nr[call] }' "$1"
}

# in_files FILE...: the number of events in the files together, if these are the first ones without a gap, and each
# event is in one file. An exception for several files: a page that was being copied when the disk was full may be in
# two.
in_files()
{
	local file same=

	[ $# = 1 ] || same=-u
	for file; do
		[ ! -e "$file" ] || "$RECORDER" report "$file" 2>/dev/null
	done | sed -n 's/.* count: .*number=//p' | sort -n $same | awk '$1 != count++ { bad++ } END { print bad ? "gap" : count + 0 }'
}

# Recovers the spool that is left, and then everything else.
recover_rest()
{
	[ ! -e a.dat.spool ] || "$RECORDER" recover -q -o b.dat a.dat.spool 2>>"$TMP/recover.err"
	[ -z "$(ls "$RECORDER_DIR")" ] || "$RECORDER" recover -q -o c.dat --all 2>>"$TMP/recover.err"
}

# The recorder has left only its own files. Files that could not be removed, or are kept because the disk failed, may
# stay if this is reported.
judge_rest()
{
	[ -z "$(ls -A | grep -v '^[abc].dat$')" ] || grep -q -e "cannot remove" -e "tries again" <<<"$err" || echo "left: $(ls -A)"
}

# Prints what is wrong after a command that had a fault, or nothing.
judge_end()
{
	# 126: the program could not be started.
	[ "$status" -lt 124 ] || [ "$status" = 126 ] || { echo "status $status"; return; }
	[ "$status" = 0 ] || grep -q "^recorder [a-z]*: " <<<"$err" || { echo "it failed without a message"; return; }
	if [ "$(in_files a.dat)" != $events ]; then
		grep -q "^recorder [a-z]*: " <<<"$err" || { echo "$(in_files a.dat) events, without a message"; return; }
		recover_rest
		[ "$(in_files b.dat)" = $events ] || [ "$(in_files a.dat b.dat c.dat)" = $events ] ||
			{ echo "$(in_files a.dat b.dat c.dat) events after recover"; return; }
	fi
	judge_rest
}

judge_record()
{
	if [ "$out" = "produced $events" ]; then
		judge_end
	elif [ "$status" = 0 ] || [ "$status" -gt 126 ] || [ -z "$err" ]; then
		echo "the program did not run: $status"
	else
		judge_rest
	fi
}

# Prints what is wrong after the recorder was killed, or nothing. The program must have continued, and each event must
# be in one file, once.
judge_kill()
{
	wait_until program_is_gone || { echo "the program does not end"; return; }
	if [ -e a.dat.spool ] || [ "$(in_files a.dat)" != $events ]; then
		recover_rest
		# A recorder that was killed before it wrote anything, or after it read everything, leaves nothing more.
		[ "$(in_files b.dat)" = $events ] || [ "$(in_files a.dat)" = $events ] || [ "$(in_files c.dat)" = $events ] ||
			[ "$(cat "$TMP/.out")" != "$expected" ] || { echo "recovered: $(in_files b.dat) and $(in_files c.dat) events"; return; }
	fi
	"$RECORDER" clean >/dev/null 2>>"$TMP/recover.err"
	[ -z "$(ls "$RECORDER_DIR")" ] || { echo "left: $(ls -R "$RECORDER_DIR")"; return; }
	# A SIGKILL between the two names of the file leaves the first name; one before its first byte leaves an empty
	# spool.
	[ -s a.dat.spool ] || rm -f a.dat.spool
	[ -z "$(ls -A | grep -v -e '^[abc].dat$' -e '^\.[abc]\.dat\.')" ] || echo "left: $(ls -A)"
}

# sampled CALL:NUMBER:FAULT: whether this one, the next in the sequence of all, is in the sample.
turn=${RECORDER_SEED:-1}
sampled()
{
	turn=$((turn + 1))
	case ${FAULTS:-} in
	all) ;;
	at:*) [ "$FAULTS" = "at:$1" ] ;;
	*) [ $((turn % 64)) = 0 ] ;;
	esac
}

clear_all()
{
	rm -rf "$RECORDER_DIR" && mkdir -m 0700 "$RECORDER_DIR"
	find . -mindepth 1 -delete
	: >"$TMP/recover.err"
}

# for_calls FAULTS_OF PREPARE JUDGE COMMAND...: runs and judges the command without a fault, and with each fault in the
# sample.
for_calls()
{
	local set_faults=$1 prepare=$2 judge=$3 faults call number fault why

	shift 3
	tried=0
	bad=0
	repeat_by
	clear_all
	$prepare
	strace -qq -o "$TMP/calls" "$@" >/dev/null 2>"$TMP/.err"
	[ "$(in_files a.dat)" = $events ] || { bad=1; diag "without a fault: $(in_files a.dat) events"; }
	own_calls "$TMP/calls" | sort -u >"$TMP/own"
	while read -r call number; do
		$set_faults "$call"
		for fault in $faults; do
			sampled "$call:$number:$fault" || continue
			clear_all
			$prepare
			run timeout --kill-after=5 120 strace -qq -o "$TMP/trace" -e trace="$call" -e inject="$call:$fault:when=$number" "$@"
			# Not every run makes the same calls.
			if ! grep -qE '\(INJECTED\)|killed by SIGKILL' "$TMP/trace"; then
				diag "$call number $number, $fault: it did not happen"
				continue
			fi
			tried=$((tried + 1))
			why=$($judge)
			[ -n "$why" ] || continue
			bad=$((bad + 1))
			repeat_by "FAULTS=at:$call:$number:$fault"
			diag "$call number $number, $fault: $why"
			diag "status $status: $err"
			diag "recover: $(cat "$TMP/recover.err")"
		done
	done <"$TMP/own"
	tried_in_all=$((tried_in_all + tried))
	[ "$tried" -gt 2 ] || [[ ${FAULTS-} == at:* ]] || { bad=1; diag "$tried faults tried"; }
}

leave_buffer()
{
	RECORDER_KEEP=1 RECORDER_ENABLE='*' "$TMP/producer" 1 $events >/dev/null
}

# Leaves the recording of a recorder that is killed when its stage's thread writes for the first time; its program runs
# to its end.
leave_recording()
{
	strace -f -qq -o "$TMP/trace" -e trace=pwrite64 -e inject=pwrite64:signal=KILL:when=1 \
		"$RECORDER" record -q -o a.dat "$TMP/producer" 1 $events >/dev/null 2>&1
	wait_until program_is_gone
}

tried_in_all=0
expected="produced $events"
for_calls faults_of true judge_record "$RECORDER" record -o a.dat "$TMP/producer" 1 $events
is "of $tried failing calls of record none loses an event, leaves anything, or goes unreported" "$bad" 0
for_calls kills_of true judge_kill "$RECORDER" record -o a.dat "$TMP/producer" 1 $events
is "killed at $tried calls of record, all is recovered" "$bad" 0
expected=
for_calls faults_of leave_buffer judge_end "$RECORDER" recover --all -o a.dat
is "the same of $tried calls of recover, for a program that died" "$bad" 0
for_calls kills_of leave_buffer judge_kill "$RECORDER" recover --all -o a.dat
is "and killed at $tried" "$bad" 0
for_calls faults_of leave_recording judge_end "$RECORDER" recover -o a.dat a.dat.spool
is "the same of $tried calls of recover, for a recorder that was killed" "$bad" 0
for_calls kills_of leave_recording judge_kill "$RECORDER" recover -o a.dat a.dat.spool
is "and killed at $tried" "$bad" 0
[[ ${FAULTS-} != at:* ]] || ok "the fault $FAULTS happened" test $tried_in_all -ge 1

# ---- short writes: a file reaches its size limit in the middle of one

bad=0
for kb in 1 8 9 50 101 120 121 122 150; do
	clear_all
	leave_buffer
	run bash -c "ulimit -f $kb; exec \"\$@\"" - "$RECORDER" recover --all -o a.dat
	why=$(judge_end)
	[ -z "$why" ] || { bad=$((bad + 1)); diag "$kb KiB: $why"; diag "status $status: $err"; }
done
is "where files may not grow, writes are short and then fail, and nothing is lost" "$bad" 0

# ---- a new spool that has nothing is not in the way of the next attempt

clear_all
leave_buffer
run bash -c 'ulimit -f 8; exec "$@"' - "$RECORDER" recover --all -o a.dat
is "no room for more than the head of the spool" "$status" 1
is "is reported" "$err" "recorder recover: cannot write '$PWD/a.dat.spool': File too large; nothing is lost, run this again when there is room"
is "no spool is left" "$(ls -A)" ""
ok "the same command succeeds when there is room" "$RECORDER" recover --all -o a.dat
is "with every event" "$(in_files a.dat)" $events

clear_all
leave_recording
run timeout --kill-after=5 120 strace -qq -o "$TMP/trace" -P "$PWD/b.dat.spool" -e inject=pwritev:error=ENOSPC:when=12+ \
	"$RECORDER" recover --all -o b.dat
is "a spool that cannot be appended to an empty one" "$status" 1
is "nothing is called lost" "$err" "recorder recover: cannot write '$PWD/b.dat.spool': No space left on device; nothing is lost, run this again when there is room"
is "only the first spool is left" "$(ls -A)" a.dat.spool
ok "the same command recovers everything when there is room" "$RECORDER" recover --all -o b.dat
is "every event" "$(in_files b.dat)" $events

# ---- the spool of another recording does not fit onto the disk: its appended part is removed from the file again

clear_all
RECORDER_KEEP=1 RECORDER_ENABLE='*' "$TMP/producer" 1 10 >/dev/null
leave_recording
run timeout --kill-after=5 120 strace -qq -o "$TMP/trace" -P "$PWD/b.dat.spool" -e inject=pwritev:error=ENOSPC:when=30+ \
	"$RECORDER" recover --all -o b.dat
is "a spool that cannot be appended" "$status" 1
like "nothing is called lost" "$err" "^recorder recover: cannot write '$PWD/b.dat.spool': No space left on device; nothing is lost: 'recorder recover $PWD/b.dat.spool' makes a file of what it has, then run this again$"
ok "there is no file" test ! -e b.dat
ok "the new spool has what was recovered before" "$RECORDER" recover b.dat.spool
is "and nothing of the other recording" "$(in_files b.dat)" 10
ok "everything is recovered when there is room" "$RECORDER" recover --all -o c.dat
is "every event" "$(in_files c.dat)" $events

# ---- the left spool cannot be written, as on a full disk: the rest of its buffers goes into the new spool

clear_all
# The recorder is killed at its second wait, the first in which the program runs, so the buffer keeps most events.
strace -qq -o "$TMP/trace" -e trace=ppoll -e inject=ppoll:signal=KILL:when=2 \
	"$RECORDER" record -q -o a.dat "$TMP/producer" 1 $events >/dev/null 2>&1
wait_until program_is_gone
run timeout --kill-after=5 120 strace -qq -o "$TMP/trace" -P "$PWD/a.dat.spool" -e inject=pwritev:error=ENOSPC:when=3+ \
	"$RECORDER" recover --all -o b.dat
is "a left spool whose disk is full is no obstacle" "$status" 0
like "nothing is lost" "$err" "^recovered $events events from 1 process, 1 thread; 0 lost"
is "every event is there once" "$(in_files b.dat)" $events
is "nothing is left" "$(ls -A . "$RECORDER_DIR")" "$(printf '%s\n' .: b.dat '' "$RECORDER_DIR:")"
ok "a write to the spool has failed" grep -q INJECTED "$TMP/trace"

# ---- a spool that exists when it is to be made, and not when it is examined: each second open of it fails

clear_all
: >a.dat.spool
run timeout --kill-after=5 120 strace -qq -o "$TMP/trace" -P "$PWD/a.dat.spool" -e inject=openat:error=ENOENT:when=2+2 \
	"$RECORDER" record -o a.dat true
is "it is not retried without end" "$status" 1
like "and that is reported" "$err" "^recorder record: '.*/a.dat.spool' exists already"
ok "it was retried" test "$(wc -l <"$TMP/trace")" -gt 4

# ---- the only buffer cannot be opened: nothing is recorded, and nothing is lost

clear_all
leave_buffer
buffer=$(ls "$RECORDER_DIR")
mv "$RECORDER_DIR/$buffer" "$TMP"
run timeout --kill-after=5 120 strace -qq -o "$TMP/trace" -P "$buffer" -e inject=openat:error=ENOMEM:when=1+ \
	"$RECORDER" record -o a.dat bash -c 'mv "$0" "$RECORDER_DIR"' "$TMP/$buffer"
is "a buffer that cannot be opened" "$status" 1
like "is reported" "$err" "some buffers could not be read; retry with 'recorder recover .*/a.dat.spool'"
recover_rest
is "and it is still there" "$(in_files b.dat)" $events
is "to be recovered" "$(ls -A . "$RECORDER_DIR")" "$(printf '%s\n' .: b.dat '' "$RECORDER_DIR:")"

done_testing
