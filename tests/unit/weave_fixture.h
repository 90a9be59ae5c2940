/* SPDX-License-Identifier: MIT */
/*
 * A source in memory for the weave, which delivers pages as lanes do, and the contents of the resulting file. The pages
 * are made here from the format's description alone.
 */
#ifndef WEAVE_FIXTURE_H
#define WEAVE_FIXTURE_H

#include "format/io/blob.h"
#include "format/weave/weave.h"

#include <stdbool.h>

struct fake_page {
	unsigned char *bytes;
	struct rec_page page;
};

struct fake_stream {
	struct fake_page *pages;
	unsigned int nr_pages;
	unsigned int next;
	uint64_t time; /* from which the next record's delta counts */
	uint32_t cpu;
	uint64_t lost; /* before the next page */
	bool open;     /* the last page is still open */
	bool kernel;   /* pages without CPU markers, whose events were not counted */
	int error;     /* result of the source at the end */
};

struct fake {
	struct rec_source source;
	struct fake_stream *streams;
	struct weave_stream *described;
	uint32_t subbuf_size;
	bool bare; /* pages without CPU markers, as the kernel's */
};

struct fake *fake_new(unsigned int nr_streams, uint32_t subbuf_size);
void fake_free(struct fake *fake);

/* The payload of fake events: `size` bytes from 16 on, filled from the number. */
#define FAKE_SIZE 16u

struct fake_event {
	struct rec_event_common common;
	uint64_t number;
};

/* Add an event; begins pages and writes markers and time extends as needed. */
void fake_put(struct fake *fake, unsigned int stream, uint32_t cpu, uint64_t time, uint16_t id, int32_t pid,
	      uint64_t number, uint32_t size);

/* The same with a given payload. */
void fake_put_bytes(struct fake *fake, unsigned int stream, uint32_t cpu, uint64_t time, const void *payload,
		    uint32_t size);

/* A discarded event. */
void fake_discard(struct fake *fake, unsigned int stream, uint64_t time, uint32_t size);

/* End the page; this many events are lost before the next one. */
void fake_lose(struct fake *fake, unsigned int stream, uint64_t lost);
void fake_end_page(struct fake *fake, unsigned int stream);

/* The last page of a stream. */
struct rec_page *fake_last_page(struct fake *fake, unsigned int stream);
/* The offset at which the last page's event with this index begins. */
uint32_t fake_offset(const struct rec_page *page, unsigned int index);

/* Records of a log. fixed: bytes of common and fixed fields. */
void fake_log_event(struct blob *log, uint16_t id, const char *system, const char *name, const char *fields,
		    uint32_t fixed);
void fake_log_thread(struct blob *log, int32_t tid, const char *name);
void fake_log_printf(struct blob *log, uint64_t site, const char *function, const char *format);

/* The contents of a file in time order, as this project's reader returns them. */
struct seen_event {
	uint64_t time;
	uint32_t cpu;
	uint32_t size;
	int64_t lost; /* -1: unknown */
	char name[64]; /* system:name, "?" without a format */
	char buffer[32]; /* "" is the top one */
	struct rec_event_common common;
	uint64_t number;   /* bytes 8 to 15 */
	uint64_t number2;  /* bytes 16 to 23, if they exist */
};

struct seen {
	struct seen_event *events;
	size_t nr;
	uint64_t lost;	       /* sum of the known */
	uint64_t lost_unknown; /* gaps */
	uint32_t cpus;
	char *cmdlines;
	char *kallsyms;
	char *printk;
	char *clock;
	char *kernel_losses, *program_losses; /* their times, as in the notes; "": none */
	unsigned int version;
	uint32_t page_size;
};

/* Fails the test if the file cannot be read, or a CPU's time goes back. */
struct seen *seen_read(const char *path);
void seen_free(struct seen *seen);

/* A weave as most tests begin it. */
struct weaving {
	struct fake *fake;
	struct blob log;
	struct weave_process process;
	struct weave_params params;
	struct weave_stats stats;
};

#define ID_A (REC_EVENT_ID_FIRST + 1)
#define ID_B (REC_EVENT_ID_FIRST + 2)
#define PID  1000

/* Begin with one process on CLOCK_MONOTONIC with events t:a and t:b, whose ids are these. */
void weaving_begin(struct weaving *s, unsigned int nr_streams);

/* A callback for params.wants: selects events of this name. */
bool fake_wants(void *name, const struct rec_words *system, const struct rec_words *event);

/* Weave; the file must have all events and losses of the source. */
struct seen *weave(struct weaving *s);
void weaving_end(struct weaving *s, struct seen *seen);

/* A directory of the test's own, removed with all its contents at exit; and a path in it. */
const char *fixture_path(const char *name);

#endif
