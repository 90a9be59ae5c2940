/* SPDX-License-Identifier: MIT */
#include "filter_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

REC_EVENT(filter, all, u8(a), s8(b), u16(c), s16(d), u32(e), s32(g), u64(h), s64(i), hex32(x), ptr(p), flag(t),
	  real(load, 2), named(op, OP_GET, OP_PUT, OP_DELETE), named(u8, small, OP_GET, OP_PUT), string(path),
	  stringn(sub), bytes(raw), array(u16, list, 3), f32(ratio), f64(wide));

const struct rec_log_event *const filter_event = &rec_blob_filter__all.event;

void filter_record_init(struct filter_record *record)
{
	memset(record, 0, sizeof(*record));
	record->path = record->sub = record->raw = offsetof(struct filter_record, texts) | 1u << 16;
}

void filter_record_text(struct filter_record *record, void *word, const char *text, size_t size)
{
	/* Each of the two fields has a half of the room for texts. */
	const size_t at = word == (void *)&record->path ? 0 : sizeof(record->texts) / 2;
	const uint32_t location = (uint32_t)(offsetof(struct filter_record, texts) + at) | (uint32_t)size << 16;

	memcpy(record->texts + at, text, size);
	memcpy(word, &location, sizeof(location));
}

bool filter_try(const char *text, const struct filter_record *record, uint32_t cpu)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	struct rec_filter_error error;
	const int size = rec_filter_compile(filter_event, text, condition, sizeof(bytes), &error);

	cr_assert_gt(size, 0, "%s: %s (column %u)", text, size == -EINVAL ? error.reason : "", error.column);
	cr_assert_eq((uint32_t)size, condition->size);
	return rec_filter_match(condition, (size_t)size, record, sizeof(*record), cpu);
}
