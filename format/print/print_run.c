/* SPDX-License-Identifier: MIT */
/* Runs a program: one step after the other, each adding to the text. */
#include "format/print/print_program_private.h"

/* The record, and the context in which it is printed. */
struct run {
	struct print_context *context;
	const unsigned char *data;
	uint32_t size;
	struct print_text *text;
};

static bool run_step(const struct run *run, const struct print_step *step);

/* ---------------------------------------------------------------------------------------------------------- strings */

/* Print a text of `size` characters as a %s. */
static bool put_formed(const struct run *run, const struct print_form *form, const char *from, size_t size)
{
	size_t width = form->width, spaces;
	uint64_t length;

	if (form->length) {
		if (!print_value_of(form->length, run->data, run->size, &length))
			return false;
		/* printf takes an int. A negative precision is left to libtraceevent. */
		if ((int32_t)length < 0)
			return false;
		if (form->is_width)
			width = (uint32_t)length;
		else if ((uint32_t)length < size)
			size = (uint32_t)length;
		if (width > 65536)
			return false;
	}
	if (form->has_precision && !form->length && form->precision < size)
		size = form->precision;
	spaces = width > size ? width - size : 0;
	if (spaces && !form->left)
		print_text_fill(run->text, ' ', spaces);
	print_text_put(run->text, from, size);
	if (spaces && form->left)
		print_text_fill(run->text, ' ', spaces);
	return true;
}

static inline bool put_string(const struct run *run, const struct print_form *form, const char *from, size_t size)
{
	if (form->width || form->has_precision || form->length)
		return put_formed(run, form, from, size);
	print_text_put(run->text, from, size);
	return true;
}

/* Print the text in a field of fixed size, which may have no NUL at its end. */
static inline bool run_field(const struct run *run, const struct print_step *step)
{
	const char *from = (const char *)run->data + step->offset;
	uint32_t size = step->size;

	if (step->offset > run->size || size > run->size - step->offset)
		return false;
	if (!size)
		size = run->size - step->offset;
	return put_string(run, &step->form, from, strnlen(from, size));
}

static bool run_dynamic(const struct run *run, const struct print_step *step)
{
	uint32_t offset, length;
	const char *from;
	size_t size;

	if (!print_dynamic_of(&step->dynamic, run->data, run->size, &offset, &length))
		return false;
	if (!length)
		return true;
	from = (const char *)run->data + offset;
	size = strnlen(from, run->size - offset);
	return size < run->size - offset && put_string(run, &step->form, from, size);
}

static void put_unnamed(struct print_text *text, uint64_t number)
{
	print_text_put(text, "0x", 2);
	print_text_hex(text, number);
}

static bool run_flags(const struct run *run, const struct print_step *step)
{
	bool is_first = true;
	uint64_t number;

	if (!print_value_of(step->value, run->data, run->size, &number))
		return false;
	for (uint32_t i = 0; i < step->nr_symbols; i++) {
		const struct print_symbol *symbol = &step->symbols[i];
		const uint64_t value = (uint64_t)symbol->value;

		if (!number && symbol->value < 0)
			return put_string(run, &step->form, symbol->name, symbol->size);
		if (symbol->value <= 0 || (number & value) != value)
			continue;
		if (!is_first)
			print_text_put(run->text, step->text, step->text_size);
		if (!put_string(run, &step->form, symbol->name, symbol->size))
			return false;
		is_first = false;
		number &= ~value;
	}
	if (!number)
		return true;
	if (!is_first)
		print_text_put(run->text, step->text, step->text_size);
	put_unnamed(run->text, number);
	return true;
}

static bool run_symbol(const struct run *run, const struct print_step *step)
{
	uint64_t number;

	if (!print_value_of(step->value, run->data, run->size, &number))
		return false;
	for (uint32_t i = 0; i < step->nr_symbols; i++)
		if (step->symbols[i].value == (int64_t)number)
			return put_string(run, &step->form, step->symbols[i].name, step->symbols[i].size);
	put_unnamed(run->text, number);
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- arrays */

static bool find_bytes(const struct run *run, const struct print_step *step, uint64_t size,
		       const unsigned char **ret_at)
{
	uint32_t offset = step->offset, length;

	if (step->is_dynamic && !print_dynamic_of(&step->dynamic, run->data, run->size, &offset, &length))
		return false;
	*ret_at = run->data + offset;
	return offset <= run->size && size <= run->size - offset;
}

static bool run_bytes(const struct run *run, const struct print_step *step)
{
	const unsigned char *at;
	uint64_t nr;

	if (!print_value_of(step->value, run->data, run->size, &nr) || !find_bytes(run, step, nr, &at))
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		if (i && step->has_spaces)
			print_text_putc(run->text, ' ');
		print_text_byte(run->text, at[i]);
	}
	return true;
}

