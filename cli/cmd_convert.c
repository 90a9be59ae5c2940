/* SPDX-License-Identifier: MIT */
/*
 * recorder convert: writes a trace.dat in the other version, compressed or not, or weaves a raw one. Events, times,
 * texts and options do not change; pages are made anew only for --woven.
 */
#include "cli/cmd.h"
#include "cli/common/compression.h"
#include "cli/common/missing_parts.h"
#include "cli/common/output_error.h"
#include "format/dat/dat_compress.h"
#include "format/dat/dat_copy.h"
#include "format/dat/dat_pack.h"
#include "format/dat/dat_woven.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#define COMMAND "convert"
#define DEFAULT "trace.dat"

struct convert {
	const char *input;
	const char *output;
	unsigned int version; /* 6 or 7 */
	int level;	      /* or COMPRESSION_NONE */
	bool woven;
};

/* Report an error. An error with a text concerns the input; any other error concerns the output. */
static int fail(const struct convert *c, int err, const struct dat_error *error)
{
	if (error->text[0])
		complain(COMMAND, "%s: %s", c->input, error->text);
	else
		complain(COMMAND, "cannot write '%s': %s", c->output, output_error(c->output, err));
	return EXIT_FAILURE;
}

/* Report damage and missing parts of the input, which did not end the conversion. */
static int report_damage(const struct convert *c, const struct dat_file *file, uint64_t damaged,
			 const struct dat_error *error)
{
	if (damaged)
		complain(COMMAND, "%s: damaged: events of %" PRIu64 " page%s are missing; page at %" PRIu64 ": %s",
			 c->input, damaged, damaged == 1 ? "" : "s", error->offset, error->text);
	return complain_missing(COMMAND, c->input, file) || damaged ? EXIT_FAILURE : 0;
}

/* Weave a raw file. Damaged pages of the input do not end the conversion. */
static int weave(const struct convert *c, struct dat_copy *copy)
{
	struct dat_error error = { 0 };
	uint64_t damaged = 0;
	struct dat_time time;
	int err;

	if (dat_time_open(copy->file, 0, &time, &error))
		return fail(c, -EBADMSG, &error);
	err = dat_woven(copy, &time, &damaged, &error);
	dat_time_close(&time);
	if (err == -ENODATA) {
		complain(COMMAND, "%s: it is not a raw recording (record --raw): no lane has markers of CPUs",
			 c->input);
		return EXIT_FAILURE;
	}
	if (err) {
		error.text[0] = '\0';
		return fail(c, err, &error);
	}
	return report_damage(c, copy->file, damaged, &error);
}

/* Copy the rest of a cut or unfinished file. Its last page may be incomplete, so pages are made anew. */
static int copy_rest(const struct convert *c, struct dat_copy *copy)
{
	struct dat_error error = { 0 };
	uint64_t damaged = 0;
	int err = dat_copy_events(copy, &damaged, &error);

	if (!err)
		err = dat_copy_finish(copy, NULL);
	if (!err)
		return report_damage(c, copy->file, damaged, &error);
	error.text[0] = '\0';
	return fail(c, err, &error);
}

static int copy_all(const struct convert *c, struct dat_copy *copy)
{
	struct dat_error error = { 0 };
	int err = dat_copy_pages(copy, &error);

	if (!err)
		err = dat_copy_finish(copy, NULL);
	return err ? fail(c, err, &error) : 0;
}

/* Open the input. NULL: one line was printed. */
static struct dat_file *open_input(const struct convert *c)
{
	struct dat_error error = { 0 };
	struct dat_file *file;

	if (dat_open_rest(c->input, dat_compress_zstd(), &file, &error)) {
		complain(COMMAND, "%s: %s", c->input, error.text);
		return NULL;
	}
	return complain_in_place(COMMAND, c->input, file, c->output) ? dat_close(file) : file;
}

static int convert(const struct convert *c)
{
	const struct dat_packing packing = dat_pack_zstd(c->level);
	struct dat_error error = { 0 };
	struct dat_copy copy;
	struct dat_file *file = open_input(c);
	bool is_whole;
	int err, status;

	if (!file)
		return EXIT_FAILURE;
	is_whole = !file->missing.text[0];
	err = dat_copy_open(file, c->output, c->version, c->woven || !is_whole ? DAT_COPY_EVENTS : 0,
			    c->level == COMPRESSION_NONE ? NULL : &packing, NULL, &copy, &error);
	if (err) {
		status = fail(c, err, &error);
	} else {
		status = c->woven ? weave(c, &copy) : is_whole ? copy_all(c, &copy) : copy_rest(c, &copy);
		dat_copy_close(&copy);
	}
	dat_close(file);
	return status;
}

/*
 * Whether the operand names a file other than the default input: most commands read their operand, so a user who names
 * a trace may not want it to be replaced.
 */
static bool is_another_file(const char *operand)
{
	struct stat input, output;

	return !stat(operand, &output) && S_ISREG(output.st_mode) &&
	       (stat(DEFAULT, &input) || input.st_dev != output.st_dev || input.st_ino != output.st_ino);
}

int cmd_convert(int argc, char **argv)
{
	struct convert c = { .input = NULL };
	const char *compression = "any";
	unsigned int version = 1;
	const struct opt table[] = {
		OPT_STRING('i', "input", "FILE", "read FILE (trace.dat)", &c.input),
		OPT_STRING('o', "output", "FILE", "write to FILE; same as the operand", &c.output),
		OPT_CHOICE(0, "file-version", "6|7", "version of the output (7)", &version),
		OPT_STRING(0, "compression", "METHOD", "none, any, zstd, or zstd:LEVEL (any; version 6: none)",
			   &compression),
		OPT_FLAG(0, "woven", "weave a raw recording: put each event on the CPU that it happened on", &c.woven),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[OUTPUT]",
		.about = "Write the events of a trace.dat to OUTPUT, in another version or compression.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (!opts_parse(&opts, argc, argv, &operands, &status))
		return status;
	if (c.output && operands[0]) {
		complain(COMMAND, "both '-o %s' and '%s' name the output", c.output, operands[0]);
		return EXIT_USAGE;
	}
	if (operands[0] && !c.input && is_another_file(operands[0])) {
		complain(COMMAND, "'%s' exists: give it by -i to read it, by -o to replace it", operands[0]);
		return EXIT_USAGE;
	}
	c.input = c.input ? c.input : DEFAULT;
	if (operands[0])
		c.output = operands[0];
	if (!c.output) {
		complain(COMMAND, "missing OUTPUT (see 'recorder convert --help')");
		return EXIT_USAGE;
	}
	if (complain_standard_output(COMMAND, c.output))
		return EXIT_USAGE;
	c.version = version + 6;
	return compression_read(COMMAND, compression, c.version, &c.level) ? convert(&c) : EXIT_USAGE;
}
