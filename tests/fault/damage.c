/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Damaged data files. Each case takes a sound index, changes its file at random, and does every
 * operation on it, each in a process of its own. Whatever the damage is:
 *
 *  - No operation is ended by a signal, hangs, or returns a code that is not about damage.
 *  - Where verify says "sound", the content is that of one of the commits, every operation
 *    succeeds and answers so, and what is written to it is sound and complete, too.
 *  - Nothing that was not sound becomes sound, by a write or a copy, with another content than
 *    that of a commit. A backup or repair that succeeds is sound.
 *
 * A case is run in one of these modes:
 *
 *   untrusted  every operation opens the index with SIMIDX_OPEN_UNTRUSTED
 *   verify     verify alone, and all others if it says "sound"
 *   plain      every operation, whatever verify says; LMDB may end the process
 *
 * Options: see usage(). A case depends on its number, the seed and the other options alone.
 */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "damage_file.h"
#include "damage_run.h"
#include "damage_sample.h"

#define MAX_JOBS 64
#define SHORT_RUN (DMG_HAS_ASAN ? 50 : 300) /* files: some seconds of CPU time */
#define LONG_RUN 100000

enum mode { UNTRUSTED, VERIFY, PLAIN, N_MODES };

static const char *const mode_names[N_MODES] = { "untrusted", "verify", "plain" };

/* Kinds of faults, as the table names them. */
enum fault { SIGNAL, HANG, STATUS, CODE, SOUND_BUT, MADE_SOUND, COPIED, N_FAULTS };

static const char *const fault_names[N_FAULTS] = { "signal", "hang",	  "exit",
						   "code",   "sound-but", "made-sound", "copied" };

typedef struct counts {
	uint64_t files, sound, refused; /* as verify says */
	uint64_t faults[N_FAULTS];
	uint64_t by_op[DMG_N_OPS]; /* signals, hangs and exits */
	uint64_t wrong[DMG_N_OPS]; /* wrong answers with success, where verify finds the damage */
} counts;

static struct {
	uint64_t n_files, only_case;
	int has_case, layout, class, mode, form; /* -1 = all */
	unsigned jobs;
	const char *keep;
	uint64_t say;  /* faults that are printed, of each process */
	int say_wrong; /* wrong answers are printed where verify finds the damage */
} options;

static dmg_sample samples[DMG_N_FORMS];
static unsigned n_samples;
static size_t largest;
static char *run_dir;

/* A line for each job and class, in shared memory. */
static counts (*totals)[DMG_N_CLASSES];

/* ------------------------------------------------------------------------------------------
 * One case
 */

typedef struct damage_case {
	uint64_t number;
	enum dmg_class class;
	enum mode mode;
	dmg_file file;
	dmg_result results[DMG_N_OPS];
	int ran[DMG_N_OPS];
	counts *counts;
	uint64_t *n_faults;
} damage_case;

static void keep(const damage_case *c)
{
	char name[64], *path;

	if (!options.keep)
		return;
	snprintf(name, sizeof(name), "damage-%" PRIu64 "-%" PRIu64 ".mdb", sxt_seed(), c->number);
	path = sxt_path(options.keep, name);
	sxt_file_write(path, c->file.data, c->file.size);
	free(path);
}

static void say(damage_case *c, const char *kind, enum dmg_op op, const char *why)
{
	const dmg_result *r = &c->results[op];
	const dmg_form *form = c->file.sample->form;

	if ((*c->n_faults)++ >= options.say)
		return;
	keep(c);
	printf("%s in %s%s%s: %s; %s %s [%s]\n"
	       "  %s: %s (%s, %s, flags %u, commit %u)\n"
	       "  Repeat: SIMIDX_SEED=%" PRIu64 " tests/fault/damage --case %" PRIu64
	       " --class %s --mode %s --form %d\n",
	       kind, dmg_op_names[op], *r->stage ? ", " : "", r->stage, why,
	       r->code ? simidx_error_name(r->code) : "", r->text, mode_names[c->mode],
	       dmg_class_names[c->class], c->file.what, form->plan,
	       form->layout ? "rows" : "blocks", form->flags, c->file.image->commit, sxt_seed(),
	       c->number, dmg_class_names[c->class], mode_names[c->mode], (int)(form - dmg_forms));
	fflush(stdout);
}

static void fault(damage_case *c, enum fault kind, enum dmg_op op, const char *why)
{
	c->counts->faults[kind]++;
	c->counts->by_op[op] += kind <= STATUS;
	say(c, fault_names[kind], op, why);
}

