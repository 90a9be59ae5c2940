/* SPDX-License-Identifier: MIT */
/*
 * recorder view: shows a trace.dat as a picture, in one HTML file that opens in any browser without network; or shows
 * running programs and the kernel in a page that follows them.
 */
#include "cli/cmd.h"
#include "cli/common/missing_parts.h"
#include "cli/common/output_error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask/why_overlay.h"
#include "cli/base/base_name.h"
#include "cli/programs/show_programs.h"
#include "cli/record/kernel_options.h"
#include "cli/view/view_file.h"
#include "cli/view/view_page.h"
#include "cli/view/view_serve.h"
#include "format/io/out_file.h"

#define COMMAND "view"

/* A page can have 30 MB, and base64 makes four bytes of three. The page itself needs less than 0.2 MB. */
#define ROOM (22u << 20)

struct page_file {
	struct out_file out;
	uint64_t written;
	int error;
};

static int flush(struct page_file *page, struct blob *bytes)
{
	if (!page->error)
		page->error = bytes->error ? bytes->error
					   : out_write_at(page->out.fd, bytes->data, bytes->size, page->written);
	page->written += bytes->size;
	blob_free(bytes);
	return page->error;
}

static int write_block(void *arg, const void *block, size_t size)
{
	struct blob bytes = BLOB_INIT;

	view_page_block(&bytes, block, size);
	return flush(arg, &bytes);
}

static int write_page(struct page_file *page, const struct view_request *request, struct view_result *ret_result)
{
	const struct view_sink sink = { .block = write_block, .arg = page, .effort = 6 };
	struct blob bytes = BLOB_INIT;
	int err;

	view_page_begin(&bytes, 0);
	err = flush(page, &bytes);
	if (!err)
		err = view_file(request, &sink, ret_result);
	if (!err) {
		view_page_finish(&bytes);
		err = flush(page, &bytes);
	}
	return err;
}

/* The page for trace.dat is trace.html; the page for any other X is X.html. */
static char *name_of_page(const char *path)
{
	const size_t size = strlen(path);
	const bool dat = size > 4 && !strcmp(path + size - 4, ".dat");
	char *name;

	return asprintf(&name, "%.*s.html", (int)(dat ? size - 4 : size), path) < 0 ? NULL : name;
}

