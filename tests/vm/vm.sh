# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh: a machine with another kernel, emulated, so that it runs anywhere, and its CPUs may
# go offline. It gets this build and the tests in an initramfs; the checks that these print become checks of the script
# that started it.
#
#	run_in_vm VERSION TEST...	boots Linux VERSION with four CPUs, of which the last is offline, and runs tests/TEST.sh
#
# The kernels are in $RECORDER_KERNELS, or where ./quickstart check-all puts them. If a fault of others ends the machine
# before its tests (docs/TESTING.md, "Faults of others"), the tests that have not ended run again in a new one, at most
# twice.

kernels=${RECORDER_KERNELS:-$top_srcdir/build/kernels}

# Limits, in seconds: for all tests of one machine, for each test, and for the time without output from it. The last
# attempt ends before this script is killed.
vm_all=${VM_ALL:-540}
vm_test=${VM_TEST:-300}
vm_still=${VM_STILL:-100}
vm_end=$((SECONDS + ${TEST_TIMEOUT:-600} - 40))
vm_poll=${VM_POLL:-0.5}
vm_proc=${VM_PROC:-/proc}

vm_tools=(
	awk bash cat chgrp chmod chown chrt cmp comm cp cut date dd df diff dirname basename echo env false find flock grep head id
	kill ln ls mkdir mkfifo mktemp mount mountpoint mv nproc od paste pgrep printenv printf prlimit ps readlink rm rmdir
	sed seq setpriv sh sleep sort stat strace stty tac tail taskset timeout touch tr trace-cmd true truncate umount uname
	uniq unshare wc xargs
)
vm_programs=(
	recorder
	examples/packer
	tests/kernel/spoil
	tests/programs/{calls,load_module,pinned,producer,victim}
)

# put FILE NAME: a copy under that name, and the libraries that it needs
put()
{
	local lib

	mkdir -p "$root/$(dirname "$2")" && cp -L "$1" "$root/$2" || return 1
	# shellcheck disable=SC2013
	for lib in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		[ -e "$root/$lib" ] || put "$lib" "$lib" || return 1
	done
}

# make_image FILE VERSION: what is built, and the module, is in /build there, everything else is in /src
make_image()
{
	local root=$TMP/root each

	mkdir -p "$root"/{dev,proc,sys,run,tmp,etc,usr/bin,src/tests}
	ln -s usr/bin "$root/bin"
	for each in "${vm_tools[@]}"; do
		put "$(type -P "$each")" "/usr/bin/$each" || return 1
	done
	for each in "${vm_programs[@]}"; do
		put "$top_builddir/$each" "/build/$each" || return 1
	done
	cp "$kernels/$2/binfmt_misc.ko" "$root/build/" &&
		cp -r "$top_srcdir"/tests/{*.sh,kernel,vm} "$root/src/tests" &&
		cp "$top_srcdir/tests/vm/init" "$root/init" &&
		chmod 755 "$root/init" &&
		(cd "$root" && find . -print0 | cpio --null --create --format=newc --quiet) >"$1"
}

# KVM may exist and not work if this machine is a virtual one itself. One thread emulates all CPUs (docs/TESTING.md,
# "Other kernels"). A kernel that fails prints all its tasks and ends.
boot()
{
	exec qemu-system-x86_64 -accel tcg,thread=single -cpu Nehalem -smp 4 -m 1024 -nodefaults \
		-display none -no-reboot -kernel "$kernels/$1/vmlinuz" -initrd "$TMP/image" \
		-serial "file:$TMP/console" -serial "file:$TMP/said" \
		-append "console=ttyS0 panic=-1 oops=panic panic_print=1 loglevel=4 mitigations=off tsc=reliable \
			rcupdate.rcu_expedited=1 maxcpus=3 tests=$2"
}

# is_starved PID SECONDS: the machine waited for the processors of this one three times as long as it ran on them, and
# at least half of this time
is_starved()
{
	awk -v seconds="$2" '{ run += $1; waited += $2 }
		END { exit !(waited >= 3 * run && waited >= seconds * 0.5e9) }' "$vm_proc/$1"/task/*/schedstat 2>/dev/null
}

