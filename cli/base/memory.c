/* SPDX-License-Identifier: MIT */
/*
 * Takes the smallest of these figures: the machine's available memory, and what each control group above this process
 * (version 2 or 1) still permits. A group counts its page cache as used, but the kernel reclaims the inactive part of
 * it before the limit is reached.
 */
#include "cli/base/memory.h"
#include "cli/base/least.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files and figures of a group, by the version of control groups. */
struct group_files {
	const char *top, *limit, *used, *cache;
};

static const struct group_files version_1 = { "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
					      "total_inactive_file " };
static const struct group_files version_2 = { "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file " };

/* The number after `name` at the beginning of a line; UINT64_MAX: there is no such line. */
static uint64_t read_number(const char *directory, const char *file, const char *name)
{
	const size_t size = strlen(name);
	uint64_t number = UINT64_MAX;
	char path[2 * PATH_MAX], line[256], *end;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	stream = fopen(path, "re");
	while (stream && fgets(line, sizeof(line), stream)) {
		if (strncmp(line, name, size) != 0)
			continue;
		errno = 0;
		number = strtoull(line + size, &end, 10);
		if (end == line + size || errno)
			number = UINT64_MAX;
		break;
	}
	if (stream)
		fclose(stream);
	return number;
}

/* The bytes that a group's limit leaves; UINT64_MAX: the group has no limit. */
static uint64_t left_in(const char *group, const struct group_files *files)
{
	const uint64_t limit = read_number(group, files->limit, ""),
		       cache = read_number(group, "memory.stat", files->cache);
	uint64_t used = read_number(group, files->used, "");

	if (limit == UINT64_MAX || used == UINT64_MAX)
		return UINT64_MAX;
	if (cache != UINT64_MAX)
		used -= least(cache, used);
	return limit > used ? limit - used : 0;
}

/* The smallest value of a group and those above it. In a container, the highest visible group is not the top one. */
static uint64_t left_above(const char *root, char *group, const struct group_files *files)
{
	char path[2 * PATH_MAX];
	uint64_t left = UINT64_MAX;
	char *slash;

	/* The group is outside of the visible part of the tree. */
	if (strstr(group, "/.."))
		group[0] = '\0';
	do {
		snprintf(path, sizeof(path), "%s%s%s", root, files->top, group);
		left = least(left, left_in(path, files));
		slash = strrchr(group, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return left;
}

/* A line of /proc/self/cgroup: number, controllers, path. Only the line of version 2 has no controllers. */
static uint64_t left_by_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return UINT64_MAX;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	if (!controllers[1])
		return left_above(root, group, &version_2);
	for (char *save, *one = strtok_r(controllers + 1, ",", &save); one; one = strtok_r(NULL, ",", &save))
		if (!strcmp(one, "memory"))
			return left_above(root, group, &version_1);
	return UINT64_MAX;
}

uint64_t memory_available_at(const char *root)
{
	char path[PATH_MAX], line[PATH_MAX];
	uint64_t kb, left;
	FILE *groups;

	snprintf(path, sizeof(path), "%s/proc", root);
	kb = read_number(path, "meminfo", "MemAvailable:");
	left = kb > UINT64_MAX / 1024 ? UINT64_MAX : kb * 1024;
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	groups = fopen(path, "re");
	while (groups && fgets(line, sizeof(line), groups))
		left = least(left, left_by_line(root, line));
	if (groups)
		fclose(groups);
	return left;
}

uint64_t memory_available(void)
{
	return memory_available_at("");
}
