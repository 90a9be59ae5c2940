#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Bad input gives one clear line and a nonzero status before a command is started or a file is touched.

. "$top_srcdir/tests/tap.sh"

producer=$top_builddir/tests/programs/producer
cd "$TMP" || exit 1
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"
echo precious >precious.dat

# refused NAME STATUS REGEX ARGUMENT...: recorder prints one line that matches REGEX, starts nothing and changes
# nothing.
refused()
{
	local name=$1 expected=$2 regex=$3 lines newlines left

	shift 3
	[ ! -e started ] || rm started
	run "$RECORDER" "$@"
	# Without processes of its own, because it is called some 220 times.
	mapfile lines <"$TMP/.err"
	newlines=${lines[*]}
	newlines=${newlines//[!$'\n']/}
	shopt -s nullglob globstar dotglob
	left=(**/*.spool run/*)
	shopt -u nullglob globstar dotglob
	is "$name: status" "$status" "$expected"
	is "$name: one line" "${#newlines}" 1
	like "$name: its message" "$err" "^recorder( [a-z]+)?: $regex"
	is "$name: nothing on stdout" "$out" ""
	is "$name: nothing was left" "${left[*]}" ""
	ok "$name: nothing was started" test ! -e started
	is "$name: nothing was overwritten" "$(<precious.dat)" precious
}

# ---- command lines

refused "no command" 2 "missing COMMAND"
refused "unknown command" 2 "unknown command 'frobnicate' \\(see 'recorder --help'\\)" frobnicate
refused "slip" 2 "unknown command 'recrod', did you mean 'record'\\?" recrod
refused "unknown option before" 2 "unknown option '--frob' \\(see 'recorder --help'\\)" --frob
refused "help of nothing" 2 "unknown command 'frobnicate'" help frobnicate
refused "a line break in a name" 2 "unknown command 'two\\?lines'" "$(printf 'two\nlines')"
for command in record report list ps enable disable start stop stat check convert split merge dump pages snapshot clock verify recover clean; do
	refused "$command, unknown option" 2 "unknown option '--frob' \\(see 'recorder $command --help'\\)" "$command" --frob
	refused "$command, unknown letter" 2 "unknown option '-Z' \\(see 'recorder $command --help'\\)" "$command" -Z
done
for command in report list check convert dump verify recover; do
	refused "$command, two files" 2 "unexpected argument 'two' \\(see 'recorder $command --help'\\)" "$command" one two
done
refused "diff, unknown option" 2 "unknown option '--frob' \\(see 'recorder diff --help'\\)" diff --frob
refused "diff, one file" 2 "missing A\.\.\." diff one
refused "diff, which sides" 2 "3 files are given: separate the two sides by --" diff one two three
refused "diff, nothing after" 2 "no file after --" diff one two --
refused "diff, nothing before" 2 "no file before --" diff -- one two three
refused "diff, a threshold of nothing" 2 "--threshold: a number of percent expected, not 'much'" diff --threshold much one two
refused "diff, no such file" 2 "one: cannot open: No such file" diff one two
refused "top, unknown option" 2 "unknown option '--frob' \\(see 'recorder top --help'\\)" top --frob
refused "top, no rows" 2 "option '-n' takes a number from 1 to [0-9]+, not '0'" top -n 0
refused "top, two files" 2 "unexpected argument 'two' \\(see 'recorder top --help'\\)" top one two
refused "profile, unknown option" 2 "unknown option '--frob' \\(see 'recorder profile --help'\\)" profile --frob
refused "profile, two files" 2 "unexpected argument 'two' \\(see 'recorder profile --help'\\)" profile one two
for hook in a a,b a,b/c a,b/c, ,b/c,d a,b,p,q/c,d a,b/c,d,x; do
	refused "a hook that is $hook" 2 "-H '$hook': .*EVENT,FIELD.* expected" report --profile -H "$hook" one
done
refused "a hook without a profile" 2 "-G, -H and --by-comm need --profile" report -H a,b/c,d one
refused "two forms" 2 "--spans and --profile print different things" report --spans --profile one
while read -r form option argument; do
	# shellcheck disable=SC2086 # some options have no argument
	refused "report $form $option" 2 "$option has no effect with ($form|an option that lists parts of the file)$" report $form $option $argument one
done <<-'END'
	--json --ts-check
	--csv --ts-check
	--summary --ts-check
	--spans --ts-check
	--profile --ts-check
	--clock --ts-check
	--json --stats
	--json --ts-diff
	--json -l
	--json -T
	--csv -t
	--csv -w
	--csv -R
	--summary -w
	--summary -r x
	--spans --boundary
	--profile -n x
	--clock --since 1
	--clock -F a:b
	--clock --raw-ts
	--clock --ts-offset 1
	--first-event --since +5s
	--last-event --until 1
	--cpus --tail 1
	--stat --head 1
	--events -B top
	--uname --stats
END
refused "record what" 2 "missing .*COMMAND" record
refused "record both" 2 "give either a COMMAND or -P, not both" record -P 1 touch started
refused "no command for the user" 2 "--user needs a COMMAND" record -P 1 --user root
refused "programs left out" 2 "-u none leaves out the events of programs: it needs -e or -p" record -u none touch started
refused "programs left out of some" 2 "-u none leaves out .*: it cannot be used with another" record -e x -u none -u a:b touch started
refused "what is left out is no pattern" 2 "'a:' is not a pattern of events" record -x a: touch started
refused "what is left out has an exception" 2 "'io:\\*,!io:submit' cannot be left out \\(-x\\): it contains an exclusion \\(!\\)" \
	record -x 'io:*,!io:submit' touch started
refused "patterns without end" 1 "the patterns of -u and -x are too long: [0-9]+ characters of at most 1535" \
	record -u "$(printf 'x%.0s' $(seq 1600))" touch started
refused "a program has its sizes" 2 ".*cannot be used with -P" record -P 1 -b 64
refused "record a stranger" 1 "no running program .stranger. uses librecorder" record -P stranger
refused "record nothing" 2 "missing .*COMMAND" record --
refused "no argument" 2 "option '-o' needs an argument" record -o
refused "too much argument" 2 "option '--raw' takes no argument" record --raw=yes touch started
refused "size" 2 "option '-b' takes a number from 8 to [0-9]+, or auto, not 'many'" record -b many touch started
refused "negative size" 2 "option '-b' takes a number from 8 to [0-9]+, or auto, not '-5'" record -b -5 touch started
refused "huge size" 2 "option '-b' takes a number from 8 to [0-9]+, or auto, not '99999999999999999999'" \
	record --buffer-size=99999999999999999999 touch started
refused "mode" 2 "option '--mode' takes overwrite\\|discard, not 'over'" record --mode over touch started
refused "clock" 2 "option '-C' takes tsc\\|mono\\|.*, not 'sundial'" record -C sundial touch started
refused "version" 2 "option '--file-version' takes 6\\|7, not '8'" record --file-version 8 touch started
refused "sub-buffer" 1 "option '--subbuf-size' takes 4, 8, .* not '5'" record --subbuf-size 5 touch started
refused "small lane" 1 "a lane of 64 KB is too small for sub-buffers of 64 KB" record -b 64 --subbuf-size 64 touch started
refused "large lane" 1 "a lane of 4194304 KB has more sub-buffers than" record -b 4194304 touch started
for pattern in '' : io: :open 'io:*:x' 'io open' 'io,' ',io' 'io:[a-z]*' $'io\nx'; do
	refused "pattern ${pattern@Q}" 2 "'.*' is not a pattern of events" record -u "$pattern" touch started
done

# ---- outputs

mkdir dir
ln -s nowhere dangling
mkfifo fifo
refused "output is a directory" 1 "cannot write 'dir': Is a directory" record -o dir touch started
refused "output's directory is missing" 1 "cannot write 'no/such.dat': No such file" record -o no/such.dat touch started
refused "output below a file" 1 "cannot write 'precious.dat/x': Not a directory" record -o precious.dat/x touch started
refused "output has no name" 1 "cannot write '': No such file" record -o '' touch started
refused "output is a link to nothing" 1 "cannot write 'dangling': it is not a regular file" record -o dangling touch started
refused "output is a pipe" 1 "cannot write 'fifo': it is not a regular file" record -o fifo touch started
refused "output is a device" 1 "cannot write '/dev/null': it is not a regular file" record -o /dev/null touch started
refused "output's name is too long" 1 "cannot write 'x+': File name too long" \
	record -o "$(printf 'x%.0s' $(seq 300))" touch started
refused "output cannot be made" 1 "cannot write '/proc/x(.spool)?': " record -o /proc/x touch started
touch trace.dat.spool
run "$RECORDER" record touch started
is "something else has the spool's name: status" "$status" 1
like "something else has the spool's name" "$err" "^recorder record: '.*/trace.dat.spool' exists already"
ok "nothing was started" test ! -e started
rm trace.dat.spool

# ---- buffer directories

for case in file:'it is not a directory' link:'it is a symbolic link' open:'it belongs to another user, or others' \
	none/such:'No such file' long:'the path of the buffer directory is too long' relative:'it is not an absolute path'; do
	rm -rf hostile
	mkdir hostile
	touch hostile/file
	ln -s / hostile/link
	mkdir -m 0777 hostile/open
	name=${case%%:*}
	dir=$TMP/hostile/$name
	[ "$name" != long ] || dir=/$(printf 'x%.0s' $(seq 5000))
	[ "$name" != relative ] || dir=hostile
	RECORDER_DIR=$dir refused "RECORDER_DIR: $name" 1 ".*${case#*:}" record touch started
	is "RECORDER_DIR: $name: nothing was made there" "$(find hostile | sort | tr '\n' ' ')" \
		"hostile hostile/file hostile/link hostile/open "
done
if [ "$(id -u)" = 0 ]; then
	mkdir -m 0700 foreign
	chown 1:1 foreign
	RECORDER_DIR=$TMP/foreign refused "RECORDER_DIR: another user's" 1 ".*it belongs to another user" record touch started
else
	RECORDER_DIR=/root refused "RECORDER_DIR: another user's" 1 ".*'/root'" record touch started
fi

# ---- commands

refused "no such command" 127 "cannot run './nothing': No such file" record -o precious.dat ./nothing
refused "no such command in PATH" 127 "cannot run 'no-such-command': No such file" record -o precious.dat no-such-command
# shellcheck disable=SC2183
printf -v long '%5000s'
refused "a command whose path is too long" 126 "cannot run '\./x+': File name too long" record -o precious.dat "./${long// /x}"
refused "not to be run" 126 "cannot run './precious.dat': Permission denied" record -o precious.dat ./precious.dat
run "$RECORDER" record -o none.dat sh -c 'exit 5'
is "the status of a program without librecorder" "$status" 5
like "the recorder reports that nothing was recorded" "$err" "recorder record: nothing was recorded, 'none.dat' is not written: no process of 'sh' uses librecorder"
like "the summary reports it, too" "$err" "recorded 0 events from 0 processes, 0 threads; 0 lost"
ok "there is no file" test ! -e none.dat
run "$RECORDER" record -q -o none.dat sh -c 'kill -USR1 $$'
is "the status of a signal" "$status" 138
run "$RECORDER" record -q -o pattern.dat sh -c "'$producer' 1 10; exit 3"
is "-q prints nothing" "$status $err" "3 "
run "$RECORDER" record -o pattern.dat -u 'test:count' -u 'tset:*' -u 'nothing' "$producer" 1 10
is "an unknown pattern is not a failure" "$status" 0
is "it is named" "$(grep -c "no process has an event that matches 'tset:\\*'" <<<"$err")" 1
is "each of them" "$(grep -c "no process has an event that matches" <<<"$err")" 2
run "$RECORDER" record -o pattern.dat -u 'test:count,tset:*,nothing,!none:?' -x 'test:no,test:count_*' "$producer" 1 10
is "those in a list, too" "$(sed -n "s/.*no process has an event that matches '\([^']*\)'.*/\1/p" <<<"$err" | paste -sd ' ')" \
	"tset:* nothing none:? test:no test:count_*"
run "$RECORDER" record -o pattern.dat -u 'test:count,count,tset:*,test:cuont,cuont,tes:*,other:x' "$producer" 1 10
is "what was meant is suggested" "$(sed -n "s/.*matches '\([^']*\)'; did you mean '\([^']*\)'?$/\1=\2/p" <<<"$err" | paste -sd ' ')" \
	"count=test:count tset:*=test:* test:cuont=test:count cuont=test:count tes:*=test:*"
like "unless nothing is similar" "$err" "'other:x' \\('recorder list PROGRAM' shows a program's events\\)"
like "the others count" "$err" "recorded 10 events"
is "the command's stdout is its own" "$out" "produced 10"
is "the command's stdin is its own" "$(echo hello | "$RECORDER" record -q cat)" hello
is "the command's options are its own" "$("$RECORDER" record -q echo -o --frob)" "-o --frob"

# ---- recover and list

refused "recover what" 1 "nothing to recover: there is no trace.dat.spool" recover -o precious.dat
refused "recover a text" 1 "'.*precious.dat' is neither the spool of a recording" recover -o precious.dat precious.dat
refused "recover a pipe" 1 "cannot recover 'fifo': it is not a regular file" recover -o precious.dat fifo
refused "recover an empty directory" 1 "'.*/dir' holds no buffer" recover -o precious.dat dir
cp "$top_srcdir/LICENSE" dir/no.rec
refused "recover no buffer" 1 "'.*/dir' holds no buffer that can be read: " recover -o precious.dat dir/no.rec
ok "a file that is not a buffer stays" cmp "$top_srcdir/LICENSE" dir/no.rec
refused "list nothing" 1 "no running program uses librecorder \\(buffers are in '$RECORDER_DIR'\\)" list
refused "list a stranger" 1 "there is no such file, and no running program 'stranger' uses librecorder" list stranger
refused "list a pid" 1 "no running program '1' uses librecorder" list 1
refused "list a text" 1 "cannot list 'precious.dat': it is not an ELF file" list precious.dat
refused "list a directory" 1 "cannot list 'dir': Is a directory" list dir
refused "list a program without events" 1 "cannot list '/bin/true': no events are compiled into it" list /bin/true

refused "stat nothing" 1 "no running program uses librecorder \\(buffers are in '$RECORDER_DIR'\\)" stat
refused "stat a stranger" 1 "no running program 'stranger' uses librecorder" stat -P stranger
refused "stat a pid" 1 "no running program '1' uses librecorder" stat -P 1
refused "stat a stranger without -P" 1 "no running program 'stranger' uses librecorder" stat stranger
refused "stat two" 2 "unexpected argument 'other'" stat stranger other
refused "stat both" 2 "PROGRAM and -P exclude each other: give one of them" stat -P 1 stranger
refused "ps nothing" 1 "no running program uses librecorder \\(buffers are in '$RECORDER_DIR'\\)" ps
refused "ps a stranger" 1 "no running program 'stranger' uses librecorder" ps -P stranger
refused "ps a pid" 1 "no running program '1' uses librecorder" ps -P 1
refused "ps what" 2 "unexpected argument 'stranger'" ps stranger

# ---- pages and snapshots

refused "pages of what" 2 "give either -P and a running program, or --kernel" pages
refused "pages of both" 2 "give either -P and a running program, or --kernel" pages -P 1 --kernel
refused "a lane of the kernel" 2 "--lane needs -P" pages --kernel --lane 0
refused "a CPU of a program" 2 "--cpu and --instance need --kernel" pages -P 1 --cpu 0
refused "an instance of a program" 2 "--cpu and --instance need --kernel" pages -P 1 --instance x
refused "a lane that is no number" 2 "option '--lane'" pages -P 1 --lane x
refused "pages, what" 2 "unexpected argument 'stranger'" pages stranger
refused "pages of a stranger" 1 "no running program 'stranger' uses librecorder" pages -P stranger
refused "pages of a pid" 1 "no running program '1' uses librecorder" pages -P 1
refused "a snapshot of what" 2 "missing -P and a running program" snapshot -o precious.dat
refused "a snapshot, what" 2 "unexpected argument 'stranger'" snapshot -o precious.dat stranger
refused "a snapshot of a stranger" 1 "no running program 'stranger' uses librecorder" snapshot -o precious.dat -P stranger
refused "a snapshot of a pid" 1 "no running program '1' uses librecorder" snapshot -o precious.dat -P 1
refused "a snapshot into a directory" 1 "cannot write 'dir': Is a directory" snapshot -o dir -P 1
refused "a snapshot into a pipe" 1 "cannot write 'fifo': it is not a regular file" snapshot -o fifo -P 1
refused "a snapshot of version 5" 2 "option '--file-version'" snapshot -P 1 --file-version 5
for command in pages snapshot; do
	refused "$command -P" 2 "option '-P' needs an argument" "$command" -P
done

# ---- clocks and checks

refused "clock what" 2 "unexpected argument 'stranger'" clock stranger
refused "clock on what" 2 "option '--cpu' takes a number from 0 to [0-9]+, not 'x'" clock --cpu x
refused "clock, no rounds" 2 "option '-n' takes a number from 1 to 10000, not '0'" clock -n 0
refused "report standard input" 1 "-: a trace\.dat cannot be read from standard input; write it to a file first" report -i -
refused "verify nothing" 1 "none.such: cannot open: No such file" verify none.such
refused "verify a text" 1 "precious.dat: .*" verify precious.dat
refused "verify a directory" 1 "dir: .*" verify dir
refused "verify, how many" 2 "option '--limit' takes a number from 0 to [0-9]+, not 'few'" verify --limit few
for option in --json --limit; do
	refused "verify $option" 2 "option '$option' needs an argument" verify "$option"
done

# ---- switching

for command in enable disable; do
	refused "$command what" 2 "missing PATTERN" "$command" -P 1
	refused "$command in which program" 2 "name a running program \\(-P PID or -P NAME" "$command" 'io:*'
	refused "$command, two patterns" 2 "unexpected argument 'net:\\*'" "$command" -P 1 'io:*' 'net:*'
	refused "$command in a stranger" 1 "no running program 'stranger' uses librecorder" "$command" -P stranger 'io:*'
	refused "$command in a pid" 1 "no running program '1' uses librecorder" "$command" -P 1 'io:*'
	for pattern in '' : io: :open 'io:*:x' 'io open' 'io,' ',io' 'io:[a-z]*' $'io\nx'; do
		refused "$command, pattern ${pattern@Q}" 2 "'.*' is not a pattern of events" "$command" -P 1 "$pattern"
	done
done
for command in start stop; do
	refused "$command which program" 2 "name a running program \\(-P PID or -P NAME" "$command"
	refused "$command what" 2 "unexpected argument 'io:\\*'" "$command" -P 1 'io:*'
	refused "$command a stranger" 1 "no running program 'stranger' uses librecorder" "$command" -P stranger
	refused "$command a pid" 1 "no running program '1' uses librecorder" "$command" -P 1
done
for command in ps enable disable start stop; do
	refused "$command -P" 2 "option '-P' needs an argument" "$command" -P
done

# Whatever an ELF file contains, list ends by itself, with status 0 or with a message of one line.
ok "the events of a program" "$RECORDER" list "$producer"
like "they are listed" "$out" "test:count  u32\\(thread\\), u64\\(number\\)"
bad=0
size=$(stat -c %s "$producer")
for i in $(seq 0 4 63) $(seq $((size - 2048)) 61 $((size - 1))); do
	cp "$producer" flipped
	printf '\377\377\377\177' | dd of=flipped bs=1 seek="$i" conv=notrunc status=none
	run "$RECORDER" list ./flipped
	[ "$status" = 0 ] || { [ "$status" = 1 ] && [ "$(wc -l <"$TMP/.err")" = 1 ]; } || { bad=$((bad + 1)); diag "at $i: $status $err"; }
done
for cut in 0 1 15 16 63 64 1000 $((size / 2)) $((size - 64)) $((size - 1)); do
	head -c "$cut" "$producer" >cut
	run "$RECORDER" list ./cut
	[ "$status" = 1 ] && [ "$(wc -l <"$TMP/.err")" = 1 ] || { bad=$((bad + 1)); diag "cut at $cut: $status $err"; }
done
is "damaged programs are listed, or refused with one line" "$bad" 0

# ---- a file of a latency tracer, which has no events

for name in v6-latency v7-latency; do
	"$top_builddir/tests/golden/mkdat" "$name" >text.dat
	no_events="text\.dat: has the text of a latency tracer and no events; see 'recorder report'"
	refused "$name: assert" 1 "$no_events" assert text.dat 'lost == 0'
	refused "$name: diff" 2 "$no_events" diff text.dat text.dat
	refused "$name: hist" 1 "$no_events" hist text.dat -e submit
	refused "$name: latency" 1 "$no_events" latency text.dat submit
	refused "$name: top" 1 "$no_events" top text.dat
	refused "$name: why" 1 "$no_events" why --span submit text.dat
	refused "$name: sql" 1 "$no_events" sql text.dat 'SELECT 1'
	refused "$name: export" 1 "$no_events" export --chrome -o text.json text.dat
	refused "$name: view" 1 "$no_events" view -o text.html text.dat
	ok "$name: no page is left" test ! -e text.html
done

# ---- a file that states a wrong number of CPUs

"$top_builddir/tests/golden/mkdat" v7-cpucount >cpus.dat
python3 - <<'END'
data = open("cpus.dat", "rb").read()
option = b"\x08\x00\x04\x00\x00\x00"
assert data.count(option + b"\x07\x00\x00\x00") == 1
open("many.dat", "wb").write(data.replace(option + b"\x07\x00\x00\x00", option + b"\xff\xff\xff\xff"))
END
for flags in "" -G; do
	# shellcheck disable=SC2086
	ok "report --profile $flags" "$RECORDER" report --profile $flags cpus.dat
	profile=$out
	# The time is limited because an array for all these CPUs would take very long to fill.
	# shellcheck disable=SC2086
	ok "of a file that states 2^32 - 1 CPUs" bash -c 'ulimit -t 20; exec "$@"' - "$RECORDER" report --profile $flags many.dat
	is "prints the same" "${out#*$'\n'}" "${profile#*$'\n'}"
	like "after the number of CPUs" "${out%%$'\n'*}" '^cpus=4294967295$'
done

# ---- a file with formats that must not be parsed

"$top_builddir/tests/golden/mkdat" v6-plain | python3 -c '
import sys
data = sys.stdin.buffer.read()
for name in b"name: kinds", b"name: bytes":
    at = data.index(b"print fmt", data.index(name))
    data = data[:at] + b"\0" + data[at + 1:]
sys.stdout.buffer.write(data)' >formats.dat
# left_out ARGUMENT...: recorder reports the formats once, on standard error
left_out()
{
	run "$RECORDER" "$@"
	is "$1 reports formats that are left out" "$(grep -c 'left out' <<<"$err") $(grep 'left out' <<<"$err")" \
		"1 recorder $1: formats.dat: 2 event formats are left out, because libtraceevent cannot parse them safely; the first: test:kinds"
}

left_out report formats.dat
left_out sql formats.dat 'SELECT 1; SELECT 2'
left_out top formats.dat
left_out hist formats.dat -e submit
left_out assert formats.dat 'lost == 0'
left_out why formats.dat --span test:x
left_out verify formats.dat
left_out export --perfetto -o formats.pftrace formats.dat
left_out profile formats.dat
left_out latency formats.dat io:request
left_out split -i formats.dat -o formats.split --event io:submit
left_out view -o formats.html formats.dat
run "$RECORDER" diff formats.dat formats.dat
is "diff, of both files" "$(grep -c '2 event formats are left out' <<<"$err")" 2
run "$RECORDER" sql formats.dat "SELECT recorder_open('formats.dat')"
is "sql, of a file that a statement opens" "$(grep -c '2 event formats are left out' <<<"$err")" 2

done_testing
