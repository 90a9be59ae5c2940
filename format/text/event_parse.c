/* SPDX-License-Identifier: MIT */
/* See event_parse.h. */
#include "format/text/event_parse.h"

#include "format/dat/dat_notes.h"
#include "format/text/event_lists.h"
#include "format/text/event_probe.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

/*
 * libtraceevent's parser recurses for every parenthesis and operator, with some hundred bytes of stack each time. The
 * longest formats of a kernel have a few hundred of these.
 */
#define OPERATORS_MAX 4096u
#define FORMAT_MAX    (1u << 20)

/* A record of a trial is longer than its fixed fields by this much. */
#define TRIAL_MORE 64u

static bool may_parse(const struct dat_text *text)
{
	unsigned int operators = 0;

	if (text->size > FORMAT_MAX || !text->size || memchr(text->text, '\0', text->size))
		return false;
	for (size_t i = 0; i < text->size; i++) {
		if (strchr("([?!~-+&*<>=|^/%", text->text[i]))
			operators++;
	}
	return operators <= OPERATORS_MAX;
}

/* Shortens a field that no record can have and moves it to the start of the record; notes where the fields end. */
static void tame_fields(struct event_type *type, struct tep_format_field *field)
{
	for (; field; field = field->next) {
		if (field->offset < 0 || field->size < 0 || field->offset > (int)EVENT_FIELD_MAX ||
		    field->size > (int)EVENT_FIELD_MAX || field->offset + field->size > (int)EVENT_FIELD_MAX) {
			field->offset = 0;
			field->size = field->size > 8 || field->size < 0 ? 8 : field->size;
		}
		if (field->arraylen > EVENT_FIELD_MAX)
			field->arraylen = 0;
		if (field->elementsize > EVENT_FIELD_MAX)
			field->elementsize = 1;
		if ((uint32_t)(field->offset + field->size) > type->need)
			type->need = (uint32_t)(field->offset + field->size);
		if (!field->size && (uint32_t)field->offset > type->open)
			type->open = (uint32_t)field->offset;
	}
}

/* ---------------------------------------------------------------------------------- what a print format computes */

static struct tep_format_field *field_of(const struct tep_event *event, const struct tep_print_arg *arg)
{
	if (arg->field.field)
		return arg->field.field;
	return tep_find_any_field((struct tep_event *)(uintptr_t)event, arg->field.name);
}

/* The value of an expression, as libtraceevent will compute it. False: the expression is not simple enough. */
static bool evaluate(const struct tep_event *event, const struct tep_print_arg *arg, void *data, uint64_t *ret_value)
{
	struct tep_format_field *field;
	uint64_t left, right;
	unsigned long long number;
	const char *op;
	char *end;

	switch (arg->type) {
	case TEP_PRINT_ATOM:
		*ret_value = (uint64_t)strtoll(arg->atom.atom, &end, 0);
		return end != arg->atom.atom;
	case TEP_PRINT_TYPE:
		return evaluate(event, arg->typecast.item, data, ret_value);
	case TEP_PRINT_FIELD:
		field = field_of(event, arg);
		if (!field || tep_read_number_field(field, data, &number))
			return false;
		*ret_value = number;
		return true;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		if (!arg->dynarray.field || tep_read_number_field(arg->dynarray.field, data, &number))
			return false;
		*ret_value = number >> 16;
		return true;
	case TEP_PRINT_OP:
		op = arg->op.op;
		if (!arg->op.left || !arg->op.right || !evaluate(event, arg->op.left, data, &left) ||
		    !evaluate(event, arg->op.right, data, &right))
			return false;
		if (!strcmp(op, "+"))
			*ret_value = left + right;
		else if (!strcmp(op, "-"))
			*ret_value = left - right;
		else if (!strcmp(op, "*"))
			*ret_value = left * right;
		else if (!strcmp(op, "/") && right)
			*ret_value = left / right;
		else if (!strcmp(op, "%") && right)
			*ret_value = left % right;
		else if (!strcmp(op, "<<"))
			*ret_value = left << (right & 63);
		else if (!strcmp(op, ">>"))
			*ret_value = left >> (right & 63);
		else if (!strcmp(op, "&"))
			*ret_value = left & right;
		else
			return false;
		return true;
	default:
		return false;
	}
}

