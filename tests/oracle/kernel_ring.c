/* SPDX-License-Identifier: MIT */
/*
 * The same random sequence of writes, reads and control operations on the kernel's ring and on a lane of ours.
 *
 * Each sequence has one of two forms. "Same page ends": our sub-buffers have room for as many bytes of events as the
 * kernel's, in addition to marker and stamp, so both rings must hold, return and lose exactly the same, page by page.
 * "Own page ends": our sub-buffers are as large as the kernel's, so pages end at different events, and each ring must
 * do exactly what the list model does with its capacity (ring_model.h). In both forms both rings are compared with the
 * model. docs/KERNEL-DIFFERENCES.md lists all permitted differences.
 *
 * kernel_ring [SEED [CONFIGURATIONS]]. Prints TAP.
 */
#include "kernel_ring_checks.h"

#include <inttypes.h>
#include <librecorder/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONFIGURATIONS 160
#define SEQUENCES      30 /* of each configuration */

/* KiB of a CPU's buffer, which make 2, 3, 4, 5 and 10 sub-buffers of 4096 bytes. */
static const uint32_t kilobytes[] = { 7, 11, 15, 19, 39 };
#define NR_SIZES ((unsigned int)(sizeof(kilobytes) / sizeof(kilobytes[0])))

static unsigned int draw(struct run *run, unsigned int n)
{
	return (unsigned int)rand_r(&run->draws) % n;
}

/* ------------------------------------------------------------------------------------------------------- writing */

/*
 * Whether the event now written at `moment` is 2^27 clock units or more after the last one. If the two brackets do not
 * decide it, the sequence is abandoned.
 */
static bool needs_extend(struct run *run, const struct side *side, const struct moment *moment)
{
	const struct moment *last = &side->moments[side->last % NUMBERS];

	if (!side->has_last)
		return false;
	if (moment->from - last->to > REC_DELTA_MAX)
		return true;
	if (moment->to - last->from > REC_DELTA_MAX)
		run->disturbed = true;
	return false;
}

static void write_to(struct run *run, struct side *side, uint32_t size, bool (*write_event)(struct run *, uint32_t))
{
	struct moment *moment = &side->moments[run->number % NUMBERS];
	enum model_write expected;
	bool written;

	moment->from = side_clock();
	written = write_event(run, size);
	moment->to = side_clock();
	expected = model_write(side->model, run->number, size, needs_extend(run, side, moment));
	check(run, REFUSALS, written == (expected == MODEL_WRITTEN), "%s: %u bytes %s", side->name, size,
	      written ? "accepted" : "refused");
	if (written) {
		side->last = run->number;
		side->has_last = true;
	}
}

static bool write_kernel(struct run *run, uint32_t size)
{
	return kernel_write(&run->kernel, run->number, size) == 0;
}

static bool write_lane(struct run *run, uint32_t size)
{
	return lane_write(&run->lane, run->number, size);
}

static void write_event(struct run *run, uint32_t size)
{
	const uint64_t dropped = run->k.model->dropped;

	if (run->same_ends && rec_event_total(size) < run->total_min)
		return;
	write_to(run, &run->k, size, write_kernel);
	write_to(run, &run->o, size, write_lane);
	run->total_min = run->k.model->dropped > dropped ? rec_event_total(size) : 0;
	run->number++;
	run->nr_writes++;
}

