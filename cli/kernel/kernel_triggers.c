/* SPDX-License-Identifier: MIT */
/*
 * An event's file `trigger` has a line for each trigger. '!' and the line, written to the file, clear the trigger. In
 * the line of a histogram, the kernel shows two things that it does not accept: the unit after '$' and the name of a
 * variable, and the state at the end:
 *
 *	hist:keys=pid:vals=hitcount:cost=$late.usecs:sort=hitcount:size=2048 [active]
 */
#include "cli/kernel/kernel_triggers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/kernel_names.h"

/* The characters of a variable's name. */
#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static const char histogram[] = "hist:";

static bool is_histogram(const char *trigger)
{
	return !strncmp(trigger, histogram, strlen(histogram));
}

bool kernel_trigger_sets_clock(const char *trigger)
{
	return is_histogram(trigger) && strstr(trigger, "common_timestamp");
}

char *kernel_trigger_text(const char *trigger, const char *clock)
{
	char *text;

	if (!kernel_trigger_sets_clock(trigger) || strstr(trigger, ":clock="))
		return strdup(trigger);
	return asprintf(&text, "%sclock=%s:%s", histogram, clock, trigger + strlen(histogram)) < 0 ? NULL : text;
}

/* Remove from a histogram's line what the kernel does not accept. */
static void clean(char *line)
{
	char *state = strrchr(line, '[');

	if (state)
		*state = '\0';
	while ((line = strchr(line, '$'))) {
		size_t unit;

		line += 1 + strspn(line + 1, NAME);
		unit = *line == '.' ? 1 + strspn(line + 1, NAME) : 0;
		memmove(line, line + unit, strlen(line + unit) + 1);
	}
}

/*
 * Clear the triggers in the text, which is changed, and count them. Whether they were cleared is seen when the file is
 * read again.
 */
static unsigned int clear_lines(struct tracefs_instance *instance, const char *file, char *text)
{
	unsigned int nr = 0;
	char *rest, *words;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (*line == '#')
			continue;
		nr++;
		if (is_histogram(line))
			clean(line);
		if (asprintf(&words, "!%s", line) < 0)
			continue;
		tracefs_instance_file_append(instance, file, words);
		free(words);
	}
	return nr;
}

/* Clear the triggers of an event that can be cleared now. Returns the number of those that it had. */
static unsigned int clear_event(struct tracefs_instance *instance, const struct kernel_name *name)
{
	char file[PATH_MAX];
	unsigned int nr;
	char *text;

	snprintf(file, sizeof(file), "events/%s/%s/trigger", name->system, name->event);
	text = tracefs_instance_file_read(instance, file, NULL);
	nr = text ? clear_lines(instance, file, text) : 0;
	free(text);
	return nr;
}

static bool gets_trigger(const struct kernel_request *request, const struct kernel_name *name)
{
	struct kernel_pattern pattern;

	for (unsigned int i = 0; i < request->nr_events; i++)
		if (request->events[i].nr_triggers && kernel_pattern_parse(request->events[i].pattern, &pattern) &&
		    kernel_pattern_matches(&pattern, name))
			return true;
	return false;
}

void kernel_triggers_clear(struct tracefs_instance *instance, const struct kernel_request *request)
{
	struct kernel_names events = { .nr = 0 };
	unsigned int before, found = UINT_MAX, has;

	if (kernel_names_read(&events))
		events.nr = 0;
	for (unsigned int i = 0; i < events.nr; i++)
		events.names[i].on = !request || gets_trigger(request, &events.names[i]);
	/* Again for the events that had triggers, until there are none, or not fewer than before. */
	do {
		before = found;
		found = 0;
		for (unsigned int i = 0; i < events.nr; i++) {
			has = events.names[i].on ? clear_event(instance, &events.names[i]) : 0;
			events.names[i].on = has;
			found += has;
		}
	} while (found && found < before);
	kernel_names_free(&events);
}
