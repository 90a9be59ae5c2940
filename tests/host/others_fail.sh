#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Faults of others are reported as theirs, and ours as ours: the checks of tests/peer.sh, with a trace-cmd and a recorder that
# do what each case says. Needs no root.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"
cd "$TMP" || exit 1

# has NAME REGEX: a line of what the script printed
has()
{
	ok "$1" grep -qE "$2" said || diag "$(<said)"
}

has_not()
{
	fails "$1" grep -qE "$2" said || diag "$(<said)"
}

# ---- what the real trace-cmd reports of losses

if command -v trace-cmd >/dev/null; then
	for each in v6-plain v7-plain v6-lost v7-lost; do
		"$top_builddir/tests/golden/mkdat" $each >$each.dat
		case $each in
		*-lost) is "$each: losses are seen" "$(peer_losses $each.dat)" "trace-cmd reports dropped events" ;;
		*) is "$each: there are no losses" "$(peer_losses $each.dat)" "" ;;
		esac
	done
	head -c 5000 v6-plain.dat >cut.dat
	like "a cut file" "$(peer_losses cut.dat)" "^trace-cmd's file has no statistics"
else
	skip "the real trace-cmd" "trace-cmd is not installed"
fi

mkdir fakes
fakes=$TMP/fakes
export fakes
PATH=$fakes:$PATH

# ---- a comparison with what trace-cmd records

# Recordings are one word, which the plan has for each attempt: what becomes of ten events.
cat >fakes/trace-cmd <<'END'
#!/bin/bash
if [ "$1" = record ]; then
	echo >>"$fakes/attempts"
	way=$(sed -n "$(wc -l <"$fakes/attempts")p" "$fakes/plan")
	case $way in
	hangs) exec sleep 1000 ;;
	dies) echo "cannot #1" >&2; exit 3 ;;
	no_file) exit 0 ;;
	esac
	while [ "$1" != -o ]; do shift; done
	echo "$way" >"$2"
elif [ "$1 ${2-}" = "report --stat" ]; then
	left=0 overrun=0 dropped=0 read=7
	case $(<"$3") in
	same) read=10 ;;
	differs) read=9 ;;
	date) read=10 ;;
	left) left=3 ;;
	overrun) overrun=3 ;;
	dropped) dropped=3 ;;
	counted) left=10 ;;
	esac
	printf 'CPU: 0\nentries: %s\noverrun: %s\ncommit overrun: 0\nbytes: 48\n' $left $overrun
	printf 'oldest event ts:  1.5\nnow ts:  2.5\ndropped events: %s\nread events: %s\n' $dropped $read
elif [ "$1" = report ]; then
	number=7
	case $(<"$2") in
	same | counted) number=10 ;;
	differs | date) number=9 ;;
	marked) echo 'CPU:0 [3 EVENTS DROPPED]' ;;
	esac
	for ((i = 0; i < number; i++)); do
		echo "            true-1     [000]     1.00000$i: event: $i"
	done
