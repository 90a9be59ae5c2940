/* SPDX-License-Identifier: MIT */
#include "cli/recording/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <librecorder/filter.h>
#include <librecorder/log.h>
#include <librecorder/pattern.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/elf_events.h"

/* ------------------------------------------------------------------------------------------------ the command line */

static bool out_of_memory(const char *command)
{
	complain(command, "out of memory");
	return false;
}

static bool add_patterns(const char *command, struct selections *selections, const char *patterns, uint64_t rate)
{
	struct selection *list = realloc(selections->list, (selections->nr + 1) * sizeof(*list));

	if (!list)
		return out_of_memory(command);
	selections->list = list;
	list[selections->nr++] = (struct selection){ .patterns = patterns, .rate = rate };
	if (!rec_pattern_check(patterns))
		return true;
	complain(command, "'%s' is not a pattern of events: expected SYSTEM:NAME, with * and ? in both", patterns);
	return false;
}

static bool say_wrong_filter(const char *command, const char *event, const struct rec_filter_error *error)
{
	complain(command, "filter of '%s': %s (column %" PRIu32 ")", event, error->reason, error->column);
	return false;
}

static bool set_filter(const char *command, struct selections *selections, const char *filter)
{
	struct selection *last = selections->nr ? &selections->list[selections->nr - 1] : NULL;
	struct rec_filter_error error;

	if (!last || last->filter) {
		complain(command,
			 last ? "there are two filters (-f) for '%s': join them by &&"
			      : "a filter (-f) needs a pattern (-u) before it%s",
			 last ? last->patterns : "");
		return false;
	}
	if (strchr(filter, '\n')) {
		complain(command, "filter of '%s': it must be on one line", last->patterns);
		return false;
	}
	if (rec_filter_check(filter, &error) < 0)
		return say_wrong_filter(command, last->patterns, &error);
	last->filter = filter;
	return true;
}

static bool set_rate(const char *command, struct selections *selections, const char *word, uint64_t *rate_of_all)
{
	char *end;
	unsigned long long rate;

	errno = 0;
	rate = strtoull(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end || errno || !rate || rate > SELECTION_RATE_MAX) {
		complain(command, "option '--rate' takes a number from 1 to %u, not '%s'", SELECTION_RATE_MAX, word);
		return false;
	}
	if (selections->nr)
		selections->list[selections->nr - 1].rate = rate;
	else
		*rate_of_all = rate;
	return true;
}

static bool read_list(const char *command, const struct opt_list *given, struct selections *selections)
{
	uint64_t rate_of_all = 0;
	bool good = true;

	for (unsigned int i = 0; good && i < given->nr; i++)
		switch (given->opts[i]->letter) {
		case 'u':
			good = add_patterns(command, selections, given->items[i], rate_of_all);
			break;
		case 'f':
			good = set_filter(command, selections, given->items[i]);
			break;
		default:
			good = set_rate(command, selections, given->items[i], &rate_of_all);
			break;
		}
	if (good && !selections->nr) {
		selections->is_default = true;
		good = add_patterns(command, selections, "*", rate_of_all);
	}
	return good;
}

/* "4,5" as a filter; to be freed. NULL: one line was printed. */
static char *filter_of_threads(const char *command, const char *threads)
{
	const char *const end = threads + strlen(threads);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	unsigned int nr = 0;
	bool good = out != NULL;

	for (const char *at = threads; good && at <= end; at++) {
		char *next;
		unsigned long tid;

		errno = 0;
		tid = strtoul(at, &next, 10);
		good = *at >= '0' && *at <= '9' && !errno && tid && tid <= INT_MAX && (!*next || *next == ',');
		if (good)
			fprintf(out, "%scommon_pid == %lu", nr++ ? " || " : "", tid);
		at = next;
	}
	if (out && fclose(out))
		good = false;
	if (!good) {
		complain(command, "option '--tid' takes thread ids separated by commas, not '%s'", threads);
		free(text);
		return NULL;
	}
	return text;
}

static char *make_wish(const struct selection *selection, const char *of_threads)
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

