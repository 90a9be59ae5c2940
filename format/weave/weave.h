/* SPDX-License-Identifier: MIT */
/*
 * From drained pages to a trace.dat. The events of all streams are merged by time into one stream per real CPU,
 * stamped in nanoseconds of CLOCK_MONOTONIC; or, raw, each stream becomes one "CPU" of the file, unchanged.
 *
 * Order: time never goes back within a CPU; events of one stream keep their order; at equal times the kernel's events
 * come first, then those of the stream with the lower number. Loss: if the source reports a loss before an event, that
 * event begins a page with the kernel's missed-events bits and count. Losses after the last event of a stream are
 * carried by one synthetic event per process (raw: per stream), recorder:end, which exists only then; in woven files
 * it follows the last event of the programs. A gap of unknown size makes the count of the page unknown. So
 *
 *     sum of the counts in the file's pages = sum of the losses reported for sources, streams and processes,
 *     events in the file = events the sources handed over + stats.synthetic.
 *
 * Raw files have the clock of the processes, x86-tsc with the line that converts it to nanoseconds; if the processes
 * have different clocks, the times are converted, and the CPU markers are lost.
 *
 * Memory: one page per CPU, one page per stream (the source's), buffers of 16 MiB, eight bytes for each MiB of output,
 * and the names. Threads: one at a time per call, no state elsewhere. Not signal-safe.
 */
#ifndef FORMAT_WEAVE_H
#define FORMAT_WEAVE_H

#include <librecorder/clock.h>
#include <librecorder/event_text.h>
#include <librecorder/source.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/dat/dat_notes.h"

struct dat_packing;

/* A text that belongs to the caller, and need not end with a NUL. `data` NULL: no text. */
struct weave_text {
	const char *data;
	size_t size;
};

/* The format of one event, as in tracefs. */
struct weave_format {
	const char *system; /* "sched"; "ftrace" for the kernel's own */
	struct weave_text text;
};

/* The kernel's texts, as in its files. */
struct weave_kernel {
	const char *buffer; /* name of its buffer in the file; NULL: the top one */
	/*
	 * The kernel's name of its clock. "local" and others match no program's clock; NULL: "x86-tsc" or "mono",
	 * according to the process.
	 */
	const char *clock;
	const char *uname; /* "Linux host 6.1.0 x86_64"; NULL: this machine's present one */
	const struct weave_format *formats; /* if an event is listed twice, one of them is used */
	unsigned int nr_formats;
	struct weave_text printk;   /* printk_formats */
	struct weave_text kallsyms;
	struct weave_text cmdlines; /* saved_cmdlines */
	const struct weave_text *cpu_stats; /* by CPU: per_cpu/cpuN/stats */
	unsigned int nr_cpu_stats;
	uint32_t graph_depth; /* calls of the function graph from this depth on are left out (graph_depth.h); 0: none */
};

#define WEAVE_KERNELS_MAX 64u

/*
 * A process whose streams are woven, or the kernel. The kernel may be listed several times, at most WEAVE_KERNELS_MAX,
 * with the same clock. Exactly one of these has no name of its buffer; the file has the texts of that one. Its streams
 * are CPUs, at most one each, with the kernel's own pages. Everything that is pointed to belongs to the caller and is
 * only read.
 */
struct weave_process {
	const struct weave_kernel *kernel; /* NULL: a program. Otherwise pid is 0 and there is no log */
	uint32_t pid;
	uint32_t clock; /* the clock of its pages: REC_CLOCK_TSC; REC_CLOCK_MONO, also for other clocks of the kernel */
	uint32_t subbuf_size; /* size of its sub-buffers */
	bool other_pids;      /* its thread ids differ from the kernel's, because it is in another pid namespace */
	const char *comm;     /* name for threads that have none of their own */
	/* struct rec_log_record..., aligned to 8; read after the last page, so that it names every event */
	const void *log;
	size_t log_size;
	const struct rec_anchor
		*anchors; /* any order; anchors of all processes with the same clock are used together */
	unsigned int nr_anchors;
	uint64_t lost; /* events of a program that belong to no stream (no lane); REC_LOST_UNKNOWN */
};

/*
 * The file that has a kernel stream's pages, back to back, each as long as a sub-buffer. Pages that need no change are
 * copied from it. next() is still called, and returns the same pages.
 */
struct weave_file {
	int fd;
	uint64_t offset; /* offset of the first page */
};

/* Describes the source's stream of the same number. */
struct weave_stream {
	unsigned int process; /* index */
	unsigned int cpu;     /* CPU of a stream of the kernel */
	const struct weave_file *file; /* NULL: its pages are in no file */
	/* of the kernel: events that were read and not kept (-m), so the pages report them as lost */
	uint64_t not_kept;
	/*
	 * Events lost after the last one handed over; REC_LOST_UNKNOWN. Read once, when the source has returned 0 or
	 * an error for this stream: next() may still write it before that.
	 */
	uint64_t lost;
};

