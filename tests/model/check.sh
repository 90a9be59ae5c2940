#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The model checker, all configurations but the long ones; with MODEL=all those too, which takes minutes.
. "$top_srcdir/tests/tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "the checker switches stacks on x86-64 only"
bash "$top_srcdir/tests/model/build.sh" "$top_srcdir" "$TMP/model" || exit 1

# Each configuration is a process of its own, so that they share the CPUs; the order of the results stays.
workers=$(nproc)
options=()
[ "${MODEL-}" != all ] || options=(-a)
mapfile -t names < <("$TMP/model/model" "${options[@]}" -l)
for name in "${names[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$workers" ]; do
		wait -n
	done
	"$TMP/model/model" "$name" >"$TMP/$name.out" 2>&1 &
done
wait
for name in "${names[@]}"; do
	# What led to it; also says so when the checker itself died.
	grep -q '^ok 1 - ' "$TMP/$name.out" || "$TMP/model/model" -v "$name" 2>&1 | grep -v '^ok\|^not ok\|^1\.\.' | tail -n 400
	line=$(sed -n 's/^\(ok\|not ok\) 1 - //p' "$TMP/$name.out")
	if grep -q '^ok 1 - ' "$TMP/$name.out"; then pass "$line"; else fail "${line:-$name died}"; fi
done
done_testing
