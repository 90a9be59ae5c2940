#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every line of the ring is reached by some configuration of the model, except those that tests/model/unreached lists,
# each with a reason: the ring's sources are compiled with gcov's counters, and each configuration explores MODEL_STATES
# states at most (20,000). Prints all lines that were not reached. The test also fails if the list names a line that is
# reached or does not exist any more.
. "$top_srcdir/tests/tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the checker switches stacks on x86-64 only"
case $("${CC:-gcc}" --version) in
*clang*) skip_all "gcov reads the counters of gcc alone" ;;
esac
gcov=gcov-$("${CC:-gcc}" -dumpversion)
type "$gcov" >/dev/null 2>&1 || gcov=gcov
type "$gcov" >/dev/null 2>&1 || skip_all "gcov is not installed"

COVERAGE=yes bash "$top_srcdir/tests/model/build.sh" "$top_srcdir" "$TMP/model" || exit 1
mapfile -t names < <("$TMP/model/model" -a -l)
workers=$(nproc)
for name in "${names[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do
		wait -n
	done
	"$TMP/model/model" -n "${MODEL_STATES-20000}" "$name" >"$TMP/$name.out" 2>&1 &
done
wait
for name in "${names[@]}"; do
	grep -q '^ok 1 - ' "$TMP/$name.out" || fail "$name: $(grep '^#' "$TMP/$name.out" | head -n 1)"
done

here=$top_srcdir/tests/model
mapfile -t files < <(cd "$top_srcdir/librecorder/ring" && printf '%s\n' ring*.c)
ok "the counters are read" \
	eval 'python3 "$here/coverage.py" "$gcov" "$here/unreached" "${files[@]}" -- "model=$TMP/model" >"$TMP/result"'
diag "$(<"$TMP/result")"
is "each file was compiled with counters" "$(grep -c '^reached [a-z_]*\.c: [1-9]' "$TMP/result")" "${#files[@]}"
is "nothing is out of reach that is not listed" "$(sed -n 's/^new //p' "$TMP/result")" ""
is "nothing is listed that is reached, or is not there" "$(sed -n 's/^stale //p' "$TMP/result")" ""
done_testing
