/* SPDX-License-Identifier: MIT */
/* A state of the model is hashed, to find out whether it was explored before, and saved, to return to it. */
#include "model.h"

#include <stddef.h>
#include <string.h>

#define PARTS_MAX (5u + 2 * ACTORS)

/* The parts of the model that this configuration uses; the other parts do not change. */
static struct part {
	size_t at, size;
} parts[PARTS_MAX];

static uint32_t nr_parts;

static void use(size_t at, size_t size)
{
	if (nr_parts == PARTS_MAX)
		fail("the checker's model has too many parts");
	parts[nr_parts++] = (struct part){ at, size };
}

void state_begin(void)
{
	const size_t cells = memory_used() / 4, marks = offsetof(struct model, memory.written);
	uint32_t i;

	nr_parts = 0;
	use(offsetof(struct model, shared), memory_used());
	use(offsetof(struct model, memory), marks - offsetof(struct model, memory));
	/* In configurations without races no access is noted. */
	for (i = 0; i < 2 * ACTORS && !with(ITERATES); i++)
		use(marks + i * CELLS, cells);
	use(offsetof(struct model, handle), offsetof(struct model, words) - offsetof(struct model, handle));
	if (with(WEAK))
		use(offsetof(struct model, words), sizeof(m.words));
	if (with(ITERATES))
		use(offsetof(struct model, iter), sizeof(m) - offsetof(struct model, iter));
}

uint64_t state_hash(void)
{
	uint64_t hash = 1;
	unsigned int actor;
	uint32_t i;
	size_t live;

	for (i = 0; i < nr_parts; i++)
		hash = set_hash(hash, (const unsigned char *)&m + parts[i].at, parts[i].size);
	for (actor = 0; actor < ACTORS; actor++) {
		const unsigned char *sp = actor_stack(actor, &live);

		hash = set_hash(hash, sp, live);
	}
	return hash;
}

uint64_t state_hash_remains(void)
{
	const uint64_t hash = set_hash(m.clock ^ (uint64_t)m.actors[WRITER].depth << 60, &m.shared, memory_used());

	return set_hash(hash, &m.oracle, sizeof(m.oracle));
}

uint64_t state_hash_end(void)
{
	const size_t actors = offsetof(struct model, actors), handle = offsetof(struct model, handle);
	const size_t oracle = offsetof(struct model, oracle), words = offsetof(struct model, words);
	const unsigned char *model = (const unsigned char *)&m;
	uint64_t hash = set_hash(1, &m.shared, memory_used());

	hash = set_hash(hash, model + handle, actors - handle);
	hash = set_hash(hash, model + oracle, words - oracle);
	return with(ITERATES) ? set_hash(hash, m.iter, sizeof(m) - offsetof(struct model, iter)) : hash;
}

void state_save(struct saved *ret_saved)
{
	unsigned int actor;
	uint32_t i;

	for (i = 0; i < nr_parts; i++)
		memcpy((unsigned char *)&ret_saved->model + parts[i].at, (const unsigned char *)&m + parts[i].at,
		       parts[i].size);
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

	for (i = 0; i < nr_parts; i++)
		memcpy((unsigned char *)&m + parts[i].at, (const unsigned char *)&saved->model + parts[i].at,
		       parts[i].size);
	for (actor = 0; actor < ACTORS; actor++)
		memcpy(actor_stack(actor, &live), saved->stacks[actor], saved->live[actor]);
}
