/* SPDX-License-Identifier: MIT */
/* For bench_start: only allocates, as every program does. */
#include <stdlib.h>

int main(void)
{
	char *volatile memory = malloc(1);

	free(memory);
	return 0;
}
