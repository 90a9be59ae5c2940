/* SPDX-License-Identifier: MIT */
/*
 * Checks that counts add up: compares the statistics of each CPU (option CPUSTAT, the kernel's text) with its stream. A
 * CPU may have several paragraphs, for the kernel and for programs in other buffers: they are added up. The paragraphs
 * of an instance follow a heading with the name of its buffer.
 */
#include "format/dat/dat_stats.h"
#include "format/verify/verify_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The statistics of one CPU in one buffer. */
struct cpu_stats {
	size_t buffer; /* index of the buffer; one past the last: the top buffer, if the file has none */
	uint32_t cpu;
	uint64_t entries; /* events that were unread when the statistics were taken */
	uint64_t overrun;
	uint64_t refused; /* lost events; pages do not report all of them */
	uint64_t read;
	uint64_t left_out; /* those of the read events that the file leaves out */
};

struct counting {
	struct verify *v;
	struct cpu_stats *stats; /* by buffer and CPU, once all were read */
	size_t nr;
	size_t room;
	size_t buffer; /* buffer of the text that is being read; beyond all buffers: an unknown one */
	struct cpu_stats *at; /* statistics of the paragraph that is being read; NULL: those of an unknown buffer */
	uint64_t stamps; /* events that trace-cmd --date has read itself */
	int error;
};

static size_t buffer_named(const struct verify *v, const char *name, size_t len)
{
	for (size_t i = 0; i < v->file->nr_buffers; i++)
		if (strlen(v->file->buffers[i].name) == len && !memcmp(v->file->buffers[i].name, name, len))
			return i;
	return len ? SIZE_MAX : v->file->nr_buffers;
}

static struct cpu_stats *add_stats(struct counting *c, uint32_t cpu)
{
	if (c->nr == c->room) {
		const size_t room = c->room ? 2 * c->room : 64;
		struct cpu_stats *stats = realloc(c->stats, room * sizeof(*stats));

		if (!stats) {
			c->error = -ENOMEM;
			return NULL;
		}
		c->stats = stats;
		c->room = room;
	}
	c->stats[c->nr] = (struct cpu_stats){ .buffer = c->buffer, .cpu = cpu };
	return &c->stats[c->nr++];
}

static void take_line(struct counting *c, const char *line, size_t len)
{
	const char *name = dat_stats_get_buffer(line);
	uint64_t value;

	if (name) {
		c->buffer = buffer_named(c->v, name, len - (size_t)(name - line));
		c->at = NULL;
	} else if (dat_stats_get(line, DAT_STAT_CPU, &value)) {
		c->at = c->buffer != SIZE_MAX && value < UINT32_MAX ? add_stats(c, (uint32_t)value) : NULL;
	} else if (!c->at) {
		return;
	} else if (dat_stats_get(line, DAT_STAT_ENTRIES, &value)) {
		c->at->entries = value;
	} else if (dat_stats_get(line, DAT_STAT_OVERRUN, &value)) {
		c->at->overrun = value;
	} else if (dat_stats_get(line, DAT_STAT_COMMIT_OVERRUN, &value) ||
		   dat_stats_get(line, DAT_STAT_DROPPED, &value)) {
		c->at->refused += value;
	} else if (dat_stats_get(line, DAT_STAT_READ, &value)) {
		c->at->read = value;
	} else if (dat_stats_get(line, DAT_STAT_NOT_KEPT, &value)) {
		/* These events were read, and lost afterwards. */
		c->at->left_out += value;
		c->at->refused += value;
	} else if (dat_stats_get(line, DAT_STAT_LEFT_OUT, &value)) {
		c->at->left_out += value;
	}
}

static void take_text(struct counting *c, const struct dat_option *option)
{
	/* The reader ends options with a NUL. */
	for (const char *line = option->data; *line;) {
		const size_t len = strcspn(line, "\n");

		take_line(c, line, len);
		line += len + (line[len] == '\n');
	}
}

static int by_place(const void *a, const void *b)
{
	const struct cpu_stats *left = a, *right = b;

	if (left->buffer != right->buffer)
		return left->buffer < right->buffer ? -1 : 1;
	return left->cpu < right->cpu ? -1 : left->cpu > right->cpu;
}

