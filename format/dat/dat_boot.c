/* SPDX-License-Identifier: MIT */
/*
 * Reads what trace-cmd 3.4 adds to a file: the kernel's BTF, its modules, and, for a ring that outlived a boot, the
 * addresses of kernel and modules in that boot. The addresses in such a ring are those of the boot that wrote it, but
 * kallsyms has those of the boot that read it. So symbols are moved by the difference.
 */
#include "format/dat/dat_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 4096u /* the most modules; machines have some hundred */
#define LINE_MORE  20u	 /* the characters of an address */

/* ----------------------------------------------------------------------------------------------------- contents */

/* Whether the option is the place of a section of its own. */
static bool has_section(const struct dat_file *file, const struct dat_option *option, uint64_t *ret_offset)
{
	struct bytes b;

	if (file->version != 7 || option->size != sizeof(uint64_t))
		return false;
	bytes_from_memory(&b, option->data, option->size, file->big);
	*ret_offset = bytes_u64(&b);
	bytes_from_file(&b, file->fd, *ret_offset, file->size, file->big);
	return bytes_u16(&b) == option->id && !b.error;
}

/* The number of bytes before the contents: some sections begin with the size of the rest, in eight bytes or in four. */
static size_t size_of_prefix(const char *data, size_t size, bool big)
{
	if (size >= 8 && bytes_get64(data, big) == size - 8)
		return 8;
	return size >= 4 && bytes_get32(data, big) == size - 4 ? 4 : 0;
}

static int read_section(struct dat_file *file, unsigned int id, uint64_t offset, struct dat_text *ret_text,
			struct dat_error *error)
{
	char *plain = NULL;
	struct bytes b;
	size_t prefix;
	int err = dat_open_section(file, offset, id, &b, &plain, error);

	if (!err) {
		ret_text->offset = plain ? 0 : b.pos;
		ret_text->size = (size_t)bytes_left(&b);
		ret_text->text = bytes_blob(&b, ret_text->size);
		err = ret_text->text ? 0 : dat_fail_bytes(error, file, &b, dat_id_name(id));
	}
	free(plain);
	if (err)
		return err;
	prefix = size_of_prefix(ret_text->text, ret_text->size, file->big);
	memmove(ret_text->text, ret_text->text + prefix, ret_text->size - prefix + 1);
	ret_text->size -= prefix;
	ret_text->offset += ret_text->offset ? prefix : 0;
	return 0;
}

