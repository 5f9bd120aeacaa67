/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Some rows of an Arrow array as an array of their own: what stays of a batch. Buffers are copied;
 * dictionaries, and the bytes of views, are shared.
 */

#include "py_arrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an array that was made here owns. */
struct owned {
	struct arrow_held *held; /* whose dictionary or bytes it shares */
	void *buffer[3];         /* made here */
	const void **buffers;    /* all of them */
};

/* Rows of one array to another one. */
struct job {
	struct arrow_held *held;
	char *reason;
};

static int take(const struct job *job, const struct ArrowSchema *schema,
		const struct ArrowArray *from, const int64_t *rows, int64_t n,
		struct ArrowArray *to);

static void release(struct ArrowArray *array)
{
	struct owned *owned = array->private_data;

	arrow_release_children(array);
	for (size_t i = 0; i < 3; i++)
		free(owned->buffer[i]);
	free(owned->buffers);
	arrow_drop(owned->held);
	free(owned);
}

/* An array without buffers; what it is made of is added. */
static int begin(const struct job *job, const struct ArrowArray *from, int64_t n,
		 struct ArrowArray *to)
{
	struct owned *owned = calloc(1, sizeof(*owned));

	*to = (struct ArrowArray){ .length = n, .n_buffers = from->n_buffers,
				   .n_children = from->n_children, .private_data = owned };
	if (!owned)
		return -1;
	owned->held = arrow_keep(job->held);
	owned->buffers = calloc((size_t)from->n_buffers + 1, sizeof(*owned->buffers));
	to->buffers = owned->buffers;
	to->children = calloc((size_t)from->n_children + 1, sizeof(*to->children));
	to->release = release;
	if (owned->buffers && to->children)
		return 0;
	release(to);
	return -1;
}

/* Room for a buffer; more than none, so that it is never NULL. */
static void *add_buffer(struct ArrowArray *to, size_t i, size_t size)
{
	struct owned *owned = to->private_data;

	owned->buffer[i] = calloc(1, size + 8);
	owned->buffers[i] = owned->buffer[i];
	return owned->buffer[i];
}

static int take_bits(const void *bits, int64_t offset, const int64_t *rows, int64_t n,
		     struct ArrowArray *to, size_t i, int64_t *n_unset)
{
	uint8_t *out = add_buffer(to, i, (size_t)n / 8 + 1);

	for (int64_t k = 0; out && k < n; k++) {
		int is_set = arrow_is_set(bits, offset + rows[k]);

		out[k / 8] = (uint8_t)(out[k / 8] | is_set << (k % 8));
		*n_unset += !is_set;
	}
	return out ? 0 : -1;
}

static int take_nulls(const struct ArrowArray *from, const int64_t *rows, int64_t n,
		      struct ArrowArray *to)
{
	if (!from->n_buffers || !from->null_count || !from->buffers[0])
		return 0;
	return take_bits(from->buffers[0], from->offset, rows, n, to, 0, &to->null_count);
}

static int take_fixed(const struct ArrowArray *from, size_t width, const int64_t *rows, int64_t n,
		      struct ArrowArray *to)
{
	const char *in = (const char *)from->buffers[1] + (size_t)from->offset * width;
	char *out = add_buffer(to, 1, (size_t)n * width);

	for (int64_t k = 0; out && k < n; k++)
		memcpy(out + (size_t)k * width, in + (size_t)rows[k] * width, width);
	return out ? 0 : -1;
}

/* Where an element of a list, or a string, begins; its number may be one beyond the last. */
static int64_t start(const struct ArrowArray *from, int is_large, int64_t i)
{
	i += from->offset;
	return is_large ? ((const int64_t *)from->buffers[1])[i]
			: ((const int32_t *)from->buffers[1])[i];
}

/* The offsets of the rows that are taken. Returns the number of elements, or -1. */
static int64_t take_offsets(const struct ArrowArray *from, int is_large, const int64_t *rows,
			    int64_t n, struct ArrowArray *to)
{
	void *out = add_buffer(to, 1, (size_t)(n + 1) * (is_large ? 8 : 4));
	int64_t at = 0;

	for (int64_t k = 0; out && k < n; k++) {
		at += start(from, is_large, rows[k] + 1) - start(from, is_large, rows[k]);
		if (is_large)
			((int64_t *)out)[k + 1] = at;
		else
			((int32_t *)out)[k + 1] = (int32_t)at;
	}
	return out ? at : -1;
}

static int take_strings(const struct ArrowArray *from, int is_large, const int64_t *rows,
			int64_t n, struct ArrowArray *to)
{
	int64_t size = take_offsets(from, is_large, rows, n, to);
	char *out = size < 0 ? NULL : add_buffer(to, 2, (size_t)size);

	for (int64_t k = 0; out && k < n; k++) {
		int64_t first = start(from, is_large, rows[k]);
		int64_t end = start(from, is_large, rows[k] + 1);

		if (end > first)
			memcpy(out, (const char *)from->buffers[2] + first, (size_t)(end - first));
		out += end - first;
	}
	return out ? 0 : -1;
}

/* Of views: 16 bytes each. The bytes that they point to, and the sizes of these, are shared. */
static int take_views(const struct ArrowArray *from, const int64_t *rows, int64_t n,
		      struct ArrowArray *to)
{
	for (int64_t i = 2; i < from->n_buffers; i++)
		to->buffers[i] = from->buffers[i];
	return take_fixed(from, 16, rows, n, to);
}

