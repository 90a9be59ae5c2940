#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs and the kernel on one timeline: `recorder verify` finds nothing wrong with real recordings, and finds the fault in
# damaged ones. RECORDER_VERIFY_ROUNDS: the number of recordings of each load, and of the long load (docs/TESTING.md).

. "$top_srcdir/tests/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "only root may trace the kernel"
cd "$TMP" || exit 1
programs=$top_builddir/tests/programs
spoil=$top_builddir/tests/kernel/spoil
rounds=${RECORDER_VERIFY_ROUNDS:-1}

# verify ARGUMENT...: sets $status, and $text to its output without contradictions, which the recording may have anyway
verify()
{
	run "$RECORDER" verify "$@"
	text=$(awk '/^[^ ]/ { left_out = /^contradiction:/ } !left_out' <<<"$out")
}

# figure NAME: a number of the last summary
figure()
{
	tail -1 <<<"$text" | grep -oE "\"$1\":[0-9]+" | cut -d: -f2
}

# holds NAME FILE: verify finds no violation, and has made checks
holds()
{
	verify "$2"
	is "$1: nothing is wrong" "$status" 0
	diag "$text"
	is "$1: no violation" "$(figure violations)" 0
}

# ---- real loads

mkdir files
for i in $(seq 60); do
	head -c $((i * 700)) "$RECORDER" >"files/$i"
done

for round in $(seq "$rounds"); do
	ok "packer $round" "$RECORDER" record -o packer.dat -e sched -e syscalls -u '*' \
		"$top_builddir/examples/packer" -j 4 "$([ "$rounds" = 1 ] && echo files || echo /usr/include)"
	total=$(sed -n 's/.*total=\([0-9]*\)$/\1/p' <<<"$out")
	like "packer $round: nothing was lost" "$err" "recorded $total events from 1 process, [0-9]+ threads; 0 lost"
	holds "packer $round" packer.dat
	is "packer $round: all its events were checked" "$(figure user_events)" "$total"
	ok "packer $round: most of them between known switches" test "$(figure checked)" -gt $((total / 2))

	moves=$((rounds == 1 ? 500 : 5000))
	ok "threads that move $round" "$RECORDER" record -o moves.dat -e sched -u '*' "$programs/pinned" $moves 20
	holds "threads that move $round" moves.dat
	is "threads that move $round: all their events were checked" "$(figure user_events)" $((moves * 40))
	ok "threads that move $round: they did" test "$(figure migrations)" -ge $((moves * ($(nproc) > 1)))
	ok "threads that move $round: wake-ups were checked" test "$(figure woken)" -gt 0

	[ "$rounds" = 1 ] && continue
	ok "messaging $round" "$RECORDER" record -o messages.dat -e sched -e syscalls -u '*' \
		perf bench sched messaging -g 10 -l 500
	holds "messaging $round" messages.dat
done

# ---- in every form

for form in '--buffers=split' '--raw' '--file-version=7' '-C mono' '--subbuf-size=16'; do
	# shellcheck disable=SC2086
	ok "$form" "$RECORDER" record -o form.dat $form -e sched -u '*' "$programs/pinned" 50 20
	holds "$form" form.dat
	is "$form: all events were checked" "$(figure user_events)" 2000
	if [ "$form" = --raw ]; then
		is "in lanes nothing is checked" "$(figure unchecked)" 2000
	else
		ok "$form: most between known switches" test "$(figure checked)" -gt 1000
	fi
done

# ---- what was not recorded is not reported missing

for part in '-e sched -F' '-e sched -M 1' '-e sched_switch -f prev_pid>0'; do
	# shellcheck disable=SC2086
	ok "$part" "$RECORDER" record -o part.dat $part -u '*' "$programs/pinned" 50 20
	holds "$part" part.dat
	is "$part: all events were checked" "$(figure user_events)" 2000
done

# ---- one thing damaged

