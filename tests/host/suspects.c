/* SPDX-License-Identifier: MIT */
/*
 * The rules of recorder verify on a bad file, for tests/host/suspects.sh, which counts the instructions:
 *
 *	suspects N	while CPU 0 stands still, N new threads run on CPU 1, each without having been woken
 *
 * Standard output: "# " and each violation, and their number.
 */
#include "tests/unit/verify_fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* What is counted. The linker must not rename it. */
__attribute__((noinline, used)) void add_suspects(int32_t threads);

void add_suspects(int32_t threads)
{
	for (int32_t i = 0; i < threads; i++) {
		of(ID_FORK, 1, 200 + 2 * (uint64_t)i, 1000 + i);
		sw(1, 201 + 2 * (uint64_t)i, i ? 999 + i : 0, R, 1000 + i);
	}
	end_idle(5, 999 + threads);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	begin_running();
	of(ID_NEW, 1, 150, 999);
	add_suspects((int32_t)strtol(argv[1], NULL, 10));
	finish();
	printf("%llu threads\n", (unsigned long long)figures.of_kind[VERIFY_NOT_WOKEN]);
	return 0;
}
