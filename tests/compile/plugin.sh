#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Plugins: events in objects that are loaded and unloaded while other threads write; librecorder in a plugin alone, in a
# program that does not know it, with threads that are older than the plugin; two copies of the library in one process.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
shared=$top_builddir/.libs/librecorder.so

# The event is in two plugins: it is one event, whichever plugin is loaded.
cat >plugin.c <<'END'
#include <librecorder/event.h>
REC_EVENT(plugin, work, u64(number));
void work(uint64_t number);
void work(uint64_t number)
{
	REC(plugin, work, number);
}
END

# ROUNDS times: two plugins are loaded, each local to itself, called by all threads, and unloaded.
cat >host.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef KNOWS
#include <librecorder/event.h>
REC_EVENT(host, round, u64(number));
#endif
#define THREADS 3
static pthread_barrier_t begun, done;
static void (*work[2])(uint64_t);
static uint64_t rounds, round_number;
static void *call(void *arg)
{
	for (uint64_t i = 0; i < rounds; i++) {
		pthread_barrier_wait(&begun);
		for (int plugin = 0; plugin < 2; plugin++)
			work[plugin]((i * THREADS + (uint64_t)(size_t)arg) * 2 + (uint64_t)plugin);
		pthread_barrier_wait(&done);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	void *plugins[2];
	if (argc != 4)
		return 2;
	rounds = strtoull(argv[1], NULL, 10);
	pthread_barrier_init(&begun, NULL, THREADS + 1);
	pthread_barrier_init(&done, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call, (void *)i))
			return 1;
	for (uint64_t i = 0; i < rounds; i++) {
		for (int plugin = 0; plugin < 2; plugin++) {
			plugins[plugin] = dlopen(argv[2 + plugin], RTLD_NOW | RTLD_LOCAL);
			if (!plugins[plugin]) {
				fprintf(stderr, "%s\n", dlerror());
				return 1;
			}
			work[plugin] = (void (*)(uint64_t))dlsym(plugins[plugin], "work");
		}
#ifdef KNOWS
		REC(host, round, i);
#endif
		pthread_barrier_wait(&begun);
		pthread_barrier_wait(&done);
		dlclose(plugins[0]);
		dlclose(plugins[1]);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END

if [ ! -e "$shared" ]; then
	skip_all "no shared library was built"
fi
# shellcheck disable=SC2086
compile()
{
	local out=$1

	shift
	ok "compile $out" $CC $CFLAGS_FOR_TEST -o "$out" "$@" -lpthread -ldl
}

compile shared1.so -shared -fPIC plugin.c "$shared" -Wl,-rpath,"$top_builddir/.libs"
cp shared1.so shared2.so
compile static1.so -shared -fPIC plugin.c "$top_builddir/.libs/librecorder.a" -Wl,-z,nodelete
cp static1.so static2.so
compile gone1.so -shared -fPIC plugin.c "$top_builddir/.libs/librecorder.a"
cp gone1.so gone2.so
compile stranger host.c
compile linked -DKNOWS host.c "$shared" -Wl,-rpath,"$top_builddir/.libs"
compile linked-static -DKNOWS host.c "$top_builddir/.libs/librecorder.a" -rdynamic

# A host with plugins under the recorder; $1 host, $2 plugins, $3 how many host events.
rounds=40
recorded()
{
	ok "$1 with $2" "$RECORDER" record -o "$1-$2.dat" "./$1" $rounds "./${2}1.so" "./${2}2.so"
	like "$1 with $2: nothing is lost" "$err" "; 0 lost"
	is "$1 with $2: every number of the plugins once" \
		"$("$RECORDER" report "$1-$2.dat" | sed -n 's/.* work: .*number=//p' | sort -n | awk '$1 != NR - 1 { wrong++ } END { print NR, wrong + 0 }')" \
		"$((rounds * 6)) 0"
	is "$1 with $2: the host's" "$("$RECORDER" report "$1-$2.dat" | grep -c ' round: ')" "$3"
}

recorded stranger shared 0
recorded linked shared $rounds
# A copy in each plugin, and one in the host: each makes a buffer of its own, and none removes another's.
recorded stranger static 0
recorded linked static $rounds
recorded linked-static static $rounds
# A copy that is unloaded with its plugin leaves nothing that points into it.
ok "a copy that is unloaded" env RECORDER_ENABLE="*" ./stranger 3 ./gone1.so ./gone2.so
is "leaves nothing" "$(find "$RECORDER_DIR" -name '*.rec' | wc -l)" 0

done_testing
