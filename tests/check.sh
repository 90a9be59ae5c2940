#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: check.sh short|long
#
# Builds and tests in parts, one build directory each below build/check; ./quickstart installs what they need. Run from the
# top of the tree, with ./configure made. Prints each part's result when it ends, what failed, and last the line
# "N passed, N failed, N skipped" over all parts.
#
# `check.sh part NAME` runs one part: for tests/parts.mk.

set -eu -o pipefail

# In a chroot, another mount namespace shows another path of a program, or none. Then own_root.py is needed.
if [ "$(id -u)" = 0 ] && [ -z "${own_root-}" ] &&
	[ "$(unshare --mount readlink "/proc/$$/exe" 2>/dev/null)" != "$(readlink "/proc/$$/exe")" ]; then
	export own_root=yes
	exec python3 tests/own_root.py "$BASH" "$0" "$@"
fi
top=$PWD
results=$top/build/check

jobs=$(nproc)

# The first python3 may be a version manager's script that takes a second to start, and the tests start it a thousand times.
# Only this program is replaced: /usr/bin at the front of PATH could change the compilers, too.
if [ -x /usr/bin/python3 ]; then
	mkdir -p "$results/bin"
	ln -sf /usr/bin/python3 "$results/bin/python3"
	PATH=$results/bin:$PATH
fi

# configure_in NAME OPTION...: a build directory, configured again only when the options changed.
configure_in()
{
	local dir=$results/$1

	shift
	mkdir -p "$dir"
	if [ -e "$dir/Makefile" ] && [ "$(cat "$dir/.options" 2>/dev/null)" = "$*" ]; then
		return 0
	fi
	# libtool is run by the shell that configure finds: dash starts in a quarter of bash's time.
	(cd "$dir" && CONFIG_SHELL=/bin/sh /bin/sh "$top/configure" -q "$@") || return 1
	printf '%s\n' "$*" >"$dir/.options"
}

# build_and NAME PROGRAMS MAKE-ARGUMENT...: the programs first, so that a failed one is not reported as a failed test
build_and()
{
	local dir=$results/$1 programs=$2

	shift 2
	make -C "$dir" -k "${@:2}" "$programs" && make -C "$dir" -k "$@"
}

# This compiles and links very many programs: little debugging information saves a fifth of a compilation. The tarball is
# built with the defaults.
part_configure-gcc()
{
	configure_in gcc --enable-werror CC=gcc CFLAGS="-g1 -O2" LDFLAGS=-fuse-ld=mold
}

# abidiff, in the long tier, needs the libraries' types. The short tier compiles with them, too: both tiers build in one
# place, and the second one does not compile again.
libraries_with_types()
{
	make -C "$results/gcc" -j"$jobs" CFLAGS="-g -O2" librecorder.la librecorder-dat.la
}

# This part leaves out the tests of the sanitizers' part. It runs more tests in parallel than there are CPUs, because
# tests wait for half of their time.
part_gcc()
{
	libraries_with_types && build_and gcc programs-full check-full -j$((2 * jobs))
}

# All tests, and the unit tests, which the short tier runs under sanitizers only.
part_gcc-long()
{
	libraries_with_types && build_and gcc programs check-all -j"$jobs" && FUZZ_SECONDS=1 make -C "$results/gcc" -k check-unit -j"$jobs"
}

# Every file of the tree is in the tarball, except git's own.
part_dist()
{
	make -C "$results/gcc" dist && is_tarball_whole
}

is_tarball_whole()
{
	local files packed missing

	if [ ! -e .git ]; then
		printf '%s\n' "SKIP: the tarball's list of files - this is not a clone" "# SKIP: 1"
		return 0
	fi
	files=$(git ls-files) && packed=$(tar -tzf "$results"/gcc/librecorder-*.tar.gz) || return 1
	[ -n "$files" ] || return 1
	missing=$(comm -23 <(grep -v '^\.gitignore$' <<<"$files" | sort) <(cut -d / -f 2- <<<"$packed" | sort))
	[ -z "$missing" ] || echo "FAIL: not in the tarball:" "$missing"
	[ -z "$missing" ]
}

# The tarball's contents build, install, uninstall and leave nothing.
part_dist-long()
{
	make -C "$results/gcc" distcheck-quick DISTCHECK_CONFIGURE_FLAGS=CFLAGS=-O0
}

# The second compiler. Its warnings do not depend on optimization; a build without optimization takes a third of the
# time. mold links in half the time.
configure_sanitizers()
{
	configure_in sanitizers --enable-werror --enable-sanitizers=address,undefined --disable-shared --without-criterion \
		CC=clang CFLAGS="-g1 -O0" LDFLAGS=-fuse-ld=mold
}

# The unit tests, and clang's warnings on the files that no unit test is built from.
part_sanitizers()
{
	configure_sanitizers && make -C "$results/sanitizers" -k warnings &&
		FUZZ_SECONDS=2 FUZZ_INPUTS=60 RECORDER_WHY_TRACES=40 RECORDER_MODEL_TRACES=1000 RECORDER_DIFF_PAIRS=5 RECORDER_FUZZ_ROUNDS=100000 \
			build_and sanitizers programs-unit check-unit
}

part_sanitizers-long()
{
	configure_sanitizers && FUZZ_SECONDS=15 FUZZ_INPUTS=150 build_and sanitizers programs-fuzz check-fuzz
}

