#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# librecorder/event.hpp: programs compile without a warning and record the intended events, and mistakes do not compile.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast -Werror)
read -ra library <<<"$LDADD_FOR_TEST"
read -ra cflags <<<"$CFLAGS_FOR_TEST"
source=$top_srcdir/tests/compile/event_cpp.cpp

expected='none: 
floats: a=0.500000 b=1.000000
numbers: a=1 b=-2 kind=op::put p=SECOND f=1 r=1.25
numbers: a=1 b=0 kind=op::get p=FIRST f=0 r=0.00
numbers: a=1 b=1 kind=op::put p=SECOND f=1 r=1.00
texts: path=/a/path view=a/pa empty= null=(null) one=/a/path two=abc
texts: path=/a/path view= empty=(null) null=(null) one=/a/path two=abc
blocks: a=01000200 b=2f612f70617468 c=7879 d={1,2,3} e={-1,1} f={1,2}
blocks: a=01000200 b=2f612f70617468 c=7879 d={1,2,3} e={-1,1} f={1,2}
pointers: a=0x0 b=0x0 c=0x0 d=0x0
shown: /a/path is op::get
span_begin: path=/a/path
scope_begin: path=/a/path
scope_end: 
keyed_begin: id=7 kind=op::put cause=9
keyed_end: id=7 kind=op::put d={1,2,3}
span_end: kind=op::put why=/a
timed: dur=N path=/a/path
counter: bytes=-1
state: id=1 kind=op::get
task: id=3 name=three
task: id=4 name=/a/path
task: id=5 name=/a
task: id=6 name=
task: id=7 name='"$(printf 'x%.0s' {1..255})"'
in_c: n=7'

# Each compiler and each standard once; all combinations only in the long tier (COMPILERS=all).
each=("g++ -Wuseless-cast -std=c++17 -O2" "clang++ -std=c++20 -O0")
[ "${COMPILERS-}" != all ] || each+=("g++ -Wuseless-cast -std=c++20 -O0" "clang++ -std=c++17 -O2")
for compiler in "${each[@]}"; do
	if ! command -v "${compiler%% *}" >/dev/null; then
		skip "$compiler" "${compiler%% *} is not installed"
		continue
	fi
	# shellcheck disable=SC2086
	ok "$compiler has no warning" $compiler "${warnings[@]}" -I"$top_srcdir/include" "${cflags[@]}" -o program "$source" "${library[@]}"
	ok "its events are recorded" "$RECORDER" record -q -o out.dat ./program
	is "and are what was written" "$("$RECORDER" report out.dat | sed -n 's/^.*[0-9]: \([a-z_]*: .*\)/\1/p' | tr -s ' ' |
		sed 's/dur=[0-9]*/dur=N/')" \
		"$expected"
done

# mistake NAME DECLARED STATEMENT REGEX RIGHT: STATEMENT does not compile; RIGHT in its place compiles.
# g++ reports a mistake in a template before or after the place that uses it, so each one is compiled by itself.
includes='#include <librecorder/event.hpp>
#include <array>
#include <vector>'
nr=0
echo "$includes" >right.cpp
mistake()
{
	nr=$((nr + 1))
	echo "$includes
		REC_EVENT(m, e, $2); void f(); void f() { REC(m, e, $3); }" >mistake.cpp
	fails "$1" "$CXX" -std=c++17 -I"$top_srcdir/include" -fsyntax-only mistake.cpp
	like "it is reported" "$err" "error: .*$4"
	echo "REC_EVENT(m$nr, e, $2); void f$nr(); void f$nr() { REC(m$nr, e, $5); }" >>right.cpp
}
mistake "a floating-point number for a whole one" "u32(n)" "1.5" "a floating-point number for a field of whole numbers" 1
mistake "a pointer for a number" "u64(n)" "\"text\"" "this field takes a number or an enumerator" 1
mistake "a number for a string" "string(s)" "1" "this field takes a string" '"s"'
mistake "an array that is too short" "array(u32, n, 4)" "(std::array<uint32_t, 3>{})" "this array is too short for the field" \
	"(std::array<uint32_t, 4>{})"
mistake "an array of unknown length" "array(u32, n, 4)" "std::vector<uint32_t>(4)" "or of unknown length" \
	"std::vector<uint32_t>(4).data()"
mistake "too many arguments" "u32(n)" "1, 2" "no matching function" 1
mistake "too few arguments" "u32(n), u32(m)" "1" "no matching function" "1, 2"
ok "what is right compiles" "$CXX" -std=c++17 -I"$top_srcdir/include" -fsyntax-only right.cpp

done_testing