enum weave_buffers {
	WEAVE_WOVEN, /* all in the top buffer */
	WEAVE_SPLIT, /* the kernel in the top buffer, each process in its own buffer, "comm-pid" */
};

struct weave_params {
	struct rec_source *source;
	const struct weave_stream *streams;	/* source->nr_streams of them */
	const struct weave_process *processes;
	unsigned int nr_processes;
	/* More anchors of the machine's TSC, such as the recorder's own. */
	const struct rec_anchor *anchors;
	unsigned int nr_anchors;

	bool refuse_empty;     /* if there are no events, no file is written: -ENODATA */
	const char *output;    /* path; an existing file is replaced once the new one is complete */
	unsigned int version;  /* of the file: 6 (also when 0) or 7 */
	/* how a file of version 7 is compressed (dat_packer.h); NULL: not compressed */
	const struct dat_packing *packing;
	bool raw;	       /* pages unchanged: lanes as CPUs; with the kernel, in a separate buffer, "lanes" */
	enum weave_buffers buffers; /* ignored for raw */
	uint32_t page_size;    /* of the file; 0: 4096; raised to the largest sub-buffer of the processes */
	unsigned int nr_cpus;  /* of this machine: the file has at least as many; ignored for raw */
	/*
	 * The notes for the file about how it is made; the weave fills in the time error. The kernel's events of the
	 * hidden threads are left out (hidden_threads.h).
	 */
	struct dat_notes notes;
	const struct weave_text *maps; /* maps of processes, each for an option PROCMAPS */
	unsigned int nr_maps;
	/* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns, for the option DATE; 0: the file does not state it */
	uint64_t date;

	/*
	 * Whether the file gets an event of programs. Other events are neither woven nor counted as lost. NULL: it gets
	 * all.
	 */
	bool (*wants)(void *arg, const struct rec_words *system, const struct rec_words *name);
	void *wants_arg;

	/*
	 * Called about every MiB of input; pages is the number taken from the source so far. If the result is not 0,
	 * weaving ends with -ECANCELED.
	 */
	int (*progress)(void *arg, uint64_t pages);
	void *arg;

	/*
	 * Called if the log of a process does not describe an event, because the program is still running: stores the
	 * current log, of which the earlier log is the beginning, and returns true if the log has grown. NULL: logs
	 * are complete.
	 */
	bool (*refresh)(void *arg, unsigned int process, const void **ret_log, size_t *ret_size);
	void *refresh_arg;
};

struct weave_stats {
	uint64_t events;       /* written, without synthetic ones */
	uint64_t lost;	       /* known losses; including damaged_events and, unless raw, unknown_events */
	uint64_t lost_unknown; /* gaps of unknown size, in addition */
	uint64_t synthetic;    /* recorder:end events */
	uint64_t threads;      /* different tids of programs */
	uint64_t processes;    /* programs with events */
	uint64_t cpus;	       /* CPUs with events; raw: streams with events */
	uint64_t kernel_events; /* the part of `events` that are the kernel's */
	uint64_t kernel_cpus;	/* its streams with events */
	uint64_t first_time;   /* ns, CLOCK_MONOTONIC; 0 without events */
	uint64_t last_time;
	uint64_t pages;	       /* taken from the source */
	uint64_t file_size;
	/*
	 * maximum difference of the file's times from CLOCK_MONOTONIC, ns, according to the anchors; UINT64_MAX:
	 * unknown
	 */
	uint64_t time_error;

	/* Errors; 0 in a normal recording. */
	uint64_t damaged_streams; /* ended by an error of the source */
	uint64_t damaged_pages;	  /* contained fewer events than they should */
	uint64_t damaged_events;  /* events missing on damaged pages */
	/* not described by the process's log: left out; in a raw file they are kept with id 0, and counted as events */
	uint64_t unknown_events;
	uint64_t cpu_unknown;	  /* events whose CPU is not known; they are put on CPU 0 */
	uint64_t time_raised;	  /* events that went back in time; they got the time of their predecessor */
	uint64_t time_raised_max; /* the largest such change, ns */
};

/*
 * Read every stream to its end and write the file. A damaged stream ends at the damage; the others continue. Any other
 * error of the source ends the weave. 0; -EINVAL (no such version, page size, clock or process index; output exists
 * and is not a regular file); -E2BIG (raw with more than 4096 streams); -ENOMEM; -ECANCELED; the error of the source;
 * or the errno of open, write or rename; or -ENODATA (params->refuse_empty): then ret_stats is filled in, for a file of
 * 0 bytes. After any other failure ret_stats is untouched. After any failure output is unchanged.
 */
int weave_to_dat(const struct weave_params *params, struct weave_stats *ret_stats);

#endif
