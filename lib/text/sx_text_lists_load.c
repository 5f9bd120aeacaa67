/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_lists_load.h"

#include <stdlib.h>
#include <string.h>

#include "text/sx_text.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

/** 10 to the number of digits after the point that count: more would not fit a product with
    2^16. */
#define MAX_SCALE UINT64_C(1000000000000)

/** Bytes of a name that messages have room for. */
#define MAX_NAME "300"

int sx_fixed_read(const char *digits, size_t size, uint32_t *out)
{
	uint64_t whole = 0, fraction = 0, scale = 1, fixed;
	size_t i = 0;

	for (; i < size && digits[i] >= '0' && digits[i] <= '9' && whole < 65536; i++)
		whole = 10 * whole + (uint64_t)(digits[i] - '0');
	if (i == 0 || whole >= 65536)
		return -1;
	if (i < size && digits[i] != '.')
		return -1;
	for (i++; i < size && digits[i] >= '0' && digits[i] <= '9'; i++) {
		if (scale == MAX_SCALE)
			continue;
		fraction = 10 * fraction + (uint64_t)(digits[i] - '0');
		scale *= 10;
	}
	if (i < size)
		return -1;
	fixed = (whole << 16) + ((fraction << 16) + scale / 2) / scale;
	if (fixed > UINT32_MAX)
		return -1;
	*out = (uint32_t)fixed;
	return 0;
}

/* ------------------------------------------------------------------------------------------
 * Lines
 */

/** A list being read. */
struct loading {
	simidx_text *text;
	sx_lists *lists;
	const char *name; /* for messages */
	sx_bytes entry;   /* the tokens of the line, as features have them */
	int joined;       /* with joints */
	unsigned line;
};

static int add_token(void *ctx, const char *bytes, size_t size, simidx_error *err)
{
	static const char joint = SX_JOINT;
	struct loading *l = ctx;
	int rc = SIMIDX_OK;

	if (l->joined && l->entry.n)
		rc = sx_bytes_add(&l->entry, &joint, 1, err);
	return rc ? rc : sx_bytes_add(&l->entry, bytes, size, err);
}

/** Normalise and cut an entry as a text is. Its hash, if it has any token. */
static int hash_entry(struct loading *l, const char *entry, size_t size, uint64_t *hash,
		      simidx_error *err)
{
	int rc;

	l->entry.n = 0;
	rc = sx_text_tokens(l->text, (const uint8_t *)entry, size, add_token, l, err);
	*hash = rc ? 0 : simidx_feature_hash(l->entry.at, l->entry.n);
	return rc;
}

static int add_stop(struct loading *l, const char *line, size_t size, simidx_error *err)
{
	uint64_t hash;
	int rc = hash_entry(l, line, size, &hash, err);

	return rc || !l->entry.n ? rc : sx_dict_set(&l->lists->stop, hash, 0, err);
}

/** "word", or "word frequency tag" of which only the word matters. */
static int add_word(struct loading *l, const char *line, size_t size, simidx_error *err)
{
	uint64_t hash;
	size_t n = 0;
	int rc;

	while (n < size && line[n] != ' ' && line[n] != '\t')
		n++;
	rc = hash_entry(l, line, n, &hash, err);
	if (!rc && l->entry.n > l->lists->longest_word)
		l->lists->longest_word = l->entry.n;
	return rc || !l->entry.n ? rc : sx_dict_set(&l->lists->words, hash, 0, err);
}

/** "word idf". */
static int add_idf(struct loading *l, const char *line, size_t size, simidx_error *err)
{
	uint32_t idf = 0;
	uint64_t hash;
	size_t n = size;
	int rc;

	while (n > 0 && line[n - 1] != ' ' && line[n - 1] != '\t')
		n--;
	if (n < 2 || sx_fixed_read(line + n, size - n, &idf) || idf > SX_DICT_MAX)
		return sx_fail(err, SIMIDX_E_ARG,
			       "%." MAX_NAME "s:%u: expected \"word idf\", with an idf below 65536",
			       l->name, l->line);
	rc = hash_entry(l, line, n - 1, &hash, err);
	return rc || !l->entry.n ? rc : sx_dict_set(&l->lists->idf, hash, idf, err);
}

