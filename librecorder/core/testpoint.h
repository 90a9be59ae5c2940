/* SPDX-License-Identifier: MIT */
/*
 * Labels for tests: points where a process can be stopped or killed, immediately after a side-effect that another
 * process may observe.
 *
 * REC_TESTPOINT(name) adds no byte to the loaded program. It is an assembler label; the section REC_TESTPOINTS of the
 * object has its address (8 bytes, as linked) and its name (terminated by NUL). A point in an inline function occurs
 * once for each copy. Because of the beginning of the section's name, linkers, strip and garbage collection treat the
 * section as debugging information. So a copy in discarded code is not an error but has an address near 0, and a
 * stripped program has no points. (The name does not begin with ".debug_", because some tools take such sections for
 * DWARF's own.)
 *
 * The compiler moves no memory access across a point: stores that precede it in the source precede it in the program.
 * tests/crash/ uses the points; tests/compile/testpoints.sh shows that they cost nothing.
 *
 * This header is not installed: in programs that are built with the public headers alone, the inline functions have no
 * points (librecorder/detail/ring.h). Here the compiler's options include it in every file, before any other.
 */
#ifndef LIBRECORDER_CORE_TESTPOINT_H
#define LIBRECORDER_CORE_TESTPOINT_H

#define REC_TESTPOINTS ".debug.rec_testpoints"

/* Without `inline`, a compiler counts each line of assembler as an instruction when it decides what to inline. */
#if defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 9
#define REC_TESTPOINT_ASM __asm__ __volatile__ __inline__
#else
#define REC_TESTPOINT_ASM __asm__ __volatile__
#endif

#define REC_TESTPOINT_TEXT(name)                                                                                       \
	"771:\n\t.pushsection " REC_TESTPOINTS ",\"\"\n\t.8byte 771b\n\t.asciz \"" #name "\"\n\t.popsection"

#if defined(__ELF__) && __SIZEOF_POINTER__ == 8
#define REC_TESTPOINT(name) REC_TESTPOINT_ASM(REC_TESTPOINT_TEXT(name) : : : "memory")
#endif

#endif
