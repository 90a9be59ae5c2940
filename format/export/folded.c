/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, the input of flamegraph.pl, speedscope and others: a line for each stack of spans, from the thread to
 * the innermost span, and the nanoseconds that were spent there and in no inner span. Threads with the same name are
 * counted together. Keyed spans are in no stack; a system call with two events is in one once. Memory is bounded by the
 * number of different stacks. The table of names is bounded: further names are shown as one.
 */
#include "format/export/export.h"
#include "format/export/string_table.h"
#include "format/io/number_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 320u
#define OTHER	  "(other)" /* the name of those for which the table has no room */

struct node {
	uint32_t parent; /* 0: this is a thread */
	uint32_t name;	 /* number of its name */
	uint64_t own;
};

/* The open spans of a thread, of a CPU's interrupts, or of its idle task. */
struct stack {
	uint32_t root;
	uint32_t room;
	uint32_t *nodes; /* by depth */
};

struct folded {
	struct export_trace *trace;
	struct export_out *out;
	struct model *model;
	struct string_table names;
	struct number_map name_places; /* from a name's number to its place in the texts plus one */
	struct number_map children; /* from parent and name to the node */
	struct node *nodes;	    /* from 1 */
	uint32_t nr_nodes, node_room;
	struct number_map places; /* from a key below to its place in `stacks` plus one */
	struct stack *stacks;
	uint32_t nr_stacks, stack_room;
	uint32_t other; /* number of OTHER */
};

/* A number for a name in which nothing looks like a separator; 0: out of memory. */
static uint32_t name_number(struct folded *f, const char *system, const char *name)
{
	char text[NAME_ROOM];
	uint32_t number;
	bool is_new;

	snprintf(text, sizeof(text), "%s%s%s", system, system[0] ? ":" : "", name);
	for (char *at = text; *at; at++) {
		if (*at == ';' || (unsigned char)*at < ' ' || *at == 0x7f)
			*at = '_';
	}
	/* Include the NUL, so that the table's texts can be printed. */
	number = string_table_number(&f->names, text, strlen(text) + 1, &is_new);
	if (!number && string_table_is_full(&f->names, strlen(text) + 1))
		return f->other;
	if (is_new && number_map_set(&f->name_places, number, f->names.texts.size - strlen(text)))
		return 0;
	return number;
}

static const char *name_text(const struct folded *f, uint32_t number)
{
	return (const char *)f->names.texts.data + number_map_get(&f->name_places, number) - 1;
}

/* 0: out of memory. */
static uint32_t child(struct folded *f, uint32_t parent, uint32_t name)
{
	const uint64_t key = (uint64_t)parent << 32 | name;
	const uint64_t found = number_map_get(&f->children, key);
	struct node *more;

	if (found || !name)
		return (uint32_t)found;
	if (f->nr_nodes + 1 >= f->node_room) {
		more = reallocarray(f->nodes, 2 * ((size_t)f->node_room + 32), sizeof(*more));
		if (!more)
			return 0;
		f->nodes = more;
		f->node_room = 2 * (f->node_room + 32);
	}
	if (number_map_set(&f->children, key, f->nr_nodes + 1))
		return 0;
	f->nodes[++f->nr_nodes] = (struct node){ parent, name, 0 };
	return f->nr_nodes;
}

/* Each CPU has an idle task, all with the number 0. */
static uint64_t key_of(const struct folded *f, const struct model_span *span)
{
	if (span->rule->is_of_cpu)
		return UINT64_C(1) << 32 | span->cpu;
	if (export_is_namesake(f->trace, span->rule->is_program, span->tid))
		return UINT64_C(3) << 32 | (uint32_t)span->tid;
	return span->tid ? (uint32_t)span->tid : UINT64_C(2) << 32 | span->cpu;
}

static struct stack *find_stack(struct folded *f, const struct model_span *span)
{
	const bool is_of_cpu = span->rule->is_of_cpu;
	const uint64_t key = key_of(f, span);
	const uint64_t place = number_map_get(&f->places, key);
	struct stack *more;
	char name[NAME_ROOM];

