/* SPDX-License-Identifier: MIT */
#include "cli/programs/selection_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_rate(const struct message_sink *sink, struct selections *selections, const char *word,
		     uint64_t *rate_of_all)
{
	char *end;
	unsigned long long rate;

	errno = 0;
	rate = strtoull(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end || errno || !rate || rate > SELECTION_RATE_MAX) {
		message(sink, "option '--rate' takes a number from 1 to %u, not '%s'", SELECTION_RATE_MAX, word);
		return false;
	}
	if (selections->nr)
		selections->list[selections->nr - 1].rate = rate;
	else
		*rate_of_all = rate;
	return true;
}

static bool read_list(const struct message_sink *sink, const struct opt_list *given, struct selections *selections)
{
	uint64_t rate_of_all = 0;
	bool good = true;

	for (unsigned int i = 0; good && i < given->nr; i++)
		switch (given->opts[i]->letter) {
		case 'u':
			good = selections_add(sink, selections, given->items[i], rate_of_all);
			break;
		case 'x':
			good = selections_leave_out(sink, selections, given->items[i]);
			break;
		case 'f':
			good = selections_set_filter(sink, selections, given->items[i]);
			break;
		default:
			good = set_rate(sink, selections, given->items[i], &rate_of_all);
			break;
		}
	if (good && !selections->nr) {
		selections->is_default = true;
		good = selections_add(sink, selections, "*", rate_of_all);
	}
	return good;
}

/* The list of threads "4,5" as a filter, which the caller frees. NULL: one line was printed. */
static char *filter_of_threads(const struct message_sink *sink, const char *threads)
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
		message(sink, "option '--tid' takes thread ids separated by commas, not '%s'", threads);
		free(text);
		return NULL;
	}
	return text;
}

/* Frees `of_threads`; frees the selections unless `good`. */
static bool finish(const struct message_sink *sink, bool good, char *of_threads, struct selections *selections,
		   struct selections *ret_selections)
{
	good = good && selections_finish(sink, selections, of_threads);
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
	const struct message_sink sink = COMMAND_SINK(command);
	struct selections selections = SELECTIONS_INIT;
	char *of_threads = threads ? filter_of_threads(&sink, threads) : NULL;
	const bool good = (!threads || of_threads) && read_list(&sink, given, &selections);

	return finish(&sink, good, of_threads, &selections, ret_selections);
}

bool selections_make_one(const char *command, const char *patterns, const char *filter, uint64_t rate,
			 struct selections *ret_selections)
{
	const struct message_sink sink = COMMAND_SINK(command);
	struct selections selections = SELECTIONS_INIT;
	const bool good = selections_add(&sink, &selections, patterns, rate) &&
			  (!filter || selections_set_filter(&sink, &selections, filter));

	return finish(&sink, good, NULL, &selections, ret_selections);
}
