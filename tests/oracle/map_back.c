/* SPDX-License-Identifier: MIT */
#include "map_back.h"

#include "librecorder/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <librecorder/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned int checks;
bool good = true;

void check(bool is, const char *back, const char *what)
{
	printf("%sok %u - %s: %s\n", is ? "" : "not ", ++checks, back, what);
	good = good && is;
}

void must(bool is, const char *what)
{
	if (is)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

void back_write(struct back *back, unsigned int nr)
{
	while (nr--)
		back->write(back);
}

/* ------------------------------------------------------------------------------------------------------- the kernel */

static void set(const struct back *back, const char *file, const char *value)
{
	errno = -tracefs_set(&back->fs, file, value);
	must(errno == 0, file);
}

static void open_kernel(struct back *back, uint32_t subbuf_size)
{
	char text[160];

	set(back, "tracing_on", "0");
	snprintf(text, sizeof(text), "%u", subbuf_size / 1024);
	set(back, "buffer_subbuf_size_kb", text);
	snprintf(text, sizeof(text), "%u", RING_SIZE / 1024);
	set(back, "buffer_size_kb", text);
	set(back, "trace", "");
	back->marker = tracefs_fd(&back->fs, O_WRONLY, "trace_marker_raw");
	must(back->marker >= 0, "trace_marker_raw");
	snprintf(text, sizeof(text), "%s/instances/%s", back->fs.root, back->fs.name);
	errno = -rec_map_kernel(text, (unsigned int)back->cpu, back->flags, &back->map);
	must(errno == 0, text);
	set(back, "tracing_on", "1");
}

static void write_kernel(struct back *back)
{
	char bytes[EVENT_SIZE - 8] = "";

	must(write(back->marker, bytes, sizeof(bytes)) == sizeof(bytes), "write");
}

static void clear_kernel(struct back *back)
{
	set(back, "trace", "");
}

static int resize_kernel(struct back *back)
{
	return tracefs_set(&back->fs, "buffer_size_kb", "128");
}

static void close_kernel(struct back *back)
{
	back->map = rec_map_close(back->map);
	close(back->marker);
}

void back_kernel(struct back *back)
{
	*back = (struct back){ .name = "kernel", .open = open_kernel, .write = write_kernel, .clear = clear_kernel,
			       .resize = resize_kernel, .close = close_kernel };
}

/* ----------------------------------------------------------------------------------------------------------- a lane */

static void open_lane(struct back *back, uint32_t subbuf_size)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.lane_size = RING_SIZE;
	options.lane_max = 4 * RING_SIZE;
	if (rec_thread_lane(&back->lane) < 0) {
		must(rec_configure(&options) == 0, "rec_configure");
		must(rec_thread_attach() == 0, "rec_thread_attach");
		must(rec_thread_lane(&back->lane) == 0, "rec_thread_lane");
	}
	must(rec_subbuf_resize(subbuf_size) == 0, "rec_subbuf_resize");
	must(rec_thread_lane(&back->lane) == 0, "rec_thread_lane");
	errno = -rec_view_open(rec_process_path(), &back->view);
	must(errno == 0, rec_process_path());
	/* Drop what the previous run left there. */
	must(rec_view_reset(back->view, back->lane) == 0, "rec_view_reset");
	errno = -rec_map_lane(back->view, back->lane, &back->map);
	must(errno == 0, "rec_map_lane");
}

static void write_lane(struct back *back)
{
	struct rec_event_common event[EVENT_SIZE / sizeof(struct rec_event_common)] = {
		{ .type = REC_EVENT_ID_FIRST }
	};

	(void)back;
	must(rec_write(rec_thread_handle, event, sizeof(event)) == 0, "rec_write");
}

static void clear_lane(struct back *back)
{
	must(rec_view_reset(back->view, back->lane) == 0, "rec_view_reset");
}

/* The thread continues in another lane, and comes back to this one. */
static int resize_lane(struct back *back)
{
	const struct rec_meta *meta = rec_map_meta(back->map);
	const size_t size = (meta->nr_subbufs - 1ul) * (meta->subbuf_size - REC_SUBBUF_HEADER_SIZE);
	unsigned int lane;
	const int r = rec_lane_resize(back->lane, 2 * size);

	must(rec_thread_lane(&lane) == 0 && lane != back->lane, "another lane");
	must(rec_lane_resize(lane, size) == 0 && rec_thread_lane(&lane) == 0 && lane == back->lane, "the lane before");
	return r;
}

static void close_lane(struct back *back)
{
	back->map = rec_map_close(back->map);
	back->view = rec_view_close(back->view);
}

void back_lane(struct back *back)
{
	*back = (struct back){ .name = "lane", .open = open_lane, .write = write_lane, .clear = clear_lane,
			       .resize = resize_lane, .close = close_lane };
}
