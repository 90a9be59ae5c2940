/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace.dat with librecorder-dat: prints the first records with their fields, and counts all.
 *
 *	08_read_trace FILE [RECORDS]
 */
#include <librecorder/dat.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_field(const struct rec_dat_field *field, const struct rec_dat_record *record)
{
	struct rec_dat_field_info info;
	const void *data;
	size_t size;
	int64_t number;
	double real;

	rec_dat_field_describe(field, &info);
	if (info.kind == REC_DAT_INT && !rec_dat_get_int(field, record, &number)) {
		if (info.is_signed)
			printf(" %s=%" PRId64, info.name, number);
		else
			printf(" %s=%" PRIu64, info.name, (uint64_t)number);
	} else if (info.kind == REC_DAT_FLOAT && !rec_dat_get_float(field, record, &real)) {
		printf(" %s=%g", info.name, real);
	} else if (info.kind == REC_DAT_TEXT && !rec_dat_get_bytes(field, record, &data, &size)) {
		printf(" %s=%.*s", info.name, (int)size, (const char *)data);
	} else if (info.kind == REC_DAT_BYTES && !rec_dat_get_bytes(field, record, &data, &size)) {
		printf(" %s=(%zu bytes)", info.name, size);
	}
}

static void print_record(const struct rec_dat *dat, const struct rec_dat_record *record)
{
	const struct rec_dat_event *event = rec_dat_event_find(dat, record->id);
	const char *comm = rec_dat_comm(dat, record->tid);
	const struct rec_dat_field *field;

	printf("%" PRIu64 " cpu=%" PRIu32 " %s-%" PRId32 " ", record->ts, record->cpu, comm ? comm : "?", record->tid);
	if (!event) {
		printf("unknown event %" PRId32 "\n", record->id);
		return;
	}
	printf("%s/%s", rec_dat_event_system(event), rec_dat_event_name(event));
	for (uint32_t i = 0; (field = rec_dat_field_at(event, i)); i++)
		print_field(field, record);
	printf("\n");
}

int main(int argc, char **argv)
{
	const uint64_t wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
	struct rec_dat_error error;
	struct rec_dat_record record;
	struct rec_dat_iter *iter;
	struct rec_dat *dat;
	uint64_t nr = 0, damaged;
	int missing;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE [RECORDS]\n", argv[0]);
		return 2;
	}
	if (rec_dat_open(argv[1], &dat, &error)) {
		fprintf(stderr, "%s: at byte %" PRIu64 ": %s\n", argv[1], error.offset, error.text);
		return 1;
	}
	if (rec_dat_iter_open(dat, &iter)) {
		fprintf(stderr, "%s: not enough memory\n", argv[1]);
		rec_dat_close(dat);
		return 1;
	}
	while (rec_dat_iter_next(iter, &record))
		if (nr++ < wanted)
			print_record(dat, &record);
	printf("%" PRIu64 " records\n", nr);
	damaged = rec_dat_iter_damaged(iter, &error);
	if (damaged)
		fprintf(stderr, "%s: %" PRIu64 " damaged pages, the first at byte %" PRIu64 ": %s\n", argv[1], damaged,
			error.offset, error.text);
	missing = rec_dat_missing(dat, &error);
	if (missing)
		fprintf(stderr, "%s: a part of it is missing: %s\n", argv[1], error.text);
	rec_dat_iter_close(iter);
	rec_dat_close(dat);
	return missing || damaged;
}
