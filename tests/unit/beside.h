/* SPDX-License-Identifier: MIT */
/* A process in addition to the test's own, and memory that both share. */
#ifndef BESIDE_H
#define BESIDE_H

#include <stddef.h>
#include <sys/types.h>

/* Filled with zeros. */
void *beside_memory(size_t size);

/* A child that does `run` and exits with _exit(); it does not outlive the test. */
pid_t beside_run(void (*run)(void *data), void *data);

#endif
