/* SPDX-License-Identifier: MIT */
/*
 * Whether counts add up: the statistics of each CPU (option CPUSTAT, the kernel's text) against what its stream
 * holds. A CPU may have several paragraphs, the kernel's and that of the programs, which may be in buffers of their
 * own: their sum counts. "Buffer: NAME" goes before those of an instance.
 */
#include "format/verify_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpu_stats {
	bool told;
	uint64_t entries; /* left unread */
	uint64_t overrun;
	uint64_t refused; /* pages do not tell of all of these */
	uint64_t read;
};

struct counting {
	struct verify *v;
	struct cpu_stats *stats;	 /* by stream */
	const struct dat_buffer *buffer; /* of the text that is read */
	struct cpu_stats *at;		 /* of the paragraph; NULL: of none that we know */
};

static const struct dat_buffer *buffer_named(const struct verify *v, const char *name, size_t len)
{
	for (size_t i = 0; i < v->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &v->file->buffers[i];

		if (strlen(buffer->name) == len && !memcmp(buffer->name, name, len))
			return buffer;
	}
	return NULL;
}

static bool is_key(const char *line, const char *key, uint64_t *ret_value)
{
	const size_t len = strlen(key);

	if (strncmp(line, key, len))
		return false;
	*ret_value = strtoull(line + len, NULL, 10);
	return true;
}

static void take_line(struct counting *c, const char *line, size_t len)
{
	uint64_t value;

	if (len > 8 && !strncmp(line, "Buffer: ", 8)) {
		c->buffer = buffer_named(c->v, line + 8, len - 8);
		c->at = NULL;
	} else if (is_key(line, "CPU: ", &value)) {
		const struct verify_stream *stream =
			c->buffer && value < UINT32_MAX ? verify_stream_find(c->v, c->buffer, (uint32_t)value) : NULL;

		c->at = stream ? &c->stats[stream - c->v->streams] : NULL;
		if (c->at)
			c->at->told = true;
	} else if (!c->at) {
		return;
	} else if (is_key(line, "entries: ", &value)) {
		c->at->entries += value;
	} else if (is_key(line, "overrun: ", &value)) {
		c->at->overrun += value;
	} else if (is_key(line, "commit overrun: ", &value) || is_key(line, "dropped events: ", &value)) {
		c->at->refused += value;
	} else if (is_key(line, "read events: ", &value)) {
		c->at->read += value;
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

static void say(struct verify *v, const struct dat_buffer *buffer, uint32_t cpu, const char *what, uint64_t said,
		uint64_t is)
{
	char text[192];

	snprintf(text, sizeof(text),
		 "CPU %" PRIu32 "%s%s: %" PRIu64 " %s by its statistics, %" PRIu64 " by its pages", cpu,
		 *buffer->name ? " of " : "", buffer->name, said, what, is);
	verify_say(v, &(struct verify_violation){ VERIFY_COUNT, 1, text, NULL, NULL, NULL });
}

/* A buffer without statistics of its own is counted among those of the top one. */
static struct verify_stream sum_up(const struct counting *c, const struct dat_buffer *top, uint32_t cpu)
{
	const struct verify *v = c->v;
	struct verify_stream sum = { .events = 0 };

	for (size_t i = 0; i < v->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &v->file->buffers[i];
		const struct verify_stream *stream = verify_stream_find(v, buffer, cpu);

		if (!stream || (buffer != top && c->stats[stream - v->streams].told))
			continue;
		sum.events += stream->events;
		sum.lost += stream->lost;
		sum.lost_at_end += stream->lost_at_end;
		sum.lost_unknown += stream->lost_unknown;
	}
	return sum;
}

/*
 * A reader that took all pages has met each overwritten event as a loss of a page. One behind the last page is
 * carried by a recorder:end, be it another CPU's.
 */
static void compare(struct verify *v, const struct dat_buffer *buffer, uint32_t cpu,
		    const struct verify_stream *stream, const struct cpu_stats *stats, bool ends)
{
	const uint64_t lost = stream->lost - stream->lost_at_end;

	v->figures.counts++;
	if (stats->read != stream->events)
		say(v, buffer, cpu, "events", stats->read, stream->events);
	if (lost > stats->overrun + stats->refused ||
	    (lost < stats->overrun && !stats->entries && !stream->lost_unknown && !ends))
		say(v, buffer, cpu, "lost", stats->overrun, lost);
}

static bool has_end(const struct verify *v, uint32_t nr_streams)
{
	for (uint32_t i = 0; i < nr_streams; i++)
		if (v->streams[i].lost_at_end)
			return true;
	return false;
}

void verify_counts(struct verify *v)
{
	struct counting c = { .v = v, .buffer = buffer_named(v, "", 0) };
	uint32_t nr = 0;
	bool ends;

	for (size_t i = 0; i < v->file->nr_buffers; i++)
		nr += v->file->buffers[i].nr_streams;
	c.stats = calloc(nr + 1u, sizeof(*c.stats));
	if (!c.stats)
		return;
	for (size_t i = 0; i < v->file->nr_options; i++)
		if (v->file->options[i].id == DAT_CPUSTAT)
			take_text(&c, &v->file->options[i]);
	ends = has_end(v, nr);
	for (size_t i = 0; i < v->file->nr_buffers; i++) {
		const struct dat_buffer *buffer = &v->file->buffers[i];

		for (uint32_t s = 0; s < buffer->nr_streams; s++) {
			const uint32_t at = v->first_stream[i] + s, cpu = buffer->streams[s].cpu;
			const struct verify_stream stream = *buffer->name ? v->streams[at] : sum_up(&c, buffer, cpu);

			if (c.stats[at].told)
				compare(v, buffer, cpu, &stream, &c.stats[at], ends);
		}
	}
	free(c.stats);
}