/* Frees `of_threads`, and the selections where they are not `good`. */
static bool finish(const char *command, bool good, char *of_threads, struct selections *selections,
		   struct selections *ret_selections)
{
	for (unsigned int i = 0; good && i < selections->nr; i++) {
		selections->list[i].wish = make_wish(&selections->list[i], of_threads);
		if (!selections->list[i].wish)
			good = out_of_memory(command);
	}
	free(of_threads);
	if (good)
		*ret_selections = *selections;
	else
		selections_free(selections);
	return good;
}

bool selections_make(const char *command, const struct opt_list *given, const char *threads,
		     struct selections *ret_selections)
{
	struct selections selections = { NULL, 0, false };
	char *of_threads = threads ? filter_of_threads(command, threads) : NULL;
	const bool good = (!threads || of_threads) && read_list(command, given, &selections);

	return finish(command, good, of_threads, &selections, ret_selections);
}

bool selections_make_one(const char *command, const char *patterns, const char *filter, uint64_t rate,
			 struct selections *ret_selections)
{
	struct selections selections = { NULL, 0, false };
	const bool good = add_patterns(command, &selections, patterns, rate) &&
			  (!filter || set_filter(command, &selections, filter));

	return finish(command, good, NULL, &selections, ret_selections);
}

void selections_free(struct selections *selections)
{
	for (unsigned int i = 0; i < selections->nr; i++)
		free(selections->list[i].wish);
	free(selections->list);
	*selections = (struct selections){ NULL, 0, false };
}

static char *join_lines(const struct selections *selections, bool whole)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned int i = 0; i < selections->nr; i++)
		fprintf(out, "%s%s", i ? "\n" : "", whole ? selections->list[i].wish : selections->list[i].patterns);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *selections_wishes(const struct selections *selections)
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

/* `event` NULL: rec_printf's. False: one line was printed. */
static bool fits(const char *command, const struct selections *selections, const struct rec_words *system,
		 const struct rec_words *name, const struct rec_log_event *event)
{
	const struct selection *selection = selections_find(selections, system, name);
	_Alignas(8) unsigned char condition[REC_CONDITION_MAX];
	char event_name[2 * REC_IDENT_MAX + 2];
	struct rec_filter_error error;

	if (!selection || !selection->filter ||
	    rec_filter_compile(event, selection->filter, (struct rec_condition *)(void *)condition, sizeof(condition),
			       &error) != -EINVAL)
		return true;
	snprintf(event_name, sizeof(event_name), "%.*s:%.*s", (int)system->size, system->text, (int)name->size,
		 name->text);
	return say_wrong_filter(command, event_name, &error);
}

bool selections_fit(const char *command, const struct selections *selections, const void *log, size_t size)
{
	static const struct rec_words printf_system = { "ftrace", 6 }, printf_name = { "bprint", 6 };
	const struct rec_log_record *record;
	struct rec_event_info info;
	size_t offset = 0;

	while ((record = rec_log_next(log, size, &offset))) {
		const struct rec_log_event *event = (const struct rec_log_event *)record;

		if (record->kind == REC_LOG_EVENT && rec_event_parse(event, &info) == 0 &&
		    !fits(command, selections, &info.system, &info.name, event))
			return false;
	}
	return fits(command, selections, &printf_system, &printf_name, NULL);
}

/* Where execvp() would find it. */
static bool find_binary(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH"), *end;

	if (strchr(name, '/') || !dirs)
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (;; dirs = end + 1) {
		end = dirs + strcspn(dirs, ":");
		if (snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "", name) <
			    PATH_MAX &&
		    access(path, X_OK) == 0)
			return true;
		if (!*end)
			return false;
	}
}

bool selections_fit_binary(const char *command, const struct selections *selections, const char *binary)
{
	char path[PATH_MAX];
	void *log = NULL;
	size_t size = 0;
	bool good;

	if (!find_binary(binary, path) || elf_events_read(path, &log, &size) < 0)
		size = 0;
	good = selections_fit(command, selections, log, size);
	free(log);
	return good;
}
