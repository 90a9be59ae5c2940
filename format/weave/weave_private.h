/* SPDX-License-Identifier: MIT */
/*
 * Between weave.c (the whole), weave_stream.c (events of one stream), weave_kernel.c (those of the kernel),
 * weave_join.c (both on one CPU), weave_whole.c (pages as they are), weave_run.c (records copied), weave_out.c
 * (pages of one CPU), weave_raw.c and weave_beside.c (what else the file has).
 */
#ifndef FORMAT_WEAVE_PRIVATE_H
#define FORMAT_WEAVE_PRIVATE_H

#include "format/dat/dat_write.h"
#include "format/io/page_store.h"
#include "format/weave/time_map.h"
#include "format/weave/trace_info.h"
#include "format/weave/weave.h"

#include <librecorder/page.h>
#include <string.h>

/* CPU numbers from here on are damage: no kernel is built for more (CONFIG_NR_CPUS_RANGE_END of x86). */
#define WEAVE_CPUS_MAX 8192u

/* An amount of lost events, parts of which may be unknown. */
struct weave_loss {
	uint64_t known;
	bool unknown;
};

/* What has been taken from one stream and not yet been put out. */
struct weave_input {
	unsigned int number;
	unsigned int process;
	bool is_kernel;
	bool staged;	  /* programs' events on a CPU, in the file's own terms */
	unsigned int cpu; /* of the file, where all its events go: the kernel's, or raw's */
	const struct time_map *time;
	const struct trace_process_map *ids;
	unsigned int hint; /* the time map's */

	struct rec_page page;
	uint64_t pages; /* taken from the source */
	struct rec_page_iter iter;
	uint32_t seen; /* events at or behind page.from */
	bool in_page;

	struct rec_record record; /* the current event */
	struct trace_event_map to;
	uint64_t ns; /* its time in the file, never earlier than the one before it */
	bool ended;  /* of the kernel's streams: there is no current event */
	struct weave_loss loss; /* immediately before it */

	uint64_t events;
	uint64_t first_clock, last_clock;
	int32_t last_pid;
};

struct weave_figures {
	uint64_t events;
	uint64_t first_ns, last_ns;
	struct weave_loss loss;
};

/* One CPU of one buffer of the file. */
struct weave_cpu {
	unsigned int buffer;
	unsigned int number;
	struct rec_page_writer writer;
	unsigned char *page; /* NULL before the first event */
	bool open;	     /* the page was begun */
	bool has_stage;
	unsigned int stage; /* the track of its programs' pages that wait for the kernel's */
	struct weave_figures programs;
	struct weave_figures kernel;
};

struct weave_buffer {
	struct weave_cpu *cpus;
	unsigned int max_cpus;
};

struct weave_owner { /* a process */
	uint64_t events;
	unsigned int buffer; /* of the file */
	unsigned int last_cpu;
	struct weave_loss trailing;
	uint64_t no_lane;
};

struct weave {
	const struct weave_params *params;
	struct weave_stats stats;
	struct trace_info *info;
	struct time_map maps[REC_CLOCK_MONO + 1]; /* by clock */
	struct dat_writer *writer;
	struct page_store *stage; /* of pages that wait; NULL: there is nothing to wait for */
	bool is_staging;	  /* pages go there */
	bool has_texts;		  /* those known before the last event are written */
	uint32_t page_size;
	unsigned int nr_cpus; /* that the file has at least */
	unsigned int nr_lanes; /* streams of programs */
	bool raw_tsc;	      /* pages keep their TSC times */
	struct weave_input *inputs;
	struct weave_input **kernel_inputs; /* by CPU; NULL: none */
	unsigned int max_kernel_inputs;
	const struct weave_process *kernel; /* NULL: none */
	struct kernel_tasks *tasks;
	struct weave_buffer *buffers; /* the top one first */
	unsigned int nr_buffers;
	struct weave_owner *owners;
	uint64_t last_ns;
};

void weave_loss_add(struct weave_loss *loss, uint64_t lost);
void weave_loss_join(struct weave_loss *loss, const struct weave_loss *other);
static inline bool weave_loss_any(const struct weave_loss *loss)
{
	return loss->known || loss->unknown;
}

/* weave_stream.c: 1: the input's next event is in its fields; 0: it has ended; -errno: weaving cannot go on. */
int weave_input_next(struct weave *weave, struct weave_input *input);

/* The next page alone, as above; loss is that before its event at `from`. */
int weave_input_page(struct weave *weave, struct weave_input *input);

/* The page ends here, in damage or in order: missing events become losses. */
void weave_input_page_end(struct weave *weave, struct weave_input *input, bool damaged);

/* The id and kind of an event; asks for more of the log if need be. id 0: unknown. 0 or -ENOMEM. */
int weave_input_map(struct weave *weave, const struct weave_input *input, uint16_t id, struct trace_event_map *ret_to);

