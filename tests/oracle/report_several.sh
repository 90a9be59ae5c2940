# SPDX-License-Identifier: MIT
# Several files in one report, compared with trace-cmd byte for byte: the order of events, names of files and buffers, and
# times that are shifted or converted for one of the files.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
for name in v6-plain v6-kernel v6-instances v7-instances v6-lost v6-tsc v6-tsc-raw v6-date v6-bare v7-many v6-big-endian v6-ties; do
	"$mkdat" "$name" > "$TMP/$name.dat"
done
cd "$TMP" || exit 99

same()
{
	trace-cmd report "$@" > "$TMP/theirs" 2> /dev/null
	if ! "$RECORDER" report "$@" > "$TMP/ours" 2> "$TMP/err" || [ ! -s "$TMP/ours" ] || ! cmp -s "$TMP/ours" "$TMP/theirs"; then
		diag "$(cat "$TMP/err") $(diff "$TMP/ours" "$TMP/theirs" | head -6)"
		fail "report $*"
		return
	fi
	pass "report $*"
}

same -i v6-plain.dat -i v6-kernel.dat
same -t -i v6-plain.dat -i ./v7-instances.dat -i "$TMP/v6-tsc.dat"
same -t -i v7-instances.dat -i v6-plain.dat
same -i v6-instances.dat -i v7-instances.dat
same --ts-diff -i v6-kernel.dat -i v6-instances.dat -i v6-lost.dat
same -t -i v6-ties.dat -i v6-ties.dat -i v6-plain.dat
same -i v6-kernel.dat -i v7-many.dat -i v6-big-endian.dat
same -R -l -i v6-tsc-raw.dat -i v6-plain.dat
same --raw-ts -i v6-tsc.dat -i v6-plain.dat
same --boundary -N -i v6-plain.dat -i v6-kernel.dat
same -t -i v6-plain.dat -i v6-kernel.dat --ts-offset 7000
same -t -i v6-plain.dat -i v6-kernel.dat --ts-offset -7000
same --ts2secs 2000000000 -i v6-plain.dat -i v6-kernel.dat
same -i v6-plain.dat --ts2secs 2000000000 -i v6-kernel.dat
same -i v6-plain.dat -i v6-kernel.dat --ts2secs 2000000000
same --align-ts -i v6-plain.dat -i v6-kernel.dat --ts2secs 2000000000
same --align-ts -t -i v6-date.dat -i v6-plain.dat
for list in --stat --uname --version --first-event --cpus -e -E -f; do
	same $list -i v6-plain.dat -i v6-bare.dat
done

like "--ts-offset of the first file" "$("$RECORDER" report -t -i v6-plain.dat --ts-offset 900 -i v6-kernel.dat | grep -m1 submit)" \
	'^ v6-plain\.dat: .* 5\.000001000: submit:'
is "--head counts the events of all files" "$("$RECORDER" report --head 5 -i v6-plain.dat -i v6-kernel.dat)" \
	"$("$RECORDER" report -i v6-plain.dat -i v6-kernel.dat | head -7)"
is "filters are for all files" "$("$RECORDER" report -F '*:* if common_pid == 1002' -i v6-plain.dat -i v6-lost.dat | grep -c -- '-1002 ')" \
	"$(($("$RECORDER" report v6-plain.dat | grep -c -- '-1002 ') + $("$RECORDER" report v6-lost.dat | grep -c -- '-1002 ')))"

# Many files, whose events are at the same times: by time, ties in the order of the files.
many=()
for i in $(seq 10 69); do
	cp "v6-$([ $((i % 3)) = 0 ] && echo ties || echo plain).dat" "file$i.dat"
	many+=(-i "file$i.dat")
done
for i in $(seq 10 69); do
	"$RECORDER" report -t "file$i.dat" | sed "1d; s/^/file$i.dat: /"
done | sed -E 's/.* ([0-9]+\.[0-9]{9}): .*/\1 &/' | LC_ALL=C sort -s -k 1,1 | cut -d ' ' -f 2- >expected
"$RECORDER" report -t "${many[@]}" | sed "1,60d" >ours
ok "there are events of 60 files" test "$(wc -l <expected)" -gt 20000
ok "60 files are merged by time, and ties are in the order of the files" cmp expected ours
bash -c 'ulimit -Sn 40; exec "$@"' - "$RECORDER" report -t "${many[@]}" | sed "1,60d" >ours
ok "also if they are more than may be open at first" cmp expected ours

run "$RECORDER" report --json -i v6-plain.dat -i v6-kernel.dat
is "--json of several files: status" "$status" 2
is "--json of several files" "$err" "recorder report: several files can only be printed as text, without --tail, -w, --ts-check and --stats"
run "$RECORDER" report --stats -i v6-plain.dat -i v6-kernel.dat
like "--stats of several files" "$status $err" "^2 recorder report: several files can only be printed as text, without "
run "$RECORDER" report -i v6-plain.dat -i none.dat
is "one of them is missing: status" "$status" 1
like "one of them is missing" "$err" "^recorder report: none.dat: cannot open: No such file"
run "$RECORDER" report -i v6-plain.dat v6-kernel.dat
is "-i and an operand" "$status" 2
run "$RECORDER" report --ts2secs 0 v6-plain.dat
is "--ts2secs 0" "$status:$err" "2:recorder report: --ts2secs '0' is not a frequency"
run bash -c '"$0" report -i v6-plain.dat -i v6-kernel.dat > /dev/full' "$RECORDER"
like "a full disk" "$err" "cannot write the report: No space left"

done_testing
