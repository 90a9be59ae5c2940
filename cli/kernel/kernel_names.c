/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "cli/base/suggest.h"

/* The number of names that are suggested for one that does not exist. */
#define OFFERED 4u

static int by_name(const void *a, const void *b)
{
	const struct kernel_name *one = a, *other = b;
	const int order = strcmp(one->system, other->system);

	return order ? order : strcmp(one->event, other->event);
}

int kernel_names_read(struct kernel_names *list)
{
	unsigned int nr = 0;
	char *at, *colon;

	list->text = tracefs_instance_file_read(NULL, "available_events", NULL);
	if (!list->text)
		return errno ? -errno : -EIO;
	for (at = list->text; *at; at++)
		nr += *at == '\n';
	list->names = calloc(nr + 1, sizeof(*list->names));
	if (!list->names)
		return -ENOMEM;
	for (char *line = strtok_r(list->text, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		list->names[list->nr++] = (struct kernel_name){ line, colon + 1, false };
	}
	qsort(list->names, list->nr, sizeof(*list->names), by_name);
	return 0;
}

bool kernel_pattern_parse(const char *pattern, struct kernel_pattern *ret)
{
	size_t size;

	if (!strcmp(pattern, "all"))
		pattern = "*:*";
	size = strcspn(pattern, ":/");
	if (size >= sizeof(ret->system))
		return false;
	memcpy(ret->system, pattern, size);
	ret->system[size] = '\0';
	ret->event = pattern[size] ? pattern + size + 1 : NULL;
	return true;
}

bool kernel_pattern_is_system(const struct kernel_pattern *pattern, const struct kernel_name *name)
{
	return !fnmatch(pattern->system, name->system, 0) && (!pattern->event || !strcmp(pattern->event, "*"));
}

bool kernel_pattern_matches(const struct kernel_pattern *pattern, const struct kernel_name *name)
{
	if (!pattern->event)
		return !fnmatch(pattern->system, name->system, 0) || !fnmatch(pattern->system, name->event, 0);
	return !fnmatch(pattern->system, name->system, 0) && !fnmatch(pattern->event, name->event, 0);
}

/* The names to suggest, the likely ones first. */
struct offers {
	char text[512];
	unsigned int nr;
};

static void offer(struct offers *offers, const char *system, const char *event)
{
	const size_t used = strlen(offers->text);
	char name[256];

	snprintf(name, sizeof(name), "%s%s%s", system, event ? ":" : "", event ? event : "");
	if (offers->nr < OFFERED && used + strlen(name) + 3 < sizeof(offers->text))
		sprintf(offers->text + used, "%s%s", offers->nr++ ? ", " : "", name);
}

static bool has_system(const struct kernel_names *list, const char *system)
{
	for (unsigned int i = 0; i < list->nr; i++)
		if (!strcmp(list->names[i].system, system))
			return true;
	return false;
}

/* Offer systems whose name is nearly the word; or, if an event was given, events of that name in other systems. */
static void offer_systems(struct offers *offers, const struct kernel_names *list,
			  const struct kernel_pattern *pattern)
{
	const char *last = "";

	for (unsigned int i = 0; i < list->nr; i++) {
		const struct kernel_name *name = &list->names[i];

		if (pattern->event && !strcmp(pattern->event, name->event))
			offer(offers, name->system, name->event);
		else if (!pattern->event && strcmp(last, name->system) != 0 &&
			 is_misspelt(pattern->system, name->system))
			offer(offers, name->system, NULL);
		last = name->system;
	}
}

static void offer_events(struct offers *offers, const struct kernel_names *list, const struct kernel_pattern *pattern)
{
	const char *word = pattern->event ? pattern->event : pattern->system;
	const bool in_system = pattern->event && has_system(list, pattern->system);

	for (unsigned int i = 0; i < list->nr; i++)
		if ((!in_system || !strcmp(list->names[i].system, pattern->system)) &&
		    may_mean(word, list->names[i].event))
			offer(offers, list->names[i].system, list->names[i].event);
}

void kernel_names_say_none(const struct message_sink *sink, const struct kernel_names *list, const char *wrong,
			   const struct kernel_pattern *pattern)
{
	struct offers offers = { "", 0 };

	offer_systems(&offers, list, pattern);
	if (!offers.nr)
		offer_events(&offers, list, pattern);
	message(sink, "this kernel has no event '%s'%s%s%s", wrong, offers.nr ? "; did you mean " : "", offers.text,
		offers.nr ? "?" : "");
}

void kernel_names_free(struct kernel_names *list)
{
	free(list->names);
	free(list->text);
	*list = (struct kernel_names){ .nr = 0 };
}
