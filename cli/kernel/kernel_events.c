/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel/kernel_error.h"
#include "cli/kernel/kernel_filter.h"
#include "cli/kernel/kernel_triggers.h"
#include "cli/base/message.h"

struct setting {
	const struct message_sink *sink;
	const struct instance *instance;
	struct kernel_names *events;
	bool ignore_missing;
	bool quiet;
};

/*
 * Write to a file of an event; `event` NULL: of a whole system. The text is appended, because a trigger file may have
 * other triggers.
 */
static int set_file(const struct setting *setting, const char *system, const char *event, const char *file,
		    const char *text)
{
	char path[256], what[256];
	int err;

	snprintf(path, sizeof(path), "events/%s/%s%s%s", system, event ? event : "", event ? "/" : "", file);
	errno = 0;
	if (tracefs_instance_file_append(setting->instance->tracefs, path, text) >= 0)
		return 0;
	err = errno ? -errno : -EIO;
	snprintf(what, sizeof(what), "%s of '%s%s%s'", file, system, event ? ":" : "", event ? event : "");
	return kernel_error_say(setting->sink, setting->instance, what, text, err);
}

/* Whether an event has the filter that was given to its system. */
static bool has_filter(const struct setting *setting, const struct kernel_name *name)
{
	char *text = tracefs_event_file_read(setting->instance->tracefs, name->system, name->event, "filter", NULL);
	const bool has = text && !strstr(text, "\nparse_error:");

	free(text);
	return has;
}

/* Whether an event has a field pid of its own, which may name another thread than the one that writes the event. */
static bool has_pid(const struct setting *setting, const struct kernel_name *name)
{
	char *format = tracefs_event_file_read(setting->instance->tracefs, name->system, name->event, "format", NULL);
	const bool has = format && strstr(format, " pid;");

	free(format);
	return has;
}

/* Set the filter of an event, or of its whole system. */
static int set_words(const struct setting *setting, const struct kernel_name *name, bool whole_system,
		     const char *filter)
{
	const struct kernel_name *const end = setting->events->names + setting->events->nr;
	bool has = has_pid(setting, name);
	char *words;
	int err;

	for (const struct kernel_name *other = name + 1; whole_system && other < end && !has; other++)
		has = !strcmp(other->system, name->system) && has_pid(setting, other);
	words = kernel_filter_make(filter, has);
	err = words ? set_file(setting, name->system, whole_system ? NULL : name->event, "filter", words) : -ENOMEM;
	if (!words)
		message(setting->sink, "out of memory");
	free(words);
	return err;
}

/*
 * A whole system accepts any filter, and gives it to those of its events that have its fields; all others are recorded
 * unfiltered. trace-cmd does the same; but if no event has the fields, fail.
 */
static int set_filter(const struct setting *setting, const struct kernel_pattern *pattern, const char *filter)
{
	const struct kernel_names *events = setting->events;
	unsigned int with = 0, without = 0;
	const char *done = NULL;
	char what[256];
	int err = 0;

	for (unsigned int i = 0; i < events->nr && !err; i++) {
		const struct kernel_name *name = &events->names[i];

		if (!kernel_pattern_matches(pattern, name))
			continue;
		if (!kernel_pattern_is_system(pattern, name)) {
			err = set_words(setting, name, false, filter);
			with++;
			continue;
		}
		if (!done || strcmp(done, name->system) != 0)
			err = set_words(setting, name, true, filter);
		done = name->system;
		if (!err && has_filter(setting, name))
			with++;
		else
			without++;
	}
	snprintf(what, sizeof(what), "filter of '%s%s%s'", pattern->system, pattern->event ? ":" : "",
		 pattern->event ? pattern->event : "");
	if (!err && !with)
		return kernel_error_say(setting->sink, setting->instance, what, filter, -EINVAL);
	if (!err && without && !setting->quiet)
		message(setting->sink, "%s: %u of %u events lack fields of '%s' and are recorded unfiltered", what,
			without, with + without, filter);
	return err;
}

