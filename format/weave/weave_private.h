/* SPDX-License-Identifier: MIT */
/*
 * Shared by weave.c (the whole), weave_params.c (the parameters), weave_buffers.c, weave_stream.c (events of one
 * stream), weave_kernel.c (events of the kernel), weave_join.c (both on one CPU), weave_passthrough.c (unchanged
 * pages), weave_run.c (records copied), weave_out.c (pages of one CPU), weave_raw.c and weave_metadata.c (the other
 * contents of the file).
 */
#ifndef FORMAT_WEAVE_PRIVATE_H
#define FORMAT_WEAVE_PRIVATE_H

#include "format/dat/dat_losses.h"
#include "format/dat/dat_write.h"
#include "format/io/page_store.h"
#include "format/weave/graph_depth.h"
#include "format/weave/hidden_threads.h"
#include "format/weave/time_map.h"
#include "format/weave/trace_info.h"
#include "format/weave/weave.h"

#include <librecorder/page.h>
#include <string.h>

/* A CPU number from here on is damage: no kernel is built for more CPUs (CONFIG_NR_CPUS_RANGE_END of x86). */
#define WEAVE_CPUS_MAX 8192u

/* A number of lost events, parts of which may be unknown. */
struct weave_loss {
	uint64_t known;
	bool unknown;
};

/*
 * The data that the files that read streams need: some of the parameters (described in struct weave_params), the list
 * of events, and the counts.
 */
struct weave_in {
	struct rec_source *source;
	bool has_wants; /* some events may be left out */
	int (*progress)(void *arg, uint64_t pages);
	void *progress_arg;
	bool (*refresh)(void *arg, unsigned int process, const void **ret_log, size_t *ret_size);
	void *refresh_arg;
	struct trace_info *info;
	struct weave_stats *stats;
};

/* The state of one stream, and the event that was taken from it and is not yet written. */
struct weave_input {
	const struct weave_in *in; /* NULL for pages that wait: they are not read from a stream */
	unsigned int number;
	unsigned int process;
	const struct weave_stream *stream;
	uint32_t subbuf_size; /* size of its sub-buffers; 0: not known */
	bool is_kernel;
	bool staged;	  /* its events are those of programs on a CPU, and already have the file's ids and times */
	unsigned int cpu; /* the CPU of the file that gets all its events, for the kernel's streams and for raw */
	uint32_t graph_depth; /* for the kernel's streams: calls from this depth on are left out; 0: none */
	const struct time_map *time;
	const struct trace_process_map *ids;
	unsigned int hint; /* hint for the time map */

	struct rec_page page;
	uint64_t pages; /* taken from the source */
	struct rec_page_iter iter;
	uint32_t seen; /* events at or after page.from */
	bool in_page;

	struct rec_record record; /* the current event */
	struct trace_event_map to;
	uint64_t ns; /* its time in the file, never earlier than the one before it */
	bool ended;  /* for the kernel's streams: there is no current event */
	struct weave_loss loss; /* immediately before it */
	uint64_t lost_since;	/* if there is a loss: nothing of the stream was lost up to this time of the file */
	uint64_t left_out;	/* for the kernel's streams: events for which weave_leaves_out() is true */

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
	uint32_t pid;
	bool is_kernel;
	uint64_t events;
	unsigned int buffer; /* number of the file's buffer */
	unsigned int last_cpu;
	struct weave_loss trailing;
	uint64_t trailing_since; /* as lost_since */
	uint64_t no_lane;
};

/* The data from which the metadata of the file are made. */
struct weave_meta {
	const struct weave_process *processes;
	unsigned int nr_processes;
	const struct dat_notes *notes;
	const struct weave_text *maps;
	unsigned int nr_maps;
	uint64_t date;
	bool raw;   /* lanes are unchanged; if the kernel is recorded, they have one buffer of their own */
	bool split; /* each process has a buffer */
};

/* The data that the files that write pages need: the buffers of the file, their CPUs, and the counts. */
struct weave_out {
	struct dat_writer *writer;
	struct trace_info *info;
	struct weave_stats *stats;
	struct page_store *stage; /* for pages that wait; NULL: no page has to wait */
	bool is_staging;	  /* pages go to the stage */
	uint32_t page_size;
	struct weave_buffer *buffers; /* the top one first */
	unsigned int nr_buffers;
	struct weave_owner *owners; /* by process */
	struct dat_losses kernel_losses, program_losses; /* when events were lost */
	uint64_t last_ns;	    /* time of the last event */
};

