#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several files of one program have one event: with the same declaration it is one event, with different ones it stays
# off and is reported; constructors of C++ objects may write events, whatever the order in which files are linked.

. "$top_srcdir/tests/tap.sh"

read -ra cflags <<<"$CFLAGS_FOR_TEST"
read -ra library <<<"$LDADD_FOR_TEST"
cd "$TMP" || exit 1

# records NAME PROGRAM EVENTS: the program writes these events, a line each, without times; $debug is what it prints.
records()
{
	rm -f trace.dat
	run env REC_DEBUG=1 "$RECORDER" record -q -e '*' -o trace.dat "./$2"
	debug=$err
	is "$1" "$("$RECORDER" report trace.dat | sed -nE 's/.* ([a-z]+): *([a-z]=.*)/\1 \2/p')" "$3"
}

# ------------------------------------------------------------------------------------------ different declarations

cat >one.c <<'END'
#include <librecorder/event.h>
REC_EVENT(io, other, u32(n));
DECLARATION;
void second(void);
int main(void)
{
	REC(io, shared, 7);
	second();
	REC(io, other, 1);
	return 0;
}
END
cat >two.c <<'END'
#include <librecorder/event.h>
DECLARATION;
void second(void);
void second(void)
{
	REC(io, shared, ARGUMENT);
}
END

# build NAME FIELDS OTHER-FIELDS ARGUMENT OPTION...
build()
{
	"$CC" -std=c11 "${@:5}" "${cflags[@]}" "-DDECLARATION=REC_EVENT(io, shared, $2)" -c -o one.o one.c &&
		"$CC" -std=c11 "${@:5}" "${cflags[@]}" "-DDECLARATION=REC_EVENT(io, shared, $3)" "-DARGUMENT=$4" -c -o two.o two.c &&
		"$CC" "${@:5}" "${cflags[@]}" -o "$1" one.o two.o "${library[@]}" -lpthread
}

for options in -O2 "-O2 -flto"; do
	# shellcheck disable=SC2086
	ok "$options: the same declaration twice" build same 'u32(n)' 'u32( n )' 8 $options
	records "is one event" same "shared n=7
shared n=8
other n=1"
	unlike "and nothing is reported" "$debug" 'stays off'
	# shellcheck disable=SC2086
	ok "$options: different declarations" build differ 'u32(n)' 'string(s)' '"hello"' $options
	records "the event stays off in both files, other events are recorded" differ "other n=1"
	like "it is reported" "$debug" 'event io:shared stays off: two files of the program declare it differently'
done

# --------------------------------------------------------------------------------------------------- constructors

cat >object.cpp <<'END'
void work(unsigned n);
struct object {
	object() { work(1); }
	~object() { work(3); }
} static object;
END
cat >work.cpp <<'END'
#include <librecorder/event.h>
REC_EVENT(io, work, u32(n));
void work(unsigned n);
void work(unsigned n)
{
	REC(io, work, n);
}
int main()
{
	work(2);
}
END
for options in -O2 "-O2 -flto"; do
	for order in "object.cpp work.cpp" "work.cpp object.cpp"; do
		# shellcheck disable=SC2086
		ok "$options, $order" "$CXX" -std=c++11 $options "${cflags[@]}" -o constructed $order "${library[@]}" -lpthread
		records "events of constructors and destructors" constructed "work n=1
work n=2
work n=3"
	done
done

done_testing
