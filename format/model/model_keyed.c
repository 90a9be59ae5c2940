/* SPDX-License-Identifier: MIT */
/* The open spans that have keys: a chained hash table by pair and keys, and a list in the order of their begins. */
#include "format/model/model_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Among spans with the same keys, this number of other processes' spans are skipped in search of one of the process's
 * own.
 */
#define OTHERS_MAX 1024u

static bool are_same(const struct model_span *a, const struct model_span *b)
{
	return a->rule->pair == b->rule->pair && a->nr_keys == b->nr_keys &&
	       !memcmp(a->keys, b->keys, a->nr_keys * sizeof(a->keys[0]));
}

/* The new span comes before others with equal keys. */
static void put(struct model_open **chain, struct model_open *open)
{
	open->child = NULL;
	open->outer = *chain;
	if (*chain)
		(*chain)->child = open;
	*chain = open;
}

static struct model_open **chain_of(struct model_open **chains, size_t nr, const struct model_span *span)
{
	return &chains[model_hash(span->rule->pair, span->keys, span->nr_keys) & (nr - 1)];
}

static int grow(struct model_keyed *k)
{
	const size_t nr = k->nr_chains ? 2 * k->nr_chains : 64;
	struct model_open **chains = calloc(nr, sizeof(*chains));

	if (!chains)
		return -ENOMEM;
	for (struct model_open *open = k->oldest; open; open = open->newer)
		put(chain_of(chains, nr, &open->span), open);
	free(k->chains);
	k->chains = chains;
	k->nr_chains = nr;
	return 0;
}

int model_keyed_add(struct model_keyed *k, struct model_open *open)
{
	if (k->used >= k->nr_chains && grow(k))
		return -ENOMEM;
	put(chain_of(k->chains, k->nr_chains, &open->span), open);
	open->older = k->newest;
	open->newer = NULL;
	*(k->newest ? &k->newest->newer : &k->oldest) = open;
	k->newest = open;
	k->used++;
	k->bytes += open->room;
	return 0;
}

static struct model_open *take(struct model_keyed *k, struct model_open *open)
{
	*(open->child ? &open->child->outer : chain_of(k->chains, k->nr_chains, &open->span)) = open->outer;
	if (open->outer)
		open->outer->child = open->child;
	*(open->older ? &open->older->newer : &k->oldest) = open->newer;
	*(open->newer ? &open->newer->older : &k->newest) = open->older;
	k->used--;
	k->bytes -= open->room;
	return open;
}

struct model_open *model_keyed_take(struct model_keyed *k, const struct model_span *like, int32_t process)
{
	struct model_open *at, *newest = NULL;
	unsigned int others = 0;

	if (!k->nr_chains)
		return NULL;
	for (at = *chain_of(k->chains, k->nr_chains, like); at; at = at->outer) {
		if (!are_same(&at->span, like))
			continue;
		if (at->process == process)
			return take(k, at);
		newest = newest ? newest : at;
		if (others++ == OTHERS_MAX)
			break;
	}
	return newest ? take(k, newest) : NULL;
}

struct model_open *model_keyed_oldest(struct model_keyed *k)
{
	return take(k, k->oldest);
}
