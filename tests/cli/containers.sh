#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs and recorders in different pid and mount namespaces find each other, and no live process is taken for dead.

. "$top_srcdir/tests/namespaces.sh"

# row PID: its line of the last output, with runs of blanks made one.
row()
{
	sed -n "s/^ *$1  *//p" <<<"$out" | tr -s ' '
}

buffers()
{
	find "$1" -name '*.rec' -printf '%f\n' | sort
}

producer=$top_builddir/tests/programs/producer
exe=$(readlink -f "$victim")
own=/dev/shm/librecorder-0
large_lanes

# ---- a container: pids, mounts, a /dev/shm of its own

begin count in_pids sh -c 'mount -t tmpfs -o mode=1777,size=256m none /dev/shm && "$@" & sleep 1000000 & wait' -
inner=$(sed -n 's/^NSpid:.*\t//p' "/proc/$pid/status")
dir=/proc/$pid/root$own
ok "the program has another pid in there" test "$inner" != "$pid"
fails "the host's own programs: none" "$RECORDER" ps
like "which is reported" "$err" "^recorder ps: no running program uses librecorder$"
ok "ps of the container's directory" "$RECORDER" ps --dir "$dir"
is "the program, by the host's pid and its own" "$(row "$pid($inner)")" "started 0/1 0 victim $exe"
ok "by the host's pid" "$RECORDER" ps --dir "$dir" -P "$pid"
fails "not by its own" "$RECORDER" ps --dir "$dir" -P "$inner"
ok "list" "$RECORDER" list --dir "$dir" "$pid"
like "its event" "$out" "off  test:seq  u64\\(number\\)"
ok "enable" "$RECORDER" enable --dir "$dir" -P "$pid" 'test:*'
is "it shows where" "$out" "$(printf '%s\n' "$pid($inner) victim ($exe)" "  1 event on")"
ok "it writes" wait_until eval '"$RECORDER" stat --dir "$dir" -P "$pid" | grep -q "^entries: [1-9]"'
ok "stat" "$RECORDER" stat --dir "$dir"
like "its lane" "$out" "lane 0, thread $inner,"
ok "stop" "$RECORDER" stop --dir "$dir" -P "$pid"
ok "ps, stopped" "$RECORDER" ps --dir "$dir"
is "stopped" "$(row "$pid($inner)")" "stopped 0/1 1 victim $exe"
ok "start" "$RECORDER" start --dir "$dir" -P victim
ok "disable" "$RECORDER" disable --dir "$dir" -P victim test
briefly "record" "$RECORDER" record --dir "$dir" -P "$pid" -o one.dat
like "without a loss" "$err" "events from 1 process, 1 thread; 0 lost"
read -r _ _ nr missing <<<"$(numbers one.dat)"
is "many, and none missing" "$((nr > 0)) $missing" "1 0"

