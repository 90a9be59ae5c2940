#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder recover: programs that ended by a signal, a crash or abort(), by pid and all at once; from core files; living
# processes' files are not touched.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"

mortal=$top_builddir/tests/programs/mortal
cd "$TMP" || exit 1

# begin_mortal EVENTS IMAGES WAY: a mortal program, ready to die; its pid in $pid.
begin_mortal()
{
	rm -f ready
	RECORDER_ENABLE='*' "$mortal" "$@" >ready 2>/dev/null &
	pid=$!
	wait_until grep -q ready ready
}

# die: kills the program, if it does not die by itself.
die()
{
	kill -KILL "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

# ---- by pid

begin_mortal 1000 1 wait
fails "a living program is not recovered" "$RECORDER" recover -o no.dat "$pid"
like "the reason is reported" "$err" "^recorder recover: process $pid has left no buffer, it is still running: 'recorder snapshot -P $pid'"
ok "no file was begun" test ! -e no.dat -a ! -e no.dat.spool
fails "nor by its name" "$RECORDER" recover -o no.dat mortal
like "the message shows what to do" "$err" "no dead program 'mortal' has left a buffer; 'recorder snapshot -P mortal' copies the events of a running one"
buffer=$(echo run/"$pid"-*.rec)
fails "nor by its buffer" "$RECORDER" recover -o no.dat "$buffer"
is "the message shows what to do" "$err" \
	"recorder recover: '$buffer' belongs to process $pid, which is still running: 'recorder snapshot -P $pid' copies its events"
fails "nor by the directory of its buffer" "$RECORDER" recover -o no.dat run
is "the message shows what to do" "$err" \
	"recorder recover: '$TMP/run' holds only buffers of running programs: 'recorder snapshot -P PROGRAM' copies their events"
ok "no file was begun" test ! -e no.dat -a ! -e no.dat.spool
# The same as from a container of which only the directory is left, on a file system whose locks show nothing: a process
# that nobody can see from here.
mkdir far
cp --sparse=always "$buffer" far/
printf '\1\0\0\0\0\0\0\0\0\0\0\0' | dd of="far/${buffer#run/}" bs=1 seek=152 conv=notrunc status=none
ok "a buffer whose program cannot be seen" "$RECORDER" recover -o far.dat "far/${buffer#run/}"
is "is recovered if it is named" "$(numbers far.dat)" "0 999 1000 0"
# A process that has ended still exists as a zombie, because its parent does not wait for it.
cat >zombie.py <<'END'
import subprocess, sys
child = subprocess.Popen([sys.argv[1], "1"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.read()
END
mkfifo zombie_in
exec 8<>zombie_in
python3 zombie.py sleep <zombie_in >zombie_pid &
parent=$!
wait_until test -s zombie_pid
zombie=$(cat zombie_pid)
kill -KILL "$zombie"
wait_until grep -q 'State:.Z' "/proc/$zombie/status"
fails "a zombie" "$RECORDER" recover -o no.dat "$zombie"
like "is dead" "$err" "process $zombie has left no buffer$"
kill "$parent"
exec 8>&-
die
fails "recover alone" "$RECORDER" recover -o no.dat
like "lists what there is" "$out" "$pid +[0-9]+ s +[0-9.]+ [kM]B +mortal +.*/$pid-[^ ]*\.rec$"
like "and names --all" "$err" "or recover all of them with --all$"
is "nothing is taken" "$(ls run | wc -l)" 1
cp "$(type -P true)" mortal
ok "by its name, also where the program is" "$RECORDER" recover -o named.dat mortal
rm mortal
is "all of it" "$(numbers named.dat)" "0 999 1000 0"
begin_mortal 1000 1 wait
die
ok "a killed one is recovered" "$RECORDER" recover -o one.dat "$pid"
like "nothing is lost" "$err" "recovered 1000 events from 1 process, 1 thread; 0 lost"
unlike "the summary does not mention torn events, as there are none" "$err" "torn"
is "all events are there" "$(numbers one.dat)" "0 999 1000 0"
is "the buffer is gone" "$(ls run)" ""
fails "a second recovery of it" "$RECORDER" recover -o no.dat "$pid"
like "finds nothing" "$err" "process $pid has left no buffer$"

# No program has ever run here, or the machine was rebooted.
fails "where there is no buffer directory at all nothing is recovered" env RECORDER_DIR="$TMP/none" "$RECORDER" recover -o no.dat --all
is "which is reported" "$err" "recorder recover: nothing to recover: no dead program or recorder has left anything"
ok "no file was begun" test ! -e no.dat -a ! -e no.dat.spool

begin_mortal 1000 3 wait
die
is "three images of a process left three buffers" "$(ls run | wc -l)" 3
ok "they are recovered by its pid" "$RECORDER" recover -o exec.dat "$pid"
is "as one" "$(numbers exec.dat)" "0 2999 3000 0"
is "the buffers of all images are gone" "$(ls run)" ""

# The first thread of a process ends before another one.
cat >headless.c <<'END'
#include <pthread.h>
#include <stdio.h>
static void *rest(void *arg) { return getchar() == 'x' ? arg : NULL; }
int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, rest, NULL))
		return 1;
	pthread_exit(NULL);
}
END
ok "a program whose first thread ends" "$CC" -pthread headless.c -o headless
coproc headless { exec ./headless; }
leader=$headless_PID
wait_until grep -q 'State:.Z' "/proc/$leader/status"
fails "is alive" "$RECORDER" recover -o no.dat "$leader"
like "and this is reported" "$err" "^recorder recover: process $leader has left no buffer, it is still running"
exec {headless[1]}>&-
wait_until is_gone "$leader"

