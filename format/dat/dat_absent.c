/* SPDX-License-Identifier: MIT */
#include "format/dat/dat_absent.h"

#include <errno.h>
#include <stdlib.h>

static int read_threads(const struct dat_notes *notes, struct dat_absent *absent)
{
	const char *at = notes->listed;
	size_t nr = 0;
	int32_t tid;

	while (at && dat_notes_next_thread(&at, &tid))
		nr++;
	absent->listed = calloc(nr + 1, sizeof(*absent->listed));
	if (!absent->listed)
		return -ENOMEM;
	for (at = notes->listed; at && dat_notes_next_thread(&at, &tid);)
		absent->listed[absent->nr_listed++] = tid;
	return 0;
}

static int read_cpus(const struct dat_notes *notes, struct dat_absent *absent)
{
	const uint32_t nr = dat_notes_cpus(notes->no_cpus, NULL, 0);

	absent->no_cpus = calloc(nr + 1u, sizeof(*absent->no_cpus));
	if (!absent->no_cpus)
		return -ENOMEM;
	absent->nr_no_cpus = nr;
	dat_notes_cpus(notes->no_cpus, absent->no_cpus, nr);
	return 0;
}

int dat_absent_read(const struct dat_notes *notes, struct dat_absent *ret_absent)
{
	int err;

	*ret_absent = (struct dat_absent){
		.some_threads = notes->some_threads,
		.is_listed_only = notes->is_listed_only,
		.several_machines = notes->several_machines,
	};
	err = read_threads(notes, ret_absent);
	if (!err)
		err = read_cpus(notes, ret_absent);
	if (!err)
		err = dat_losses_read(notes->some_times, &ret_absent->some_times);
	if (!err)
		err = dat_losses_read(notes->no_switches, &ret_absent->no_switches);
	if (!err)
		err = dat_losses_read(notes->no_kernel, &ret_absent->no_kernel);
	return err ? err : dat_losses_read(notes->no_programs, &ret_absent->no_programs);
}

void dat_absent_free(struct dat_absent *absent)
{
	free(absent->listed);
	free(absent->no_cpus);
	dat_losses_free(&absent->some_times);
	dat_losses_free(&absent->no_switches);
	dat_losses_free(&absent->no_kernel);
	dat_losses_free(&absent->no_programs);
	*absent = (struct dat_absent){ 0 };
}

void dat_absent_put_cpus(const struct dat_absent *absent, struct blob *text)
{
	unsigned int nr = 0;

	for (uint32_t cpu = 0; cpu < absent->nr_no_cpus; cpu++)
		nr += absent->no_cpus[cpu];
	blob_printf(text, nr == 1 ? "CPU " : "CPUs ");
	dat_notes_put_cpus(text, absent->no_cpus, absent->nr_no_cpus);
	blob_printf(text, nr == 1 ? " was not recorded" : " were not recorded");
}
