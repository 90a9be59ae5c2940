/* SPDX-License-Identifier: MIT */
/*
 * recorder record: run a command with its events on, or attach to running programs, or record the kernel, or both;
 * drain meanwhile, weave at the end.
 *
 * Everything that can be refused is refused before the command starts. From then on the recording is in two places,
 * the spool beside the output and the buffers in the session's directory, and both are removed only when the output
 * is complete: whatever kills the recorder, 'recorder recover' finds the rest.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach.h"
#include "cli/child.h"
#include "cli/drain.h"
#include "cli/finish.h"
#include "cli/loans.h"
#include "cli/now.h"
#include "cli/progress.h"
#include "cli/record_kernel.h"
#include "cli/record_lanes.h"
#include "cli/selection.h"
#include "cli/session.h"
#include "cli/spool.h"

#define NAME "record"

/*
 * How long the drain sleeps: short while there is something to take, longer and longer while there is not. A thread
 * that writes without pause fills the default lane within about a millisecond, a busy program's in some tens.
 */
#define SLEEP_MIN_MS 1
#define SLEEP_MAX_MS 10

/* The clocks of -C; programs have the first ones. */
#define CLOCK_WORDS "tsc|mono|x86-tsc|local|global|counter|uptime|perf|mono_raw|boot|tai"
static const char *const clocks[] = { "x86-tsc", "mono", "x86-tsc",  "local", "global", "counter",
				      "uptime",	 "perf", "mono_raw", "boot",  "tai" };
#define PROGRAM_CLOCKS 3u

#define BUFFER_KB_MIN 8u
#define BUFFER_KB_MAX (16u << 20)

struct record {
	/* the command line */
	const char *output_name;
	struct opt_list events; /* -u, -f, --rate, -e, -R, -v */
	struct opt_list user_events; /* of these, -u, -f and --rate */
	bool user;		/* programs are recorded */
	const char *buffer_size; /* -b */
	const char *threads;
	uint64_t subbuf_kb;
	unsigned int mode, clock; /* places among the words; UINT32_MAX: not given */
	unsigned int version, buffers;
	bool raw, quiet;
	char **command;
	struct programs programs; /* attach to these, if there is a word */
	uint64_t duration;    /* seconds; 0: until it is over */

	/* the recording */
	struct record_kernel kernel;
	struct record_lanes lanes;
	struct output output;
	struct session session;
	struct spool *spool;
	struct drain *drain;
	struct attach *attach;
	struct child child;
	struct selections selections;
	char *enable; /* what is selected, as RECORDER_ENABLE takes it */
};

/* ----------------------------------------------------------------------------------------------- before the start */

static bool select_events(struct record *record)
{
	if (!record->user)
		return true;
	if (!selections_make(NAME, &record->user_events, record->threads, &record->selections))
		return false;
	record->enable = selections_wishes(&record->selections);
	if (!record->enable)
		complain(NAME, "out of memory");
	return record->enable;
}

/*
 * Remove what killed recorders have left, and get the kernel ready if it is asked for. False: one line was printed.
 */
static bool prepare_kernel(struct record *record)
{
	const int err = record_kernel_open(NAME, &record->kernel);

	/* Who may not trace the kernel, or where nobody can (a container's read-only /sys), can still record programs. */
	return !err || ((err == -EACCES || err == -EROFS || err == -ENODEV) && record->user);
}

/* Make the spool; `what` is recorded. False: one line was printed. */
static bool make_spool(struct record *record, const char *what)
{
	struct spool_head head = {
		.file_version = record->version ? 7 : 6,
		.raw = record->raw,
		.split = record->buffers == 1,
	};

	snprintf(head.session, sizeof(head.session), "%s", record->session.path);
	snprintf(head.command, sizeof(head.command), "%s", what);
	return output_spool(&record->output, &head, &record->spool) &&
	       record_kernel_drain(NAME, &record->kernel, record->spool);
}

/* What programs need that are started for the recording. */
static bool prepare_session(struct record *record)
{
	int err;

	if (!session_link_spool(NAME, &record->session, record->output.spool))
		return false;
	err = drain_open(record->spool, record->session.fd, DRAIN_OWNED, NULL, &record->drain);
	if (err)
		complain(NAME, "cannot drain '%s': %s", record->session.path, strerror(-err));
	return !err;
}

static bool prepare(struct record *record)
{
	if (record->user &&
	    (!record_lanes_check(NAME, &record->lanes) ||
	     !selections_fit_binary(NAME, &record->selections, record->command[0])))
		return false;
	if (!output_choose(&record->output, record->output_name) || !prepare_kernel(record) ||
	    (record->user && !session_create(NAME, &record->session)))
		return false;
	return make_spool(record, record->command[0]) && (!record->user || prepare_session(record));
}

/* -------------------------------------------------------------------------------------------------- the recording */

