/* SPDX-License-Identifier: MIT */
/* See view_calls.h. */
#include "view_calls.h"

#include <errno.h>
#include <librecorder/event_text.h>
#include <librecorder/reader.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 40u

/* Events that are taken from a lane one after another. */
#define RUN_MAX 200u

static struct hostile_random *random_calls;
static struct rec_view *view;
static struct rec_iter *iter;
static struct rec_map *map;
static unsigned char copy[REC_SUBBUF_MAX + 64] __attribute__((aligned(8)));
static char text[REC_EVENT_TEXT_MAX];
static volatile unsigned char sink;

static size_t below(size_t limit)
{
	return hostile_below(random_calls, limit);
}

/* Whether all memory that the caller got can be read. */
static void look_at(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	unsigned char sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = (unsigned char)(sum + at[i]);
	sink = sum;
}

static void expect(int r)
{
	/* EINTR: libFuzzer's timer. */
	static const int errors[] = { EAGAIN,	EBADMSG, EBUSY,	 EFAULT, EINTR,	    EINVAL,
				      EMSGSIZE, ENODATA, ENOSPC, EPIPE,	 ECANCELED, ESRCH };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (r == -errors[i])
			return;
	if (r < 0)
		abort();
}

/* ----------------------------------------------------------------------------------------------------------- calls */

/* Mostly a lane that exists. */
static unsigned int pick_lane(void)
{
	return below(16) ? (unsigned int)below(3) : (unsigned int)hostile_number(random_calls);
}

static void look_at_page(const struct rec_page *page)
{
	struct rec_page_iter walk;
	struct rec_record record;

	look_at(page->data, REC_SUBBUF_HEADER_SIZE + page->size);
	if (page->from > page->size)
		abort();
	rec_page_iter_init(&walk, page->data, page->size);
	while (rec_page_next(&walk, &record) > 0)
		look_at(record.payload, record.size);
}

static void call_read(void)
{
	struct rec_page page;
	int r = 1;

	for (unsigned int i = 0; i < 8 && r > 0; i++) {
		r = rec_view_read(view, pick_lane(), below(2) ? REC_READ_WHOLE : 0, &page);
		if (r > 0)
			look_at_page(&page);
		expect(r);
	}
	if (below(4) == 0)
		rec_view_unread(view, pick_lane());
}

static void call_read_page(void)
{
	const size_t size = below(3) ? REC_SUBBUF_MIN : below(sizeof(copy));
	struct rec_page page;
	const int r = rec_view_read_page(view, pick_lane(), below(2) ? REC_READ_WHOLE : 0, copy, size, &page);

	expect(r);
	if (r > 0 && (page.size > size - REC_SUBBUF_HEADER_SIZE || page.data != copy))
		abort();
	if (r > 0)
		look_at_page(&page);
}

static void call_event(void)
{
	const unsigned int lane = below(2) ? REC_ALL_LANES : pick_lane();
	struct rec_view_event event;
	unsigned int left = (unsigned int)below(RUN_MAX);
	int r;

	do {
		r = below(4) ? rec_view_consume(view, lane, &event) : rec_view_peek(view, lane, &event);
		expect(r);
		if (r > 0)
			look_at(event.record.payload, event.record.size);
	} while (r > 0 && left--);
}

static void call_wait(void)
{
	const unsigned int lane = below(2) ? REC_ALL_LANES : pick_lane();

	expect(rec_view_wait(view, lane, (unsigned int)below(102), (int)below(2)));
	if (below(8) == 0)
		rec_view_wake(view);
}

static void call_stats(void)
{
	struct rec_view_losses losses;
	struct rec_lane_stats stats;
	const int r = rec_view_stats(view, pick_lane(), &stats);
	int why = -1;

	expect(r);
	if (r == 0)
		expect(rec_stats_text(&stats, text, 512));
	rec_view_losses(view, &losses);
	if ((rec_view_unrecorded(view, &why) == 0) != (why < 0))
		abort();
	rec_view_alive(view);
	look_at(rec_view_info(view), sizeof(struct rec_view_info));
	if (strlen(rec_view_info(view)->comm) >= 32 || strlen(rec_view_info(view)->exe) >= 256)
		abort();
}

static void call_reset(void)
{
	if (below(4) == 0)
		expect(rec_view_reset(view, pick_lane()));
}

static void look_at_event(const struct rec_log_event *event)
{
	struct rec_event_info info;

	if (rec_event_parse(event, &info) == 0) {
		look_at(info.system.text, info.system.size);
		look_at(info.name.text, info.name.size);
		for (uint32_t i = 0; i < info.nr_fields; i++)
			look_at(info.fields[i].name.text, info.fields[i].name.size);
	}
	expect(rec_event_text(event, event->record.id, text, below(2) ? sizeof(text) : below(sizeof(text))));
	rec_event_hash(event);
	if (!rec_event_same(event, event))
		abort();
}

