/* SPDX-License-Identifier: MIT */
/*
 * victim_grows NOTES
 *
 * Writes numbered events into lanes that are soon full, reads them itself, and by turns permits and forbids growth,
 * until it ends or is killed. NOTES is 16 bytes long: how many events were certainly committed, and how many of them
 * were read.
 */
#include <librecorder/event.h>
#include <librecorder/reader.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUNDS 2u

/* Three fit on a page, so some sixty events fill a lane. */
struct event {
	struct rec_event_common common;
	uint64_t number;
	char more[1200];
};

static struct {
	uint64_t committed;
	uint64_t read;
} *notes;

static char path[600];

static void write_some(unsigned int events)
{
	struct event event = { .number = notes->committed };

	while (events--) {
		if (rec_write(rec_handle_get(), &event, sizeof(event)) < 0)
			_exit(3);
		__atomic_store_n(&notes->committed, ++event.number, __ATOMIC_RELEASE);
	}
}

static void find_buffer(void)
{
	const char *dir = getenv("RECORDER_DIR");
	const struct dirent *entry;
	DIR *entries = opendir(dir);

	while (entries && (entry = readdir(entries)))
		if (strstr(entry->d_name, ".rec"))
			snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
	if (!path[0])
		_exit(4);
	closedir(entries);
}

static void want(unsigned int seconds)
{
	struct rec_view *view = NULL;

	if (rec_view_open(path, &view) < 0 || rec_view_grow(view, seconds) < 0)
		_exit(5);
	rec_view_close(view);
}

static void read_all(void)
{
	struct rec_view *view = NULL;
	struct rec_page page;
	unsigned int lane;

	if (rec_view_open(path, &view) < 0)
		_exit(6);
	for (lane = 0; lane < rec_view_lanes(view); lane++)
		while (rec_view_read(view, lane, 0, &page) > 0)
			continue;
	rec_view_close(view);
	notes->read = notes->committed;
}

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;

	if (fd < 0)
		return 2;
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (notes == MAP_FAILED)
		return 2;
	find_buffer();
	for (unsigned int round = 0; round < ROUNDS; round++) {
		want(3600);
		write_some(250);
		read_all();
		want(0);
		/*
		 * These are more events than the lane holds: a thread checks whether growth is permitted when it begins
		 * to lose events.
		 */
		write_some(100);
		read_all();
	}
	return 0;
}