/* Note which events are on, and set their filters. */
static int take(const struct setting *setting, const struct kernel_event *event)
{
	struct kernel_names *events = setting->events;
	struct kernel_pattern pattern;
	unsigned int nr = 0;
	int err = 0;

	if (!kernel_pattern_parse(event->pattern, &pattern)) {
		message(setting->sink, "this kernel has no event '%s'", event->pattern);
		return -ENOENT;
	}
	for (unsigned int i = 0; i < events->nr; i++)
		if (kernel_pattern_matches(&pattern, &events->names[i])) {
			events->names[i].on = !event->excluded;
			nr++;
		}
	if (!nr && setting->ignore_missing) {
		if (!setting->quiet)
			message(setting->sink, "this kernel has no event '%s': skipped%s", event->pattern,
				message_remark(setting->sink, WORD_SKIP_MISSING).text);
		return 0;
	}
	if (!nr) {
		kernel_names_say_none(setting->sink, events, event->pattern, &pattern);
		return -ENOENT;
	}
	if (event->filter)
		err = set_filter(setting, &pattern, event->filter);
	return err;
}

/*
 * Switch on those of the events [from, to) that are wanted. These are the events of one system; if all of them are
 * wanted, one write is enough.
 */
static int switch_on(const struct setting *setting, unsigned int from, unsigned int to)
{
	const struct kernel_name *names = setting->events->names;
	unsigned int on = 0;
	int err = 0;

	for (unsigned int i = from; i < to; i++)
		on += names[i].on;
	if (on && on == to - from)
		return set_file(setting, names[from].system, NULL, "enable", "1");
	for (unsigned int i = from; i < to && !err; i++)
		if (names[i].on)
			err = set_file(setting, names[i].system, names[i].event, "enable", "1");
	return err;
}

int kernel_events_set(const struct message_sink *sink, const struct instance *instance,
		      const struct kernel_request *request, struct kernel_names *events)
{
	const struct setting setting = { sink, instance, events, request->ignore_missing, request->quiet };
	unsigned int to;
	int err;

	if (!request->nr_events)
		return 0;
	err = kernel_names_read(events);
	if (err) {
		message(sink, "cannot read the kernel's list of events: %s", strerror(-err));
		return err;
	}
	for (int excluded = 0; excluded < 2; excluded++)
		for (unsigned int i = 0; i < request->nr_events && !err; i++)
			if (request->events[i].excluded == excluded)
				err = take(&setting, &request->events[i]);
	for (unsigned int from = 0; from < events->nr && !err; from = to) {
		for (to = from + 1; to < events->nr; to++)
			if (strcmp(events->names[from].system, events->names[to].system) != 0)
				break;
		err = switch_on(&setting, from, to);
	}
	return err;
}

static int set_trigger(const struct setting *setting, const struct kernel_pattern *pattern, const char *trigger,
		       const char *clock)
{
	char *text = kernel_trigger_text(trigger, clock);
	int err = text ? 0 : -ENOMEM;

	if (err)
		message(setting->sink, "out of memory");
	for (unsigned int i = 0; i < setting->events->nr && !err; i++) {
		const struct kernel_name *name = &setting->events->names[i];

		if (kernel_pattern_matches(pattern, name))
			err = set_file(setting, name->system, name->event, "trigger", text);
	}
	free(text);
	return err;
}

int kernel_events_set_triggers(const struct message_sink *sink, const struct instance *instance,
			       const struct kernel_request *request, struct kernel_names *events, const char *clock)
{
	const struct setting setting = { sink, instance, events, request->ignore_missing, request->quiet };
	struct kernel_pattern pattern;
	int err = 0;

	for (int excluded = 0; excluded < 2; excluded++)
		for (unsigned int i = 0; i < request->nr_events && !err; i++) {
			const struct kernel_event *event = &request->events[i];

			if (event->excluded != excluded || !kernel_pattern_parse(event->pattern, &pattern))
				continue;
			for (unsigned int j = 0; j < event->nr_triggers && !err; j++)
				err = set_trigger(&setting, &pattern, event->triggers[j], clock);
		}
	return err;
}

/* Whether a trigger may switch on an event of the system: "enable_event:SYSTEM:EVENT[:COUNT] [if FILTER]". */
static bool is_switched(const char *trigger, const char *system)
{
	static const char enable[] = "enable_event:";
	const size_t size = strlen(system);

	if (strncmp(trigger, enable, strlen(enable)) != 0)
		return false;
	trigger += strlen(enable);
	return !strncmp(trigger, system, size) && trigger[size] == ':';
}

bool kernel_events_has_system(const struct kernel_names *events, const struct kernel_request *request,
			      const char *system)
{
	for (unsigned int i = 0; i < events->nr; i++)
		if (events->names[i].on && !strcmp(events->names[i].system, system))
			return true;
	for (unsigned int i = 0; i < request->nr_events; i++)
		for (unsigned int j = 0; j < request->events[i].nr_triggers; j++)
			if (is_switched(request->events[i].triggers[j], system))
				return true;
	return false;
}