/* Whether an expression exists and its value is within 0 .. max. */
static bool bounded(const struct tep_event *event, const struct tep_print_arg *arg, void *data, uint64_t max)
{
	uint64_t value;

	return arg && evaluate(event, arg, data, &value) && value <= max;
}

/*
 * Whether an expression neither divides by zero nor reads beyond the record. With data NULL: whether it does neither
 * for any record.
 */
static bool arg_is_safe(const struct tep_event *event, const struct tep_print_arg *arg, void *data);

static bool op_is_safe(const struct tep_event *event, const struct tep_print_arg *arg, void *data)
{
	const struct tep_print_arg *left = arg->op.left, *right = arg->op.right;
	const char *op = arg->op.op;
	uint64_t divisor;

	if (op && (!strcmp(op, "/") || !strcmp(op, "%"))) {
		if (!data || !right || !evaluate(event, right, data, &divisor) || !divisor)
			return false;
	}
	/* Check the index: elements are at most 8 bytes long. */
	if (op && !strcmp(op, "[") && (!data || !bounded(event, right, data, EVENT_FIELD_MAX / 8)))
		return false;
	return (!left || arg_is_safe(event, left, data)) && (!right || arg_is_safe(event, right, data));
}

static bool arg_is_safe(const struct tep_event *event, const struct tep_print_arg *arg, void *data)
{
	switch (arg->type) {
	case TEP_PRINT_TYPE:
		return !arg->typecast.item || arg_is_safe(event, arg->typecast.item, data);
	case TEP_PRINT_FLAGS:
		return !arg->flags.field || arg_is_safe(event, arg->flags.field, data);
	case TEP_PRINT_SYMBOL:
		return !arg->symbol.field || arg_is_safe(event, arg->symbol.field, data);
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR:
		return data && bounded(event, arg->hex.size, data, EVENT_FIELD_MAX);
	case TEP_PRINT_INT_ARRAY:
		return data && bounded(event, arg->int_array.count, data, EVENT_FIELD_MAX / 8) &&
		       bounded(event, arg->int_array.el_size, data, 8);
	case TEP_PRINT_OP:
		return op_is_safe(event, arg, data);
	case TEP_PRINT_DYNAMIC_ARRAY:
		return !arg->dynarray.index || (data && bounded(event, arg->dynarray.index, data, EVENT_FIELD_MAX));
	case TEP_PRINT_FUNC:
		return false;
	default:
		return true;
	}
}

/* Whether the lengths of buffers are safe: "%*p…" takes the length of a buffer from the argument before it. */
static bool lengths_are_safe(const struct tep_event *event, void *data)
{
	if (!strstr(event->print_fmt.format ? event->print_fmt.format : "", "*p"))
		return true;
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next) {
		if (arg->next && arg->next->type == TEP_PRINT_DYNAMIC_ARRAY &&
		    (!data || !bounded(event, arg, data, EVENT_FIELD_MAX)))
			return false;
	}
	return true;
}

static bool format_is_safe(const struct tep_event *event, void *data)
{
	for (const struct tep_print_arg *arg = event->print_fmt.args; arg; arg = arg->next) {
		if (!arg_is_safe(event, arg, data))
			return false;
	}
	return lengths_are_safe(event, data);
}

bool event_check(const struct event_type *type, void *data)
{
	if (type->raw_only)
		return false;
	return !type->has_sizes || format_is_safe(type->event, data);
}

/* ------------------------------------------------------------------------------------------------------ the table */

static void describe(struct event_type *type, struct tep_event *event)
{
	type->event = event;
	tame_fields(type, event->format.common_fields);
	tame_fields(type, event->format.fields);
	type->has_sizes = !format_is_safe(event, NULL);
}

/*
 * The trial of format i in a child: parse it, and print an event of which all bits are 0, and one of which all bits are
 * 1.
 */
struct trial {
	struct event_table *table;
	const struct dat_file *file;
	unsigned char *record; /* the child's; zero between trials, so that only pages in use are allocated */
	uint32_t room;	       /* its size, without EVENT_SLACK */
};

/* Without memory the trial counts as failed, and the format is not used. */
static void grow_record(struct trial *trial, uint32_t size)
{
	if (size <= trial->room)
		return;
	free(trial->record);
	trial->record = calloc(1, size + EVENT_SLACK);
	if (!trial->record)
		abort();
	trial->room = size;
}

