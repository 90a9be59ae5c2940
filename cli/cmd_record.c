/* SPDX-License-Identifier: MIT */
/*
 * recorder record: run a command with its events on, or attach to running programs; drain meanwhile, weave at the end.
 *
 * Everything that can be refused is refused before the command starts. From then on the recording is in two places, the
 * spool beside the output and the buffers in the session's directory, and both are removed only when the output is
 * complete: whatever kills the recorder, 'recorder recover' finds the rest.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/attach.h"
#include "cli/child.h"
#include "cli/drain.h"
#include "cli/finish.h"
#include "cli/loans.h"
#include "cli/progress.h"
#include "cli/selection.h"
#include "cli/session.h"
#include "cli/spool.h"

#define NAME "record"

/*
 * How long the drain sleeps: short while there is something to take, longer and longer while there is not. A thread that
 * writes without pause fills the default lane within about a millisecond, a busy program's in some tens.
 */
#define SLEEP_MIN_MS 1
#define SLEEP_MAX_MS 10

/* Unless the user says otherwise, a program may have this many lanes of the size asked for. */
#define LANES_ALLOWED 64u

/* A lane has no more sub-buffers than a link can name; see REC_LINK_ID. */
#define SUBBUFS_MAX 65000u

struct record {
	/* the command line */
	const char *output_name;
	struct opt_list events; /* -u, -f, --rate */
	const char *threads;
	uint64_t lane_kb;   /* 0: as the program has it */
	uint64_t subbuf_kb; /* 0: the same */
	unsigned int mode, clock, version; /* places among the words; 0: as the program has it */
	bool raw, quiet;
	char **command;
	struct programs programs; /* attach to these, if there is a word */
	uint64_t duration;    /* seconds; 0: until it is over */

	/* the recording */
	struct output output;
	struct session session;
	struct spool *spool;
	struct drain *drain;
	struct attach *attach;
	struct child child;
	struct selections selections;
	char *enable; /* what is selected, as RECORDER_ENABLE takes it */
	char numbers[3][24];
};

/* ------------------------------------------------------------------------------------------------ before the start */

static bool check_sizes(const struct record *record)
{
	const uint64_t subbuf = record->subbuf_kb ? record->subbuf_kb : REC_SUBBUF_MIN / 1024;

	if (subbuf & (subbuf - 1) || subbuf < REC_SUBBUF_MIN / 1024 || subbuf > REC_SUBBUF_MAX / 1024) {
		complain(NAME, "option '--subbuf-size' takes 4, 8, 16, 32, 64, 128, 256 or 512 (KB), not '%" PRIu64 "'",
			 record->subbuf_kb);
		return false;
	}
	if (record->lane_kb && record->lane_kb < 2 * subbuf) {
		complain(NAME, "a lane of %" PRIu64 " KB is too small for sub-buffers of %" PRIu64 " KB: it takes two at least (-b)",
			 record->lane_kb, subbuf);
		return false;
	}
	if (record->lane_kb / subbuf > SUBBUFS_MAX) {
		complain(NAME, "a lane of %" PRIu64 " KB has more sub-buffers than %u: make them larger with --subbuf-size",
			 record->lane_kb, SUBBUFS_MAX);
		return false;
	}
	return true;
}

static bool select_events(struct record *record)
{
	if (!selections_make(NAME, &record->events, record->threads, &record->selections))
		return false;
	record->enable = selections_wishes(&record->selections);
	if (!record->enable)
		complain(NAME, "out of memory");
	return record->enable;
}

static bool prepare(struct record *record)
{
	struct spool_head head = { .file_version = record->version ? 7 : 6, .raw = record->raw };
	int err;

	if (!check_sizes(record) || !selections_fit_binary(NAME, &record->selections, record->command[0]) ||
	    !output_choose(&record->output, record->output_name))
		return false;
	if (!session_create(NAME, &record->session))
		return false;
	snprintf(head.session, sizeof(head.session), "%s", record->session.path);
	snprintf(head.command, sizeof(head.command), "%s", record->command[0]);
	if (!output_spool(&record->output, &head, &record->spool) ||
	    !session_link_spool(NAME, &record->session, record->output.spool))
		return false;
	err = drain_open(record->spool, record->session.fd, DRAIN_OWNED, NULL, &record->drain);
	if (err)
		complain(NAME, "cannot drain '%s': %s", record->session.path, strerror(-err));
	return !err;
}