# The kernel's names have 15 bytes; a file's name may have more.
ln "$mortal" a_name_that_is_longer_than_15 2>/dev/null || cp "$mortal" a_name_that_is_longer_than_15
mortal=./a_name_that_is_longer_than_15
begin_mortal 1000 1 wait
die
ok "a program with a long name" "$RECORDER" recover -o long.dat a_name_that_is_longer_than_15
is "is found by it" "$(numbers long.dat)" "0 999 1000 0"
mortal=$top_builddir/tests/programs/mortal

# Two processes have the name, so the name is ambiguous.
begin_mortal 1000 1 wait
die
first=$pid
begin_mortal 1000 1 wait
die
fails "a name that two dead programs have" "$RECORDER" recover -o no.dat mortal
like "lists the first" "$out" " $first +[0-9]+ s +[0-9.]+ [kM]B +mortal +.*/$first-[^ ]*\.rec($|"$'\n'")"
like "and the second" "$out" " $pid +[0-9]+ s +[0-9.]+ [kM]B +mortal +.*/$pid-[^ ]*\.rec($|"$'\n'")"
like "the message shows what to do" "$err" "^recorder recover: several dead programs 'mortal' have left buffers: name one of these by its PID or FILE$"
is "nothing is taken" "$(ls run | wc -l)" 2
ok "no file was begun for a name of two" test ! -e no.dat -a ! -e no.dat.spool
ok "the pid decides" "$RECORDER" recover -o first.dat "$first"
is "only that process is recovered" "$(cd run && echo *)" "$(cd run && echo "$pid"-*.rec)"
ok "then the name is enough" "$RECORDER" recover -o second.dat mortal
is "and nothing is left" "$(ls run)" ""

begin_mortal 1000 1 segv
wait "$pid" 2>/dev/null
ok "a program that crashed inside an event" "$RECORDER" recover -o torn.dat "$pid"
like "the event is counted" "$err" "; 0 lost"$'\n'"  1 torn: begun but not finished, not counted as lost"
is "what came before is there" "$(numbers torn.dat)" "0 999 1000 0"
unlike "the event is not" "$("$RECORDER" report torn.dat)" "blob"

# A pid that was used before: the same buffer, from an older process.
begin_mortal 1000 1 wait
die
buffer=$(cd run && echo "$pid"-*.rec)
cp --sparse=always "run/$buffer" "run/$pid-1.rec"
printf '\1\0\0\0\0\0\0\0' | dd of="run/$pid-1.rec" bs=1 seek=24 conv=notrunc status=none
ok "of two buffers with the same pid" "$RECORDER" recover -o new.dat "$pid"
is "the newer one is recovered" "$(ls run)" "$pid-1.rec"
ok "and then the older one" "$RECORDER" recover -o old.dat "$pid"
is "both have their events" "$(numbers new.dat) $(numbers old.dat)" "0 999 1000 0 0 999 1000 0"

