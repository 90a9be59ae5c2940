/* SPDX-License-Identifier: MIT */
#include "cli/recording/proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/proc_stat.h"
#include "format/io/blob.h"

/*
 * The lines of files in /proc/PID/maps, as trace-cmd stores them: begin, end, and the first word of the path; memory
 * without a name is left out. Returns how many.
 */
static unsigned int put_lines(FILE *file, struct blob *lines)
{
	char *line = NULL, *path;
	uint64_t begin, end;
	unsigned int nr = 0;
	size_t room = 0;
	int at;

	while (getline(&line, &room, file) > 0) {
		at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", &begin, &end, &at) < 2 || !at ||
		    !line[at])
			continue;
		path = line + at;
		path[strcspn(path, " \n")] = '\0';
		if (!*path)
			continue;
		blob_printf(lines, "%" PRIx64 " %" PRIx64 " %s\n", begin, end, path);
		nr++;
	}
	free(line);
	return nr;
}

/* Make the whole text: pid, number of lines and the program's path, then the lines. 0 or -errno. */
static int read_map(pid_t pid, struct blob *ret_text)
{
	struct blob lines = BLOB_INIT;
	char path[64], exe[PATH_MAX];
	unsigned int nr;
	ssize_t size;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	size = readlink(path, exe, sizeof(exe) - 1);
	if (size < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	exe[size] = '\0';
	exe[strcspn(exe, " \n")] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	nr = put_lines(file, &lines);
	fclose(file);
	blob_printf(ret_text, "%x %x %s\n", (unsigned int)pid, nr, exe);
	blob_put(ret_text, lines.data, lines.size);
	if (lines.error)
		ret_text->error = lines.error;
	blob_free(&lines);
	/* A process that is ending has no map any more. */
	return ret_text->error ? ret_text->error : nr ? 0 : -ESRCH;
}

static int read_start(pid_t pid, uint64_t *ret_start)
{
	struct rec_proc_stat stat;
	const int err = proc_stat_of((uint32_t)pid, &stat);

	if (!err)
		*ret_start = stat.start_time;
	return err == -ENOENT ? -ESRCH : err;
}

/* The entry for the map of this process; NULL: no memory. */
static struct proc_map *place_for(struct proc_maps *maps, pid_t pid)
{
	struct proc_map *larger;

	for (unsigned int i = 0; i < maps->nr; i++)
		if (maps->maps[i].pid == pid)
			return &maps->maps[i];
	larger = realloc(maps->maps, (maps->nr + 1) * sizeof(*larger));
	if (!larger)
		return NULL;
	maps->maps = larger;
	larger[maps->nr] = (struct proc_map){ .pid = pid };
	return &larger[maps->nr++];
}

int proc_maps_take(struct proc_maps *maps, pid_t pid)
{
	struct blob text = BLOB_INIT;
	struct proc_map *place;
	uint64_t start;
	int err = read_start(pid, &start);

	if (!err)
		err = read_map(pid, &text);
	place = err ? NULL : place_for(maps, pid);
	if (!place) {
		blob_free(&text);
		return err ? err : -ENOMEM;
	}
	free(place->text);
	*place = (struct proc_map){ pid, start, (char *)text.data, text.size };
	return 0;
}

void proc_maps_take_again(struct proc_maps *maps)
{
	uint64_t start;

	for (unsigned int i = 0; i < maps->nr; i++)
		if (!read_start(maps->maps[i].pid, &start) && start == maps->maps[i].start_time)
			proc_maps_take(maps, maps->maps[i].pid);
}

int proc_maps_save(const struct proc_maps *maps, struct spool *spool)
{
	char name[16];
	int err = 0;

	for (unsigned int i = 0; i < maps->nr && spool->nr_entries && !err; i++) {
		snprintf(name, sizeof(name), "%d", (int)maps->maps[i].pid);
		err = spool_add_text(spool, 0, SPOOL_TEXT_MAP, name, maps->maps[i].text, maps->maps[i].size);
	}
	return err;
}

void proc_maps_free(struct proc_maps *maps)
{
	for (unsigned int i = 0; i < maps->nr; i++)
		free(maps->maps[i].text);
	free(maps->maps);
}
