/* SPDX-License-Identifier: MIT */
/* Packets, their times, and what a trace begins with. */
#include "format/export/perfetto_private.h"

#include <errno.h>
#include <string.h>

#define SEQUENCE 1 /* the sequence of all packets */

enum { FLAG_CLEARED = 1 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_NUMBER = 1, CLOCK_TIME = 2, CLOCK_IS_INCREMENTAL = 3 };
enum { SYSTEM_UTSNAME = 1, UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3, UTSNAME_MACHINE = 4 };

/*
 * A packet's time is written as the difference from the last packet. If it is earlier, as the begin of a span that is
 * known only at its end, it is written as an absolute time.
 */
void perfetto_packet(struct perfetto *p, uint64_t ts)
{
	p->packet.size = 0;
	p->packet_begun = proto_begin(&p->packet, TRACE_PACKET);
	proto_uint(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	if (ts == PERFETTO_NO_TIME)
		return;
	if (ts < p->delta_time) {
		proto_uint(&p->packet, PACKET_CLOCK, CLOCK_ID_MONOTONIC);
		proto_uint(&p->packet, PACKET_TIME, ts);
		return;
	}
	proto_uint(&p->packet, PACKET_TIME, ts - p->delta_time);
	p->delta_time = ts;
}

int perfetto_packet_end(struct perfetto *p)
{
	if (p->interned.size) {
		proto_bytes(&p->packet, PACKET_INTERNED, p->interned.data, p->interned.size);
		p->interned.size = 0;
	}
	proto_end(&p->packet, p->packet_begun);
	if (p->packet.error || p->interned.error)
		return -ENOMEM;
	return perfetto_zip_put(p, &p->packet);
}

size_t perfetto_event_begin(struct perfetto *p, uint64_t ts, unsigned int type, uint64_t track)
{
	size_t event;

	perfetto_packet(p, ts);
	event = proto_begin(&p->packet, PACKET_EVENT);
	proto_uint(&p->packet, EVENT_TYPE, type);
	proto_uint(&p->packet, EVENT_TRACK, track);
	return event;
}

int perfetto_event_end(struct perfetto *p, size_t event)
{
	proto_end(&p->packet, event);
	return perfetto_packet_end(p);
}

static void put_clock(struct perfetto *p, uint32_t id, uint64_t ts, bool is_incremental)
{
	const size_t clock = proto_begin(&p->packet, CLOCKS_CLOCK);

	proto_uint(&p->packet, CLOCK_NUMBER, id);
	proto_uint(&p->packet, CLOCK_TIME, ts);
	if (is_incremental)
		proto_uint(&p->packet, CLOCK_IS_INCREMENTAL, 1);
	proto_end(&p->packet, clock);
}

/* ------------------------------------------------------------------------------------------------------- clocks */

/*
 * The trace's time is called MONOTONIC. Bundles of ftrace events cannot name that clock: without a clock they are on
 * BOOTTIME. If no reading of that clock is known, it is set to the same as MONOTONIC.
 *
 * Between two clocks, Perfetto converts by those snapshots that have the same set of clocks, and of them by the last
 * one before the time. So the clock of differences, which no reading has, is in a snapshot of its own.
 */
static size_t begin_snapshot(struct perfetto *p, uint64_t ts)
{
	const size_t clocks = proto_begin(&p->packet, PACKET_CLOCKS);

	proto_uint(&p->packet, CLOCKS_PRIMARY, CLOCK_ID_MONOTONIC);
	put_clock(p, CLOCK_ID_MONOTONIC, ts, false);
	return clocks;
}

/*
 * The number of readings to write. Perfetto refuses a REALTIME that goes back; if it goes back, only the first reading
 * is used.
 */
static unsigned int nr_readings(const struct export_trace *trace)
{
	const struct clock_reading *readings = trace->readings;

	return trace->nr_readings > 1 && readings[1].realtime < readings[0].realtime ? 1 : trace->nr_readings;
}

/* CLOCK_BOOTTIME minus MONOTONIC. It never decreases, except by the error of the readings. */
static uint64_t asleep(const struct export_trace *trace, unsigned int reading)
{
	const struct clock_reading *readings = trace->readings;
	const uint64_t first = readings[0].boottime - readings[0].mono;
	const uint64_t here = readings[reading].boottime - readings[reading].mono;

	return (int64_t)(here - first) > 0 ? here : first;
}

uint64_t perfetto_boottime(const struct perfetto *p, uint64_t ts)
{
	unsigned int nr = nr_readings(p->trace);

	while (nr > 1 && ts < p->trace->readings[nr - 1].mono)
		nr--;
	return nr ? ts + asleep(p->trace, nr - 1) : ts;
}

static int put_reading(struct perfetto *p, unsigned int reading)
{
	const struct clock_reading *clocks = &p->trace->readings[reading];
	size_t snapshot;

	perfetto_packet(p, PERFETTO_NO_TIME);
	snapshot = begin_snapshot(p, clocks->mono);
	put_clock(p, CLOCK_ID_BOOTTIME, clocks->mono + asleep(p->trace, reading), false);
	put_clock(p, CLOCK_ID_REALTIME, clocks->realtime, false);
	proto_end(&p->packet, snapshot);
	return perfetto_packet_end(p);
}

/* The readings come first, because Perfetto's page takes the time of day from the first snapshot. */
static int put_clocks(struct perfetto *p, uint64_t ts)
{
	const unsigned int nr = nr_readings(p->trace);
	size_t snapshot, defaults;
	int err = 0;

	for (unsigned int i = 0; !err && i < nr; i++)
		err = put_reading(p, i);
	if (err)
		return err;
	perfetto_packet(p, PERFETTO_NO_TIME);
	proto_uint(&p->packet, PACKET_FLAGS, FLAG_CLEARED);
	snapshot = begin_snapshot(p, ts);
	if (!nr)
		put_clock(p, CLOCK_ID_BOOTTIME, ts, false);
	if (!nr && p->trace->has_realtime)
		put_clock(p, CLOCK_ID_REALTIME, ts + (uint64_t)p->trace->realtime, false);
	put_clock(p, CLOCK_ID_DELTA, ts, true);
	proto_end(&p->packet, snapshot);
	defaults = proto_begin(&p->packet, PACKET_DEFAULTS);
	proto_uint(&p->packet, PACKET_CLOCK, CLOCK_ID_DELTA);
	proto_end(&p->packet, defaults);
	p->delta_time = ts;
	return perfetto_packet_end(p);
}

/* ------------------------------------------------------------------------------------------------------- machine */

/*
 * Write the uname, "Linux host 6.1.0 x86_64", as trace-cmd and recorder store it: the scheduler's states depend on the
 * kernel's version.
 */
static int put_system(struct perfetto *p)
{
	const struct dat_option *option = dat_option(p->trace->file, DAT_UNAME);
	char text[256], *save = NULL, *words[4];
	size_t system, names;
	unsigned int nr = 0;

	if (!option || !option->data || strlen(option->data) >= sizeof(text))
		return 0;
	strcpy(text, option->data);
	for (char *word = strtok_r(text, " ", &save); word && nr < 4; word = strtok_r(NULL, " ", &save))
		words[nr++] = word;
	if (nr != 4)
		return 0;
	perfetto_packet(p, PERFETTO_NO_TIME);
	system = proto_begin(&p->packet, PACKET_SYSTEM);
	names = proto_begin(&p->packet, SYSTEM_UTSNAME);
	proto_text(&p->packet, UTSNAME_SYSNAME, words[0]);
	proto_text(&p->packet, UTSNAME_RELEASE, words[2]);
	proto_text(&p->packet, UTSNAME_MACHINE, words[3]);
	proto_end(&p->packet, names);
	proto_end(&p->packet, system);
	return perfetto_packet_end(p);
}

int perfetto_begin(struct perfetto *p, uint64_t ts)
{
	int err = put_clocks(p, ts);

	p->is_begun = true;
	return err ? err : put_system(p);
}
