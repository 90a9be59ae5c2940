#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The macros of event.h compile without a warning in both languages and with both compilers, and work however a program
# is linked.

. "$top_srcdir/tests/tap.sh"

here=$top_srcdir/tests/compile
clang=$(command -v clang || true)
clangxx=$(command -v clang++ || true)
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-aliasing=2 -Wformat=2 -Werror)
read -ra cflags <<<"$CFLAGS_FOR_TEST"
read -ra library <<<"$LDADD_FOR_TEST"
sanitized=no
case "$CFLAGS_FOR_TEST" in *-fsanitize=*) sanitized=yes ;; esac

# ------------------------------------------------------------------------------------------------ warnings

for compiler in gcc ${clang:+clang}; do
	set -- "-std=c11 -O2" "-std=gnu17 -O0 -fPIC -fno-plt -DREC_GENERIC_ATOMICS"
	[ "${COMPILERS-}" != all ] || set -- "$@" "-std=c11 -O3 -fPIC -fno-plt -DREC_GENERIC_ATOMICS"
	for options; do
		# shellcheck disable=SC2086
		ok "$compiler $options has no warning" \
			"$compiler" $options "${warnings[@]}" -Wdeclaration-after-statement -I"$top_srcdir/include" -c -o "$TMP/w.o" \
			"$here/event_part.c"
	done
done
for compiler in g++ ${clangxx:+clang++}; do
	useless_cast=
	[ $compiler != g++ ] || useless_cast=-Wuseless-cast
	set -- "-std=c++17 -O2 -Wold-style-cast $useless_cast" "-std=c++20 -O0" "-std=c++11 -O0"
	[ "${COMPILERS-}" != all ] || set -- "$@" "-std=gnu++17 -O0" "-std=c++20 -O2" "-std=c++11 -O2"
	for options; do
		# shellcheck disable=SC2086
		ok "$compiler $options has no warning" \
			"$compiler" -x c++ $options "${warnings[@]}" -I"$top_srcdir/include" -c -o "$TMP/w.o" "$here/event_part.c"
	done
done
[ -n "$clang" ] || skip "clang has no warning" "clang is not installed"

# Mistakes are errors at the place where they are made.
mistake()
{
	printf '#include <librecorder/event.h>\nREC_EVENT(m, e, u64(n), string(s));\nvoid f(void);\nvoid f(void)\n{\n\t%s;\n}\n' \
		"$2" >"$TMP/mistake.c"
	ok "without it: $1" "$CC" -std=c11 -Wall -Werror -I"$top_srcdir/include" -fsyntax-only "$TMP/good.c"
	fails "$1" "$CC" -std=c11 -Wall -Werror -I"$top_srcdir/include" -fsyntax-only "$TMP/mistake.c"
}
printf '#include <librecorder/event.h>\nREC_EVENT(m, e, u64(n), string(s));\nvoid f(void);\nvoid f(void)\n{\n\tREC(m, e, 1, "s");\n}\n' \
	>"$TMP/good.c"
mistake "too few arguments" 'REC(m, e, 1)'
mistake "too many arguments" 'REC(m, e, 1, "s", 2)'
mistake "a wrong type" 'REC(m, e, 1, 2.0)'
mistake "no such event" 'REC(m, x, 1)'
mistake "a wrong printf argument" 'rec_printf("%s", 1)'
mistake "a task without an id" 'REC_TASK()'
mistake "too many arguments of a task" 'REC_TASK(7, "x", 5, "dropped")'

# Each language and each compiler once; all combinations only in the long tier (COMPILERS=all).
each=("gcc -std=c11")
[ -z "$clang" ] || each+=("clang++ -x c++ -std=c++17")
[ "${COMPILERS-}" != all ] || each+=("g++ -x c++ -std=c++17" ${clang:+"clang -std=c11"})

# Mistakes in declarations: the compiler reports which one, in a sentence, wherever the event is used. All of them are
# compiled at once, each in a "file" of its own, case-N, with a group of its own.
cases=()
regexes=()
echo '#include <librecorder/event.h>' >"$TMP/mistakes.c"

