#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# rec_context_set(): each event in the report's JSON has the values of its thread, also in a snapshot of a ring that was
# overwritten; the table contexts has them in SQL.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/sql_python.sh"
cd "$TMP" || exit 1

library=$top_builddir/.libs/librecorder.so
[ -e "$library" ] || skip_all "built without the shared library"
export RECORDER_DIR=$TMP/buffers
mkdir "$RECORDER_DIR"

# Two threads handle requests, one after another. The fields of each event have the values that its context must have.
cat >server.c <<'END'
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

REC_EVENT(server, step, string(trace), string(tenant));

static int requests, events;
static pthread_barrier_t done;

static void *serve(void *arg)
{
	char trace[32];

	pthread_setname_np(pthread_self(), arg);
	rec_context_set("tenant", arg);
	for (int i = 0; i < requests; i++) {
		snprintf(trace, sizeof(trace), "%s-%d", (const char *)arg, i);
		rec_context_set("trace_id", trace);
		for (int n = 0; n < events; n++)
			REC(server, step, trace, arg);
	}
	rec_context_set("trace_id", NULL);
	REC(server, step, "", arg);
	pthread_barrier_wait(&done);
	if (requests == 1)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	FILE *pid = fopen("pid", "w");

	if (argc < 3 || !pid || fprintf(pid, "%d\n", getpid()) < 0 || fclose(pid))
		return 2;
	requests = atoi(argv[1]);
	events = atoi(argv[2]);
	pthread_barrier_init(&done, NULL, 3);
	if (argc > 3)
		rec_context_set(argv[3], "any");
	REC(server, step, "", "");
	pthread_create(&threads[0], NULL, serve, "red");
	pthread_create(&threads[1], NULL, serve, "blue");
	pthread_barrier_wait(&done);
	if (requests == 1)
		fclose(fopen("ready", "w"));
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
END
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -std=gnu11 server.c -o server "$library" -pthread -Wl,-rpath,"${library%/*}" 2>"$TMP/cc" || cat "$TMP/cc"

# judge FILE: the number of events, and the number of those whose context differs from their fields
judge()
{
	"$RECORDER" report --json "$1" | python3 -c '
import json, sys
events = wrong = 0
for line in sys.stdin:
	one = json.loads(line)
	if one.get("event") != "step":
		continue
	fields, context = one["fields"], one.get("context", {})
	events += 1
	wrong += context.get("trace_id", "") != fields["trace"] or context.get("tenant", "") != fields["tenant"]
print(events, wrong)'
}

ok "a server is recorded" "$RECORDER" record -o all.dat ./server 3 4
is "each of its events has its context" "$(judge all.dat)" "27 0"

# The process of each thread, beside its name.
"$RECORDER" report --json all.dat >all.json
"$RECORDER" report --csv all.dat >all.csv
cat >processes.py <<'END'
import collections, csv, json

def count(events):
    found = collections.Counter((one["comm"], one.get("process"), one.get("tgid")) for one in events
                                if one.get("event") == "step")
    return " ".join(f"{nr}*{comm}:{process}-{tgid}" for (comm, process, tgid), nr in sorted(found.items(), key=str))

print(count(json.loads(line) for line in open("all.json")))
print(count(csv.DictReader(open("all.csv"))))
END
threads="1*server:server-PID 13*blue:server-PID 13*red:server-PID"
run python3 processes.py
is "JSON and CSV have the process of each thread" "$(tr ' ' '\n' <<<"$out" | sort | tr '\n' ' ')" \
	"$(for _ in json csv; do tr ' ' '\n' <<<"${threads//PID/$(cat pid)}"; done | sort | tr '\n' ' ')"

# Exported events have their contexts, too.
ok "it is exported" "$RECORDER" export --chrome all.dat -o all.json
is "each event of Chrome's format has its context" "$(python3 - <<'END'
import json
steps = wrong = 0
for event in json.load(open("all.json"))["traceEvents"]:
    args = event["args"]
    if event["name"] == "step":
        steps += 1
        wrong += args.get("context.trace_id", "") != args["trace"] or args.get("context.tenant", "") != args["tenant"]
print(steps, wrong)
END
)" "27 0"
ok "and to Perfetto" "$RECORDER" export --perfetto all.dat -o all.pftrace
is "with the same names and values" "$(python3 - <<'END'
import re, zlib
data, text, at = open("all.pftrace", "rb").read(), b"", 0
# Packets are compressed in groups.
while (at := data.find(b"\x78", at)) >= 0:
    try:
        text += zlib.decompressobj().decompress(data[at:])
    except zlib.error:
        pass
    at += 1
print(*sorted({found.decode() for found in re.findall(rb"context\.[a-z_]+", text)}))
END
)" "context.tenant context.trace_id"

