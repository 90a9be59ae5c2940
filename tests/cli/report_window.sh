# SPDX-License-Identifier: MIT
# The parts of a file that report selects by time, buffer, and number: each is compared with lines of the whole report.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
for name in v6-plain v7-lost v7-many v6-instances v7-instances v6-tsc-raw v6-date v6-kernel v6-zero-pages v6-page64k; do
	"$mkdat" "$name" > "$TMP/$name.dat"
done

# The lines of events: not the first line, not those of losses.
events()
{
	"$RECORDER" report -t "$@" 2> "$TMP/err" | sed -e 1d -e '/EVENTS DROPPED\]$/d'
}

# Compressed by another program, in chunks of several pages.
trace-cmd convert -i "$TMP/v6-plain.dat" -o "$TMP/zstd.dat" --file-version 7 --compression zstd > /dev/null 2>&1

for name in v6-plain v7-lost v7-many v6-instances zstd v6-tsc-raw v6-zero-pages v6-page64k; do
	file=$TMP/$name.dat
	events "$file" > "$TMP/all"
	count=$(wc -l < "$TMP/all")
	bad=0
	for n in 1 2 7 50 "$((count - 1))" "$count" 100000; do
		head -"$n" "$TMP/all" | cmp -s - <(events --head "$n" "$file") || { diag "--head $n"; bad=1; }
		tail -"$n" "$TMP/all" | cmp -s - <(events --tail "$n" "$file") || { diag "--tail $n"; bad=1; }
	done
	is "--head and --tail, $count events of $name" "$bad" 0

	# The times of the lines, as the report prints them.
	sed -E 's/.*\] +([0-9.]+): .*/\1/' "$TMP/all" > "$TMP/times"
	bad=0
	for place in 1 2 "$((count / 3))" "$((count / 2))" "$count"; do
		time=$(sed -n "${place}p" "$TMP/times")
		awk -v t="$time" 'NR == FNR { if ($1 + 0 >= t + 0) keep[FNR] = 1; next } FNR in keep' "$TMP/times" "$TMP/all" > "$TMP/from"
		awk -v t="$time" 'NR == FNR { if ($1 + 0 <= t + 0) keep[FNR] = 1; next } FNR in keep' "$TMP/times" "$TMP/all" > "$TMP/to"
		cmp -s "$TMP/from" <(events --since "$time" "$file") || { diag "--since $time"; bad=1; }
		cmp -s "$TMP/to" <(events --until "$time" "$file") || { diag "--until $time"; bad=1; }
		cmp -s <(tail -3 "$TMP/from") <(events --since "$time" --tail 3 "$file") || { diag "--since $time --tail 3"; bad=1; }
		cmp -s <(tail -3 "$TMP/to") <(events --until "$time" --tail 3 "$file") || { diag "--until $time --tail 3"; bad=1; }
	done
	is "--since and --until with times of $name" "$bad" 0
done

file=$TMP/v6-plain.dat
events "$file" > "$TMP/all"
between()
{
	awk -v a="$1" -v b="$2" '{ line = $0; sub(/.*\] +/, "", line); t = line + 0; if (t >= a && t <= b) print }' "$TMP/all"
}
first=$(sed -nE '1s/.*\] +([0-9.]+): .*/\1/p' "$TMP/all")
last=$(sed -nE '$s/.*\] +([0-9.]+): .*/\1/p' "$TMP/all")
is "the made file begins where this test expects it" "$first" 5.000000100
is "after the first event" "$(events --since +20us --until +5us "$file")" "$(between 5.0000201 5.0000251)"
is "before the last event" "$(events --since -10000ns "$file")" "$(between "$(awk -v t="$last" 'BEGIN { printf "%.9f", t - 0.00001 }')" 99)"
# Without -t, the report rounds times. A time of its lines selects every line that has it.
"$RECORDER" report "$file" | sed 1d > "$TMP/rounded"
sed -E 's/.*\] +([0-9.]+): .*/\1/' "$TMP/rounded" > "$TMP/times"
bad=0
for time in $(uniq "$TMP/times" | sed -n '1~9p'); do
	sed -n "$(grep -n -m1 -x "$time" "$TMP/times" | cut -d: -f1),\$p" "$TMP/rounded" |
		cmp -s - <("$RECORDER" report --since "$time" "$file" | sed 1d) || { diag "--since $time"; bad=1; }
	head -n "$(grep -n -x "$time" "$TMP/times" | tail -1 | cut -d: -f1)" "$TMP/rounded" |
		cmp -s - <("$RECORDER" report --until "$time" "$file" | sed 1d) || { diag "--until $time"; bad=1; }
