#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder profile: for files of this kernel, with and without stacks, it prints what trace-cmd report --profile prints.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# same NAME FILE OPTION...: recorder and trace-cmd print the same text, which is not empty
same()
{
	local name=$1 file=$2

	shift 2
	trace-cmd report --profile "$@" "$file" 2>/dev/null | python3 "$top_srcdir/tests/kernel/profile.py" >theirs
	run "$RECORDER" profile "$@" "$file"
	is "$name: the status" "$status" 0
	printf '%s\n' "$out" >profile
	python3 "$top_srcdir/tests/kernel/profile.py" <profile >ours
	ok "$name: there is something" test "$(wc -l <theirs)" -gt 20
	is "$name: the same" "$(diff theirs ours | head -20)" ""
	is "$name: report --profile is the same" "$("$RECORDER" report --profile "$@" "$file" | cmp - profile 2>&1)" ""
}

ok "a recording" "$RECORDER" record -q -b 65536 -o plain.dat -e sched -e raw_syscalls -e irq "$top_builddir/tests/programs/stalls" chain
same "tasks" plain.dat
same "interrupts of CPUs" plain.dat -G
like "there are some" "$(cat ours)" 'Global CPU\[0\] Events'
same "a hook" plain.dat -H sched:sched_waking,pid,pid/sched:sched_switch,next_pid
same "a hook that belongs to no task" plain.dat -H sys_enter,id/sys_exit,id,g
like "it has times" "$(cat ours)" 'Event: sys_enter:0x[0-9a-f]+ \([0-9]+\) Total: [1-9]'
same "a hook of one CPU" plain.dat -H sys_enter,id/sys_exit,id,gp
# with_hooks FILE HOOK...: plain.dat with hooks. Their options follow those of the file, in a section of their own.
with_hooks()
{
	"$RECORDER" convert --file-version 7 --compression none -i plain.dat -o "$1"
	python3 - "$@" <<'END'
import struct, sys
dat = bytearray(open(sys.argv[1], "rb").read())
at = dat.index(b"\0", dat.index(b"\0", 18) + 1) + 1
options = struct.unpack_from("<Q", dat, at)[0]
done = options + 16 + struct.unpack_from("<Q", dat, options + 8)[0] - 14
assert dat[done:done + 14] == struct.pack("<HIQ", 0, 8, 0)
struct.pack_into("<Q", dat, done + 6, len(dat))
hooks = [hook.encode() + b"\0" for hook in sys.argv[2:]]
more = b"".join(struct.pack("<HI", 6, len(hook)) + hook for hook in hooks) + struct.pack("<HIQ", 0, 8, 0)
open(sys.argv[1], "wb").write(dat + struct.pack("<HHIQ", 0, 0, 0xffffffff, len(more)) + more)
END
}
with_hooks hooks.dat sys_enter,id/sys_exit,id,g nothing:here,a/nothing:there,b
same "hooks in the file" hooks.dat
like "one of them has times" "$(cat ours)" 'Event: sys_enter:0x[0-9a-f]+ \([0-9]+\) Total: [1-9]'
same "and one more" hooks.dat -H sched:sched_waking,pid,pid/sched:sched_switch,next_pid
with_hooks half.dat sys_enter,id/nothing:there,b
same "a hook in the file without its end" half.dat
like "its begin is counted" "$(cat ours)" 'Event: sys_enter:0x0 \([0-9]+\)'
unlike "and has no times" "$(cat ours)" $'Event: sys_enter:[^\n]* Total:'
with_hooks field.dat sys_enter,id,nothing/sys_exit,id
ok "a hook in the file without its field for the task" "$RECORDER" profile field.dat
like "its begin is counted" "$out" 'Event: sys_enter:0x0 \([0-9]+\)'
unlike "and has no times" "$out" $'Event: sys_enter:[^\n]* Total:'
same "names" plain.dat --by-comm
like "there are groups" "$(cat ours)" $'\ngroup: stalls\n'
ok "a recording with stacks" "$RECORDER" record -q -b 65536 -T -o stacks.dat -e sched:sched_switch -e sched:sched_wakeup -e raw_syscalls \
	-e irq "$top_builddir/tests/programs/stalls" chain
same "stacks" stacks.dat
like "there are some" "$(cat ours)" $'\n +\\+ [a-zA-Z_]'
same "stacks of CPUs" stacks.dat -G

fails "a hook of other events" "$RECORDER" profile -H nothing,id/sys_exit,id plain.dat
like "is named" "$err" "plain\.dat: -H 'nothing,id/sys_exit,id': the file has no such event or field"
fails "a hook of other fields" "$RECORDER" profile -H sys_enter,nothing/sys_exit,id plain.dat
ok "switches without wake-ups" "$RECORDER" record -q -o switches.dat -e sched:sched_switch true
ok "have a profile" "$RECORDER" profile switches.dat
like "of states" "$out" 'Event: sched_switch:[RSD]'
ok "a filter" "$RECORDER" profile -F sys_enter plain.dat
unlike "leaves out other events" "$out" sched_switch

done_testing
