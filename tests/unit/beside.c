/* SPDX-License-Identifier: MIT */
#include "beside.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

void *beside_memory(size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(map, MAP_FAILED);
	return map;
}

pid_t beside_run(void (*run)(void *data), void *data)
{
	const pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(data);
		_exit(0);
	}
	return pid;
}
