#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder report --follow: the events of a file as its writer appends to it, in the end the same as those of the
# complete file. The writer is this script, which has the file open as descriptor 3.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

mkdat=$top_builddir/tests/golden/mkdat
names="v6-one v6-plain v6-instances v6-short v7-plain v7-options zstd"
for name in ${names% zstd}; do
	"$mkdat" "$name" >"$name.dat"
done
ok "a compressed file" "$RECORDER" convert --compression zstd -i v6-plain.dat zstd.dat

begin()
{
	exec 3>grown.dat
	at=0
}
# append FILE END: the bytes of the file up to there
append()
{
	tail -c +$((at + 1)) "$1" | head -c $(($2 - at)) >&3
	at=$2
}
end()
{
	exec 3>&-
}
follow()
{
	# `out` is emptied here, not by the background shell: until that runs, `out` would still have the former
	# command's lines.
	: >out
	"$RECORDER" report --follow "$@" grown.dat >out 2>err 3>&- &
	follower=$!
}
has_lines()
{
	[ "$(wc -l <out)" -ge "$1" ]
}
joined()
{
	status=0
	wait "$follower" || status=$?
}

# ---- to the end

for name in $names; do
	size=$(stat -c %s "$name.dat")
	"$RECORDER" report "$name.dat" >expected
	for step in 1777 20001; do
		begin
		follow
		for ((to = step; to < size; to += step)); do
			append "$name.dat" "$to"
		done
		append "$name.dat" "$size"
		joined
		is "$name by $step bytes: status, messages" "$status $(<err)" "0 "
		ok "$name by $step bytes: the lines" cmp out expected
		end
	done
done
"$RECORDER" report --json v6-instances.dat >expected
begin
append v6-instances.dat 3000
follow --json
append v6-instances.dat "$(stat -c %s v6-instances.dat)"
joined
ok "as JSON" cmp out expected
end

# ---- as they arrive

# The data of CPU 0 come first, and are printed before those of the other CPU arrive.
begin
follow --cpu 0
bad=0
seen=0
size=$(stat -c %s v6-plain.dat)
for ((to = 4096; seen < 2 && to < size; to += 4096)); do
	# First whole pages are appended, and below a part of the next page.
	append v6-plain.dat "$to"
	head -c "$to" v6-plain.dat >cut.dat
	"$RECORDER" report --cpu 0 cut.dat >expected 2>cut.err || true
	lines=$(wc -l <expected)
	[ "$lines" -gt 1 ] || continue
	seen=$((seen + 1))
	append v6-plain.dat $((to + 1234))
	wait_until has_lines "$lines" || bad=1
	cmp out expected || bad=1
done
is "whole pages are printed before the next page is whole" "$bad $seen" "0 2"
kill -INT $follower
joined
is "SIGINT: status, messages" "$status $(<err)" "0 "
ok "SIGINT: what was printed is there" cmp out expected
follow --cpu 0
wait_until has_lines "$lines"
kill -TERM $follower
joined
is "SIGTERM: status, messages" "$status $(<err)" "0 "
ok "SIGTERM: what was printed is there" cmp out expected
follow --cpu 0 --head 3
joined
is "--head ends it" "$status $(<err) $(wc -l <out)" "0  4"
is "a reader that goes away ends it" "$("$RECORDER" report --follow --cpu 0 grown.dat 2>err 3>&- | head -n 2 | wc -l) $(<err)" "2 "
"$RECORDER" report --json --cpu 0 cut.dat 2>/dev/null >expected
follow --json --cpu 0
wait_until has_lines "$(wc -l <expected)"
ok "JSON as it arrives" cmp out expected

# ---- writers that end early

end
joined
"$RECORDER" report --json --cpu 0 grown.dat >expected 2>cut.err || true
is "the writer ends early: status" "$status" 1
ok "the writer ends early: the rest is printed" cmp out expected
is "the writer ends early: what is missing is reported" "$(<err)" "$(<cut.err)"
begin
append v6-plain.dat 700
follow
end
joined
is "the writer ends before the first event: status" "$status" 1
run "$RECORDER" report grown.dat
is "the writer ends before the first event: the message" "$(<err)" "$err"
begin
follow
end
joined
like "nothing was written" "$status $(<err)" "^1 recorder report: grown.dat: not a trace.dat file \(it is empty\)$"
begin
follow
echo "This is a file of another kind." >&3
joined
like "another kind of file" "$status $(<err)" "^1 recorder report: grown.dat: not a trace.dat file"
end
run "$RECORDER" report --follow nosuch.dat
like "no file" "$status $err" "^1 recorder report: nosuch.dat: cannot follow: No such file or directory$"
: >running.dat.spool
for flag in "" --follow; do
	# shellcheck disable=SC2086
	fails "a file whose recording has not ended $flag" "$RECORDER" report $flag running.dat
	like "its spool is named" "$err" \
		"^recorder report: running\.dat: cannot (open|follow): No such file or directory; there is 'running\.dat\.spool': "
done

# ---- a recording that is piped into a file

rm grown.dat
"$RECORDER" record -o - "$told" >grown.dat 2>record.err < <(echo go) 3>&- &
recorder=$!
wait_until test -e grown.dat
follow
wait $recorder
joined
"$RECORDER" report grown.dat >expected
is "recorder record -o -: status, messages" "$status $(<err)" "0 "
ok "recorder record -o -: the lines" cmp out expected
is "recorder record -o -: the events" "$(counts grown.dat)" "get 10 idle 10 put 10"

# ---- options that cannot be used with it

for option in --csv --summary --spans --profile --clock --stat "--since 1" "--until 1" "--tail 1" --align-ts \
	"-i v6-one.dat -i v6-one.dat"; do
	# shellcheck disable=SC2086 # options and their arguments
	run "$RECORDER" report --follow $option
	is "$option: status, lines" "$status $(wc -l <<<"$err")" "2 1"
	like "$option: the message" "$err" "^recorder report: --follow prints events as they arrive; it cannot be used with "
done
# The pager prints a line when it runs.
page()
{
	rm -f paged
	PAGER='touch paged; cat' TERM=xterm script -qec "'$RECORDER' report $1 v6-one.dat" /dev/null >/dev/null </dev/null
	[ -e paged ]
}
ok "a terminal has a pager" page ""
fails "not with --follow" page --follow

done_testing