# ---- all

begin_mortal 1000 1 wait
die
begin_mortal 500 2 wait
die
begin_mortal 100 1 wait
living=$pid
"$RECORDER" record -o going.dat "$mortal" 10 1 wait >going 2>/dev/null &
recorder=$!
ok "a recording is running" wait_until grep -q ready going
"$RECORDER" record -o dead.dat "$mortal" 77 1 wait >dead 2>/dev/null &
killed=$!
ok "another one is to be killed" wait_until grep -q ready dead
spare=$(pgrep -P "$killed")
kill -KILL "$killed" "$spare"
wait "$killed" 2>/dev/null
wait_until is_gone "$spare"
ok "everything that is dead" "$RECORDER" recover --all -o all.dat
like "is in one file" "$err" "recovered 2077 events from 4 processes, 4 threads; 0 lost"
like "the living are not" "$(ls run | tr '\n' ' ')" "^$living-[0-9]*.rec session-[A-Za-z0-9]* stage-[A-Za-z0-9]* $"
is "the spool is gone" "$(ls *.spool)" "going.dat.spool"
fails "there is nothing more" "$RECORDER" recover --all -o no.dat
like "and that is reported" "$err" "nothing to recover: no dead program or recorder has left anything"
begin_mortal 30 1 wait
die
ok "a directory of buffers" "$RECORDER" recover -o some.dat run
is "has those of dead programs" "$(numbers some.dat)" "0 29 30 0"
like "a running one is reported" "$err" "1 program is still running: 'recorder snapshot -P PROGRAM' copies its events"
kill -KILL "$living"
wait "$living" 2>/dev/null
going=$(pgrep -P "$recorder")
kill -TERM "$recorder"
wait "$recorder" 2>/dev/null
kill -KILL "$going"
like "the recording that was running has all of its own events" "$(numbers going.dat)" "^0 9 10 0$"
ok "the one that lived" "$RECORDER" recover --all -o last.dat
is "is recovered after its death" "$(numbers last.dat)" "0 99 100 0"

# ---- a program that continues without its recorder

"$RECORDER" record -q -b 131072 -o first.dat "$victim" count 1000000000000 &
killed=$!
ok "a program is being recorded" wait_until has_size first.dat.spool 300000
program=$(pgrep -P "$killed" -x victim)
kill -KILL "$killed"
wait "$killed" 2>/dev/null
kill -STOP "$program"
session=$(echo "$RECORDER_DIR"/session-*)
ok "its recording is recovered while it lives" "$RECORDER" recover first.dat.spool
like "the summary reports that it lives" "$err" "1 program is still running: 'recorder recover' can later recover what it records from now on, to another file \\(-o\\)"
like "nothing is lost" "$err" "; 0 lost"
read -r begin end _ < <(numbers first.dat)
is "from the first event on" "$begin" 0
like "its buffer stays" "$(ls "$session" | tr '\n' ' ')" "^$program-[0-9]*.rec "
kill -CONT "$program"
ok "the program continues" wait_until has_written count $((end + 1000))
end "$program"
ok "what it wrote since" "$RECORDER" recover -o second.dat "$program"
like "with the recording that it was a part of" "$err" "process $program was being recorded: all of the recording in '.*/session-[A-Za-z0-9]*' is recovered"
read -r next _ < <(numbers second.dat)
is "follows, with nothing missing and nothing twice" "$next" $((end + 1))
is "now everything is removed" "$(ls "$RECORDER_DIR")" ""

# ---- core files

# core_of WAY: a core file `core` of a program that has written 3000 events; from the kernel where that writes core files,
# otherwise from gdb.
core_of()
{
	rm -f core
	begin_mortal 3000 1 wait
	echo "$1" >"/proc/$pid/coredump_filter"
	if [ "$2" = kernel ]; then
		prlimit --pid "$pid" --core=unlimited
		kill -ABRT "$pid"
		wait "$pid" 2>/dev/null
		[ -e core ] || mv core.* core
	else
		gcore -o core "$pid" >gcore.log 2>&1 || diag "$(tail -n 5 gcore.log)"
		mv "core.$pid" core
		die
	fi
}
writers=gdb
if grep -q '^core' /proc/sys/kernel/core_pattern; then
	writers="gdb kernel"
