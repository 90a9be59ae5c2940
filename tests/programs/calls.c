/* SPDX-License-Identifier: MIT */
/*
 * calls NUMBER
 *
 * Makes NUMBER system calls getppid(), whose first argument, which getppid() ignores, counts them from 0: the kernel's
 * raw_syscalls:sys_enter shows it. NUMBER 0: until it is killed. Prints the system call's number first of all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	printf("%d\n", (int)SYS_getppid);
	fflush(stdout);
	for (unsigned long i = 0; (argc > 1 && !nr) || i < nr; i++)
		syscall(SYS_getppid, i);
	return 0;
}
