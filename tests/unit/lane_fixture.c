/* SPDX-License-Identifier: MIT */
#include "lane_fixture.h"

#include <criterion/criterion.h>

struct rec_handle *lane;
struct rec_view *view;

void lane_begin(unsigned int pages, bool discard)
{
	reader_begin(pages, discard);
	lane = reader_lane();
	view = reader_view();
}

void view_begin(unsigned int pages)
{
	reader_begin(pages, false);
	view = reader_view();
}

void lane_end(void)
{
	view = rec_view_close(view);
	reader_end();
}

void lane_write(uint64_t from, uint64_t to, uint32_t size)
{
	for (; from < to; from++)
		cr_assert(reader_write(lane, from, size));
}
