/* SPDX-License-Identifier: MIT */
/* See dat_time.h. */
#include "format/dat/dat_time.h"
#include "format/io/bytes.h"
#include "format/dat/dat_internal.h"
#include "format/dat/dat_notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sample {
	int64_t time;
	int64_t offset;
	int64_t scaling;
	int64_t fraction;
};

struct dat_time_cpu {
	uint32_t count;
	struct sample *samples;
};

#define SHIFT_INTERPOLATE 1u

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->time > y->time ? 1 : x->time < y->time ? -1 : 0;
}

/* Sort the samples by time. If several have the same time, the first one is used. */
static void sort_samples(struct dat_time_cpu *cpu)
{
	uint32_t kept = 0;

	qsort(cpu->samples, cpu->count, sizeof(*cpu->samples), by_time);
	for (uint32_t i = 0; i < cpu->count; i++) {
		if (!i || cpu->samples[i].time != cpu->samples[i - 1].time)
			cpu->samples[kept++] = cpu->samples[i];
	}
	cpu->count = kept;
}

static int read_cpu(struct dat_time_cpu *cpu, struct bytes *b)
{
	uint32_t count = bytes_u32(b);

	if (b->error || count > bytes_left(b) / 24)
		return -EBADMSG;
	cpu->samples = calloc(count ? count : 1, sizeof(*cpu->samples));
	if (!cpu->samples)
		return -ENOMEM;
	cpu->count = count;
	for (uint32_t i = 0; i < count; i++)
		cpu->samples[i].time = (int64_t)bytes_u64(b);
	for (uint32_t i = 0; i < count; i++)
		cpu->samples[i].offset = (int64_t)bytes_u64(b);
	for (uint32_t i = 0; i < count; i++)
		cpu->samples[i].scaling = (int64_t)bytes_u64(b);
	return b->error;
}

static int read_shift(const struct dat_file *file, const struct dat_option *option, struct dat_time *t)
{
	struct bytes b;
	uint32_t nr_cpus;
	int err = 0;

	bytes_from_memory(&b, option->data, option->size, file->big);
	bytes_skip(&b, 8); /* the peer */
	t->interpolate = bytes_u32(&b) & SHIFT_INTERPOLATE;
	nr_cpus = bytes_u32(&b);
	if (b.error || nr_cpus > bytes_left(&b) / 4)
		return -EBADMSG;
	t->cpus = calloc(nr_cpus ? nr_cpus : 1, sizeof(*t->cpus));
	if (!t->cpus)
		return -ENOMEM;
	t->nr_cpus = nr_cpus;
	for (uint32_t i = 0; !err && i < nr_cpus; i++)
		err = read_cpu(&t->cpus[i], &b);
	if (err)
		return err;
	for (uint32_t i = 0; bytes_left(&b) && i < nr_cpus; i++) {
		for (uint32_t s = 0; s < t->cpus[i].count; s++)
			t->cpus[i].samples[s].fraction = (int64_t)bytes_u64(&b);
	}
	for (uint32_t i = 0; i < nr_cpus; i++)
		sort_samples(&t->cpus[i]);
	return b.error;
}

/* Copies the clock, which is in brackets if the text names several. */
static void copy_clock(const char *text, char *ret_name, size_t size)
{
	const char *begin = strchr(text, '[');
	size_t len;

	text = begin ? begin + 1 : text;
	len = strcspn(text, "] \n");
	if (len >= size)
		len = size - 1;
	memcpy(ret_name, text, len);
	ret_name[len] = '\0';
}

static bool has_brackets(const char *text)
{
	const char *begin = text ? strchr(text, '[') : NULL;

	return begin && strchr(begin, ']');
}

/* The clock's text after the CPU table of version 6, which is there if there is the option. */
static const char *text_after_table(const struct dat_file *file, const struct dat_option *option)
{
	return file->version == 6 && file->nr_buffers && option ? file->buffers[0].clock : NULL;
}

bool dat_clock_name(const struct dat_file *file, char *ret_name, size_t size)
{
	const struct dat_option *option = dat_option(file, DAT_TRACECLOCK);
	const char *text = text_after_table(file, option);

	/* In version 7 the option decides (trace-dat.md 8.3). It may be missing, or name no clock in brackets. */
	if (file->version == 7 && !(option && has_brackets(option->data))) {
		for (size_t i = 0; i < file->nr_buffers && !text; i++)
			text = file->buffers[i].name[0] ? NULL : file->buffers[i].clock;
	}
	if (!text || !*text)
		text = option && option->size ? option->data : NULL;
	if (!text || !*text)
		return false;
	copy_clock(text, ret_name, size);
	return true;
}

