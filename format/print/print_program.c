/* SPDX-License-Identifier: MIT */
/* Making, printing from and freeing a program. */
#include "format/print/print_program_private.h"

#include <errno.h>
#include <stdlib.h>

struct print_step *print_program_add(struct print_program *program, enum print_step_kind kind)
{
	struct print_step *step;

	if (program->nr == program->room) {
		const uint32_t room = program->room ? 2 * program->room : 8;
		struct print_step *steps = realloc(program->steps, room * sizeof(*steps));

		if (!steps)
			return NULL;
		program->steps = steps;
		program->room = room;
	}
	step = &program->steps[program->nr++];
	memset(step, 0, sizeof(*step));
	step->kind = kind;
	/* The first look-up may parse the list of functions, so it is done here, before threads run the program. */
	if (kind == PRINT_STEP_FUNCTION || kind == PRINT_STEP_SITE)
		tep_find_function(program->tep, 0);
	return step;
}

int print_program_add_text(struct print_program *program, const char *text, size_t size)
{
	char **texts = realloc(program->texts, (program->nr_texts + 1) * sizeof(*texts));
	struct print_step *step;

	if (!texts)
		return -ENOMEM;
	program->texts = texts;
	texts[program->nr_texts] = malloc(size + 1);
	if (!texts[program->nr_texts])
		return -ENOMEM;
	memcpy(texts[program->nr_texts], text, size);
	step = print_program_add(program, PRINT_STEP_TEXT);
	if (step) {
		step->text = texts[program->nr_texts];
		step->text_size = (uint32_t)size;
	}
	program->nr_texts++;
	return step ? 0 : -ENOMEM;
}

void print_step_clear(struct print_step *step)
{
	print_value_free(step->value);
	print_value_free(step->second);
	free(step->symbols);
	if (step->yes)
		print_step_clear(step->yes);
	if (step->no)
		print_step_clear(step->no);
	free(step->yes);
	free(step->no);
}

int print_program_compile(struct tep_event *event, struct print_program **ret_program)
{
	struct print_program *program;
	int err;

	if ((unsigned int)event->flags & (TEP_EVENT_FL_ISBPRINT | TEP_EVENT_FL_PRINTRAW | TEP_EVENT_FL_FAILED))
		return -ENOTSUP;
	program = calloc(1, sizeof(*program));
	if (!program)
		return -ENOMEM;
	program->tep = event->tep;
	if (event->handler && !(event->flags & TEP_EVENT_FL_NOHANDLE))
		err = print_compile_plugin(program, event);
	else
		err = print_compile_format(program, event);
	if (err)
		print_program_free(program);
	else
		*ret_program = program;
	return err;
}

struct print_program *print_program_free(struct print_program *program)
{
	if (!program)
		return NULL;
	for (uint32_t i = 0; i < program->nr; i++) {
		print_value_free(program->steps[i].form.length);
		print_step_clear(&program->steps[i]);
	}
	for (uint32_t i = 0; i < program->nr_texts; i++)
		free(program->texts[i]);
	free(program->steps);
	free(program->texts);
	free(program);
	return NULL;
}

unsigned int print_program_tasks(const struct print_program *program, const void *data, uint32_t size,
				 struct print_task ret_tasks[PRINT_TASKS_MAX])
{
	unsigned int nr = 0;

	for (uint32_t i = 0; i < program->nr_tasks; i++) {
		const struct print_step *step = &program->steps[program->tasks[i]];

		if (step->offset + step->size > size || !print_value_of(step->value, data, size, &ret_tasks[nr].pid))
			continue;
		ret_tasks[nr].offset = step->offset;
		ret_tasks[nr++].size = step->size;
	}
	return nr;
}

void print_context_open(struct print_context *ret_context, const struct function_list *functions)
{
	memset(ret_context, 0, sizeof(*ret_context));
	ret_context->functions = functions;
}
