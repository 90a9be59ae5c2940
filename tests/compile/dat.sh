#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# librecorder-dat: it exports what its header declares, a program needs only what is installed, and it reads what report
# shows.

. "$top_srcdir/tests/tap.sh"

library=$top_builddir/.libs/librecorder-dat.so
[ -e "$library" ] || skip_all "configured without a shared library, or without the command"
cd "$TMP" || exit 1
header=$top_srcdir/include/librecorder/dat.h

nm -D --defined-only "$library" | awk '$3 ~ /^rec_/ { sub(/@+/, " ", $3); print $3 }' | sort >exported
"$CC" -fpreprocessed -E -P "$header" | tr '\n' ' ' | sed 's/;/&\n/g' |
	sed -nE 's/^[^(]*[ *](rec_dat_[a-z_]+)\(.*/\1 LIBRECORDER_DAT_1.0/p' | sort >declared
ok "the header declares functions" test "$(wc -l <declared)" -gt 20
is "the library exports them" "$(cat exported)" "$(cat declared)"
is "and nothing else" "$(nm -D --defined-only "$library" | grep -vE ' (rec_dat_[a-z_]+|LIBRECORDER_DAT_1.0)@@?LIBRECORDER_DAT|A LIBRECORDER_DAT_1.0$')" ""
is "Debian's list is the same" "$(sed -nE 's/^ (rec_[a-z_]+)@.*/\1/p' "$top_srcdir/debian/librecorder-dat0.symbols" | sort)" \
	"$(cut -d ' ' -f 1 declared)"

# ---- a program in C and in C++

cat >app.c <<'END'
#include <librecorder/dat.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct rec_dat_error error;
	struct rec_dat_iter *iter;
	struct rec_dat_record record;
	struct rec_dat_buffer buffer;
	struct rec_dat_stream stream;
	struct rec_dat *dat;

	if (argc < 2)
		return 2;
	if (rec_dat_open(argv[1], &dat, &error)) {
		printf("error: %s\n", error.text);
		return 1;
	}
	if (rec_dat_buffer_at(dat, rec_dat_nr_buffers(dat), &buffer) == 0 || rec_dat_buffer_at(dat, 0, &buffer) != 0 ||
	    rec_dat_stream_at(dat, 0, buffer.nr_streams, &stream) == 0 || rec_dat_iter_open(dat, &iter))
		return 3;
	printf("clock %s\n", rec_dat_clock(dat));
	while (rec_dat_iter_next(iter, &record)) {
		const struct rec_dat_event *event = rec_dat_event_find(dat, record.id);
		const char *comm = rec_dat_comm(dat, record.tid);
		const struct rec_dat_field *thread, *number;
		const void *data;
		size_t size;
		int64_t a, b;

		if (!event || strcmp(rec_dat_event_system(event), "test") != 0 || strcmp(rec_dat_event_name(event), "count") != 0)
			continue;
		thread = rec_dat_field_find(event, "thread");
		number = rec_dat_field_find(event, "number");
		if (!thread || !number || rec_dat_field_find(event, "nothing") || rec_dat_get_bytes(number, &record, &data, &size) == 0 ||
		    rec_dat_get_int(thread, &record, &a) || rec_dat_get_int(number, &record, &b))
			return 4;
		printf("%s|%" PRId32 "|%" PRIu32 "|%" PRIu64 "|%" PRId64 "|%" PRId64 "\n", comm ? comm : "?", record.tid, record.cpu,
		       record.ts, a, b);
		record.size = 8;
		if (rec_dat_get_int(number, &record, &b) == 0)
			return 5;
	}
	if (rec_dat_iter_damaged(iter, &error))
		return 6;
	rec_dat_iter_close(iter);
	rec_dat_close(dat);
	return 0;
}
END
cp app.c app.cpp

