#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that cannot make a buffer, or have no memory for a lane, run all the same, and the cause is reported.

. "$top_srcdir/tests/namespaces.sh"

producer=$top_builddir/tests/programs/producer

# says NAME REASON [VARIABLE=VALUE...] [COMMAND...]: the program runs, and prints one line with REC_DEBUG=1 and none
# without.
says()
{
	local name=$1 reason=$2

	shift 2
	ok "$name: the program runs" env "$@" "$producer" 1 10
	is "$name: it does its work, and prints nothing" "$out$err" "produced 10"
	ok "$name: REC_DEBUG=1" env REC_DEBUG=1 "$@" "$producer" 1 10
	is "$name: it does its work" "$out" "produced 10"
	like "$name: it prints why, on one line" "$err" "^librecorder: process [0-9]+ $reason$"
	is "$name: only one" "$(wc -l <<<"$err")" 1
}

shm=/dev/shm/librecorder-0

# ---- no buffer

mkdir -m 700 good open ro
ln -s good link
touch file
chmod 770 open
mount -t tmpfs -o mode=700,ro none ro
without_shm=(unshare --mount sh -c 'mount -t tmpfs none /dev && exec "$@"' -)
says "no directory" "records nothing, no buffer in '$TMP/none/run': there is no such directory" RECORDER_DIR="$TMP/none/run"
says "a relative one" "records nothing, no buffer in 'good': the directory is not an absolute path.*" RECORDER_DIR=good
says "a link" "records nothing, no buffer in '$TMP/link': the directory is a symbolic link" RECORDER_DIR="$TMP/link"
says "a file" "records nothing, no buffer in '$TMP/file': Not a directory" RECORDER_DIR="$TMP/file"
says "one that others may write to" \
	"records nothing, no buffer in '$TMP/open': the directory belongs to another user, or others may write to it" \
	RECORDER_DIR="$TMP/open"
says "read-only" "records nothing, no buffer in '$TMP/ro.*': the file system is read-only" RECORDER_DIR="$TMP/ro"
says "no /dev/shm" "records nothing, no buffer in '$shm': there is no such directory" "${without_shm[@]}"
says "a limit on files" "records nothing, no buffer in '$shm.*': the limit on a file's size is smaller .*" \
	sh -c 'ulimit -f 100; exec "$@"' -
says "no descriptor" "records nothing, no buffer in '$shm.*': Too many open files" \
	"$BASH" -c 'exec 3>&- 4>&- 5>&- 6>&-; ulimit -n 4; exec "$@"' -
says "sizes" "records nothing, no buffer in '$shm': the directory is not an absolute path, or a size or the clock is invalid" \
	RECORDER_SUBBUF_KB=5
ok "sizes: so do its children" env RECORDER_SUBBUF_KB=5 "$top_builddir/tests/programs/family" fork clone vfork
mount -t tmpfs -o size=1m,mode=1777 none /dev/shm
dd if=/dev/zero of=/dev/shm/fill bs=4096 2>/dev/null
says "no room" "records nothing, no buffer in '$shm.*': no room in the file system, or no memory"
is "nothing is left" "$(ls -A /dev/shm/librecorder-0)" ""
# A recorder may find a buffer after the program has set its size, and before it removes it.
# shellcheck disable=SC2016
fails "no room: record" "$RECORDER" record sh -c 'truncate -s 1M "$RECORDER_DIR/77-7.rec"'
like "no room: the buffer was not finished" "$err" "1 buffer was never finished: is there room in the buffer directory\\?"
unlike "no room: it is not called unreadable" "$err" "skipped"
# The program may find room just after the recorder found none.
cat >room.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
/* The second time that the status of the buffer is asked for, there is room, and data. */
static int status(const char *name, int fd, struct stat *st)
{
	static unsigned int times;
	int (*real)(int, struct stat *) = (int (*)(int, struct stat *))dlsym(RTLD_NEXT, name);
	const int r = real(fd, st);

	if (!r && S_ISREG(st->st_mode) && st->st_size == 1 << 20 && ++times == 2 && (unlink("/dev/shm/fill") || pwrite(fd, "", 1, 0) != 1))
		_exit(99);
	return r;
}
int fstat(int fd, struct stat *st) { return status("fstat", fd, st); }
int fstat64(int fd, struct stat64 *st) { return status("fstat64", fd, (struct stat *)st); }
END
ok "a library that makes room" $CC -shared -fPIC -w -o room.so room.c -ldl
# shellcheck disable=SC2016
fails "room after the fault: record" env LD_PRELOAD="$TMP/room.so" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
	"$RECORDER" record sh -c 'truncate -s 1M "$RECORDER_DIR/77-7.rec"'