static int take_child(const struct job *job, const struct ArrowSchema *schema,
		      const struct ArrowArray *from, int64_t i, const int64_t *rows, int64_t n,
		      struct ArrowArray *to)
{
	to->children[i] = calloc(1, sizeof(*to));
	return to->children[i] ? take(job, schema->children[i], from->children[i], rows, n,
				      to->children[i])
			       : -1;
}

/* Elements of lists: `width` for each row, or as many as the offsets say. */
static int take_elements(const struct job *job, const struct ArrowSchema *schema,
			 const struct ArrowArray *from, int is_large, int64_t width,
			 const int64_t *rows, int64_t n, struct ArrowArray *to)
{
	int64_t all = width < 0 ? take_offsets(from, is_large, rows, n, to) : n * width, at = 0;
	int64_t *elements = all < 0 ? NULL : malloc(((size_t)all + 1) * sizeof(*elements));
	int rc;

	if (!elements)
		return -1;
	for (int64_t k = 0; k < n; k++) {
		int64_t first = width < 0 ? start(from, is_large, rows[k])
					  : (from->offset + rows[k]) * width;
		int64_t end = width < 0 ? start(from, is_large, rows[k] + 1) : first + width;

		while (first < end)
			elements[at++] = first++;
	}
	rc = take_child(job, schema, from, 0, elements, all, to);
	free(elements);
	return rc;
}

static int take_struct(const struct job *job, const struct ArrowSchema *schema,
		       const struct ArrowArray *from, const int64_t *rows, int64_t n,
		       struct ArrowArray *to)
{
	int64_t *moved = malloc(((size_t)n + 1) * sizeof(*moved));
	int rc = moved ? 0 : -1;

	for (int64_t k = 0; !rc && k < n; k++)
		moved[k] = from->offset + rows[k];
	for (int64_t i = 0; !rc && i < from->n_children; i++)
		rc = take_child(job, schema, from, i, moved, n, to);
	free(moved);
	return rc;
}

/* Bytes of a value; 0 = it has no fixed width, or a type that is not known. */
static size_t width_of(const char *format)
{
	static const char *const widths[] = { "", "cC", "sSe", "", "iIf", "", "", "", "lLg" };
	const char *bits = strrchr(format, ',');

	for (size_t width = 1; width < 9; width++)
		if (format[0] && !format[1] && strchr(widths[width], format[0]))
			return width;
	if (format[0] == 'w' && format[1] == ':')
		return (size_t)atoi(format + 2);
	/* d:PRECISION,SCALE or d:PRECISION,SCALE,BITS */
	if (format[0] == 'd')
		return bits && strchr(format, ',') != bits ? (size_t)atoi(bits + 1) / 8 : 16;
	if (format[0] != 't')
		return 0;
	if (strncmp(format, "tdD", 3) == 0 || strncmp(format, "tts", 3) == 0 ||
	    strncmp(format, "ttm", 3) == 0 || strncmp(format, "tiM", 3) == 0)
		return 4;
	return strncmp(format, "tin", 3) == 0 ? 16 : 8;
}

static int take_values(const struct job *job, const struct ArrowSchema *schema,
		       const struct ArrowArray *from, const int64_t *rows, int64_t n,
		       struct ArrowArray *to)
{
	const char *format = schema->format;
	size_t width = width_of(format);
	int64_t unset = 0;

	if (width)
		return take_fixed(from, width, rows, n, to);
	if (strcmp(format, "n") == 0)
		to->null_count = n;
	else if (strcmp(format, "b") == 0)
		return take_bits(from->buffers[1], from->offset, rows, n, to, 1, &unset);
	else if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0)
		return take_strings(from, 0, rows, n, to);
	else if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0)
		return take_strings(from, 1, rows, n, to);
	else if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0)
		return take_views(from, rows, n, to);
	else if (strcmp(format, "+l") == 0 || strcmp(format, "+m") == 0)
		return take_elements(job, schema, from, 0, -1, rows, n, to);
	else if (strcmp(format, "+L") == 0)
		return take_elements(job, schema, from, 1, -1, rows, n, to);
	else if (strncmp(format, "+w:", 3) == 0)
		return take_elements(job, schema, from, 0, atoll(format + 3), rows, n, to);
	else if (strcmp(format, "+s") == 0)
		return take_struct(job, schema, from, rows, n, to);
	else {
		snprintf(job->reason, 160, "column \"%.60s\" has the Arrow type \"%.40s\", "
			 "of which no rows can be taken", schema->name ? schema->name : "", format);
		return -1;
	}
	return 0;
}

static int take(const struct job *job, const struct ArrowSchema *schema,
		const struct ArrowArray *from, const int64_t *rows, int64_t n,
		struct ArrowArray *to)
{
	int rc;

	if (begin(job, from, n, to))
		return -1;
	rc = take_nulls(from, rows, n, to);
	if (!rc)
		rc = take_values(job, schema, from, rows, n, to);
	if (!rc && from->dictionary) {
		to->dictionary = calloc(1, sizeof(*to));
		rc = to->dictionary ? arrow_share(job->held, from->dictionary, to->dictionary) : -1;
	}
	if (rc)
		release(to);
	return rc;
}

int arrow_take(struct arrow_held *held, const struct ArrowSchema *schema,
	       const struct ArrowArray *from, const int64_t *rows, int64_t n,
	       struct ArrowArray *to, char reason[160])
{
	const struct job job = { held, reason };

	*reason = '\0';
	return take(&job, schema, from, rows, n, to);
}