static int run(const struct view_request *request, const char *output)
{
	struct page_file page = { .written = 0 };
	struct view_result result = { .damaged = 0 };
	int err = out_file_open(output, &page.out);

	if (err) {
		complain(COMMAND, "cannot write '%s': %s", output, output_error(output, err));
		return EXIT_FAILURE;
	}
	err = write_page(&page, request, &result);
	if (err)
		out_file_abandon(&page.out);
	else
		err = page.error = out_file_commit(&page.out);
	if (page.error)
		complain(COMMAND, "cannot write '%s': %s", output, strerror(-page.error));
	else if (err)
		complain(COMMAND, "%s: %s", request->path, result.error.text);
	else if (result.left_out)
		complain(COMMAND, "%s: the fields of %" PRIu64 " events are left out of '%s', which would be too large",
			 request->path, result.left_out, output);
	if (!err)
		complain_given_up(COMMAND, request->path, result.given_up);
	/* The page was written, but events are missing from it. */
	if (!err && result.damaged)
		complain_damaged(COMMAND, request->path, result.damaged, result.cpu, &result.error);
	if (!err && result.missing.text[0])
		complain(COMMAND, "%s: %s; the rest of the file was read", request->path, result.missing.text);
	return err || result.damaged || result.missing.text[0] ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The trace is read for the overlay first, so that an existing output is not replaced if there is no such span. */
static int show_file(struct view_request *request, struct why_wanted *why, const char *output)
{
	struct overlay overlay = { 0 };
	char *name = output ? strdup(output) : name_of_page(request->path);
	int status = name ? 0 : EXIT_FAILURE;

	if (!name)
		complain(COMMAND, "not enough memory");
	else if (complain_replaces_input(COMMAND, request->path, name))
		status = EXIT_USAGE;
	why->slowest = why->slowest ? why->slowest : 1;
	if (!status && why->span) {
		status = why_overlay_read(COMMAND, request->path, 0, why, &overlay);
		request->overlay = &overlay;
	}
	if (!status)
		status = run(request, name);
	why_overlay_free(&overlay);
	free(name);
	return status;
}

/* Show running programs. Returns the exit status. */
static int show_running(struct view_live *live, const struct opt_list *events, const char *address)
{
	struct kernel_request *const requests[] = { &live->request };
	struct opt_list rest = { NULL, NULL, 0 };
	int status = EXIT_FAILURE;

	if (kernel_options_events(COMMAND, events, requests, &rest)) {
		if (rest.nr)
			complain(COMMAND, "a filter (-f) needs an -e before it");
		status = rest.nr ? EXIT_USAGE : view_serve(live, address);
	}
	opt_list_free(&rest);
	kernel_request_free(&live->request);
	return status;
}

/* Whether the command line contradicts itself, in which case one line was printed. */
static bool is_wrong(const struct view_live *live, const struct why_wanted *why, const struct opt_list *events,
		     bool serve, const char *output)
{
	const char *wrong = NULL;

	if (!serve && output && complain_standard_output(COMMAND, output))
		return true;
	if (serve && output)
		complain(COMMAND, "--serve writes no file: '-o %s' cannot be used with it", output);
	else if (!serve && live->programs.word)
		wrong = "-P needs --serve";
	else if (!serve && live->programs.dir)
		wrong = "--dir needs --serve";
	else if (!serve && events->nr)
		wrong = "-e and -f need --serve";
	else if (serve && why->span)
		wrong = "--why needs the whole trace: it cannot be used with --serve; record a FILE first";
	else if (why->slowest && !why->span)
		wrong = "--slowest needs --why SYSTEM:NAME";
	if (wrong)
		complain(COMMAND, "%s", wrong);
	return wrong || (serve && output);
}

int cmd_view(int argc, char **argv)
{
	struct view_request request = { .room = ROOM };
	struct view_live live = { .dir = "" };
	struct why_wanted why = { .slowest = 0 };
	bool serve = false;
	struct opt_list events = { NULL, NULL, 0 };
	const char *output = NULL;
	const struct opt table[] = {
		OPT_STRING('o', "output", "OUT.html", "write to OUT.html (by default FILE with the ending .html)",
			   &output),
		OPT_FLAG(0, "serve", "show running programs in a page at ADDR:PORT (127.0.0.1 and a free port)",
			 &serve),
		OPT_LIST('e', "event", "EVENT",
			 "with --serve: also the kernel's EVENT: system:event, system, event; * and ?; all", &events),
		OPT_LIST('f', "filter", "FILTER", "only events of the -e before it that match FILTER", &events),
		OPT_STRING('P', "pid", "PROGRAM",
			   "with --serve: these running programs: pids separated by commas, or a name",
			   &live.programs.word),
		OPT_PROGRAMS_DIR(live.programs),
		OPT_STRING(0, "why", "SPAN",
			   "show what took the time of the slowest of these spans: system:name, or name", &why.span),
		OPT_NUMBER(0, "slowest", "N", 1, UINT32_MAX, "with --why: show the N that took longest; default 1",
			   &why.slowest),
		OPT_FLAG('N', NULL, "do not load libtraceevent's plugins", &request.no_plugins),
		OPT_END,
	};
	const struct opts opts = {
		.command = COMMAND,
		.operands = "[FILE | ADDR:PORT]",
		.about =
			"Write FILE (by default trace.dat) as a picture: one HTML file that any browser opens, without "
			"network.\n"
			"With --serve, show running programs in a browser on this machine, as they record.\n",
		.table = table,
		.max_operands = 1,
	};
	char **operands;
	int status;

	if (opts_parse(&opts, argc, argv, &operands, &status)) {
		live.no_plugins = request.no_plugins;
		request.path = operands[0] ? operands[0] : "trace.dat";
		request.shown = base_name(request.path);
		if (is_wrong(&live, &why, &events, serve, output))
			status = EXIT_USAGE;
		else if (serve)
			status = show_running(&live, &events, operands[0]);
		else
			status = show_file(&request, &why, output);
	}
	opt_list_free(&events);
	return status;
}