/* What all of the kernel's streams share. */
struct weave_of_kernel {
	struct kernel_tasks *tasks;
	struct hidden_threads hidden; /* threads whose kernel events are left out */
	struct graph_depth graph;     /* the events of calls */
};

/* Whether an event of the kernel is left out; `size` is at least that of its common fields. */
static inline bool weave_leaves_out(const struct weave_of_kernel *of_kernel, const struct weave_input *input,
				    unsigned int id, const void *payload, uint32_t size)
{
	if (input->graph_depth && graph_depth_is_reached(&of_kernel->graph, input->graph_depth, id, payload, size))
		return true;
	return hidden_threads_leave_out(&of_kernel->hidden, of_kernel->tasks, id, payload, size);
}

struct weave {
	struct weave_in in;
	struct weave_out out;
	struct weave_of_kernel of_kernel;
	struct weave_meta meta;
	struct weave_stats stats;
	struct time_map maps[REC_CLOCK_MONO + 1]; /* by clock */
	bool has_texts;		  /* the texts that are known before the last event have been written */
	unsigned int nr_cpus; /* the smallest number of CPUs of the file */
	unsigned int nr_lanes; /* streams of programs */
	bool raw_tsc;	      /* pages keep their TSC times */
	struct weave_input *inputs;
	struct weave_input **kernel_inputs; /* the kernel's streams of the top buffer, by CPU; NULL: none */
	unsigned int max_kernel_inputs;
	const struct weave_process *kernel; /* the kernel whose events are in the top buffer; NULL: none */
	unsigned int nr_kernels;	    /* including those in other buffers */
};

/* Whether the stream is the kernel's and its pages go to a buffer of its own. */
static inline bool weave_is_apart(const struct weave_out *out, const struct weave_input *input)
{
	return input->is_kernel && out->owners[input->process].buffer;
}

/* weave_params.c: 0, or as weave_to_dat(). */
int weave_check(struct weave *weave, const struct weave_params *params);
/* Pass each step its part of the parameters, and fill in the descriptions of processes and streams. 0, -errno. */
int weave_take(struct weave *weave, const struct weave_params *params);

void weave_loss_add(struct weave_loss *loss, uint64_t lost);
/* Counts events that were lost before the stream's next event, the first of them after `since`. */
void weave_input_lose(struct weave_input *input, uint64_t lost, uint64_t since);
void weave_loss_join(struct weave_loss *loss, const struct weave_loss *other);
static inline bool weave_loss_any(const struct weave_loss *loss)
{
	return loss->known || loss->unknown;
}

/*
 * weave_stream.c, which uses only the part of the weave in input->in.
 *
 * 1: the input's next event is in its fields; 0: it has ended; -errno: weaving cannot continue.
 */
int weave_input_next(struct weave_input *input);

/* Take only the next page, with results as above; `loss` precedes the page's event at `from`. */
int weave_input_page(struct weave_input *input);

/* The page ends here, normally or by damage: the events that are missing from it become losses. */
void weave_input_page_end(struct weave_input *input, bool damaged);

/* The id and kind of an event; asks for a newer log if needed. id 0: unknown. 0 or -ENOMEM. */
int weave_input_map(const struct weave_input *input, uint16_t id, struct trace_event_map *ret_to);

/* Replace ids and call sites in a copied payload by those of the file. 0 or -ENOMEM. */
int weave_input_patch(const struct weave_input *input, struct trace_event_map to, void *payload, uint32_t size);

/* The current event's time in the file: ns, raised if it goes back. */
void weave_input_time(struct weave_input *input, uint64_t ns);

/* The stream has ended: account for losses after its last event. */
struct weave_loss weave_input_trailing(struct weave_input *input);

/*
 * weave_kernel.c, which uses only the parts of the weave in its parameters.
 *
 * The first event of a stream. 0, -errno.
 */
int weave_kernel_begin(const struct weave_of_kernel *of_kernel, struct weave_input *input);
/* Write all events up to and including `until`, so that the next one is current. */
int weave_kernel_put(const struct weave_of_kernel *of_kernel, struct weave_out *out, struct weave_input *input,
		     uint64_t until);
/* The stream has ended: account for losses after its last event, as an event at the time `end`. */
int weave_kernel_end(struct weave_out *out, struct weave_input *input, uint64_t end);
/*
 * For weave_passthrough.c: 1: the page's next event is in the input's fields, its time
 * by `time`; 0: the page has ended; -errno.
 */
int weave_kernel_next_on_page(const struct weave_of_kernel *of_kernel, struct weave_input *input,
			      const struct time_map *time);

