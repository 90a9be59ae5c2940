/* SPDX-License-Identifier: MIT */
/*
 * Maps of processes: which file lies where in their memory, in the words of a trace.dat's option PROCMAPS. A map can be
 * taken only while the process exists.
 */
#ifndef CLI_PROC_MAPS_H
#define CLI_PROC_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/recording/spool.h"

struct proc_map {
	pid_t pid;
	uint64_t start_time; /* start time of the process, which distinguishes it from others with the same pid */
	char *text;
	size_t size;
};

struct proc_maps {
	struct proc_map *maps;
	unsigned int nr;
};

/* Take the map of a process, in place of the one that was taken before. 0; -ESRCH: it is gone; or -errno. */
int proc_maps_take(struct proc_maps *maps, pid_t pid);

/* Take the maps again of processes that are still alive. */
void proc_maps_take_again(struct proc_maps *maps);

/* Put the maps into the spool, unless it has no process. 0, or as spool_add_text(). */
int proc_maps_save(const struct proc_maps *maps, struct spool *spool);

void proc_maps_free(struct proc_maps *maps);

#endif
