/* SPDX-License-Identifier: MIT */
/* See dat_losses.h. Losses are collected as they come; when the list is full, they are sorted and joined. */
#include "format/dat/dat_losses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/blob.h"

/* A list that is not exact has at most this number of intervals: ten KiB of text. Twice this number are collected. */
#define LOSSES_MAX 256u

void dat_losses_free(struct dat_losses *losses)
{
	free(losses->all);
	*losses = (struct dat_losses){ 0 };
}

static int by_begin(const void *a, const void *b)
{
	const struct dat_loss_time *x = a, *y = b;

	return (x->since > y->since) - (x->since < y->since);
}

/* Joins the losses of the sorted list that overlap, or whose distance is less than the hole. */
static void join(struct dat_losses *losses)
{
	size_t nr = 0;

	for (size_t i = 0; i < losses->nr; i++) {
		const struct dat_loss_time *next = &losses->all[i];
		struct dat_loss_time *last = nr ? &losses->all[nr - 1] : NULL;

		if (last && (next->since <= last->until || next->since - last->until <= losses->hole)) {
			if (next->until > last->until)
				last->until = next->until;
		} else {
			losses->all[nr++] = *next;
		}
	}
	losses->nr = nr;
}

void dat_losses_join(struct dat_losses *losses)
{
	if (losses->nr)
		qsort(losses->all, losses->nr, sizeof(losses->all[0]), by_begin);
	join(losses);
	while (losses->nr > LOSSES_MAX && !losses->is_exact) {
		losses->hole = losses->hole ? 2 * losses->hole : 1;
		join(losses);
	}
}

void dat_losses_add(struct dat_losses *losses, uint64_t since, uint64_t until)
{
	if (losses->nr == 2 * LOSSES_MAX && !losses->is_exact)
		dat_losses_join(losses);
	if (losses->nr == losses->room) {
		const size_t room = losses->room ? 2 * losses->room : 16;
		struct dat_loss_time *more = reallocarray(losses->all, room, sizeof(*more));

		if (!more) {
			losses->error = -ENOMEM;
			return;
		}
		losses->all = more;
		losses->room = room;
	}
	losses->all[losses->nr++] = (struct dat_loss_time){ since, until };
}

void dat_losses_put(const struct dat_losses *losses, struct blob *text)
{
	for (size_t i = 0; i < losses->nr; i++) {
		const struct dat_loss_time *loss = &losses->all[i];

		blob_printf(text, "%s%" PRIu64, i ? ", " : "", loss->since);
		if (loss->until == DAT_LOSS_NO_END)
			blob_printf(text, " on");
		else
			blob_printf(text, " to %" PRIu64, loss->until);
	}
}

int dat_losses_read(const char *text, struct dat_losses *ret_losses)
{
	struct dat_losses losses = { .is_exact = true };
	const char *at = text;
	char *end;

	while (at) {
		const uint64_t since = strtoull(at, &end, 10);
		uint64_t until = DAT_LOSS_NO_END;

		if (end == at)
			break;
		if (!strncmp(end, " to ", 4))
			until = strtoull(end + 4, &end, 10);
		else if (!strncmp(end, " on", 3))
			end += 3;
		else
			break;
		if (until > since)
			dat_losses_add(&losses, since, until);
		at = !strncmp(end, ", ", 2) ? end + 2 : NULL;
	}
	dat_losses_join(&losses);
	if (losses.error) {
		dat_losses_free(&losses);
		return -ENOMEM;
	}
	*ret_losses = losses;
	return 0;
}

bool dat_losses_between(const struct dat_losses *losses, uint64_t from, uint64_t to)
{
	size_t low = 0, high = losses->nr;

	/* Find the first interval that ends after `from`. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (losses->all[middle].until > from)
			high = middle;
		else
			low = middle + 1;
	}
	return low < losses->nr && losses->all[low].since < to;
}