static void print_trial(struct trial *trial, struct tep_event *event, const struct event_type *type, int fill)
{
	const struct tep_format_field *field = tep_find_common_field(event, "common_type");
	const uint32_t size = type->need + TRIAL_MORE;
	const bool big = trial->file->big;
	struct tep_handle *tep = trial->table->tep;
	struct tep_record record = { .size = (int)size, .record_size = (int)size, .ref_count = 1 };
	struct trace_seq seq;

	grow_record(trial, size);
	record.data = trial->record;
	memset(trial->record, fill, size);
	if (field && field->size == 2) {
		trial->record[field->offset + big] = (unsigned char)event->id;
		trial->record[field->offset + !big] = (unsigned char)(event->id >> 8);
	}
	trace_seq_init(&seq);
	tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO_RAW);
	if (event_check(type, trial->record))
		tep_print_event(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	trace_seq_destroy(&seq);
	memset(trial->record, 0, size);
}

static void try_format(void *arg, size_t i)
{
	struct trial *trial = arg;
	const struct dat_format *format = &trial->file->formats[i];
	struct tep_handle *tep = trial->table->tep;
	struct event_type type = { 0 };
	struct tep_event *event = NULL;

	if (!may_parse(&format->text))
		return;
	tep_parse_format(tep, &event, format->text.text, format->text.size, format->system);
	if (!event)
		return;
	describe(&type, event);
	print_trial(trial, event, &type, 0);
	print_trial(trial, event, &type, 0xff);
}

/* Copies a text up to its end, or to the end of a line; characters that no name has become a ?. */
static void copy_name(char *to, size_t room, const char *from, size_t size)
{
	size_t n = 0;

	for (; n < size && n + 1 < room && from[n] && from[n] != '\n'; n++)
		to[n] = isalnum((unsigned char)from[n]) || from[n] == '_' ? from[n] : '?';
	to[n] = '\0';
}

static void leave_out(struct event_left_out *out, const struct dat_format *format)
{
	static const char label[] = "name: ";
	const size_t begin = strlen(label);
	const struct dat_text *text = &format->text;
	char system[sizeof(out->first) / 2], name[sizeof(out->first) / 2] = "";

	if (out->nr++)
		return;
	copy_name(system, sizeof(system), format->system, strlen(format->system));
	if (text->size >= begin && !memcmp(text->text, label, begin))
		copy_name(name, sizeof(name), text->text + begin, text->size - begin);
	snprintf(out->first, sizeof(out->first), "%s:%s", system, name);
}

static int parse_formats(struct event_table *t, const struct dat_file *file)
{
	struct trial trial = { .table = t, .file = file };
	bool *bad = calloc(file->nr_formats ? file->nr_formats : 1, sizeof(*bad));
	int err = bad ? event_probe(try_format, &trial, file->nr_formats, bad) : -ENOMEM;

	for (size_t i = 0; !err && i < file->nr_formats; i++) {
		const struct dat_format *format = &file->formats[i];

		errno = 0; /* libtraceevent adds the text of errno to its messages */
		if (bad[i] || !may_parse(&format->text)) {
			leave_out(&t->left_out, format);
			leave_out(&t->failed, format);
		} else if (tep_parse_event(t->tep, format->text.text, format->text.size, format->system)) {
			leave_out(&t->failed, format);
		}
	}
	free(bad);
	return err;
}

static void find_common(const struct event_table *t, const char *name, uint32_t *ret_offset, uint32_t *ret_size)
{
	struct tep_event **events = tep_list_events(t->tep, TEP_EVENT_SORT_ID);
	struct tep_format_field *field = NULL;

	/* The field is the same in all events of a file, so the event with the lowest id is used. */
	for (uint32_t i = 0; i < t->nr_events && !field; i++)
		field = tep_find_common_field(events[i], name);
	*ret_offset = field ? (uint32_t)field->offset : 0;
	*ret_size = field ? (uint32_t)field->size : 0;
}

static int index_events(struct event_table *t)
{
	struct tep_event **events = tep_list_events(t->tep, TEP_EVENT_SORT_ID);

	t->nr_events = events ? (uint32_t)tep_get_events_count(t->tep) : 0;
	t->types = calloc(EVENT_NR_IDS, sizeof(*t->types));
	t->all = calloc(t->nr_events ? t->nr_events : 1, sizeof(*t->all));
	if (!t->types || !t->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_events; i++) {
		struct event_type *type = &t->all[i];
		struct tep_event *event = events[i];

		describe(type, event);
		if (event->id >= 0 && event->id < (int)EVENT_NR_IDS && !t->types[event->id])
			t->types[event->id] = type;
	}
	find_common(t, "common_type", &t->type_offset, &t->type_size);
	find_common(t, "common_pid", &t->pid_offset, &t->pid_size);
	find_common(t, "common_flags", &t->flags_offset, &t->flags_size);
	return 0;
}

