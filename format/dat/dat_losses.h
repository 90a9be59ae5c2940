/* SPDX-License-Identifier: MIT */
/*
 * The times at which the events that a file does not have were lost. The pages of a trace.dat report a loss with the
 * next event, which may come long after the loss began; so recordings of recorder have the times in their notes: a list
 * of intervals for the kernel, and one for all programs together. A list has a few hundred intervals at most: if there
 * are more losses, two are joined to an interval that includes the time between them.
 *
 * Times at which nothing was recorded have the same form. Their lists are exact, with any number of intervals: a whole
 * file may lie between two of them.
 */
#ifndef FORMAT_DAT_LOSSES_H
#define FORMAT_DAT_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob;

/* Until after the last event of the file. */
#define DAT_LOSS_NO_END UINT64_MAX

struct dat_loss_time {
	uint64_t since, until; /* each is the time of an event in the file; or 0, or DAT_LOSS_NO_END */
};

/* The times of losses. All zeros: no losses. */
struct dat_losses {
	struct dat_loss_time *all; /* after dat_losses_join(): in time order, and disjoint */
	size_t nr, room;
	uint64_t hole; /* losses with at most this time between them are joined */
	bool is_exact; /* only losses that overlap are joined, however many there are */
	int error;     /* 0 or -ENOMEM, from the first failure on */
};

void dat_losses_free(struct dat_losses *losses);

/* Something was lost after `since` and before `until`; times in the units of the file's pages. */
void dat_losses_add(struct dat_losses *losses, uint64_t since, uint64_t until);
void dat_losses_join(struct dat_losses *losses);

/*
 * Writes or reads the text of the notes: "100 to 200, 300 on". Reading ends at damage; the list is exact. 0; -ENOMEM.
 */
void dat_losses_put(const struct dat_losses *losses, struct blob *text);
int dat_losses_read(const char *text, struct dat_losses *ret_losses);

/* Whether something may have been lost between two times. The losses must be joined. */
bool dat_losses_between(const struct dat_losses *losses, uint64_t from, uint64_t to);

#endif
