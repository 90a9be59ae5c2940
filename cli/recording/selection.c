/* SPDX-License-Identifier: MIT */
#include "cli/recording/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/log.h>
#include <librecorder/pattern.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/exec_path.h"
#include "cli/recording/elf_events.h"

static bool out_of_memory(const struct message_sink *sink)
{
	message(sink, "out of memory");
	return false;
}

static bool are_patterns(const struct message_sink *sink, const char *patterns)
{
	if (!rec_pattern_check(patterns))
		return true;
	message(sink, "'%s' is not a pattern of events: expected SYSTEM:NAME, with * and ? in both", patterns);
	return false;
}

bool selections_add(const struct message_sink *sink, struct selections *selections, const char *patterns, uint64_t rate)
{
	struct selection *list = realloc(selections->list, (selections->nr + 1) * sizeof(*list));

	if (!list)
		return out_of_memory(sink);
	selections->list = list;
	list[selections->nr++] = (struct selection){ .given = patterns, .rate = rate };
	return are_patterns(sink, patterns);
}

bool selections_leave_out(const struct message_sink *sink, struct selections *selections, const char *patterns)
{
	const char **left_out = realloc(selections->left_out, (selections->nr_left_out + 1) * sizeof(*left_out));

	if (!left_out)
		return out_of_memory(sink);
	selections->left_out = left_out;
	left_out[selections->nr_left_out++] = patterns;
	if (!are_patterns(sink, patterns))
		return false;
	if (!strchr(patterns, '!'))
		return true;
	message(sink, "'%s' cannot be left out%s: it contains an exclusion (!)", patterns,
		message_remark(sink, WORD_LEAVE_OUT).text);
	return false;
}

/* `remark` ends the line. */
static bool say_wrong_filter(const struct message_sink *sink, const char *event, const char *filter,
			     const struct rec_filter_error *error, const char *remark)
{
	message(sink, "filter of '%s': %s (column %" PRIu32 ")%s", event, error->reason, error->column, remark);
	message_caret(sink, filter, error->column);
	return false;
}

bool selections_set_filter(const struct message_sink *sink, struct selections *selections, const char *filter)
{
	struct selection *last = selections->nr ? &selections->list[selections->nr - 1] : NULL;
	struct rec_filter_error error;

	if (!last || last->filter) {
		const struct message_remark option = message_remark(sink, WORD_FILTER);

		if (last)
			message(sink, "there are two filters%s for '%s': join them by &&", option.text, last->given);
		else
			message(sink, "a filter%s needs a pattern%s before it", option.text,
				message_remark(sink, WORD_PATTERN).text);
		return false;
	}
	if (strchr(filter, '\n')) {
		message(sink, "filter of '%s': it must be on one line", last->given);
		return false;
	}
	if (rec_filter_check(filter, &error) < 0)
		return say_wrong_filter(sink, last->given, filter, &error, "");
	last->filter = filter;
	return true;
}

/* trace-cmd's slash becomes a colon, because programs of an earlier version know only that. */
static void put_pattern_char(FILE *out, char c)
{
	fputc(c == '/' ? ':' : c, out);
}

/*
 * Append the left-out patterns to a selection's patterns: "a:b,c" is appended as ",!a:b,!c". None of them has a ! of
 * its own, because a list cannot express an exception to an exclusion.
 */
static char *make_patterns(const struct selections *selections, const char *given)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (; *given; given++)
		put_pattern_char(out, *given);
	for (unsigned int i = 0; i < selections->nr_left_out; i++) {
		fputs(",!", out);
		for (const char *at = selections->left_out[i]; *at; at++) {
			put_pattern_char(out, *at);
			if (*at == ',')
				fputc('!', out);
		}
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static char *make_selector(const struct selection *selection, const char *of_threads)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(selection->patterns, out);
	if (selection->rate)
		fprintf(out, " rate %" PRIu64, selection->rate);
	if (of_threads && selection->filter)
		fprintf(out, " if (%s) && (%s)", of_threads, selection->filter);
	else if (of_threads || selection->filter)
		fprintf(out, " if %s", of_threads ? of_threads : selection->filter);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

bool selections_finish(const struct message_sink *sink, struct selections *selections, const char *of_threads)
{
	for (unsigned int i = 0; i < selections->nr; i++) {
		struct selection *selection = &selections->list[i];

		selection->patterns = make_patterns(selections, selection->given);
		selection->selector = selection->patterns ? make_selector(selection, of_threads) : NULL;
		if (!selection->selector)
			return out_of_memory(sink);
	}
	return true;
}

void selections_free(struct selections *selections)
{
	for (unsigned int i = 0; i < selections->nr; i++) {
		free(selections->list[i].selector);
		free(selections->list[i].patterns);
	}
	free(selections->list);
	free(selections->left_out);
	*selections = (struct selections)SELECTIONS_INIT;
}

static char *join_lines(const struct selections *selections, bool whole)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < selections->nr; i++)
		fprintf(out, "%s%s", i ? "\n" : "",
			whole ? selections->list[i].selector : selections->list[i].patterns);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *selections_text(const struct selections *selections)
{
	return join_lines(selections, true);
}

