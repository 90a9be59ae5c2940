#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs built in unusual ways, with the library unchanged: sanitizers, which must not complain about it, other levels
# of optimisation, link-time optimisation, control-flow protection, static-pie; and exceptions thrown through an event.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
read -ra cflags <<<"$CFLAGS_FOR_TEST"
read -ra library <<<"$LDADD_FOR_TEST"

cat >program.cc <<'END'
#include <librecorder/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

REC_EVENT(build, number, u64(number), string(text), real(half, 1));
REC_EVENT(build, late, s32(n));

static void on_signal(int sig)
{
	REC(build, late, sig);
}

static void *trace(void *arg)
{
	for (unsigned i = 0; i < 500; i++) {
		REC(build, number, i, i % 2 ? "odd" : "even", i / 2.0);
		if (i % 100 == 0)
			rec_printf("at %u of %s", i, "them");
	}
	raise(SIGUSR1);
	return arg;
}

#ifdef __cplusplus
static int thrown(int n)
{
	if (n % 2)
		throw n;
	return n;
}

static void trace_exceptions(void)
{
	for (int i = 0; i < 10; i++) {
		try {
			REC(build, late, thrown(i));
		} catch (int n) {
			REC(build, late, n);
		}
	}
}
#endif

int main(void)
{
	pthread_t threads[3];

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, trace, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
#ifdef __cplusplus
	trace_exceptions();
#endif
	return 0;
}
END
cp program.cc program.c

# works NAME NUMBER: the program prints nothing, and has written NUMBER events; nothing is torn.
works()
{
	ok "$1 works" "$RECORDER" record -o file.dat -- ./program
	like "and records all" "$err" "recorded $2 events from 1 process, [0-9]+ threads; 0 lost"
	unlike "and nothing else is printed" "$err" "Sanitizer|runtime error|torn"
}

for flags in -O0 -O3 "-O2 -flto" "-O2 -fcf-protection=full" "-O2 -static-pie" \
	"-Os -ffunction-sections -fdata-sections -Wl,--gc-sections" \
	"-O1 -fsanitize=address" "-O1 -fsanitize=thread" "-O1 -fsanitize=undefined"; do
	read -ra words <<<"$flags"
	ok "$flags builds" "$CC" -std=gnu11 -g "${words[@]}" "${cflags[@]}" -o program program.c "${library[@]}" -lpthread
	works "$flags" 1518
done
for flags in -O0 -O2 "-O2 -fno-plt -flto" "-O1 -fsanitize=address" "-O1 -fsanitize=thread"; do
	read -ra words <<<"$flags"
	ok "C++ $flags builds" "$CXX" -std=c++17 -g "${words[@]}" "${cflags[@]}" -o program program.cc "${library[@]}" -lpthread
	works "exceptions, $flags" 1528
done

done_testing
