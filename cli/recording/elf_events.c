/* SPDX-License-Identifier: MIT */
/* See elf_events.h. */
#include "cli/recording/elf_events.h"
#include "cli/recording/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_NAME "rec_events"

/* More than ten thousand events of the longest possible declaration. */
#define SECTION_MAX (UINT64_C(64) << 20)

static bool has_name(const struct elf *elf, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	char text[sizeof(SECTION_NAME)];

	if (section->sh_name > names->sh_size || sizeof(text) > names->sh_size - section->sh_name ||
	    names->sh_offset > elf->size)
		return false;
	return !elf_read(elf, text, sizeof(text), names->sh_offset + section->sh_name) &&
	       !memcmp(text, SECTION_NAME, sizeof(text));
}

/* Append a section's content to the log. */
static int add_section(const struct elf *elf, const Elf64_Shdr *section, unsigned char **log, size_t *log_size)
{
	/* An object file has several such sections; each begins aligned, as in a log. */
	const size_t room = (section->sh_size + 7) & ~(size_t)7;
	unsigned char *larger;
	int err;

	if (section->sh_offset > elf->size || section->sh_size > elf->size - section->sh_offset)
		return -EBADMSG;
	if (section->sh_size > SECTION_MAX || *log_size + room > SECTION_MAX)
		return -EFBIG;
	if (!room)
		return 0;
	larger = realloc(*log, *log_size + room);
	if (!larger)
		return -ENOMEM;
	*log = larger;
	memset(larger + *log_size, 0, room);
	err = elf_read(elf, larger + *log_size, (size_t)section->sh_size, section->sh_offset);
	if (!err)
		*log_size += room;
	return err;
}

static int read_sections(const struct elf *elf, unsigned char **log, size_t *log_size)
{
	Elf64_Shdr names, section;
	int err;

	err = elf_section(elf, elf->names, &names);
	for (uint64_t i = 1; !err && i < elf->nr; i++) {
		err = elf_section(elf, i, &section);
		if (!err && section.sh_type == SHT_PROGBITS && has_name(elf, &names, &section))
			err = add_section(elf, &section, log, log_size);
	}
	return err;
}

int elf_events_read(const char *path, void **ret_log, size_t *ret_size)
{
	unsigned char *log = NULL;
	size_t size = 0;
	struct elf elf;
	int err = elf_open(path, &elf);

	if (err)
		return err;
	err = read_sections(&elf, &log, &size);
	if (!err && !size)
		err = -ENODATA;
	elf_close(&elf);
	if (err) {
		free(log);
		return err;
	}
	*ret_log = log;
	*ret_size = size;
	return 0;
}
