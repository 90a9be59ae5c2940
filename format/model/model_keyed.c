/* SPDX-License-Identifier: MIT */
/* The open spans that have keys: a chained hash table by pair and keys, and a list in the order of their begins. */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(unsigned int pair, const struct model_span *span)
{
	uint64_t hash = pair * UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned int i = 0; i < span->nr_keys; i++)
		hash = (hash ^ span->keys[i] ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 32;
}

static bool are_same(const struct model_span *a, const struct model_span *b)
{
	return a->rule->pair == b->rule->pair && a->nr_keys == b->nr_keys &&
	       !memcmp(a->keys, b->keys, a->nr_keys * sizeof(a->keys[0]));
}

/* The first of one list becomes that of another. */
static void move(struct model_open **from, struct model_open **to)
{
	struct model_open *open = *from;

	*from = open->outer;
	open->outer = *to;
	*to = open;
}

static int grow(struct model_keyed *k)
{
	const size_t nr = k->nr_chains ? 2 * k->nr_chains : 64;
	struct model_open **chains = calloc(nr, sizeof(*chains));

	if (!chains)
		return -ENOMEM;
	for (size_t i = 0; i < k->nr_chains; i++) {
		struct model_open *reversed = NULL;

		/* Twice, so that those of equal keys stay in their order. */
		while (k->chains[i])
			move(&k->chains[i], &reversed);
		while (reversed)
			move(&reversed, &chains[hash_of(reversed->span.rule->pair, &reversed->span) & (nr - 1)]);
	}
	free(k->chains);
	k->chains = chains;
	k->nr_chains = nr;
	return 0;
}

int model_keyed_add(struct model_keyed *k, struct model_open *open)
{
	struct model_open **chain;

	if (k->used >= k->nr_chains && grow(k))
		return -ENOMEM;
	chain = &k->chains[hash_of(open->span.rule->pair, &open->span) & (k->nr_chains - 1)];
	open->outer = *chain;
	*chain = open;
	open->older = k->newest;
	open->newer = NULL;
	*(k->newest ? &k->newest->newer : &k->oldest) = open;
	k->newest = open;
	k->used++;
	return 0;
}

struct model_open *model_keyed_take(struct model_keyed *k, const struct model_span *like, int32_t process)
{
	struct model_open **at, **found = NULL, *open;

	if (!k->nr_chains)
		return NULL;
	at = &k->chains[hash_of(like->rule->pair, like) & (k->nr_chains - 1)];
	for (; *at && (!found || (*found)->process != process); at = &(*at)->outer) {
		if (are_same(&(*at)->span, like) && (!found || (*at)->process == process))
			found = at;
	}
	if (!found)
		return NULL;
	open = *found;
	*found = open->outer;
	*(open->older ? &open->older->newer : &k->oldest) = open->newer;
	*(open->newer ? &open->newer->older : &k->newest) = open->older;
	k->used--;
	return open;
}