static int read_part(struct dat_file *file, const struct dat_option *option, struct dat_error *error)
{
	struct dat_part *parts = dat_grow(file->parts, file->nr_parts, sizeof(*parts));
	struct dat_part part = { .id = option->id };
	uint64_t offset;
	int err = 0;

	if (!parts)
		return dat_fail(error, -ENOMEM, option->offset, "not enough memory for options");
	file->parts = parts;
	if (has_section(file, option, &offset)) {
		err = read_section(file, option->id, offset, &part.text, error);
	} else {
		part.text = (struct dat_text){ .size = option->size, .offset = option->offset };
		part.text.text = malloc(option->size + 1u);
		if (!part.text.text)
			return dat_fail(error, -ENOMEM, option->offset, "not enough memory for options");
		memcpy(part.text.text, option->data, option->size);
		part.text.text[option->size] = '\0';
	}
	if (err) {
		free(part.text.text);
		return dat_missing(file, err, error);
	}
	parts[file->nr_parts++] = part;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ symbols */

/* A module, or the kernel, and its address. The name is not terminated by a NUL. */
struct place {
	const char *name;
	size_t length;
	uint64_t address;
};

struct places {
	uint32_t nr;
	struct place all[PLACES_MAX];
};

struct moves {
	struct places before, now;
	uint64_t kernel; /* the kernel's former address minus its present one */
	const struct place *last_before, *last_now; /* the module found last: the symbols of a module are adjacent */
};

static const char *word_end(const char *at)
{
	while (*at && !isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *next_word(const char *at)
{
	at = word_end(at);
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

static void add_place(struct places *places, const char *name, const char *address)
{
	struct place place = { .name = name, .length = (size_t)(word_end(name) - name) };
	char *end;

	place.address = strtoull(address, &end, 16);
	if (end != address && place.length && places->nr < PLACES_MAX)
		places->all[places->nr++] = place;
}

static const struct place *find_place(const struct places *places, const struct place *last, const char *name,
				      size_t length)
{
	if (last && last->length == length && !memcmp(last->name, name, length))
		return last;
	for (uint32_t i = 0; i < places->nr; i++)
		if (places->all[i].length == length && !memcmp(places->all[i].name, name, length))
			return &places->all[i];
	return NULL;
}

/* Read "ffffffff81000000 [kernel]", then a module on each line; or "# Current", if the ring is of this boot. */
static void read_before(struct places *places, const char *text)
{
	for (; *text; text = next_line(text))
		if (isxdigit((unsigned char)*text))
			add_place(places, next_word(text), text);
}

/* Read lines as in /proc/modules: "name size users dependencies state 0xaddress". */
static void read_now(struct places *places, const char *text)
{
	for (; *text; text = next_line(text)) {
		const char *address = text;

		for (unsigned int i = 0; i < 5; i++)
			address = next_word(address);
		add_place(places, text, address);
	}
}

/* Find the address of the kernel's first byte in this boot. */
static bool find_kernel(const char *symbols, uint64_t *ret_address)
{
	for (; *symbols; symbols = next_line(symbols)) {
		const char *name = next_word(next_word(symbols));

		if (word_end(name) - name == 5 && !memcmp(name, "_text", 5)) {
			*ret_address = strtoull(symbols, NULL, 16);
			return true;
		}
	}
	return false;
}

/* Find the distance by which to move the symbol of a line. False: its former address is unknown. */
static bool distance(struct moves *m, const char *line, uint64_t *ret_distance)
{
	const char *module = next_word(next_word(next_word(line)));
	size_t length;

	*ret_distance = m->kernel;
	if (*module != '[')
		return true;
	length = strcspn(++module, "]\n");
	m->last_before = find_place(&m->before, m->last_before, module, length);
	m->last_now = find_place(&m->now, m->last_now, module, length);
	if (!m->last_before || !m->last_now)
		return false;
	*ret_distance = m->last_before->address - m->last_now->address;
	return true;
}

/*
 * Add a name for each module that is gone, at its first address. The names of its functions are unknown; without this,
 * they would get the name of the function before them.
 */
static void name_modules(const struct moves *m, struct dat_text *to)
{
	for (uint32_t i = 0; i < m->before.nr; i++) {
		const struct place *place = &m->before.all[i];

		if (place->name[0] != '[' && !find_place(&m->now, NULL, place->name, place->length))
			to->size += (size_t)sprintf(to->text + to->size, "%016llx t %.*s\t[%.*s]\n",
						    (unsigned long long)place->address, (int)place->length, place->name,
						    (int)place->length, place->name);
	}
}

static int move_symbols(struct dat_file *file, struct moves *m)
{
	const char *line = file->kallsyms.text;
	struct dat_text *to = &file->boot_symbols;
	size_t room = file->kallsyms.size + LINE_MORE;
	uint64_t by;

	for (const char *at = line; *at; at = next_line(at))
		room += LINE_MORE;
	for (uint32_t i = 0; i < m->before.nr; i++)
		room += 2 * m->before.all[i].length + 2 * LINE_MORE;
	to->text = malloc(room);
	if (!to->text)
		return -ENOMEM;
	for (to->size = 0; *line; line = next_line(line)) {
		const char *rest = word_end(line);
		const size_t length = strcspn(rest, "\n");

		if (!isxdigit((unsigned char)*line) || !distance(m, line, &by))
			continue;
		to->size += (size_t)sprintf(to->text + to->size, "%016llx%.*s\n",
					    strtoull(line, NULL, 16) + (unsigned long long)by, (int)length, rest);
	}
	to->text[to->size] = '\0';
	name_modules(m, to);
	return 0;
}

static int find_symbols(struct dat_file *file)
{
	const struct place *kernel;
	struct moves *m;
	uint64_t now;
	int err = 0;

	if (!file->kallsyms.text || !(m = calloc(1, sizeof(*m))))
		return file->kallsyms.text ? -ENOMEM : 0;
	for (size_t i = 0; i < file->nr_parts; i++) {
		if (file->parts[i].id == DAT_LAST_BOOT_INFO)
			read_before(&m->before, file->parts[i].text.text);
		if (file->parts[i].id == DAT_MODULES_FILE)
			read_now(&m->now, file->parts[i].text.text);
	}
	kernel = find_place(&m->before, NULL, "[kernel]", 8);
	if (kernel && find_kernel(file->kallsyms.text, &now)) {
		m->kernel = kernel->address - now;
		err = move_symbols(file, m);
	}
	free(m);
	return err;
}

int dat_read_parts(struct dat_file *file, struct dat_error *error)
{
	int err = 0;

	/* Only the first option of each kind is used: a file that repeats them must not fill the memory. */
	for (unsigned int id = DAT_BTF_FILE; !err && id <= DAT_MODULES_FILE; id++) {
		const struct dat_option *option = dat_option(file, id);

		if (option)
			err = read_part(file, option, error);
	}
	if (!err && file->nr_parts)
		err = dat_fail(error, find_symbols(file), 0, "not enough memory for symbols");
	return err;
}