/* The programs' environment; the strings are the record's. */
static void make_env(struct record *record, struct child_env env[9])
{
	unsigned int nr = 0;

	env[nr++] = (struct child_env){ "RECORDER_DIR", record->session.path };
	env[nr++] = (struct child_env){ "RECORDER_KEEP", "1" };
	env[nr++] = (struct child_env){ "RECORDER_ENABLE", record->enable };
	if (record->lane_kb) {
		snprintf(record->numbers[0], sizeof(record->numbers[0]), "%" PRIu64, record->lane_kb);
		env[nr++] = (struct child_env){ "RECORDER_BUFFER_KB", record->numbers[0] };
	}
	if (record->lane_kb && !getenv("RECORDER_MAX_KB")) {
		snprintf(record->numbers[1], sizeof(record->numbers[1]), "%" PRIu64, record->lane_kb * LANES_ALLOWED);
		env[nr++] = (struct child_env){ "RECORDER_MAX_KB", record->numbers[1] };
	}
	if (record->subbuf_kb) {
		snprintf(record->numbers[2], sizeof(record->numbers[2]), "%" PRIu64, record->subbuf_kb);
		env[nr++] = (struct child_env){ "RECORDER_SUBBUF_KB", record->numbers[2] };
	}
	if (record->mode)
		env[nr++] = (struct child_env){ "RECORDER_MODE", record->mode == 1 ? "overwrite" : "discard" };
	if (record->clock)
		env[nr++] = (struct child_env){ "RECORDER_CLOCK", record->clock == 1 ? "tsc" : "mono" };
	env[nr] = (struct child_env){ NULL, NULL };
}

/* ----------------------------------------------------------------------------------------------------- the recording */

