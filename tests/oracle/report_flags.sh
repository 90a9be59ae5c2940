# SPDX-License-Identifier: MIT
# The flags of trace-cmd report besides those of report.sh, compared byte for byte with the exit status: on the files that
# tests/golden can make (made_files.sh), and on a recording of the kernel's scheduler. Where trace-cmd 3.1.6 is wrong, recorder-report(1)
# lists it under DIFFERENCES, and a check below proves what we do.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/oracle/made_files.sh"

mkdat=$top_builddir/tests/golden/mkdat
kernel=

# As root and with tracefs, the kernel's events are compared, too.
if can_trace 2> /dev/null; then
	ok "the kernel's events are recorded" "$RECORDER" record -q -e sched -e irq -e task -o "$TMP/kernel.dat" \
		bash -c 'for i in 1 2 3; do ls / > /dev/null; done; sleep 0.01' && kernel=kernel
else
	skip "flags on the kernel's events" "needs root and tracefs"
fi

# same NAME FLAG...: both report a file alike, with the same status
same()
{
	local name=$1 theirs ours
	shift

	trace-cmd report "$@" > "$TMP/theirs" 2> /dev/null
	theirs=$?
	"$RECORDER" report "$@" > "$TMP/ours" 2> "$TMP/err"
	ours=$?
	[ $ours -eq $theirs ] && cmp -s "$TMP/ours" "$TMP/theirs" && return
	diag "$name, $*: status $ours, $theirs; $(cat "$TMP/err") $(diff "$TMP/ours" "$TMP/theirs" | head -5)"
	return 1
}

# all PATTERN FLAG...: the chosen files and the kernel's, except those that match the pattern
all()
{
	local except=$1 bad=0 name compared=0
	shift

	choose
	for name in $chosen $kernel; do
		[[ $name =~ ^($except)$ ]] && continue
		# For these files trace-cmd ignores the flag and prints the text, or crashes.
		[[ $name =~ -latency ]] && continue
		same "$name" "$@" "$TMP/$name.dat" || bad=$((bad + 1))
		compared=$((compared + 1))
	done
	is "report $*, $compared files" "$bad, compared: $([ $compared -gt 0 ] && echo some)" "0, compared: some"
}

# Filters make trace-cmd crash on files with several buffers.
buffers='.*-instances|v7-only-cpucount'
# Symbols of functions that the files do not have.
printf 'ffffffff81000050 t inner\nffffffff81000110 T other\t[mod]\nnot a symbol\n' > "$TMP/symbols"

# The arguments are words; patterns among them must not be expanded to names of files.
set -f
for flags in -e -p -f -P -E --check-events --uname --version --cpus --first-event --last-event \
	"--first-event --last-event -t" "-e -f" --boundary "--boundary -l -t" --ts-check "--ts2secs 2000000000" \
	"--ts2secs 3000000001 -t --ts-diff" "--ts2secs 2000000000 --ts-diff" "--raw-ts --align-ts" "--align-ts --first-event --last-event" -w "-r submit" "-r sched" "-r .*switch -l" "-n sched" "-n .*" -L -q \
	"-O ftrace:offset" "-O parent=0" "--kallsyms $TMP/symbols" "-f --kallsyms $TMP/symbols"; do
	# shellcheck disable=SC2086
	all none $flags
done
# For compressed data trace-cmd prints offsets in a temporary file.
for flags in --stat "--stat --uname" --debug "--debug -l -t" "--debug -R -w" "-V3 --debug --ts-diff"; do
	# shellcheck disable=SC2086
	all '.*-zstd.*' $flags
done
# Compares messages on standard output, most of which libtraceevent prints. trace-cmd adds plugins of its own, here for
# a kernel's calls.
for flags in -V --verbose=3 "--verbose=debug -N" "-Vcrit -t" --verbose=99; do
	# shellcheck disable=SC2086
	all kernel $flags
