/* SPDX-License-Identifier: MIT */
/* Part of a program: compiled several times, as C or C++, each time with another PART. */
#include "event_kinds.h"

#ifndef PART
#define PART part_c
#endif
#define QUOTE(x)  QUOTE_(x)
#define QUOTE_(x) #x

/* An event of this file alone, and one that has the same name in each file but another shape. */
REC_EVENT(part, PART, u32(n));
#ifdef __cplusplus
REC_EVENT(part, differs, u64(n));
namespace inside
{
REC_EVENT(part, in_namespace, u32(n));
static void write()
{
	REC(part, in_namespace, 3);
}
}
extern "C" unsigned int PART(void);
#else
REC_EVENT(part, differs_c, u16(n));
unsigned int PART(void);
#endif

/* Writes its events; returns the id of one that all parts know. */
unsigned int PART(void)
{
	kinds_write(QUOTE(PART));
#ifdef __cplusplus
	REC(part, differs, 1);
	inside::write();
#else
	REC(part, differs_c, 1);
#endif
	return rec_event_kinds__one.id;
}