/*
 * weave_passthrough.c: write a whole stream that nothing is merged into, and of which no event was taken yet; its pages
 * stay unchanged if possible.
 */
int weave_kernel_pages(struct weave *weave, struct weave_input *input);

/* Whether weave_kernel_pages() leaves them unchanged. */
bool weave_kernel_as_is(const struct weave *weave, const struct weave_input *input);

/*
 * weave_run.c, which uses only the parts of the weave in its parameters.
 *
 * Write the current event of the kernel or of a stage, unchanged except for its time difference. 0, -errno.
 */
int weave_put_record(struct weave_out *out, struct weave_cpu *cpu, struct weave_input *input);
/*
 * Write the events after it on its page, up to and including `until`, as long as they are simple. Their number, or
 * -ENOMEM.
 */
int weave_put_run(const struct weave_of_kernel *of_kernel, struct weave_cpu *cpu, struct weave_input *input,
		  uint64_t until);

/* weave_join.c: let the programs' pages wait, separately for each CPU. 0, -errno. */
int weave_stage_begin(struct weave *weave);
int weave_stage_page(struct weave_out *out, struct weave_cpu *cpu);
/* Write everything that waits, and the kernel's streams. 0, -errno. */
int weave_join(struct weave *weave);
/* From now on pages go straight to their place, until dat_write_scratch(). 0, -errno. */
int weave_straight(struct weave *weave);

/* The id that the kernel has given to an event that belongs to no program. 0: the data cannot be an event. */
static inline unsigned int weave_kernel_id(const void *payload, uint32_t size)
{
	uint16_t id;

	if (size < sizeof(struct rec_event_common))
		return 0;
	memcpy(&id, payload, sizeof(id));
	return id < REC_EVENT_ID_FIRST ? id : 0;
}

/* The time of a synthetic event, in the file's clock: that of the last event, or of the newest anchor. */
uint64_t weave_end_time(const struct weave *weave, unsigned int process);

/* A time of the stream in ns, whatever clock the file has. */
static inline uint64_t weave_input_ns(struct weave_input *input, uint64_t clock)
{
	return time_map_ns(input->time, &input->hint, clock);
}

/* weave_out.c, which uses only the part of the weave in its parameter. */
int weave_cpu_get(struct weave_out *out, unsigned int buffer, unsigned int number, struct weave_cpu **ret_cpu);
/* Memory for a page. */
int weave_cpu_page(struct weave_out *out, struct weave_cpu *cpu);
/* Make room for an event on a CPU, after a loss. */
int weave_out_room(struct weave_out *out, struct weave_cpu *cpu, uint64_t time, uint32_t size,
		   const struct weave_loss *loss, void **ret_room);
/* Write the input's current event to a CPU of its buffer. */
int weave_out_event(struct weave_out *out, struct weave_input *input, unsigned int cpu);
/* The event that carries a loss that no event follows, on a CPU of the process's buffer. */
int weave_out_end(struct weave_out *out, unsigned int cpu, unsigned int process, uint64_t time, struct weave_loss loss,
		  uint64_t since, uint64_t no_lane);
/* Write the CPU's page, if one was begun. */
int weave_out_flush(struct weave_out *out, struct weave_cpu *cpu);
int weave_out_flush_all(struct weave_out *out);
/* Count a process's events or loss on a CPU; the loss was between the two times of the file. */
void weave_out_account(struct weave_out *out, struct weave_cpu *cpu, unsigned int process, uint64_t events,
		       uint64_t first_ns, uint64_t last_ns);
void weave_out_lost(struct weave_out *out, struct weave_cpu *cpu, unsigned int process, const struct weave_loss *loss,
		    uint64_t since, uint64_t until);
/* Store the length, the loss and its count in a page of the file's size; clear the unused rest. */
void weave_page_seal(const struct weave_out *out, unsigned char *page, uint32_t size, uint64_t lost);

/*
 * weave_buffers.c: which buffer of the file each process has, with memory for them; their names, in the file.
 * `has_kernel`: the top buffer has events of a kernel. 0, -errno.
 */
int weave_take_buffers(struct weave_out *out, const struct weave_meta *meta, bool has_kernel);
int weave_name_buffers(const struct weave_out *out, const struct weave_meta *meta);

/* weave_raw.c: write every stream to the CPU with its number. */
int weave_raw(struct weave *weave);

/* weave_metadata.c: the metadata that are known once the programs' pages were read. 0, -errno. */
int weave_texts(struct weave *weave);
/* The other metadata, and the end of the file. */
int weave_finish(struct weave *weave);

#endif