# wrong NAME CODE REGEX: code whose group is m and whose function is f, in which the compiler finds an error
wrong()
{
	local n=${#cases[@]} code

	code=${2//(m, /(m$n, }
	code=${code// f(/ f$n(}
	printf '# 1 "case-%d"\n%s\n' "$n" "$code" >>"$TMP/mistakes.c"
	cases+=("$1")
	regexes+=("$3")
}

# declares FIELD REGEX
declares()
{
	wrong "$1" "REC_EVENT(m, e, u8(first), $1);" "static.assert[a-z]* failed.*$2"
}
declares "int(n)" 'int\(n\) is not a kind of field: write s32\(n\)'
declares "float(n)" 'float\(n\) is not a kind of field: write f32\(n\)'
declares "double(n, 3)" 'double\(n\) is not a kind of field: write f64\(n\)'
declares "bool(n)" 'bool\(n\) is not a kind of field: write flag\(n\)'
declares "frob(n)" 'frob\(n\) is not a kind of field'
declares "array(int, n, 4)" 'array\(int, n, 4\) has no such elements'
declares "array(u8, n)" 'array\(u8, n\) lacks something: write array\(TYPE, NAME, LENGTH\)'
declares "array(u8, n, 0)" 'array\(n\): a length above 0'
declares "real(n, 22)" 'real\(n\): 0 to 18 decimals'
declares "real(n)" 'real\(n\) lacks a number of decimals: write real\(n, 3\)'
for field in 'u32()' 'f64()' 'ptr()' 'real(, 2)' 'array(u8, , 4)' 'string()' 'bytes()'; do
	declares "$field" 'a field lacks its name: write KIND\(NAME\), such as u32\(n\)'
done
declares "u32(a, b)" 'u32\(a, b\) takes a name alone'
declares "stringn(text, length)" 'stringn\(text, length\) takes a name alone'
declares "named(n)" 'named\(n\) lacks its values'
declares "named(u8, n)" 'named\(n\) lacks its values'

# The same in declarations with a meaning. misdeclares DECLARATION REGEX
misdeclares()
{
	wrong "$1" "$1;" "static.assert[a-z]* failed.*$2"
}
misdeclares "REC_EVENT(m, e, u8(a), end(u8(b)))" 'key\(\) and end\(\) belong in a span or a state'
misdeclares "REC_SPAN(m, e, key(u8(a)))" 'REC_SPAN has no key\(\): use REC_SPAN_KEYED'
misdeclares "REC_SPAN(m, e, end(u8(a)), end(u8(b)))" 'a span has one end\(\)'
misdeclares "REC_SPAN(m, e, end(int(a)))" 'int\(a\) is not a kind of field: write s32\(a\)'
misdeclares "REC_SPAN_KEYED(m, e, u8(a))" 'REC_SPAN_KEYED: the first field is key'
misdeclares "REC_SPAN_KEYED(m, e, u8(a), key(u8(b)))" 'REC_SPAN_KEYED: the first field is key'
misdeclares "REC_SPAN_KEYED(m, e, key(string(a)))" 'key\(a\): a key is a whole number, ptr or named'
misdeclares "REC_SPAN_KEYED(m, e, key(f64(a)))" 'key\(a\): a key is a whole number, ptr or named'
misdeclares "REC_SPAN_KEYED(m, e, key(u8(a), u8(b), u8(c), u8(d), u8(e)))" 'key\(\) has at most 4 fields'
many=$(printf 'u8(f%d), ' {1..31})
misdeclares "REC_TIMED(m, e, ${many}u8(f32))" 'an event has at most 32 fields'
misdeclares "REC_SPAN_KEYED(m, e, key(u8(a), u8(b)), ${many%, })" 'an event has at most 32 fields'
misdeclares "REC_SPAN_KEYED(m, e, key(u8()))" 'a field lacks its name'
misdeclares "REC_SPAN_KEYED(m, e, key(frob(a)))" 'frob\(a\) is not a kind of field'
misdeclares "REC_COUNTER(m, e, string(a))" 'REC_COUNTER: the first field is the value, a whole number'
misdeclares "REC_COUNTER(m, e, f32(a))" 'REC_COUNTER: the first field is the value, a whole number'
misdeclares "REC_COUNTER(m, e)" 'REC_COUNTER: the first field is the value, a whole number'
misdeclares "REC_STATE(m, e, string(a))" 'REC_STATE: key\(...\), which may be missing'
misdeclares "REC_SPAN(m, e, end(u8(a))); void f(void); void f(void) { REC_SCOPE(m, e); }" \
	'REC_SCOPE needs a span without a key and without end'

# The same in formats. misformats FORMAT REGEX
misformats()
{
	wrong "$1" "REC_EVENT_FMT(m, e, ($1), u8(first), s64(big), f64(part), string(s), named(op, 1, 2));" "$2"
}
misformats '"%d", frist' "'?frist'?.*(undeclared|not declared|undeclared identifier|did you mean)"
misformats '"%d", REC->frist' "no member named 'frist'"
misformats '"%s", __print_symbolic(frist, { 1, "one" })' "'frist'"
misformats '"%s %c", s, first' 'REC_EVENT_FMT: the tools do not know %c'
misformats '"%f", part' "(type 'double'|%f.*'double')"
misformats '"%u of %f", first, part' 'REC_EVENT_FMT: the tools do not know %c and %f; .* or REC_EVENT, which shows f32'
misformats '"%g", big' "(type 'double'|%g.*'double')"
misformats '"%d", s' "(type 'int'|%d.*'int')"
misformats '"%s", big' "(type 'char \*'|%s.*'char ?\*')"
misformats '"%d", big' "(type 'int'|%d.*'int')"
misformats '"%d %d", first' "(matching 'int' argument|more '%' conversions than data arguments)"
misformats '"%d", first, first' "(too many arguments for format|data argument not used)"

wrong "a format without parentheses" 'REC_EVENT_FMT(m, e, "%d", u8(first));' \
	'static.assert[a-z]* failed.*REC_EVENT_FMT: format and arguments are in parentheses'

# errors_of N: the errors in case N. gcc reports some of them in a macro's definition, and a note after that names the
# case.
errors_of()
{
	awk -v here="case-$1:" '
		function flush() { if (error && where == here) print error }
		/ error: / { flush(); error = $0; where = "" }
		error && where == "" && match($0, /case-[0-9]+:/) { where = substr($0, RSTART, RLENGTH) }
		END { flush() }' "$TMP/.err"
}

for compiler in "${each[@]}"; do
	limit=-fmax-errors=0
	case $compiler in clang*) limit=-ferror-limit=0 ;; esac
	# shellcheck disable=SC2086
	fails "$compiler: mistakes are errors" $compiler $limit -I"$top_srcdir/include" -fsyntax-only "$TMP/mistakes.c"
	for i in "${!cases[@]}"; do
		like "$compiler: ${cases[i]}" "$(errors_of "$i")" "error: .*${regexes[i]}"
	done
done

# Correct formats cause no warning, and the check leaves no code.
cat >"$TMP/unchecked.c" <<'END'
#include <librecorder/event.h>
#if defined(REC_NO_FORMAT_CHECK) && defined(__print_flags)
#error "a macro of the check"
#endif
REC_EVENT_FMT(m, unchecked, ("%lu", number), u64(number));
END
cat >"$TMP/formats.c" <<'END'
#include <librecorder/event.h>
static int port, host;
REC_EVENT_FMT(m, none, ("100%%, 5%%c"));
REC_EVENT_FMT(m, texts, ("%s:%u %s %s", host, port, REC->v6 ? "IPv6" : "IPv4", __get_str(host)), stringn(host), u16(port), flag(v6));
REC_EVENT_FMT(m, numbers, ("%hhd %hhu %hu %u %d %x %lld %08llx 0x%llx %lld %lld %d", a, b, c, d, e, f, g, h, p, r, t, (a + 3) & 7),
	      s8(a), u8(b), u16(c), u32(d), s32(e), hex32(f), s64(g), hex64(h), ptr(p), real(r, 3), f32(t));
REC_EVENT_FMT(m, functions, ("%s %s %s %d %d", __print_symbolic(REC->op, { 1, "one" }, { 2, "two" }), __print_flags(n, "|", { 1, "x" }),
			     __print_hex(__get_dynamic_array(b), __get_dynamic_array_len(b)), REC->list[1], REC->op),
	      named(op, 1, 2), u32(n), array(u8, list, 4), bytes(b));
int f(void);
int f(void)
{
	return port + host;
}
END
for compiler in "gcc -std=c11 -O0" "gcc -std=c11 -O2" "g++ -x c++ -std=c++17 -O0 -Wold-style-cast" \
	${clang:+"clang -std=c11 -O0" "clang++ -x c++ -std=c++17 -O0"}; do
	# shellcheck disable=SC2086
	ok "$compiler: formats without a mistake" \
		$compiler "${warnings[@]}" -Wunused -Wundef -I"$top_srcdir/include" -c -o "$TMP/formats.o" "$TMP/formats.c"
	is "the check is not in the program" "$(nm "$TMP/formats.o" | grep -c rec_format)" 0
	ok "$compiler: REC_NO_FORMAT_CHECK takes what the tools take" \
		$compiler "${warnings[@]}" -I"$top_srcdir/include" -DREC_NO_FORMAT_CHECK -c -o "$TMP/formats.o" "$TMP/unchecked.c"
	fails "$compiler: which is an error without it" \
		$compiler "${warnings[@]}" -I"$top_srcdir/include" -c -o "$TMP/formats.o" "$TMP/unchecked.c"
done

# An array that is too short, where the compiler knows its length.
cat >"$TMP/short.c" <<'END'
#include <librecorder/event.h>
REC_EVENT(m, e, array(u32, n, 4));
void f(void);
void f(void)
{
	unsigned int n[LENGTH] = { 0 };

	REC(m, e, n);
}
END
for compiler in gcc ${clang:+clang}; do
	ok "$compiler: an array of that length" \
		$compiler -Wall -O2 -Werror -DLENGTH=4 -I"$top_srcdir/include" -c -o "$TMP/w.o" "$TMP/short.c"
	fails "$compiler: one that is shorter" \
		$compiler -Wall -O2 -Werror -DLENGTH=3 -I"$top_srcdir/include" -c -o "$TMP/w.o" "$TMP/short.c"
done

# Macros of the program that have the names of our field kinds.
cat >"$TMP/macros.c" <<'END'
#define u8 unsigned char
#define u64(x) ((unsigned long)(x), 1)
#define s32 int
#define string std
#define named foo
#define array bar
#define bytes(a) a, a
#define flag 1
#include <librecorder/event.h>
REC_EVENT(m, e, u64(id), s32(fd), string(path), named(u8, op, 1, 2), named(how, 1), array(s32, a, 4), bytes(b), flag(f));
REC_EVENT_FMT(m, f, ("%llu %d", id, fd), u64(id), s32(fd));
REC_SPAN_KEYED(m, named, key(u64(id), u8(b)), string(path), end(s32(fd), named(u8, op, 1, 2)));
void f(const int *a);
void f(const int *a)
{
	REC(m, e, 1, 2, "path", 1, 1, a, "bytes", 5, 1);
	REC(m, f, 1, 2);
	REC_BEGIN(m, named, 1, 2, "path");
	REC_END(m, named, 1, 2, 3, 1);
}
END
for compiler in "gcc -std=c11" "g++ -x c++ -std=c++17" ${clang:+"clang -std=c11" "clang++ -x c++ -std=c++17"}; do
	# shellcheck disable=SC2086
	ok "$compiler: macros with the names of our kinds" \
		$compiler "${warnings[@]}" -I"$top_srcdir/include" -c -o "$TMP/macros.o" "$TMP/macros.c"
	like "what is declared is what was written" "$(strings "$TMP/macros.o")" \
		'e, u64\(id\), s32\(fd\), string\(path\), named\(u8, op, 1, 2\), named\(how, 1\), array\(s32, a, 4\), bytes\(b\), flag\(f\)'
done

# Only public headers may include the headers in detail/. A program may not include them, even after a public header.
printf '#include <librecorder/event.h>\n#include <librecorder/reader.h>\n' >"$TMP/good.c"
ok "the public headers compile" "$CC" -std=c11 -I"$top_srcdir/include" -fsyntax-only "$TMP/good.c"
details=$(cd "$top_srcdir/include/librecorder/detail" && echo ./*.h)
ok "there are detail headers" test "$(wc -w <<<"$details")" -ge 5
for detail in $details; do
	for before in '' '#include <librecorder/event.h>\n#include <librecorder/reader.h>'; do
		printf "$before\n#include <librecorder/detail/%s>\n" "${detail#./}" >"$TMP/direct.c"
		fails "$detail is not for programs${before:+, nor after event.h}" \
			"$CC" -std=c11 -I"$top_srcdir/include" -E -o /dev/null "$TMP/direct.c"
		like "and the error names the header that is" "$err" 'error.*include <librecorder/[a-z_]*\.h>'
	done
done

# ------------------------------------------------------------------------------------------------ one program

# compile PART OUTPUT FLAG...: part_b is C++.
compile()
{
	local part=$1 output=$2

	shift 2
	case $part in
	part_b) "$CXX" -x c++ -std=c++17 -DPART="$part" "$@" "${cflags[@]}" -c -o "$output" "$here/event_part.c" ;;
	*) "$CC" -std=c11 -DPART="$part" "$@" "${cflags[@]}" -c -o "$output" "$here/event_part.c" ;;
	esac
}

objects()
{
	local dir=$1 part

	shift
	mkdir -p "$dir"
	for part in part_a part_b part_c; do
		compile $part "$dir/$part.o" "$@" || return 1
	done
	"$CC" -std=c11 "$@" "${cflags[@]}" -c -o "$dir/main.o" "$here/event_main.c"
}

# Each part writes 25 shared events and one of its own; the one in C++ writes another in its namespace.
expected=79

# works NAME COMMAND...: all parts have one event, and everything is recorded.
works()
{
	local name=$1 times=$2 n file=$TMP/trace.dat

	shift 2
	rm -f "$file"
	run "$RECORDER" record -q -o "$file" -- "$@"
	if [ "$status" != 0 ] || [ "$out" != "same id" ]; then
		tap_show_run "$@"
		fail "$name"
		return
	fi
	run "$RECORDER" report "$file"
	n=$(grep -c -E ' (none|one|numbers|floats|others|formatted|constant|bprint|differs|differs_c|in_namespace|(span|scope|keyed)_(begin|end)|timed|counter|state|task): ' "$TMP/.out")
	if [ "$n" != $((expected * times)) ] || ! grep -q 'formatted: *part_b is 17' "$TMP/.out"; then
		tap_show_run "$RECORDER" report "$file"
		fail "$name"
		return
	fi
	pass "$name"
}

objects "$TMP/plain" -O0
objects "$TMP/sections" -O2 -ffunction-sections -fdata-sections
[ "$sanitized" = yes ] || objects "$TMP/nopie" -O0 -fno-pie

linkers=bfd
[ "${COMPILERS-}" != all ] || linkers="bfd gold lld mold"
for linker in $linkers; do
	if ! command -v "ld.$linker" >/dev/null && ! command -v "$linker" >/dev/null; then
		skip "linked with $linker" "$linker is not installed"
		continue
	fi
	if [ "$sanitized" = yes ] && [ "$linker" = gold ]; then
		continue # sanitizers and gold disagree about sections of their own
	fi
	for options in "sections -Wl,--gc-sections" "sections -Wl,--gc-sections -Wl,-z,start-stop-gc" "plain" "nopie -no-pie" \
		"sections -Wl,--gc-sections -Wl,-O1 -s"; do
		read -ra words <<<"$options"
		case "$linker $options" in
		"gold "*start-stop-gc* | "mold "*start-stop-gc*) continue ;; # they do not know the option
		*no-pie*) [ "$sanitized" = no ] || continue ;;
		esac
		driver=${clangxx:-$CXX}
		[ "$sanitized" = no ] && [ "$linker" != mold ] || driver=$CXX
		flags=("${words[@]:1}")
		if ok "$linker links: $options" "$driver" -fuse-ld=$linker "${flags[@]}" "${cflags[@]}" -o "$TMP/program" \
			"$TMP/${words[0]}"/*.o "${library[@]}" -lpthread; then
			works "and it works" 1 "$TMP/program"
			run "$RECORDER" list "$TMP/program"
			like "and its events are found in the file" "$out" 'kinds:others'
		fi
	done
done

if [ "$sanitized" = no ]; then
	ok "a fully static program links" "$CXX" -static -o "$TMP/program" "$TMP"/plain/*.o "${library[@]}"
	works "and it works" 1 "$TMP/program"

	objects "$TMP/lto" -O2 -flto
	ok "with link time optimisation" "$CXX" -O2 -flto -o "$TMP/program" "$TMP"/lto/*.o "${library[@]}"
	works "and it works" 1 "$TMP/program"
fi

# ------------------------------------------------------------------------------------------------ shared libraries

shared=$top_builddir/.libs/librecorder.so
if [ -e "$shared" ]; then
	export LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	objects "$TMP/pic" -O0 -fPIC
	for part in part_a part_b part_c; do
		ok "$part as a shared library" "$CXX" -shared "${cflags[@]}" -o "$TMP/lib$part.so" "$TMP/pic/$part.o" "$shared"
	done
	ok "a program of two of them and a part of its own" "$CXX" "${cflags[@]}" -o "$TMP/program" "$TMP/pic/main.o" \
		"$TMP/pic/part_c.o" "$TMP/libpart_a.so" "$TMP/libpart_b.so" "$shared" -Wl,-rpath,"$TMP"
	works "and it works" 1 "$TMP/program"

	"$CC" -std=c11 -DLOADS "${cflags[@]}" -o "$TMP/loader" "$here/event_main.c" -ldl
	plugins=("$TMP/libpart_a.so" part_a "$TMP/libpart_b.so" part_b "$TMP/libpart_c.so" part_c)
	if [ "$sanitized" = no ]; then
		works "plugins loaded, unloaded and loaded again, by a program that knows no librecorder" 2 "$TMP/loader" "${plugins[@]}"
	fi
	"$CC" -std=c11 -DLOADS "${cflags[@]}" -o "$TMP/loader" "$here/event_main.c" -ldl -Wl,--no-as-needed "$shared"
	works "and by one that is linked with it" 2 "$TMP/loader" "${plugins[@]}"
else
	skip "shared libraries" "configured without a shared library"
fi

done_testing
