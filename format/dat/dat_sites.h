/* SPDX-License-Identifier: MIT */
/*
 * Addresses of call sites of rec_printf, which the texts PRINTK and KALLSYMS have among those of the kernel. They are
 * not canonical on x86-64 or arm64, so no code is at these addresses; their first three bytes are "rec".
 */
#ifndef FORMAT_DAT_SITES_H
#define FORMAT_DAT_SITES_H

#include <stdbool.h>
#include <stdint.h>

#define DAT_SITE_BASE UINT64_C(0x7265630000000000)
#define DAT_SITE_STEP UINT64_C(16) /* the distance between two sites: large enough for each to be a symbol of its own */

static inline bool dat_is_site(uint64_t address)
{
	return address >> 40 == DAT_SITE_BASE >> 40;
}

#endif
