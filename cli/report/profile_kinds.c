/* SPDX-License-Identifier: MIT */
/* Which events begin and end something, which fields connect them, and what their value is. */
#include "cli/common/opts.h"
#include "cli/report/profile.h"

#include <stdlib.h>
#include <string.h>

static struct tep_format_field *field_of(const struct profile_kind *kind, const char *name)
{
	return kind ? tep_find_field(kind->event, name) : NULL;
}

/*
 * Make the kind of an event. NULL: the file does not have the event, or there is no memory. A kind that is made later
 * replaces the earlier one.
 */
static struct profile_kind *make_kind(struct profile *p, const char *system, const char *name)
{
	struct tep_event *event = tep_find_event_by_name(p->r->table->tep, system, name);
	struct profile_kind *kind = event ? calloc(1, sizeof(*kind)) : NULL;

	if (!event)
		return NULL;
	if (!kind || number_map_set(&p->by_id, (uint32_t)event->id, (uint64_t)(uintptr_t)kind)) {
		p->is_short_of_memory = true;
		free(kind);
		return NULL;
	}
	kind->event = event;
	kind->older = p->kinds;
	p->kinds = kind;
	return kind;
}

/*
 * `begin` begins what `end` ends, if the keys are equal. If one of them or its field is missing, nothing is connected.
 */
static void connect(struct profile_kind *begin, const char *begin_key, struct profile_kind *end, const char *end_key)
{
	struct tep_format_field *as_begin = field_of(begin, begin_key), *as_end = field_of(end, end_key);

	if (!as_begin || !as_end)
		return;
	begin->end = end;
	begin->as_begin = as_begin;
	end->begin = begin;
	end->as_end = as_end;
}

static void make_interrupts(struct profile *p, bool global)
{
	struct profile_kind *entry = make_kind(p, "irq", "irq_handler_entry");
	struct profile_kind *exit = make_kind(p, "irq", "irq_handler_exit");
	struct profile_kind *soft[3] = { make_kind(p, "irq", "softirq_raise"), make_kind(p, "irq", "softirq_entry"),
					 make_kind(p, "irq", "softirq_exit") };

	connect(entry, "irq", exit, "irq");
	for (unsigned int i = 0; i < 2; i++)
		connect(soft[i], "vec", soft[i + 1], "vec");
	for (unsigned int i = 0; i < 3; i++) {
		if (soft[i]) {
			soft[i]->show = PROFILE_SOFTIRQ;
			soft[i]->is_global = global;
		}
	}
	if (entry)
		entry->is_global = global;
	if (exit)
		exit->is_global = global;
}

static void make_sched(struct profile *p)
{
	struct profile_kind *wake = make_kind(p, "sched", "sched_wakeup");
	struct profile_kind *change = make_kind(p, "sched", "sched_switch");
	struct profile_kind *exec = make_kind(p, "sched", "sched_process_exec");

	if (change) {
		change->act = PROFILE_SWITCH;
		change->show = PROFILE_STATE;
		change->is_migrating = true;
		change->value = field_of(change, "prev_state");
		change->task = field_of(change, "prev_pid");
		change->as_begin = field_of(change, "next_pid");
		change->comms[0] = field_of(change, "prev_comm");
		change->comms[1] = field_of(change, "next_comm");
	}
	if (exec) {
		exec->act = PROFILE_EXEC;
		exec->value = field_of(exec, "old_pid");
	}
	if (!wake || !change)
		return;
	wake->act = PROFILE_WAKE;
	wake->is_migrating = true;
	wake->value = field_of(wake, "success");
	wake->task = field_of(wake, "pid");
	wake->comms[0] = field_of(wake, "comm");
	wake->begin = change;
	change->begin = wake;
}

static void make_calls(struct profile *p)
{
	struct profile_kind *call = make_kind(p, "ftrace", "funcgraph_entry");
	struct profile_kind *leave = make_kind(p, "ftrace", "funcgraph_exit");
	struct profile_kind *enter = make_kind(p, "raw_syscalls", "sys_enter");
	struct profile_kind *exit = make_kind(p, "raw_syscalls", "sys_exit");
	struct profile_kind *function = make_kind(p, "ftrace", "function");

	connect(call, "func", leave, "func");
	connect(enter, "id", exit, "id");
	if (call && call->end) {
		call->act = PROFILE_CALL;
		leave->act = PROFILE_RETURN;
		call->is_migrating = true;
	}
	if (call)
		call->show = PROFILE_FUNCTION;
	if (leave)
		leave->show = PROFILE_FUNCTION;
	if (enter && enter->end) {
		enter->is_migrating = true;
		enter->show = PROFILE_SYSCALL;
		exit->show = PROFILE_SYSCALL;
	}
	if (function) {
		function->show = PROFILE_FUNCTION;
		function->value = field_of(function, "ip");
	}
	p->stack = make_kind(p, "ftrace", "kernel_stack");
	if (p->stack) {
		p->stack->act = PROFILE_STACK;
		p->stack->value = field_of(p->stack, "caller");
	}
}

