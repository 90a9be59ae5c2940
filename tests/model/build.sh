#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: build.sh SOURCES DIRECTORY [NAME...]
#
# Builds the model checker of the ring in SOURCES (a source tree, or a copy of its include/ and librecorder/) as
# DIRECTORY/model. With NAMEs, only those sources of the ring are compiled; the other objects must exist already.
#
# The code to be checked is compiled with -fsanitize=thread and linked with tests/model/tsan.c instead of that
# sanitizer's library, with the portable atomic operations, which it can see. COVERAGE=yes: with gcov's counters.
set -eu

sources=$1 out=$2
shift 2
top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
cc=${CC:-gcc}
harness=(actor check configs explore main memory oracle oracle_left oracle_read outside set stack_switch state tsan view)
checked=(ring ring_commit ring_consume ring_count ring_enter ring_init ring_reader ring_left reader_iter page handle spoil action)
only=("$@")
flags=(-std=gnu11 -D_GNU_SOURCE -DREC__DETAIL=1 -g -O2 -fno-stack-protector -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
	-Wmissing-prototypes -Wpointer-arith -Wundef "-I$sources/include" "-I$sources" "-I$top")
watched=(-fsanitize=thread -DREC_GENERIC_ATOMICS -Dfree=model_free -Dsyscall=model_syscall -Dsigaltstack=model_sigaltstack)
case $("$cc" --version) in
*clang*) watched+=(-mllvm -tsan-instrument-func-entry-exit=0) ;;
*) watched+=(--param tsan-instrument-func-entry-exit=0 -Wno-tsan) ;;
esac

# An iterator copies what may be overwritten: with steps.
also()
{
	[ "$1" != reader_iter ] || echo -Dmemcpy=model_iter_memcpy -Dmalloc=model_iter_malloc -Dcalloc=model_iter_calloc
}

link=()
if [ "${COVERAGE-}" = yes ]; then
	watched+=(-O1 -fno-inline --coverage)
	link=(--coverage)
fi

mkdir -p "$out"
if [ ${#only[@]} -eq 0 ]; then
	only=("${checked[@]}")
	for name in "${harness[@]}"; do
		"$cc" "${flags[@]}" -c "$top/tests/model/$name.c" -o "$out/$name.o"
	done
fi
for name in "${only[@]}"; do
	file=$(echo "$sources"/librecorder/*/"$name.c")
	[ ! -e "$top/tests/model/$name.c" ] || file=$top/tests/model/$name.c
	"$cc" "${flags[@]}" "${watched[@]}" $(also "$name") -c "$file" -o "$out/$name.o"
done
objects=("${harness[@]}" "${checked[@]}")
objects=("${objects[@]/#/$out/}")
"$cc" "${link[@]}" -o "$out/model" "${objects[@]/%/.o}"
