/* SPDX-License-Identifier: MIT */
/*
 * The rules of recorder verify on a bad file, for tests/host/suspects.sh, which counts the instructions:
 *
 *	suspects new N		while CPU 0 stands still, N new threads run on CPU 1, each without having been woken
 *	suspects sleeping N	while CPU 0 stands still, one thread runs on CPU 1 N times without having been woken
 *	suspects woken N	the same, but it was woken each time
 *
 * Standard output: "# " and each violation; at the end the number of threads that run without having been woken.
 */
#include "tests/unit/verify_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is counted. The linker must not rename them. */
__attribute__((noinline, used)) void add_suspects(int32_t threads);
__attribute__((noinline, used)) void run_often(uint64_t times, bool woken);

void add_suspects(int32_t threads)
{
	for (int32_t i = 0; i < threads; i++) {
		of(ID_FORK, 1, 200 + 2 * (uint64_t)i, 1000 + i);
		sw(1, 201 + 2 * (uint64_t)i, i ? 999 + i : 0, R, 1000 + i);
	}
	end_idle(5, 999 + threads);
}

void run_often(uint64_t times, bool woken)
{
	for (uint64_t ts = 200; ts < 200 + 4 * times; ts += 4) {
		of(woken ? ID_WAKING : ID_OTHER, 1, ts, 9);
		sw(1, ts + 1, 0, R, 9);
		sw(1, ts + 2, 9, S, 0);
	}
}

static void run_one_thread(uint64_t times, bool woken)
{
	of(ID_WAKING, 1, 150, 9);
	sw(1, 151, 0, R, 9);
	sw(1, 152, 9, S, 0);
	run_often(times, woken);
	/* A loss since 105 explains all suspicions. */
	lost_before = 1;
	sw(0, 300 + 4 * times, 6, S, 0);
	end_idle(0, 0);
}

int main(int argc, char **argv)
{
	const uint64_t nr = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (!nr)
		return 2;
	if (strcmp(argv[1], "new") && strcmp(argv[1], "sleeping") && strcmp(argv[1], "woken"))
		return 2;
	begin_running();
	if (!strcmp(argv[1], "new")) {
		of(ID_NEW, 1, 150, 999);
		add_suspects((int32_t)nr);
	} else {
		run_one_thread(nr, !strcmp(argv[1], "woken"));
	}
	finish();
	printf("%llu violations\n", (unsigned long long)figures.of_kind[VERIFY_NOT_WOKEN]);
	return 0;
}
