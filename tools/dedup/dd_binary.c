/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_binary.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* What is read at once. */
#define BLOCK ((size_t)256 << 10)

/* For one.same: no other file has its bytes, as far as is known. */
#define NO_OTHER UINT32_MAX

/* A file. */
struct one {
	uint64_t size, number;
	XXH128_hash_t hash; /* where three or more have its size */
	uint32_t file;
	uint32_t same;      /* the first file of those with its bytes, or NO_OTHER */
};

/* A file that is read again. */
struct again {
	struct one *one;
	int fd;
	unsigned char *block;
	size_t n; /* bytes in it; 0 = the file ends */
};

static const struct in_format format_binary = { .name = "binary", .is_whole = 1 };

void dd_binary_free(struct dd_binary *binary)
{
	free(binary->ones.bytes);
	free(binary->block[0]);
	free(binary->block[1]);
}

/* They are sorted in the end, for which qsort() may need two pointers each. */
size_t dd_binary_bytes(void)
{
	return sizeof(struct one) + 2 * sizeof(void *);
}

int dd_binary_add(struct dd_binary *binary, uint32_t file, uint64_t number)
{
	struct one *one;

	if (in_room_have(&binary->ones, (binary->n + 1) * sizeof(*one)))
		return tl_error("out of memory");
	one = (struct one *)binary->ones.bytes + binary->n++;
	*one = (struct one){ .size = dd_files_size(binary->work->files, file), .number = number,
			     .file = file, .same = NO_OTHER };
	dd_files_set_format(binary->work->files, file, &format_binary);
	return 0;
}

/* ---- reading them again ---- */

/* It cannot be compared: it is no document any more, and has no number. */
static void lose(struct dd_binary *binary, struct one *one, const char *what, const char *why)
{
	char reason[256];

	snprintf(reason, sizeof(reason), "%s%s", what, why);
	dd_report_reject(binary->report, dd_files_path(binary->work->files, one->file),
			 reason);
	binary->report->documents--;
	binary->report->binary--;
	one->number = 0;
}

/* Whether it is what was met before. Otherwise it is lost. */
static int is_as_met(struct dd_binary *binary, const struct again *again)
{
	if (dd_files_state(binary->work->files, again->one->file, again->fd) == DD_AS_READ)
		return 1;
	lose(binary, again->one, "has changed since it was found", "");
	return 0;
}

/* Returns whether it is open; otherwise it is lost. */
static int open_again(struct dd_binary *binary, struct one *one, int seat, struct again *again)
{
	const char *path = dd_files_path(binary->work->files, one->file);

	/* A pipe in its place would have nobody at its other end. */
	*again = (struct again){ one, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
				 binary->block[seat], 0 };
	if (again->fd < 0)
		lose(binary, one, "cannot open: ", strerror(errno));
	return again->fd >= 0 && is_as_met(binary, again);
}

/* Read a block of it. Returns whether that was possible; otherwise it is lost. */
static int read_block(struct dd_binary *binary, struct again *again)
{
	ssize_t n = 1;

	for (again->n = 0; again->n < BLOCK && n; again->n += n < 0 ? 0 : (size_t)n) {
		n = read(again->fd, again->block + again->n, BLOCK - again->n);
		if (n < 0 && errno != EINTR) {
			lose(binary, again->one, "cannot read: ", strerror(errno));
			return 0;
		}
	}
	return 1;
}

static void close_again(const struct again *again)
{
	if (again->fd >= 0)
		close(again->fd);
}

static int show_progress(struct dd_binary *binary)
{
	if (tl_stop_requested())
		return tl_error("stopped by a signal");
	if (tl_progress_due(&binary->shown))
		tl_progress_show("%s of %s files that are no texts compared",
				 tl_count(binary->n_read), tl_count(binary->n));
	return 0;
}

/* Returns 0, or TL_TROUBLE with a message. What cannot be read is lost. */
static int hash_file(struct dd_binary *binary, struct one *one)
{
	struct again again;
	XXH3_state_t state;
	int can_read = open_again(binary, one, 0, &again), code = 0;

	XXH3_128bits_reset(&state);
	while (can_read && !(code = show_progress(binary))) {
		can_read = read_block(binary, &again);
		if (can_read && !again.n)
			break;
		XXH3_128bits_update(&state, again.block, again.n);
	}
	if (can_read && !code)
		is_as_met(binary, &again);
	close_again(&again);
	one->hash = XXH3_128bits_digest(&state);
	return code;
}

/* Compare two, byte by byte. Returns 0, or TL_TROUBLE with a message. What cannot be read is
   lost. */
