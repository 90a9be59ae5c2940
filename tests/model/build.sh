#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: build.sh SOURCES DIRECTORY [NAME...]
#
# Builds the model checkers for the sources in SOURCES (a source tree, or a copy of its include/ and librecorder/): that
# of the ring as DIRECTORY/model, that of the pool of lanes as DIRECTORY/lanes/lanes. With NAMEs, only those sources are
# compiled; the other objects must exist already. CHECKERS: which of the two (default "model lanes").
#
# The code to be checked is compiled with -fsanitize=thread and linked with tests/model/tsan.c instead of that
# sanitizer's library, with the portable atomic operations, which it can see. COVERAGE=yes: with gcov's counters.
# MODEL_CFLAGS: further options of the compiler.
set -eu

sources=$1 out=$2
shift 2
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-gcc}
wanted=("$@")
ring=(ring ring_commit ring_consume ring_count ring_enter ring_init ring_reader ring_left)
flags=(-std=gnu11 -D_GNU_SOURCE -DREC__DETAIL=1 -g -O2 -fno-pie -fno-stack-protector -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
	-Wmissing-prototypes -Wpointer-arith -Wundef "-I$sources/include" "-I$sources" "-I$top")
watched=(-fsanitize=thread -DREC_GENERIC_ATOMICS -Dfree=model_free -Dsyscall=model_syscall -Dsigaltstack=model_sigaltstack)
read -ra more <<<"${MODEL_CFLAGS-}"
flags+=("${more[@]}")
case $("$cc" --version) in
*clang*) watched+=(-mllvm -tsan-instrument-func-entry-exit=0) ;;
*) watched+=(--param tsan-instrument-func-entry-exit=0 -Wno-tsan) ;;
esac

link=()
if [ "${COVERAGE-}" = yes ]; then
	watched+=(-O1 -fno-inline --coverage)
	link=(--coverage)
fi

# Options for some sources only.
also()
{
	case $1 in
	# An iterator copies memory that may be overwritten, so its copy must have steps.
	model/reader_iter) echo -Dmemcpy=model_iter_memcpy -Dmalloc=model_iter_malloc -Dcalloc=model_iter_calloc ;;
	lanes/*)
		echo -include "$top/tests/model/lanes/small.h" -Dgetpid=model_getpid -Dmadvise=model_madvise -Dstatfs=model_statfs \
			-Dmemset=model_memset -Dclock_gettime=model_clock_gettime -D__rseq_size=model_rseq_size -D__rseq_offset=model_rseq_place
		;;
	esac
}

# Finds the source of this name: the checker's own, one of both checkers, or the library's.
find_source()
{
	local at

	for at in "$top"/tests/model/"$1.c" "$top"/tests/model/"${1#model/}.c" "$top"/tests/model/"${1#lanes/}.c"; do
		[ ! -e "$at" ] || { echo "$at"; return; }
	done
	echo "$sources"/librecorder/*/"${1#*/}.c"
}

# build CHECKER OBJECTS-DIRECTORY HARNESS... -- CHECKED...
build()
{
	local checker=$1 into=$2 name names=() objects=() checked=()

	shift 2
	mkdir -p "$into"
	while [ "$1" != -- ]; do
		objects+=("$into/$1.o")
		[ ${#wanted[@]} -ne 0 ] || "$cc" "${flags[@]}" -c "$(find_source "$checker/$1")" -o "$into/$1.o"
		shift
	done
	shift
	checked=("$@")
	names=("${wanted[@]}")
	[ ${#names[@]} -ne 0 ] || names=("${checked[@]}")
	for name in "${names[@]}"; do
		[[ " ${checked[*]} " = *" $name "* ]] || continue
		"$cc" "${flags[@]}" "${watched[@]}" $(also "$checker/$name") -c "$(find_source "$checker/$name")" -o "$into/$name.o"
	done
	objects+=("${checked[@]/#/$into/}")
	objects=("${objects[@]%.o}")
	"$cc" -no-pie "${link[@]}" -o "$into/$checker" "${objects[@]/%/.o}"
}

for checker in ${CHECKERS:-model lanes}; do
	case $checker in
	model)
		build model "$out" actor check configs explore main memory oracle oracle_left oracle_read outside set stack_switch \
			state tsan view -- "${ring[@]}" reader_iter page handle spoil action
		;;
	lanes)
		build lanes "$out/lanes" actor check configs explore main memory oracle set stack_switch state tsan -- "${ring[@]}" page \
			lane lane_control lane_grow lane_pool share lane_thread geometry reader_lane reader_wait kernel view action
		;;
	esac
done