const struct function_list *event_table_functions(struct event_table *table)
{
	/* Without memory, functions have no names. */
	if (table->later)
		(void)function_list_add(&table->functions, table->later->text, table->later->size);
	table->later = NULL;
	return &table->functions;
}

/* libtraceevent calls this function for each address. */
static char *find_function(void *arg, unsigned long long *address, char **ret_module)
{
	const struct listed_function *function = function_list_find(event_table_functions(arg), *address);

	(void)ret_module;
	if (!function)
		return NULL;
	*address = function->address;
	return (char *)(uintptr_t)function->name;
}

static int prepare_functions(struct event_table *t, const struct dat_file *file, unsigned int flags)
{
	const struct dat_text *text = dat_symbols(file);

	if (tep_set_function_resolver(t->tep, find_function, t))
		return -ENOMEM;
	if (!(flags & EVENT_FUNCTIONS_LATER))
		return function_list_add(&t->functions, text->text, text->size);
	t->later = text;
	return 0;
}

static int read_notes(const struct dat_file *file, struct event_table *t)
{
	struct dat_notes notes;
	int32_t tid;
	int err;

	dat_notes_of(file, &notes);
	err = dat_absent_read(&notes, &t->absent);
	while (!err && notes.other_pids && dat_notes_next_thread(&notes.other_pids, &tid))
		err = number_map_set(&t->other_pids, (uint32_t)tid, 1);
	if (!err)
		err = dat_losses_read(notes.kernel_losses, &t->kernel_losses);
	return err ? err : dat_losses_read(notes.program_losses, &t->program_losses);
}

int event_table_open(const struct dat_file *file, unsigned int flags, struct event_table **ret_table)
{
	struct event_table *t = calloc(1, sizeof(*t));
	int err;

	tep_set_loglevel((enum tep_loglevel)(flags >> 8));
	if (t)
		t->tep = tep_alloc();
	if (!t || !t->tep) {
		free(t);
		return -ENOMEM;
	}
	t->no_plugins = flags & EVENT_NO_PLUGINS;
	t->big = file->big;
	t->no_overrides = flags & (EVENT_NO_PLUGINS | EVENT_LOCAL_PLUGINS);
	if (flags & EVENT_LOCAL_PLUGINS)
		tep_set_flag(t->tep, TEP_DISABLE_SYS_PLUGINS);
	if (!t->no_plugins)
		t->plugins = tep_load_plugins(t->tep);
	tep_set_file_bigendian(t->tep, file->big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(t->tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(t->tep, (int)file->commit_size);
	tep_parse_header_page(t->tep, file->header_page.text, file->header_page.size, (int)file->commit_size);
	err = parse_formats(t, file);
	if (!err)
		err = prepare_functions(t, file, flags);
	if (!err)
		err = event_list_printk(t->tep, &file->printk);
	if (!err)
		err = event_list_threads(t->tep, &file->cmdlines);
	if (!err)
		err = index_events(t);
	if (!err)
		err = dat_processes_open(file, &t->processes);
	if (!err)
		err = read_notes(file, t);
	if (!err && flags & EVENT_NAMES)
		err = event_names_open(t, file);
	if (err) {
		event_table_close(t);
		return err;
	}
	*ret_table = t;
	return 0;
}

int event_table_add_symbols(struct event_table *table, const char *text, size_t size)
{
	event_table_functions(table);
	return function_list_add(&table->functions, text, size);
}

struct event_table *event_table_close(struct event_table *table)
{
	if (!table)
		return NULL;
	if (table->plugins)
		tep_unload_plugins(table->plugins, table->tep);
	tep_free(table->tep);
	function_list_free(&table->functions);
	dat_processes_close(&table->processes);
	dat_losses_free(&table->kernel_losses);
	dat_losses_free(&table->program_losses);
	dat_absent_free(&table->absent);
	event_names_close(table->names);
	number_map_free(&table->other_pids);
	free(table->types);
	free(table->all);
	free(table);
	return NULL;
}