done
is "--since and --until with times of six decimals" "$bad" 0
is "--until +TIME counts from the time of --since as it was given" "$(events --since 5.000001 --until +2us "$file")" "$(between 5.0000005 5.000003)"
is "--until @EVENT finds an event that is printed with the time of --since" "$(events --since 5.000003 --until '@submit if id == 19546873380' "$file")" \
	"$(between 5.0000025 5.00000273)"
is "other times are exact" "$(events --since 5.0000010 --until 5.00001 "$file")" "$(between 5.000001 5.00001)"
event=$(grep -m1 -n ' a_name_longer' "$TMP/all" | cut -d: -f1)
is "from an event on" "$(events --since @a_name_longer_than_twenty_characters "$file")" "$(tail -n +"$event" "$TMP/all")"
is "until an event" "$(events --until '@*:submit if id == 14660155035' "$file" | tail -1)" "$(grep -m1 'id=14660155035' "$TMP/all")"
is "a stack is selected with its event" \
	"$("$RECORDER" report --tail 4 "$TMP/v6-kernel.dat" | tail -1)" "$("$RECORDER" report "$TMP/v6-kernel.dat" | tail -1)"

events "$TMP/v6-date.dat" > "$TMP/all"
time=$(sed -nE '50s/.*\] +([0-9.]+): .*/\1/p' "$TMP/all")
clock=$(date -u -d "@$time" +%H:%M:%S.%N)
is "a time of the day" "$(events --since "$clock" "$TMP/v6-date.dat")" "$(between "$time" 1e9)"
is "a date" "$(events --until "1970-01-01 $clock" "$TMP/v6-date.dat")" "$(between 0 "$time")"
is "one of another day" "$(events --since "1970-01-02 $clock" "$TMP/v6-date.dat")" ""

# ------------------------------------------------------------------------------------------------- times of the day

# In this file 50 us are 100 us of the time of day, and 5.000010000 is midnight of 2023-11-15, UTC.
clocks=$TMP/clocks.dat
"$mkdat" v6-clocks > "$clocks"

# window ZONE OPTION...: times of the first and of the last event
window()
{
	local zone=$1

	shift
	TZ=$zone "$RECORDER" report -t -R --cpu 0 "$@" "$clocks" 2> "$TMP/err" | sed -nE 's/.*\] +([0-9.]+): .*/\1/p' | sed -n '1p;$p' | xargs
}
# nearest TIME TIME: the first event from one time on, and the last one until another
nearest()
{
	"$RECORDER" report -t -R --cpu 0 "$clocks" 2> /dev/null | sed -nE 's/.*\] +([0-9.]+): .*/\1/p' |
		awk -v a="$1" -v b="$2" '$1 >= a && $1 <= b' | sed -n '1p;$p' | xargs
}

is "the times of the file are where this test expects them" "$(nearest 0 9 | cut -c 1-8)" 5.000000
# 5.000005 is 23:59:59.999990, 5.000020 is 00:00:00.000020 of the next day.
expected=$(nearest 5.000005000 5.000020000)
whole=$(nearest 0 9)
ok "there are events before and after that" test "$expected" != "$whole"
is "with a date" "$(window UTC --since '2023-11-14 23:59:59.99999' --until '2023-11-15T00:00:00.00002')" "$expected"
is "of the first event's day, and of the next one, which the file reaches" \
	"$(window UTC --since 23:59:59.99999 --until 00:00:00.00002)" "$expected"
is "in another time zone" "$(window IST-5:30 --since 05:29:59.99999 --until 05:30:00.00002)" "$expected"
is "in another time zone, with a date" "$(window EST5 --since '2023-11-14 18:59:59.99999' --until '2023-11-14 19:00:00.00002')" "$expected"
is "after the last reading time goes by that reading" \
	"$(window UTC --since 2023-11-15T00:00:00.00012 --until 00:00:00.00015)" "$(nearest 5.000090000 5.000120000)"
