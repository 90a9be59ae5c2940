/* SPDX-License-Identifier: MIT */
/*
 * KernelShark's view of a trace.dat: every row that its own library loads, one line each, without its window.
 *
 *	kshark_rows FILE		nanoseconds CPU pid task event info, separated by tabs, in the order of its
 *					table
 *	kshark_rows -s FILE		one line: streams, rows, gaps, events lost in them, CPUs, tasks, kinds of events
 *
 * A gap is a row of its own, as in the window: its event is "missed_events". Exits with 1 when the file does not
 * load or a row has no event name, task or time.
 *
 * Debian ships libkshark without headers, so the parts used are declared here; without the library the build succeeds,
 * and the program names it as missing.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define LIBKSHARK "libkshark.so.2"

/* The row that KernelShark keeps in memory, as of its 2.x libraries. */
struct row {
	struct row *next;
	uint16_t visible;
	int16_t stream;
	int16_t event;
	int16_t cpu;
	int32_t pid;
	int64_t offset;
	int64_t ts;
};

/* KernelShark's id for "events were lost here" (-EOVERFLOW); the row's text is "missed_events=N". */
#define EVENT_GAP (-75)

struct kshark {
	bool (*instance)(void **ret_context);
	int (*open)(void *context, const char *file);
	int (*init_all_buffers)(void *context, int stream);
	ssize_t (*load_all)(void *context, struct row ***ret_rows);
	int *(*all_streams)(void *context);
	char *(*event_name)(const struct row *row);
	char *(*task)(const struct row *row);
	char *(*info)(const struct row *row);
	int (*pid)(const struct row *row);
	int (*close)(void *context, int stream);
};

static int load_symbol(void *library, const char *name, void *ret_function)
{
	void *symbol = dlsym(library, name);

	if (!symbol) {
		fprintf(stderr, "kshark_rows: %s has no %s\n", LIBKSHARK, name);
		return -1;
	}
	memcpy(ret_function, &symbol, sizeof(symbol));
	return 0;
}

static int load_library(struct kshark *ret_ks)
{
	const struct {
		const char *name;
		void *function;
	} symbols[] = {
		{ "kshark_instance", &ret_ks->instance },
		{ "kshark_open", &ret_ks->open },
		{ "kshark_tep_init_all_buffers", &ret_ks->init_all_buffers },
		{ "kshark_load_all_entries", &ret_ks->load_all },
		{ "kshark_all_streams", &ret_ks->all_streams },
		{ "kshark_get_event_name", &ret_ks->event_name },
		{ "kshark_get_task", &ret_ks->task },
		{ "kshark_get_info", &ret_ks->info },
		{ "kshark_get_pid", &ret_ks->pid },
		{ "kshark_close", &ret_ks->close },
	};
	void *library = dlopen(LIBKSHARK, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "kshark_rows: %s: install the package kernelshark\n", dlerror());
		return -1;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (load_symbol(library, symbols[i].name, symbols[i].function))
			return -1;
	return 0;
}

struct totals {
	size_t rows;
	size_t gaps;
	uint64_t lost;
	size_t cpus;
	size_t tasks;
	size_t events;
	uint8_t cpu_seen[INT16_MAX + 1];
	uint8_t event_seen[INT16_MAX + 1];
	int32_t *pids;
};

static int compare_pids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static void count_gap(struct totals *totals, const char *info)
{
	const char *number = info ? strchr(info, '=') : NULL;

	totals->gaps++;
	if (number)
		totals->lost += strtoull(number + 1, NULL, 10);
}

static void count_row(struct totals *totals, const struct kshark *ks, const struct row *row)
{
	if (row->event == EVENT_GAP) {
		char *info = ks->info(row);

		count_gap(totals, info);
		free(info);
		return;
	}
	totals->pids[totals->rows++] = row->pid;
	if (row->cpu >= 0 && !totals->cpu_seen[row->cpu]) {
		totals->cpu_seen[row->cpu] = 1;
		totals->cpus++;
	}
	if (row->event >= 0 && !totals->event_seen[row->event]) {
		totals->event_seen[row->event] = 1;
		totals->events++;
	}
}

static void print_totals(struct totals *totals, int streams)
{
	qsort(totals->pids, totals->rows, sizeof(*totals->pids), compare_pids);
	for (size_t i = 0; i < totals->rows; i++)
		if (!i || totals->pids[i] != totals->pids[i - 1])
			totals->tasks++;
	printf("streams=%d rows=%zu gaps=%zu lost=%llu cpus=%zu tasks=%zu events=%zu\n", streams, totals->rows,
	       totals->gaps, (unsigned long long)totals->lost, totals->cpus, totals->tasks, totals->events);
}

static int print_row(const struct kshark *ks, const struct row *row)
{
	char *event = ks->event_name(row);
	char *task = ks->task(row);
	char *info = ks->info(row);
	int err = 0;

	if (!event || !*event || !task || !*task || !info || row->ts < 0 || row->cpu < 0) {
		fprintf(stderr, "kshark_rows: the row at %lld ns, CPU %d, event %d has no name, task or text\n",
			(long long)row->ts, row->cpu, row->event);
		err = -1;
	} else {
		printf("%lld\t%d\t%d\t%s\t%s\t%s\n", (long long)row->ts, row->cpu, ks->pid(row), task, event, info);
	}
	free(info);
	free(task);
	free(event);
	return err;
}

static int show(const struct kshark *ks, const char *file, bool summary)
{
	struct totals *totals = calloc(1, sizeof(*totals));
	struct row **rows = NULL;
	void *context = NULL;
	ssize_t nr_rows = 0;
	int stream, streams, err = -1;

	if (!totals || !ks->instance(&context))
		goto out;
	stream = ks->open(context, file);
	if (stream < 0) {
		fprintf(stderr, "kshark_rows: KernelShark does not open %s: error %d\n", file, stream);
		goto out;
	}
	streams = ks->init_all_buffers(context, stream);
	nr_rows = ks->load_all(context, &rows);
	if (nr_rows <= 0) {
		fprintf(stderr, "kshark_rows: KernelShark loads nothing from %s: %zd\n", file, nr_rows);
		goto close;
	}
	totals->pids = calloc((size_t)nr_rows, sizeof(*totals->pids));
	if (!totals->pids)
		goto close;
	err = 0;
	for (ssize_t i = 0; i < nr_rows; i++) {
		count_row(totals, ks, rows[i]);
		if (!summary && print_row(ks, rows[i]))
			err = -1;
		free(rows[i]);
	}
	if (summary)
		print_totals(totals, streams + 1);
close:
	free(rows);
	ks->close(context, stream);
out:
	if (totals)
		free(totals->pids);
	free(totals);
	return err;
}

int main(int argc, char **argv)
{
	bool summary = argc == 3 && !strcmp(argv[1], "-s");
	struct kshark ks;

	if (argc != 2 && !summary) {
		fprintf(stderr, "usage: kshark_rows [-s] FILE\n");
		return 2;
	}
	if (load_library(&ks) || show(&ks, argv[argc - 1], summary))
		return 1;
	return fflush(stdout) ? 1 : 0;
}
