/* SPDX-License-Identifier: MIT */
/*
 * Compares what is left of programs that were killed, page by page, with what they noted: each page is walked by our
 * own reader and by libtraceevent's kbuffer, and each event is compared byte by byte and ticked off.
 */
#ifndef KILLS_ACCOUNT_H
#define KILLS_ACCOUNT_H

#include "kills_notes.h"
#include "tests/oracle/page_walk.h"

#include <librecorder/reader.h>

struct kills_account {
	struct kills_notes *notes;
	struct page_walk walk;
	uint32_t reader;   /* which one this is; see kills_taken */
	uint32_t from;	   /* of the page that is walked: where new events begin */
	uint64_t lost;	   /* reported in files */
	uint64_t repeated; /* events found more than once */
	uint64_t corrupt;  /* pages */
};

void kills_account_init(struct kills_account *account, struct kills_notes *notes, uint32_t reader);
void kills_account_free(struct kills_account *account);

/* Take the lane's next page and tick off its events. Returns as rec_view_read(). */
int kills_take_page(struct kills_account *account, struct rec_view *view, uint32_t lane, unsigned int flags);

/* Tick off the events on all pages of a trace.dat. False: the file is invalid, account->walk.why is the reason. */
bool kills_take_file(struct kills_account *account, const char *path);

struct kills_sums {
	uint64_t committed; /* certainly */
	uint64_t in_doubt;  /* unread, and their writer was killed in them or in what they interrupted */
	uint64_t read;
	uint64_t gone; /* committed and not read */
	uint64_t lost; /* reported before pages that were taken from lanes */
};

void kills_sum(const struct kills_notes *notes, struct kills_sums *ret_sums);

#endif