/* Codes that tell of damage, or of a file that is none of ours. */
static int is_about_damage(int code)
{
	return code == SIMIDX_E_CORRUPT || code == SIMIDX_E_NOT_INDEX || code == SIMIDX_E_VERSION ||
	       code == SIMIDX_E_UNSUPPORTED;
}

static void judge_end(damage_case *c, enum dmg_op op)
{
	const dmg_result *r = &c->results[op];
	char why[64];

	snprintf(why, sizeof(why), "%s %d", r->end == DMG_STATUS ? "exit status" : "signal",
		 r->number);
	if (r->end)
		fault(c,
		      r->end == DMG_SIGNAL ? SIGNAL
		      : r->end == DMG_HANG ? HANG
					   : STATUS,
		      op, why);
	else if (r->code && !is_about_damage(r->code) && !c->file.forged)
		fault(c, CODE, op, "not a code for damage");
}

/* What verify calls sound is sound in every way. */
static void judge_sound(damage_case *c, enum dmg_op op, uint64_t *commits)
{
	const dmg_result *r = &c->results[op];

	if (r->end || (r->code && !is_about_damage(r->code)))
		return;
	if (r->code) {
		fault(c, SOUND_BUT, op, "it fails");
		return;
	}
	if (!(*commits & r->commits) || (r->has_after && !(*commits & r->commits_after))) {
		fault(c, SOUND_BUT, op, "its content is that of no commit");
		return;
	}
	*commits &= r->commits;
	if (r->has_after)
		*commits &= r->commits_after;
}

static void judge_damaged(damage_case *c, enum dmg_op op)
{
	const dmg_result *r = &c->results[op];

	if (r->end)
		return;
	if (!r->code && !r->commits) {
		c->counts->wrong[op]++;
		if (options.say_wrong)
			say(c, "wrong", op, "");
	}
	/* These verify what they make. */
	if ((op == DMG_OP_backup || op == DMG_OP_compact || op == DMG_OP_repair) && r->has_after &&
	    (r->verify_after || r->dump_after))
		fault(c, COPIED, op, "damage is in the copy");
	if (!r->has_after || r->verify_after)
		return;
	if (r->dump_after || !r->commits_after)
		fault(c, MADE_SOUND, op, "its content is that of no commit");
}

static void judge(damage_case *c)
{
	const dmg_result *verify = &c->results[DMG_OP_verify];
	uint64_t commits = dmg_all_commits(c->file.sample);
	int is_sound = !verify->end && !verify->code;

	/* Nothing is lost to a write of a meta page that failed. */
	if ((c->class == DMG_none || c->class == DMG_failed_meta) && !verify->end && !is_sound)
		fault(c, SOUND_BUT, DMG_OP_verify, "nothing is damaged");
	if (c->class == DMG_none)
		commits = UINT64_C(1) << c->file.image->commit;
	c->counts->sound += is_sound;
	c->counts->refused += !verify->end && !is_sound;
	for (unsigned op = 0; op < DMG_N_OPS; op++) {
		if (!c->ran[op])
			continue;
		judge_end(c, op);
		if (c->file.forged)
			continue;
		if (is_sound)
			judge_sound(c, op, &commits);
		else
			judge_damaged(c, op);
	}
}

