/* SPDX-License-Identifier: MIT */
/*
 * recorder record: run a command with its events on, or attach to running programs, or record the kernel, or both. This
 * file reads the command line; record_run.c does the work.
 */
#include "cli/cmd.h"
#include "cli/common/compression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/record/record.h"

/* The clocks of -C; programs can use only the first PROGRAM_CLOCKS of them. */
#define CLOCK_WORDS "tsc|mono|x86-tsc|local|global|counter|uptime|perf|mono_raw|boot|tai"
static const char *const clocks[] = { "x86-tsc", "mono", "x86-tsc",  "local", "global", "counter",
				      "uptime",	 "perf", "mono_raw", "boot",  "tai" };
#define PROGRAM_CLOCKS 3u

#define BUFFER_KB_MIN 8u
#define BUFFER_KB_MAX (16u << 20)

static const char *wrong_without_command(const struct record *record)
{
	const bool kernel = record_buffers_any(&record->kernel.buffers);

	if (!record->programs.word && record->user)
		return "missing COMMAND, or -P and a running program";
	if (!record->programs.word && record->threads)
		return "--tid needs -P: the threads of a COMMAND are not known before it runs";
	if (record->as_user)
		return "--user needs a COMMAND";
	if (record->user && !kernel &&
	    (record->mode != UINT32_MAX || record->kernel.buffers.now.size || record->subbuf_kb ||
	     record->clock != UINT32_MAX))
		return "-b, --subbuf-size, --mode and -C cannot be used with -P: a running program keeps its settings";
	return NULL;
}

static const char *wrong_with_command(const struct record *record)
{
	if (record->programs.word)
		return "give either a COMMAND or -P, not both";
	if (record->threads)
		return "--tid needs -P: the threads of a COMMAND are not known before it runs";
	if (record->programs.dir)
		return "--dir needs -P; the buffers of a COMMAND are in $RECORDER_DIR";
	return NULL;
}

/* Report options about programs' events if programs are not recorded. */
static const char *wrong_without_user(const struct record *record)
{
	if (!record_buffers_any(&record->kernel.buffers))
		return "-u none leaves out the events of programs: it needs -e or -p";
	if (record->user_events.nr > 1)
		return "-u none leaves out the events of programs: it cannot be used with another -u, or with -x, "
		       "-f or --rate for them";
	return NULL;
}

/* Check that there is either a command or programs, with options for this form only. */
static bool is_complete(struct record *record)
{
	const char *wrong = record->command[0] ? wrong_with_command(record) : wrong_without_command(record);

	if (!wrong && record->kernel.buffers.now.size && record->kernel.buffers.now.grow &&
	    !record_buffers_any(&record->kernel.buffers))
		wrong = "-b auto is for the kernel's events: it needs -e or -p";
	if (!wrong && !record->user && record->user_is_asked)
		wrong = wrong_without_user(record);
	if (!wrong && !record->user && !record->user_is_asked && record->user_events.nr)
		wrong = "-x and --rate are for the events of programs: they need a COMMAND or -P";
	if (!wrong && record->user && record->clock != UINT32_MAX && record->clock >= PROGRAM_CLOCKS)
		wrong = "programs can only use the clocks tsc and mono (-C); -u none records the kernel alone";
	if (!wrong && record->date && record->clock != UINT32_MAX && record->clock >= PROGRAM_CLOCKS)
		wrong = "--date needs a clock whose difference from the time of day is known: tsc or mono (-C)";
	if (!wrong && record->proc_map && !record->command[0] && !record->programs.word)
		wrong = "--proc-map is for the processes of a COMMAND or of -P";
	if (!wrong && record->daemonize && !strcmp(record->output_name, "-"))
		wrong = "--daemonize needs a file: in the background there is no standard output (-o)";
	if (!wrong)
		wrong = record_kernel_wrong(&record->kernel, record->command[0], record->programs.word);
	if (wrong)
		complain(RECORD, "%s (see 'recorder record --help')", wrong);
	return !wrong;
}

/* Decide whether programs are recorded: those that are named or started are, unless they are left out. */
static void choose_user(struct record *record)
{
	bool none = false;

	for (unsigned int i = 0; i < record->user_events.nr; i++)
		if (record->user_events.opts[i]->letter == 'u') {
			record->user_is_asked = true;
			none |= !strcmp(record->user_events.items[i], "none");
		}
	record->user = !none && (record->user_is_asked || record->command[0] || record->programs.word ||
				 !record_buffers_any(&record->kernel.buffers));
}

