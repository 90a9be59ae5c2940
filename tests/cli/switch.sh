#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder ps, enable, disable, stop, start: running programs are switched from outside, by pid, by several pids and by
# name.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"
cd "$TMP" || exit 1
export RECORDER_BUFFER_KB=64

# recorded PID: the number of events ever written to its lanes, by the lanes' own counters.
recorded()
{
	"$RECORDER" stat -P "$1" | awk -F ': ' '$1 == "entries" || $1 == "overrun" { n += $2 } END { print n + 0 }'
}

# grows NAME PID STATE, stands NAME PID STATE: the running program writes events, or does not.
grows()
{
	local before

	before=$(recorded "$2")
	go_on "$1" 10000
	ok "$3: events are written" test "$(recorded "$2")" -gt "$before"
}

stands()
{
	local before

	# An event that was being written when it was switched off is still counted.
	go_on "$1" 10000
	before=$(recorded "$2")
	go_on "$1" 10000
	is "$3: no event is written" "$(recorded "$2")" "$before"
}

# row PID: its line of the last output, with runs of blanks made one.
row()
{
	sed -n "s/^ *$1  *//p" <<<"$out" | tr -s ' '
}

begin one
one=$pid
exe=$(readlink -f "$victim")

ok "ps" "$RECORDER" ps
like "it has a head" "$out" "^ +PID +STATE +ON/EVENTS +LANES +NAME +FILE"
is "and the program, with nothing on" "$(row "$one")" "started 0/1 0 victim $exe"
stands one "$one" "not enabled"
ok "an event as trace-cmd writes it" "$RECORDER" enable -P "$one" test/seq
is "is on" "$(sed -n 2p <<<"$out")" "  1 event on"
ok "and off" "$RECORDER" disable -P "$one" 'test/s*'
is "again" "$(sed -n 2p <<<"$out")" "  1 event off"

# ---- events on and off, while the program runs

ok "enable" "$RECORDER" enable -P "$one" 'test:*'
is "it reports which program, and how many events" "$out" "$(printf '%s\n' "$one victim ($exe)" "  1 event on")"
is "and nothing else" "$err" ""
grows one "$one" "enabled"
ok "ps -P" "$RECORDER" ps -P "$one"
is "one event is on, in one lane" "$(row "$one")" "started 1/1 1 victim $exe"

ok "stop" "$RECORDER" stop -P "$one"
is "it reports it" "$out" "$(printf '%s\n' "$one victim ($exe)" "  stopped")"
stands one "$one" "stopped"
"$RECORDER" ps >ps
out=$(cat ps)
is "ps shows it" "$(row "$one")" "stopped 0/1 1 victim $exe"
ok "enable in a stopped program" "$RECORDER" enable -P "$one" 'test:seq'
stands one "$one" "stopped and enabled"
ok "start" "$RECORDER" start -P "$one"
is "it reports it, too" "$out" "$(printf '%s\n' "$one victim ($exe)" "  started")"
grows one "$one" "started"

ok "disable" "$RECORDER" disable -P "$one" test
is "it reports how many" "$out" "$(printf '%s\n' "$one victim ($exe)" "  1 event off")"
stands one "$one" "disabled"
ok "start of a program that is not stopped" "$RECORDER" start -P "$one"
stands one "$one" "disabled and started"

# ---- patterns that match nothing

ok "enable of a pattern that matches nothing" "$RECORDER" enable -P "$one" 'tset:*'
like "no event is switched" "$out" "  0 events on"
is "which is reported" "$err" "recorder enable: no event matches 'tset:*' yet ('recorder list $one' shows the events); events registered later will"
stands one "$one" "another one enabled"

# ---- several programs

begin two
two=$pid
ok "ps shows both" "$RECORDER" ps
is "a line each, and the head" "$(wc -l <<<"$out")" 3
ok "enable by name" "$RECORDER" enable -P victim '*:seq'
is "in both" "$(grep -c '  1 event on' <<<"$out")" 2
grows one "$one" "enabled by name"
grows two "$two" "enabled by name, too"
ok "stop one" "$RECORDER" stop -P "$two"
stands two "$two" "alone stopped"
grows one "$one" "beside a stopped one"
ok "disable by a list" "$RECORDER" disable -P "1,$one,$two" 'test:*'
is "both of them" "$(grep -c '  1 event off' <<<"$out")" 2
stands one "$one" "disabled by a list"
ok "start by a list" "$RECORDER" start -P "$two,$one"
stands two "$two" "disabled by a list, too"
ok "enable the other one" "$RECORDER" enable --pid "$two" 'test:*'
grows two "$two" "enabled alone"
stands one "$one" "the other one enabled"

# ---- the events of a switched program can be read