else
	skip "kernel: a core file is recovered" "the kernel writes core files elsewhere (core_pattern)"
fi
for writer in $writers; do
	core_of 0x3f $writer
	# The core file alone is sufficient.
	mv run run.away
	mkdir -m 0700 run
	ok "$writer: a core file is recovered" "$RECORDER" recover -o core.dat core
	like "$writer: with all that it has" "$err" "recovered 3000 events from 1 process, 1 thread; 0 lost"
	is "$writer: its events" "$(numbers core.dat)" "0 2999 3000 0"
	rm -rf run
	mv run.away run
	ok "$writer: the buffer itself is recovered" "$RECORDER" recover -o buffer.dat "$pid"
	ok "$writer: has the same events" equal_events core.dat buffer.dat
	ok "$writer: the core file stays" test -s core
	core_of 0x33 $writer
	buffer=$(echo "$RECORDER_DIR"/*.rec)
	fails "$writer: one without the buffer" "$RECORDER" recover -o no.dat core
	is "$writer: is refused with one line" "$(wc -l <<<"$err")" 1
	like "$writer: the message shows how to get the buffer into one, and where the buffer is" "$err" \
		"'core' holds no memory shared with files, .*'echo 0x3f >/proc/PID/coredump_filter' .*: 'recorder recover $buffer'$"
	ok "$writer: the buffer at that path is recovered" "$RECORDER" recover -o no.dat "$buffer"
	fails "$writer: now the buffer is gone" "$RECORDER" recover -o no.dat core
	unlike "$writer: and is not named" "$err" "'recorder recover"
	is "$writer: there is still one line" "$(wc -l <<<"$err")" 1
done

core_of 0x3f gdb
rm -rf run/*
refused()
{
	local name=$1 regex=$2

	shift 2
	fails "$name is refused" "$RECORDER" recover -o no.dat "$@"
	is "$name: with one line" "$(wc -l <<<"$err")" 1
	like "$name: the reason" "$err" "$regex"
}
cp core other
printf '\1' | dd of=other bs=1 seek=4 conv=notrunc status=none
refused "a core file of a 32-bit program" "'other' is a core file of another kind of machine" other
cp core other
printf '\2' | dd of=other bs=1 seek=5 conv=notrunc status=none
refused "a core file of the other byte order" "'other' is a core file of another kind of machine" other
LC_ALL=C sed 's/ELIF/XXXX/g' core >other
refused "a core file without a list of mapped files" "'other' has no list of mapped files \\(NT_FILE\\), so its buffer cannot be found" other
refused "a program" "'$mortal' is an ELF file, but not a core file" "$mortal"
sleep 1000 &
wait_until grep -qx sleep "/proc/$!/comm"
gcore -o plain $! >gcore.log 2>&1
refused "a core file of a stranger" "'plain.$!' holds no buffer: program $! \\(sleep\\) did not use librecorder" plain.$!
kill $!
is "nothing is left in the temporary directory" "$(TMPDIR=$TMP/tmp; mkdir tmp; "$RECORDER" recover -q -o core.dat core; ls tmp)" ""
size=$(stat -c %s core)
bad=0
for cut in 0 3 4 63 64 500 4096 $((size / 100)) $((size / 2)) $((size - 5000)); do
	head -c "$cut" core >cut
	run "$RECORDER" recover -o cut.dat cut
	case $status in
	0) like "a core file cut off at $cut is recovered, and the cut is reported" "$err" "'cut' is truncated" ;;
	1) [ "$(wc -l <<<"$err")" = 1 ] || { bad=$((bad + 1)); diag "cut at $cut: $err"; } ;;
	*) bad=$((bad + 1)); diag "cut at $cut: status $status" ;;
	esac
done
is "cut off elsewhere it is refused with one line" "$bad" 0

done_testing
