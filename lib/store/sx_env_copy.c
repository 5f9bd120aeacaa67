/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_env_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "util/sx_stop.h"

#define ASK_MS 50

/* A copy that is made by a thread of its own, so that another one can ask whether to stop. */
struct copying {
	sx_env *env;
	int fd;
	int is_done, rc;
	pthread_mutex_t lock;
	pthread_cond_t done;
};

static void *copy_all(void *ctx)
{
	struct copying *c = ctx;
	int rc = mdb_env_copyfd2(c->env->env, c->fd, MDB_CP_COMPACT);

	pthread_mutex_lock(&c->lock);
	c->rc = rc;
	c->is_done = 1;
	pthread_cond_signal(&c->done);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Whether the thread has ended, after some time. */
static int copy_is_done(struct copying *c)
{
	struct timespec until;
	int is_done;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ASK_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&c->lock);
	if (!c->is_done)
		pthread_cond_timedwait(&c->done, &c->lock, &until);
	is_done = c->is_done;
	pthread_mutex_unlock(&c->lock);
	return is_done;
}

/* LMDB has no way to stop it but a write that fails: the descriptor becomes one for reading. */
int sx_env_copy(sx_env *env, void *ctx)
{
	struct copying c = { .env = env, .fd = *(const int *)ctx,
			     .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };
	int is_stopped = 0, none, failed = 1;
	sigset_t all, before;
	pthread_t thread;

	/* Signals are for the caller's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (sx_stop_is_set())
		failed = pthread_create(&thread, NULL, copy_all, &c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return mdb_env_copyfd2(env->env, c.fd, MDB_CP_COMPACT);
	while (!copy_is_done(&c)) {
		if (is_stopped || !sx_stop_asked())
			continue;
		none = open("/dev/null", O_RDONLY | O_CLOEXEC);
		is_stopped = none >= 0 && dup3(none, c.fd, O_CLOEXEC) >= 0;
		if (none >= 0)
			close(none);
	}
	pthread_join(thread, NULL);
	pthread_cond_destroy(&c.done);
	pthread_mutex_destroy(&c.lock);
	return is_stopped ? ECANCELED : c.rc;
}
