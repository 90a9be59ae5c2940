/* SPDX-License-Identifier: MIT */
#include "cli/base/proc_status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned long proc_status_number(int dir, const char *path, const char *name)
{
	const int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	const size_t length = strlen(name);
	unsigned long number = 0;
	char line[256];

	while (file && !number && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length) && line[length] == ':')
			number = strtoul(line + length + 1, NULL, 10);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	return number;
}
