#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every line of the ring is reached by some configuration of the model, and every function of the pool of lanes by some
# configuration of its own checker, except those that tests/model/unreached lists, each with a reason: the sources are
# compiled with gcov's counters, and each configuration explores MODEL_STATES states at most (20,000). Prints all that
# was not reached. The test also fails if the list names something that is reached or does not exist any more.
. "$top_srcdir/tests/tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the checker switches stacks on x86-64 only"
case $("${CC:-gcc}" --version) in
*clang*) skip_all "gcov reads the counters of gcc alone" ;;
esac
gcov=gcov-$("${CC:-gcc}" -dumpversion)
type "$gcov" >/dev/null 2>&1 || gcov=gcov
type "$gcov" >/dev/null 2>&1 || skip_all "gcov is not installed"

COVERAGE=yes bash "$top_srcdir/tests/model/build.sh" "$top_srcdir" "$TMP/model" || exit 1
workers=$(nproc)
# explore CHECKER: runs all its configurations.
explore()
{
	local name names

	mapfile -t names < <("$TMP/model/$1" -a -l)
	for name in "${names[@]}"; do
		while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do
			wait -n
		done
		"$TMP/model/$1" -n "${MODEL_STATES-20000}" "$name" >"$TMP/$name.out" 2>&1 &
	done
	wait
	for name in "${names[@]}"; do
		grep -q '^ok 1 - ' "$TMP/$name.out" || fail "$name: $(grep '^#' "$TMP/$name.out" | head -n 1)"
	done
}

explore model
explore lanes/lanes
mkdir "$TMP/ring"
mv "$TMP/model/"*.gc?? "$TMP/ring"

here=$top_srcdir/tests/model
# compare FOLDER FILES NAME DIRECTORY [OPTION]: what the counters below the directory show about these sources.
compare()
{
	local files

	mapfile -t files < <(cd "$top_srcdir/librecorder/$1" && compgen -G "$2")
	# shellcheck disable=SC2086
	python3 "$here/coverage.py" ${5-} "$gcov" "$here/unreached" "${files[@]}" -- "$3=$4" >"$TMP/result"
	is "$3: the counters are read" $? 0
	diag "$(<"$TMP/result")"
	is "$3: each file was compiled with counters" "$(grep -c '^reached [a-z_]*\.c: [1-9]' "$TMP/result")" "${#files[@]}"
	is "$3: nothing is out of reach that is not listed" "$(sed -n 's/^new //p' "$TMP/result")" ""
	is "$3: nothing is listed that is reached, or is not there" "$(sed -n 's/^stale //p' "$TMP/result")" ""
}

compare ring 'ring*.c' model "$TMP/ring"
compare process 'lane*.c' lanes "$TMP/model/lanes" -f
done_testing
