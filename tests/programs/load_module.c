/* SPDX-License-Identifier: MIT */
/* load_module FILE: loads a module, which must not depend on another. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0)) {
		perror("load_module");
		return 1;
	}
	return 0;
}
