#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Readers of bytes, fuzzed with libFuzzer: it changes inputs so that they reach more of the code. Each target is a file
# tests/fuzz/target_NAME.c, built here with clang and its sanitizers from the sources below, and runs for
# LIBFUZZER_SECONDS (10) from the same seed, LIBFUZZER_SEED (1), on inputs of dat_make.c or of its own. A crash, a leak,
# an input of more than ten seconds, an allocation of more than 64 MB at once or 512 MB in all fails the test, and prints
# the command that repeats it. LIBFUZZER_TARGETS: the names of the targets to run. LIBFUZZER_CORPUS: a directory that
# keeps the inputs found, with which the next run continues.
. "$top_srcdir/tests/tap.sh"

cc=${LIBFUZZER_CC-clang}
seconds=${LIBFUZZER_SECONDS-10}
seed=${LIBFUZZER_SEED-1}
targets=${LIBFUZZER_TARGETS-dat spool view core elf filter words print model}
corpus=${LIBFUZZER_CORPUS-$TMP/corpus}
limits=(-rss_limit_mb=512 -malloc_limit_mb=64 -timeout=10)
flags=(-std=c11 -D_GNU_SOURCE= -DREC__DETAIL=1 "-I$top_srcdir/include" "-I$top_srcdir" "-I$top_builddir" -g1 -O1
	-fno-omit-frame-pointer -fno-sanitize-recover=all)
read -ra tep < <(pkg-config --cflags libtraceevent)
flags+=("${tep[@]}")
watched=address,undefined

type "${cc##* }" >/dev/null 2>&1 || skip_all "clang is not installed"
echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n ? 0 : 0; }' >"$TMP/try.c"
# shellcheck disable=SC2086 # "ccache clang" is two words
$cc -fsanitize=fuzzer,$watched -o "$TMP/try" "$TMP/try.c" 2>/dev/null || skip_all "$cc has no libFuzzer"

# compile SOURCE: into $TMP/objects, by clang, for the fuzzer
compile()
{
	local object=$TMP/objects/${1//\//_}.o

	# shellcheck disable=SC2086
	(cd "$top_srcdir" && $cc "${flags[@]}" -fsanitize=fuzzer-no-link,$watched -c "$1" -o "$object")
}

# compile_all SOURCE...: on all CPUs; the linker takes those that a target needs
compile_all()
{
	local source status=0

	for source; do
		while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
			wait -n || status=1
		done
		compile "$source" &
	done
	while [ -n "$(jobs -p)" ]; do
		wait -n || status=1
	done
	[ "$status" = 0 ] && ar rcs "$TMP/readers.a" "$TMP"/objects/*.o
}

build()
{
	compile "tests/fuzz/target_$1.c" &&
		$cc -fsanitize=fuzzer,$watched -o "$TMP/target_$1" "$TMP/objects/tests_fuzz_target_$1.c.o" "$TMP/readers.a" \
			-ltraceevent -lzstd -lz -lsqlite3 -ldl -lpthread
}

# The first inputs. They are small, because in large ones few changes would hit important bytes.
seeds_of_dat()
{
	local name

	for name in $("$top_builddir/tests/golden/mkdat") $("$top_builddir/tests/golden/mkdat" --latency); do
		"$top_builddir/tests/golden/mkdat" "$name" >"$1/$name" || return 1
	done
	find "$1" -size +40k -delete
}

seeds_of_spool()
{
	FUZZ_SEED=$1/spool "$TMP/target_spool"
}

seeds_of_view()
{
	FUZZ_SEED=$1 "$TMP/target_view"
}

seeds_of_core()
{
	FUZZ_SEED=$1 "$TMP/target_core"
}

# A library with two events.
seeds_of_elf()
{
	cat >"$TMP/events.c" <<-'END'
		#include <librecorder/event.h>
		REC_EVENT(fuzz, plain, u64(number), u32(size));
		REC_EVENT(fuzz, named, string(text), array(u16, row, 3));
		void call(void);
		void call(void)
		{
			static const unsigned short row[3];

			REC(fuzz, plain, 1, 2);
			REC(fuzz, named, "text", row);
		}
	END
	# shellcheck disable=SC2086
	$cc -std=c11 "-I$top_srcdir/include" -Os -fPIC -shared -nostdlib -s -o "$1/events.so" "$TMP/events.c"
}

# Makes an input of each line: the text, then a record of zeros with the string "!a". Its offset, 76, is the letter L.
seeds_of_filter()
{
	local n=0 text

	while IFS= read -r text; do
		{
			printf '%s\0' "$text"
			head -c 48 /dev/zero
			printf 'L\0\3\0L\0\3\0'
			head -c 20 /dev/zero
			printf '!a\0'
		} >"$1/$((n++))"
	done <<-'END'
		a == 1 && b < -5 || !(c & 0xf0)
		path ~ '*.conf' && (path != "x" || raw == 'abc')
		op == OP_GET || op != -7
		load >= 1.25 && ratio < 0.5 && wide > -1e3
		list[2] == 3 && flag == true && p != 0
		pid == 7 && cpu == 3
		ts >= 12.5 && comm == 'task'
		path =~ '^/etc/.*[0-9]$'
		path ~ '!!a' || !(path ~ "!a*")
		fuzz:every,other:* rate 50 if d > 4294967296
	END
}

# A record of zeros and one of ones for each event.
seeds_of_print()
{
	local i

	for i in $(seq 0 31); do
		{ printf %b "\\x$(printf %02x "$i")"; head -c 120 /dev/zero; } >"$1/zeros-$i"
		{ printf %b "\\x$(printf %02x "$i")"; head -c 120 /dev/zero | tr '\0' '\1'; } >"$1/ones-$i"
	done
}

# Each event once, with zeros and with ones, of two threads in turn.
seeds_of_model()
{
	python3 - "$1" <<-'END'
		import struct, sys
		for fill in 0, 1:
		    with open(f"{sys.argv[1]}/{fill}", "wb") as seed:
		        for event in range(40):
		            seed.write(struct.pack("=BBBBH", event, 0, event // 2 % 2, 24, 10) + bytes([fill]) * 24)
	END
}

seeds_of_words()
{
	local n=0 text

	while IFS= read -r text; do
		printf '%s' "$text" >"$1/$((n++))"
	done <<-'END'
		p99(latency(io:submit, io:complete, id)) < 200us && lost == 0
		!(count(sched:*) > 5 || rate(a:b) * 2 - -1 / 3 >= 1.5ms)
		mean(io:op) == 0 && p99.9(io:op) != 1s
		SELECT start.common_pid AS pid, TIMESTAMP_DELTA_USECS AS lat FROM sched_waking AS start JOIN sched_switch AS end ON start.pid = end.next_pid WHERE start.prio < 100 && end.x == "a"; select 1
		SELECT TIMESTAMP, COMM FROM a
	END
}

# show_crash NAME: what libFuzzer reports, and how to repeat it
show_crash()
{
	local input again="make check TESTS=tests/fuzz/libfuzzer.sh LIBFUZZER_TARGETS=$1"

	grep -aE -A 12 'ERROR: |runtime error: |SUMMARY: ' "$TMP/$1.log" | head -n 40 | sed 's/^/# /'
	for input in "$TMP/$1"-crash-* "$TMP/$1"-leak-* "$TMP/$1"-timeout-* "$TMP/$1"-oom-*; do
		[ -e "$input" ] || continue
		if [ "$(stat -c %s "$input")" -le 4096 ]; then
			diag "repeat: $again LIBFUZZER_INPUT=$(base64 -w 0 "$input")"
		else
			cp "$input" "$top_builddir/tests/fuzz/" &&
				diag "repeat: $again LIBFUZZER_INPUT=@$top_builddir/tests/fuzz/${input##*/}"
		fi
	done
}

