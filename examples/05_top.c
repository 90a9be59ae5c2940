/* SPDX-License-Identifier: MIT */
/*
 * A live consumer: shows which events a running program records, and how many each second.
 *
 *	05_top BUFFER		a program's buffer, as $XDG_RUNTIME_DIR/librecorder/PID-START.rec
 */
#include <librecorder/event_text.h>
#include <librecorder/reader.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
	char name[256];
	uint64_t count;
} events[REC_EVENTS_MAX];

/* Read the names of events from the log, which grows as the program declares events. */
static void read_names(const struct rec_view *view)
{
	static unsigned char log[4 << 20];
	const size_t size = rec_view_log(view, 0, log, sizeof(log));
	const struct rec_log_record *record;
	struct rec_event_info info;
	size_t offset = 0;

	while ((record = rec_log_next(log, size, &offset)))
		if (record->kind == REC_LOG_EVENT && record->id >= REC_EVENT_ID_FIRST &&
		    rec_event_parse((const struct rec_log_event *)record, &info) == 0)
			snprintf(events[(record->id - REC_EVENT_ID_FIRST) % REC_EVENTS_MAX].name,
				 sizeof(events[0].name), "%.*s:%.*s", (int)info.system.size, info.system.text,
				 (int)info.name.size, info.name.text);
}

/*
 * Counts all events that a lane has now. Adds to *lost the number of events that were lost before or between them; more
 * were lost if the size of a gap is unknown. Returns 0, or an error of rec_map_get_reader().
 */
static int count_lane(struct rec_map *map, uint64_t *lost)
{
	struct rec_event_common common;
	struct rec_page_iter iter;
	struct rec_record record;
	struct rec_page page;
	int got;

	while ((got = rec_map_get_reader(map, &page)) == 1) {
		/* A gap of unknown size counts as one. */
		*lost += page.lost == REC_LOST_UNKNOWN ? 1 : page.lost;
		rec_page_iter_init(&iter, page.data, page.size);
		while (rec_page_next(&iter, &record) == 1) {
			if (record.offset < page.from || record.size < sizeof(common))
				continue;
			memcpy(&common, record.payload, sizeof(common));
			events[(common.type - REC_EVENT_ID_FIRST) % REC_EVENTS_MAX].count++;
		}
	}
	return got;
}

/* Prints the error of a lane once. A lane that the program is making or changing is not an error: it is tried again. */
static void print_error(unsigned int lane, int err)
{
	static int printed[UINT16_MAX];

	if (!err || err == -ENODATA || err == -EAGAIN || err == printed[lane])
		return;
	printed[lane] = err;
	fprintf(stderr, "lane %u: %s\n", lane, strerror(-err));
}

static void print_counts(uint64_t lost)
{
	printf("--- %" PRIu64 " lost\n", lost);
	for (size_t i = 0; i < REC_EVENTS_MAX; i++) {
		if (events[i].count)
			printf("%10" PRIu64 " %s\n", events[i].count, events[i].name[0] ? events[i].name : "?");
		events[i].count = 0;
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct rec_map *maps[UINT16_MAX];
	struct rec_view *view;
	bool alive = true;
	int err = argc == 2 ? rec_view_open(argv[1], &view) : 0;

	if (argc != 2 || err) {
		fprintf(stderr, argc != 2 ? "usage: %s BUFFER\n" : "%s: %s: %s\n", argv[0], argv[1], strerror(-err));
		return 1;
	}
	while (alive) {
		uint64_t lost = 0;

		/* This comes first: if the program is gone, everything that it wrote is already in its lanes. */
		alive = rec_view_alive(view);
		for (unsigned int lane = 0; lane < rec_view_lanes(view); lane++) {
			err = maps[lane] ? 0 : rec_map_lane(view, lane, &maps[lane]);
			print_error(lane, err ? err : count_lane(maps[lane], &lost));
		}
		read_names(view);
		print_counts(lost);
		if (alive)
			nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	}
	for (unsigned int lane = 0; lane < UINT16_MAX; lane++)
		rec_map_close(maps[lane]);
	rec_view_close(view);
	return 0;
}
