/* SPDX-License-Identifier: MIT */
/* The memory that may be used, computed from a simulated /proc and /sys. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/memory.h"

#define GB (UINT64_C(1) << 30)
#define MB (UINT64_C(1) << 20)

#define V1_GROUP "sys/fs/cgroup/memory"
#define V2_GROUP "sys/fs/cgroup"

static char root[64];

/* A file below the root, and the directories above it. */
static void put(const char *path, const char *text)
{
	char name[PATH_MAX];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	cr_assert(file, "%s", name);
	cr_assert_geq(fputs(text, file), 0);
	fclose(file);
}

static void put_number(const char *group, const char *file, uint64_t number)
{
	char path[PATH_MAX], text[32];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)number);
	put(path, text);
}

static void begin(void)
{
	strcpy(root, "/tmp/recorder-memory-XXXXXX");
	cr_assert(mkdtemp(root));
	put("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000 kB\nMemAvailable:    8388608 kB\n");
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(memory, .init = begin, .fini = end);

Test(memory, without_groups_it_is_the_machines)
{
	cr_assert_eq(memory_available_at(root), 8 * GB);
}

Test(memory, a_group_of_version_2_limits_it)
{
	put("proc/self/cgroup", "0::/system.slice/app.service\n");
	put_number(V2_GROUP "/system.slice/app.service", "memory.max", 100 * MB);
	put_number(V2_GROUP "/system.slice/app.service", "memory.current", 60 * MB);
	cr_assert_eq(memory_available_at(root), 40 * MB);
	put(V2_GROUP "/system.slice/app.service/memory.stat",
	    "anon 5\nfile 77\nactive_file 3\ninactive_file 20971520\n");
	cr_assert_eq(memory_available_at(root), 60 * MB, "page cache is given up");
	put_number(V2_GROUP "/system.slice/app.service", "memory.current", 900 * MB);
	cr_assert_eq(memory_available_at(root), 0);
}

Test(memory, so_does_one_above_it)
{
	put("proc/self/cgroup", "0::/a/b/c\n");
	put(V2_GROUP "/a/b/c/memory.max", "max\n");
	put_number(V2_GROUP "/a/b/c", "memory.current", MB);
	put_number(V2_GROUP "/a", "memory.max", 3 * MB);
	put_number(V2_GROUP "/a", "memory.current", MB);
	cr_assert_eq(memory_available_at(root), 2 * MB);
}

/* A container sees its own group as the root. */
Test(memory, the_top_may_be_a_containers)
{
	put_number(V2_GROUP, "memory.max", 5 * MB);
	put_number(V2_GROUP, "memory.current", MB);
	put("proc/self/cgroup", "0::/\n");
	cr_assert_eq(memory_available_at(root), 4 * MB);
	put("proc/self/cgroup", "0::/../elsewhere\n");
	cr_assert_eq(memory_available_at(root), 4 * MB);
}

Test(memory, a_group_of_version_1_limits_it)
{
	put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/1\n1:name=systemd:/x\n0::/\n");
	put_number(V1_GROUP "/docker/1", "memory.limit_in_bytes", 10 * MB);
	put_number(V1_GROUP "/docker/1", "memory.usage_in_bytes", 9 * MB);
	put(V1_GROUP "/docker/1/memory.stat", "inactive_file 1\ntotal_inactive_file 1048576\n");
	cr_assert_eq(memory_available_at(root), 2 * MB);
	/* The kernel writes this if there is no limit. */
	put_number(V1_GROUP "/docker/1", "memory.limit_in_bytes", UINT64_C(9223372036854771712));
	cr_assert_eq(memory_available_at(root), 8 * GB);
}

Test(memory, other_controllers_do_not)
{
	put("proc/self/cgroup", "4:memory_of_others:/x\n3:cpu:/x\n");
	put_number(V1_GROUP "/x", "memory.limit_in_bytes", MB);
	put_number(V1_GROUP "/x", "memory.usage_in_bytes", 0);
	cr_assert_eq(memory_available_at(root), 8 * GB);
}
