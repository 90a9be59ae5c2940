/* SPDX-License-Identifier: MIT */
/* Shared by stage.c, stage_write.c and stage_recover.c: the stage in its recorder. */
#ifndef CLI_STAGE_PRIVATE_H
#define CLI_STAGE_PRIVATE_H

#include <limits.h>
#include <pthread.h>

#include "cli/recording/spool_format.h"
#include "cli/recording/stage.h"

struct stage {
	int fd;
	int spool;
	unsigned int priority;
	char path[PATH_MAX];
	unsigned char *map;
	size_t map_size;
	struct stage_head *head;
	unsigned int nr; /* blocks */

	pthread_mutex_t lock; /* for all that follows */
	struct stage_block blocks[STAGE_BLOCKS];
	uint64_t bytes, free_bytes, max;      /* bytes of all blocks; of the free ones; limit of `bytes` */
	uint16_t free[STAGE_BLOCKS];	      /* a stack: the block freed last is most likely in the cache */
	unsigned int nr_free;
	uint64_t taken;			      /* blocks so far */
	uint16_t queue[STAGE_BLOCKS];	      /* handed over, the oldest at `written` */
	uint64_t written, handed;	      /* blocks so far */
	uint64_t waiting;		      /* bytes in the queue */
	int err;			      /* error of the thread's write */
	bool refused;			      /* a block was refused, because the bound was reached */
	bool ends;
	pthread_cond_t work, done; /* the thread waits for work; others wait until it is done */
	pthread_t thread;
	bool started;
};

/* Add the block to the free ones. Call it with the lock held. */
void stage_give_back(struct stage *stage, struct stage_block *block);

/* The main function of the thread. */
void *stage_main(void *stage);

#endif
