/* SPDX-License-Identifier: MIT */
/*
 * twins LIBRARY
 *
 * A program that uses librecorder as a foreign function interface does: by the names in the shared library. Writes
 * events with only the out-of-line twins of the inline functions, discards one, and reads its own lane back. Exit
 * status 0: all results are as expected.
 */
#include <librecorder/lane.h>
#include <librecorder/page.h>
#include <librecorder/source.h>

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 1000u
#define SIZE	16u /* common fields and a number */

struct rec_event;
struct rec_view;
struct rec_map;

static void *library;

static void need(int is, const char *what)
{
	if (is)
		return;
	fprintf(stderr, "twins: %s\n", what);
	exit(1);
}

static void *function(const char *name)
{
	void *at = dlsym(library, name);

	need(at != NULL, name);
	return at;
}

/* A function of the library: CALL(int, rec_enable, (const char *))("io"). */
#define CALL(type, name, parameters) (*(type (*) parameters)(uintptr_t)function(#name))

static struct rec_event *make_event(void)
{
	struct rec_event *event = NULL;

	need(CALL(int, rec_event_declare,
		  (const char *, const char *, const int64_t *, unsigned int, struct rec_event **))(
		     "twins", "step, u64(n)", NULL, 0, &event) == 0,
	     "rec_event_declare");
	need(!CALL(int, rec_event_on, (struct rec_event *))(event), "it is off at first");
	need(CALL(int, rec_enable, (const char *))("twins") == 1, "rec_enable");
	need(CALL(int, rec_event_on, (struct rec_event *))(event), "it is on now");
	return event;
}

static struct rec_handle *handle;
static uint32_t id;

/* Inlined, because the reservation belongs to the function that calls rec_reserve(). */
static inline __attribute__((always_inline)) void *reserve(struct rec_slot *slot)
{
	void *at = CALL(void *, rec_reserve, (struct rec_handle *, uint32_t, struct rec_slot *))(handle, SIZE, slot);

	need(at != NULL, "rec_reserve");
	return at;
}

static void put(void *at, uint64_t number)
{
	at = CALL(void *, rec_put_common, (void *, const struct rec_handle *, uint32_t))(at, handle, id);
	memcpy(at, &number, sizeof(number));
}

static void commit(const struct rec_slot *slot)
{
	CALL(void, rec_commit, (const struct rec_slot *))(slot);
}

static void write_whole(uint64_t number)
{
	unsigned char whole[SIZE];

	put(whole, number);
	need(CALL(int, rec_write, (struct rec_handle *, const void *, uint32_t))(handle, whole, SIZE) == 0,
	     "rec_write");
}

/* Discards every tenth event; every second one goes through rec_write(). Returns the number of committed events. */
static uint64_t write_events(void)
{
	uint64_t n, committed = 0;
	struct rec_slot slot;
	void *at;

	for (n = 0; n < EVENTS; n++) {
		if (n % 2) {
			write_whole(committed++);
			continue;
		}
		at = reserve(&slot);
		put(at, committed);
		if (n % 10 == 0) {
			CALL(void, rec_discard, (const struct rec_slot *, void *))(&slot, at);
			continue;
		}
		commit(&slot);
		committed++;
	}
	return committed;
}

/* Writes events while another one is reserved by the same function: they nest. Returns the number of the next event. */
static uint64_t write_nested(uint64_t next)
{
	struct rec_slot outer, inner;
	void *at, *within;
	uint64_t n;

	for (n = 0; n < EVENTS; n++) {
		at = n % 3 ? NULL :
			     CALL(void *, rec_reserve_fast, (struct rec_handle *, uint32_t, int, struct rec_slot *))(
				     handle, SIZE, 1, &outer);
		if (!at)
			at = reserve(&outer);
		if (n % 2) {
			write_whole(next + 1);
		} else {
			within = reserve(&inner);
			put(within, next + 1);
			commit(&inner);
		}
		put(at, next);
		commit(&outer);
		next += 2;
	}
	return next;
}

static struct rec_view *open_own(void)
{
	struct rec_view *view = NULL;
	char dir[2048], path[sizeof(dir) + 512], own[32];
	struct dirent *entry;
	DIR *d;

	need(CALL(int, rec_buffer_dir, (int, char *, size_t))(0, dir, sizeof(dir)) == 0, "rec_buffer_dir");
	snprintf(own, sizeof(own), "%d-", (int)getpid());
	d = opendir(dir);
	need(d != NULL, dir);
	while (!view && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (strncmp(entry->d_name, own, strlen(own)) == 0)
			need(CALL(int, rec_view_open, (const char *, struct rec_view **))(path, &view) == 0, path);
	}
	closedir(d);
	need(view != NULL, "no buffer");
	return view;
}

/* Checks that each event is there, in order. Returns their number. */
static uint64_t read_page(const struct rec_page *page, uint64_t next)
{
	struct rec_page_iter walk;
	struct rec_record record;
	uint64_t n;

	CALL(void, rec_page_iter_init, (struct rec_page_iter *, const void *, uint32_t))(&walk, page->data, page->size);
	while (CALL(int, rec_page_next, (struct rec_page_iter *, struct rec_record *))(&walk, &record) == 1) {
		memcpy(&n, (const char *)record.payload + sizeof(struct rec_event_common), sizeof(n));
		need(n == next++, "an event is another one");
	}
	return next;
}

int main(int argc, char **argv)
{
	struct rec_map *map = NULL;
	struct rec_event *event;
	struct rec_view *view;
	uint64_t written, seen = 0;
	struct rec_page page;

	library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	need(library != NULL, argc == 2 ? dlerror() : "no library is named");
	event = make_event();
	handle = CALL(struct rec_handle *, rec_handle_get, (void))();
	need(handle != NULL, "rec_handle_get");
	id = CALL(uint32_t, rec_event_id, (struct rec_event *))(event);
	written = write_nested(write_events());
	view = open_own();
	need(CALL(int, rec_map_lane, (struct rec_view *, unsigned int, struct rec_map **))(view, 0, &map) == 0,
	     "rec_map_lane");
	while (CALL(int, rec_map_get_reader, (struct rec_map *, struct rec_page *))(map, &page) == 1)
		seen = read_page(&page, seen);
	need(seen == written, "some are missing");
	CALL(struct rec_map *, rec_map_close, (struct rec_map *))(map);
	CALL(struct rec_view *, rec_view_close, (struct rec_view *))(view);
	return 0;
}