static void show(struct progress *progress, const struct record *record)
{
	const struct spool *spool = record->spool;
	const struct kernel_drain *kernel = record->kernel.drain;
	char size[32], pages[32], text[48] = "";
	uint64_t lost = 0;

	if (!progress_is_due(progress))
		return;
	for (unsigned int i = 0; i < spool->nr_entries; i++)
		lost += spool->entries[i].lost;
	if (kernel) {
		lost += kernel_drain_lost(kernel);
		snprintf(text, sizeof(text), ", the kernel's %s", human_size(kernel_drain_bytes(kernel), pages, sizeof(pages)));
	}
	progress_show(progress, "recording: %" PRIu64 " events, %s%s, %" PRIu64 " lost", spool->events,
		      human_size(spool->end, size, sizeof(size)), text, lost);
}

/* Whether the command has ended, or all the programs, or the time is over, or a signal says so. */
static bool is_over(struct record *record, uint64_t end, int sleep)
{
	if (child_wait(&record->child, sleep))
		return true;
	if (record->command[0])
		return false;
	if (record->child.interrupts || (end && now_ms() >= end))
		return true;
	if (record->attach)
		return !attach_is_alive(record->attach);
	return record->kernel.pids.nr && !kernel_pids_alive(&record->kernel.pids);
}

static int take(struct record *record)
{
	if (!record->user)
		return 0;
	return record->attach ? attach_run(record->attach) : drain_run(record->drain);
}

static int take_rest(struct record *record)
{
	if (!record->user)
		return 0;
	return record->attach ? attach_finish(record->attach) : drain_finish(record->drain);
}

/* Take events until it is over. Returns 0 or what stopped the drain; the command is waited for in that case, too. */
static int drain(struct record *record)
{
	const uint64_t end = record->duration ? now_ms() + record->duration * 1000u : 0;
	struct progress progress;
	int sleep = SLEEP_MIN_MS;
	int taken = 0, err = 0, last;

	progress_init(&progress, record->quiet);
	while (((taken >= 0 && !err) || record->command[0]) && !is_over(record, end, sleep)) {
		if (taken >= 0)
			taken = take(record);
		last = record_kernel_run(&record->kernel);
		err = err ? err : last;
		if (taken > 0)
			sleep = SLEEP_MIN_MS;
		else
			sleep = sleep * 2 < SLEEP_MAX_MS ? sleep * 2 : SLEEP_MAX_MS;
		show(&progress, record);
	}
	if (taken >= 0)
		taken = take_rest(record);
	/* Behind the programs, so that what they wrote last lies within what the kernel has. */
	last = record_kernel_finish(&record->kernel);
	progress_clear(&progress);
	if (taken < 0)
		return taken;
	return err ? err : last;
}

/* Remove what the recording had beside its output. */
static void remove_traces(struct record *record)
{
	if (record->spool)
		output_remove_spool(&record->output, record->spool);
	session_remove(&record->session);
}

/* What stopped the drain: the spool, unless we were short of something ourselves. */
static void say_stopped(const struct record *record, int err)
{
	const bool short_of = err == -ENOMEM || err == -EMFILE || err == -ENFILE;

	complain(NAME, "cannot %s%s%s: %s; what was recorded is in '%s': 'recorder recover %s' makes a trace.dat of it",
		 short_of ? "go on" : "write '", short_of ? "" : record->output.spool, short_of ? "" : "'", strerror(-err),
		 record->output.spool, record->output.spool);
}

/* Take the events and write the file. False: one line was printed; what there is stays. */
static bool record_events(struct record *record)
{
	static const struct drain_trouble none;
	const struct drain_trouble *trouble = &none;
	const int err = drain(record);

	/* Nobody is to wait for the instance's end until the file is written. */
	if (record->kernel.drain)
		kernel_drain_about(record->kernel.drain, record->output.drained, sizeof(record->output.drained));
	record_kernel_close(&record->kernel);
	if (err) {
		say_stopped(record, err);
		return false;
	}
	if (record->child.stopped_by && record->command[0] && !record->quiet)
		complain(NAME, "stopped by %s, '%s' goes on unrecorded", strsignal(record->child.stopped_by),
			 record->command[0]);
	if (record->attach && !record->quiet)
		attach_say_missed(record->attach);
	if (record->user)
		trouble = record->attach ? attach_trouble(record->attach) : drain_trouble(record->drain);
	if (!output_finish(&record->output, record->spool, record->user ? &record->selections : NULL, trouble))
		return false;
	if (trouble->unread) {
		complain(NAME, "'recorder recover %s' makes a file that has what could not be read now, too", record->output.spool);
		return false;
	}
	remove_traces(record);
	return true;
}

