/* SPDX-License-Identifier: MIT */
/* The bounded cursor reads the right values, and never moves beyond the end. */
#include "format/io/bytes.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char data[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 'n', 'a', 'm', 'e', 0, 'x' };

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("bytes", MFD_CLOEXEC);

	cr_assert(fd >= 0);
	cr_assert_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	return fd;
}

Test(bytes, numbers_in_both_orders)
{
	struct bytes b;

	bytes_from_memory(&b, data, sizeof(data), false);
	cr_expect_eq(bytes_u8(&b), 1);
	cr_expect_eq(bytes_u16(&b), 0x0302);
	cr_expect_eq(bytes_u32(&b), 0x07060504u);
	bytes_from_memory(&b, data, sizeof(data), true);
	cr_expect_eq(bytes_u64(&b), UINT64_C(0x0102030405060708));
	cr_expect_eq(bytes_left(&b), sizeof(data) - 8);
	cr_expect_eq(b.error, 0);
}

Test(bytes, an_error_stays)
{
	struct bytes b;

	bytes_from_memory(&b, data, 7, false);
	cr_expect_eq(bytes_u32(&b), 0x04030201u);
	cr_expect_eq(bytes_u32(&b), 0u, "three bytes are no u32");
	cr_expect_eq(b.error, -EBADMSG);
	cr_expect_eq(bytes_u8(&b), 0, "though three bytes are left");
	cr_expect_eq(bytes_left(&b), 0u);
	cr_expect_eq(b.pos, 4u);
	cr_expect_null(bytes_blob(&b, 0));
}

Test(bytes, sizes_are_checked_before_memory_is_had)
{
	struct bytes b;
	char *blob;

	bytes_from_memory(&b, data, sizeof(data), false);
	cr_expect_null(bytes_blob(&b, UINT64_MAX));
	cr_expect_eq(b.error, -EBADMSG);
	bytes_from_memory(&b, data, sizeof(data), false);
	bytes_skip(&b, UINT64_MAX);
	cr_expect_eq(b.error, -EBADMSG);
	bytes_from_memory(&b, data, sizeof(data), false);
	bytes_skip(&b, 8);
	blob = bytes_blob(&b, 4);
	cr_expect_str_eq(blob, "name", "a NUL follows a blob");
	free(blob);
}

Test(bytes, strings)
{
	struct bytes b;
	char *name;

	bytes_from_memory(&b, data, sizeof(data), false);
	bytes_skip(&b, 8);
	name = bytes_string(&b, 10);
	cr_expect_str_eq(name, "name");
	cr_expect_eq(b.pos, 13u);
	free(name);
	cr_expect_null(bytes_string(&b, 10), "x has no NUL");
	cr_expect_eq(b.error, -EBADMSG);
	bytes_from_memory(&b, data, sizeof(data), false);
	bytes_skip(&b, 8);
	cr_expect_null(bytes_string(&b, 3), "longer than allowed");
}

Test(bytes, match_steps_over_or_stays)
{
	struct bytes b;

	bytes_from_memory(&b, data, sizeof(data), false);
	cr_expect_not(bytes_match(&b, "\1\2\4", 3));
	cr_expect_eq(b.pos, 0u);
	cr_expect(bytes_match(&b, "\1\2\3", 3));
	cr_expect_eq(b.pos, 3u);
	cr_expect_not(bytes_match(&b, data + 3, sizeof(data)), "more than there is");
	cr_expect_eq(b.error, 0);
}

Test(bytes, a_file_reads_as_memory_does)
{
	unsigned char big[3 * BYTES_WINDOW];
	struct bytes f, m;
	int fd;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (unsigned char)(i * 7 + i / 256);
	fd = file_of(big, sizeof(big));
	bytes_from_file(&f, fd, 1, sizeof(big), true);
	bytes_from_memory(&m, big, sizeof(big), true);
	bytes_skip(&m, 1);
	/* Odd widths, so that numbers lie across the ends of windows. */
	for (unsigned int i = 0; bytes_left(&m) >= 8; i++) {
		if (i % 3 == 0)
			cr_assert_eq(bytes_u8(&f), bytes_u8(&m));
		else if (i % 3 == 1)
			cr_assert_eq(bytes_u64(&f), bytes_u64(&m));
		else
			cr_assert_eq(bytes_u16(&f), bytes_u16(&m));
	}
	cr_expect_eq(f.pos, m.pos);
	cr_expect_eq(f.error, 0);
	close(fd);
}

Test(bytes, a_file_that_shrinks_ends_early)
{
	char zeros[64] = "";
	int fd = file_of(zeros, sizeof(zeros));
	struct bytes b;

	bytes_from_file(&b, fd, 0, sizeof(zeros), false);
	cr_assert_eq(ftruncate(fd, 10), 0);
	bytes_u64(&b);
	bytes_u64(&b);
	cr_expect_eq(b.error, -EBADMSG);
	close(fd);
}

Test(bytes, the_reason_of_a_failed_read)
{
	struct bytes b;

	bytes_from_file(&b, 1 << 20, 0, 64, false);
	bytes_u64(&b);
	cr_expect_eq(b.error, -EBADF);
}