/* Sort the paragraphs, and join those of the same CPU. */
static void join_stats(struct counting *c)
{
	size_t nr = 0;

	if (c->nr)
		qsort(c->stats, c->nr, sizeof(*c->stats), by_place);
	for (size_t i = 0; i < c->nr; i++) {
		const struct cpu_stats *from = &c->stats[i];
		struct cpu_stats *to = nr ? &c->stats[nr - 1] : NULL;

		if (!to || by_place(to, from)) {
			c->stats[nr++] = *from;
			continue;
		}
		to->entries += from->entries;
		to->overrun += from->overrun;
		to->refused += from->refused;
		to->read += from->read;
		to->left_out += from->left_out;
	}
	c->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		struct cpu_stats *stats = &c->stats[i];

		stats->read -= stats->left_out < stats->read ? stats->left_out : stats->read;
	}
}

static bool has_stats(const struct counting *c, size_t buffer, uint32_t cpu)
{
	const struct cpu_stats key = { .buffer = buffer, .cpu = cpu };

	return c->nr && bsearch(&key, c->stats, c->nr, sizeof(key), by_place);
}

static void say(struct verify *v, const struct cpu_stats *stats, const char *what, uint64_t said, uint64_t is)
{
	const char *name = stats->buffer < v->file->nr_buffers ? v->file->buffers[stats->buffer].name : "";
	char text[192];

	snprintf(text, sizeof(text),
		 "CPU %" PRIu32 "%s%s: %" PRIu64 " %s by its statistics, %" PRIu64 " by its pages", stats->cpu,
		 *name ? " of " : "", name, said, what, is);
	verify_say(v, &(struct verify_violation){ VERIFY_COUNT, 1, text, NULL, NULL, NULL });
}

/*
 * The counts of the pages that these statistics describe. A buffer without statistics of its own is counted with those
 * of the top one; in version 7 a CPU without events is in no list.
 */
static struct verify_stream sum_up(const struct counting *c, const struct cpu_stats *stats)
{
	const struct verify *v = c->v;
	const size_t top = buffer_named(v, "", 0);
	struct verify_stream sum = { .events = 0 };

	for (size_t i = 0; i < v->file->nr_buffers; i++) {
		const struct verify_stream *stream = verify_stream_find(v, &v->file->buffers[i], stats->cpu);

		if (!stream || (i != stats->buffer && (stats->buffer != top || has_stats(c, i, stats->cpu))))
			continue;
		sum.events += stream->events;
		sum.lost += stream->lost;
		sum.lost_at_end += stream->lost_at_end;
		sum.lost_unknown += stream->lost_unknown;
	}
	return sum;
}

/*
 * trace-cmd takes the statistics before it reads the rest of the ring, so events that were unread then may be in the
 * pages. If a reader has read the whole ring, each overwritten event is in the loss of a page. A loss after the last
 * page is carried by a recorder:end, possibly on another CPU.
 */
static void compare(struct counting *c, const struct cpu_stats *stats, const struct verify_stream *stream, bool ends)
{
	const uint64_t lost = stream->lost - stream->lost_at_end;
	const bool has_all = stream->events == stats->read + stats->entries;
	struct verify *v = c->v;

	v->figures.counts++;
	if (stream->events < stats->read && stats->read - stream->events == c->stamps)
		c->stamps = 0;
	else if (stream->events < stats->read)
		say(v, stats, "events", stats->read, stream->events);
	else if (stream->events - stats->read > stats->entries)
		say(v, stats, "events", stats->read + stats->entries, stream->events);
	if (lost > stats->overrun + stats->refused ||
	    (lost < stats->overrun && has_all && !stream->lost_unknown && !ends))
		say(v, stats, "lost", stats->overrun, lost);
}

static bool has_end(const struct verify *v)
{
	for (size_t i = 0; i < v->file->nr_buffers; i++)
		for (uint32_t s = 0; s < v->file->buffers[i].nr_streams; s++)
			if (v->streams[v->first_stream[i] + s].lost_at_end)
				return true;
	return false;
}

int verify_counts(struct verify *v)
{
	struct counting c = {
		.v = v, .buffer = buffer_named(v, "", 0),
		.stamps = v->is_foreign && dat_option(v->file, DAT_DATE) ? 1 : 0
	};
	const bool ends = has_end(v);

	for (size_t i = 0; i < v->file->nr_options; i++)
		if (v->file->options[i].id == DAT_CPUSTAT)
			take_text(&c, &v->file->options[i]);
	join_stats(&c);
	for (size_t i = 0; i < c.nr && !c.error; i++) {
		const struct verify_stream stream = sum_up(&c, &c.stats[i]);

		compare(&c, &c.stats[i], &stream, ends);
	}
	free(c.stats);
	return c.error;
}
