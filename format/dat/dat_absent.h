/* SPDX-License-Identifier: MIT */
/* What a file is known not to have, from its notes (dat_notes.h): switches of threads, CPUs, times. */
#ifndef FORMAT_DAT_ABSENT_H
#define FORMAT_DAT_ABSENT_H

#include "format/dat/dat_losses.h"
#include "format/dat/dat_notes.h"
#include "format/io/blob.h"

/* All zeros: nothing is absent. Times are in the units of the file's pages; both ends are included. */
struct dat_absent {
	bool some_threads;   /* only the switches of some threads were recorded */
	/* an event in a thread that is not `listed` does not show that it is one of these threads */
	bool is_listed_only;
	int32_t *listed;     /* with some_threads: these are among the threads */
	size_t nr_listed;
	struct dat_losses some_times; /* with some_threads: only at these times; empty: always */
	struct dat_losses no_switches;
	bool several_machines; /* no switch is known to be that of a certain thread or CPU */
	struct dat_losses no_kernel, no_programs; /* no events of the kernel, or of programs */
	bool *no_cpus; /* by CPU: its events were not recorded */
	uint32_t nr_no_cpus;
};

/* 0; -ENOMEM. Call dat_absent_free() in any case. */
int dat_absent_read(const struct dat_notes *notes, struct dat_absent *ret_absent);
void dat_absent_free(struct dat_absent *absent);

/* Append "CPU 1 was not recorded" or "CPUs 1-3,5 were not recorded", without a NUL. Call it if nr_no_cpus is not 0. */
void dat_absent_put_cpus(const struct dat_absent *absent, struct blob *text);

static inline bool dat_absent_has_cpu(const struct dat_absent *absent, uint32_t cpu)
{
	return cpu < absent->nr_no_cpus && absent->no_cpus[cpu];
}

#endif