static void call_log(void)
{
	const size_t room = 256u * 1024u;
	unsigned char *log = malloc(room);
	const uint64_t from = below(4) ? 0 : hostile_number(random_calls);
	const size_t size = rec_view_log(view, from, log, below(2) ? room : below(room));
	const struct rec_log_record *record;
	size_t offset = 0;

	while ((record = rec_log_next(log, size, &offset))) {
		look_at(record, record->size);
		if (record->kind == REC_LOG_EVENT)
			look_at_event((const struct rec_log_event *)record);
		if (record->kind == REC_LOG_PRINTF) {
			expect(rec_printf_format_text((const struct rec_log_printf *)record, text,
						      below(sizeof(text))));
			look_at(text, strlen(rec_printf_function((const struct rec_log_printf *)record)));
		}
	}
	free(log);
}

static void call_anchors(void)
{
	struct rec_anchor anchors[REC_ANCHORS + 1];
	const unsigned int max = (unsigned int)below(REC_ANCHORS + 2);

	if (rec_view_anchors(view, anchors, max) > max)
		abort();
	rec_view_enabled(view, (unsigned int)hostile_number(random_calls));
	rec_view_enabled(view, REC_EVENT_ID_FIRST + (unsigned int)below(20));
}

static void call_control(void)
{
	switch (below(6)) {
	case 0:
		expect(rec_view_switch(view, below(2) ? "fuzz:*" : "*,other:name?", below(2)));
		break;
	case 1:
		expect(rec_view_switch_event(view, REC_EVENT_ID_FIRST + (unsigned int)below(20), (uint32_t)below(2)));
		break;
	case 2:
		expect(rec_view_forget(view, "fuzz:*"));
		break;
	case 3:
		expect(rec_view_stop(view));
		break;
	case 4:
		expect(rec_view_start(view));
		break;
	default:
		rec_view_stopped(view);
	}
}

static void call_iter(void)
{
	unsigned int left = (unsigned int)below(RUN_MAX);
	struct rec_view_event event;
	int r = 1;

	if (!iter && rec_iter_open(view, pick_lane(), &iter) < 0)
		return;
	if (below(8) == 0)
		rec_iter_reset(iter);
	while (r > 0 && left--) {
		r = rec_iter_next(iter, &event);
		expect(r);
		if (r > 0)
			look_at(event.record.payload, event.record.size);
	}
	if (below(4) == 0)
		iter = rec_iter_close(iter);
}

/* Take pages from the iterator, after it was set to a mark, and ask it for a mark. */
static void call_copy(void)
{
	unsigned int left = (unsigned int)below(20);
	struct rec_lane_mark mark = { hostile_number(random_calls), hostile_number(random_calls) };
	struct rec_page page;
	int r = 1;

	if (!iter && rec_iter_open(view, pick_lane(), &iter) < 0)
		return;
	if (below(2))
		expect(rec_view_mark(view, pick_lane(), &mark));
	if (below(2))
		rec_iter_continue(iter, &mark);
	while (r > 0 && left--) {
		r = rec_iter_page(iter, &page);
		expect(r);
		if (r > 0)
			look_at_page(&page);
	}
	rec_iter_mark(iter, &mark);
	if (below(4) == 0)
		expect(rec_view_set_mark(view, pick_lane(), &mark));
}

/* The map's own fields are valid, whatever the file contains. */
static void look_at_map(void)
{
	const struct rec_meta *meta = rec_map_meta(map);
	const uint32_t id = below(2) ? meta->reader_id : (uint32_t)hostile_number(random_calls);
	const void *page = rec_map_page(map, id);

	look_at(meta, sizeof(*meta));
	if (page)
		look_at(page, meta->subbuf_size);
}

static void call_map(void)
{
	unsigned int left = (unsigned int)below(20);
	struct rec_page page;
	int r = 1;

	if (!map) {
		r = rec_map_lane(view, pick_lane(), &map);
		expect(r);
		if (r < 0)
			return;
	}
	look_at_map();
	if (below(4) == 0)
		expect(rec_map_wait(map, (unsigned int)below(102), (int)below(2)));
	for (r = 1; r > 0 && left--;) {
		r = rec_map_get_reader(map, &page);
		expect(r);
		if (r > 0)
			look_at_page(&page);
		look_at_map();
	}
	if (below(4) == 0)
		map = rec_map_close(map);
}

static void (*const calls[])(void) = { call_read, call_read_page, call_event,	call_wait, call_stats, call_reset,
				       call_log,  call_anchors,	  call_control, call_iter, call_copy,  call_map };

/* Take events up to a limit, because damaged ones might never end. */
static void take_all(void)
{
	struct rec_view_event event;
	unsigned int taken = 0;

	while (rec_view_consume(view, REC_ALL_LANES, &event) > 0)
		if (++taken > 100000)
			abort();
}

void view_calls(const char *path, struct hostile_random *random, bool alone)
{
	const int r = rec_view_open(path, &view);

	random_calls = random;
	if (r < 0 && r != -EPROTO)
		expect(r);
	if (r < 0)
		return;
	for (unsigned int i = 0; i < CALLS; i++)
		calls[below(sizeof(calls) / sizeof(calls[0]))]();
	if (alone)
		take_all();
	map = rec_map_close(map);
	iter = rec_iter_close(iter);
	view = rec_view_close(view);
}