is "room was made" "$(ls /dev/shm)" librecorder-0
like "room after the fault: the buffer was not finished" "$err" "1 buffer was never finished: is there room in the buffer directory\\?"
unlike "room after the fault: it is not called unreadable" "$err" "skipped"

# ---- a buffer, but no room for a lane in it: /dev/shm of 1 MiB

says "/dev/shm of 1 MiB" "loses events, no memory for a thread's lane in '$shm/.*\\.rec': no room in the file system, or no memory" \
	RECORDER_ENABLE='*'
fails "record" "$RECORDER" record "$producer" 1 1000
like "each event is reported as lost" "$err" "recorded 0 events from 0 processes, 0 threads; 1000 lost"
like "and why, and what to do" "$err" \
	"1000 of threads without a lane \\(no room for another lane in the buffer directory: free some, or make lanes smaller \\(-b\\)\\)"
like "so there is no file" "$err" "nothing was recorded, 'trace.dat' is not written: all events were lost"
is "the memory is free again" "$(df --output=used /dev/shm | tail -n 1 | tr -d ' ')" 0
ok "record with smaller lanes" "$RECORDER" record -b 64 "$producer" 2 100
like "loses nothing" "$err" "recorded 200 events from 1 process, 2 threads; 0 lost"
umount /dev/shm

# ---- no room for the switches of a running program

mount -t tmpfs -o size=1m,mode=1777 none /dev/shm
begin count env RECORDER_BUFFER_KB=64
dd if=/dev/zero of=/dev/shm/fill bs=4096 2>/dev/null
full="no room in the file system of its buffer, or no memory"
fails "no room for switches: record" "$RECORDER" record -P "$pid" -o switches.dat
is "is reported" "$err" "recorder record: cannot attach to process $pid (victim): $full"
fails "no room for switches: enable" "$RECORDER" enable -P "$pid" 'test:*' -f 'number > 5'
is "is reported, too" "$err" "recorder enable: process $pid: $full"
rm /dev/shm/fill
briefly "with room it is recorded" "$RECORDER" record -P "$pid" -o switches.dat
end "$pid"
rm -rf $shm
umount /dev/shm

# ---- a container's usual /dev/shm: 64 MiB

mount -t tmpfs -o size=64m,mode=1777 none /dev/shm
ok "record in 64 MiB" "$RECORDER" record "$producer" 8 1000
like "loses nothing" "$err" "recorded 8000 events from 1 process, 8 threads; 0 lost"
umount /dev/shm

# ---- the recorder reports why

fails "a command without librecorder" "$RECORDER" record true
like "is named" "$err" "recorder record: nothing was recorded, 'trace.dat' is unchanged: no process of 'true' uses librecorder, or its buffer directory was out of reach \\(REC_DEBUG=1 shows why\\)"
fails "a limit on files" "$RECORDER" record sh -c 'ulimit -f 100; "$@"; exec "$@"' - "$producer" 1 10
like "is reported" "$err" "trace.dat' is unchanged: 2 processes were not recorded: the limit on a file's size is smaller than a buffer \\(ulimit -f\\)"
is "the program runs" "$out" "$(printf 'produced 10\nproduced 10')"
is "and nothing is left" "$(ls $shm)" ""
fails "sizes that make no sense" env RECORDER_SUBBUF_KB=5 "$RECORDER" record "$producer" 1 10
like "are reported" "$err" "trace.dat' is unchanged: 1 process was not recorded: a size or the clock in the environment is invalid"
ok "one of two" "$RECORDER" record sh -c '"$@"; ulimit -f 100; exec "$@"' - "$producer" 1 10
like "is reported, too" "$err" "recorder record: 1 process was not recorded: "
like "and the other is recorded" "$err" "recorded 10 events from 1 process"
# shellcheck disable=SC2016
ok "a second attempt with a smaller buffer" "$RECORDER" record sh -c 'ulimit -f 40000; exec "$@"' - \
	"$top_builddir/tests/programs/requests" 5 small