# The note that the thread has another id for the kernel, whose events may be merged later.
is_noted()
{
	grep -aqE "threads of other pid namespaces: $2([^0-9]|\$)" "$1"
}
ok "the recording notes its thread" is_noted one.dat "$inner"
ok "snapshot" "$RECORDER" snapshot --dir "$dir" -P "$pid" -o snap.dat
ok "notes it, too" is_noted snap.dat "$inner"
run in_pids env RECORDER_ENABLE='*' "$top_builddir/tests/programs/told" <<<$'go\nsave'
like "rec_save()" "$out" "saved 0\$"
ok "and so does that" is_noted saved.dat 1
rm -f $own/*.rec

# Two recorders in two pid namespaces; the first one is killed.
"$RECORDER" record --dir "$dir" -P "$pid" -o first.dat &
recorder=$!
wait_until has_size first.dat.spool 100000
fails "a second recorder, in the container" nsenter --target "$pid" --pid --mount "$RECORDER" record -P "$inner" -o /dev/shm/x.dat
like "is refused because of the first one, which it cannot see" "$err" "cannot inspect program $inner: another recorder reads it"
ok "and so is one on the host" eval '! "$RECORDER" record --dir "$dir" -P "$pid" -o x.dat'
end $recorder
# The killed recorder's spool is removed, so the next recording removes its stage.
rm -f first.dat.spool
briefly "after its end they may record" nsenter --target "$pid" --pid --mount "$RECORDER" record -P "$inner" -o /dev/shm/x.dat
like "and they do" "$err" "recorded [1-9][0-9]* events from 1 process"

# The whole container is killed while it is recorded.
"$RECORDER" record --dir "$dir" -P "$pid" -o end.dat 2>err &
recorder=$!
wait_until has_size end.dat.spool 100000
end "$pid"
wait $recorder
status=$?
diag "$(cat err)"
is "the program's end ends the recording" $status 0
read -r _ last nr missing <<<"$(numbers end.dat)"
is "many, and none missing" "$((nr > 1000)) $missing" "1 0"
ok "all that was committed is there" test "$last" -ge $(($(written count) - 1))

# ---- another pid namespace, the same directory

begin count in_pids
in=$pid
begin other
out_pid=$pid
ok "ps on the host" "$RECORDER" ps
is "shows the one in the container" "$(row "$in(1)")" "started 0/1 0 victim $exe"
is "and the one on the host" "$(row "$out_pid")" "started 0/1 0 victim $exe"
ok "ps in the container" in_pids "$RECORDER" ps
is "shows the one on the host, whose pid is not visible there" "$(row "($out_pid)")" "started 0/1 0 victim $exe"
briefly "it records that one" in_pids "$RECORDER" record -P "$out_pid" -o inside.dat
like "with its events" "$err" "recorded [1-9][0-9]* events from 1 process, 1 thread; 0 lost"

# In the container: a child whose parent there has the same number as a recorded process on the host. They are not
# related.
"$RECORDER" record -P "$out_pid" -o alone.dat 2>err &
recorder=$!
wait_until eval '"$RECORDER" ps -P $out_pid | grep -q " 1/1 "'
# shellcheck disable=SC2016
begin child in_pids bash -c 'echo $(($0 - 1)) >/proc/sys/kernel/ns_last_pid; bash -c "\"\$@\" & wait" - "$@" & wait' "$out_pid"
parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
is "a parent of the same number" "$(sed -n 's/^NSpid:.*\t//p' "/proc/$parent/status")" "$out_pid"
inner=$(sed -n 's/^NSpid:.*\t//p' "/proc/$pid/status")
go_on child 20000
ok "its child" "$RECORDER" ps -P "$pid"
like "is not switched on" "$out" "$pid\\($inner\\) +started +0/1"
kill -INT $recorder
wait $recorder
like "nor recorded" "$(cat err)" "recorded [1-9][0-9]* events from 1 process"
end "$parent" "$pid"
rm -f $own/"$inner"-*.rec

# With its own quota, each program that starts removes what dead programs left without events. The program on the host
# and the one in the container are alive, and one of them has no event.
export RECORDER_DIR_MAX_KB=1000000
before=$(buffers $own)
for _ in 1 2 3 4 5 6; do
	"$producer" 1 1 >/dev/null
	in_pids "$producer" 1 1 >/dev/null
done
ok "clean on the host" "$RECORDER" clean
ok "clean in the container" in_pids "$RECORDER" clean
fails "recover of all, in the container" in_pids "$RECORDER" recover --all -o x.dat
is "programs that start on the host and in the container leave the living alone" "$(comm -12 <(echo "$before") <(buffers $own))" "$before"
ok "ps again" "$RECORDER" ps
is "both are still there" "$(row "$in(1)" | cut -c 1-7) $(row "$out_pid" | cut -c 1-7)" "started started"
name=$(grep '^1-' <<<"$before")
end "$in"
# Each start looks at a few files, so this may take several starts.
is_swept()
{
	"$producer" 1 1 >/dev/null
	[ ! -e "$own/$name" ]
}
ok "that of the container's dead program is removed" wait_until is_swept
end "$out_pid"
unset RECORDER_DIR_MAX_KB
rm -f $own/*.rec

# ---- a dead program's buffer in a container's directory

begin count in_pids sh -c 'mount -t tmpfs -o mode=1777,size=256m none /dev/shm && "$@" & sleep 1000000 & wait' -
dir=/proc/$(ps -o ppid= -p "$pid" | tr -d ' ')/root$own
"$RECORDER" enable --dir "$dir" -P "$pid" '*' >/dev/null
wait_until eval '"$RECORDER" stat --dir "$dir" -P "$pid" | grep -q "^entries: [1-9]"'
ok "clean of a container's directory" "$RECORDER" clean --dir "$dir"
ok "leaves the living" "$RECORDER" ps --dir "$dir" -P "$pid"
inner=$(sed -n 's/^NSpid:.*\t//p' "/proc/$pid/status")
end "$pid"
ok "what a dead one left" "$RECORDER" clean --dry-run --dir "$dir"
like "is listed" "$out" " $inner .*victim .*/$inner-[0-9]*\.rec"
fails "recover without an operand" "$RECORDER" recover --dir "$dir"
like "lists it, too" "$out" " victim .*/$inner-[0-9]*\.rec"
ok "it is recovered" "$RECORDER" recover --dir "$dir" "$inner" -o dead.dat
is_last "to its last event" count <("$RECORDER" report dead.dat)
is "and removed" "$(buffers "$dir")" ""

# ---- a directory on another file system than tmpfs, if that of $TMP supports locks

mkdir -m 700 disk
begin count in_pids env RECORDER_DIR="$TMP/disk" RECORDER_ENABLE='*'
ok "clean of a directory on a disk" "$RECORDER" clean --dir "$TMP/disk"
ok "leaves the living" "$RECORDER" ps --dir "$TMP/disk" -P "$pid"
end "$pid"
case $(stat -f -c %T disk) in
ext2/ext3 | xfs | btrfs | tmpfs)
	fails "of a dead one" "$RECORDER" ps --dir "$TMP/disk"
	ok "it is known" "$RECORDER" clean --dir "$TMP/disk"
	is "what it left is removed" "$(buffers disk)" ""
	;;