# Filters can compare values of the context, which are not in the record. The event's own field tenant takes precedence.
counted()
{
	"$RECORDER" report -F "$1" all.dat | grep -c ' step: '
}
is "a filter selects a request" "$(counted 'server:step if trace_id == "red-1"')" 4
is "or several, by a pattern" "$(counted 'server:step if trace_id ~ "blue-*" && trace_id != "blue-0"')" 8
is "or events of no request" "$(counted 'server:step if trace_id == ""')" 3
is "filters without patterns, too" "$(counted 'trace_id == "red-1" && tenant == "red"')" 4
is "a process by its name" "$(counted 'server:step if process == "server" && comm == "red"')" 13
is "and by its number" "$(counted "server:step if tgid == $(cat pid)") $(counted "server:step if tgid != $(cat pid)")" "27 0"
is "hist, too" "$("$RECORDER" hist all.dat -e 'server:step if trace_id == "red-1"' -k tenant | grep -c 'hitcount: *4$')" 1
for key in cpu comm tgid; do
	ok "a key has the name of a field of any event: $key" "$RECORDER" record -o "$key.dat" ./server 3 4 "$key"
	filter='server:step if trace_id == "red-1" && cpu < 65536 && comm == "red" && tgid > 0'
	is "the field takes precedence" "$("$RECORDER" report -F "$filter" "$key.dat" | grep -c ' step: ')" 4
done
fails "a key that the file does not have" "$RECORDER" report -F 'server:step if trace_ids == "red-1"' all.dat
like "is an error" "$err" "none of these events has a field 'trace_ids' \(column 16\)"

fails "a key while the file is written" "$RECORDER" report --follow -F 'server:step if trace_id == "red-1"' all.dat
like "is one, too" "$err" "none of these events has a field 'trace_id'"

is "SQL has each value once" "$("$RECORDER" sql --list all.dat "SELECT group_concat(value, ' ') FROM
	(SELECT value FROM contexts ORDER BY key, value)" | tail -n 1)" "blue red blue-0 blue-1 blue-2 red-0 red-1 red-2"
is "for as long as it holds" "$("$RECORDER" sql --list all.dat "SELECT count(*) FROM step s JOIN contexts c ON c.key = 'trace_id' AND
	c.tid = s._tid AND s._ts >= c.ts AND s._ts < c.ts + c.dur WHERE c.value = s.trace" | tail -n 1)" 24
unlike "an event of a thread without values has none" \
	"$("$RECORDER" report --json all.dat | grep '"event":"step"' | head -n 1)" '"context"'

if [ -e "$extension" ] && [ "$python" ]; then
	ok "a server with many requests" env RECORDER_BUFFER_KB=16384 "$RECORDER" record -q -o many.dat ./server 10000 0
	is "sqlite3_interrupt() ends a scan of them" "$(interrupted many.dat contexts)" $'contexts interrupted\n1'
else
	skip "sqlite3_interrupt() ends a scan of them" "the extension of SQLite, or a Python that loads it, is missing"
fi

# Changes the id in the format of the context's events. The print format is shortened, so the text keeps its length.
for id in 99999999 4294967295; do
	python3 - "$id" <<'END'
import re, sys
data = open("all.dat", "rb").read()
at = re.search(rb"name: context\nID: (\d+)\n(.*?print fmt: )([^\n]+)", data, re.DOTALL)
more = len(sys.argv[1]) - len(at[1])
text = b"name: context\nID: " + sys.argv[1].encode() + b"\n" + at[2] + at[3][:-more]
assert len(text) == len(at[0])
open("id.dat", "wb").write(data[:at.start()] + text + data[at.end():])
END
	run "$RECORDER" report --json id.dat
	is "a context's event with the number $id: no event has a context" "$status $(grep -c '"context":{' <<<"$out")" "0 0"
	run "$RECORDER" sql --list id.dat "SELECT count(*) FROM contexts"
	is "nor in SQL" "$status $(tail -n 1 <<<"$out")" "0 0"
done

# A flight recorder: rings of 64 KB, of which the beginning, where the values were set, is overwritten.
RECORDER_ENABLE='*' RECORDER_BUFFER_KB=64 ./server 1 20000 &
server=$!
ok "a server writes more than its rings hold" wait_until test -e ready
ok "its rings are taken" "$RECORDER" snapshot -o ring.dat -P $server
kill $server
wait $server 2>/dev/null
read -r events wrong <<<"$(judge ring.dat)"
ok "its rings were overwritten" test "$events" -gt 200 -a "$events" -lt 20000
is "each event that is left has its context" "$wrong" 0

done_testing