end "$two"
ok "recover" "$RECORDER" recover -q -o killed.dat "$RECORDER_DIR/$two"-*.rec
ok "report" "$RECORDER" report killed.dat
like "its events are there" "$out" "seq: +number=[0-9]+"

# ---- programs that have ended

for command in ps enable disable start stop; do
	pattern=
	case $command in enable | disable) pattern='test:*' ;; esac
	# shellcheck disable=SC2086
	run "$RECORDER" "$command" -P "$two" $pattern
	is "$command, a program that has ended: status" "$status" 1
	is "$command, a program that has ended: one line" "$(wc -l <"$TMP/.err")" 1
	like "$command, a program that has ended" "$err" "^recorder $command: no running program '$two' uses librecorder"
	is "$command, a program that has ended: nothing else" "$out" ""
done
ok "the other one is still there" "$RECORDER" ps -P "$two,$one"
is "and no other" "$(wc -l <<<"$out")" 2

# ---- a program that fails does not keep the others from being switched

i=0
while "$RECORDER" enable -P "$one" "system$i:*,$(printf 'x%.0s' $(seq 250)):*" >/dev/null 2>&1 && [ "$i" -lt 20 ]; do
	i=$((i + 1))
done
ok "there is room for these patterns" test "$i" -gt 3
ok "but not for one more" test "$i" -lt 20
begin three
three=$pid
fails "enable one too many in two" "$RECORDER" enable -P "$one,$three" "test:*,$(printf 'x%.0s' $(seq 250)):*"
is "it reports for which" "$err" "recorder enable: process $one: its memory for patterns and filters from outside is full"
grows three "$three" "beside one that has too many patterns"

# ---- list: a running program, or a file of the same name

echo "no program" >victim
ok "list by name" "$RECORDER" list victim
# Other programs of the name may come first, because pids wrap.
like "it shows the running program, not the file" "$out" "(^|[^0-9])$one victim \\($exe\\)"
ok "list -P" "$RECORDER" list -P "$one"
like "it shows this program" "$out" "^$one victim \\($exe\\)"
fails "list with a slash" "$RECORDER" list ./victim
is "it reads the file" "$err" "recorder list: cannot list './victim': it is not an ELF file"
fails "list --binary" "$RECORDER" list --binary victim
is "it reads the file, too" "$err" "recorder list: cannot list 'victim': it is not an ELF file"
fails "list with both" "$RECORDER" list -P "$one" --binary victim
is "it refuses" "$err" "recorder list: PROGRAM, -P and --binary exclude each other: give one of them"

end "$one" "$three"
fails "list of a name that no program has any longer" "$RECORDER" list victim
is "it reads the file then" "$err" "recorder list: cannot list 'victim': it is not an ELF file"
fails "no program is left" "$RECORDER" ps
like "which is reported" "$err" "^recorder ps: no running program uses librecorder"

# ---- numbers of events: those of enable and disable, of ps, and the lines of list

# numbers: what enable and disable report, ps shows while all are on, and how many events list has
numbers()
{
	"$RECORDER" enable -P "$pid" '*' | sed -nE 's/^  ([0-9]+) events? on$/on \1/p'
	"$RECORDER" ps -P "$pid" | sed -nE 's/.* ([0-9]+)\/([0-9]+) .*/ps \1 \2/p'
	"$RECORDER" list "$pid" | grep -cE '^  on  ' | sed 's/^/list /'
	"$RECORDER" disable -P "$pid" '*' | sed -nE 's/^  ([0-9]+) events? off$/off \1/p'
}
. "$top_srcdir/tests/told.sh"
start_told
is "enable, ps, list and disable agree" "$(numbers)" $'on 3\nps 3 3\nlist 3\noff 3'
"$RECORDER" enable -P "$pid" ftrace:bprint >/dev/null 2>&1
tell print
is "also if the program has used rec_printf" "$(numbers)" $'on 4\nps 4 4\nlist 4\noff 4'
is "its event is listed as off then" "$("$RECORDER" list "$pid" | grep bprint)" "  off  ftrace:bprint  texts of rec_printf()"

# ---- filters and rates in force

"$RECORDER" enable -P "$pid" -f 'number>7||number==2' --rate 5 'kv:*' >/dev/null
"$RECORDER" enable -P "$pid" -f '!(number < 4)' net:idle >/dev/null
"$RECORDER" disable -P "$pid" kv:get >/dev/null
is "list shows filters and rates" "$("$RECORDER" list -P "$pid" | grep -v bprint | tail -n +2)" \
	"  on   kv:put         u32(number)  rate 5 if number > 7 || number == 2
  off  kv:get         u32(number)
  on   net:idle       u32(number)  if number >= 4"
end_told

done_testing