done
like "-V: there are messages" "$("$RECORDER" report -V "$TMP/v6-many.dat" 2> /dev/null | head -40)" "^version = 6.registering plugin: .*CPU 3 is empty"
for flags in --verbose=warn -V3 -V --debug; do
	for name in v6-unknown v7-unknown; do
		# trace-cmd's lines begin with the last error of the system, ours with the command and the file.
		theirs=$(trace-cmd report $flags "$TMP/$name.dat" 2>&1 > /dev/null | sed -nE '/^libtrace/d; s/^ *//p' | sort)
		ours=$("$RECORDER" report $flags "$TMP/$name.dat" 2>&1 > /dev/null | sed -E "s|^recorder report: $TMP/$name.dat: ||; s/^ *//" | sort)
		is "$name, $flags: messages on standard error" "$ours" "$theirs"
	done
done
for flags in "" --verbose=err -V0 --verbose=critical; do
	# shellcheck disable=SC2086
	is "report $flags: no messages" "$("$RECORDER" report $flags "$TMP/v6-unknown.dat" 2>&1 > /dev/null)" ""
done
for level in bogus warns -1 3x; do
	run "$RECORDER" report --verbose=$level "$TMP/v6-one.dat"
	is "--verbose=$level: status" "$status" 2
	like "--verbose=$level" "$err" "^recorder report: --verbose '$level' is not a level"
done
# trace-cmd does not align the times of a file that begins with an empty page.
for flags in --align-ts "--align-ts -t --ts-diff"; do
	# shellcheck disable=SC2086
	all v6-zero-pages $flags
done
# trace-cmd prints no descriptions of events of version 7.
for flags in --events "--event s" "--event sched:" "--event :sched_sw" "--event io:submit"; do
	# shellcheck disable=SC2086
	all 'v7-.*' $flags
done
for cpus in "--cpu 0 --cpu 4" "--cpu 0," "--cpu 4:0-2" "--cpu 2 --cpu 4-6,0 --cpu 99"; do
	# shellcheck disable=SC2086
	if same v6-many $cpus "$TMP/v6-many.dat"; then pass "report $cpus"; else fail "report $cpus"; fi
done
if same v6-many --cpu " 0, 4" "$TMP/v6-many.dat"; then pass "--cpu with blanks"; else fail "--cpu with blanks"; fi
for flags in "--pid 1002" "--pid 1001,0" "--pid 1001 --pid 1003"; do
	# shellcheck disable=SC2086
	all "$buffers" $flags
done
# Files that have no names of tasks, or no events of this flag, are left out.
all "$buffers|v6-bare|v7-bare|kernel" --comm sh
all "$buffers|kernel" -v -F submit
all "$buffers|kernel" -F submit -v -F 'submit:fd==3'
# --pid 0 is left out: trace-cmd then takes the names of tasks from the fields of sched_switch, although the file names
# these tasks.
for pid in 1001 1003; do
	for name in print function sched_switch bprint kernel_stack; do
		if same v6-kernel --pid $pid -v -F $name "$TMP/v6-kernel.dat"; then pass "--pid $pid -v -F $name"; else fail "--pid $pid -v -F $name"; fi
	done
done
for flags in "-T --pid 1001" "-T --comm sh,worker --pid 1001,1002 -v -F print" "-T -V --pid 1002" "-V -f" "--cpus -V"; do
	# shellcheck disable=SC2086
	if same v6-kernel $flags "$TMP/v6-kernel.dat"; then pass "v6-kernel, $flags"; else fail "v6-kernel, $flags"; fi
done
for name in v6-kernel v6-plain; do
	if same $name -T -F '.*:common_pid == 1002' "$TMP/$name.dat"; then pass "-T, $name"; else fail "-T, $name"; fi
done
if [ -e "$TMP/kernel.dat" ]; then
	for flags in "--comm ls" "--comm ls,bash -t" "-w -F sched_switch -F sched_wakeup.*" "-T -F sched_switch:next_pid>5" "-n sched_switch"; do
		# shellcheck disable=SC2086
		if same kernel $flags "$TMP/kernel.dat"; then pass "the kernel's events, $flags"; else fail "the kernel's events, $flags"; fi
	done
	like "wake-ups were compared" "$("$RECORDER" report -w "$TMP/kernel.dat" | tail -20)" "Average wakeup latency: "
fi

# ------------------------------------------------------------------------------------------------------- differences

