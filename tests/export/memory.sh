#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The memory of recorder export and recorder report --spans is bounded: a recording with very many flows, and with very
# many spans that never end, is read within a limit that all of them together would exceed.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
nr=600000
known=262144 # MODEL_KNOWN_MAX
cat >many.c <<'END'
#include <librecorder/event.h>

REC_SPAN_KEYED(many, begun, key(u64(id)), u64(more), flow(cause));

int main(void)
{
	for (uint64_t i = 1; i <= NR; i++)
		REC_BEGIN(many, begun, i, ~i, i << 20);
	return 0;
}
END
# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE -DNR=$nr $CFLAGS_FOR_TEST -pthread -o many many.c $LDADD_FOR_TEST
ok "record" env RECORDER_BUFFER_KB=65536 "$RECORDER" record -q -o many.dat ./many

# limited COMMAND...: with 160 MB of address space
limited()
{
	(
		ulimit -v 163840
		exec "$@"
	)
}
ok "--folded" limited "$RECORDER" export --folded many.dat -o many.folded
ok "--chrome" limited "$RECORDER" export --chrome many.dat -o many.json
ok "--perfetto" limited "$RECORDER" export --perfetto many.dat -o many.pftrace
ok "report --spans" limited "$RECORDER" report --spans many.dat
cp .out spans
is "spans beyond the limit are cut, the others are open" \
	"$(grep -c '; cut: end not seen \*/' spans) $(grep -c '; end not seen \*/' spans)" "$((nr - known)) $known"

# Every other command that uses the spans reports this, too.
given_up()
{
	"$RECORDER" "$@" >.out 2>.err
	like "$1: the spans that are given up are counted" "$(<.err)" \
		"recorder $1: many.dat: the ends of $((nr - known)) spans and states were not awaited: too many were open"
}
given_up latency many.dat many:begun
given_up top many.dat
given_up why many.dat --span many:begun --slowest 1
given_up diff many.dat many.dat
given_up assert many.dat 'count(latency(many:begun)) > 0'
given_up sql many.dat 'SELECT count(*) FROM spans'

# More keys of states than are kept, and than Perfetto's tables hold.
cat >keys.c <<'END'
#include <librecorder/event.h>

enum { OPEN, CLOSED };

REC_STATE(conn, state, key(u64(id)), named(value, OPEN, CLOSED));

int main(void)
{
	for (uint64_t i = 1; i <= NR; i++)
		REC(conn, state, i, OPEN);
	return 0;
}
END
nr=$((known + 10000))
# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE -DNR=$nr $CFLAGS_FOR_TEST -pthread -o keys keys.c $LDADD_FOR_TEST
ok "record" env RECORDER_BUFFER_KB=65536 "$RECORDER" record -q -o keys.dat ./keys
for format in chrome perfetto; do
	ok "--$format of states" limited "$RECORDER" export --$format keys.dat -o keys.$format
	like "the states that are given up are counted" "$(<.err)" \
		"^recorder export: keys.dat: the ends of 10000 spans and states were not awaited: too many were open$"
done
is "no state is left out" "$(grep -c '"ph":"b"' keys.chrome)" "$nr"

done_testing
