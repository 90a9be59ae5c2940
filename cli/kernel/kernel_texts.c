/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_texts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/base/proc_status.h"
#include "cli/kernel/kernel_pids.h"
#include "cli/kernel/kernel_settings.h"
#include "format/dat/dat_notes.h"
#include "format/io/blob.h"
#include "librecorder/os/boot_id.h"

struct place {
	struct spool *spool;
	unsigned int process;
};

/*
 * Put `text`, which is freed, into the spool; `got` is the result of reading it. If the text is missing, the recording
 * continues.
 */
static int add(const struct place *place, enum spool_text_kind kind, const char *name, int got, char *text,
	       size_t size)
{
	int err;

	if (got)
		return got == -ENOMEM ? got : 0;
	err = spool_add_text(place->spool, place->process, kind, name, text, size);
	free(text);
	return err;
}

/*
 * Adds the symbols in memory only: they are some megabytes, and a recovery under the same running kernel can read them
 * again.
 */
static int keep_kallsyms(const struct place *place)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t size;
	int err;

	if (!file)
		return errno == ENOMEM ? -ENOMEM : 0;
	errno = 0;
	size = getdelim(&text, &room, '\0', file);
	err = errno == ENOMEM ? -ENOMEM : 0;
	if (size >= 0 && !ferror(file)) {
		err = spool_keep_text(place->spool, place->process, SPOOL_TEXT_KALLSYMS, "", text, (size_t)size);
		text = NULL;
	}
	free(text);
	fclose(file);
	return err;
}

static int add_boot_id(const struct place *place)
{
	char text[BOOT_ID_SIZE];

	if (boot_id_read(text, sizeof(text)))
		return 0;
	return spool_add_text(place->spool, place->process, SPOOL_TEXT_BOOT, "", text, strlen(text));
}

static int add_top(const struct place *place, enum spool_text_kind kind, const char *file)
{
	char *text = NULL;
	size_t size = 0;
	const int got = kernel_top_text(file, &text, &size);

	return add(place, kind, "", got, text, size);
}

static int add_own(const struct kernel *kernel, const struct place *place, enum spool_text_kind kind,
		   const char *name, const char *file, bool needed)
{
	char *text = NULL;
	size_t size = 0;
	const int got = kernel_text(kernel, file, &text, &size);

	return got && needed ? got : add(place, kind, name, got, text, size);
}

static int add_format(void *data, const char *system, const char *event, const char *text, size_t size)
{
	const struct place *place = data;
	char name[512];

	snprintf(name, sizeof(name), "%s/%s", system, event);
	return spool_add_text(place->spool, place->process, SPOOL_TEXT_FORMAT, name, text, size);
}

static int add_uname(const struct place *place)
{
	struct utsname name;
	char text[4 * sizeof(name.sysname) + 4];

	if (uname(&name) < 0)
		return 0;
	snprintf(text, sizeof(text), "%s %s %s %s", name.sysname, name.nodename, name.release, name.machine);
	return spool_add_text(place->spool, place->process, SPOOL_TEXT_UNAME, "", text, strlen(text));
}

int kernel_texts_names(struct spool *spool, unsigned int process)
{
	const struct place place = { spool, process };
	const int err = add_top(&place, SPOOL_TEXT_PRINTK, "printk_formats");

	return err ? err : add_top(&place, SPOOL_TEXT_CMDLINES, "saved_cmdlines");
}

int kernel_texts_begin(const struct kernel *kernel, struct spool *spool, unsigned int process)
{
	struct place place = { spool, process };
	const char *clock = kernel_clock(kernel);
	int err;

	err = spool_add_text(spool, process, SPOOL_TEXT_CLOCK, "", clock, strlen(clock));
	if (!err)
		err = add_boot_id(&place);
	if (!err)
		err = add_uname(&place);
	if (!err)
		err = add_own(kernel, &place, SPOOL_TEXT_HEADER_PAGE, "", "events/header_page", true);
	if (!err)
		err = add_own(kernel, &place, SPOOL_TEXT_HEADER_EVENT, "", "events/header_event", true);
	if (!err)
		err = kernel_formats(kernel, add_format, &place);
	return err || spool_buffer(&spool->entries[process]) ? err : kernel_texts_names(spool, process);
}

/* The process of a thread; 0: it has ended. */
static unsigned long process_of(unsigned long tid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%lu/status", tid);
	return proc_status_number(AT_FDCWD, path, "Tgid");
}

/* Write the processes of the threads in `pids`, without those in `before`; both are in ascending order. */
static void put_processes(FILE *out, const char *pids, const char *before)
{
	unsigned long tid, known, process, last = 0;
	char *end, *next;

	known = strtoul(before, &next, 10);
	for (tid = strtoul(pids, &end, 10); tid; tid = strtoul(end, &end, 10)) {
		while (known && known < tid)
			known = strtoul(next, &next, 10);
		process = known == tid ? 0 : process_of(tid);
		if (!process)
			continue;
		if (process != last)
			fprintf(out, "%s%lu", ftell(out) ? ", " : "", process);
		if (process != tid)
			fprintf(out, " %lu", tid);
		last = process;
	}
}

/*
 * Note the processes of the threads in set_event_pid. Called after "first pids" was noted and again after "pids" was
 * noted, so threads that exist at either time are included.
 */