	if (place)
		return &f->stacks[place - 1];
	if (f->nr_stacks == f->stack_room) {
		more = reallocarray(f->stacks, 2 * ((size_t)f->stack_room + 8), sizeof(*more));
		if (!more)
			return NULL;
		f->stacks = more;
		f->stack_room = 2 * (f->stack_room + 8);
	}
	snprintf(name, sizeof(name), "%s", export_task_name(f->trace, span->tid));
	if (is_of_cpu)
		snprintf(name, sizeof(name), "CPU %u", span->cpu);
	else if (export_is_namesake(f->trace, span->rule->is_program, span->tid))
		snprintf(name, sizeof(name), EXPORT_NAMESAKE, span->tid);
	else if (!name[0])
		snprintf(name, sizeof(name), "%d", span->tid);
	f->stacks[f->nr_stacks] = (struct stack){ .root = child(f, 0, name_number(f, "", name)) };
	if (!f->stacks[f->nr_stacks].root || number_map_set(&f->places, key, f->nr_stacks + 1))
		return NULL;
	return &f->stacks[f->nr_stacks++];
}

/* The node of a span within those that are open around it, if these are known. */
static uint32_t node_of(struct folded *f, const struct stack *stack, const struct model_span *span)
{
	const bool is_inside = span->depth && span->depth <= stack->room && !export_span_is_apart(f->trace, span);
	const uint32_t parent = is_inside ? stack->nodes[span->depth - 1] : stack->root;

	return child(f, parent, name_number(f, span->rule->system, span->name));
}

/*
 * Whether a span is in the stack. A span beside the stack is the second one of a system call, whose first one is in the
 * stack with all of its time.
 */
static bool is_in_stack(const struct model_span *span)
{
	return !span->rule->is_keyed && !span->is_beside;
}

static int on_span_begin(void *arg, const struct model_span *span)
{
	struct folded *f = arg;
	struct stack *stack;
	uint32_t *more;

	if (!is_in_stack(span))
		return 0;
	stack = find_stack(f, span);
	if (!stack)
		return -ENOMEM;
	if (span->depth >= stack->room) {
		more = reallocarray(stack->nodes, 2 * ((size_t)span->depth + 4), sizeof(*more));
		if (!more)
			return -ENOMEM;
		stack->nodes = more;
		stack->room = 2 * (span->depth + 4);
	}
	stack->nodes[span->depth] = node_of(f, stack, span);
	return stack->nodes[span->depth] ? 0 : -ENOMEM;
}

static int on_span(void *arg, const struct model_span *span)
{
	struct folded *f = arg;
	struct stack *stack;
	uint32_t node;

	if (!is_in_stack(span))
		return 0;
	stack = find_stack(f, span);
	node = stack ? node_of(f, stack, span) : 0;
	if (!node)
		return -ENOMEM;
	f->nodes[node].own += span->own;
	return 0;
}

static void folded_close(void *state)
{
	struct folded *f = state;

	if (!f)
		return;
	model_close(f->model);
	for (uint32_t i = 0; i < f->nr_stacks; i++)
		free(f->stacks[i].nodes);
	free(f->stacks);
	free(f->nodes);
	string_table_free(&f->names);
	number_map_free(&f->children);
	number_map_free(&f->name_places);
	number_map_free(&f->places);
	free(f);
}

static int folded_open(struct export_trace *trace, struct export_out *out, void **ret_state)
{
	struct folded *f = calloc(1, sizeof(*f));
	const struct model_sink sink = {
		.arg = f, .span = on_span, .span_begin = on_span_begin, .given_up = &trace->given_up
	};

	if (!f || model_open(trace->rules, &sink, &f->model)) {
		folded_close(f);
		return -ENOMEM;
	}
	f->trace = trace;
	f->out = out;
	f->other = name_number(f, "", OTHER);
	if (!f->other) {
		folded_close(f);
		return -ENOMEM;
	}
	*ret_state = f;
	return 0;
}

static int folded_event(void *state, const struct dat_event *event)
{
	struct folded *f = state;

	return model_event(f->model, event);
}

static void put_stack(struct folded *f, uint32_t node)
{
	if (f->nodes[node].parent) {
		put_stack(f, f->nodes[node].parent);
		export_out_text(f->out, ";");
	}
	export_out_text(f->out, name_text(f, f->nodes[node].name));
}

static int folded_end(void *state)
{
	struct folded *f = state;
	const int err = model_end(f->model);

	for (uint32_t i = 1; i <= f->nr_nodes && !err; i++) {
		if (!f->nodes[i].own)
			continue;
		put_stack(f, i);
		export_out_printf(f->out, " %" PRIu64 "\n", f->nodes[i].own);
	}
	return err ? err : f->out->error;
}

const struct export_writer export_folded = { EXPORT_FORM_TEXT, folded_open, folded_event, folded_end, folded_close };
