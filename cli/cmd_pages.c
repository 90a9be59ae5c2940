/* SPDX-License-Identifier: MIT */
/*
 * recorder pages: shows the meta page and the pages of mapped rings, of a program's lanes or the kernel's. By default
 * no page is taken. --take shows each reader page as it is taken, and its events count as read.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/clock.h>
#include <librecorder/lane.h>
#include <librecorder/map.h>
#include <librecorder/reader.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/programs/page_text.h"
#include "cli/programs/pages_look.h"
#include "cli/programs/show_programs.h"
#include "cli/recording/leftovers.h"

#define NAME "pages"

static const struct message_sink sink = COMMAND_SINK(NAME);

/* The pause between two looks at rings that are followed. */
#define LOOK_MS 20

struct totals {
	uint64_t pages, events, bytes, lost;
	bool lost_unknown;
	uint64_t ns; /* ns spent in the calls that took them */
};

struct pages {
	/* the command line */
	struct programs programs;
	const char *instance;
	uint64_t lane, cpu; /* UINT64_MAX: all */
	bool kernel, take, follow, hex, stats;

	struct rec_view *view; /* NULL: the kernel's */
	struct rec_map **maps; /* by lane or CPU; NULL: not opened */
	unsigned int nr_maps;
	struct page_text text;
	struct totals totals;
	uint64_t began;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* ------------------------------------------------------------------------------------------------------- figures */

static void count(struct totals *totals, const struct rec_page *page)
{
	totals->pages += page->from == 0;
	totals->events += page->entries;
	totals->bytes += page->size - page->from;
	if (page->lost == REC_LOST_UNKNOWN)
		totals->lost_unknown = true;
	else
		totals->lost += page->lost;
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

static void print_stats(const struct pages *pages)
{
	const struct totals *t = &pages->totals;
	const double seconds = (double)(rec_clock_mono() - pages->began) / 1e9;

	printf("%" PRIu64 " pages, %" PRIu64 " events, %" PRIu64 " bytes, %" PRIu64
	       "%s lost in %.3f s: %.0f pages, %.0f events, "
	       "%.0f bytes a second; %.3f us a page, %.1f ns an event\n",
	       t->pages, t->events, t->bytes, t->lost, t->lost_unknown ? " or more" : "", seconds,
	       (double)t->pages / seconds, (double)t->events / seconds, (double)t->bytes / seconds,
	       ratio(t->ns, t->pages) / 1e3, ratio(t->ns, t->events));
}

/* -------------------------------------------------------------------------------------------------------- taking */

/* Take all pages that a ring has now. Returns the number of calls that returned events, or -errno. */
static int take(struct pages *pages, unsigned int number)
{
	struct rec_map *map = pages->maps[number];
	struct rec_page page;
	int taken = 0, got;

	while (!interrupted) {
		const uint64_t before = rec_clock_mono();

		got = rec_map_get_reader(map, &page);
		pages->totals.ns += rec_clock_mono() - before;
		if (got != 1)
			return got < 0 && got != -EAGAIN ? got : taken;
		taken++;
		count(&pages->totals, &page);
		if (pages->stats)
			continue;
		page_text_print(&pages->text, rec_map_meta(map), &page, pages->hex);
		/* If this page could not be printed, no further one is taken. */
		fflush(stdout);
		if (ferror(stdout))
			break;
	}
	return taken;
}

/* --------------------------------------------------------------------------------------------------------- looking */

static void show(void *arg, const struct rec_meta *meta, const struct rec_page *page)
{
	struct pages *pages = arg;

	count(&pages->totals, page);
	if (!pages->stats)
		page_text_print(&pages->text, meta, page, pages->hex);
}

/* Show the contents of a ring. 0 or -errno. */
static int look(struct pages *pages, unsigned int number)
{
	const uint64_t before = rec_clock_mono();
	const int err = pages->kernel ? pages_look_kernel(pages->maps[number], show, pages)
				      : pages_look_lane(pages->view, number, show, pages);

	pages->totals.ns += rec_clock_mono() - before;
	return err;
}

/* ------------------------------------------------------------------------------------------------------- the rings */

static const char *kind(const struct pages *pages)
{
	return pages->kernel ? "cpu" : "lane";
}

static bool cannot(const struct pages *pages, unsigned int number, int err)
{
	complain(NAME, "cannot read %s %u: %s", kind(pages), number,
		 err == -EBUSY	       ? "another recorder reads it"
		 : err == -EBADMSG     ? "it is damaged"
		 : err == -EOPNOTSUPP ? "this kernel cannot map it, so its events can only be consumed: use --take"
				      : strerror(-err));
	return false;
}

/* Make room for the present number of rings, which changes with a program's threads. */
static int make_room(struct pages *pages, unsigned int nr)
{
	struct rec_map **maps = nr > pages->nr_maps ? realloc(pages->maps, nr * sizeof(struct rec_map *)) : pages->maps;

	if (nr && !maps)
		return -ENOMEM;
	pages->maps = maps;
	while (pages->nr_maps < nr)
		maps[pages->nr_maps++] = NULL;
	return 0;
}

static int open_map(struct pages *pages, unsigned int number)
{
	const int err = pages->kernel ? rec_map_kernel(pages->instance, number, 0, &pages->maps[number]) :
					rec_map_lane(pages->view, number, &pages->maps[number]);

	if (err == 0)
		page_text_print_meta(kind(pages), number, rec_map_meta(pages->maps[number]),
				     rec_map_is_copy(pages->maps[number]));
	/*
	 * The program may be making the lane or changing its size at this moment: try again next time. A CPU may have
	 * gone offline.
	 */
	return err == -EAGAIN || err == -ENODATA || (err == -ENODEV && number && pages->cpu == UINT64_MAX) ? 0 : err;
}

static unsigned int nr_rings(const struct pages *pages)
{
	return pages->kernel ? (unsigned int)sysconf(_SC_NPROCESSORS_CONF) : rec_view_lanes(pages->view);
}

/* The number of the requested ring; UINT64_MAX: all. */
static uint64_t only_ring(const struct pages *pages)
{
	return pages->kernel ? pages->cpu : pages->lane;
}

static bool has_ring(const struct pages *pages)
{
	const unsigned int nr = nr_rings(pages);
	const uint64_t only = only_ring(pages);

	if (only == UINT64_MAX || only < nr)
		return true;
	complain(NAME, "there is no %s %" PRIu64 ", only 0 to %u", kind(pages), only, nr ? nr - 1 : 0);
	return false;
}

/* Map the requested rings that are not mapped yet. */
static bool open_maps(struct pages *pages)
{
	const uint64_t only = only_ring(pages);
	const unsigned int nr = nr_rings(pages);
	int err = 0;

	if (!pages->nr_maps && !has_ring(pages))
		return false;
	err = make_room(pages, nr);
	for (unsigned int number = 0; number < nr && !err; number++) {
		if (pages->maps[number] || (only != UINT64_MAX && only != number))
			continue;
		err = open_map(pages, number);
		if (err)
			return cannot(pages, number, err);
	}
	return !err || cannot(pages, 0, err);
}

static bool is_over(const struct pages *pages)
{
	return interrupted || !pages->follow || (pages->view && !rec_view_alive(pages->view));
}

/* Show the lanes of a program without becoming their reader. */
static bool look_at_lanes(struct pages *pages)
{
	if (!has_ring(pages))
		return false;
	for (unsigned int lane = 0; lane < nr_rings(pages); lane++) {
		struct rec_meta meta;
		int err;

		if (pages->lane != UINT64_MAX && pages->lane != lane)
			continue;
		err = pages_look_meta(pages->view, lane, &meta);
		/* The program is making the lane at this moment: skip it. */
		if (err == -EAGAIN)
			continue;
		if (!err)
			page_text_print_meta(kind(pages), lane, &meta, false);
		if (!err)
			err = look(pages, lane);
		if (err)
			return cannot(pages, lane, err);
	}
	return true;
}

static bool look_at_kernel(struct pages *pages)
{
	if (!open_maps(pages))
		return false;
	for (unsigned int i = 0; i < pages->nr_maps; i++) {
		const int err = pages->maps[i] ? look(pages, i) : 0;

		if (err)
			return cannot(pages, i, err);
	}
	return true;
}

static bool take_all(struct pages *pages)
{
	const struct timespec moment = { 0, LOOK_MS * 1000000 };
	bool over;
	int taken;

	complain(NAME, "the events that are shown count as read: no recording gets them");
	do {
		/* This is checked first: if the program is gone, all that it has written is visible then. */
		over = is_over(pages);
		taken = 0;
		if (!open_maps(pages))
			return false;
		for (unsigned int i = 0; i < pages->nr_maps && !ferror(stdout); i++) {
			const int got = pages->maps[i] ? take(pages, i) : 0;

			if (got < 0)
				return cannot(pages, i, got);
			taken += got;
		}
		fflush(stdout);
		if (!taken && !over)
			nanosleep(&moment, NULL);
	} while (!over && !ferror(stdout));
	for (unsigned int i = 0; i < pages->nr_maps; i++)
		if (pages->maps[i])
			page_text_print_meta(kind(pages), i, rec_map_meta(pages->maps[i]),
					     rec_map_is_copy(pages->maps[i]));
	return true;
}

static bool run(struct pages *pages)
{
	bool good;

	pages->began = rec_clock_mono();
	if (pages->take || pages->follow)
		good = take_all(pages);
	else
		good = pages->kernel ? look_at_kernel(pages) : look_at_lanes(pages);
	if (good && pages->stats)
		print_stats(pages);
	return good;
}

/* ------------------------------------------------------------------------------------------------------- opening */

static int open_program(int dir, const char *name, void *data)
{
	struct pages *pages = data;

	return pages->view ? 0 : rec_view_open_at(dir, name, &pages->view);
}

static bool find_program(struct pages *pages)
{
	const int nr = programs_files(&sink, &pages->programs, open_program, pages);

	if (nr > 1)
		complain(NAME, "'%s' matches %d programs: name one by its pid ('recorder ps' shows them)",
			 pages->programs.word, nr);
	return nr == 1;
}

static bool open_all(struct pages *pages)
{
	int err;

	if (!pages->kernel && !find_program(pages))
		return false;
	err = page_text_open(pages->view, &pages->text);
	if (err)
		complain(NAME, "cannot read the %s event formats: %s%s", pages->kernel ? "kernel's" : "program's",
			 strerror(-err), pages->kernel ? " (is tracefs mounted, and are you root?)" : "");
	return !err;
}

static void close_all(struct pages *pages)
{
	for (unsigned int i = 0; i < pages->nr_maps; i++)
		rec_map_close(pages->maps[i]);
	free(pages->maps);
	page_text_close(&pages->text);
	rec_view_close(pages->view);
}

static bool is_complete(const struct pages *pages)
{
	const char *wrong = NULL;

	if (!pages->kernel == !pages->programs.word)
		wrong = "give either -P and a running program, or --kernel";
	else if (pages->kernel && pages->lane != UINT64_MAX)
		wrong = "--lane needs -P; select a ring of the kernel with --cpu";
	else if (!pages->kernel && (pages->cpu != UINT64_MAX || pages->instance))
		wrong = "--cpu and --instance need --kernel; select a ring of a program with --lane";
	if (wrong)
		complain(NAME, "%s (see 'recorder pages --help')", wrong);
	return !wrong;
}

int cmd_pages(int argc, char **argv)
{
	struct pages pages = { .lane = UINT64_MAX, .cpu = UINT64_MAX };
	const struct opt table[] = {
		OPT_STRING('P', "pid", "PROGRAM", "show the lanes of a running program: its pid or name",
			   &pages.programs.word),
		OPT_PROGRAMS_DIR(pages.programs),
		OPT_NUMBER(0, "lane", "N", 0, UINT16_MAX, "show only this lane (all)", &pages.lane),
		OPT_FLAG(0, "kernel", "show the rings of the running kernel", &pages.kernel),
		OPT_STRING(0, "instance", "NAME",
			   "with --kernel: the rings of this tracefs instance (the top-level one)", &pages.instance),
		OPT_NUMBER(0, "cpu", "N", 0, UINT16_MAX, "with --kernel: only this CPU (all)", &pages.cpu),
		OPT_FLAG(0, "take", "take the events from the rings: those that are shown count as read", &pages.take),
		OPT_FLAG(0, "follow", "as --take, and continue until the program ends or Ctrl-C is pressed",
			 &pages.follow),
		OPT_FLAG(0, "hex", "show the bytes of each page too", &pages.hex),
		OPT_FLAG(0, "stats", "show rates and the cost of a page instead of the pages", &pages.stats),
		OPT_END,
	};
	const struct opts opts = {
		.command = NAME,
		.operands = "-P PROGRAM|--kernel",
		.about =
			"Show mapped rings: the meta page, the pages with unread events, and their events. Nothing is "
			"taken from\n"
			"the rings, except with --take and --follow: then the events count as read, and no recording "
			"gets them.\n",
		.table = table,
	};
	const struct sigaction action = { .sa_handler = interrupt };
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (!is_complete(&pages))
		return EXIT_USAGE;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	status = open_all(&pages) && run(&pages) ? EXIT_SUCCESS : EXIT_FAILURE;
	close_all(&pages);
	if (!pages.kernel)
		leftovers_sweep_all(pages.programs.dir);
	return status;
}