/* Whether libtracecmd treats the clock as one that counts nanoseconds; "boot" is not among these. */
static bool counts_nanoseconds(const char *clock)
{
	static const char *const names[] = { "local", "global", "uptime", "perf", "tai", "tsc2nsec" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(clock, names[i]))
			return true;
	}
	return !strncmp(clock, "mono", 4);
}

/* Whether all buffers name this clock. */
static bool is_clock_of_all(const struct dat_file *file, const char *clock)
{
	char name[64];

	for (size_t i = 0; i < file->nr_buffers; i++) {
		copy_clock(file->buffers[i].clock ? file->buffers[i].clock : "", name, sizeof(name));
		if (strcmp(name, clock) != 0)
			return false;
	}
	return true;
}

bool dat_clock_stated(const struct dat_file *file, char *ret_name, size_t size)
{
	const struct dat_option *option = dat_option(file, DAT_TRACECLOCK);

	return (file->version == 6 || (option && has_brackets(option->data))) && dat_clock_name(file, ret_name, size);
}

bool dat_clock_in_v6(const struct dat_file *file, char *ret_name, size_t size)
{
	char name[64];

	if (dat_clock_stated(file, ret_name, size))
		return true;
	if (!dat_clock_name(file, name, sizeof(name)) || !counts_nanoseconds(name) || !is_clock_of_all(file, name))
		return false;
	copy_clock(name, ret_name, size);
	return true;
}

/* Whether the times are shown in seconds: not if a clock is named that does not count nanoseconds. */
static bool shows_seconds(const struct dat_file *file, const struct dat_time *t)
{
	const struct dat_option *option = dat_option(file, DAT_TRACECLOCK);
	const char *texts[] = { option ? option->data : NULL, text_after_table(file, option) };
	char clock[64];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!has_brackets(texts[i]))
			continue;
		copy_clock(texts[i], clock, sizeof(clock));
		if (t->raw || !(counts_nanoseconds(clock) || t->mult))
			return false;
	}
	return true;
}

bool dat_time_counts_ns(const struct dat_file *file, const struct dat_time *time)
{
	char clock[64];

	return time->seconds || !dat_clock_name(file, clock, sizeof(clock)) || !strcmp(clock, "boot");
}

/* The option DATE in ns; its text is in microseconds. */
static int64_t date_of(const struct dat_option *date)
{
	return (int64_t)((uint64_t)strtoll(date->data, NULL, 0) * 1000);
}

static int read_option(const struct dat_file *file, const struct dat_option *o, unsigned int flags, struct dat_time *t)
{
	struct bytes b;

	switch (o->id) {
	case DAT_DATE:
		if (!(flags & DAT_TIME_NO_DATE))
			t->offset = (int64_t)((uint64_t)t->offset + (uint64_t)date_of(o));
		return 0;
	case DAT_OFFSET:
		t->offset = (int64_t)((uint64_t)t->offset + (uint64_t)strtoll(o->data, NULL, 0));
		return 0;
	case DAT_TIME_SHIFT:
		if (o->size < 16)
			return 0;
		for (uint32_t i = 0; i < t->nr_cpus; i++)
			free(t->cpus[i].samples);
		free(t->cpus);
		t->cpus = NULL;
		t->nr_cpus = 0;
		return read_shift(file, o, t);
	case DAT_TSC2NSEC:
		if (o->size < 16)
			return 0;
		bytes_from_memory(&b, o->data, o->size, file->big);
		t->mult = bytes_u32(&b);
		t->shift = bytes_u32(&b) & 63;
		return 0;
	default:
		return 0;
	}
}

int dat_time_open(const struct dat_file *file, unsigned int flags, struct dat_time *ret_time,
		  struct dat_error *ret_error)
{
	struct dat_time t = { .raw = flags & DAT_TIME_RAW };
	int err = 0;

	for (size_t i = 0; !err && !(flags & DAT_TIME_RAW) && i < file->nr_options; i++) {
		err = read_option(file, &file->options[i], flags, &t);
		if (err)
			dat_fail(ret_error, err, file->options[i].offset,
				 err == -ENOMEM ? "not enough memory for option %s"
						: "damaged: option %s contradicts its size",
				 dat_id_name(file->options[i].id));
	}
	if (err) {
		dat_time_close(&t);
		return err;
	}
	t.seconds = shows_seconds(file, &t);
	*ret_time = t;
	return 0;
}