# watch PID SECONDS: waits until the machine ends; ends it after these seconds, or at one of the limits above. Sets
# $ended (by itself, or at the limit still, test, all), $status and $starved.
watch()
{
	local machine=$1 limit=$2 begun=$SECONDS size=0 test='' now progress=$SECONDS test_begun=$SECONDS

	ended=itself starved=no status=0
	until is_gone "$machine"; do
		now=$(stat -c %s "$TMP/said" 2>/dev/null)
		[ "$now" = "$size" ] || { size=$now progress=$SECONDS; }
		now=$(grep -a '^begin ' "$TMP/said" 2>/dev/null | tail -n 1)
		[ "$now" = "$test" ] || { test=$now test_begun=$SECONDS; }
		if [ $((SECONDS - progress)) -ge "$vm_still" ]; then
			ended=still
		elif [ $((SECONDS - test_begun)) -ge "$vm_test" ]; then
			ended='test'
		elif [ $((SECONDS - begun)) -ge "$limit" ]; then
			ended=all
		else
			sleep "$vm_poll"
			continue
		fi
		! is_starved "$machine" $((SECONDS - begun)) || starved=yes
		kill "$machine"
		wait_until is_gone "$machine" || kill -KILL "$machine"
	done
	wait "$machine" || status=$?
}

# Prints the report of the machine's kernel that counts, on one line: kind, program, text. That is the first failure, or
# the last lock-up during the last test, or the last blocked task during it. If the kernel fails while recorder runs,
# the program is recorder.
kernel_report()
{
	tr -d '\r' <"$TMP/console" | awk '
		{ sub(/^\[ *[0-9.]+\](\[[^]]*\])? */, "") }
		/^begin / { lockup = blocked = open = "" }
		/soft lockup|hard LOCKUP|workqueue lockup|self-detected stall|detected (expedited )?stalls/ {
			open = "lockup"; lockup = $0; lockup_by = ""
			if (match($0, /\[[^]]+:[0-9]+\]/)) {
				lockup_by = substr($0, RSTART + 1, RLENGTH - 2)
				sub(/:[0-9]+$/, "", lockup_by)
			}
			next
		}
		/INFO: task .+:[0-9]+ blocked for more than/ {
			open = ""; blocked = blocked_by = $0
			sub(/.*INFO: task /, "", blocked_by)
			sub(/:[0-9]+ blocked for .*/, "", blocked_by)
		}
		/\[#[0-9]+\]|Kernel panic|kernel BUG at|BUG: unable to handle|BUG: kernel NULL/ {
			open = "oops"
			if (oops == "") oops = $0
		}
		/ Comm: / {
			name = $0
			sub(/.* Comm: /, "", name)
			sub(/ +(Not tainted|Tainted|Kdump).*/, "", name)
			if (open == "oops" && oops_by == "") oops_by = name
			if (open == "lockup" && lockup_by == "") lockup_by = name
		}
		/^task:recorder +state:/ { if (oops != "") oops_by = "recorder" }
		function say(kind, name, text) { print kind "\t" (name == "" ? "-" : name) "\t" text; exit }
		END {
			if (oops != "") say("oops", oops_by, oops)
			if (lockup != "") say("lockup", lockup_by, lockup)
			if (blocked != "") say("lockup", blocked_by, blocked)
		}'
}

# Prints the beginning of what the machine's kernel reported during the last test, without the list of tasks after a
# panic.
kernel_log()
{
	tr -d '\r' <"$TMP/console" | awk '
		/\] begin / { nr = 0 }
		{ line[nr++] = $0 }
		/Kernel panic/ { panic = 1 }
		panic && / task:.* state:/ { exit }
		END { for (i = 0; i < nr && i < 100; i++) print line[i] }'
}

