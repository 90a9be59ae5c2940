#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The function tracers, with a program that makes a known number of system calls of a kind. Run in a machine of its own
# (vm.sh): elsewhere tracing functions may not be permitted.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"
. "$top_srcdir/tests/tracefs.sh"
. "$top_srcdir/tests/calls.sh"

# The state of the top level.
top()
{
	head -v $tracing/{current_tracer,set_ftrace_{filter,notrace,pid},set_graph_{function,notrace},tracing_on,trace_options} \
		/proc/sys/kernel/ftrace_enabled
}

# The program's calls of a function that shells call, too. Its name depends on the kernel's configuration.
calls_of()
{
	"$RECORDER" report out.dat | grep -cE "^ *$calls-.*] +[0-9.]+: function: +[a-z0-9_]*sys_$1 <-- [a-z0-9_]*$"
}

# same_text NAME: recorder and trace-cmd show the same text of out.dat
same_text()
{
	"$RECORDER" report out.dat >ours
	trace-cmd report out.dat >theirs 2>log
	ok "$1: shown as trace-cmd shows it" diff ours theirs
}

top >before
like "there are functions" "$(<$tracing/available_tracers)" '\<function\>'
cat >look <<'END'
head -v /sys/kernel/tracing/{current_tracer,set_ftrace_{filter,notrace,pid},set_graph_{function,notrace},tracing_on,trace_options} \
	/proc/sys/kernel/ftrace_enabled >during
exec "$@"
END
record -p function -l '*_sys_getppid' -l '*_sys_getrandom' -F "./$calls" 50
is "-p function -l -l: the status" "$status" 0 || diag "$err"
is "-p function -l -l: each call" "$(calls_of getppid) $(($(calls_of getrandom) > 0))" "50 1"
same_text "-p function -l -l"
record -p function -l '*_sys_get*' -n '*_sys_getppid' -F bash look "./$calls" 50
is "-l without those of -n" "$(calls_of getppid) $(($(calls_of getrandom) > 0))" "0 1"
ok "the top level is not changed meanwhile" diff before during
record -p function -l '*_sys_getppid' -O func_stack_trace -F "./$calls" 5
is "-O func_stack_trace: a stack with each call" "$(calls_of getppid) $("$RECORDER" report out.dat | grep -c 'kernel_stack:')" "5 5" ||
	diag "$err"
record -p function -l '*_sys_getppid' -e raw_syscalls:sys_enter -f "$mine" -F -c sh -c '"$0" 20; "$0" 20; :' "./$calls"
is "with an event, and children" "$("$RECORDER" report out.dat |
	sed -nE "s/^ *$calls-.*: (sys_enter|function): .*/\1/p" | uniq | sort | uniq -c | tr -s ' \n' ' ')" " 40 function 40 sys_enter "
same_text "with an event, and children"
record -p function -l '*_sys_getrandom' -u '*' "$top_builddir/tests/programs/producer" 2 100
like "with a program's events" "$err" 'recorded 200 events from 1 process, 2 threads; 0 lost'
like "with a program's events: the functions" "$("$RECORDER" report out.dat)" '] +[0-9.]+: function: +[a-z0-9_]*sys_getrandom <-- '
ok "with a program's events: nothing is wrong" "$RECORDER" verify out.dat

# Mounting its file system runs functions of the module.
"$top_builddir/tests/programs/load_module" "$top_builddir/binfmt_misc.ko" || diag "the module is not loaded"
mkdir mounted
record -p function --module binfmt_misc -F mount -t binfmt_misc none mounted
umount mounted
is "--module: the status" "$status" 0 || diag "$err"
"$RECORDER" report out.dat | sed -nE 's/.*: function: +([^ ]+) <-- .*/\1/p' | sort -u >functions
ok "--module: functions" [ -s functions ]
is "--module: only functions of the module" "$(grep -vxFf <(sed -n 's/^[^ ]* . \([^\t]*\)\t\[binfmt_misc]$/\1/p' /proc/kallsyms) functions)" ""
same_text "--module"
name=$(head -n 1 functions)
record -p function -n "$name" --module binfmt_misc -F mount -t binfmt_misc none mounted
umount mounted
is "-n --module" "$("$RECORDER" report out.dat | sed -nE 's/.*: function: +([^ ]+) <-- .*/\1/p' | sort -u)" \
	"$(tail -n +2 functions)"
