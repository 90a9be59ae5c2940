#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# librecorder/optional.h: a library with events, built with and without librecorder's headers, run with and without
# librecorder.so.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

case "$CFLAGS_FOR_TEST" in *-fsanitize=*) skip_all "a sanitizer's library must be the first that is loaded" ;; esac
librecorder=$(echo "$top_builddir"/.libs/librecorder.so.0)
[ -e "$librecorder" ] || skip_all "built without the shared library"

# The authors of a library copy optional.h to their sources.
cp "$top_srcdir/include/librecorder/optional.h" .
cat >lib.c <<'END'
#include "optional.h"
#include <stdbool.h>
#include <stdint.h>

REC_EVENT(opt, none);
REC_EVENT(opt, call, u32(n), string(text));
REC_EVENT_FMT(opt, shown, ("the number is %u", n), u32(n));
REC_SPAN(opt, span, u32(n), end(string(text)));
REC_SPAN(opt, scope, u32(n));
REC_SPAN_KEYED(opt, keyed, key(u32(n)), flow(f));
REC_TIMED(opt, timed, string(text));
REC_COUNTER(opt, counter, u32(n));
REC_STATE(opt, state, key(u32(n)), flag(on));

#ifdef __cplusplus
extern "C"
#endif
void lib_call(unsigned int n);

void lib_call(unsigned int n)
{
	const char *const only_for_events = n ? "more" : "first";

	REC(opt, none);
	REC(opt, call, n++, only_for_events);
	if (REC_ON(opt, shown))
		REC(opt, shown, n);
	rec_printf("%u %s", n, only_for_events);
	rec_context_set("n", only_for_events);
	if (rec_context_set("n", only_for_events))
		return;
	{
		const uint64_t start = REC_TIMED_START(opt, timed);
		REC_SCOPE(opt, scope, n);
		REC_BEGIN(opt, span, n);
		REC_BEGIN(opt, keyed, n, 7);
		REC_END(opt, keyed, n);
		REC_END(opt, span, only_for_events);
		REC_TIMED_END(opt, timed, start, only_for_events);
		REC(opt, counter, n);
		REC(opt, state, n, true);
		REC_TASK(n);
		REC_TASK(n, only_for_events);
	}
}
END
cat >main.c <<'END'
#include <stdio.h>

void lib_call(unsigned int n);

int main(void)
{
	lib_call(0);
	lib_call(1);
	puts("ran");
	return 0;
}
END

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fPIC)
c_compilers=("gcc -std=c11" "clang -std=c11" "g++ -x c++ -std=c++17 -Wold-style-cast" "clang++ -x c++ -std=c++17")
for compiler in "${c_compilers[@]}"; do
	if ! command -v "${compiler%% *}" >/dev/null; then
		skip "$compiler" "${compiler%% *} is not installed"
		continue
	fi
	for options in -O0 -O2 "-O2 -I$top_srcdir/include -DREC_NO_EVENTS"; do
		# shellcheck disable=SC2086
		ok "$compiler ${options%% -I*}, without librecorder's headers: no warning" \
			$compiler $options "${warnings[@]}" -c -o lib.o lib.c
		is "and nothing is used of it" "$(nm -u lib.o | grep -c ' rec_')" 0
	done
	for optimize in -O0 -O2; do
		# shellcheck disable=SC2086
		ok "$compiler $optimize, with them: no warning" \
			$compiler $optimize "${warnings[@]}" -I"$top_srcdir/include" -c -o lib.o lib.c
		is "and it is not required at run time" "$(nm -u lib.o | grep ' U rec_')" ""
	done
done

# build NAME FLAG...: lib.c with these flags, and a program that uses it
build()
{
	local name=$1

	shift
	"$CC" -O2 "$@" "${warnings[@]}" -c -o lib.o lib.c && "$CC" -shared -Wl,-z,defs -o "lib$name.so" lib.o &&
		"$CC" -o "$name" main.c "./lib$name.so"
}
ok "the library built without librecorder" build without
ok "and with it" build with -I"$top_srcdir/include"

for name in without with; do
	run "./$name"
	is "built $name librecorder, run without it" "$status $out $err" "0 ran "
	run env LD_PRELOAD="$librecorder" RECORDER_ENABLE='*' "./$name"
	is "built $name librecorder, run with it" "$status $out $err" "0 ran "
done
ok "built and run with it, it is recorded" env LD_PRELOAD="$librecorder" "$RECORDER" record -o with.dat ./with
is "all of it" "$("$RECORDER" report with.dat | sed -n 's/^.*[0-9]: \(\(none\|call\|shown\|bprint\): .*\)/\1/p' | tr -s ' ')" "none: 
call: n=0 text=first
shown: the number is 1
bprint: lib_call: 1 first
none: 
call: n=1 text=more
shown: the number is 2
bprint: lib_call: 2 more"

is "with the events that have a meaning" "$("$RECORDER" report with.dat | grep -v ' timed: ' |
	sed -n 's/^.*[0-9]: \(\([a-z]*_begin\|[a-z]*_end\|counter\|state\|task\): .*\)/\1/p' | tr -s ' ' | head -n 10)" "scope_begin: n=1
span_begin: n=1
keyed_begin: n=1 f=7
keyed_end: n=1
span_end: text=first
counter: n=1
state: n=1 on=1
task: id=1 name=
task: id=1 name=first
scope_end: "
is "and the durations" "$("$RECORDER" report with.dat | grep -c ' timed: *dur=[0-9]* text=')" 2

# A program that is linked with librecorder provides it to the library, too.
ok "a program that is linked with librecorder" "$CC" -o linked main.c ./libwith.so -Wl,--no-as-needed "$librecorder" \
	-Wl,-rpath,"$(dirname "$librecorder")"
ok "is recorded with the library's events" "$RECORDER" record -o linked.dat ./linked
is "all of them" "$("$RECORDER" report linked.dat | grep -c 'none:\|call:\|shown:\|bprint:')" 8

done_testing
