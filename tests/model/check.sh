#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The model checkers, of the ring and of the pool of lanes. MODEL selects the configurations: one or several of these,
# separated by commas; the default is the short ones:
#
#	short	those that take seconds
#	long    those that take longer
#	all	both, and those that take minutes and some GB each
#	clocks	the short ones of the ring with handlers, under a clock that stands still, and one that only steps back;
#		and all of them under one that does either or advances, at most MODEL_STATES (10,000) states of each
#	slow-clocks	the same, with the longer ones under each clock
. "$top_srcdir/tests/tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the checker switches stacks on x86-64 only"
bash "$top_srcdir/tests/model/build.sh" "$top_srcdir" "$TMP/model" || exit 1

MODEL=${MODEL:-short}

# Each configuration is a process of its own, so that they share the CPUs; the order of the results is kept.
workers=$(nproc)
runs=()

# Each configuration that these options of this checker select.
plan()
{
	local name names

	mapfile -t names < <("$TMP/model/$@" -l)
	for name in "${names[@]}"; do
		runs+=("$* $name")
	done
}

for which in ${MODEL//,/ }; do
	case $which in
	short) plan model -s && plan lanes/lanes -s ;;
	long) plan model -t && plan lanes/lanes -t ;;
	all) plan model -a && plan lanes/lanes -a ;;
	clocks | slow-clocks)
		short=-s
		[ $which = clocks ] || short=
		# shellcheck disable=SC2086
		plan model $short -c 0
		# shellcheck disable=SC2086
		plan model $short -c -
		plan model -c 10- -n "${MODEL_STATES-10000}"
		;;
	*) diag "no such configurations: MODEL=$which"; exit 1 ;;
	esac
done
for ((i = 0; i < ${#runs[@]}; i++)); do
	while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do
		wait -n
	done
	# shellcheck disable=SC2086
	"$TMP/model/"${runs[i]} >"$TMP/$i.out" 2>&1 &
done
wait
for ((i = 0; i < ${#runs[@]}; i++)); do
	# Print the steps that led to a failure, or what the checker prints when it dies.
	# shellcheck disable=SC2086
	grep -q '^ok 1 - ' "$TMP/$i.out" || "$TMP/model/"${runs[i]} -v 2>&1 | grep -v '^ok\|^not ok\|^1\.\.' | tail -n 400
	line=$(sed -n 's/^\(ok\|not ok\) 1 - //p' "$TMP/$i.out")
	if grep -q '^ok 1 - ' "$TMP/$i.out"; then pass "$line"; else fail "${line:-${runs[i]} died}"; fi
done
done_testing
