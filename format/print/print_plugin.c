/* SPDX-License-Identifier: MIT */
/*
 * Compiles the texts of those handlers of libtraceevent's own plugins that most recordings need. A handler is
 * recognised by its file and its event. All other handlers, such as those of a user's plugins, are called.
 */
#include "format/print/print_program_private.h"

#include <dlfcn.h>
#include <errno.h>

/* Whether the event's handler is that of a plugin which comes with libtraceevent. */
static bool is_of_plugin(const struct tep_event *event, const char *file)
{
	void *address;
	const char *name;
	Dl_info info;

	memcpy(&address, &event->handler, sizeof(address));
	if (!dladdr(address, &info) || !info.dli_fname || strncmp(info.dli_fname, "/usr/", 5))
		return false;
	name = strrchr(info.dli_fname, '/');
	return !strcmp(name + 1, file);
}

static int add_number(struct print_program *program, struct tep_event *event, const char *name, unsigned char bits,
		      bool is_signed)
{
	const struct tep_format_field *field = tep_find_any_field(event, name);
	struct print_step *step = field ? print_program_add(program, PRINT_STEP_DECIMAL) : NULL;

	if (!step)
		return field ? -ENOMEM : -ENOTSUP;
	step->bits = bits;
	step->is_signed = is_signed;
	step->value = print_value_field(field);
	return step->value ? 0 : -ENOTSUP;
}

static int add_text(struct print_program *program, const char *text)
{
	return print_program_add_text(program, text, strlen(text));
}

/* Add the step for "comm:". */
static int add_comm(struct print_program *program, struct tep_event *event, const char *name, const char *pid)
{
	const struct tep_format_field *field = tep_find_any_field(event, name),
				      *number = tep_find_any_field(event, pid);
	struct print_step *step;

	if (!field || !number || field->offset < 0 || field->size <= 0)
		return -ENOTSUP;
	program->tasks[program->nr_tasks++] = program->nr;
	step = print_program_add(program, PRINT_STEP_COMM);
	if (!step)
		return -ENOMEM;
	step->offset = (uint32_t)field->offset;
	step->size = (uint32_t)field->size;
	step->value = print_value_field(number);
	return step->value ? add_text(program, ":") : -ENOTSUP;
}

static int add_state(struct print_program *program, struct tep_event *event, const char *name)
{
	const struct tep_format_field *field = tep_find_any_field(event, name);
	struct print_step *step = field ? print_program_add(program, PRINT_STEP_STATE) : NULL;

	if (!step)
		return field ? -ENOMEM : -ENOTSUP;
	step->value = print_value_field(field);
	return step->value ? 0 : -ENOTSUP;
}

/* Compile sched_switch: "comm:pid [prio] state ==> comm:pid [prio]" */
static int compile_switch(struct print_program *program, struct tep_event *event)
{
	int err = add_comm(program, event, "prev_comm", "prev_pid");

	if (!err)
		err = add_number(program, event, "prev_pid", 64, true);
	if (!err)
		err = add_text(program, " [");
	if (!err)
		err = add_number(program, event, "prev_prio", 32, true);
	if (!err)
		err = add_text(program, "] ");
	if (!err)
		err = add_state(program, event, "prev_state");
	if (!err)
		err = add_text(program, " ==> ");
	if (!err)
		err = add_comm(program, event, "next_comm", "next_pid");
	if (!err)
		err = add_number(program, event, "next_pid", 64, true);
	if (!err)
		err = add_text(program, " [");
	if (!err)
		err = add_number(program, event, "next_prio", 32, true);
	return err ? err : add_text(program, "]");
}

static int add_cpu(struct print_program *program, struct tep_event *event)
{
	const struct tep_format_field *field = tep_find_any_field(event, "target_cpu");
	struct print_step *step = field ? print_program_add(program, PRINT_STEP_NUMBER) : NULL;

	if (!step)
		return field ? -ENOMEM : -ENOTSUP;
	step->how = (struct print_conversion){ .letter = 'u', .zero = true, .bits = 64, .width = 3 };
	step->value = print_value_field(field);
	return step->value ? 0 : -ENOTSUP;
}

/* Compile a wake-up: "comm:pid [prio] success=1 CPU:003"; kernels since 4.9 do not report success. */
static int compile_wakeup(struct print_program *program, struct tep_event *event)
{
	int err = add_comm(program, event, "comm", "pid");

	if (!err)
		err = add_number(program, event, "pid", 64, true);
	if (!err)
		err = add_text(program, " [");
	if (!err)
		err = add_number(program, event, "prio", 64, true);
	if (!err)
		err = add_text(program, "]");
	if (!err && tep_find_any_field(event, "success")) {
		err = add_text(program, " success=");
		if (!err)
			err = add_number(program, event, "success", 64, true);
	}
	if (!err)
		err = add_text(program, " CPU:");
	return err ? err : add_cpu(program, event);
}

/* Compile an event of kmem: "(function+0x12) ", then the print format. */
static int compile_site(struct print_program *program, struct tep_event *event)
{
	const struct tep_format_field *field = tep_find_field(event, "call_site");
	struct print_step *step;

	if (field) {
		step = print_program_add(program, PRINT_STEP_SITE);
		if (!step)
			return -ENOMEM;
		step->value = print_value_field(field);
		if (!step->value)
			return -ENOTSUP;
	}
	return print_compile_format(program, event);
}

int print_compile_plugin(struct print_program *program, struct tep_event *event)
{
	if (!strcmp(event->system, "sched") && is_of_plugin(event, "plugin_sched_switch.so")) {
		if (!strcmp(event->name, "sched_switch"))
			return compile_switch(program, event);
		if (!strcmp(event->name, "sched_wakeup") || !strcmp(event->name, "sched_wakeup_new"))
			return compile_wakeup(program, event);
	}
	if (!strcmp(event->system, "kmem") && is_of_plugin(event, "plugin_kmem.so"))
		return compile_site(program, event);
	return -ENOTSUP;
}
