# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh, for checks that compare with a recording that another program, a peer, makes. If the
# peer or the environment is at fault, the attempt is repeated; after the third such attempt the checks are skipped,
# with the reason. Every other failure fails at once. docs/TESTING.md, "Faults of others", lists what counts as whose
# fault.
#
#	beside_peer NAME FUNCTION ARGUMENT...
#				FUNCTION makes one attempt; its checks count unless others are at fault: if it sets
#				$peer_fault, or if a check fails and trace-cmd lost events of a recording of this attempt
#	at_once CHECK...	in FUNCTION: if this check fails, the attempt counts
#	peer_record FILE ARGUMENT...
#				in FUNCTION: trace-cmd record -o FILE; fails and sets $peer_fault if trace-cmd hangs
#				or fails
#	peer_losses FILE	prints what trace-cmd lost of that recording by its own count, or nothing
#	same_events NAME LEAST TEXT ARGUMENT...
#				we record with these arguments what trace-cmd records: the command TEXT prints the
#				same lines of both files, at least LEAST
#
# All of them write to the current directory. PEER_SECONDS: how long trace-cmd may take (60). Variables that a script
# sets: $under, a command that both recorders are run by; $peer_options, for trace-cmd alone; $peer_overwrites, not
# empty if the check wants overwritten events, which are then not losses.

peer_seconds=${PEER_SECONDS:-60}
peer_fault=
peer_files=()
peer_hangs=0
peer_gone=

# The statistics in the file are the kernel's counts. trace-cmd takes them before it reads the rest of its rings. So the
# file must have the events that were read before, and those that were in a ring at that time ("entries"). trace-cmd
# reads the counters one after the other, so their sum may be too large, but never too small. trace-cmd --date reads one
# event itself.
peer_losses()
{
	local file=$1 own=0 keys='entries|read events|overrun|commit overrun|dropped events' counted shown

	[[ " ${peer_arguments-} " == *" --date "* ]] && own=1
	[ -z "${peer_overwrites-}" ] || keys='entries|read events'
	trace-cmd report --stat "$file" >peer.stat 2>&1
	trace-cmd report "$file" >peer.text 2>&1
	if ! grep -q '^entries: ' peer.stat; then
		echo "trace-cmd's file has no statistics: $(tail -n 1 peer.text)"
		return
	fi
	counted=$(sed -nE "s/^($keys): ([0-9]+)$/\2/p" peer.stat | awk '{ sum += $1 } END { print sum + 0 }')
	shown=$(grep -cE '\] +[0-9.]+: ' peer.text)
	if [ $((shown + own)) -lt "$counted" ]; then
		echo "trace-cmd counted $counted events and recorded $shown"
	elif [ -z "${peer_overwrites-}" ] && grep -q 'EVENTS DROPPED\]' peer.text; then
		echo "trace-cmd reports dropped events"
	fi
}

peer_record()
{
	local file=$1 status=0 start=$SECONDS

	shift
	peer_arguments=$*
	rm -f "$file" "$file".cpu*
	# shellcheck disable=SC2086
	timeout --kill-after=10 "$peer_seconds" ${under-} trace-cmd record -q -o "$file" ${peer_options-} "$@" \
		>peer.log 2>&1 </dev/null || status=$?
	if [ $status -ge 124 ] && [ $((SECONDS - start)) -ge "$peer_seconds" ]; then
		peer_fault="trace-cmd did not end within $peer_seconds s"
		peer_hangs=$((peer_hangs + 1))
		# trace-cmd's settings are still in place.
		timeout --kill-after=10 "$peer_seconds" trace-cmd reset >>peer.log 2>&1 </dev/null
	elif [ $status -ne 0 ]; then
		peer_fault="trace-cmd ended with status $status: $(tail -n 1 peer.log)"
	elif [ ! -s "$file" ]; then
		peer_fault="trace-cmd wrote no file: $(tail -n 1 peer.log)"
	fi
	peer_files+=("$file")
	[ -z "$peer_fault" ]
}

at_once()
{
	"$@" || peer_excuses=no
}

beside_peer()
{
	local name=$1 attempt count failed file peer_excuses

	shift
	if [ -n "$peer_gone" ]; then
		skip "$name" "$peer_gone"
		return
	fi
	peer_hangs=0
	for attempt in 1 2 3; do
		count=$tap_count failed=$tap_failed
		peer_fault='' peer_files=() peer_excuses=yes
		"$@" >"$TMP/.attempt"
		if [ -z "$peer_fault" ] && [ "$tap_failed" != "$failed" ]; then
			for file in "${peer_files[@]}"; do
				peer_fault=${peer_fault:-$(peer_losses "$file")}
			done
		fi
		if [ -z "$peer_fault" ] || [ $peer_excuses = no ]; then
			cat "$TMP/.attempt"
			[ "$tap_count" != "$count" ] || fail "$name: something was checked"
			return
		fi
		# In TAP a '#' begins a directive.
		peer_fault=${peer_fault//\#/ }
		tap_count=$count tap_failed=$failed
		diag "$name: attempt $attempt of 3: fault of the environment: $peer_fault"
		tail -n 60 "$TMP/.attempt" | sed 's/^/# /'
	done
	skip "$name" "fault of the environment: $peer_fault, three times in a row"
	# The next check would wait just as long in vain, so the remaining checks of this peer are skipped.
	[ $peer_hangs -lt 3 ] || peer_gone="fault of the environment: $peer_fault, three times in a row before"
}

same_attempt()
{
	local name=$1 text=$2

	shift 2
	peer_record theirs.dat "$@" || return
	$text theirs.dat >theirs
	ok "$name" diff theirs ours
}

same_events()
{
	local name=$1 least=$2 text=$3

	shift 3
	rm -f ours.dat
	# shellcheck disable=SC2086
	ok "$name: recorded" ${under-} "$RECORDER" record -q -o ours.dat "$@" || return
	$text ours.dat >ours
	ok "$name: there are events" test "$(wc -l <ours)" -ge "$least" || return
	beside_peer "$name" same_attempt "$name" "$text" "$@"
}
