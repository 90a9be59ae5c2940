/* SPDX-License-Identifier: MIT */
/* See trace_events.h. */
#include "cli/common/trace_events.h"

#include <inttypes.h>

#include "cli/common/opts.h"
#include "format/io/blob.h"

void trace_report_left_out(const char *command, const char *path, const struct event_table *table)
{
	const struct event_left_out *out = table ? &table->left_out : NULL;

	if (out && out->nr)
		complain(command,
			 "%s: %" PRIu32 " event format%s left out, because libtraceevent cannot parse %s safely; "
			 "the first: %s",
			 path, out->nr, out->nr == 1 ? " is" : "s are", out->nr == 1 ? "it" : "them", out->first);
}

static void report_cpus(const char *command, const char *path, const struct event_table *table)
{
	struct blob cpus = BLOB_INIT;

	dat_absent_put_cpus(&table->absent, &cpus);
	blob_put(&cpus, "", 1);
	complain(command, "%s: %s; results may lack events", path,
		 cpus.error ? "CPUs were not recorded" : (const char *)cpus.data);
	blob_free(&cpus);
}

void trace_report_absent(const char *command, const char *path, const struct event_table *table)
{
	if (table->absent.nr_no_cpus)
		report_cpus(command, path, table);
	if (table->absent.several_machines)
		complain(command, "%s: merged from files of several machines; states of threads are unknown", path);
}

int trace_events_open(const char *command, const char *path, const struct dat_file *file, unsigned int flags,
		      struct event_table **ret_table)
{
	const int err = event_table_open(file, flags, ret_table);

	if (!err)
		trace_report_left_out(command, path, *ret_table);
	return err;
}