is "with --nodate" "$(window UTC --nodate --since 23:59:59.99999 --until 00:00:00.00002)" "$expected"
is "times that are shown later by --ts-offset" \
	"$(TZ=UTC "$RECORDER" report -t -R --cpu 0 --ts-offset 3000000000 --since 23:59:59.99999 --until 00:00:00.00002 "$clocks" 2> /dev/null |
		sed -nE 's/.*\] +8([0-9.]+): .*/5\1/p' | sed -n '1p;$p' | xargs)" "$expected"
is "a day before the machine was started" "$(window UTC --since '1970-01-02 00:00')" "$whole"
is "until that day: nothing" "$(window UTC --until '1970-01-02 00:00')" ""
is "a day that nanoseconds do not reach" "$(window UTC --since '9999-12-31 00:00')" ""
is "profile takes such times" "$(TZ=UTC "$RECORDER" profile --since 23:59:59.99999 --until 00:00:00.00002 "$clocks" 2>&1)" \
	"$("$RECORDER" profile --since 5.0000050 --until 5.00002 "$clocks" 2>&1)"

# The time of day was set back by an hour, between the readings.
sed 's/realtime 1700006400000080000/realtime 1700002800000080000/' "$clocks" > "$TMP/back.dat"
clocks=$TMP/back.dat
is "set back: from the first reading on by that one" "$(window UTC --since '2023-11-14 23:59:59.99999')" "$(nearest 5.00001 9)"
is "set back: earlier times by the last one" "$(window UTC --since '2023-11-14 23:00:00.0001')" "$(nearest 5.00007 9)"

# The file's readings of its clocks do not apply to the times of another clock.
sed 's/\[mono\]/[perf]/g' "$TMP/clocks.dat" > "$TMP/perf.dat"
run "$RECORDER" report --since 14:03 "$TMP/perf.dat"
like "a clock that was not read" "$status $err" "^2 recorder report: --since '14:03': the file's times are not dates"
for option in --raw-ts "--ts2secs 1000000000"; do
	# shellcheck disable=SC2086
	run "$RECORDER" report $option --since 14:03 "$TMP/clocks.dat"
	like "times of $option" "$status $err" "^2 recorder report: --since '14:03': the file's times are not dates"
done

# A new recording: its events lie between the times of day before and after it.
now()
{
	date '+%Y-%m-%d %H:%M:%S.%N'
}
before=$(now)
ok "a recording" "$RECORDER" record -q -o "$TMP/now.dat" "$top_builddir/tests/programs/producer" 1 100
after=$(now)
is "all of a recording lies between the times of day before and after it" \
	"$("$RECORDER" report --since "$before" --until "$after" "$TMP/now.dat" | grep -c ': count:')" 100
is "nothing lies before" "$("$RECORDER" report --until "$before" "$TMP/now.dat" | grep -c ': count:')" 0
is "nothing lies after" "$("$RECORDER" report --since "$after" "$TMP/now.dat" | grep -c ': count:')" 0

for file in v6-instances v7-instances; do
	"$RECORDER" report "$TMP/$file.dat" > "$TMP/all"
	is "-B of $file" "$("$RECORDER" report -B alpha "$TMP/$file.dat" | sed 1d)" "$(grep -E '^ *alpha: ' "$TMP/all")"
	is "-B top of $file" "$("$RECORDER" report -B top "$TMP/$file.dat" | sed 1d)" "$(sed 1d "$TMP/all" | grep -vE '^ *[a-z_]+: ')"
	is "-B twice, with a pattern, $file" "$("$RECORDER" report -B top -B 'a_*' "$TMP/$file.dat")" "$(grep -vE '^ *alpha: ' "$TMP/all")"
done

# ------------------------------------------------------------------------------------------- files of many pages

# Pages are read ahead, many at a time: a search for a time must not use those of another place.
ok "a recording of many pages" "$RECORDER" record -q -b 16384 -o "$TMP/long.dat" "$top_builddir/tests/programs/producer" 2 60000
"$RECORDER" report -t "$TMP/long.dat" | sed 1d > "$TMP/all"
unlike "without losses" "$(<"$TMP/all")" DROPPED
lines=$(wc -l < "$TMP/all")
for part in 5 17 33 50 66 83 95; do
	since=$(sed -nE "$((lines * part / 100))s/.* ([0-9]+\.[0-9]{9}): .*/\1/p" "$TMP/all")
	is "--since $part % of it" "$("$RECORDER" report -t --since "$since" "$TMP/long.dat" | sed 1d | md5sum)" \
		"$(awk -v since="$since" '{ for (i = 1; i < NF && $i !~ /^[0-9]+\.[0-9]+:$/; i++); if (substr($i, 1, length($i) - 1) >= since) print }' "$TMP/all" | md5sum)"
