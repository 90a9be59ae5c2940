/* SPDX-License-Identifier: MIT */
#include "resize_fixture.h"
#include "librecorder/core/atomic.h"
#include "librecorder/process/lane_private.h"
#include "librecorder/process/process.h"

#include <criterion/criterion.h>
#include <librecorder/event.h>
#include <librecorder/reader.h>
#include <string.h>

uint32_t lane_pages(unsigned int lane)
{
	return rec_lane_at(lane)->nr_subbufs - 1;
}

int lane_resize(unsigned int lane, uint32_t to)
{
	return rec_lane_resize(lane, to * 4080ul);
}

void lane_ask(uint32_t to)
{
	struct rec_handle *handle = rec_thread_handle;

	rec_store_relaxed(&handle->wanted_size, to * 4080ul);
	rec_fence_full();
	rec_gate_close(handle);
}

static unsigned int lane_of_worker;

static void find_lane(struct worker *worker)
{
	(void)worker;
	lane_of_worker = numbered_lane();
}

unsigned int worker_lane(unsigned int i)
{
	worker_do(i, find_lane, 0);
	return lane_of_worker;
}

void expect_lane(unsigned int lane, uint64_t first, unsigned int events)
{
	struct rec_view *view = NULL;
	struct rec_view_event event;
	uint64_t number;

	cr_assert_eq(rec_view_open(rec_process_path(), &view), 0);
	for (; events--; first++) {
		cr_assert_eq(rec_view_consume(view, lane, &event), 1, "event %d of lane %u", (int)first, lane);
		memcpy(&number, (const unsigned char *)event.record.payload + REC_EVENT_COMMON_SIZE, sizeof(number));
		cr_assert_eq(number, first);
		cr_assert_eq(event.lost, 0);
	}
	cr_assert_eq(rec_view_consume(view, lane, &event), 0);
	rec_view_close(view);
}