/* Sizes of all kinds, often such that they fill what is left of a page except a few bytes. */
static uint32_t draw_size(struct run *run)
{
	const struct model *model = draw(run, 2) ? run->k.model : run->o.model;
	const struct model_page *tail = model->nr_ring ? model->ring[model->nr_ring - 1] : model->reader;
	const uint32_t left = model->params.capacity - tail->used;
	uint32_t size;

	switch (draw(run, 8)) {
	case 0:
		size = SIDE_SIZE_MIN + draw(run, 16);
		break;
	case 1:
		size = 100 + draw(run, 30);
		break;
	case 2:
		size = SIDE_SIZE_MIN + draw(run, 500);
		break;
	case 3:
		size = SIDE_SIZE_MIN + draw(run, SIDE_SIZE_MAX - SIDE_SIZE_MIN);
		break;
	case 4:
		size = SIDE_SIZE_MAX - draw(run, 41);
		break;
	case 5:
		size = left - draw(run, 20);
		break;
	default:
		size = SIDE_SIZE_MIN + draw(run, 120);
	}
	/* Sometimes an event is too long for our ring. */
	if (size > run->o.model->params.size_max && draw(run, 8))
		size = run->o.model->params.size_max;
	return size < SIDE_SIZE_MIN || size > SIDE_SIZE_MAX ? 40 : size;
}

static void write_some(struct run *run)
{
	const unsigned int n = 1 + draw(run, draw(run, 4) ? 40 : 400);
	const uint32_t size = draw_size(run);
	const bool all_alike = draw(run, 3) == 0;
	unsigned int i;

	for (i = 0; i < n && !run->disturbed; i++)
		write_event(run, all_alike ? size : draw_size(run));
}

/* ------------------------------------------------------------------------------------------------------- reading */

static int read_kernel(struct run *run, uint32_t room)
{
	struct model_read expected;
	const int wanted = model_read(run->k.model, MODEL_KERNEL, room, &expected);
	const int got = kernel_read(&run->kernel, room, &run->k.batch);

	if (check(run, READS, got == wanted, "%s: %d, expected %d", run->k.name, got, wanted) && got > 0)
		check_batch(run, &run->k, &expected);
	return got;
}

static int read_lane_in(struct run *run, enum model_form form, uint32_t room)
{
	struct model_read expected;
	const int wanted = model_read(run->o.model, form, room, &expected);
	int got;

	if (form == MODEL_EVENT)
		got = lane_consume(&run->lane, &run->o.batch);
	else if (form == MODEL_COPY)
		got = lane_copy(&run->lane, room, &run->o.batch);
	else
		got = lane_read(&run->lane, &run->o.batch);
	if (check(run, READS, got == wanted, "%s: %d, expected %d", run->o.name, got, wanted) && got > 0)
		check_batch(run, &run->o, &expected);
	return got;
}

/* Copies the part of a page that fits into `room` bytes. */
static int read_lane(struct run *run, uint32_t room)
{
	return read_lane_in(run, MODEL_COPY, room);
}

static void read_pages(struct run *run, unsigned int pages)
{
	int k = 1, o = 1;

	run->nr_reads++;
	while (pages-- && (k > 0 || o > 0)) {
		/* If a page of the kernel has only a filler, read the next one. */
		do
			k = read_kernel(run, run->k.model->params.capacity);
		while (k > 0 && run->k.batch.nr == 0);
		o = read_lane_in(run, draw(run, 2) ? MODEL_COPY : MODEL_IN_PLACE, run->o.model->params.capacity);
		if (run->same_ends) {
			check(run, EQUAL, (k > 0) == (o > 0), "to read: kernel %d, lane %d", k, o);
			if (k > 0 && o > 0)
				check_same_batch(run);
		}
	}
}

/* Reads the part of a page that a buffer takes, then the rest. Returns the number of events. */
static uint32_t read_in_parts(struct run *run, struct side *side, int (*read_room)(struct run *, uint32_t))
{
	const uint32_t size = side->model->params.capacity;
	uint32_t nr = 0, room = 1 + draw(run, size);
	int r;

	do {
		r = read_room(run, room);
		nr += r > 0 ? side->batch.nr : 0;
		room = size;
	} while (r >= 0 && (nr == 0 || side->model->reader->read < side->model->reader->nr));
	return nr;
}