*)
	ok "of a dead one whose death cannot be known" "$RECORDER" ps --dir "$TMP/disk"
	ok "so it stays" "$RECORDER" clean --dir "$TMP/disk"
	like "all of it" "$(buffers disk)" "^1-[0-9]*\.rec$"
	;;
esac

# ---- the command changes its namespaces

ok "a command in another pid namespace" "$RECORDER" record -o elsewhere.dat unshare --pid --fork "$producer" 2 1000
like "is recorded" "$err" "recorded 2000 events from 1 process, 2 threads; 0 lost"
is "nothing is left" "$(ls $own)" ""
fails "a command with another /dev/shm" "$RECORDER" record -o elsewhere.dat \
	unshare --mount sh -c 'mount -t tmpfs none /dev/shm && exec "$@"' - "$producer" 1 10
is "runs" "$out" "produced 10"
like "and the recorder reports that nothing was recorded, and why" "$err" "nothing was recorded, .* its buffer directory was out of reach \\(REC_DEBUG=1 shows why\\)$"

# ---- the recorder is the first process of a container, and so the parent of orphans

# The command waits until its orphan is gone for good: a zombie has a /proc entry.
cat >orphan <<'END'
(sh -c 'echo $$ >orphan.pid; mv orphan.pid orphan.gone' &)
for ((i = 0; i < 600; i++)); do
	[ -e orphan.gone ] && [ ! -e "/proc/$(<orphan.gone)" ] && exec "$@"
	sleep 0.1
done
exit 9
END
ok "the recorder waits for orphans" in_pids "$RECORDER" record -o orphan.dat bash orphan "$producer" 1 10
like "and records" "$err" "recorded 10 events from 1 process, 1 thread; 0 lost"

# What ends a container sends SIGTERM to its first process. The command gets it.
end_container()
{
	in_pids "$RECORDER" record -o told.dat bash "$1" 2>err &
	container=$!
	wait_until test -e ready
	rm ready
	recorder=$(find_pid $container "$(readlink -f "$RECORDER")")
	kill -TERM "$recorder"
}
cat >ends <<END
trap '"$producer" 1 10; exit 7' TERM
sleep 1000000 &
: >ready
wait
END
end_container ends
status=0
wait $container || status=$?
is "SIGTERM to the first process: the command ends in its own way" $status 7
like "and its last events are recorded" "$(<err)" "recorded 10 events from 1 process, 1 thread; 0 lost"
cat >stays <<'END'
trap ': >got' TERM
sleep 1000000 &
: >ready
while :; do wait; done
END
end_container stays
ok "a command that does not end gets it, too" wait_until test -e got
kill -TERM "$recorder"
status=0
wait $container || status=$?
is "a second SIGTERM ends the recording" $status 143
like "and the command, which is reported" "$(<err)" "stopped by Terminated, 'bash' ends with the recorder, which is process 1"

# ---- no /proc, and one of another namespace

begin count unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' -
ok "a program without /proc" "$RECORDER" ps
like "is seen" "$out" " started +0/1 +0  victim "
shown=$(sed -n 's/^ *\([0-9]*\) .*started.*/\1/p' <<<"$out")
is "by its pid" "$shown" "$pid"
ok "a recorder without /proc" unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$RECORDER" ps
is "sees it, too" "$(row "$pid" | cut -d ' ' -f 1-4)" "started 0/1 0 victim"
"$producer" 1 1 >/dev/null
briefly "and records it" unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$RECORDER" record -P "$pid" -o none.dat
like "all the same" "$err" "recorded [1-9][0-9]* events from 1 process, 1 thread; 0 lost"
end "$pid"
rm -f $own/*.rec

begin count unshare --pid --fork --kill-child
ok "a program with the host's /proc" "$RECORDER" ps
is "is known by both pids" "$(row "$pid(1)")" "started 0/1 0 victim $exe"
briefly "a recorder with the host's /proc" unshare --pid --fork "$RECORDER" record -P "$pid" -o wrong.dat
like "records it" "$err" "recorded [1-9][0-9]* events from 1 process, 1 thread; 0 lost"
end "$pid"

if [ "$as_root" = yes ]; then
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	mkdir -m 755 /run/bin && cp "$victim" "$RECORDER" /run/bin
	victim=/run/bin/victim begin /dev/shm/count "${nobody[@]}"
	ok "hidden processes" unshare --pid --fork --mount sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' - \
		"${nobody[@]}" /run/bin/recorder ps
	like "are found" "$out" "\\($pid\\) +started"
	end "$pid"
else
	skip "hidden processes" "only root has other users"
	skip "are found" "only root has other users"
fi

done_testing