/* ------------------------------------------------------------------------------------------------------------ hooks */

/* The parts of [SYSTEM:]EVENT,FIELD[,PID]/[SYSTEM:]EVENT,FIELD[,FLAGS]; a missing part is NULL. */
struct hook {
	char *text;
	struct {
		char *system, *event, *field, *more;
	} begin, end;
};

static bool split_event(char *text, char **ret_system, char **ret_event, char **ret_field, char **ret_more)
{
	char *colon;

	*ret_event = strsep(&text, ",");
	*ret_field = strsep(&text, ",");
	*ret_more = strsep(&text, ",");
	colon = *ret_event ? strchr(*ret_event, ':') : NULL;
	*ret_system = colon ? *ret_event : NULL;
	if (colon) {
		*colon = '\0';
		*ret_event = colon + 1;
	}
	return **ret_event && *ret_field && **ret_field && !text;
}

/* Read a hook. False: the text is not a hook. The caller frees hook->text in any case. */
static bool split_hook(const char *text, struct hook *hook)
{
	char *end;

	hook->text = strdup(text);
	end = hook->text ? strchr(hook->text, '/') : NULL;
	if (!end)
		return false;
	*end++ = '\0';
	if (!split_event(hook->text, &hook->begin.system, &hook->begin.event, &hook->begin.field, &hook->begin.more) ||
	    !split_event(end, &hook->end.system, &hook->end.event, &hook->end.field, &hook->end.more))
		return false;
	return !hook->end.more || !hook->end.more[strspn(hook->end.more, "psgPSG")];
}

int profile_hooks_check(const struct opt_list *hooks)
{
	for (unsigned int i = 0; i < hooks->nr; i++) {
		struct hook hook = { 0 };
		const bool is_fine = split_hook(hooks->items[i], &hook);

		free(hook.text);
		if (!is_fine) {
			complain(opts_command(),
				 "-H '%s': EVENT,FIELD[,PID]/EVENT,FIELD[,FLAGS] expected, FLAGS of p, s, g",
				 hooks->items[i]);
			return EXIT_USAGE;
		}
	}
	return 0;
}

/*
 * Connect the events of a hook. False: the file has no such event or field. The events that exist have lost their
 * former kinds, as in trace-cmd: they are counted without times.
 */
static bool make_hook(struct profile *p, const struct hook *hook)
{
	struct profile_kind *begin = make_kind(p, hook->begin.system, hook->begin.event);
	struct profile_kind *end = make_kind(p, hook->end.system, hook->end.event);
	const char *flags = hook->end.more ? hook->end.more : "";

	if (begin && hook->begin.more)
		begin->task = field_of(begin, hook->begin.more);
	if (begin && end && (begin->task || !hook->begin.more))
		connect(begin, hook->begin.field, end, hook->end.field);
	if (!begin || !begin->end)
		return false;
	begin->is_migrating = end->is_migrating = !strpbrk(flags, "pP");
	begin->is_global = end->is_global = strpbrk(flags, "gG") != NULL;
	return true;
}

static int make_hooks(struct profile *p, const struct opt_list *hooks)
{
	bool is_made = true;

	for (unsigned int i = 0; is_made && i < hooks->nr; i++) {
		struct hook hook = { 0 };

		if (split_hook(hooks->items[i], &hook))
			is_made = make_hook(p, &hook);
		free(hook.text);
		if (!is_made)
			complain(opts_command(), "%s: -H '%s': the file has no such event or field", p->r->path,
				 hooks->items[i]);
	}
	return is_made ? 0 : EXIT_FAILURE;
}

/*
 * The hooks with which trace-cmd recorded the file, the last one first as there. An invalid hook is ignored, and it is
 * not an error if a hook's events or fields do not exist.
 */
static void make_hooks_of_file(struct profile *p)
{
	const struct dat_file *file = p->r->file;

	for (size_t i = file->nr_options; i-- > 0;) {
		struct hook hook = { 0 };

		if (file->options[i].id == DAT_HOOK && split_hook(file->options[i].data, &hook))
			make_hook(p, &hook);
		free(hook.text);
	}
}

int profile_kinds_make(struct profile *p, bool global, const struct opt_list *hooks)
{
	struct tep_handle *tep = p->r->table->tep;
	int status;

	make_interrupts(p, global);
	make_sched(p);
	make_calls(p);
	status = make_hooks(p, hooks);
	make_hooks_of_file(p);
	for (int i = 0; !status && i < tep_get_events_count(tep); i++) {
		struct tep_event *event = tep_get_event(tep, i);
		struct profile_kind *kind;

		if (!event || number_map_get(&p->by_id, (uint32_t)event->id))
			continue;
		kind = make_kind(p, event->system, event->name);
		if (kind)
			kind->value = event->format.fields;
	}
	return p->is_short_of_memory && !status ? report_fail_memory(p->r) : status;
}

void profile_kinds_free(struct profile *p)
{
	while (p->kinds) {
		struct profile_kind *kind = p->kinds;

		p->kinds = kind->older;
		free(kind);
	}
	number_map_free(&p->by_id);
}
