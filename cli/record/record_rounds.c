/* SPDX-License-Identifier: MIT */
/* The rounds of a recording: take events, and sleep, until the recording is over; then take the rest. */
#include "cli/record/record.h"

#include <inttypes.h>
#include <librecorder/buffer_dir.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/file_limit.h"
#include "cli/base/human_size.h"
#include "cli/base/now.h"
#include "cli/base/priority.h"
#include "cli/common/progress.h"
#include "cli/record/round_sleep.h"
#include "cli/recording/loans.h"

static void show(struct progress *progress, const struct record *record)
{
	const struct spool *spool = record->spool;
	const struct record_kernel *kernel = record_kernel_is_on(&record->kernel) ? &record->kernel : NULL;
	char size[32], pages[32], text[48] = "";
	uint64_t lost = 0;

	if (!progress_is_due(progress))
		return;
	for (unsigned int i = 0; i < spool->nr_entries; i++)
		lost += spool->entries[i].lost;
	if (kernel) {
		lost += record_kernel_lost(kernel);
		snprintf(text, sizeof(text), ", the kernel's %s",
			 human_size(record_kernel_bytes(kernel), pages, sizeof(pages)));
	}
	progress_show(progress, "recording: %" PRIu64 " events, %s%s, %" PRIu64 " lost", spool->events,
		      human_size(spool->end, size, sizeof(size)), text, lost);
}

/* Whether the command or all programs have ended, the time is over, or a signal came. */
static bool is_over(struct record *record, uint64_t end, uint64_t sleep)
{
	if (child_wait(&record->child, sleep))
		return true;
	record->time_is_over = end && now_ms() >= end;
	if (record->time_is_over || record->command[0])
		return record->time_is_over;
	if (record->child.interrupted_by)
		return true;
	if (!record->attach && !record->kernel.pids.nr)
		return false;
	return !(record->attach && attach_is_alive(record->attach)) && !kernel_pids_alive(&record->kernel.pids);
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

/* How long to sleep after a round: see round_sleep.h. `end` is in ms. */
static uint64_t next_sleep(const struct record *record, uint64_t end, uint64_t slept, uint64_t passed, int percent)
{
	const uint64_t now = now_ms();

	return round_sleep(&(struct last_round){
		.lanes = record->user,
		.longest = record->sleep_us,
		.left = !end ? UINT64_MAX : end > now ? (end - now) * 1000 : 0,
		.slept = slept,
		.passed = passed,
		.percent = percent,
	});
}

/* Report, once, that the stage was full: the disk takes less than the programs write. */
static void say_full(struct record *record)
{
	char size[32];
	uint64_t bytes;

	if (record->full_is_reported || !spool_has_refused(record->spool, &bytes))
		return;
	record->full_is_reported = true;
	if (!record->quiet)
		complain(
			RECORD,
			"'%s' is written more slowly than the programs write, and %s wait in memory, which is the "
			"limit: until there is room again, events that do not fit into the lanes are lost",
			record->output.spool, human_size(bytes, size, sizeof(size)));
}

void record_go_first(struct record *record)
{
	const unsigned int asked = (unsigned int)record->kernel.priority, priority = asked ? asked : PRIORITY_DEFAULT;
	const int err = priority_raise(priority);

	record->priority = err ? 0 : priority;
	/* The kernel's drain prints the same line. */
	if (err && asked && record->user && !record_kernel_is_on(&record->kernel) && !record->quiet)
		complain(
			RECORD,
			"no real-time priority for the drain (%s): events may be lost on a busy machine; be root, or "
			"raise the limit ('ulimit -r %u')",
			strerror(-err), asked);
}

/*
 * The first round of a recording without a command, and then the search for events that killed recorders have left on.
 * The search may take a while, but after the round threads may take further lanes. Returns as take().
 */
static int take_first(struct record *record)
{
	int taken;

	if (record->command[0])
		return 0;
	taken = take(record);
	loans_sweep(&record_sink, record->programs.dir, record->quiet);
	return taken;
}

/*
 * Do rounds until the recording is over. If the drain stops, still wait for the command. *taken is the result of the
 * last round; if it is negative, it is the error that stopped the drain of programs. Returns 0, or the error that
 * stopped the kernel's drain.
 */
static int run_rounds(struct record *record, struct progress *progress, int *taken)
{
	const uint64_t end = record->duration ? now_ms() + record->duration : 0;
	uint64_t sleep = ROUND_SLEEP_MIN_US, before = now_us(), now;
	int err = 0, last;

	while (((*taken >= 0 && !err) || record->command[0]) && !is_over(record, end, sleep)) {
		now = now_us();
		/* COMMAND has not ended since the error. */
		if (*taken < 0 || err) {
			progress_clear(progress);
			record_say_failing(record, *taken, err);
		}
		if (*taken >= 0)
			*taken = take(record);
		spool_tick(record->spool);
		last = record_kernel_run(&record->kernel);
		err = err ? err : last;
		sleep = next_sleep(record, end, sleep, now - before, *taken);
		before = now;
		say_full(record);
		if (*taken >= 0 && !err)
			show(progress, record);
	}
	return err;
}

/* Give the spool its stage. Without one the recording continues, but its thread waits for each write. */
static void make_stage(const struct record *record)
{
	const int err = spool_stage(record->spool, 0, record->priority);
	char dir[PATH_MAX] = "";

	if (!err || record->quiet)
		return;
	rec_buffer_dir(false, dir, sizeof(dir));
	complain(RECORD,
		 "no memory in '%s' for pages that wait for the disk (%s): if '%s' is written slowly, events are lost",
		 dir, strerror(-err), record->output.spool);
}

int record_drain(struct record *record)
{
	struct progress progress;
	int taken, err, last;

	progress_init(&progress, record->quiet);
	if (record->user) {
		/* The drain needs some descriptors for each program, and a stage, to not wait for the disk. */
		file_limit_raise();
		make_stage(record);
	}
	taken = take_first(record);
	background_begun(&record->background);
	err = run_rounds(record, &progress, &taken);
	child_let_go(&record->child);
	if (taken >= 0)
		taken = take_rest(record);
	/*
	 * Finish the kernel after the programs, so that the last events of programs lie within the time of the kernel's
	 * events.
	 */
	last = record_kernel_finish(&record->kernel);
	priority_drop();
	err = taken < 0 ? taken : err ? err : last;
	if (!err)
		err = spool_add_clocks(record->spool);
	last = spool_settle(record->spool);
	progress_clear(&progress);
	return err ? err : last;
}
