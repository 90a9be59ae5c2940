/* SPDX-License-Identifier: MIT */
/* One pass of the model (format/model) over a trace, for the tables that are computed from it. */
#ifndef FORMAT_SQL_MODEL_H
#define FORMAT_SQL_MODEL_H

#include "format/io/blob.h"
#include "format/sql/sql_row.h"

/* Gives all items to the sink, whose `arg` is a struct sql_row for the table. 0; -ENOMEM; what the sink returned. */
int sql_model_run(struct sql_trace *trace, struct sql_cells *cells, struct model_sink *sink);

/*
 * Puts a JSON object with the fields of the span's begin and end into an empty blob. If both have a field of one name,
 * that of the end is called "end.NAME"; a key is there once.
 */
void sql_json_span(struct sql_trace *trace, const struct model_span *span, struct blob *out);

#endif
