#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export --folded: each stack has the time that report's lines give for it.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
. "$top_srcdir/tests/export/meaning.bash"

ok "export" "$RECORDER" export --folded meaning.dat
sort .out >folded
# The own time of each stack, computed from the times of the lines: the time between two lines of a thread belongs to
# the spans that are open then. A span whose begin was not seen is open from the first event on.
"$RECORDER" report -t meaning.dat | sed -nE 's/^ *([a-z]+)-[0-9]+ .* ([0-9]+)\.([0-9]{9}): ([a-z_]+): *(.*)$/\1 \2\3 \4 \5/p' |
	awk '{
		ts = $2
		if (!first) first = ts
		# The last line of each thread ends its open time; the trace ends with the last line of all.
		if (depth[$1] > 0) own[stack[$1, depth[$1]]] += ts - last[$1]
		last[$1] = ts; thread[$1]
		end = ts
		if ($3 ~ /^(request|step)_begin$/) {
			name = $3; sub(/_begin/, "", name)
			stack[$1, depth[$1] + 1] = (depth[$1] ? stack[$1, depth[$1]] : $1) ";io:" name
			depth[$1]++
		} else if ($3 ~ /^(request|step)_end$/) {
			name = $3; sub(/_end/, "", name)
			if (!depth[$1]) own[$1 ";io:" name] += ts - first
			# The end of an outer span cuts the inner ones.
			while (depth[$1] && stack[$1, depth[$1]] !~ (";io:" name "$")) depth[$1]--
			if (depth[$1]) depth[$1]--
		} else if ($3 == "flush") {
			sub(/dur=/, "", $4)
			own[$1 ";disk:flush"] += $4
		}
	}
	END {
		for (t in thread) if (depth[t] > 0) own[stack[t, depth[t]]] += end - last[t]
		for (s in own) if (own[s]) printf "%s %.0f\n", s, own[s]
	}' | sort >expected
ok "there are stacks" grep -q '^meaning;io:request;io:step;io:step ' folded
ok "a thread by its name" grep -q '^server;io:request ' folded
ok "the times are those of the lines" diff folded expected
unlike "keyed spans are in no stack" "$(<folded)" rpc

# ---- more names than the export keeps

cat >many.c <<'END'
#include <librecorder/event.h>
#include <librecorder/span.h>
#include <stdio.h>
#include <unistd.h>
REC_TIMED(io, part, u64(n));
int main(void)
{
	for (unsigned int i = 0; i < 70000; i++) {
		const uint64_t start = REC_TIMED_START(io, part);

		REC_TIMED_END(io, part, start, i);
	}
	return printf("%d\n", (int)gettid()) < 0;
}
END
# shellcheck disable=SC2086
ok "very many spans: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST many.c $LDADD_FOR_TEST -o many
run "$RECORDER" record -q --compression none -o many.dat ./many
is "record" "$status$err" 0
# Each span gets a thread of its own, without a name.
ok "on as many threads" python3 -c '
import itertools, re, struct, sys
data = open("many.dat", "rb").read()
[number] = re.findall(rb"name: part\nID: (\d+)\n", data)
numbers = itertools.count(1000000)
begin = re.escape(struct.pack("<H", int(number))) + rb"(..)" + re.escape(struct.pack("<i", int(sys.argv[1])))
data, nr = re.subn(begin, lambda found: found[0][:4] + struct.pack("<i", next(numbers)), data, flags=re.DOTALL)
assert nr == 70000, nr
open("many.dat", "wb").write(data)' "$out"
ok "export" "$RECORDER" export --folded many.dat -o many.folded
is "as one name they have the rest of the time" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' many.folded)" \
	"$("$RECORDER" sql --list many.dat 'SELECT sum(own) FROM spans')"
is "there is one such line" "$(grep -c '^(other);io:part ' many.folded)" 1
ok "the others are as they are" test "$(grep -c '^[0-9<].*;io:part ' many.folded)" -gt 60000

done_testing
