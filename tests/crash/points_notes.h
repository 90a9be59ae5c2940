/* SPDX-License-Identifier: MIT */
/*
 * Shared memory with the test's orders to the programs of tests/crash/test_points.c, and with their notes of what they
 * did. It outlives them, so when they are dead the test knows independently what the buffer must hold.
 */
#ifndef POINTS_NOTES_H
#define POINTS_NOTES_H

#include <librecorder/detail/abi.h>
#include <librecorder/reader.h>
#include <librecorder/source.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NOTES_EVENTS 6000u /* events attempted in one life; more than all of a plan's attempts */
#define NOTES_READS  6000u

/* A writer marks each event in this order, before and after every call into the library. */
enum note_state {
	NOTE_NONE,
	NOTE_ASKED,	 /* before rec_reserve() */
	NOTE_RESERVED,	 /* it returned room; `end` is noted before */
	NOTE_COMMITTING, /* before rec_commit() */
	NOTE_COMMITTED,	 /* it returned */
	NOTE_DISCARDING, /* before rec_discard() */
	NOTE_DISCARDED,
	NOTE_REFUSED,	 /* rec_reserve() returned NULL */
	NOTE_TORN,	 /* its thread ended inside this event, or inside the event that it interrupted */
};

struct note {
	uint64_t end; /* position after the event */
	uint32_t size;
	uint32_t state;
};

/* One event that a reading program was handed. */
struct note_read {
	uint64_t number;
	uint64_t index; /* among all that were committed to the lane */
};

struct notes {
	/* Written by the test. */
	uint64_t seed;
	uint32_t events;   /* approximate number of attempts */
	uint32_t longest;  /* payload */
	uint32_t leave;	   /* threads end, also in the middle of an event, and others continue */
	uint32_t plain;	   /* handlers write one event and nothing else */
	uint32_t filter;   /* the same, and most other events are discarded, as by a filter */
	uint32_t control;  /* the lane is disabled now and then */
	uint32_t by_event; /* readers take one event at a time */
	uint32_t by_map;   /* or map the lane */
	char buffer[800];  /* for readers */

	/* Written by the writer. */
	uint64_t way_out; /* address of a function that ends the thread: the test may make a thread jump there */
	uint32_t next;	  /* number of the next event */
	uint32_t sure;	  /* the outcome of all events with smaller numbers is final */
	uint32_t level;	  /* writes in progress, one inside the other */
	uint32_t done;
	struct note made[NOTES_EVENTS];

	/* Written by readers, one after the other, the test itself being the last. */
	uint32_t reads;
	uint32_t last_page;   /* where in `read` the events of the last page begin */
	uint64_t last_first;  /* the number of the last page's first event */
	uint64_t last_lost;   /* number of events lost before the last page */
	uint64_t lost;	      /* number of events lost before all pages except the last */
	uint64_t last_time;   /* time of the last event */
	uint64_t time_before; /* time of the last event before the last page */
	uint32_t taking_over; /* the first page of this reader may be the last one of the reader before */
	uint32_t again;	      /* pages that were handed over again */
	int32_t said;	      /* result of the last call */
	uint32_t complaint;   /* not 0: the line of points_notes.c or victim_points.c that found a fault */
	struct note_read read[NOTES_READS];
};

/* Compares positions by the order of their reservation, which does not depend on the sub-buffer's id. */
static inline uint64_t note_order(uint64_t end)
{
	return (uint64_t)REC_POS_SEQ(end) << 32 | REC_POS_OFF(end);
}

static inline unsigned char note_byte(uint64_t number, uint32_t at)
{
	return (unsigned char)(number * 37 + at * 11 + 5);
}

static inline void note_fill(unsigned char *payload, uint64_t number, uint32_t size)
{
	uint32_t i;

	memcpy(payload, &number, sizeof(number));
	for (i = sizeof(number); i < size; i++)
		payload[i] = note_byte(number, i);
}

/* Note the contents of a page that a reader was handed. If the page is wrong, note the failure. */
void note_page(struct notes *notes, const struct rec_page *page);

/* The same for one event. */
void note_event(struct notes *notes, const struct rec_view_event *event);

#endif