static void show(struct progress *progress, const struct spool *spool)
{
	char size[32];
	uint64_t lost = 0;

	if (!progress->on)
		return;
	for (unsigned int i = 0; i < spool->nr_entries; i++)
		lost += spool->entries[i].lost;
	progress_show(progress, "recording: %" PRIu64 " events, %s, %" PRIu64 " lost", spool->events,
		      human_size(spool->end, size, sizeof(size)), lost);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

/* Whether the command has ended, or all the programs, or the time is over, or a signal says so. */
static bool is_over(struct record *record, uint64_t end, int sleep)
{
	if (child_wait(&record->child, sleep))
		return true;
	if (!record->attach)
		return false;
	return record->child.interrupts || !attach_is_alive(record->attach) || (end && now_ms() >= end);
}

static int take(struct record *record)
{
	return record->attach ? attach_run(record->attach) : drain_run(record->drain);
}

static int take_rest(struct record *record)
{
	return record->attach ? attach_finish(record->attach) : drain_finish(record->drain);
}

/* Take events until it is over. Returns 0 or what stopped the drain; the command is waited for in that case, too. */
static int drain(struct record *record)
{
	const uint64_t end = record->duration ? now_ms() + record->duration * 1000u : 0;
	struct progress progress;
	int sleep = SLEEP_MIN_MS;
	int taken = 0;

	progress_init(&progress, record->quiet);
	while ((taken >= 0 || !record->attach) && !is_over(record, end, sleep)) {
		if (taken >= 0)
			taken = take(record);
		if (taken > 0)
			sleep = SLEEP_MIN_MS;
		else
			sleep = sleep * 2 < SLEEP_MAX_MS ? sleep * 2 : SLEEP_MAX_MS;
		show(&progress, record->spool);
	}
	if (taken >= 0)
		taken = take_rest(record);
	progress_clear(&progress);
	return taken < 0 ? taken : 0;
}

/* Remove what the recording had beside its output. */
static void remove_traces(struct record *record)
{
	if (record->spool)
		output_remove_spool(&record->output);
	session_remove(&record->session);
}

/* Take the events and write the file. False: one line was printed; what there is stays. */
static bool record_events(struct record *record)
{
	const struct drain_trouble *trouble;
	const int err = drain(record);

	if (err) {
		complain(NAME, "cannot write '%s': %s; what was recorded is in it: 'recorder recover %s' makes a trace.dat of it",
			 record->output.spool, strerror(-err), record->output.spool);
		return false;
	}
	if (record->child.stopped_by && !record->attach && !record->quiet)
		complain(NAME, "stopped by %s, '%s' goes on unrecorded", strsignal(record->child.stopped_by),
			 record->command[0]);
	trouble = record->attach ? attach_trouble(record->attach) : drain_trouble(record->drain);
	if (!output_finish(&record->output, record->spool, &record->selections, trouble))
		return false;
	if (trouble->unread) {
		complain(NAME, "'recorder recover %s' makes a file that has what could not be read now, too", record->output.spool);
		return false;
	}
	remove_traces(record);
	return true;
}

static int run_attached(struct record *record)
{
	struct spool_head head = { .file_version = record->version ? 7 : 6, .raw = record->raw };

	snprintf(head.command, sizeof(head.command), "%s", record->programs.word);
	if (!output_choose(&record->output, record->output_name) ||
	    !attach_open(NAME, &record->programs, &record->attach) ||
	    !output_spool(&record->output, &head, &record->spool))
		return EXIT_FAILURE;
	if (!attach_begin(record->attach, &record->selections, record->spool)) {
		remove_traces(record);
		return EXIT_FAILURE;
	}
	loans_sweep(NAME, record->programs.dir, record->quiet);
	return record_events(record) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_command(struct record *record)
{
	struct child_env env[9];
	char left[PATH_MAX];
	int status = EXIT_FAILURE;
	int err;

	if (!prepare(record))
		goto remove;
	if (session_sweep(left, sizeof(left)) && !record->quiet)
		complain(NAME, "'%s' is left from a recorder that was killed; 'recorder recover %s' makes a trace.dat of it",
			 left, left);
	loans_sweep(NAME, NULL, record->quiet);
	make_env(record, env);
	err = child_start(&record->child, record->command, env);
	if (err) {
		complain(NAME, "cannot run '%s': %s", record->command[0], strerror(-err));
		/* As shells have it: not found, and found but not to be run. */
		status = err == -ENOENT ? 127 : 126;
		goto remove;
	}
	if (record_events(record))
		return child_exit_status(&record->child);
	/* The command's own failure says more than ours. */
	status = child_exit_status(&record->child);
	return status ? status : EXIT_FAILURE;

remove:
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
	return record->programs.word ? run_attached(record) : run_command(record);
}

/* Either a command or programs, and nothing that only one of them takes. */
static bool is_complete(const struct record *record)
{
	const char *wrong = NULL;

	if (!record->programs.word && !record->command[0])
		wrong = "missing COMMAND, or -P and a running program";
	else if (record->programs.word && record->command[0])
		wrong = "either a COMMAND or -P, not both";
	else if (!record->programs.word && record->threads)
		wrong = "--tid is for -P: the threads of a COMMAND are not known before it runs";
	else if (!record->programs.word && record->duration)
		wrong = "--duration is for -P; a COMMAND is recorded until it ends";
	else if (!record->programs.word && record->programs.dir)
		wrong = "--dir is for -P; a COMMAND has its buffers in $RECORDER_DIR";
	else if (record->programs.word && (record->lane_kb || record->subbuf_kb || record->mode || record->clock))
		wrong = "-b, --subbuf-size, --mode and -C are a program's from its start: not with -P";
	if (wrong)
		complain(NAME, "%s (see 'recorder record --help')", wrong);
	return !wrong;
}

int cmd_record(int argc, char **argv)
{
	struct record record = { .output_name = "trace.dat", .session = SESSION_INIT, .child = { .signals = -1 } };
	unsigned int mode = UINT32_MAX, clock = UINT32_MAX;
	const struct opt table[] = {
		OPT_STRING('o', "output", "FILE", "write to FILE (trace.dat)", &record.output_name),
		OPT_USER_EVENT(&record.events),
		OPT_FILTER(&record.events),
		OPT_RATE(&record.events),
		OPT_STRING('P', "pid", "PROGRAM", "record running programs: pids separated by commas, or a name",
			   &record.programs.word),
		OPT_PROGRAMS_DIR(record.programs),
		OPT_STRING(0, "tid", "TID", "with -P: only these threads, separated by commas", &record.threads),
		OPT_NUMBER(0, "duration", "SECONDS", 1, 1u << 30, "with -P: end after so many seconds", &record.duration),
		OPT_NUMBER('b', "buffer-size", "KB", 8, 16u << 20, "size of a thread's lane (1024)", &record.lane_kb),
		OPT_CHOICE(0, "mode", "overwrite|discard", "what a full lane loses: the oldest events or new ones", &mode),
		OPT_NUMBER(0, "subbuf-size", "KB", 4, 512, "size of a lane's sub-buffers (4)", &record.subbuf_kb),
		OPT_CHOICE('C', "clock", "tsc|mono", "clock that events are stamped with (tsc if the machine's is good)",
			   &clock),
		OPT_CHOICE(0, "file-version", "6|7", "version of the file (6)", &record.version),
		OPT_FLAG(0, "raw", "keep each thread's lane as it is, one \"CPU\" a lane", &record.raw),
		OPT_FLAG('q', "quiet", "print nothing but errors", &record.quiet),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "[--] [COMMAND [ARG]...]",
		.about = "Run COMMAND with its events on, follow its threads and children, and write what they\n"
			 "recorded to a trace.dat. The exit status is COMMAND's, or 128+n if signal n ended it.\n"
			 "With -P attach to running programs instead, until they end or Ctrl-C is typed.\n",
		.table = table,
		.max_operands = UINT32_MAX,
		.stop_at_operand = true,
	};
	int status;

	if (opts_parse(&opts, argc, argv, &record.command, &status)) {
		record.mode = mode + 1;
		record.clock = clock + 1;
		record.output.command = NAME;
		record.output.verb = "recorded";
		record.output.quiet = record.quiet;
		if (!is_complete(&record))
			status = EXIT_USAGE;
		else
			status = select_events(&record) ? run(&record) : EXIT_FAILURE;
	}
	attach_close(record.attach);
	drain_close(record.drain);
	spool_close(record.spool);
	session_close(&record.session);
	child_close(&record.child);
	free(record.enable);
	selections_free(&record.selections);
	opt_list_free(&record.events);
	return status;
}