# Sets $fault if a fault of the environment or of a peer kept the remaining tests from ending; $ours if the fault is
# ours.
judge()
{
	local kind='' name='' text='' what

	fault='' ours=''
	IFS=$'\t' read -r kind name text < <(kernel_report)
	case $ended in
	itself) what="the machine ended before its tests, with status $status" ;;
	still) what="the machine stood still for $vm_still s" ;;
	test) what="${left[0]-} did not end within $vm_test s" ;;
	all) what="the machine did not end within $limit s" ;;
	esac
	what="$what; running: ${alive:-nothing}"
	if [ "$kind $name" = "oops recorder" ]; then
		ours="the kernel failed while recorder ran: $text"
	elif [ ${#left[@]} = 0 ]; then
		return
	elif grep -q '^not ok ' <<<"$cut"; then
		ours="a check failed; $what"
	elif [ "$kind" = oops ]; then
		fault="the kernel failed in $name: $text"
	elif [ $starved = yes ]; then
		fault="this machine is too busy; $what"
	elif [ "$kind $name" = "lockup recorder" ]; then
		ours="recorder locked up: $text; $what"
	elif [ "$kind" = lockup ]; then
		fault="a lock-up in $name: $text; $what"
	elif [ $ended != test ] || [[ " $alive " == *" trace-cmd "* ]]; then
		fault=$what
	else
		ours=$what
	fi
	# In TAP a '#' begins a directive.
	fault=${fault//\#/ }
}

# The checks of a test in the machine become ours, each with its test's name before it.
relay_test()
{
	local test=$1 line name planned=no

	while IFS= read -r line; do
		name=$(sed -E 's/^(not )?ok [0-9]+ - //' <<<"$line")
		case $line in
		"ok "*" # SKIP "*) skip "$test: ${name%% # SKIP *}" "${line##* # SKIP }" ;;
		"ok "*) pass "$test: $name" ;;
		"not ok "*) fail "$test: $name" ;;
		"1..0 # SKIP "*) skip "$test" "${line#1..0 # SKIP }"; planned=yes ;;
		"1.."*) planned=yes ;;
		*) echo "# ${line#\# }" ;;
		esac
	done
	[ $planned = yes ] || fail "$test: it came to its end"
}

# Relays the tests that ended, and removes them from $left. Sets $cut to the output of a test that did not end, and
# $alive to the programs that ran last.
relay()
{
	local line

	cut='' alive=''
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		alive*) alive=${line#alive}; alive=${alive# } ;;
		"begin "*) cut='' alive='' ;;
		"end "*)
			relay_test "${left[0]}" < <(printf %s "$cut")
			diag "$line s"
			left=("${left[@]:1}") cut=''
			;;
		*) cut+=$line$'\n' ;;
		esac
	done
}

run_in_vm()
{
	local version=$1 left attempt machine limit ended status starved cut alive fault ours each again="three times in a row"

	shift
	left=("$@")
	[ "$(uname -m)" = x86_64 ] || skip_all "the kernels are for x86_64"
	type -P qemu-system-x86_64 cpio >/dev/null || skip_all "no qemu-system-x86_64 or no cpio"
	[ -e "$kernels/$version/vmlinuz" ] && [ -e "$kernels/$version/binfmt_misc.ko" ] ||
		skip_all "no kernel $version in $kernels: ./quickstart check-all fetches it, from Debian"
	ok "an image is made" make_image "$TMP/image" "$version" || return
	for attempt in 1 2 3; do
		limit=$((vm_end - SECONDS < vm_all ? vm_end - SECONDS : vm_all))
		if [ $attempt -gt 1 ] && [ $limit -lt 60 ]; then
			again="and no time is left for another attempt"
			break
		fi
		: >"$TMP/said"
		: >"$TMP/console"
		boot "$version" "$(IFS=, && echo "${left[*]}")" >"$TMP/qemu.log" 2>&1 &
		machine=$!
		watch "$machine" "$limit"
		relay <"$TMP/said"
		judge
		[ -n "$fault$ours" ] || break
		diag "attempt $attempt of 3: ${fault:+fault of the environment: }$fault$ours"
		diag "$(tail -n 5 "$TMP/qemu.log")"
		diag "$(kernel_log)"
		[ -n "$fault" ] || break
		[ -z "$cut" ] || diag "${cut%$'\n'}"
	done
	if [ -n "$ours" ]; then
		[ -z "$cut" ] || relay_test "${left[0]}" < <(printf %s "$cut")
		fail "the machine went through all tests"
	elif [ -n "$fault" ]; then
		for each in "${left[@]}" "the machine went through all tests"; do
			skip "$each" "fault of the environment: $fault, $again"
		done
	else
		pass "the machine went through all tests"
	fi
}
