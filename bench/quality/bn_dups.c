/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Judges what `simidx-dedup --stream --dups` has decided about the rows of a file, by the texts of
 * all rows. --help says how.
 */

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_options.h"
#include "bn_util.h"
#include "dedup/sd_shingles.h"

struct bench {
	const char *text_field, *similarity_text;
	double similarity;
};

/* A row; those that were kept are listed by each of their shingles. */
struct row {
	struct sd_shingles set;
	uint64_t of;      /* left out, as it is near to this row, from 1; 0 = kept */
	double told;      /* how near it is said to be; below 0: not told */
	uint32_t shared;  /* with the row that is being judged */
};

/* A kept row in the list of a shingle. */
struct entry {
	uint32_t row, next; /* the next one, from 1 */
};

struct judge {
	const struct bench *bench;
	struct row *rows;
	size_t n, room;
	uint64_t *key;      /* shingles; the slot is free where `first` is 0 */
	uint32_t *first;
	uint64_t n_slots;
	struct entry *entry;
	uint32_t n_entries;
	uint32_t *touched;  /* rows that share a shingle with the one that is judged */
};

struct verdict {
	uint64_t left_out, wrongly, kept, let_through, misnamed, mistold;
};

/* ---- reading ---- */

static void read_rows(struct judge *j, const char *path)
{
	struct sd_shingler *shingler;
	FILE *file = fopen(path, "r");
	simidx_error err;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!file)
		bn_die("%s: cannot open", path);
	bn_check(sd_shingler_open(&shingler, &err), &err, "shingles");
	while ((n = getline(&line, &room, file)) > 0) {
		json_t *json = json_loadb(line, (size_t)n, JSON_ALLOW_NUL, NULL);
		json_t *text = json_object_get(json, j->bench->text_field);

		if (!json_is_string(text))
			bn_die("%s: line %zu: expected an object with a string "
			       "\"%s\"", path, j->n + 1,
			       j->bench->text_field);
		if (j->n == j->room) {
			j->room = j->room ? 2 * j->room : 4096;
			j->rows = realloc(j->rows, j->room * sizeof(*j->rows));
			if (!j->rows)
				bn_die("out of memory");
		}
		memset(&j->rows[j->n], 0, sizeof(*j->rows));
		bn_check(sd_shingles_make(shingler, json_string_value(text),
					  json_string_length(text), &j->rows[j->n].set, &err),
			 &err, path);
		j->n++;
		json_decref(json);
	}
	free(line);
	fclose(file);
	sd_shingler_close(shingler);
}

/* The line of "PATH:LINE". */
static uint64_t line_of(const char *place)
{
	const char *colon = strrchr(place, ':');

	return colon ? strtoull(colon + 1, NULL, 10) : 0;
}

/* Lines "SIMILARITY	PATH:LINE	PATH:LINE". */
static void read_dups(struct judge *j, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *end;
	size_t room = 0;

	if (!file)
		bn_die("%s: cannot open", path);
	while (getline(&line, &room, file) > 0) {
		const char *told = strtok(line, "\t\n"), *what = strtok(NULL, "\t\n");
		const char *of = strtok(NULL, "\t\n");
		uint64_t row = what ? line_of(what) : 0, other = of ? line_of(of) : 0;

		if (!row || row > j->n || !other || other >= row || j->rows[row - 1].of)
			bn_die("%s: not what simidx-dedup --dups has written about these "
			       "rows", path);
		j->rows[row - 1].of = other;
		j->rows[row - 1].told = strtod(told, &end);
		if (end == told)
			j->rows[row - 1].told = strcmp(told, "same") == 0 ? 100 : -1;
	}
	free(line);
	fclose(file);
}

/* ---- judging ---- */

static uint32_t *find(struct judge *j, uint64_t shingle)
{
	uint64_t i = bn_mix(shingle) & (j->n_slots - 1);

	while (j->first[i] && j->key[i] != shingle)
		i = (i + 1) & (j->n_slots - 1);
	j->key[i] = shingle;
	return &j->first[i];
}

static void prepare(struct judge *j)
{
	uint64_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += j->rows[i].set.n;
	if (n >= UINT32_MAX)
		bn_die("too many rows");
	for (j->n_slots = 1024; j->n_slots < 2 * n;)
		j->n_slots *= 2;
	j->key = bn_alloc(j->n_slots, sizeof(*j->key));
	j->first = bn_alloc(j->n_slots, sizeof(*j->first));
	j->entry = bn_alloc(n + 1, sizeof(*j->entry));
	j->touched = bn_alloc(j->n, sizeof(*j->touched));
}

