/* SPDX-License-Identifier: MIT */
/*
 * Labels for tests: where a process can be stopped or killed, right behind a side-effect that another one may
 * observe.
 *
 * REC_TESTPOINT(name) is not one byte of what is loaded. It is an assembler label, and in the section REC_TESTPOINTS
 * of the object its address (8 bytes, as linked) and its name (ended by NUL). A point in an inline function is there
 * once for each copy. Linkers, strip and garbage collection take the section for debugging information by its name's
 * beginning, so a copy in discarded code is no error but an address of 0 or so, and a stripped program has no points.
 * (The name does not begin with ".debug_", which some tools take for DWARF's own.)
 *
 * The compiler moves no memory access across a point: what stands before it in the source was stored before it in the
 * program. tests/crash/ uses them; tests/compile/testpoints.sh shows that they cost nothing.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>"
#endif
#ifndef LIBRECORDER_TESTPOINT_H
#define LIBRECORDER_TESTPOINT_H

#define REC_TESTPOINTS ".debug.rec_testpoints"

/* Without `inline` a compiler takes each line of assembler for an instruction when it decides what to inline. */
#if defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 9
#define REC_TESTPOINT_ASM __asm__ __volatile__ __inline__
#else
#define REC_TESTPOINT_ASM __asm__ __volatile__
#endif

#define REC_TESTPOINT_TEXT(name)                                                                                       \
	"771:\n\t.pushsection " REC_TESTPOINTS ",\"\"\n\t.8byte 771b\n\t.asciz \"" #name "\"\n\t.popsection"

/* Defined before: somebody's own, as in tests/model. REC_NO_TESTPOINTS: none. */
#ifndef REC_TESTPOINT
#if defined(__ELF__) && __SIZEOF_POINTER__ == 8 && !defined(REC_NO_TESTPOINTS)
#define REC_TESTPOINT(name) REC_TESTPOINT_ASM(REC_TESTPOINT_TEXT(name) : : : "memory")
#else
#define REC_TESTPOINT(name) ((void)0)
#endif
#endif

#endif
