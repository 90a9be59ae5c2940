/* SPDX-License-Identifier: MIT */
/* Between weave.c (the whole), weave_stream.c (events of one stream), weave_out.c (pages of one CPU), weave_raw.c. */
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
	const struct time_map *time;
	const struct trace_process_map *ids;
	unsigned int hint; /* the time map's */

	struct rec_page page;
	struct rec_page_iter iter;
	uint32_t seen; /* events at or behind page.from */
	bool in_page;

	struct rec_record record; /* the current event */
	struct trace_event_map to;
	uint64_t ns; /* its time, never earlier than the one before it */
	struct weave_loss loss; /* immediately before it */

	uint64_t events;
	uint64_t first_clock, last_clock;
	int32_t last_pid;
};

/* One CPU of the file. */
struct weave_cpu {
	struct rec_page_writer writer;
	unsigned char *page; /* NULL before the first event */
	bool open;	     /* the page was begun */
	uint64_t events;
	uint64_t first_ns, last_ns;
	struct weave_loss loss;
};

struct weave_owner { /* a process */
	uint64_t events;
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
	bool raw_tsc;	      /* pages keep their TSC times */
	struct weave_input *inputs;
	struct weave_cpu *cpus;
	unsigned int max_cpus;
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

/* The stream has ended: what is lost behind its last event. */
struct weave_loss weave_input_trailing(const struct weave *weave, struct weave_input *input);

/* weave_out.c */
int weave_cpu_get(struct weave *weave, unsigned int number, struct weave_cpu **ret_cpu);
/* Put the input's current event on a CPU of the file. */
int weave_out_event(struct weave *weave, struct weave_input *input, unsigned int cpu);
/* The event that carries a loss with none behind it, on a CPU of the file. */
int weave_out_end(struct weave *weave, unsigned int cpu, unsigned int process, uint64_t time, struct weave_loss loss,
		  uint64_t no_lane);
/* Write the CPU's page, if one is begun. */
int weave_out_flush(struct weave *weave, unsigned int cpu);
/* Account for an event or a gap on a CPU. */
void weave_out_account(struct weave *weave, struct weave_cpu *cpu, unsigned int process, uint64_t events,
		       uint64_t first_ns, uint64_t last_ns);
void weave_out_lost(struct weave *weave, struct weave_cpu *cpu, const struct weave_loss *loss);

/* weave_raw.c: every stream to the CPU of its number. */
int weave_raw(struct weave *weave);

#endif