done

# --------------------------------------------------------------------------------------------------- wrong requests

file=$TMP/v6-plain.dat
run "$RECORDER" report -B nothing "$TMP/v7-instances.dat"
is "no such buffer: status" "$status" 1
is "no such buffer: those that there are" "$err" \
	"recorder report: -B 'nothing': the file has no such buffer, only 'top', 'alpha', 'a_longer_name'"
for time in 1x "" "+" "--5" 1e3 "+-3" 5.0.0; do
	run "$RECORDER" report --since "$time" "$file"
	is "--since '$time': status" "$status" 2
	like "--since '$time': the reason" "$err" "^recorder report: --since '${time//+/\\+}': expected a time as report prints it, "
done
run "$RECORDER" report --since 14:03 "$file"
like "a time of the day in a file without dates" "$err" "--since '14:03': the file's times are not dates"
run "$RECORDER" report --since 14:03x "$TMP/v6-date.dat"
like "no time of the day" "$err" "--since '14:03x': expected HH:MM:SS"
run "$RECORDER" report --since 1.5 "$TMP/v6-tsc-raw.dat"
like "a clock without seconds" "$err" "--since '1.5': expected a whole number"
run "$RECORDER" report --since @submit --until '@submit if id == 1' "$file"
is "no such event: status" "$status" 1
like "no such event" "$err" "--until '@submit if id == 1': the file has no such event"
for flags in "--pid 99999999" "--since 99999999" "--until 1" "--since 99999999 --tail 3"; do
	for form in "" --json --csv --summary --spans --profile; do
		# shellcheck disable=SC2086
		run "$RECORDER" report $form $flags "$file"
		is "report $form $flags: status and reason" "$status $(tail -n 1 <<<"$err")" \
			"0 recorder report: $file: no $([ "$form" = --spans ] && echo span || echo event) is selected"
	done
done
run "$RECORDER" report --pid 99999999 "$file"
is "nothing is selected: the output is trace-cmd's" "$out" "$(trace-cmd report --pid 99999999 "$file" 2> /dev/null)"
run "$RECORDER" report --since 99999999 -i "$file" -i "$TMP/v7-lost.dat"
is "nothing is selected of several files" "$status $err" "0 recorder report: all files: no event is selected"
run "$RECORDER" report --pid 1001 "$file"
is "with events there is no such message" "$err" ""
run "$RECORDER" report --head 1 --tail 1 "$file"
is "--head and --tail" "$status" 2

# A stream of a tebibyte, all of it a hole except the first pages and the last one: a search or a report that does not
# know this would read for hours.
"$RECORDER" split -C 0 -i "$TMP/v7-many.dat" -o "$TMP/part" > /dev/null
"$RECORDER" convert --file-version 6 -i "$TMP/part.1" -o "$TMP/dense.dat"
read -r size at < <("$RECORDER" dump "$TMP/dense.dat" | sed -nE 's/^  CPU 0: ([0-9]+) bytes at ([0-9]+)$/\1 \2/p')
head -c $((at + size - 4096)) "$TMP/dense.dat" > "$TMP/sparse.dat"
tail -c 4096 "$TMP/dense.dat" | dd of="$TMP/sparse.dat" bs=4096 seek=$((at / 4096 + (1 << 28) - 1)) conv=notrunc 2> /dev/null
table=$(grep -abo flyrecord "$TMP/dense.dat" | head -1 | cut -d : -f 1)
printf '\0\0\0\0\0\1\0\0' | dd of="$TMP/sparse.dat" bs=1 seek=$((table + 18)) conv=notrunc 2> /dev/null
time=$(events "$TMP/dense.dat" | tail -5 | sed -nE '1s/.*\] +([0-9.]+): .*/\1/p')
for flags in "" "--tail 3" "--tail 400" "--since $time" "--since=-5us" "--until $time --tail 2" --last-event; do
	# shellcheck disable=SC2086
	events $flags "$TMP/dense.dat" > "$TMP/dense"
	ok "report $flags has lines" test -s "$TMP/dense"
	# shellcheck disable=SC2086
	is "a hole, report $flags" "$(ulimit -t 20 && events $flags "$TMP/sparse.dat" | md5sum)" "$(md5sum < "$TMP/dense")"
done

done_testing