static int each_line(struct loading *l, const char *data, size_t size, char separator,
		     int (*add)(struct loading *, const char *, size_t, simidx_error *),
		     simidx_error *err)
{
	const char *end = data + size, *next;
	size_t n;
	int rc = SIMIDX_OK;

	/* Editors put it before UTF-8. */
	if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
		data += 3;
	for (l->line = 1; data < end && !rc; data = next + 1, l->line++) {
		next = memchr(data, separator, (size_t)(end - data));
		if (!next)
			next = end;
		n = (size_t)(next - data);
		while (n && (data[n - 1] == '\r' || data[n - 1] == ' ' || data[n - 1] == '\t'))
			n--;
		if (n)
			rc = add(l, data, n, err);
		if (next == end)
			break;
	}
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * Words that carry little meaning of their own. A change here changes fingerprints: it needs
 * another version of the profile.
 */

static const char stop_en[] =
	"a about after all also an and any are as at be been before being but by can could did "
	"do does for from had has have he her here him his how i if in into is it its just may "
	"me more most my no nor not of on one only or other our out over shall she should so "
	"some such than that the their them then there these they this those through to under "
	"until up upon us very was we were what when where which while who whom whose why will "
	"with would you your "
	"aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't it's shouldn't "
	"wasn't weren't won't wouldn't";

static const char stop_zh[] =
	"的 了 着 过 地 得 之 们 是 在 有 和 与 及 或 而 且 但 并 也 都 又 还 就 才 再 很 更 最 不 没 没有 "
	"我 你 他 她 它 我们 你们 他们 她们 它们 自己 这 那 这个 那个 这些 那些 这样 那样 此 其 某 每 各 "
	"一 一个 一些 一种 上 下 中 里 内 外 前 后 从 自 到 对 对于 关于 由 由于 被 把 将 向 往 为 为了 因 "
	"因为 所以 因此 如果 虽然 但是 而且 并且 或者 以及 以 于 用 给 让 使 可以 能 会 要 应 应该 等 等等 "
	"吗 呢 吧 啊 呀 什么 怎么 谁 哪 几 多 些 个 种 次 则 即 若 却 只 仅 所 者";

/* ------------------------------------------------------------------------------------------
 * All lists
 */

static int compare_values(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/** The middle one of all values, of an even number the upper one of the two, as jieba does. */
static int find_median(struct loading *l, simidx_error *err)
{
	const sx_dict *idf = &l->lists->idf;
	uint32_t *value = sx_calloc(idf->n + 1, sizeof(*value));
	size_t i, n = 0;

	if (!value)
		return sx_fail_nomem(err);
	for (i = 0; i < idf->n_slots; i++)
		if (idf->slot[i].weight)
			value[n++] = idf->slot[i].weight - 1;
	if (n)
		qsort(value, n, sizeof(*value), compare_values);
	l->lists->median = value[n / 2];
	free(value);
	return n ? SIMIDX_OK
		 : sx_fail(err, SIMIDX_E_ARG, "%." MAX_NAME "s: the dictionary is empty", l->name);
}

static int load_idf(struct loading *l, const sx_given *idf, simidx_error *err)
{
	int rc;

	l->name = idf->name;
	l->joined = 1;
	rc = each_line(l, idf->data, idf->size, '\n', add_idf, err);
	l->joined = 0;
	return rc ? rc : find_median(l, err);
}

static int load_all(struct loading *l, const sx_settings *s, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (s->stop & SX_STOP_EN)
		rc = each_line(l, stop_en, strlen(stop_en), ' ', add_stop, err);
	if (!rc && s->stop & SX_STOP_ZH)
		rc = each_line(l, stop_zh, strlen(stop_zh), ' ', add_stop, err);
	if (!rc && s->stop_words.data)
		rc = each_line(l, s->stop_words.data, s->stop_words.size, '\n', add_stop, err);
	if (!rc && s->words.data)
		rc = each_line(l, s->words.data, s->words.size, '\n', add_word, err);
	if (!rc && s->idf.data)
		rc = load_idf(l, &s->idf, err);
	return rc;
}

int sx_lists_load(simidx_text *text, sx_lists **out, simidx_error *err)
{
	struct loading l = { .text = text };
	int rc;

	*out = NULL;
	l.lists = sx_calloc(1, sizeof(*l.lists));
	if (!l.lists)
		return sx_fail_nomem(err);
	atomic_init(&l.lists->users, 1);
	rc = load_all(&l, &text->settings, err);
	free(l.entry.at);
	if (rc)
		sx_lists_release(l.lists);
	else
		*out = l.lists;
	return rc;
}