static void read_parts(struct run *run)
{
	uint32_t k, o;

	run->nr_reads++;
	if (run->same_ends) {
		k = read_in_parts(run, &run->k, read_kernel);
		o = read_in_parts(run, &run->o, read_lane);
		check(run, EQUAL, k == o, "%u and %u events of a page in parts", k, o);
	} else if (draw(run, 2)) {
		/* At the end a page may be left in the middle; another call then gets its rest. */
		for (k = draw(run, 20); k && read_lane_in(run, MODEL_EVENT, 0) > 0; k--)
			;
	} else {
		read_kernel(run, 1 + draw(run, run->k.model->params.capacity));
		read_lane(run, 1 + draw(run, run->o.model->params.capacity));
	}
}

/* -------------------------------------------------------------------------------------------------------- control */

static void set_mode(struct run *run, bool overwrite)
{
	run->overwrite = overwrite;
	kernel_set_overwrite(&run->kernel, overwrite);
	lane_set_overwrite(&run->lane, overwrite);
	run->k.model->params.overwrite = run->o.model->params.overwrite = overwrite;
}

/* Events while recording is off are refused, and no line of the statistics counts them. */
static void turn_off(struct run *run)
{
	unsigned int n = 1 + draw(run, 5);

	kernel_set_on(&run->kernel, false);
	lane_set_on(&run->lane, false);
	while (n--) {
		const uint32_t size = draw_size(run);

		check(run, REFUSALS, kernel_write(&run->kernel, run->number, size) < 0, "kernel: accepted while off");
		check(run, REFUSALS, !lane_write(&run->lane, run->number, size), "lane: accepted while off");
		run->disabled++;
	}
	kernel_set_on(&run->kernel, true);
	lane_set_on(&run->lane, true);
}

static uint32_t resize_kernel(struct run *run)
{
	return kernel_resize(&run->kernel,
			     kilobytes[draw(run, NR_SIZES)] * (run->kernel.subbuf_size / REC_SUBBUF_MIN));
}

/* After a reset the kernel begins on an empty page, and a lane continues where it was, so pages end differently. */
static void reset(struct run *run)
{
	if (run->same_ends)
		return;
	kernel_reset(&run->kernel);
	model_reset(run->k.model);
	check(run, REFUSALS, lane_reset(&run->lane) == 0, "lane: a reset");
	model_drain(run->o.model);
	run->disabled = 0;
	run->nr_resets++;
}

/* Wait until a time extend is due, because the kernel's clock cannot be advanced. */
static void pause_long(struct run *run)
{
	const uint64_t until = side_clock() + REC_DELTA_MAX + REC_DELTA_MAX / 16;

	while (side_clock() < until)
		usleep(1000);
	run->nr_pauses++;
}

/* Most of these operations take the kernel milliseconds. */
static void control(struct run *run)
{
	const unsigned int kind = draw(run, 42);

	if (kind < 3)
		reset(run);
	else if (kind == 3)
		pause_long(run);
	else
		turn_off(run);
}

/* -------------------------------------------------------------------------------------------------------- running */

/*
 * The first event of all does not fit. Its time is reported with the second page; or not at all, if that page is
 * overwritten like the first one.
 */
static void refuse_first(struct run *run)
{
	const struct model *model = run->o.model;
	unsigned int pages = 1 + draw(run, 2);

	if (run->same_ends || model->params.size_max + 4 > SIDE_SIZE_MAX)
		return;
	set_mode(run, true);
	write_event(run, model->params.size_max + 4);
	while (pages--) {
		const uint64_t overrun = model->overrun;

		while (model->overrun == overrun && !run->disturbed)
			write_event(run, SIDE_SIZE_MIN + draw(run, 200));
	}
	if (!run->disturbed)
		read_pages(run, 1);
}

