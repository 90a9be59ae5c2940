/* SPDX-License-Identifier: MIT */
/* Names and numbers of the system calls of this machine, from the headers with which the command was built. */
#ifndef FORMAT_SYSCALL_NAMES_H
#define FORMAT_SYSCALL_NAMES_H

#include <stdint.h>

/* "read". NULL: there is no such call. */
const char *syscall_name(int64_t number);

/* The number of "read"; -1: there is no such call. */
int64_t syscall_number(const char *name);

#endif