/* Read a size in KB, or auto: then rings grow with the rate of events. */
static bool read_size(struct record_buffer *buffer)
{
	const char *word = buffer->size;
	uint64_t *kb = &buffer->request.buffer_kb;
	char *end;

	buffer->grow = !word || !strcmp(word, "auto");
	if (buffer->grow)
		return true;
	errno = 0;
	*kb = strtoull(word, &end, 10);
	if (*word >= '0' && *word <= '9' && !*end && !errno && *kb >= BUFFER_KB_MIN && *kb <= BUFFER_KB_MAX)
		return true;
	complain(RECORD, "option '-b' takes a number from %u to %u, or auto, not '%s' (see 'recorder record --help')",
		 BUFFER_KB_MIN, BUFFER_KB_MAX, word);
	return false;
}

/* Histograms of times need a clock that counts nanoseconds, so the default is mono for them, not the TSC. */
static void choose_clock(struct record *record)
{
	const char *clock = record->clock != UINT32_MAX ? clocks[record->clock] : NULL;
	struct record_buffers *buffers = &record->kernel.buffers;
	struct record_buffer *buffer;

	for (unsigned int i = 0; !clock && (buffer = record_buffers_get(buffers, i)); i++)
		clock = kernel_request_sets_clock(&buffer->request) ? "mono" : NULL;
	for (unsigned int i = 0; (buffer = record_buffers_get(buffers, i)); i++)
		buffer->request.clock = clock;
}

/* Complete the settings of each of the kernel's buffers. False: one line was printed. */
static bool read_buffers(struct record *record)
{
	struct record_buffers *buffers = &record->kernel.buffers;
	struct kernel_request *requests[RECORD_BUFFERS_MAX + 1] = { NULL };
	struct record_buffer *buffer;

	if (!record_buffers_end(buffers))
		return false;
	for (unsigned int i = 0; (buffer = record_buffers_get(buffers, i)); i++) {
		struct kernel_request *request = &buffer->request;

		requests[i] = request;
		if (!read_size(buffer) ||
		    !kernel_options_lists(RECORD, &buffer->functions, &buffer->options, request))
			return false;
		request->discard = record->mode == 1;
		request->subbuf_kb = record->subbuf_kb;
		request->quiet = record->quiet;
		request->wake_each = !record->sleep_us;
	}
	if (!kernel_options_events(RECORD, &record->events, requests, &record->user_events))
		return false;
	choose_clock(record);
	return true;
}

/* Evaluate the options together. False: one line was printed. */
static bool read_options(struct record *record)
{
	if (!compression_choose(RECORD, record->compression, &record->version, &record->packing,
				&record->output.packing) ||
	    !read_buffers(record))
		return false;
	choose_user(record);
	record->lanes.subbuf_kb = record->subbuf_kb;
	if (record->mode != UINT32_MAX)
		record->lanes.mode = record->mode ? "discard" : "overwrite";
	if (record->clock != UINT32_MAX)
		record->lanes.clock = record->clock == 1 ? "mono" : "tsc";
	record->lanes.lane_kb = record->kernel.buffers.now.request.buffer_kb;
	record->kernel.wait_us = record->sleep_us != UINT64_MAX ? record->sleep_us : 0;
	record->output.sink = &record_sink;
	record->output.verb = "recorded";
	record->output.quiet = record->quiet;
	record->output.ret_empty = &record->is_empty;
	record->output.ret_unsent = &record->is_unsent;
	record->output.why_empty = "none of the kernel's events occurred";
	/* If the kernel is recorded and -u was not given, the command need not use librecorder. */
	record->output.programs_may_lack = record_buffers_any(&record->kernel.buffers) && !record->user_is_asked;
	return is_complete(record);
}

static bool select_events(struct record *record)
{
	if (!record->user)
		return true;
	if (!selections_make(RECORD, &record->user_events, record->threads, &record->selections))
		return false;
	record->enable = selections_text(&record->selections);
	if (!record->enable)
		complain(RECORD, "out of memory");
	return record->enable;
}

/* Record in this process; with --daemonize, in another process that outlives it. Returns the exit status. */
static int run(struct record *record)
{
	int status = EXIT_FAILURE;
	const int err = record->daemonize ? background_fork(&record->background, &status) : 1;

	if (err > 0)
		return record_run(record);
	if (err < 0)
		complain(RECORD, "cannot continue in the background: %s", strerror(-err));
	else if (!status && !record->quiet)
		complain(RECORD, "process %d records in the background; 'kill %d' ends the recording and writes '%s'",
			 (int)record->background.pid, (int)record->background.pid, record->output_name);
	return status;
}

