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
run "$RECORDER" report --head 1 --tail 1 "$file"
is "--head and --tail" "$status" 2

done_testing
