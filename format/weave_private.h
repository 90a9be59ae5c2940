/* SPDX-License-Identifier: MIT */
/*
 * Between weave.c (the whole), weave_stream.c (events of one stream), weave_kernel.c (those of the kernel),
 * weave_out.c (pages of one CPU), weave_raw.c and weave_beside.c (what else the file has).
 */
#ifndef FORMAT_WEAVE_PRIVATE_H
#define FORMAT_WEAVE_PRIVATE_H

#include "format/dat_write.h"
#include "format/time_map.h"
#include "format/trace_info.h"
#include "format/weave.h"

#include <librecorder/page.h>

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
/* Put the whole stream, of which nothing was taken, where nothing else goes; pages stay as they are if they can. */
int weave_kernel_pages(struct weave *weave, struct weave_input *input);
/* The stream has ended: what is lost behind its last event. */
int weave_kernel_end(struct weave *weave, struct weave_input *input);

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

/* weave_beside.c: all beside the pages, and the end. */
int weave_finish(struct weave *weave);

#endif