static void run_case(uint64_t number, dmg_place *place, unsigned char *data, counts *per_class,
		     uint64_t *n_faults)
{
	damage_case c;
	sxt_rng rng;
	const dmg_sample *s;

	memset(&c, 0, sizeof(c));
	sxt_rng_init(&rng, (UINT64_C(1) << 32) + number);
	c.number = number;
	c.n_faults = n_faults;
	s = &samples[sxt_rng_below(&rng, n_samples)];
	c.class = sxt_rng_below(&rng, 64)
			  ? 1 + (enum dmg_class)sxt_rng_below(&rng, DMG_N_CLASSES - 1)
			  : DMG_none;
	if (options.class >= 0)
		c.class = (enum dmg_class)options.class;
	c.mode = options.mode >= 0 ? (enum mode)options.mode : (enum mode)(number % 2);
	c.counts = &per_class[c.class];
	c.counts->files++;
	/* The newest image as often as all others. */
	dmg_file_begin(&c.file, data, s,
		       &s->images[sxt_rng_below(&rng, 2) ? sxt_rng_below(&rng, s->n_images)
							 : s->n_images - 1]);
	dmg_file_damage(&c.file, c.class, &rng);
	place->sample = s;
	place->data = data;
	place->size = c.file.size;
	for (unsigned op = 0; op < DMG_N_OPS; op++) {
		if (c.mode == VERIFY && op != DMG_OP_verify &&
		    (c.results[DMG_OP_verify].end || c.results[DMG_OP_verify].code))
			break;
		/* The tools verify nothing without it. */
		place->open_flags = c.mode == UNTRUSTED || op == DMG_OP_verify
					    ? SIMIDX_OPEN_UNTRUSTED
					    : 0;
		dmg_run(place, op, rng, &c.results[op]);
		c.ran[op] = 1;
	}
	judge(&c);
	if (options.has_case) {
		printf("case %" PRIu64 ": %s: %s\n", number, dmg_class_names[c.class], c.file.what);
		for (unsigned op = 0; op < DMG_N_OPS; op++)
			if (c.ran[op])
				printf("  %-7s %d/%d %s %s %s\n", dmg_op_names[op],
				       c.results[op].end, c.results[op].number, c.results[op].stage,
				       simidx_error_name(c.results[op].code), c.results[op].text);
		keep(&c);
	}
}

/* ------------------------------------------------------------------------------------------
 * All cases
 */

static void make_samples(void)
{
	for (unsigned i = 0; i < DMG_N_FORMS; i++) {
		if ((options.layout >= 0 && dmg_forms[i].layout != (unsigned)options.layout) ||
		    (options.form >= 0 && options.form != (int)i))
			continue;
		dmg_sample_make(&samples[n_samples], &dmg_forms[i], run_dir);
		for (unsigned k = 0; k < samples[n_samples].n_images; k++)
			if (samples[n_samples].images[k].size > largest)
				largest = samples[n_samples].images[k].size;
		n_samples++;
	}
}