"$RECORDER" verify moves.dat >/dev/null || exit 1
for way in pid:outside time:outside woken:not_woken count:count back:back; do
	cp moves.dat spoilt.dat
	ok "damaged: ${way%:*}" "$spoil" spoilt.dat "${way%:*}"
	diag "${way%:*}: $out"
	verify spoilt.dat
	is "${way%:*}: status" "$status" 1
	ok "${way%:*}: it is found" test "$(figure "${way#*:}")" -ge 1
	like "${way%:*}: and shown" "$text" "^${way#*:}: "
done
cp moves.dat spoilt.dat
"$spoil" spoilt.dat time >/dev/null
verify spoilt.dat
is "an event outside, alone" "$(figure violations)" 1
verify --limit 1 spoilt.dat
[ "$(figure contradictions)" -gt 1 ] || unlike "all are shown" "$text" 'only the first'
like "the switch before it" "$(sed -n 2p <<<"$text")" '^ *-[0-9]+ ns .* sched_switch: '
like "the event" "$(sed -n 3p <<<"$text")" '^  *pinned-[0-9]+ .* place: '
like "the switch after it" "$(sed -n 4p <<<"$text")" '^ *\+[0-9]+ ns .* sched_switch: .* ==> pinned:'

# On hosts that hide tasks, recordings are like this: it is not a violation.
verify moves.dat
before=$(figure contradictions)
cp moves.dat spoilt.dat
ok "a switch from another thread" "$spoil" spoilt.dat switch
diag "$out"
verify --limit 100000 spoilt.dat
is "a switch from another thread is no violation" "$status" 0
is "it is counted" "$(figure contradictions)" $((before + 1))
like "and shown" "$(grep 'thread 1000000 ran' <<<"$out")" "^contradiction: CPU [0-9]+ switched to thread [0-9]+, then thread 1000000 ran: a switch between them is missing"
like "with both switches" "$(grep -A 2 'thread 1000000 ran' <<<"$out")" "sched_switch: .*sched_switch: .*:1000000 "
like "and its meaning" "$text" "$((before + 1)) contradictions?: events of programs between such switches could not be checked"
cp moves.dat spoilt.dat
"$spoil" spoilt.dat time >/dev/null

# There are too many violations to show all.
"$spoil" spoilt.dat woken >/dev/null
verify --limit 1 spoilt.dat
is "--limit" "$(grep -cE '^(outside|not_woken): ' <<<"$text")" 1
like "and reports it" "$text" 'only the first 1 are shown'
verify --limit 0 --json summary spoilt.dat
like "--json FILE" "$(cat summary)" '^\{"events":[0-9]+,.*"nearest_ns":[0-9]+\}$'
unlike "and no second one" "$text" '"events"'
verify --json - spoilt.dat
like "--json -: the summary alone" "$text" '^\{"events":[0-9]+,.*\}$'
is "on one line" "$(wc -l <<<"$text")" 1
like "and the text apart from it" "$err" 'not_woken: '

# ---- what cannot be checked, or read

ok "a recording of programs alone" "$RECORDER" record -o alone.dat "$programs/pinned" 5 20
holds "programs alone" alone.dat
like "it reports what was not checked" "$text" '^no sched_switch was recorded'
is "none of it" "$(figure unchecked)" 200
like "and what was" "$text" '0 of 200 events of programs lie between known switches; 200 events, .*: nothing is wrong'

# A program in another pid namespace has other numbers there than the kernel records.
ok "another pid namespace" "$RECORDER" record -o elsewhere.dat -e sched unshare --pid --fork --kill-child "$programs/pinned" 5 20
holds "another pid namespace" elsewhere.dat
is "its events cannot be checked" "$(figure unchecked)" 200
is "no other is left out" "$(figure user_events)" 200

cp moves.dat damaged.dat
printf '\377\377\377\377' | dd of=damaged.dat bs=1 seek=$(($(stat -c %s damaged.dat) - 4096 + 8)) conv=notrunc status=none
verify damaged.dat
is "a damaged page: status" "$status" 1
like "a damaged page: what" "$err" '^recorder verify: damaged.dat: damaged: events of 1 page are missing'
like "a damaged page: the summary" "$text" '"damaged_pages":1'

done_testing