# The portable atomics, under the thread sanitizer. gcc warns that the sanitizer cannot follow fences; so plain data
# must be ordered without them.
part_threads()
{
	configure_in threads --disable-command --disable-shared --enable-sanitizers=thread CC=gcc \
		CPPFLAGS=-DREC_GENERIC_ATOMICS CFLAGS="-g1 -O1 -Wno-tsan" \
		LDFLAGS=-fuse-ld=mold && build_and threads programs-threads check-threads
}

# The library alone for another CPU, its tests under an emulator.
part_aarch64-long()
{
	configure_in aarch64-long --disable-command --disable-shared --enable-werror --host=aarch64-linux-gnu CFLAGS=-O1 \
		EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu" && build_and aarch64-long programs check
}

# sum LOG RESULT...: the sum of automake's "# RESULT: n" lines
sum()
{
	local log=$1

	shift
	awk -v keys=" $* " '$1 == "#" && NF == 3 && index(keys, " " substr($2, 1, length($2) - 1) " ") { n += $3 } END { print n + 0 }' "$log"
}

# Prints the ends of the logs of the part's failed tests, each with the last check that passed before.
show_failed_tests()
{
	local dir=$results/$1 log

	[ -d "$dir" ] || dir=$results/${1%-long}
	# This is a pattern, because the name of the unpacked tarball contains the version.
	[ "${1%-long}" != dist ] || dir=$(echo "$results"/gcc/librecorder-*/_build/sub)

	sed -nE 's/^(FAIL|ERROR|XPASS): ([^ ]+)\.sh .*/\2/p; t; s/^(FAIL|ERROR|XPASS): ([^ ]+) .*/\2/p' "$results/$1.log" | sort -u |
		while read -r log; do
			log=$dir/$log.log
			[ -e "$log" ] || continue
			printf '\n---- %s\n' "$log"
			awk '/^PASS: / { next } /^ok / { passed = $0; next } passed { print passed; passed = "" } { print }
				END { if (passed) print passed }' "$log" | tail -n 120
		done
}

# Runs one part. Its output goes to NAME.log; then its result and its failures are printed here.
run_part()
{
	local name=$1 log=$results/$1.log status=0 begin=$SECONDS passed bad skipped cpu

	"part_$name" >"$log" 2>&1 </dev/null || status=$?
	passed=$(sum "$log" PASS XFAIL)
	bad=$(sum "$log" FAIL ERROR XPASS)
	skipped=$(sum "$log" SKIP)
	if [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		bad=1
		echo "ERROR: $name ended with status $status, see $log" >>"$log"
		tail -n 60 "$log"
	elif [ $((passed + bad)) = 0 ] && [[ $name != @(configure-gcc|dist) ]]; then
		bad=1
		echo "ERROR: $name tested nothing, see $log" >>"$log"
	fi
	echo "$passed $bad $skipped" >"$results/$name.result"
	[ "$name" = configure-gcc ] && [ "$bad" = 0 ] && return
	# The last line of `times` has the processor time of the programs that this shell ran: 1m2.345s 0m6.789s.
	times >"$results/$name.times"
	cpu=$(awk 'END { for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); n += t[1] * 60 + t[2] } print int(n) }' "$results/$name.times")
	printf '==> %-16s passed %5d, failed %d, skipped %d, in %d s, cpu %d s\n' "$name" "$passed" "$bad" "$skipped" \
		$((SECONDS - begin)) "$cpu"
	[ "$bad" = 0 ] || show_failed_tests "$name"
}

# A part that could not be started, or was killed, has written no result, and counts as one failure.
note_lost_parts()
{
	local name

	for name; do
		[ ! -s "$results/$name.result" ] || continue
		echo "ERROR: $name ended without a result" >>"$results/$name.log"
		echo "0 1 0" >"$results/$name.result"
	done
}

# say TITLE PATTERN: the lines of the parts' logs that match, each with its part's name
say()
{
	local found

	found=$(cd "$results" && for log in "${logs[@]}"; do
		sed -nE "s/^($2)/    ${log%.log}: \1/p" "$log"
	done)
	[ -z "$found" ] || printf '\n==> %s\n%s\n' "$1" "$found"
}

run_tier()
{
	local logs passed failed skipped log faults

	mkdir -p "$results"
	rm -f "$results"/*.{log,result}
	SECONDS=0
	run_part configure-gcc
	# The longest part starts first, with jobs of its own.
	run_part "$2" &
	make -f tests/parts.mk -s -k -j"$jobs" "$1" || true
	wait
	# shellcheck disable=SC2046
	note_lost_parts configure-gcc "$2" $(sed -n "s/^$1: //p" tests/parts.mk)
	mapfile -t logs < <(cd "$results" && ls -- *.log)
	echo
	for log in "${logs[@]}"; do
		sed -n "s/^TIME:/    ${log%.log}:/p" "$results/$log"
	done
	say "skipped, and why" 'SKIP: .*'
	faults=$(cd "$results" && grep -rhoE 'attempt [1-3] of 3: fault of the environment: .*' --include='*.log' --exclude=test-suite.log . | sort | uniq -c || true)
	[ -z "$faults" ] || printf '\n==> faults of others, tried again\n%s\n' "$faults"
	say "failed" '(FAIL|ERROR|XPASS): .*'
	read -r passed failed skipped < <(cat "$results"/*.result | awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
	printf '\nin %d min %d s\n%d passed, %d failed, %d skipped\n' $((SECONDS / 60)) $((SECONDS % 60)) "$passed" "$failed" "$skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

case "$#:$*" in
1:short) run_tier short gcc ;;
1:long) run_tier long gcc-long ;;
"2:part "*) run_part "$2" ;;
*) sed -n '4,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
