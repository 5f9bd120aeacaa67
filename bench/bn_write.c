/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Writing to an index that has documents: how many a second, and how long a commit takes at worst,
 * beside others. --help says how to read the figures.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bn_options.h"
#include "bn_own.h"
#include "bn_util.h"
#include "bn_write.h"

#define POOL 1024      /* weights of different texts */
#define NEAR_PERCENT 30
#define FIRST_COMMITS 4096

static const char *const op_names[BN_OPS] = {
	"insert", "if-new", "if-new-text", "replace", "delete", "replace-label", "delete-label",
};

static const struct bn_writer *const writers[] = {
	&bn_write_own,
	&bn_write_single,
#ifdef HAVE_SQLITE
	&bn_write_sqlite,
#endif
	&bn_write_lmdb,
	&bn_write_redis,
};

#define WRITERS (sizeof(writers) / sizeof(writers[0]))

struct bench {
	struct bn_write write;
	const char *dir, *ops, *rows, *only;
	uint64_t seed, merges, changes;
	unsigned seconds;
	int keep;
	uint32_t *order; /* of the documents that are changed: at random, none twice */
	uint8_t (*weights)[64];
	unsigned (*light)[2]; /* of each of the weights, the two bits that say the least */
	/* of the run at hand */
	uint64_t next;    /* change */
	uint64_t random;
	double *commit_s; /* one a transaction */
	size_t commits, commits_cap;
};

/* ---- the documents ---- */

