/* SPDX-License-Identifier: MIT */
/* A process beside the test's own, and memory that both have. */
#ifndef BESIDE_H
#define BESIDE_H

#include <stddef.h>
#include <sys/types.h>

/* Zeros. */
void *beside_memory(size_t size);

/* A child that does `run` and ends without ceremony; it does not outlive the test. */
pid_t beside_run(void (*run)(void *data), void *data);

#endif