record -p function -l "$name" --module binfmt_misc -F mount -t binfmt_misc none mounted
umount mounted
is "-l --module" "$("$RECORDER" report out.dat | sed -nE 's/.*: function: +([^ ]+) <-- .*/\1/p' | sort -u)" "$name"

if grep -qw function_graph <<<"$(mkdir $tracing/instances/look && cat $tracing/instances/look/available_tracers)"; then
	# On one CPU: when trace-cmd writes a call and its return as one line, and they are of two CPUs, it then shows the
	# next event of the second one too early. No event separates them if a thread moves within a call.
	record -p function_graph -l '*_sys_getppid' -F taskset -c 0 "./$calls" 50
	is "-p function_graph: each call" "$("$RECORDER" report out.dat | grep -c 'funcgraph_entry: .*_sys_getppid')" 50
	like "-p function_graph: each call and return" "$err" 'recorded 100 kernel events from 4 CPUs; 0 lost'
	same_text "-p function_graph"
	record -p function_graph -l '*_sys_clone*' -l '*_sys_exit*' -l 'do_exit' -l kernel_clone -e sched_switch sh -c '"$0" 3; "$0" 2' "./$calls"
	ok "calls of calls" grep -qE 'funcgraph_entry: +\|  +kernel_clone\(\)' <("$RECORDER" report out.dat)
	same_text "calls of calls"
	# All idle tasks have the number 0, and functions in those of two CPUs overlap.
	record -p function_graph -l 'tick_nohz_idle_*' sh -c 'for cpu in 0 1 0 1; do taskset -c $cpu sleep 0.2; done'
	ok "functions in idle tasks" "$RECORDER" export --chrome -o idle.json out.dat
	sed -nE 's/.*"cat":"ftrace","ph":"X","ts":([0-9]+)\.([0-9]+),"pid":10000001,"tid":([0-9]+),"dur":([0-9]+)\.([0-9]+),.*/\3 \1\2 \4\5/p' \
		idle.json | sort -k1,1n -k2,2n -k3,3nr >idle
	is "are on several CPUs, and nest on each" "$(awk '
		{ begin = $2; end = begin + $3 }
		$1 != row { row = $1; rows++; open = 0 }
		{ while (open && ends[open] <= begin) open--; bad += open && ends[open] < end; ends[++open] = end }
		END { print (rows > 1), bad + 0 }' idle)" "1 0"
	for depth in 1 2; do
		record -p function_graph --max-graph-depth $depth -l '*_sys_clone*' -l '*_sys_vfork' -l kernel_clone -F -c \
			taskset -c 0 sh -c '"$0" 3; "$0" 2; :' "./$calls"
		out=$("$RECORDER" report out.dat)
		like "--max-graph-depth $depth: calls" "$out" 'funcgraph_entry: .*_sys_(clone|vfork)'
		is "--max-graph-depth $depth: calls of calls" "$(grep -c 'funcgraph_entry: .* kernel_clone' <<<"$out")" $((depth == 2 ? 2 : 0))
		ok "--max-graph-depth $depth: the counts agree" "$RECORDER" verify out.dat
		same_text "--max-graph-depth $depth"
	done
else
	refused "-p function_graph, where instances have none" "this kernel has no tracer 'function_graph' for an instance; it has: function nop" \
		-p function_graph -l '*_sys_getppid' touch started
fi
rmdir $tracing/instances/look
refused "-g, which instances have not" "this kernel's instances have no such function filter \\(-g\\)" -p function -g vfs_read touch started
refused "no such function" "this kernel has no function 'frob_\\*' to trace \\(-l\\)" -p function -l 'frob_*' touch started
refused "--module, of none" "cannot trace functions of the module 'nosuch' alone \\(--module\\): " -p function --module nosuch touch started
refused "-l, of no module" "this kernel has no function 'vfs_read' to trace \\(-l\\)" -p function -l vfs_read --module nosuch touch started
refused "no such function to leave out" "this kernel has no function 'frob' to trace \\(-n\\)" -p function -n frob touch started
top >after
ok "the top level is as it was before" diff before after

# ---- as trace-cmd records it

functions()
{
	trace-cmd report "$1" 2>/dev/null | sed -n 's/.*: function: *//p'
}

if [ "$(uname -r | cut -d . -f 1,2)" = 6.1 ]; then
	# trace-cmd records in an instance, as recorder does.
	peer_options="-B theirs"
	same_events "the same functions as trace-cmd's" 21 functions -p function -l '*_sys_get*' -F "./$calls" 20
fi

done_testing