/* libtraceevent reads the elements in this machine's byte order, whatever the file's. */
static bool run_array(const struct run *run, const struct print_step *step)
{
	struct print_value element = { .kind = PRINT_VALUE_FIELD };
	uint64_t nr, size, number;
	const unsigned char *at;

	if (!print_value_of(step->value, run->data, run->size, &nr) ||
	    !print_value_of(step->second, run->data, run->size, &size))
		return false;
	if ((size != 1 && size != 2 && size != 4 && size != 8) || nr > run->size ||
	    !find_bytes(run, step, nr * size, &at))
		return false;
	element.size = (uint32_t)size;
	for (uint64_t i = 0; i < nr; i++) {
		if (i)
			print_text_putc(run->text, ' ');
		print_value_load(&element, at, (uint32_t)(i * size), &number);
		print_text_decimal(run->text, number, 0, ' ');
	}
	return true;
}

/* Print a bitmask: its highest byte first, with a comma between groups of four bytes, counted from the lowest. */
static bool run_mask(const struct run *run, const struct print_step *step)
{
	uint32_t offset, length;

	if (step->form.width || step->form.has_precision || step->form.length ||
	    !print_dynamic_of(&step->dynamic, run->data, run->size, &offset, &length) || !length)
		return false;
	for (uint32_t left = length; left > 0; left--) {
		const uint32_t index = step->is_big ? length - left : left - 1;

		print_text_byte(run->text, run->data[offset + index]);
		if (left > 1 && (left - 1) % 4 == 0)
			print_text_putc(run->text, ',');
	}
	return true;
}

/* -------------------------------------------------------------------------------------------------------- addresses */

static const struct print_function *find_function(struct print_context *context, uint64_t address)
{
	struct print_function *f = &context->found[(address * 0x9e3779b97f4a7c15u) >> 55];
	const struct listed_function *function;

	_Static_assert(PRINT_FUNCTIONS == 1u << (64 - 55), "the hash");
	if (f->is_known && f->address == address)
		return f;
	f->is_known = true;
	f->address = address;
	function = function_list_find(context->functions, address);
	f->name = function ? function->name : NULL;
	f->size = function ? (uint32_t)strlen(function->name) : 0;
	f->start = function ? function->address : 0;
	return f;
}

static bool run_function(const struct run *run, const struct print_step *step)
{
	const struct print_function *function;
	uint64_t address;

	if (!print_value_of(step->value, run->data, run->size, &address))
		return false;
	function = find_function(run->context, address);
	if (!function->name) {
		/* An address of 32 bits is printed as a long. */
		put_unnamed(run->text, address);
		return true;
	}
	print_text_put(run->text, function->name, function->size);
	if (step->has_offset) {
		print_text_put(run->text, "+0x", 3);
		print_text_hex(run->text, address - function->start);
	}
	return true;
}

static bool run_pointer(const struct run *run, const struct print_step *step)
{
	uint64_t number;

	if (!print_value_of(step->value, run->data, run->size, &number))
		return false;
	if (number)
		put_unnamed(run->text, number);
	else
		print_text_puts(run->text, "(nil)");
	return true;
}