/* Options: which events are recorded. */
#define OPT_RECORD_WHAT(record)                                                                                        \
	OPT_STRING('o', "output", "FILE", "write to FILE (trace.dat); -: to standard output",                          \
		   &(record).output_name),                                                                             \
	OPT_USER_EVENT(&(record).events),                                                                              \
	OPT_LEAVE_OUT(&(record).events),                                                                               \
	OPT_KERNEL_EVENT(&(record).events),                                                                            \
	OPT_FILTER(&(record).events),                                                                                  \
	OPT_TRIGGER(&(record).events),                                                                                 \
	OPT_EXCLUDE(&(record).events),                                                                                 \
	OPT_RATE(&(record).events),                                                                                    \
	OPT_KERNEL((record).kernel),                                                                                   \
	OPT_STRING('P', "pid", "PROGRAM", "record running programs: pids separated by commas, or a name",              \
		   &(record).programs.word),                                                                           \
	OPT_PROGRAMS_DIR((record).programs),                                                                           \
	OPT_STRING(0, "tid", "TID", "with -P: only these threads, separated by commas", &(record).threads),            \
	OPT_TIME(0, "duration", "TIME", "end after this time: seconds, or as 500ms, 2m", &(record).duration),          \
	OPT_STRING(0, "user", "USER", "run COMMAND as this user (root only)", &(record).as_user)

/* Options: how they are recorded. */
#define OPT_RECORD_HOW(record)                                                                                         \
	OPT_STRING('b', "buffer-size", "KB|auto",                                                                      \
		   "size of a thread's lane (1024) and of a CPU's ring in the kernel (auto)",                          \
		   &(record).kernel.buffers.now.size),                                                                 \
	OPT_NUMBER('s', NULL, "US", 0, 3600u * 1000000u,                                                               \
		   "longest time between two reads, in microseconds; 0: read events as they arrive",                   \
		   &(record).sleep_us),                                                                                \
	OPT_CHOICE(0, "mode", "overwrite|discard", "what a full buffer loses: the oldest events or new ones",          \
		   &(record).mode),                                                                                    \
	OPT_NUMBER(0, "subbuf-size", "KB", 4, 512, "size of sub-buffers (4)", &(record).subbuf_kb),                    \
	OPT_CHOICE('C', "clock", CLOCK_WORDS, "clock (tsc, if it is reliable)", &(record).clock)

/* Options: the form of the file. */
#define OPT_RECORD_FILE(record)                                                                                        \
	OPT_CHOICE(0, "file-version", "6|7", "version of the file (6; compressed: 7)", &(record).version),             \
	OPT_STRING(0, "compression", "METHOD", "none, any, zstd, or zstd:LEVEL (none)", &(record).compression),        \
	OPT_CHOICE(0, "buffers", "woven|split",                                                                        \
		   "programs' events among the kernel's, or one buffer per process (woven)", &(record).buffers),       \
	OPT_FLAG(0, "raw", "write each thread's lane as it is, as one \"CPU\" of the file", &(record).raw),            \
	OPT_FLAG(0, "daemonize", "continue in the background once the recording has begun", &(record).daemonize),      \
	OPT_FLAG(0, "proc-map", "store which files the recorded processes have in their memory, and where",            \
		 &(record).proc_map),                                                                                  \
	OPT_FLAG(0, "date", "store the time of day, so that report shows it", &(record).date),                         \
	OPT_FLAG('q', "quiet", "print only errors", &(record).quiet)

int cmd_record(int argc, char **argv)
{
	struct record record = {
		.output_name = "trace.dat",
		.sleep_us = UINT64_MAX,
		.mode = UINT32_MAX,
		.clock = UINT32_MAX,
		.version = UINT32_MAX,
		.kernel = RECORD_KERNEL_INIT,
		.session = SESSION_INIT,
		.child = CHILD_INIT,
		.background = BACKGROUND_INIT,
	};
	const struct opt table[] = {
		OPT_RECORD_WHAT(record),
		OPT_RECORD_HOW(record),
		OPT_RECORD_FILE(record),
		OPT_END,
	};
	const struct opts opts = {
		.command = RECORD,
		.operands = "[--] [COMMAND [ARG]...]",
		.about =
			"Run COMMAND with its events on, follow its threads and children, and write what they\n"
			"recorded to a trace.dat. The exit status is COMMAND's, or 128+n if signal n ended it.\n"
			"With -P attach to running programs instead, until they end or Ctrl-C is pressed. -e or -p\n"
			"record the kernel, too; without COMMAND and -P the kernel alone, until Ctrl-C.\n",
		.table = table,
		.max_operands = UINT32_MAX,
		.stop_at_operand = true,
	};
	int status;

	record.kernel.begin_buffer = (struct opt_call){ record_buffers_begin, &record.kernel.buffers };
	record.kernel.buffers.events = &record.events;
	record.kernel.buffers.programs = &record.programs.word;
	if (opts_parse(&opts, argc, argv, &record.command, &status))
		status = read_options(&record) && select_events(&record) ? run(&record) : EXIT_USAGE;
	record_close(&record);
	free(record.enable);
	selections_free(&record.selections);
	opt_list_free(&record.user_events);
	opt_list_free(&record.events);
	return status;
}
