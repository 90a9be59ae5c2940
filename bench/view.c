/* SPDX-License-Identifier: MIT */
#include "bench/view.h"

#include <dirent.h>
#include <stdio.h>

struct rec_view *view_of(pid_t pid)
{
	char dir[4096], path[sizeof(dir) + 256];
	struct rec_view *view = NULL;
	struct dirent *entry;
	DIR *d;

	if (rec_buffer_dir(false, dir, sizeof(dir)) < 0)
		return NULL;
	d = opendir(dir);
	while (d && !view && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (entry->d_name[0] == '.' || rec_view_open(path, &view) < 0)
			continue;
		if (rec_view_info(view)->pid != (uint32_t)pid)
			view = rec_view_close(view);
	}
	if (d)
		closedir(d);
	return view;
}
