/* SPDX-License-Identifier: MIT */
/* The descriptions of pages and events in the files that dat_make.c makes. */
#include "dat_out.h"

#include <stdio.h>

#define COMMON                                                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                                 \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FORMAT(name, id, fields, print) "name: " name "\nID: " id "\nformat:\n" COMMON fields "\nprint fmt: " print "\n"

#define FIELD(type, name, offset, size, is_signed)                                                                     \
	"\tfield:" type " " name ";\toffset:" offset ";\tsize:" size ";\tsigned:" is_signed ";\n"

static const char format_submit[] = FORMAT("submit", "16384",
	FIELD("u64", "id", "8", "8", "0") FIELD("s32", "fd", "16", "4", "1")
	FIELD("__data_loc char[]", "path", "20", "4", "0"),
	"\"id=%llu fd=%d path=%s\", REC->id, REC->fd, __get_str(path)");
static const char format_tick[] = FORMAT("a_name_longer_than_twenty_characters", "16385",
	FIELD("u64", "n", "8", "8", "0"), "\"n=%llu\", REC->n");
static const char format_kinds[] = FORMAT("kinds", "16386",
	FIELD("u8", "a", "8", "1", "0") FIELD("s8", "b", "9", "1", "1") FIELD("u16", "c", "10", "2", "0")
	FIELD("s16", "d", "12", "2", "1") FIELD("u32", "e", "14", "4", "0") FIELD("s32", "f", "18", "4", "1")
	FIELD("u64", "g", "22", "8", "0") FIELD("s64", "h", "30", "8", "1") FIELD("void *", "p", "38", "8", "0")
	FIELD("char", "name[16]", "46", "16", "0") FIELD("u32", "v[4]", "62", "16", "0"),
	"\"a=%u b=%d c=%u d=%d e=%u f=%d g=%llu h=%lld x=0x%llx p=%p name=%s v=%s state=%s flags=%s\", REC->a, "
	"REC->b, REC->c, REC->d, REC->e, REC->f, REC->g, REC->h, REC->g, REC->p, REC->name, "
	"__print_array(REC->v, 4, 4), __print_symbolic(REC->a, { 0, \"zero\" }, { 1, \"one\" }, { 2, \"two\" }), "
	"__print_flags(REC->e, \"|\", { 1, \"A\" }, { 2, \"B\" }, { 4, \"C\" })");
static const char format_bytes[] = FORMAT("bytes", "16387",
	FIELD("__data_loc u8[]", "data", "8", "4", "0") FIELD("u32", "n", "12", "4", "0"),
	"\"n=%u data=%s sum=%d\", REC->n, __print_hex(__get_dynamic_array(data), __get_dynamic_array_len(data)), "
	"REC->n * 2 + 1");
static const char format_bad[] =
	FORMAT("bad", "16388", FIELD("u64", "n", "8", "8", "0"), "\"n=%llu\", no_such_call(REC->n)");
static const char format_noprint[] = FORMAT("empty", "16389", FIELD("u32", "n", "8", "4", "0"), "");
static const char format_switch[] = FORMAT("sched_switch", "300",
	FIELD("char", "prev_comm[16]", "8", "16", "0") FIELD("pid_t", "prev_pid", "24", "4", "1")
	FIELD("int", "prev_prio", "28", "4", "1") FIELD("long", "prev_state", "32", "8", "1")
	FIELD("char", "next_comm[16]", "40", "16", "0") FIELD("pid_t", "next_pid", "56", "4", "1")
	FIELD("int", "next_prio", "60", "4", "1"),
	"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
	"REC->prev_comm, REC->prev_pid, REC->prev_prio, __print_flags(REC->prev_state, \"|\", { 1, \"S\" }), "
	"REC->next_comm, REC->next_pid, REC->next_prio");
static const char format_print[] = FORMAT("print", "5",
	FIELD("unsigned long", "ip", "8", "8", "0") FIELD("char", "buf[]", "16", "0", "0"),
	"\"%ps: %s\", (void *)REC->ip, REC->buf");
static const char format_function[] = FORMAT("function", "1",
	FIELD("unsigned long", "ip", "8", "8", "0") FIELD("unsigned long", "parent_ip", "16", "8", "0"),
	"\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip");
static const char format_stack[] = FORMAT(
	"kernel_stack", "4", FIELD("int", "size", "8", "4", "1") FIELD("unsigned long", "caller[8]", "16", "64", "0"),
	"\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> "
	"%ps\\n\","
	"(void *)REC->caller[0],(void *)REC->caller[1],(void *)REC->caller[2],(void *)REC->caller[3],"
	"(void *)REC->caller[4],(void *)REC->caller[5],(void *)REC->caller[6],(void *)REC->caller[7]");
static const char format_bprint[] = FORMAT("bprint", "6",
	FIELD("unsigned long", "ip", "8", "8", "0") FIELD("const char *", "fmt", "16", "8", "0")
	FIELD("u32", "buf[]", "24", "0", "0"), "\"%ps: %s\", (void *)REC->ip, REC->fmt");

void put_header_info(struct out *o)
{
	unsigned int word = o->what->long_size;
	char text[400];

	snprintf(text, sizeof(text),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		 word, 8 + word, o->what->page_size - 8 - word);
	out_put(o, "header_page", 12);
	out_blob(o, text, 8);
	out_put(o, "header_event", 13);
	out_blob(o, o->what->flags & MAKE_BARE ? "" : "# compressed entry header\n\ttype_len    :    5 bits\n", 8);
}

void put_ftrace_events(struct out *o)
{
	const char *const formats[] = { format_function, format_stack, format_print, format_bprint };
	unsigned int count = o->what->flags & MAKE_BARE ? 0 : sizeof(formats) / sizeof(formats[0]);

	out_number(o, count, 4);
	for (unsigned int i = 0; i < count; i++)
		out_blob(o, formats[i], 8);
}

void put_event_formats(struct out *o)
{
	out_number(o, 3, 4);
	out_string(o, "io");
	out_number(o, 2, 4);
	out_blob(o, format_submit, 8);
	out_blob(o, format_tick, 8);
	out_string(o, "test");
	out_number(o, 4, 4);
	out_blob(o, format_kinds, 8);
	out_blob(o, format_bytes, 8);
	out_blob(o, format_bad, 8);
	out_blob(o, format_noprint, 8);
	out_string(o, "sched");
	out_number(o, 1, 4);
	out_blob(o, format_switch, 8);
}

static const char kallsyms[] =
	"ffffffff81000000 T do_one\nffffffff81000100 t do_two\t[mod]\nffffffff81000200 T do_three\n";
static const char printk[] = "0xffffffff82000000 : \"x=%d s=%s\\n\"\n";
static const char cmdlines[] = "1001 worker\n1002 a name with spaces and very long\n1003 sh\n";

/* The length has as many bytes as the format gives it. */
static void put_text(struct out *o, const char *text, unsigned int size_of_size)
{
	out_blob(o, o->what->flags & MAKE_BARE ? "" : text, size_of_size);
}

void put_kallsyms(struct out *o)
{
	put_text(o, kallsyms, 4);
}

void put_printk(struct out *o)
{
	put_text(o, printk, 4);
}

void put_cmdlines(struct out *o)
{
	put_text(o, cmdlines, 8);
}