void dat_time_adjust(struct dat_time *time, int64_t offset, uint64_t hz)
{
	if (time->raw)
		return;
	time->offset = (int64_t)((uint64_t)time->offset + (uint64_t)offset);
	time->adjusted = (int64_t)((uint64_t)time->adjusted + (uint64_t)offset);
	if (hz)
		time->scale = 1e9 / (double)hz;
}

void dat_time_close(struct dat_time *time)
{
	for (uint32_t i = 0; i < time->nr_cpus; i++)
		free(time->cpus[i].samples);
	free(time->cpus);
	time->cpus = NULL;
	time->nr_cpus = 0;
}

unsigned int dat_time_readings(const struct dat_file *file, struct clock_reading ret_readings[CLOCK_READINGS])
{
	struct dat_notes notes;
	char clock[64] = "";

	dat_notes_of(file, &notes);
	dat_clock_name(file, clock, sizeof(clock));
	/* The options convert raw TSC times to CLOCK_MONOTONIC. */
	if (strcmp(clock, "mono") != 0 && strcmp(clock, "boot") != 0 && !dat_option(file, DAT_TSC2NSEC))
		return 0;
	for (unsigned int i = 0; i < notes.nr_readings; i++) {
		ret_readings[i] = notes.readings[i];
		if (strcmp(clock, "boot") != 0)
			continue;
		/*
		 * CLOCK_MONOTONIC was read before and after both clocks; CLOCK_BOOTTIME may have been read at any time
		 * in between.
		 */
		ret_readings[i].mono = ret_readings[i].boottime;
		ret_readings[i].error = ret_readings[i].error > UINT64_MAX / 2 ? UINT64_MAX : ret_readings[i].error * 2;
	}
	return notes.nr_readings;
}

bool dat_time_date(const struct dat_file *file, int64_t *ret_date)
{
	const struct dat_option *date = dat_option(file, DAT_DATE);

	if (date)
		*ret_date = date_of(date);
	return date;
}

/* Everything is unsigned: numbers from a file may overflow, which must not be undefined behaviour. */
static uint64_t correct(uint64_t ts, bool interpolate, const struct sample *low, const struct sample *high)
{
	int64_t by = low->offset;
	uint64_t delta = (uint64_t)high->time - (uint64_t)low->time;

	if (interpolate && (int64_t)delta > 0) {
		int64_t rise = (int64_t)((ts - (uint64_t)low->time) * ((uint64_t)high->offset - (uint64_t)low->offset));

		by = (int64_t)((uint64_t)low->offset +
			       (uint64_t)((int64_t)((uint64_t)rise + delta / 2) / (int64_t)delta));
	}
	return ((ts * (uint64_t)low->scaling) >> (low->fraction & 63)) + (uint64_t)by;
}

static uint64_t shift_time(const struct dat_time *t, uint32_t number, uint64_t ts)
{
	const struct dat_time_cpu *cpu = &t->cpus[number];
	const struct sample *s = cpu->samples;
	uint32_t low = 0, high;

	if (!cpu->count)
		return ts;
	if (cpu->count == 1)
		return ts + (uint64_t)s[0].offset;
	high = cpu->count - 1;
	/*
	 * Finds the interval that contains ts; before the first and after the last one, the nearest interval is used.
	 */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (ts < (uint64_t)s[middle].time)
			high = middle;
		else
			low = middle;
	}
	return correct(ts, t->interpolate, &s[low], &s[low + 1]);
}

static uint64_t multiply(uint64_t ts, uint32_t mult, uint32_t shift)
{
	return (uint64_t)(((unsigned __int128)ts * mult) >> shift);
}

/* Computed in floating point, as trace-cmd does. */
static uint64_t scale_time(uint64_t ts, double scale)
{
	const double scaled = (double)ts * scale;

	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

uint64_t dat_time_convert(const struct dat_time *time, uint32_t cpu, uint64_t ts)
{
	if (cpu < time->nr_cpus)
		ts = shift_time(time, cpu, ts);
	if (time->scale > 0)
		ts = scale_time(ts, time->scale);
	else if (time->mult)
		ts = multiply(ts, time->mult, time->shift);
	return ts + (uint64_t)time->offset;
}