fi
END
cat >fakes/recorder <<'END'
#!/bin/bash
[ -e "$fakes/no-recorder" ] && exit 1
while [ "$1" != -o ]; do shift; done
echo same >"$2"
END
chmod +x fakes/*

cat >compare.sh <<'END'
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"
cd "$TMP"
lines()
{
	trace-cmd report "$1" | grep ': event: '
}
same_events "a" 4 lines -e event true
END
cp compare.sh compare_twice.sh
echo 'same_events "b" 4 lines -e event true' >>compare_twice.sh
# trace-cmd --date reads one event itself. And a check of losses wants overwritten events, but none that were left.
sed 's/-e event/--date &/' compare.sh >compare_dates.sh
sed 's/^same_events/peer_overwrites=yes\n&/' compare.sh >compare_overwritten.sh
cat >excuse.sh <<'END'
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"
cd "$TMP"
attempt()
{
	peer_record theirs.dat || return
	"$@"
}
beside_peer "ours" attempt at_once fail "ours"
beside_peer "theirs" attempt fail "theirs"
beside_peer "nothing" attempt true
END
for each in compare*.sh excuse.sh; do
	echo done_testing >>"$each"
done

# compare SCRIPT SECONDS WAY...: what it prints is in said; $attempts
compare()
{
	local script=$1 seconds=$2

	shift 2
	printf '%s\n' "$@" >fakes/plan
	: >fakes/attempts
	PEER_SECONDS=$seconds RECORDER=$fakes/recorder bash "$script.sh" >said
	attempts=$(wc -l <fakes/attempts)
}

compare compare 60 same
has "the same events" '^ok 3 - a$'
is "the same events: attempts" "$attempts" 1
compare compare 60 counted
has "the same events, and trace-cmd counts more" '^ok 3 - a$'
is "the same events, and trace-cmd counts more: attempts" "$attempts" 1
compare compare 60 differs
has "other events" '^not ok 3 - a$'
is "other events: attempts" "$attempts" 1

counts="trace-cmd counted 10 events and recorded 7"
for each in "left=$counts" "overrun=$counts" "dropped=$counts" "marked=trace-cmd reports dropped events" \
	"dies=trace-cmd ended with status 3: cannot  1" "no_file=trace-cmd wrote no file: " \
	"hangs=trace-cmd did not end within 3 s"; do
	way=${each%%=*}
	compare compare 3 "$way" same
	has "$way, once: reported" "^# a: attempt 1 of 3: fault of the environment: ${each#*=}$"
	has "$way, once: compared" '^ok 3 - a$'
	has_not "$way, once: nothing fails" '^not ok'
	is "$way, once: attempts" "$attempts" 2
done
compare compare 60 left overrun dropped
has "losses, three times: skipped" "^ok 3 - a # SKIP fault of the environment: $counts, three times in a row$"
is "losses, three times: reported" "$(grep -c ' of 3: fault of the environment: ' said)" 3
has_not "losses, three times: nothing fails" '^not ok'
is "losses, three times: attempts" "$attempts" 3
compare compare 60 left dies differs
has "other events in the third attempt" '^not ok 3 - a$'
compare compare_twice 1 hangs hangs hangs
has "hangs, three times: skipped" '^ok 3 - a # SKIP fault of the environment: trace-cmd did not end within 1 s, three times in a row$'
has "hangs, three times: the next is skipped" '^ok 6 - b # SKIP fault of the environment: .*, three times in a row before$'
is "hangs, three times: attempts" "$attempts" 3

for each in "compare_dates date" "compare_overwritten overrun" "compare_overwritten marked"; do
	compare "${each% *}" 60 "${each#* }"
	has "$each: other events" '^not ok 3 - a$'
	is "$each: attempts" "$attempts" 1
done
for each in "compare date" "compare_overwritten left"; do
	compare "${each% *}" 60 "${each#* }" same
	has "$each: a loss" '^# a: attempt 1 of 3: '
	has "$each: compared" '^ok 3 - a$'
done

touch fakes/no-recorder
compare compare 60 left
has "our recorder fails" '^not ok 1 - a: recorded$'
is "our recorder fails: attempts" "$attempts" 0
rm fakes/no-recorder

compare excuse 60 left left left left same
has "no loss excuses what is ours alone" '^not ok 1 - ours$'
has "but what is not" '^ok 2 - theirs # SKIP '
has "no check is no success" '^not ok 3 - nothing: something was checked$'
is "no loss excuses what is ours alone: attempts" "$attempts" 5

# ---- an X server that does not start

# As root, screenshot.sh starts these programs as the user nobody.
chmod 755 "$TMP"
for each in kernelshark xdotool import identify; do
	printf '#!/bin/sh\n' >fakes/$each
done
printf '#!/bin/sh\nexit 1\n' >fakes/Xvfb
chmod +x fakes/*
: >some.dat
run bash "$top_srcdir/tests/oracle/screenshot.sh" some.dat some.png
is "no X server" "$status $(head -n 1 <<<"$err")" "3 screenshot.sh: Xvfb does not start"

done_testing
