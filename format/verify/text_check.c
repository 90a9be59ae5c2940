/* SPDX-License-Identifier: MIT */
/* Checks, for file_check.c, the texts of a file that have a line for each thread or CPU. */
#include "format/verify/file_check_private.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "format/dat/dat_lines.h"
#include "format/dat/dat_stats.h"

/* --------------------------------------------------------------------------------------------- names of threads */

/*
 * If a line does not have a thread and a name, viewers ignore the names after it. If a thread has two names, viewers
 * show the first (3.4).
 */
static int check_name(struct checking *c, struct number_map *pids, const char *line, size_t size, unsigned int number)
{
	const char *name;
	uint64_t pid;

	if (!dat_line_thread(line, size, &pid, &name)) {
		check_say(c, c->file->cmdlines.offset,
			  "line %u of the command lines is not a thread and a name: viewers stop reading there",
			  number);
		return 0;
	}
	if (number_map_get(pids, pid)) {
		check_say(c, c->file->cmdlines.offset,
			  "line %u of the command lines is a second name of thread %" PRIu64, number, pid);
		return 1;
	}
	return number_map_set(pids, pid, number) ? -ENOMEM : 1;
}

static int check_cmdlines(struct checking *c)
{
	const struct dat_text *text = &c->file->cmdlines;
	struct number_map pids = { 0 };
	const char *at = text->text;
	unsigned int line = 1;
	int ret = 1;

	for (; at && *at && ret > 0; line++) {
		const size_t size = strcspn(at, "\n");

		if (size)
			ret = check_name(c, &pids, at, size, line);
		if (c->check->strict && ret > 0 && !at[size])
			check_say(c, text->offset, "the last line of the command lines, %u, does not end", line);
		at += size + (at[size] == '\n');
	}
	number_map_free(&pids);
	return ret < 0 ? ret : 0;
}

/* ------------------------------------------------------------------------------------------- statistics of CPUs */

/* The state while the lines of the statistics are read. */
struct stats_place {
	struct number_map cpus; /* the CPUs of this buffer that have statistics */
	bool has_cpu;
};

/*
 * Checks that a line is "NAME: VALUE", after a line that names its CPU; or a heading; or empty. 1: it is; 0: it is not,
 * and this was reported.
 */
static int check_stat(struct checking *c, struct stats_place *place, const struct dat_option *option, const char *line)
{
	const size_t size = strcspn(line, "\n");
	const char *colon = memchr(line, ':', size);
	uint64_t cpu;

	if (!size)
		return 1;
	if (dat_stats_get_buffer(line)) {
		place->has_cpu = false;
		number_map_free(&place->cpus);
		place->cpus = (struct number_map){ 0 };
		return 1;
	}
	if (!colon || colon == line || colon[1] != ' ' || (size_t)(colon + 2 - line) == size) {
		check_say(c, option->offset, "statistics: \"%.*s\" is not a name and a value",
			  size > 32 ? 32 : (int)size, line);
		return 0;
	}
	if (!dat_stats_get(line, DAT_STAT_CPU, &cpu)) {
		if (!place->has_cpu)
			check_say(c, option->offset, "statistics: \"%.*s\" is of no CPU", size > 32 ? 32 : (int)size,
				  line);
		return place->has_cpu;
	}
	place->has_cpu = true;
	if (memchr(colon, ',', size - (size_t)(colon - line)))
		return 1; /* a statistic of the programs on this CPU */
	if (number_map_get(&place->cpus, cpu)) {
		check_say(c, option->offset, "statistics: CPU %" PRIu64 " has two", cpu);
		return 0;
	}
	return number_map_set(&place->cpus, cpu, 1) ? -ENOMEM : 1;
}

/* Check the statistics. Only one problem of each option is reported. */
static int check_stats(struct checking *c)
{
	struct stats_place place = { 0 };
	int ret = 0;

	for (size_t i = 0; i < c->file->nr_options && ret >= 0; i++) {
		const struct dat_option *option = &c->file->options[i];
		const char *line = option->data;

		if (option->id != DAT_CPUSTAT)
			continue;
		do {
			ret = check_stat(c, &place, option, line);
			line += strcspn(line, "\n");
		} while (ret > 0 && *line++);
	}
	number_map_free(&place.cpus);
	return ret < 0 ? ret : 0;
}

int check_texts(struct checking *c)
{
	const int err = check_cmdlines(c);

	return err ? err : check_stats(c);
}