/* Whether a kept row before it is similar: all that share a shingle are looked at. */
static int has_similar(struct judge *j, size_t i)
{
	const struct sd_shingles *set = &j->rows[i].set;
	size_t n = 0;
	int found = 0;

	for (size_t k = 0; k < set->n; k++)
		for (uint32_t at = *find(j, set->hash[k]); at; at = j->entry[at].next) {
			uint32_t other = j->entry[at].row;

			if (!j->rows[other].shared++)
				j->touched[n++] = other;
		}
	while (n-- > 0) {
		struct row *other = &j->rows[j->touched[n]];
		double either = (double)(set->n + other->set.n - other->shared);

		found |= other->shared / either >= j->bench->similarity;
		other->shared = 0;
	}
	return found;
}

static void list(struct judge *j, size_t i)
{
	const struct sd_shingles *set = &j->rows[i].set;

	for (size_t k = 0; k < set->n; k++) {
		uint32_t *first = find(j, set->hash[k]);

		j->entry[++j->n_entries] = (struct entry){ (uint32_t)i, *first };
		*first = j->n_entries;
	}
}

static struct verdict judge_rows(struct judge *j)
{
	struct verdict v = { 0 };

	for (size_t i = 0; i < j->n; i++) {
		const struct row *row = &j->rows[i];
		int similar = has_similar(j, i);
		double is;

		if (!row->of) {
			v.kept++;
			v.let_through += (uint64_t)similar;
			list(j, i);
			continue;
		}
		is = sd_shingles_jaccard(&row->set, &j->rows[row->of - 1].set);
		v.left_out++;
		v.wrongly += !similar;
		v.misnamed += j->rows[row->of - 1].of != 0 || is < j->bench->similarity;
		v.mistold += row->told >= 0 && fabs(row->told - floor(1000 * is) / 10) > 0.01;
	}
	return v;
}

/* ---- the program ---- */

static const char figures[] =
	"\n"
	"Members of the line:\n"
	"  rows, kept, left_out  what was decided\n"
	"  wrongly          rows that were left out, and are similar to no kept row before them\n"
	"  misnamed         rows that were left out for a row that they are not similar to, or "
	"that is\n"
	"                   not kept\n"
	"  mistold          rows of which another similarity than that to this row is told, in "
	"percent,\n"
	"                   rounded down to one digit after the point\n"
	"  let_through      rows that were kept, and are similar to a kept row before them\n"
	"  let_through_share  of all rows that are similar to a kept row before them\n";

static int parse(struct bench *b, int argc, char **argv)
{
	const struct bn_option options[] = {
		{ 0, "similarity", "S", BN_TEXT, &b->similarity_text,
		  "as given to simidx-dedup (0.8)" },
		{ 't', "text-field", "NAME", BN_TEXT, &b->text_field,
		  "member of the rows that has the text (text)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.operands = "ROWS DUPS",
		.least = 2,
		.most = 2,
		.about =
			"Judge what 'simidx-dedup --stream --dups DUPS ROWS' has decided, with "
			"ROWS a file of JSON\n"
			"lines: each row is compared with all that were kept before it and share a "
			"shingle. Prints\n"
			"a line of JSON.\n",
		.options = options,
		.more = figures,
	};

	return bn_parse(&usage, argc, argv);
}

int main(int argc, char **argv)
{
	struct bench b = { .text_field = "text", .similarity_text = "0.8" };
	struct judge j = { .bench = &b };
	struct verdict v;
	char *end;
	int first;

	bn_program = "bn_dups";
	first = parse(&b, argc, argv);
	b.similarity = strtod(b.similarity_text, &end);
	if (*end || !(b.similarity > 0) || b.similarity > 1)
		bn_die("--similarity: expected a number above 0 and at most 1, found '%s'",
		       b.similarity_text);
	read_rows(&j, argv[first]);
	read_dups(&j, argv[first + 1]);
	prepare(&j);
	v = judge_rows(&j);
	printf("{\"bench\":\"dups\",\"rows\":%zu,\"kept\":%llu,\"left_out\":%llu,\"wrongly\":%llu"
	       ",\"misnamed\":%llu,\"mistold\":%llu,\"let_through\":%llu"
	       ",\"let_through_share\":%.5f}\n",
	       j.n, (unsigned long long)v.kept, (unsigned long long)v.left_out,
	       (unsigned long long)v.wrongly, (unsigned long long)v.misnamed,
	       (unsigned long long)v.mistold, (unsigned long long)v.let_through,
	       (double)v.let_through /
		       (double)(v.let_through + v.left_out - v.wrongly + !v.left_out));
	for (size_t i = 0; i < j.n; i++)
		sd_shingles_free(&j.rows[i].set);
	free(j.rows);
	free(j.key);
	free(j.first);
	free(j.entry);
	free(j.touched);
	return 0;
}
