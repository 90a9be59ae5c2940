#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view --serve: a page of a recording that is running, on the loopback interface, for those that have its token.
# The recording and its program do not notice.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/ticker" "$top_srcdir/tests/view/ticker.c" $LDADD_FOR_TEST -lpthread || exit 99
cd "$TMP" || exit 1

mkfifo letters
"$RECORDER" record -o ticks.dat ./ticker <letters 2>summary &
recording=$!
"$RECORDER" view --serve >address 2>errors &
server=$!
wait_until test -s address
like "it prints an address with a token" "$(<address)" '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$'

while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/serve.py" "$(<address)" letters 2>&1 || echo "not ok it ends")

wait "$recording"
is "the recording ends as always" "$?" 0
like "it has every event" "$(<summary)" 'recorded 140 events from 1 process, 1 thread; 0 lost'
kill -INT "$server"
wait "$server"
is "SIGINT ends the server" "$?" 0
is "it reports nothing" "$(<errors)" ""
is "it leaves nothing" "$(find /dev/shm -maxdepth 1 -name "recorder-view-$server-*")" ""

# ---- command lines

for address in 0.0.0.0:0 192.168.1.1:80 example.org:80 127.0.0.1 127.0.0.1:99999 127.0.0.1:x '[::]:0'; do
	fails "--serve $address" "$RECORDER" view --serve "$address"
	like "is refused, with the reason" "$err" "'${address//[/\\[}' is not ADDR:PORT with an address of the loopback"
done
fails "--serve with -o" "$RECORDER" view --serve -o x.html
is "is a wrong command line" "$status" 2
fails "-P without --serve" "$RECORDER" view -P 1
like "names it" "$err" '-P needs --serve'

# ---- a thread that writes without a pause, and many that wait

cat >busy.c <<'END'
#include <librecorder/event.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define IDLE 40
REC_EVENT(busy, idle, u32(number));
REC_EVENT(busy, step, u64(number));
static pthread_barrier_t ready;
static void *wait_idle(void *unused)
{
	(void)unused;
	REC(busy, idle, 0);
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return NULL;
}
int main(int argc, char **argv)
{
	const uint64_t end = argc > 1 ? strtoull(argv[1], NULL, 10) : UINT64_MAX;
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, IDLE + 1);
	for (int i = 0; i < IDLE; i++)
		if (pthread_create(&thread, NULL, wait_idle, NULL))
			return 1;
	pthread_barrier_wait(&ready);
	for (uint64_t number = 0; number < end; number++)
		REC(busy, step, number);
	for (;;)
		pause();
}
END
# events ADDRESS: the numbers of events in 20 pictures, as words
cat >events.py <<'END'
import json, struct, sys, urllib.request, zlib
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for _ in range(20):
    answer, at = opener.open(sys.argv[1] + "data", timeout=120).read(), 0
    while at < len(answer):
        (size,) = struct.unpack_from("<I", answer, at)
        block, at = answer[at + 4:at + 4 + size], at + 4 + size
    print(json.loads(zlib.decompress(block))["events"] if answer else 0, end=" ")
END
# shellcheck disable=SC2086
ok "compile" $CC $CFLAGS_FOR_TEST -o busy busy.c $LDADD_FOR_TEST -lpthread
# start_busy VARIABLE=VALUE... COMMAND...: a program that runs busy, where each thread has a lane of its own, and its page
start_busy()
{
	rm -f address
	env RECORDER_ENABLE='busy:*' RECORDER_MAX_KB=131072 "$@" &
	busy=$!
	"$RECORDER" view --serve -P "$busy" >address 2>errors &
	server=$!
	wait_until test -s address
}
end_busy()
{
	kill -INT "$server"
	wait "$server"
	kill -KILL "$busy"
	wait "$busy" 2>/dev/null
}
start_busy RECORDER_BUFFER_KB=2048 ./busy
wait_until eval '"$RECORDER" stat -P "$busy" | grep -q "^overrun: [1-9]"'
ok "pictures of it" python3 -B events.py "$(<address)"
diag "$out"
# An event has 20 bytes. If the writer is faster than a copy, because the server had to wait for a CPU, a picture has fewer
# events.
large=$(tr ' ' '\n' <<<"$out" | awk '$1 >= 1600' | wc -l)
ok "most have half of the 3200 events in 64 KiB, or more" test "$large" -gt 10
end_busy

# A sub-buffer has some 6550 of these events, so the last one has some 50.
start_busy RECORDER_BUFFER_KB=512 RECORDER_SUBBUF_KB=128 ./busy 6600
wait_until eval '"$RECORDER" stat -P "$busy" | grep -q "^entries: 6600$"'
ok "pictures of large sub-buffers" python3 -B events.py "$(<address)"
is "have 64 KiB, too" "$(tr ' ' '\n' <<<"$out" | awk '$1 != "" && $1 < 3200' | wc -l)" 0
end_busy

# ---- the port that clients leave out of their header Host

cat >port.py <<'END'
import signal, subprocess, sys, urllib.request
server = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
address = server.stdout.readline().strip()
print(address)
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for path in "", "data":
    print(opener.open(address + path, timeout=60).status)
server.send_signal(signal.SIGINT)
print(server.wait())
END
if unshare -rn ip link set lo up 2>/dev/null; then
	ok "--serve 127.0.0.1:80" unshare -rn sh -c 'ip link set lo up && exec "$@"' - timeout 120 \
		python3 -B port.py "$RECORDER" view --serve 127.0.0.1:80
	like "answers to the address that it prints" "$out" $'^http://127\\.0\\.0\\.1/[0-9a-f]{32}/\n200\n204\n0$'
else
	skip "port 80" "no network namespace may be made here"
fi

# ---- a directory that is not there

# The status of an answer with the data.
data_of()
{
	python3 -B -c 'import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
print(opener.open(sys.argv[1] + "data", timeout=60).status)' "$1"
}

fails "--dir with a directory that does not exist" timeout 60 "$RECORDER" view --serve --dir nosuch
is "is a failure, with one line" "$status$err" "1recorder view: cannot use the directory 'nosuch': No such file or directory"
mkdir -m 700 container
rm -f address
"$RECORDER" view --serve --dir container >address 2>errors &
server=$!
wait_until test -s address
is "a directory without programs has no events" "$(data_of "$(<address)")" 204
rmdir container
is "nor one that was removed" "$(data_of "$(<address)") $(data_of "$(<address)")" "204 204"
is "which is reported once" "$(<errors)" "recorder view: cannot use the directory 'container': No such file or directory"
mkdir -m 700 container
is "it may come back" "$(data_of "$(<address)")" 204
rmdir container
is "and go again" "$(data_of "$(<address)")" 204
is "which is reported, too" "$(wc -l <errors)" 2
kill -INT "$server"
wait "$server"

done_testing
