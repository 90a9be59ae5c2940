/* SPDX-License-Identifier: MIT */
/* A state is hashed, to find out whether it was explored before, and saved, to return to it. */
#include "lanes.h"

#include <string.h>

/* The parts of the model that this configuration uses: all except the marks of cells that it does not have. */
static uint64_t hash_marks(uint64_t hash)
{
	unsigned int actor;

	for (actor = 0; actor < ACTORS; actor++) {
		hash = set_hash(hash, m.memory.written[actor], nr_cells);
		hash = set_hash(hash, m.memory.read[actor], nr_cells);
	}
	return hash;
}

uint64_t state_hash(void)
{
	uint64_t hash = 1;
	unsigned int actor;
	uint32_t i;
	size_t live;

	/* The running actor's data are where it left them. */
	actor_become(current);
	for (i = 0; i < REGIONS; i++)
		hash = set_hash(hash, regions[i].at, regions[i].size);
	hash = hash_marks(set_hash(hash, &m, offsetof(struct model, memory.written)));
	for (actor = 0; actor < ACTORS; actor++) {
		const unsigned char *sp = actor_stack(actor, &live);

		hash = set_hash(hash, sp, live);
	}
	return hash;
}

static void copy_marks(struct memory *to, const struct memory *from)
{
	unsigned int actor;

	for (actor = 0; actor < ACTORS; actor++) {
		memcpy(to->written[actor], from->written[actor], nr_cells);
		memcpy(to->read[actor], from->read[actor], nr_cells);
	}
}

void state_save(struct saved *ret_saved)
{
	unsigned int actor;
	uint32_t i;

	actor_become(current);
	memcpy(&ret_saved->model, &m, offsetof(struct model, memory.written));
	copy_marks(&ret_saved->model.memory, &m.memory);
	for (i = 0; i < REGIONS; i++)
		memcpy(ret_saved->shared + regions[i].offset, regions[i].at, regions[i].size);
	for (actor = 0; actor < ACTORS; actor++) {
		const unsigned char *sp = actor_stack(actor, &ret_saved->live[actor]);

		memcpy(ret_saved->stacks[actor], sp, ret_saved->live[actor]);
	}
}

void state_restore(const struct saved *saved)
{
	unsigned int actor;
	uint32_t i;
	size_t live;

	memcpy(&m, &saved->model, offsetof(struct model, memory.written));
	copy_marks(&m.memory, &saved->model.memory);
	for (i = 0; i < REGIONS; i++)
		memcpy(regions[i].at, saved->shared + regions[i].offset, regions[i].size);
	for (actor = 0; actor < ACTORS; actor++)
		memcpy(actor_stack(actor, &live), saved->stacks[actor], saved->live[actor]);
	actor_return();
}