/* Give a payload that was copied the ids and call sites of the file. 0 or -ENOMEM. */
int weave_input_patch(struct weave *weave, const struct weave_input *input, struct trace_event_map to, void *payload,
		      uint32_t size);

/* The current event's time in the file: ns, raised if it goes back. */
void weave_input_time(struct weave *weave, struct weave_input *input, uint64_t ns);

/* The stream has ended: what is lost behind its last event. */
struct weave_loss weave_input_trailing(const struct weave *weave, struct weave_input *input);

/* weave_kernel.c: the first event of a stream. 0, -errno. */
int weave_kernel_begin(struct weave *weave, struct weave_input *input);
/* Put all events up to and including `until`, so that the next one is current. */
int weave_kernel_put(struct weave *weave, struct weave_input *input, uint64_t until);
/* The stream has ended: what is lost behind its last event. */
int weave_kernel_end(struct weave *weave, struct weave_input *input);
/*
 * For weave_whole.c: 1: the page's next event is in the input's fields, its time
 * by `time`; 0: the page has ended; -errno.
 */
int weave_kernel_next_on_page(struct weave *weave, struct weave_input *input, const struct time_map *time);

/*
 * weave_whole.c: put the whole stream, of which nothing was taken, where nothing
 * else goes; pages as they are if they can.
 */
int weave_kernel_pages(struct weave *weave, struct weave_input *input);

/* Whether weave_kernel_pages() leaves them as they are. */
bool weave_kernel_as_is(const struct weave *weave, const struct weave_input *input);

/*
 * weave_run.c: put the current event of the kernel or of a stage, as it is
 * but for the time that it counts. 0, -errno.
 */
int weave_put_record(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input);
/* Put what follows it on its page, up to and including `until`, as far as that is simple. How many, or -ENOMEM. */
int weave_put_run(struct weave *weave, struct weave_cpu *cpu, struct weave_input *input, uint64_t until);

/* weave_join.c: let the programs' pages wait, each CPU's apart. 0, -errno. */
int weave_stage_begin(struct weave *weave);
int weave_stage_page(struct weave *weave, struct weave_cpu *cpu);
/* Put all that waits, and the kernel's streams. 0, -errno. */
int weave_join(struct weave *weave);
/* From now on pages go straight to their place, until dat_write_scratch(). 0, -errno. */
int weave_straight(struct weave *weave);

/* What the kernel has given to an event that is of no program. 0: what stands there cannot be an event. */
static inline unsigned int weave_kernel_id(const void *payload, uint32_t size)
{
	uint16_t id;

	if (size < sizeof(struct rec_event_common))
		return 0;
	memcpy(&id, payload, sizeof(id));
	return id < REC_EVENT_ID_FIRST ? id : 0;
}

/* A time, in the file's clock, for an event that stands alone: that of the last event, or of the newest anchor. */
uint64_t weave_end_time(const struct weave *weave, unsigned int process);

/* A time of the stream in ns, whatever the file has. */
static inline uint64_t weave_input_ns(struct weave_input *input, uint64_t clock)
{
	return time_map_ns(input->time, &input->hint, clock);
}

/* weave_out.c */
int weave_cpu_get(struct weave *weave, unsigned int buffer, unsigned int number, struct weave_cpu **ret_cpu);
/* Memory for a page. */
int weave_cpu_page(struct weave *weave, struct weave_cpu *cpu);
/* Room for an event on a CPU, behind a loss. */
int weave_out_room(struct weave *weave, struct weave_cpu *cpu, uint64_t time, uint32_t size, const struct weave_loss *loss,
		   void **ret_room);
/* Put the input's current event on a CPU of its buffer. */
int weave_out_event(struct weave *weave, struct weave_input *input, unsigned int cpu);
/* The event that carries a loss with none behind it, on a CPU of the process's buffer. */
int weave_out_end(struct weave *weave, unsigned int cpu, unsigned int process, uint64_t time, struct weave_loss loss,
		  uint64_t no_lane);
/* Write the CPU's page, if one is begun. */
int weave_out_flush(struct weave *weave, struct weave_cpu *cpu);
int weave_out_flush_all(struct weave *weave);
/* Account for events or a gap of a process on a CPU. */
void weave_out_account(struct weave *weave, struct weave_cpu *cpu, unsigned int process, uint64_t events,
		       uint64_t first_ns, uint64_t last_ns);
void weave_out_lost(struct weave *weave, struct weave_cpu *cpu, unsigned int process, const struct weave_loss *loss);
/* Put the length, the loss and its count on a page of the file's size; clear what is not used. */
void weave_page_seal(const struct weave *weave, unsigned char *page, uint32_t size, uint64_t lost);

/* weave_raw.c: every stream to the CPU of its number. */
int weave_raw(struct weave *weave);

/* weave_beside.c: what stands beside the pages and is known once the programs' were read. 0, -errno. */
int weave_texts(struct weave *weave);
/* The rest, and the end. */
int weave_finish(struct weave *weave);

#endif
