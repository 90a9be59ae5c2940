#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The model checkers find errors: each mutant in tests/model/mutants is the ring, or the pool of lanes, with one
# ordering or one check damaged, and the configuration named there must fail. Those that are marked spare must not be
# noticed. MUTANTS="name..." runs only these; MUTANTS_STRIDE=N one in N, of which RECORDER_SEED chooses the first.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/model/damage.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the checker switches stacks on x86-64 only"

sources=$TMP/source
base=$TMP/base
workers=$(nproc)
names=()
declare -A expected

mkdir "$sources" "$base"
# Links are followed, so that only the copy is damaged.
cp -rL "$top_srcdir/include" "$top_srcdir/librecorder" "$sources" || exit 1
bash "$top_srcdir/tests/model/build.sh" "$sources" "$base" 2>&1 || exit 1

# Damage a copy of the file, build it, run the configurations on it. One line of result in $TMP/NAME.result.
try()
{
	local name=$1 file=$2 configs=$3 work=$TMP/$1 files checker=model program=model
	shift 3

	if ! damage "$sources" "$file" "$@" >"$work.result"; then
		return
	fi
	cp -r "$base" "$work"
	cp -r "$sources" "$work/source"
	for file in "${!damaged[@]}"; do
		printf '%s\n' "${damaged[$file]}" >"$work/source/$file"
	done
	files=${!damaged[*]}
	# Configurations of the lanes begin with that word.
	[[ $configs != lane-* ]] || checker=lanes program=lanes/lanes
	case $checker:$files in
	lanes:*.h* | lanes:*' '*) set -- ring ring_commit ring_consume ring_count ring_enter ring_init ring_left ring_reader page lane lane_control \
		lane_grow lane_pool share lane_thread geometry reader_lane reader_wait kernel view action ;;
	lanes:*/lane_share.c) set -- share ;;
	*.h* | *' '*) set -- ring ring_commit ring_consume ring_count ring_enter ring_init ring_left ring_reader page handle spoil action ;;
	*) set -- "$(basename "$files" .c)" ;;
	esac
	if ! CHECKERS=$checker MODEL_CFLAGS="-O1 -w" bash "$top_srcdir/tests/model/build.sh" "$work/source" "$work" "$@" >"$work.log" 2>&1; then
		echo "does not compile" >"$work.result"
		return
	fi
	# shellcheck disable=SC2086
	if (ulimit -t 240 && exec "$work/$program" $configs) >>"$work.log" 2>&1; then
		echo "survives" >"$work.result"
	elif grep -q '^not ok' "$work.log"; then
		echo caught >"$work.result"
	else
		echo "the checker died" >"$work.result"
	fi
	rm -rf "$work"
}

start()
{
	while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do
		wait -n
	done
	try "$@" &
}

stride=${MUTANTS_STRIDE:-1}
seen=$((${RECORDER_SEED:-1} % stride))
diag "RECORDER_SEED=${RECORDER_SEED:-1} MUTANTS_STRIDE=$stride"

is_wanted()
{
	seen=$((seen + 1))
	[ -n "${MUTANTS-}" ] || [ $((seen % stride)) -eq 0 ] || return 1
	[ -z "${MUTANTS-}" ] || [[ " $MUTANTS " = *" $1 "* ]]
}

mutant()
{
	is_wanted "$1" || return 0
	names+=("$1")
	expected[$1]=caught
	start "$@"
}

spare()
{
	local name=$1 file=$2 configs=$3
	shift 4

	is_wanted "$name" || return 0
	names+=("$name")
	expected[$name]=survives
	start "$name" "$file" "$configs" "$@"
}

. "$top_srcdir/tests/model/mutants"
wait

for name in "${names[@]}"; do
	sed 's/^/# /' "$TMP/$name.log" 2>/dev/null
	is "$name" "$(cat "$TMP/$name.result" 2>/dev/null)" "${expected[$name]}"
done
done_testing