/* What runs, or all that the kernel does. */
static int run_without_command(struct record *record)
{
	const char *what = record->programs.word ? record->programs.word : "the kernel";

	if (!output_choose(&record->output, record->output_name) ||
	    (record->user && !attach_open(NAME, &record->programs, &record->attach)) ||
	    !record_kernel_find(NAME, &record->kernel, &record->programs, record->threads, record->user) ||
	    !prepare_kernel(record))
		return EXIT_FAILURE;
	if (!make_spool(record, what) || !record_kernel_start(NAME, &record->kernel, 0) ||
	    (record->user && !attach_begin(record->attach, &record->selections, record->spool))) {
		remove_traces(record);
		return EXIT_FAILURE;
	}
	loans_sweep(NAME, record->programs.dir, record->quiet);
	return record_events(record) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cannot_run(const struct record *record, int err)
{
	complain(NAME, "cannot run '%s': %s", record->command[0], strerror(-err));
	/* As shells have it: not found, and found but not to be run. */
	return err == -ENOENT ? 127 : 126;
}

static int run_command(struct record *record)
{
	struct child_env env[RECORD_LANES_ENV] = { { NULL, NULL } };
	char left[PATH_MAX];
	int status = EXIT_FAILURE;
	int err;

	if (!prepare(record))
		goto remove;
	if (session_sweep(left, sizeof(left)) && !record->quiet)
		complain(NAME, "'%s' is left from a recorder that was killed; 'recorder recover %s' makes a trace.dat of it",
			 left, left);
	loans_sweep(NAME, NULL, record->quiet);
	if (record->user)
		record_lanes_env(&record->lanes, record->session.path, record->enable, env);
	/* Before anything has threads. */
	err = child_fork(&record->child, record->command, env);
	if (!err && !record_kernel_start(NAME, &record->kernel, record->child.pid))
		goto remove;
	if (!err)
		err = child_exec(&record->child);
	if (err) {
		status = cannot_run(record, err);
		goto remove;
	}
	if (record_events(record))
		return child_exit_status(&record->child);
	/* The command's own failure says more than ours. */
	status = child_exit_status(&record->child);
	return status ? status : EXIT_FAILURE;

remove:
	/* It has open what the kernel half has, which cannot be removed so. */
	child_drop(&record->child);
	remove_traces(record);
	return status;
}

static int run(struct record *record)
{
	const int err = child_prepare(&record->child);

	if (err) {
		complain(NAME, "cannot wait for signals: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	return record->command[0] ? run_command(record) : run_without_command(record);
}

static const char *wrong_without_command(const struct record *record)
{
	const bool kernel = kernel_request_is_any(&record->kernel.request);

	if (!record->programs.word && record->user)
		return "missing COMMAND, or -P and a running program";
	if (!record->programs.word && record->threads)
		return "--tid is for -P: the threads of a COMMAND are not known before it runs";
	if (record->user && (record->mode != UINT32_MAX || (!kernel && (record->buffer_size || record->subbuf_kb ||
									record->clock != UINT32_MAX))))
		return "-b, --subbuf-size, --mode and -C are a program's from its start: not with -P";
	return NULL;
}

static const char *wrong_with_command(const struct record *record)
{
	if (record->programs.word)
		return "either a COMMAND or -P, not both";
	if (record->threads)
		return "--tid is for -P: the threads of a COMMAND are not known before it runs";
	if (record->duration)
		return "--duration is for -P or the kernel alone; a COMMAND is recorded until it ends";
	if (record->programs.dir)
		return "--dir is for -P; a COMMAND has its buffers in $RECORDER_DIR";
	return NULL;
}

/* Either a command or programs, and nothing that only one of them takes. */
static bool is_complete(const struct record *record)
{
	const char *wrong = record->command[0] ? wrong_with_command(record) : wrong_without_command(record);

	if (!wrong && record->buffer_size && record->kernel.grow && !kernel_request_is_any(&record->kernel.request))
		wrong = "-b auto is for the kernel's events: it needs -e or -p";
	if (!wrong && !record->user && record->user_events.nr)
		wrong = "--rate is for the events of programs: it needs -u";
	if (!wrong && record->user && record->clock != UINT32_MAX && record->clock >= PROGRAM_CLOCKS)
		wrong = "programs have the clocks tsc and mono alone: -C";
	if (!wrong)
		wrong = record_kernel_wrong(&record->kernel, record->command[0], record->programs.word);
	if (wrong)
		complain(NAME, "%s (see 'recorder record --help')", wrong);
	return !wrong;
}

/* KB, or auto: as the rate of events has it. */
static bool read_size(struct record *record)
{
	const char *word = record->buffer_size;
	char *end;

	record->kernel.grow = !word || !strcmp(word, "auto");
	if (record->kernel.grow)
		return true;
	errno = 0;
	record->lanes.lane_kb = strtoull(word, &end, 10);
	if (*word >= '0' && *word <= '9' && !*end && !errno && record->lanes.lane_kb >= BUFFER_KB_MIN &&
	    record->lanes.lane_kb <= BUFFER_KB_MAX)
		return true;
	complain(NAME, "option '-b' takes a number from %u to %u, or auto, not '%s' (see 'recorder record --help')",
		 BUFFER_KB_MIN, BUFFER_KB_MAX, word);
	return false;
}

/* What the options mean together. False: one line was printed. */
static bool read_options(struct record *record)
{
	struct kernel_request *request = &record->kernel.request;

	if (!read_size(record) || !kernel_request_events(NAME, &record->events, request, &record->user_events))
		return false;
	record->user = !kernel_request_is_any(request);
	for (unsigned int i = 0; i < record->user_events.nr; i++)
		record->user |= record->user_events.opts[i]->letter == 'u';
	record->lanes.subbuf_kb = record->subbuf_kb;
	if (record->mode != UINT32_MAX)
		record->lanes.mode = record->mode ? "discard" : "overwrite";
	if (record->clock != UINT32_MAX) {
		record->lanes.clock = record->clock == 1 ? "mono" : "tsc";
		request->clock = clocks[record->clock];
	}
	request->discard = record->mode == 1;
	request->buffer_kb = record->lanes.lane_kb;
	request->subbuf_kb = record->subbuf_kb;
	request->quiet = record->quiet;
	record->output.command = NAME;
	record->output.verb = "recorded";
	record->output.quiet = record->quiet;
	return is_complete(record);
}

int cmd_record(int argc, char **argv)
{
	struct record record = {
		.output_name = "trace.dat",
		.mode = UINT32_MAX,
		.clock = UINT32_MAX,
		.kernel = RECORD_KERNEL_INIT,
		.session = SESSION_INIT,
		.child = CHILD_INIT,
	};
	const struct opt table[] = {
		OPT_STRING('o', "output", "FILE", "write to FILE (trace.dat)", &record.output_name),
		OPT_USER_EVENT(&record.events),
		OPT_KERNEL_EVENT(&record.events),
		OPT_FILTER(&record.events),
		OPT_TRIGGER(&record.events),
		OPT_EXCLUDE(&record.events),
		OPT_RATE(&record.events),
		OPT_KERNEL(record.kernel),
		OPT_STRING('P', "pid", "PROGRAM", "record running programs: pids separated by commas, or a name",
			   &record.programs.word),
		OPT_PROGRAMS_DIR(record.programs),
		OPT_STRING(0, "tid", "TID", "with -P: only these threads, separated by commas", &record.threads),
		OPT_NUMBER(0, "duration", "SECONDS", 1, 1u << 30, "without COMMAND: end after so many seconds",
			   &record.duration),
		OPT_STRING('b', "buffer-size", "KB|auto", "size of a thread's lane (1024) and of a CPU's ring in the kernel (auto)",
			   &record.buffer_size),
		OPT_CHOICE(0, "mode", "overwrite|discard", "what a full buffer loses: the oldest events or new ones",
			   &record.mode),
		OPT_NUMBER(0, "subbuf-size", "KB", 4, 512, "size of sub-buffers (4)", &record.subbuf_kb),
		OPT_CHOICE('C', "clock", CLOCK_WORDS, "clock (tsc, if it is good)", &record.clock),
		OPT_CHOICE(0, "file-version", "6|7", "version of the file (6)", &record.version),
		OPT_CHOICE(0, "buffers", "woven|split", "programs' events among the kernel's, or a buffer a process (woven)",
			   &record.buffers),
		OPT_FLAG(0, "raw", "keep each thread's lane as it is, one \"CPU\" a lane", &record.raw),
		OPT_FLAG('q', "quiet", "print nothing but errors", &record.quiet),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "[--] [COMMAND [ARG]...]",
		.about = "Run COMMAND with its events on, follow its threads and children, and write what they\n"
			 "recorded to a trace.dat. The exit status is COMMAND's, or 128+n if signal n ended it.\n"
			 "With -P attach to running programs instead, until they end or Ctrl-C is typed. With -e or -p\n"
			 "record the kernel, with -u as well both; without COMMAND and -P it is the kernel until Ctrl-C.\n",
		.table = table,
		.max_operands = UINT32_MAX,
		.stop_at_operand = true,
	};
	int status;

	if (opts_parse(&opts, argc, argv, &record.command, &status))
		status = read_options(&record) && select_events(&record) ? run(&record) : EXIT_USAGE;
	record_kernel_close(&record.kernel);
	attach_close(record.attach);
	drain_close(record.drain);
	spool_close(record.spool);
	session_close(&record.session);
	child_close(&record.child);
	free(record.enable);
	selections_free(&record.selections);
	opt_list_free(&record.user_events);
	opt_list_free(&record.events);
	return status;
}