ok "SIGCHLD is ignored by the parent" env --ignore-signal=CHLD "$RECORDER" report "$TMP/v6-kernel.dat"
is "SIGCHLD is ignored by the parent: the same report" "$out" "$("$RECORDER" report "$TMP/v6-kernel.dat")"

# The line of the first event.
first_line()
{
	"$RECORDER" report -t "$@" | sed -n 2p
}
like "--ts-offset is added, also to a single file" "$(first_line -i "$TMP/v6-plain.dat" --ts-offset 500)" ' 5\.000000600: '
like "--ts-offset may be negative" "$(first_line --ts-offset -100 "$TMP/v6-plain.dat")" ' 5\.000000000: '
like "--ts-offset with --ts2secs" "$(first_line --ts2secs 2000000000 --ts-offset 7 "$TMP/v6-plain.dat")" ' 2\.500000057: '
like "--align-ts with an empty page at the beginning" "$(first_line --align-ts "$TMP/v6-zero-pages.dat")" ' 0\.000000000: '
is "descriptions of version 7" "$("$RECORDER" report --events "$TMP/v7-plain.dat")" "$("$RECORDER" report --events "$TMP/v6-plain.dat")"
is "--pid on a file with buffers" "$("$RECORDER" report --pid 1002 "$TMP/v6-instances.dat" | sed 1d | grep -vc -- '-1002 ')" 0

# stacks FILE: how many trees of stacks in its profile begin with this function
stacks()
{
	"$RECORDER" report --profile "$1" | grep -c '+ do_one'
}
"$mkdat" v6-big-kernel > "$TMP/v6-big-kernel.dat"
ok "--profile names the functions of stacks" test "$(stacks "$TMP/v6-kernel.dat")" -gt 0
is "--profile names those of the other byte order, too" "$(stacks "$TMP/v6-big-kernel.dat")" "$(stacks "$TMP/v6-kernel.dat")"
run "$RECORDER" report --comm nobody "$TMP/v6-plain.dat"
is "a task that is not there: status" "$status" 1
is "a task that is not there: the reason" "$err" "recorder report: --comm 'nobody': the file has no task of this name"
run "$RECORDER" report --event 's\(' "$TMP/v6-plain.dat"
is "not a regular expression: status" "$status" 2
is "not a regular expression" "$err" "recorder report: --event 's\\(' is not a regular expression"
run "$RECORDER" report -r 's\(' "$TMP/v6-plain.dat"
is "-r" "$err" "recorder report: -r 's\\(' is not a regular expression"
run "$RECORDER" report --pid 12x "$TMP/v6-plain.dat"
is "--pid" "$status:$err" "2:recorder report: --pid '12x' is not the number of a task"
run "$RECORDER" report --ts-offset 1s "$TMP/v6-plain.dat"
is "--ts-offset" "$status:$err" "2:recorder report: --ts-offset '1s' is not a whole number"
run "$RECORDER" report --kallsyms "$TMP/none" "$TMP/v6-plain.dat"
like "--kallsyms" "$err" "^recorder report: --kallsyms '.*/none': cannot read: No such file"
run "$RECORDER" report --stat --json "$TMP/v6-plain.dat"
is "a list and a form" "$status" 2

# Two pages whose order in the file is not that of their times.
"$mkdat" v6-plain > "$TMP/back.dat"
python3 - "$TMP/back.dat" << 'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
# CPU 0 is at 0x2000 (trace-cmd report --stat).
data[0x2000:0x3000], data[0x3000:0x4000] = data[0x3000:0x4000], data[0x2000:0x3000]
open(sys.argv[1], "wb").write(data)
END
if same back --ts-check "$TMP/back.dat"; then pass "--ts-check does not change the lines"; else fail "--ts-check does not change the lines"; fi
run "$RECORDER" report --ts-check "$TMP/back.dat"
theirs=$(trace-cmd report --ts-check "$TMP/back.dat" 2>&1 > /dev/null | grep -o 'Record on cpu .*')
is "--ts-check reports what trace-cmd does" "$(grep -o 'Record on cpu .*' <<< "$err")" "$theirs"
like "--ts-check found something" "$err" "^recorder report: WARNING: Record on cpu 0 went backwards: "

done_testing