# What make install installs is enough; headers of the source tree must not replace installed ones that are missing.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
ok "make install" make -s -C "$top_builddir" install "DESTDIR=$TMP/root"
pc=$(find "$TMP/root" -name librecorder-dat.pc)
ok "there is a pkg-config file" test -e "$pc"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$TMP/root
is "it needs nothing else" "$(pkg-config --libs librecorder-dat | grep -oE -- '-l[^ ]+')" -lrecorder-dat
export LD_LIBRARY_PATH=${pc%/pkgconfig/*}
cflags=()
for flag in $CFLAGS_FOR_TEST; do
	[ "$flag" = "-I$top_srcdir/include" ] || cflags+=("$flag")
done
read -ra installed <<<"$(pkg-config --cflags --libs librecorder-dat)"
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
ok "a program in C" "$CC" -std=c11 "${warnings[@]}" "${cflags[@]}" app.c -o app "${installed[@]}"
ok "and in C++" "${CXX:-g++}" -std=c++17 "${warnings[@]}" "${cflags[@]/-std=*/}" app.cpp -o app-cpp "${installed[@]}"
if [[ $CFLAGS_FOR_TEST = *-fsanitize* ]]; then
	skip "a static one" "a sanitizer cannot be linked statically"
elif [ -e "$LD_LIBRARY_PATH/librecorder-dat.a" ]; then
	read -ra archives <<<"$(pkg-config --static --libs librecorder-dat)"
	ok "one with the static library" "$CC" -std=c11 "${cflags[@]}" "${installed[@]}" app.c -o app-static -Wl,--as-needed \
		"$LD_LIBRARY_PATH/librecorder-dat.a" "${archives[@]}"
	is "which has it inside" "$(readelf -d app-static | grep librecorder)" ""
else
	skip "a static one" "configured without a static library"
fi

ok "a trace" "$RECORDER" record -q -o trace.dat "$top_builddir/tests/programs/producer" 3 1000
"$RECORDER" report -t trace.dat |
	sed -nE 's/^ *(.*)-([0-9]+) *\[0*([0-9]+)\] *([0-9]+)\.([0-9]{9}): .*thread=([0-9]+) number=([0-9]+)$/\1|\2|\3|\4\5|\6|\7/p' >report
is "report shows each event" "$(wc -l <report)" 3000
./app trace.dat >all
like "the clock" "$(head -n 1 all)" '^clock [a-z]+'
is "records are those of report, in its order" "$(tail -n +2 all | cmp - report 2>&1)" ""
is "so they are for C++" "$(./app-cpp trace.dat | cmp - all 2>&1)" ""
is "and compressed" "$("$RECORDER" convert --compression zstd -i trace.dat -o small.dat 2>&1; ./app small.dat | tail -n +2 | cmp - report 2>&1)" ""

# ---- descriptions that cannot be used

cat >left.c <<'END'
#include <librecorder/dat.h>

#include <stdio.h>

int main(int argc, char **argv)
{
	struct rec_dat_error error;
	struct rec_dat *dat;
	const char *first = "none";

	if (argc < 2 || rec_dat_open(argv[1], &dat, &error))
		return 1;
	printf("%u %u ", (unsigned int)rec_dat_left_out(dat, NULL), (unsigned int)rec_dat_left_out(dat, &first));
	puts(first);
	rec_dat_close(dat);
	return 0;
}
END
ok "a program that asks for them" "$CC" -std=c11 "${warnings[@]}" "${cflags[@]}" left.c -o left "${installed[@]}"
is "all can be used" "$(./left trace.dat)" "0 0 none"
python3 - <<'END'
data = bytearray(open("trace.dat", "rb").read())
at = data.index(b"ID:", data.index(b"name: count\n"))
data[at : at + 3] = b"IX:"
open("left.dat", "wb").write(data)
END
is "one cannot" "$(./left left.dat)" "1 1 test:count"

# ---- every kind of file, as report --json prints it

ok "a program that prints all" "$CC" -std=c11 "${warnings[@]}" "${cflags[@]}" "$top_srcdir/tests/compile/dat_json.c" -o dat_json "${installed[@]}"

# differs FILE [SINCE]: prints the difference from report, or nothing if there is none
differs()
{
	./dat_json "$@" >ours 2>err && "$RECORDER" report --json "$1" >report.json 2>>err &&
		python3 "$top_srcdir/tests/compile/dat_json.py" ours report.json "${@:2}" >compared 2>&1 || {
		echo "$*: $(cat err compared)"
		rm -f compared
	}
}

