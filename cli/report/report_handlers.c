/* SPDX-License-Identifier: MIT */
#include "cli/common/opts.h"
#include "cli/report/report_handlers.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/blob.h"

static int out_of_memory(void)
{
	complain(opts_command(), "out of memory");
	return EXIT_FAILURE;
}

int report_handlers_options(const struct report_handlers *handlers)
{
	for (unsigned int i = 0; i < handlers->options.nr; i++) {
		char *name = strdup(handlers->options.items[i]);
		char *value = name ? strchr(name, '=') : NULL;
		int err;

		if (!name)
			return out_of_memory();
		if (value)
			*value++ = '\0';
		/* libtraceevent keeps its own copies. */
		err = tep_plugin_add_option(name, value);
		free(name);
		if (err) {
			complain(opts_command(), "-O '%s': the plugins do not take this option",
				 handlers->options.items[i]);
			return EXIT_FAILURE;
		}
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- events' flags */

static void flag_events(struct event_table *table, const regex_t *regex, int flag)
{
	for (uint32_t i = 0; i < table->nr_events; i++) {
		struct tep_event *event = table->all[i].event;

		if (!regexec(regex, event->name, 0, NULL, 0) || !regexec(regex, event->system, 0, NULL, 0))
			event->flags |= flag;
	}
}

/* Set a flag of the events that match. An expression must match the whole name of an event or a system. */
static int flag_all(struct event_table *table, const struct opt_list *list, int flag)
{
	for (unsigned int i = 0; i < list->nr; i++) {
		struct blob text = BLOB_INIT;
		regex_t regex;
		int err;

		blob_printf(&text, "^%s$", list->items[i]);
		blob_put(&text, "", 1);
		err = text.error ? REG_ESPACE : regcomp(&regex, (const char *)text.data, REG_ICASE | REG_NOSUB);
		blob_free(&text);
		if (err) {
			complain(opts_command(), "-%c '%s' is not a regular expression", list->opts[i]->letter,
				 list->items[i]);
			return EXIT_USAGE;
		}
		flag_events(table, &regex, flag);
		regfree(&regex);
	}
	return 0;
}

/* ---------------------------------------------------------------------------------------------------------- symbols */

static int cannot_read(const char *path)
{
	complain(opts_command(), "--kallsyms '%s': cannot read: %s", path, strerror(errno));
	return EXIT_FAILURE;
}

static int add_symbols(struct event_table *table, const char *path)
{
	struct blob text = BLOB_INIT;
	FILE *file = fopen(path, "r");
	char piece[4096];
	size_t n;
	int err;

	if (!file)
		return cannot_read(path);
	while ((n = fread(piece, 1, sizeof(piece), file)))
		blob_put(&text, piece, n);
	err = ferror(file) ? errno : 0;
	fclose(file);
	blob_put(&text, "", 1);
	if (!err && !text.error)
		text.error = event_table_add_symbols(table, (const char *)text.data, text.size - 1);
	n = text.error != 0;
	blob_free(&text);
	errno = err;
	return err ? cannot_read(path) : n ? out_of_memory() : 0;
}

int report_handlers_apply(const struct report_handlers *handlers, struct event_table *table)
{
	int status = handlers->kallsyms ? add_symbols(table, handlers->kallsyms) : 0;

	if (!status)
		status = flag_all(table, &handlers->formats, TEP_EVENT_FL_NOHANDLE);
	return status ? status : flag_all(table, &handlers->raw, TEP_EVENT_FL_PRINTRAW);
}

/* ---------------------------------------------------------------------------------------------------------- filters */

static int test_filter(const char *text, struct event_table *table)
{
	struct tep_event_filter *filter = tep_filter_alloc(table->tep);
	char reason[200] = "";
	int err;

	if (!filter)
		return out_of_memory();
	err = tep_filter_add_filter_str(filter, text);
	tep_filter_free(filter);
	if (err >= 0)
		return 0;
	tep_strerror(table->tep, err, reason, sizeof(reason));
	complain(opts_command(), "-T shows filters in the spelling of trace-cmd only; '%s': %s", text, reason);
	return EXIT_USAGE;
}

/* Tests the filter that selects events of these tasks, and events about them, the last task first. */
static int test_tasks(const struct about_tasks *tasks, struct event_table *table)
{
	struct blob text = BLOB_INIT;
	int status;

	for (unsigned int i = tasks->nr; i; i--) {
		const int32_t tid = tasks->tids[i - 1];

		blob_printf(&text, "%s(common_pid==%d)||(pid==%d)||(next_pid==%d)", i == tasks->nr ? ".*:" : "||", tid,
			    tid, tid);
	}
	blob_put(&text, "", 1);
	status = text.error ? out_of_memory() : test_filter((const char *)text.data, table);
	blob_free(&text);
	return status;
}

int report_handlers_test(const struct opt_list *filters, const struct about_tasks *tasks, struct event_table *table)
{
	int status = 0;

	tep_set_test_filters(table->tep, 1);
	for (unsigned int i = 0; i < filters->nr && !status; i++)
		if (filters->items[i])
			status = test_filter(filters->items[i], table);
	if (!status && tasks->nr)
		status = test_tasks(tasks, table);
	tep_set_loglevel(TEP_LOG_NONE); /* as after a list */
	return status;
}

void report_handlers_free(struct report_handlers *handlers)
{
	opt_list_free(&handlers->raw);
	opt_list_free(&handlers->formats);
	opt_list_free(&handlers->options);
}