static int add_processes(const struct place *place, const char *pids, const char *pids_before)
{
	const struct spool_entry *entry = &place->spool->entries[place->process];
	const struct spool_text *now = spool_text(entry, SPOOL_TEXT_SOME, pids);
	const struct spool_text *before = pids_before ? spool_text(entry, SPOOL_TEXT_SOME, pids_before) : NULL;
	const struct spool_text *known = spool_text(entry, SPOOL_TEXT_SOME, "processes");
	char *text = NULL;
	size_t size = 0;
	FILE *out = now ? open_memstream(&text, &size) : NULL;

	if (!out)
		return now ? -ENOMEM : 0;
	if (known)
		fputs(known->text, out);
	put_processes(out, now->text, before ? before->text : "");
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	return add(place, SPOOL_TEXT_SOME, "processes", 0, text, size);
}

/* Note the CPUs that are online and not recorded. */
static int add_no_cpus(const struct kernel *kernel, const struct place *place)
{
	unsigned int nr, nr_all = 0;
	const unsigned int *cpus = kernel_cpus(kernel, &nr);
	char online[1024];
	struct blob list = BLOB_INIT;
	bool *set;
	int err;

	kernel_cpus_online(online, sizeof(online));
	nr_all = dat_notes_cpus(online, NULL, 0);
	set = calloc(nr_all + 1u, sizeof(*set));
	if (!set)
		return -ENOMEM;
	dat_notes_cpus(online, set, nr_all);
	for (unsigned int i = 0; i < nr; i++) {
		if (cpus[i] < nr_all)
			set[cpus[i]] = false;
	}
	dat_notes_put_cpus(&list, set, nr_all);
	free(set);
	err = list.error;
	if (!err && list.size)
		err = spool_add_text(place->spool, place->process, SPOOL_TEXT_SOME, "no cpus", (char *)list.data,
				     list.size);
	blob_free(&list);
	return err;
}

/* Note the depth limit of the function graph: the file leaves out deeper calls. */
static int add_graph_depth(const struct kernel *kernel, const struct place *place)
{
	const uint64_t depth = kernel_graph_depth(kernel);
	char text[24];

	if (!depth)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, depth);
	return spool_add_text(place->spool, place->process, SPOOL_TEXT_SOME, "graph depth", text, strlen(text));
}

int kernel_texts_some(const struct kernel *kernel, struct spool *spool, unsigned int process)
{
	struct place place = { spool, process };
	int err = add_own(kernel, &place, SPOOL_TEXT_SOME, "first pids", "set_event_pid", false);

	if (!err)
		err = add_processes(&place, "first pids", NULL);
	if (!err)
		err = add_own(kernel, &place, SPOOL_TEXT_SOME, "filter", "events/sched/sched_switch/filter", false);
	if (!err)
		err = add_own(kernel, &place, SPOOL_TEXT_SOME, "switches", "events/sched/sched_switch/enable", false);
	if (!err)
		err = add_graph_depth(kernel, &place);
	return err ? err : add_no_cpus(kernel, &place);
}

int kernel_texts_end(const struct kernel *kernel, struct spool *spool, unsigned int process)
{
	struct place place = { spool, process };
	unsigned int nr;
	const unsigned int *cpus = kernel_cpus(kernel, &nr);
	char file[64], name[16];
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++) {
		snprintf(name, sizeof(name), "%u", cpus[i]);
		snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpus[i]);
		err = add_own(kernel, &place, SPOOL_TEXT_STATS, name, file, false);
	}
	if (!err)
		err = add_own(kernel, &place, SPOOL_TEXT_SOME, "pids", "set_event_pid", false);
	if (!err)
		err = add_processes(&place, "pids", "first pids");
	/* Names and symbols are the same for all buffers. */
	if (err || spool_buffer(&spool->entries[process]))
		return err;
	err = kernel_texts_names(spool, process);
	return err ? err : keep_kallsyms(&place);
}

int kernel_texts_own_threads(struct spool *spool, unsigned int process)
{
	DIR *dir = kernel_pids_are_ours(NULL) ? opendir("/proc/self/task") : NULL;
	const struct spool_text *before;
	const struct dirent *entry;
	char *text = NULL;
	size_t size = 0;
	FILE *out = dir ? open_memstream(&text, &size) : NULL;
	int err = dir && !out ? -ENOMEM : 0;

	while (out && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			fprintf(out, "%s%s", ftell(out) ? " " : "", entry->d_name);
	if (out && fclose(out))
		err = -ENOMEM;
	if (dir)
		closedir(dir);
	before = spool_text(&spool->entries[process], SPOOL_TEXT_HIDDEN, "");
	if (!err && text && !(before && !strcmp(before->text, text)))
		err = spool_add_text(spool, process, SPOOL_TEXT_HIDDEN, "", text, size);
	free(text);
	return err;
}

int kernel_texts_recover(struct spool *spool, unsigned int process)
{
	const struct spool_entry *entry = &spool->entries[process];
	const struct spool_text *boot = spool_text(entry, SPOOL_TEXT_BOOT, "");
	struct place place = { spool, process };
	char now[BOOT_ID_SIZE];

	if (!boot || spool_buffer(entry) || spool_text(entry, SPOOL_TEXT_KALLSYMS, "") ||
	    boot_id_read(now, sizeof(now)))
		return 0;
	return strcmp(boot->text, now) == 0 ? keep_kallsyms(&place) : 0;
}
