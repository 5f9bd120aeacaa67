/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "sxt_fixture.h"

#include "support/sxt_store.h"

char *t_dir, *t_path, *t_data;
sx_store *t_store;

void sxt_set_up_path(void)
{
	t_dir = sxt_dir_make();
	t_path = sxt_path(t_dir, "index");
	t_data = sxt_path(t_path, "data.mdb");
}

void sxt_set_up_closed_store(void)
{
	sxt_set_up_path();
	sx_store_close(t_create(t_path, 0600));
}

void sxt_set_up_store(void)
{
	sxt_set_up_path();
	t_store = t_create(t_path, 0);
	t_put(t_store, "a", "1");
}

void sxt_tear_down(void)
{
	sx_store_close(t_store);
	t_store = NULL;
	sxt_remove(t_dir);
	free(t_data);
	free(t_path);
	free(t_dir);
}