/* Takes every n-th case. */
static void run_job(unsigned job)
{
	unsigned char *data = mmap(NULL, 2 * largest, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t n_faults = 0;
	char name[16], *dir;
	dmg_place place;

	memset(&place, 0, sizeof(place));
	snprintf(name, sizeof(name), "job-%u", job);
	dir = sxt_path(run_dir, name);
	sxt_must(data != MAP_FAILED);
	dmg_place_make(&place, dir);
	if (options.has_case)
		run_case(options.only_case, &place, data, totals[job], &n_faults);
	for (uint64_t i = job; !options.has_case && i < options.n_files; i += options.jobs)
		run_case(i, &place, data, totals[job], &n_faults);
	free(dir);
}

static void run_jobs(void)
{
	pid_t pids[MAX_JOBS];

	for (unsigned i = 0; i < options.jobs; i++) {
		fflush(NULL);
		pids[i] = fork();
		sxt_must(pids[i] >= 0);
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_job(i);
		fflush(NULL);
		_exit(0);
	}
	for (unsigned i = 0; i < options.jobs; i++) {
		int status;

		while (waitpid(pids[i], &status, 0) < 0)
			sxt_must(errno == EINTR);
		sxt_must(!status);
	}
}

static uint64_t print_table(void)
{
	uint64_t all = 0;
	counts sum = { 0 };

	printf("%-12s %7s %7s %7s", "class", "files", "sound", "damaged");
	for (unsigned k = 0; k < N_FAULTS; k++)
		printf(" %10s", fault_names[k]);
	printf("   wrong get, search, dump\n");
	for (unsigned class = 0; class <= DMG_N_CLASSES; class++) {
		counts line = { 0 };
		uint64_t *to = (uint64_t *)&line;

		for (unsigned job = 0; class < DMG_N_CLASSES && job < options.jobs; job++)
			for (size_t i = 0; i < sizeof(line) / sizeof(*to); i++)
				to[i] += ((uint64_t *)&totals[job][class])[i];
		for (size_t i = 0; class < DMG_N_CLASSES && i < sizeof(line) / sizeof(*to); i++)
			((uint64_t *)&sum)[i] += to[i];
		if (class == DMG_N_CLASSES)
			line = sum;
		if (!line.files)
			continue;
		printf("%-12s %7" PRIu64 " %7" PRIu64 " %7" PRIu64,
		       class < DMG_N_CLASSES ? dmg_class_names[class] : "all", line.files,
		       line.sound, line.refused);
		for (unsigned k = 0; k < N_FAULTS; k++)
			printf(" %10" PRIu64, line.faults[k]);
		printf("   %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", line.wrong[DMG_OP_get],
		       line.wrong[DMG_OP_search], line.wrong[DMG_OP_dump]);
	}
	printf("signals, hangs and exits by operation:");
	for (unsigned op = 0; op < DMG_N_OPS; op++)
		printf(" %s %" PRIu64, dmg_op_names[op], sum.by_op[op]);
	for (unsigned k = 0; k < N_FAULTS; k++)
		all += sum.faults[k];
	printf("\n%" PRIu64 " files, %" PRIu64 " faults; SIMIDX_SEED=%" PRIu64 "\n", sum.files, all,
	       sxt_seed());
	return sum.files ? all : 1;
}

/* ------------------------------------------------------------------------------------------
 * Options
 */

static void usage(void)
{
	printf("damage [--files N] [--case NUMBER] [--layout blocks|rows] [--form NUMBER]\n"
	       "       [--class NAME] [--mode untrusted|verify|plain] [--jobs N] [--keep "
	       "DIRECTORY]\n"
	       "       [--say N] [--say-wrong]\n"
	       "SIMIDX_SEED=N repeats an earlier run. --keep stores damaged files at which there "
	       "was a fault, --say prints at most N faults of each job, --say-wrong\n"
	       "wrong answers, too, where verify finds the damage.\nClasses:\n");
	for (unsigned i = 0; i < DMG_N_CLASSES; i++)
		printf("  %-12s %s\n", dmg_class_names[i], dmg_class_texts[i]);
}

static int number_of(const char *name, const char *const *names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return (int)i;
	printf("unknown: %s\n", name);
	exit(EXIT_FAILURE);
}

static void read_options(int argc, char **argv)
{
	static const char *const layouts[] = { "blocks", "rows" };
	static const struct option known[] = {
		{ "files", required_argument, NULL, 'n' },
		{ "case", required_argument, NULL, 'i' },
		{ "layout", required_argument, NULL, 'l' },
		{ "form", required_argument, NULL, 'f' },
		{ "class", required_argument, NULL, 'c' },
		{ "mode", required_argument, NULL, 'm' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "keep", required_argument, NULL, 'k' },
		{ "say", required_argument, NULL, 's' },
		{ "say-wrong", no_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	options.layout = options.class = options.form = options.mode = -1;
	options.say = 20;
	options.n_files = sxt_is_long() ? LONG_RUN : SHORT_RUN;
	options.jobs = sxt_is_long() ? (unsigned)sysconf(_SC_NPROCESSORS_ONLN) : 1;
	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 'n': options.n_files = strtoull(optarg, NULL, 10); break;
		case 'i':
			options.only_case = strtoull(optarg, NULL, 10);
			options.has_case = 1;
			break;
		case 'l': options.layout = number_of(optarg, layouts, 2); break;
		case 'f': options.form = (int)strtol(optarg, NULL, 10); break;
		case 'c': options.class = number_of(optarg, dmg_class_names, DMG_N_CLASSES); break;
		case 'm': options.mode = number_of(optarg, mode_names, N_MODES); break;
		case 'j': options.jobs = (unsigned)strtoul(optarg, NULL, 10); break;
		case 's': options.say = strtoull(optarg, NULL, 10); break;
		case 'w': options.say_wrong = 1; break;
		case 'k': options.keep = optarg; break;
		default:
			usage();
			exit(c == 'h' ? EXIT_SUCCESS : EXIT_FAILURE);
		}
	}
	if (options.has_case || !options.jobs)
		options.jobs = 1;
	if (options.jobs > MAX_JOBS)
		options.jobs = MAX_JOBS;
}

/* Thousands of files are written; where there is a file system in memory, take that. */
static void choose_directory(void)
{
	if (!access("/dev/shm", W_OK | X_OK))
		setenv("TMPDIR", "/dev/shm", 0);
}

int main(int argc, char **argv)
{
	uint64_t faults;

	read_options(argc, argv);
	choose_directory();
	sxt_start();
	/*
	 * LMDB callocs megabytes at each opening and uses little: from the system they cost
	 * nothing.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 16);
	sxt_in_child = 1; /* for sxt_must(): there is no test of Check here */
	run_dir = sxt_dir_make();
	make_samples();
	totals = mmap(NULL, sizeof(*totals) * MAX_JOBS, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sxt_must(n_samples && totals != MAP_FAILED);
	run_jobs();
	faults = print_table();
	sxt_finish();
	return faults ? EXIT_FAILURE : EXIT_SUCCESS;
}