char *selections_patterns(const struct selections *selections)
{
	return join_lines(selections, false);
}

/* ----------------------------------------------------------------------------------------------------- their events */

const struct selection *selections_find(const struct selections *selections, const struct rec_words *system,
					const struct rec_words *name)
{
	for (unsigned int i = selections->nr; i > 0; i--)
		if (rec_pattern_match(selections->list[i - 1].patterns, system->text, system->size, name->text,
				      name->size))
			return &selections->list[i - 1];
	return NULL;
}

const struct rec_event_info selection_printed = { .system = { "ftrace", 6 }, .name = { "bprint", 6 } };

/* The next event in a log, from *offset on, which is advanced; NULL after the last one. */
static const struct rec_log_event *next_event(const void *log, size_t size, size_t *offset,
					      struct rec_event_info *ret_info)
{
	const struct rec_log_record *record;

	while ((record = rec_log_next(log, size, offset))) {
		const struct rec_log_event *event = (const struct rec_log_event *)record;

		if (record->kind == REC_LOG_EVENT && rec_event_parse(event, ret_info) == 0)
			return event;
	}
	return NULL;
}

bool selection_fits(const struct selection *selection, const struct rec_log_event *event,
		    struct rec_filter_error *ret_error)
{
	_Alignas(8) unsigned char condition[REC_CONDITION_MAX];

	return rec_filter_compile(event, selection->filter, (struct rec_condition *)(void *)condition,
				  sizeof(condition), ret_error) != -EINVAL;
}

/* The events of a program. */
struct events {
	const void *log;
	size_t size;
};

#define EVENT_NAME_SIZE (2 * REC_IDENT_MAX + 2)

static void name_event(const struct rec_event_info *info, char name[EVENT_NAME_SIZE])
{
	snprintf(name, EVENT_NAME_SIZE, "%.*s:%.*s", (int)info->system.size, info->system.text, (int)info->name.size,
		 info->name.text);
}

/* At most this number of events is named in a message. */
#define FITTING_MAX 4u

/*
 * The end of a message about a filter that does not fit one of its events: those that it fits. Usually they are what
 * was meant: only the begin of a span has its first fields, for example.
 */
static void name_fitting(const struct selections *selections, const struct selection *selection,
			 const struct events *events, char *text, size_t size)
{
	const struct rec_log_event *event;
	struct rec_filter_error error;
	char name[EVENT_NAME_SIZE];
	struct rec_event_info info;
	unsigned int nr = 0;
	size_t used = 0, offset = 0;

	*text = '\0';
	while (nr <= FITTING_MAX && used < size &&
	       (event = next_event(events->log, events->size, &offset, &info))) {
		if (selections_find(selections, &info.system, &info.name) != selection ||
		    !selection_fits(selection, event, &error))
			continue;
		name_event(&info, name);
		used += (size_t)snprintf(text + used, size - used, "%s%s", nr ? ", " : "; it fits ",
					 nr < FITTING_MAX ? name : "...");
		nr++;
	}
}

/* Whether the filters fit an event; `event` NULL: rec_printf's. False: one line was printed. */
static bool check_event(const struct message_sink *sink, const struct selections *selections,
			const struct events *events, const struct rec_event_info *info,
			const struct rec_log_event *event)
{
	const struct selection *selection = selections_find(selections, &info->system, &info->name);
	char event_name[EVENT_NAME_SIZE], remark[1024];
	struct rec_filter_error error;

	if (!selection || !selection->filter || selection_fits(selection, event, &error))
		return true;
	name_event(info, event_name);
	name_fitting(selections, selection, events, remark, sizeof(remark));
	return say_wrong_filter(sink, event_name, selection->filter, &error, remark);
}

bool selections_fit(const struct message_sink *sink, const struct selections *selections, const void *log, size_t size)
{
	const struct events events = { .log = log, .size = size };
	const struct rec_log_event *event;
	struct rec_event_info info;
	size_t offset = 0;

	while ((event = next_event(log, size, &offset, &info)))
		if (!check_event(sink, selections, &events, &info, event))
			return false;
	return check_event(sink, selections, &events, &selection_printed, NULL);
}

static bool is_executable(const char *path)
{
	return !access(path, X_OK);
}

bool selections_fit_binary(const struct message_sink *sink, const struct selections *selections, const char *binary)
{
	char path[EXEC_PATH_SIZE];
	void *log = NULL;
	size_t size = 0;
	bool good;

	if (!exec_path_find(binary, is_executable, path) || elf_events_read(path, &log, &size) < 0)
		size = 0;
	good = selections_fit(sink, selections, log, size);
	free(log);
	return good;
}
