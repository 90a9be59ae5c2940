/* SPDX-License-Identifier: MIT */
#include "side.h"

#include <ctype.h>
#include <errno.h>
#include <librecorder/detail/ring.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t side_clock(void)
{
	return rec_clock_read(SIDE_CLOCK);
}

void side_must(bool done, const char *what)
{
	if (done)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned char byte_of(uint64_t number, uint32_t at)
{
	return (unsigned char)(number * 31 + at * 7 + 1);
}

/* After the common fields come the number, in four bytes, as the kernel's id, and then bytes made from it. */
void side_fill(unsigned char *payload, uint64_t number, uint32_t size)
{
	const uint32_t id = (uint32_t)number;
	uint32_t i;

	memcpy(payload + SIDE_COMMON, &id, sizeof(id));
	for (i = SIDE_SIZE_MIN; i < size; i++)
		payload[i] = byte_of(id, i);
}

/* The last three bytes may be due to rounding. */
bool side_is_intact(const unsigned char *payload, uint32_t size, uint64_t *ret_number)
{
	uint32_t id, i;

	if (size < SIDE_SIZE_MIN)
		return false;
	memcpy(&id, payload + SIDE_COMMON, sizeof(id));
	for (i = SIDE_SIZE_MIN; i + 3 < size; i++)
		if (payload[i] != byte_of(id, i))
			return false;
	*ret_number = id;
	return true;
}

void side_walk(struct batch *batch, const void *page, uint32_t size, uint32_t from)
{
	struct rec_page_iter iter;
	struct rec_record record;
	int r;

	batch->nr = 0;
	rec_page_iter_init(&iter, page, size);
	while ((r = rec_page_next(&iter, &record)) > 0) {
		uint64_t number = 0;

		if (record.offset < from)
			continue;
		if (batch->nr == BATCH_MAX || !side_is_intact(record.payload, record.size, &number)) {
			r = -EBADMSG;
			break;
		}
		batch->event[batch->nr].number = number;
		batch->event[batch->nr].time = record.time;
		batch->event[batch->nr++].size = record.size;
	}
	batch->is_damaged = r < 0;
}

static void put_form(const char *text, char *form, size_t size)
{
	size_t used = 0;

	for (; *text && used + 2 < size; text++) {
		if (!isdigit((unsigned char)*text))
			form[used++] = *text;
		else if (used == 0 || form[used - 1] != 'N')
			form[used++] = 'N';
	}
	form[used] = '\0';
}

/* The number of the line that `*text` begins with, which must have this label; moves on to the next line. */
static bool take_line(const char **text, const char *label, uint64_t *ret_number)
{
	const size_t length = strlen(label);
	const char *end = strchr(*text, '\n');

	if (!end || strncmp(*text, label, length) != 0 || !isdigit((unsigned char)(*text)[length]))
		return false;
	*ret_number = strtoull(*text + length, NULL, 10);
	*text = end + 1;
	return true;
}

int side_parse_stats(const char *text, struct side_stats *ret_stats)
{
	struct side_stats stats;
	uint64_t now;

	put_form(text, stats.form, sizeof(stats.form));
	if (!take_line(&text, "entries: ", &stats.entries) || !take_line(&text, "overrun: ", &stats.overrun) ||
	    !take_line(&text, "commit overrun: ", &stats.commit_overrun) ||
	    !take_line(&text, "bytes: ", &stats.bytes) || !take_line(&text, "oldest event ts: ", &stats.oldest) ||
	    !take_line(&text, "now ts: ", &now) || !take_line(&text, "dropped events: ", &stats.dropped) ||
	    !take_line(&text, "read events: ", &stats.read) || *text)
		return -1;
	*ret_stats = stats;
	return 0;
}
