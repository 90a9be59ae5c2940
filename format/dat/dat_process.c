/* SPDX-License-Identifier: MIT */
/* See dat_process.h. */
#include "format/dat/dat_process.h"

#include "format/dat/dat_notes.h"

int dat_processes_open(const struct dat_file *file, struct dat_processes *ret_processes)
{
	struct dat_processes processes = { { 0 } };
	int32_t pid = 0, tid;
	struct dat_notes notes;
	const char *at;
	int err = 0;

	dat_notes_of(file, &notes);
	at = notes.processes ? notes.processes : "";
	while (!err && dat_notes_next_member(&at, &pid, &tid))
		err = number_map_set(&processes.by_thread, (uint32_t)tid, (uint64_t)(uint32_t)pid + 1);
	if (err)
		dat_processes_close(&processes);
	*ret_processes = processes;
	return err;
}

void dat_processes_close(struct dat_processes *processes)
{
	number_map_free(&processes->by_thread);
	*processes = (struct dat_processes){ { 0 } };
}

int32_t dat_process(const struct dat_processes *processes, int32_t tid)
{
	return (int32_t)(uint32_t)(number_map_get(&processes->by_thread, (uint32_t)tid) - 1);
}
