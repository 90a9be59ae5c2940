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

done_testing