# run_target NAME: for its seconds; or LIBFUZZER_INPUT alone, in base64 or as @FILE
run_target()
{
	if [ -n "${LIBFUZZER_INPUT-}" ]; then
		case $LIBFUZZER_INPUT in
		@*) cp "${LIBFUZZER_INPUT#@}" "$TMP/input" ;;
		*) base64 -d <<<"$LIBFUZZER_INPUT" >"$TMP/input" ;;
		esac
		"$TMP/target_$1" "${limits[@]}" "$TMP/input"
		return
	fi
	mkdir -p "$corpus/$1" "$TMP/seeds/$1"
	"seeds_of_$1" "$TMP/seeds/$1" || return 1
	[ -n "$(ls "$TMP/seeds/$1")" ] || return 1
	"$TMP/target_$1" -seed="$seed" -max_total_time="$seconds" -max_len=40960 "${limits[@]}" -print_final_stats=1 \
		-artifact_prefix="$TMP/$1-" "$corpus/$1" "$TMP/seeds/$1"
}

mkdir "$TMP/objects"
export FUZZ_FILE=$TMP/formats.dat
"$top_builddir/tests/golden/mkdat" v6-kernel >"$FUZZ_FILE" || exit 1
mapfile -t sources < <(cd "$top_srcdir" && ls librecorder/*/*.c \
	format/{dat,hist,io,model,print,text}/*.c format/sql/sql_hist{,_count,_read,_write}.c \
	cli/base/{file_limit,memory,message,open_regular,priority,read_at}.c cli/recording/{spool,stage}{,_write}.c \
	cli/recording/spool_{format,kernel,model,source,stage}.c \
	cli/recording/{core_file,dir_watch,dirs,elf_events,elf_file,session,stage_recover}.c \
	cli/ask/assert_parse.c tests/unit/table_fixture.c tests/fuzz/{hostile_number,small_buffer,view_calls}.c)
ok "the readers are compiled" compile_all "${sources[@]}"
[ "$tap_failed" = 0 ] || exit 1
for target in $targets; do
	ok "$target is built" build "$target" || continue
	if run_target "$target" >"$TMP/$target.log" 2>&1; then
		pass "$target: any bytes"
	else
		fail "$target: any bytes"
		show_crash "$target"
		tail -n 5 "$TMP/$target.log" | sed 's/^/# /'
	fi
	diag "$target: seed $seed, $(grep -a '^stat::' "$TMP/$target.log" | tr -s ' \n' ' ')"
	diag "$(grep -aE '^#[0-9]+.* cov: ' "$TMP/$target.log" | tail -n 1)"
done
done_testing