uint64_t bn_write_fp(uint64_t id)
{
	return bn_mix((id + 2) * UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t bn_write_fp2(uint64_t fp)
{
	return bn_mix(fp ^ UINT64_C(0x5851f42d4c957f2d));
}

size_t bn_write_label(uint64_t id, char label[BN_LABEL])
{
	static const char site[] = "https://example.org/";
	char digits[20];
	size_t n = 0, size = sizeof(site) - 1;

	memcpy(label, site, size);
	do
		digits[n++] = (char)('0' + id % 10);
	while (id /= 10);
	while (n)
		label[size++] = digits[--n];
	return size;
}

int bn_write_has_labels(enum bn_op op)
{
	return op >= BN_REPLACE_LABEL;
}

/* Sums of bits are normally distributed where features are many; a weight is their amount. */
static uint8_t any_weight(uint64_t *random)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += (double)(bn_random(random) >> 11) / 9007199254740992.;
	return (uint8_t)(32 * (sum < 0 ? -sum : sum) + 0.5);
}

static void make_weights(struct bench *b)
{
	uint64_t random = b->seed;

	b->weights = bn_alloc(POOL, sizeof(*b->weights));
	b->light = bn_alloc(POOL, sizeof(*b->light));
	for (unsigned i = 0; i < POOL; i++) {
		unsigned *light = b->light[i];

		for (unsigned bit = 0; bit < 64; bit++) {
			b->weights[i][bit] = any_weight(&random);
			if (bit == 0 || b->weights[i][bit] < b->weights[i][light[0]]) {
				light[1] = light[0];
				light[0] = bit;
			} else if (bit == 1 || b->weights[i][bit] < b->weights[i][light[1]]) {
				light[1] = bit;
			}
		}
	}
}

static void make_order(struct bench *b)
{
	uint64_t n = b->write.documents, random = b->seed;

	b->order = bn_alloc(n, sizeof(*b->order));
	for (uint64_t i = 0; i < n; i++)
		b->order[i] = (uint32_t)i;
	for (uint64_t i = n; i > 1; i--) {
		uint64_t j = bn_random(&random) % i;
		uint32_t other = b->order[j];

		b->order[j] = b->order[i - 1];
		b->order[i - 1] = other;
	}
}

/* A copy of a document, in which some bits differ. */
static void make_near(struct bench *b, struct bn_change *change, size_t pool)
{
	change->fp = bn_write_fp(bn_random(&b->random) % b->write.documents);
	change->fp2 = bn_write_fp2(change->fp);
	if (b->write.op == BN_IF_NEW_TEXT) {
		for (unsigned i = 0; i < 2; i++) {
			change->fp ^= (uint64_t)1 << b->light[pool][i];
			change->fp2 ^= (uint64_t)1 << b->light[(pool + 1) % POOL][i];
		}
	} else {
		for (unsigned flips = bn_random(&b->random) % 4; flips; flips--)
			change->fp ^= (uint64_t)1 << bn_random(&b->random) % 64;
	}
}

static void make_change(struct bench *b, struct bn_change *change)
{
	enum bn_op op = b->write.op;
	size_t pool = b->next % POOL;

	change->id = op >= BN_REPLACE ? b->order[b->next % b->write.documents] : 0;
	change->fp = bn_write_fp(b->write.documents + b->next);
	if (op == BN_IF_NEW || op == BN_IF_NEW_TEXT) {
		change->fp2 = bn_write_fp2(change->fp);
		change->weights = b->weights[pool];
		change->weights2 = b->weights[(pool + 1) % POOL];
		if (bn_random(&b->random) % 100 < NEAR_PERCENT)
			make_near(b, change, pool);
	}
	b->next++;
}

/* ---- a run ---- */

/* Bytes that this process has given to the system to write. */
static double bytes_written(void)
{
	unsigned long long bytes = 0;
	char line[128];
	FILE *io = fopen("/proc/self/io", "r");

	while (io && fgets(line, sizeof(line), io))
		if (sscanf(line, "wchar: %llu", &bytes) == 1)
			break;
	if (io)
		fclose(io);
	return (double)bytes;
}

static void note_commit(struct bench *b, double seconds)
{
	if (b->commits == b->commits_cap) {
		b->commits_cap = b->commits_cap ? 2 * b->commits_cap : FIRST_COMMITS;
		b->commit_s = realloc(b->commit_s, b->commits_cap * sizeof(*b->commit_s));
		if (!b->commit_s)
			bn_die("out of memory");
	}
	b->commit_s[b->commits++] = seconds;
}

/* How far merges had come at a moment: seconds, and changes that were merged by then. */
struct merged {
	double at, changes;
};

static struct merged note_merged(const struct bn_writer *w, void *writer, uint64_t changed)
{
	uint64_t left = w->left ? w->left(writer) : 0;

	return (struct merged){ bn_seconds(), (double)changed - (double)left };
}

/* One transaction; returns how many documents it changed. */
static uint64_t transact(struct bench *b, const struct bn_writer *w, void *writer, uint64_t rows)
{
	struct bn_change change = { 0 };
	double start = bn_seconds(), waited;
	uint64_t changed;

	w->begin(writer);
	waited = bn_seconds() - start;
	for (uint64_t i = 0; i < rows; i++) {
		make_change(b, &change);
		w->change(writer, &change);
	}
	if (w->decide)
		w->decide(writer);
	start = bn_seconds();
	changed = w->commit(writer);
	note_commit(b, waited + bn_seconds() - start);
	return changed;
}

static void check_count(const struct bench *b, uint64_t changed, uint64_t count, const char *name)
{
	uint64_t want = b->write.documents;

	if (b->write.op <= BN_IF_NEW_TEXT)
		want += changed + (b->write.op == BN_IF_NEW_TEXT ? b->write.threshold : 0);
	else if (b->write.op == BN_DELETE || b->write.op == BN_DELETE_LABEL)
		want -= changed;
	if (count != want)
		bn_die("%s: has %llu documents instead of %llu", name, (unsigned long long)count,
		       (unsigned long long)want);
}

static void run(struct bench *b, const struct bn_writer *w, uint64_t rows)
{
	double start, spent, bytes, merge_s = 0, longest = 0;
	uint64_t changed = 0, merges = 0, left, waits, most;
	struct merged first = { 0, 0 }, last = { 0, 0 };
	void *writer;

	most = b->changes                      ? b->changes
	       : b->write.op == BN_IF_NEW_TEXT ? 100000
					       : 2 * b->merges * (b->write.threshold + rows);
	if (b->write.op >= BN_REPLACE && most > b->write.documents)
		most = b->write.documents;
	b->next = 0;
	b->random = b->seed;
	b->commits = 0;
	writer = w->open(&b->write);
	bytes = bytes_written();
	start = bn_seconds();
	do {
		changed += transact(b, w, writer, rows);
		spent = bn_seconds() - start;
		if (w->merges && w->merges(writer) > merges) {
			merges = w->merges(writer);
			merge_s += b->commit_s[b->commits - 1];
			last = note_merged(w, writer, changed);
			if (first.at <= 0)
				first = last;
		}
	} while (b->next + rows <= most && spent < b->seconds && merges < b->merges);
	if (w->finish) {
		w->finish(writer);
		merges = w->merges(writer);
		spent = bn_seconds() - start;
	}
	bytes = bytes_written() - bytes;
	waits = w->waits ? w->waits(writer) : 0;
	left = w->left ? w->left(writer) : 0;
	check_count(b, changed, w->count(writer), w->name);
	w->close(writer);
	for (size_t i = 0; i < b->commits; i++)
		longest = b->commit_s[i] > longest ? b->commit_s[i] : longest;
	printf("{\"bench\":\"write\",\"documents\":%llu,\"op\":\"%s\",\"rows\":%llu"
	       ",\"durability\":\"%s\",\"contestant\":\"%s%s\",\"per_second\":%.0f,\"changes\":%llu"
	       ",\"changed\":%llu,\"left\":%llu,\"seconds\":%.3f,\"merges\":%llu,\"waits\":%llu"
	       ",\"merge_s\":%.3f",
	       (unsigned long long)b->write.documents, op_names[b->write.op],
	       (unsigned long long)rows, b->write.normal ? "normal" : "full", w->name,
	       b->write.background ? "-background" : "", (double)b->next / spent,
	       (unsigned long long)b->next, (unsigned long long)changed,
	       (unsigned long long)left, spent,
	       (unsigned long long)merges, (unsigned long long)waits, merge_s);
	printf(",\"merged_per_second\":%.0f",
	       last.at > first.at ? (last.changes - first.changes) / (last.at - first.at) : 0);
	printf(",\"commit_p50_ms\":%.3f,\"commit_p99_ms\":%.3f,\"commit_max_ms\":%.3f"
	       ",\"bytes_a_change\":%.0f}\n",
	       bn_quantile(b->commit_s, b->commits, 0.5) * 1e3,
	       bn_quantile(b->commit_s, b->commits, 0.99) * 1e3, longest * 1e3,
	       bytes / (double)b->next);
	fflush(stdout);
}

/* ---- the program ---- */

/* All numbers of rows and all contestants, for one kind of change. */
static void run_op(struct bench *b)
{
	char base[4200], dir[4200];

	snprintf(base, sizeof(base), "%s/bench-write-%llu%s", b->dir,
		 (unsigned long long)b->write.documents,
		 bn_write_has_labels(b->write.op)        ? "-labels"
		 : b->write.op == BN_IF_NEW_TEXT ? "-texts" : "");
	snprintf(dir, sizeof(dir), "%s/bench-write-%ld", b->dir, (long)getpid());
	if (mkdir(dir, 0700))
		bn_die("%s: %s", dir, strerror(errno));
	if (access(base, F_OK))
		bn_write_base(base, b->write.documents, b->write.op);
	b->write.base = base;
	b->write.dir = dir;
	for (const char *at = b->rows; *at; at += *at == ',') {
		char text[32];
		size_t n = strcspn(at, ",");

		snprintf(text, sizeof(text), "%.*s", (int)n, at);
		at += n;
		for (size_t w = 0; w < WRITERS; w++)
			if (bn_listed(b->only, writers[w]->name) &&
			    writers[w]->ops >> b->write.op & 1 &&
			    (writers[w] != &bn_write_redis || b->write.redis))
				run(b, writers[w], bn_number("rows", text));
	}
	if (!b->keep)
		bn_own_remove(base);
	rmdir(dir);
}

static const char figures[] =
	"\n"
	"Kinds of changes (--op):\n"
	"  insert         documents with new fingerprints, which get the next ids\n"
	"  if-new         added unless one is within 3 bits: 30 % have one\n"
	"  if-new-text    the same by weights and second fingerprints, with random weights; the\n"
	"                 fresh tier is full and not merged\n"
	"  replace, delete              documents with random ids\n"
	"  replace-label, delete-label  the same by label\n"
	"\n"
	"Contestants (--only):\n"
	"  simidx   the library, plan 4x16, measured until its second merge is done (--merges);\n"
	"           if-new of all rows of a transaction by one call\n"
	"  single   the same with a call for each row, of if-new alone\n"
	"  sqlite   a table with an index for each of four blocks\n"
	"  lmdb     an insert is one put of 8 and 16 bytes: what durable storage costs at least\n"
	"  redis    a set for each value of four blocks, pipelined, through TCP; see --redis.\n"
	"           It keeps no documents, so it can only insert, delete, and judge what is new:\n"
	"           all of a transaction at once, and nobody keeps others from adding in between\n"
	"\n"
	"Members of the lines:\n"
	"  per_second   changes a second by the clock, merges counted in\n"
	"  changes, changed    documents that were judged, and that were added, replaced, deleted\n"
	"  left         changes that are not merged at the end\n"
	"  waits        commits that waited until a merge by the thread had caught up\n"
	"  merged_per_second   changes that came into the tables, from the end of the first merge\n"
	"               to that of the last one: what can be kept up\n"
	"  merges, merge_s     merges by commits, and how long these commits took together\n"
	"  commit_p50_ms, _p99_ms, _max_ms    of a transaction: to begin and to commit\n"
	"  bytes_a_change      given to the system to write, by this process\n";

int main(int argc, char **argv)
{
	struct bench *b = bn_alloc(1, sizeof(*b));
	const struct bn_option options[] = {
		{ 'n', "documents", "N", BN_COUNT, &b->write.documents,
		  "at the beginning (1000000)" },
		{ 'o', "op", "LIST", BN_TEXT, &b->ops, "kinds of changes (all)" },
		{ 'R', "rows", "LIST", BN_TEXT, &b->rows, "changes a commit (100,1000,10000)" },
		{ 'w', "only", "LIST", BN_TEXT, &b->only, "contestants (all that there are)" },
		{ 'N', "normal", NULL, BN_FLAG, &b->write.normal,
		  "a power cut may lose the last commits" },
		{ 'b', "background", NULL, BN_FLAG, &b->write.background,
		  "simidx merges by a thread, and not in commits" },
		{ 't', "threshold", "N", BN_COUNT, &b->write.threshold,
		  "fresh rows before a merge (N / 16, 65536 to 1000000)" },
		{ 'm', "merges", "N", BN_COUNT, &b->merges, "of simidx (2)" },
		{ 'c', "changes", "N", BN_COUNT, &b->changes, "at most (what the merges need)" },
		{ 'T', "seconds", "N", BN_SMALL, &b->seconds, "at most, for each line (60)" },
		{ 'p', "redis", "PORT", BN_SMALL, &b->write.redis,
		  "of a redis-server on this machine that is empty; all in it is deleted" },
		{ 'd', "dir", "DIR", BN_TEXT, &b->dir, "where indexes are built (.)" },
		{ 'K', "keep", NULL, BN_FLAG, &b->keep,
		  "leave the index that is changed there, and use it if it is" },
		{ 'S', "seed", "N", BN_COUNT, &b->seed, "(1)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.about = "Change an index that has documents. Prints a line of JSON for each kind "
			 "of\n"
			 "change, number of changes a commit, and contestant.\n",
		.options = options,
		.more = figures,
	};

	bn_program = "bn_write";
	b->write.documents = 1000000;
	b->rows = "100,1000,10000";
	b->dir = ".";
	b->seed = 1;
	b->merges = 2;
	b->seconds = 60;
	bn_parse(&usage, argc, argv);
	if (b->write.documents > UINT32_MAX)
		bn_die("documents: too many");
	if (!b->write.threshold) {
		b->write.threshold = b->write.documents / 16;
		if (b->write.threshold < 65536)
			b->write.threshold = 65536;
		if (b->write.threshold > 1000000)
			b->write.threshold = 1000000;
	}
	printf("{\"bench\":\"write\",");
	bn_print_machine();
	printf(",\"plan\":\"4x16\",\"threshold\":%llu,\"seed\":%llu}\n",
	       (unsigned long long)b->write.threshold, (unsigned long long)b->seed);
	fflush(stdout);
	make_order(b);
	make_weights(b);
	for (unsigned op = 0; op < BN_OPS; op++) {
		b->write.op = op;
		if (bn_listed(b->ops, op_names[op]))
			run_op(b);
	}
	free(b->order);
	free(b->weights);
	free(b->light);
	free(b->commit_s);
	free(b);
	return 0;
}