mkdir files
for name in $("$top_builddir/tests/golden/mkdat"); do
	"$top_builddir/tests/golden/mkdat" "$name" >"files/$name.dat"
	case $name in
	v7-big-endian | v7-lost | v7-instances | v7-sparse | v7-page16k | v7-fields)
		"$RECORDER" convert --compression zstd -i "files/$name.dat" -o "files/$name-zstd.dat" || fail "$name with zstd"
		# The program that makes these knows little-endian files only.
		[ "$name" = v7-big-endian ] ||
			python3 "$top_srcdir/tests/oracle/zlib_file.py" "files/$name.dat" "files/$name-zlib.dat" || fail "$name with zlib"
		;;
	esac
done
# Without a saved name of thread 1001, which sched_switch names.
sed 's/1001 worker/4001 worker/' files/v6-kernel.dat >files/unsaved.dat
grep -q 'libz\.so\.1' <<<"$(ldconfig -p)" || rm files/*-zlib.dat
is "files of every kind are as report prints them" "$(for file in files/*.dat; do differs "$file"; done)" ""
is "so they are from a time on, all together and by stream" "$(for name in v6-plain v7-instances v7-lost v7-sparse-zstd; do
	"$RECORDER" report --json "files/$name.dat" >times
	differs "files/$name.dat" "$(sed -n "$(($(wc -l <times) * 2 / 3))s/^{\"ts\":\([0-9]*\),.*/\1/p" times)"
done)" ""

cat >reals.c <<'END'
#include <librecorder/event.h>
#include <math.h>
REC_EVENT(test, reals, u8(n), f32(one), f64(two));
REC_EVENT(test, bytes, array(u8, raw, 4), array(s8, steps, 2), bytes(all));
int main(void)
{
	REC(test, reals, 0, 0.1f, 0.3);
	REC(test, reals, 1, -1e30f, 1e300);
	REC(test, reals, 2, NAN, -INFINITY);
	REC(test, bytes, (const uint8_t[4]){ 1, 0, 255, 2 }, (const int8_t[2]){ -1, 0 }, "\0\377", (size_t)2);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program with floats, doubles and bytes" $CC $CFLAGS_FOR_TEST reals.c $LDADD_FOR_TEST -o reals
ok "is recorded" "$RECORDER" record -q -o reals.dat ./reals
is "they are read as numbers" "$(differs reals.dat)$(cat compared)" "4 lines"
like "and bytes, too" "$("$RECORDER" report --json -F bytes reals.dat)" '"raw":\[1,0,255,2\],"steps":\[-1,0\],"all":\[0,255\]'

# ---- the example

is "the example counts them" "$("$top_builddir/examples/08_read_trace" trace.dat 0)" "$("$RECORDER" report trace.dat | grep -c ': ') records"
like "and shows fields" "$("$top_builddir/examples/08_read_trace" trace.dat 3000)" 'test/count common_type=[0-9]+ .* number=999'

# ---- files that end early

is "cut files are as report prints them" "$(for name in v6-plain v7-plain v7-instances v7-lost-zstd; do
	"$RECORDER" report "files/$name.dat" >whole
	size=$(stat -c %s "files/$name.dat")
	for cut in $((size - 1)) $((size * 3 / 4)); do
		head -c "$cut" "files/$name.dat" >cut.dat
		"$RECORDER" report cut.dat >part 2>err && echo "$name: cut at $cut, and report succeeds"
		grep -q '^recorder report: cut.dat: [a-z]*: .*; the rest of the file was read$' err || echo "$name: cut at $cut: $(cat err)"
		[ "$(grep -c : part)" -gt 20 ] || echo "$name: cut at $cut: $(grep -c : part) lines"
		./dat_json cut.dat >ours || echo "$name: cut at $cut: status $?"
		"$RECORDER" report --json cut.dat >report.json 2>/dev/null
		python3 "$top_srcdir/tests/compile/dat_json.py" ours report.json >compared 2>&1 || echo "$name: $(cat compared)"
	done
done)" ""
like "the example names what is missing" "$("$top_builddir/examples/08_read_trace" cut.dat 0 2>&1 >/dev/null)" \
	'^cut.dat: a part of it is missing: truncated: '

# ---- files that are not a trace.dat

head -c 3000 /dev/zero >zero.dat
like "zeros" "$(./app zero.dat)" '^error: .'
head -c 200 trace.dat >cut.dat
like "only a beginning" "$(./app cut.dat)" '^error: .'
like "no file" "$(./app nothing.dat)" '^error: .'

done_testing