like "its events are recorded" "$err" "recorded 10 events from 1 process"
unlike "the first attempt is not reported" "$err" "not recorded"
fails "no /dev/shm" "${without_shm[@]}" "$RECORDER" record -o x.dat "$producer" 1 10
is "is reported on one line" "$err" "recorder record: cannot use the buffer directory '$shm': No such file or directory; set RECORDER_DIR to a directory of your own"
mkdir -m 700 ro2
mount --bind ro2 ro2 && mount -o remount,bind,ro ro2
fails "a read-only directory" env RECORDER_DIR="$TMP/ro2" "$RECORDER" record -o x.dat "$producer" 1 10
is "is reported on one line, too" "$err" "recorder record: cannot make a directory in '$TMP/ro2': Read-only file system; set RECORDER_DIR to a directory of your own"
ok "nothing was begun" test ! -e x.dat -a ! -e x.dat.spool

# ---- XDG_RUNTIME_DIR, which may be another user's

where()
{
	REC_DEBUG=1 env "$@" "$victim" count 1 &
	pid=$!
	wait_until has_written count 1
	find /dev/shm /run "$TMP" -name "$pid-*.rec" -printf '%h\n'
	end "$pid"
	rm -f count
	find /dev/shm /run "$TMP" -name "$pid-*.rec" -delete
}

mkdir -m 700 /run/user/0
is "without XDG_RUNTIME_DIR" "$(where)" $shm
is "a good one" "$(where XDG_RUNTIME_DIR=/run/user/0)" /run/user/0/librecorder
is "one that is not there" "$(where XDG_RUNTIME_DIR=/run/user/1)" $shm
is "a file" "$(where XDG_RUNTIME_DIR="$TMP/file")" $shm
is "an empty one" "$(where XDG_RUNTIME_DIR=)" $shm
is "a relative one" "$(where XDG_RUNTIME_DIR=.)" $shm
if [ "$as_root" = yes ]; then
	mkdir -m 755 /run/user/1000
	chown 1000 /run/user/1000
	is "another user's directory" "$(where XDG_RUNTIME_DIR=/run/user/1000)" $shm
	is "nothing was made there" "$(ls /run/user/1000)" ""
else
	skip "another user's directory" "only root has other users"
	skip "nothing was made there" "only root has other users"
fi
is "a directory for this alone" "$(stat -c %a /run/user/0/librecorder)" 700

# ---- the program's umask does not decide the modes of directory and file

rm -rf $shm
(umask 0777 && exec "$victim" count 1) &
wait_until has_written count 1
is "a umask that takes all rights: the directory" "$(stat -c %a $shm)" 700
is "and the file" "$(stat -c %a $shm/$!-*.rec)" 600
end $!
rm -rf $shm count
(umask 0 && exec "$victim" count 1) &
wait_until has_written count 1
is "a umask that takes none: the directory" "$(stat -c %a $shm)" 700
is "and the file" "$(stat -c %a $shm/$!-*.rec)" 600
end $!
rm -rf $shm

# ---- read-only for the reader: what can be seen is shown, what cannot be done is reported

begin count
mkdir seen
mount --bind $shm seen && mount -o remount,bind,ro seen
ok "ps of a read-only directory" "$RECORDER" ps --dir "$TMP/seen"
like "shows the program" "$out" " $pid +started +0/1 "
ok "list" "$RECORDER" list --dir "$TMP/seen"
like "shows its event" "$out" "off  test:seq"
"$RECORDER" enable -P "$pid" '*' >/dev/null
ok "stat shows its events" wait_until eval '"$RECORDER" stat --dir "$TMP/seen" | grep -q "^entries: [1-9]"'
fails "disable" "$RECORDER" disable --dir "$TMP/seen" -P "$pid" '*'
is "reports why not" "$err" "recorder disable: process $pid: its buffer is on a read-only file system"
fails "record" "$RECORDER" record --dir "$TMP/seen" -P "$pid" -o x.dat
is "reports it, too" "$err" "recorder record: cannot inspect program $pid: its buffer is on a read-only file system"
"$RECORDER" disable -P "$pid" '*' >/dev/null
end "$pid"
buffer=$(echo seen/"$pid"-*.rec)
ok "what it left is recovered" "$RECORDER" recover -o left.dat "$buffer"
like "its events" "$err" "recovered [1-9][0-9]* events from 1 process"
ok "the buffer is still there" test -s "$buffer"
ok "to be recovered once more" "$RECORDER" recover -o again.dat "$shm/${buffer#seen/}"
ok "with the same events" equal_events again.dat left.dat

done_testing