static void run_sequence(struct run *run)
{
	unsigned int steps = 2 + draw(run, 8);

	if (!run->sequence)
		refuse_first(run);
	while (steps-- && !run->disturbed) {
		switch (draw(run, 16)) {
		case 0:
			set_mode(run, !run->overwrite);
			break;
		case 1:
		case 2:
			read_parts(run);
			break;
		case 3:
			read_pages(run, UINT32_MAX);
			break;
		case 4:
		case 5:
		case 6:
			read_pages(run, 1 + draw(run, 3));
			break;
		case 7:
			control(run);
			break;
		default:
			write_some(run);
		}
		if (!run->disturbed)
			check_stats(run);
	}
}

/* Make both rings empty, with `pages` pages, and their counters 0. */
static void begin_configuration(struct run *run, uint32_t pages)
{
	const uint32_t capacity = run->kernel.subbuf_size - REC_SUBBUF_HEADER_SIZE;
	const uint32_t lead = run->lane.lead;
	struct model_params params = {
		.pages = pages, .capacity = capacity, .size_max = capacity - 8, .has_filler = true
	};
	uint64_t written;

	model_free(run->k.model);
	model_free(run->o.model);
	kernel_reset(&run->kernel);
	run->k.model = model_new(&params);
	params.capacity = run->same_ends ? capacity + lead : capacity;
	params.lead = lead;
	params.size_max = params.capacity - lead - 8;
	params.has_filler = false;
	params.tells_refusals = true;
	written = lane_shape(&run->lane, pages, params.capacity);
	run->o.model = model_new(&params);
	run->o.model->written = written;
	set_mode(run, draw(run, 2));
	run->k.has_last = run->o.has_last = false;
	run->total_min = 0;
	run->disabled = 0;
	run->disturbed = false;
}

static void run_configuration(struct run *run)
{
	static const uint32_t sizes[] = { 4096, 4096, 4096, 4096, 8192, 16384 };

	run->draws = run->seed + run->configuration;
	run->same_ends = draw(run, 2);
	kernel_set_subbuf_size(&run->kernel, sizes[draw(run, 6)]);
	begin_configuration(run, resize_kernel(run));
	for (run->sequence = 0; run->sequence < SEQUENCES; run->sequence++) {
		run_sequence(run);
		if (!run->disturbed)
			continue;
		run->nr_disturbed++;
		begin_configuration(run, run->k.model->params.pages);
	}
}

int main(int argc, char **argv)
{
	static struct run run = { .k.name = "kernel", .o.name = "lane" };
	const unsigned int configurations = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : CONFIGURATIONS;
	const char *reason;
	char name[64];
	unsigned int n;

	snprintf(name, sizeof(name), "recorder-test-ring-%d", getpid());
	setvbuf(stdout, NULL, _IOLBF, 0);
	reason = kernel_open(&run.kernel, name);
	if (reason) {
		printf("1..0 # SKIP %s\n", reason);
		return 0;
	}
	lane_open(&run.lane);
	run.seed = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 0) : (unsigned int)time(NULL);
	run.k.moments = calloc(NUMBERS, sizeof(*run.k.moments));
	run.o.moments = calloc(NUMBERS, sizeof(*run.o.moments));
	printf("# seed %u, %u configurations of %u sequences\n", run.seed, configurations, SEQUENCES);
	for (run.configuration = 0; run.configuration < configurations; run.configuration++)
		run_configuration(&run);
	printf("# %" PRIu64 " events written, %" PRIu64 " reads, %" PRIu64 " resets, %" PRIu64
	       " pauses, %" PRIu64 " sequences given up\n",
	       run.nr_writes, run.nr_reads, run.nr_resets, run.nr_pauses, run.nr_disturbed);
	n = report_checks(&run, configurations >= CONFIGURATIONS);
	lane_close(&run.lane);
	printf("%sok %u - instance and mount are gone\n", kernel_close(&run.kernel) ? "" : "not ", ++n);
	printf("1..%u\n", n);
	model_free(run.k.model);
	model_free(run.o.model);
	free(run.k.moments);
	free(run.o.moments);
	return 0;
}