static bool run_address(const struct run *run, const struct print_step *step)
{
	if (step->offset + step->size > run->size)
		return false;
	print_address(run->text, step->form_letter, run->data + step->offset);
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- plugins */

static bool run_comm(const struct run *run, const struct print_step *step)
{
	const char *from = (const char *)run->data + step->offset;

	if (step->offset + step->size > run->size)
		return false;
	print_text_put(run->text, from, strnlen(from, step->size));
	return true;
}

static bool run_state(const struct run *run, const struct print_step *step)
{
	static const char letters[] = "SDTtZXxW";
	bool is_first = true;
	uint64_t state;

	if (!print_value_of(step->value, run->data, run->size, &state))
		return false;
	for (unsigned int i = 0; letters[i]; i++) {
		if (!(state & 1u << i))
			continue;
		if (!is_first)
			print_text_putc(run->text, '|');
		print_text_putc(run->text, letters[i]);
		is_first = false;
	}
	if (is_first)
		print_text_putc(run->text, 'R');
	return true;
}

static bool run_site(const struct run *run, const struct print_step *step)
{
	const struct print_function *function;
	uint64_t address;

	if (!print_value_of(step->value, run->data, run->size, &address))
		return false;
	function = find_function(run->context, address);
	if (!function->name)
		return true;
	print_text_putc(run->text, '(');
	print_text_put(run->text, function->name, function->size);
	print_text_put(run->text, "+0x", 3);
	print_text_hex(run->text, (uint32_t)(address - function->start));
	print_text_put(run->text, ") ", 2);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static inline bool run_decimal(const struct run *run, const struct print_step *step)
{
	const unsigned int unused = 64u - step->bits;
	char digits[PRINT_DIGITS], *end = digits + sizeof(digits), *at;
	uint64_t number;

	if (!print_value_of(step->value, run->data, run->size, &number))
		return false;
	number <<= unused;
	if (step->is_signed && (int64_t)number < 0) {
		at = print_decimal_digits(end, 0 - (uint64_t)((int64_t)number >> unused));
		*--at = '-';
	} else {
		at = print_decimal_digits(end, number >> unused);
	}
	print_text_put(run->text, at, (size_t)(end - at));
	return true;
}

static inline bool run_hex(const struct run *run, const struct print_step *step)
{
	const unsigned int unused = 64u - step->bits;
	char digits[PRINT_DIGITS], *end = digits + sizeof(digits), *at;
	uint64_t number;

	if (!print_value_of(step->value, run->data, run->size, &number))
		return false;
	at = print_hex_digits(end, number << unused >> unused);
	while (end - at < step->how.width)
		*--at = '0';
	print_text_put(run->text, at, (size_t)(end - at));
	return true;
}

static bool run_number(const struct run *run, const struct print_step *step)
{
	uint64_t number;

	if (!print_value_of(step->value, run->data, run->size, &number))
		return false;
	print_text_number(run->text, number, &step->how);
	return true;
}

static bool run_choice(const struct run *run, const struct print_step *step)
{
	uint64_t number;

	if (!print_value_of(step->value, run->data, run->size, &number))
		return false;
	return run_step(run, number ? step->yes : step->no);
}

static bool run_step(const struct run *run, const struct print_step *step)
{
	static bool (*const others[])(const struct run *run, const struct print_step *step) = {
		[PRINT_STEP_NUMBER] = run_number, [PRINT_STEP_FLAGS] = run_flags, [PRINT_STEP_SYMBOL] = run_symbol,
		[PRINT_STEP_BYTES] = run_bytes,	  [PRINT_STEP_ARRAY] = run_array, [PRINT_STEP_MASK] = run_mask,
		[PRINT_STEP_CHOICE] = run_choice, [PRINT_STEP_FUNCTION] = run_function,
		[PRINT_STEP_POINTER] = run_pointer, [PRINT_STEP_ADDRESS] = run_address,
		[PRINT_STEP_COMM] = run_comm,	  [PRINT_STEP_STATE] = run_state, [PRINT_STEP_SITE] = run_site,
	};

	switch (step->kind) {
	case PRINT_STEP_TEXT:
		print_text_put(run->text, step->text, step->text_size);
		return true;
	case PRINT_STEP_DECIMAL:
		return run_decimal(run, step);
	case PRINT_STEP_HEX:
		return run_hex(run, step);
	case PRINT_STEP_FIELD:
		return run_field(run, step);
	case PRINT_STEP_DYNAMIC:
		return run_dynamic(run, step);
	case PRINT_STEP_CONSTANT:
		return put_string(run, &step->form, step->text, step->text_size);
	default:
		return others[step->kind](run, step);
	}
}

bool print_program_run(const struct print_program *program, struct print_context *context, const void *data,
		       uint32_t size, struct print_text *text)
{
	const struct run run = { .context = context, .data = data, .size = size, .text = text };
	const size_t start = text->size;

	for (uint32_t i = 0; i < program->nr; i++) {
		if (!run_step(&run, &program->steps[i])) {
			text->size = start;
			return false;
		}
	}
	return true;
}