static int compare_files(struct dd_binary *binary, struct one *a, struct one *b, int *is_same)
{
	struct again x = { .fd = -1 }, y = { .fd = -1 };
	int can_read = open_again(binary, a, 0, &x) && open_again(binary, b, 1, &y), code = 0;

	*is_same = 0;
	while (can_read && !(code = show_progress(binary))) {
		can_read = read_block(binary, &x) && read_block(binary, &y);
		if (!can_read || x.n != y.n || memcmp(x.block, y.block, x.n) != 0)
			break;
		if (!x.n) {
			*is_same = 1;
			break;
		}
	}
	/* While they were read, both were what is going to be printed. */
	if (*is_same)
		*is_same = is_as_met(binary, &x) && is_as_met(binary, &y);
	close_again(&x);
	close_again(&y);
	return code;
}

/* ---- which are the same ---- */

static int compare_sizes(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

static int compare_hashes(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	int order = XXH128_cmp(&x->hash, &y->hash);

	if (order)
		return order;
	return x->file < y->file ? -1 : x->file > y->file;
}

static int compare_same(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->same != y->same)
		return x->same < y->same ? -1 : 1;
	return x->file < y->file ? -1 : x->file > y->file;
}

/* Files of one hash, or two of one size. The first of those that are the same is compared with the
   others; a hash that others have by chance takes more comparisons, and changes nothing. */
static int prove(struct dd_binary *binary, struct one *one, size_t n)
{
	int code = 0, is_same;

	for (size_t i = 0; i + 1 < n; i++) {
		if (one[i].same != NO_OTHER)
			continue;
		for (size_t k = i + 1; !code && k < n && one[i].number; k++) {
			if (one[k].same != NO_OTHER || !one[k].number)
				continue;
			code = compare_files(binary, &one[i], &one[k], &is_same);
			if (!code && is_same)
				one[i].same = one[k].same = one[i].file;
		}
	}
	return code;
}

/* Files of one size. Of two a hash would say no more than the comparison. */
static int search_size(struct dd_binary *binary, struct one *one, size_t n)
{
	size_t next;
	int code = 0;

	if (n == 2)
		return prove(binary, one, n);
	for (size_t i = 0; !code && i < n; i++) {
		binary->n_read++;
		code = hash_file(binary, &one[i]);
	}
	qsort(one, n, sizeof(*one), compare_hashes);
	for (size_t i = 0; !code && i < n; i = next) {
		for (next = i + 1; next < n && XXH128_isEqual(one[i].hash, one[next].hash);)
			next++;
		code = prove(binary, &one[i], next - i);
	}
	return code;
}

/* As if it were a text: the first of a group is kept, and the others are near to it. */
static int hand_over(struct dd_binary *binary, struct dd_output *output, const struct one *one)
{
	const struct in_row given = { .text_size = (size_t)one->size };
	struct dd_extra extra = { .name = { one->number, 0, one->file }, .id = SIMIDX_NO_ID };
	simidx_dedup_near near = { .keeper = dd_output_last_kept(output), .similarity = 1,
				   .flags = SIMIDX_DEDUP_EQUAL };
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

	extra.key = dd_keep_key(&binary->work->options->keep, &given, binary->work->files,
				one->file);
	row.text_size = given.text_size;
	row.extra = &extra;
	row.extra_size = sizeof(extra);
	return one->same == one->file ? dd_output_decided(output, &row, NULL, 0) :
					dd_output_decided(output, &row, &near, 1);
}

int dd_binary_find(struct dd_binary *binary, struct dd_output *output)
{
	struct one *one = binary->ones.bytes;
	size_t n = binary->n, next;
	int code = 0, has_first = 0;

	if (n < 2)
		return 0;
	for (int i = 0; i < 2; i++)
		if (!(binary->block[i] = malloc(BLOCK)))
			return tl_error("out of memory");
	qsort(one, n, sizeof(*one), compare_sizes);
	for (size_t i = 0; !code && i < n; i = next) {
		for (next = i + 1; next < n && one[next].size == one[i].size;)
			next++;
		if (next - i > 1)
			code = search_size(binary, &one[i], next - i);
		binary->n_read = next;
	}
	qsort(one, n, sizeof(*one), compare_same);
	for (size_t i = 0; !code && i < n && one[i].same != NO_OTHER; i++) {
		/* It may be lost while it is compared with more. */
		if (one[i].same == one[i].file)
			has_first = one[i].number != 0;
		if (has_first)
			code = hand_over(binary, output, &one[i]);
	}
	return code;
}
