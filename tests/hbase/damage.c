/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows that are damaged, lost, or none of an index, and what a check makes of them: damage PORT
 * TABLE. PORT is that of a gateway on this machine.
 */

#include <string.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"
#include "hbase/ht_raw.h"

static const char *table;
static char uri[200], docs[100];

/* An empty index, in which the ids of tests are free to be used. */
static void *anew(void)
{
	void *state = ht_open(uri, SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE);
	uint64_t next;

	HT_CODE(hb_engine()->reserve_ids(state, 0, 100, &next, &ht_err), SIMIDX_OK);
	return state;
}

static uint64_t count(void *state, uint64_t *labels)
{
	simidx_engine_info info = { .size = sizeof(info) };

	HT_CODE(hb_engine()->info(state, &info, &ht_err), SIMIDX_OK);
	if (labels)
		*labels = info.labels;
	return info.documents;
}

static void put_raw(const char *row, size_t size, const char *column)
{
	ht_raw_put(docs, row, size, column, "x", 1);
}

static void damage(uint64_t id, const char *column, const char *value)
{
	unsigned char key[10];

	ht_raw_document(id, key);
	ht_raw_put(docs, key, sizeof(key), column, value, strlen(value));
}

static void remove_row(const ht_doc *doc, unsigned t)
{
	unsigned char key[21];
	uint32_t prefix[HT_TABLES];

	ht_prefixes(NULL, doc->fp, prefix);
	ht_raw_row(t, prefix[t], doc->fp, doc->id, key);
	ht_raw_remove(table, key, sizeof(key), "");
}

static enum simidx_engine_next ignore(void *ctx, size_t i, const simidx_match *m)
{
	(void)ctx;
	(void)i;
	(void)m;
	return SIMIDX_ENGINE_ON;
}

/*
 * Of six documents the second one loses its label, the third one is lost, the fourth one has only
 * more than it should have, and the fifth one is sound, but lacks a row: that is found all the
 * same.
 */
static void damaged_documents(unsigned flags)
{
	static char letters[] = "abcde";
	void *state = anew();
	uint64_t id = 1, labels;
	ht_doc doc[6], none;
	unsigned char stranger[10];
	simidx_engine_check check;

	for (unsigned i = 0; i < 6; i++) {
		doc[i] = ht_document(i, 0x1000200030004000 * (i + 1));
		doc[i].flags = flags;
		doc[i].fp2 = flags ? i : 0;
		doc[i].label = i < 5 ? &letters[i] : NULL;
		doc[i].label_size = i < 5;
	}
	HT_CODE(ht_write(state, NULL, doc, 6, NULL, 0), SIMIDX_OK);
	damage(1, "", "what is this");
	damage(2, "", "");
	remove_row(&doc[2], 3);
	damage(3, "more", "what is this");
	remove_row(&doc[4], 2);
	ht_raw_document(77, stranger);
	stranger[1] ^= 1; /* where nobody looks for it */
	ht_raw_put(docs, stranger, sizeof(stranger), "", "x", 1);

	HT_CODE(hb_engine()->find_ids(state, &id, 1, ignore, NULL, NULL, &ht_err),
		SIMIDX_E_CORRUPT);
	HT_CHECK(strstr(ht_err.text, "the row of document 1 is damaged"));
	/* Three documents, one that lacks a row, and the row that is none of a document. */
	HT_CHECK(ht_check(state, 0, NULL) == 5);
	ht_check(state, SIMIDX_ENGINE_MEND, &check);
	/* Two have lost something. With it go three rows, two labels, and with these the counts. */
	HT_CHECK(check.problems == 5 + 3 + 2 + 1 && check.mended == check.problems - 2);
	HT_CHECK(ht_check(state, 0, &check) == 0 && check.documents == 5);
	HT_CHECK(count(state, &labels) == 5 && labels == 3);

	doc[1].label = NULL;
	doc[1].flags = flags ? SIMIDX_DOC_FP2_UNKNOWN : 0;
	none = ht_document(2, doc[2].fp);
	HT_CHECK(!ht_has_rows(state, &none));
	none.there = 0;
	HT_CHECK(ht_is_stored(state, &none));
	for (unsigned i = 0; i < 6; i++)
		HT_CHECK(i == 2 || (ht_is_stored(state, &doc[i]) && ht_has_rows(state, &doc[i])));
	/* And all goes on. */
	none = ht_document(1, 0xfeed);
	HT_CODE(ht_write(state, &doc[1], &none, 1, NULL, 0), SIMIDX_OK);
	HT_CODE(ht_write(state, NULL, &doc[2], 1, NULL, 0), SIMIDX_OK);
	HT_CHECK(ht_check(state, 0, NULL) == 0 && count(state, NULL) == 6);
	hb_engine()->close(state);
}

/* Ids that no document may have, though the rest of the row is as it should be. */
static void ids_that_are_too_large(void)
{
	static const uint64_t ids[] = { SIMIDX_MAX_ID + 1, SIMIDX_NO_ID };
	static const char value[10] = { 1 }; /* the version; no flags, and the fingerprint 0 */
	ht_doc sound = ht_document(7, 0);
	void *state = anew();
	uint64_t next;

	HT_CODE(ht_write(state, NULL, &sound, 1, NULL, 0), SIMIDX_OK);
	for (int i = 0; i < 2; i++) {
		unsigned char key[21];

		ht_raw_document(ids[i], key);
		ht_raw_put(docs, key, 10, "", value, sizeof(value));
		for (unsigned t = 0; t < HT_TABLES; t++) {
			ht_raw_row(t, 0, 0, ids[i], key);
			ht_raw_put(table, key, sizeof(key), "", "", 0);
		}
		HT_CODE(hb_engine()->find_ids(state, &ids[i], 1, ignore, NULL, NULL, &ht_err),
			SIMIDX_E_CORRUPT);
	}
	HT_CHECK(ht_check(state, 0, NULL) == 2 * (1 + HT_TABLES));
	HT_CHECK(ht_check(state, SIMIDX_ENGINE_MEND, NULL) == 2 * (1 + HT_TABLES));
	HT_CHECK(ht_check(state, 0, NULL) == 0 && ht_is_stored(state, &sound) &&
		 count(state, NULL) == 1);
	HT_CODE(hb_engine()->reserve_ids(state, 1, 0, &next, &ht_err), SIMIDX_OK);
	HT_CHECK(next == 100);
	hb_engine()->close(state);
}

/* Rows of the table of documents that nothing has stored which belongs to an index. */
static void strangers(void)
{
	static const struct {
		const char *row;
		size_t size;
	} rows[] = { { "A", 1 }, { "c!", 2 }, { "d", 1 }, { "d\x10xxxxxxxx", 10 }, { "k", 1 },
		     { "lshort", 6 }, { "m!", 2 }, { "v", 1 }, { "y", 1 }, { "\xff\xff", 2 } };
	enum { N = sizeof(rows) / sizeof(*rows) };
	static char label[] = "one";
	ht_doc doc = ht_document(7, 0x7777);
	void *state = anew();

	doc.label = label;
	doc.label_size = 3;
	HT_CODE(ht_write(state, NULL, &doc, 1, "mark", 0), SIMIDX_OK);
	HT_CODE(hb_engine()->lease(state, &(simidx_engine_probe){ 0, 0 }, 1, 0, &ht_err),
		SIMIDX_OK);
	for (int i = 0; i < N; i++)
		put_raw(rows[i].row, rows[i].size, "");
	put_raw("lxxxxxxxxxxxxxxxx", 17, "no id");
	HT_CHECK(ht_check(state, 0, NULL) == N + 1);
	HT_CHECK(ht_check(state, SIMIDX_ENGINE_MEND, NULL) == N + 1);
	HT_CHECK(ht_check(state, 0, NULL) == 0 && ht_is_stored(state, &doc));
	HT_CODE(hb_engine()->release(state, &ht_err), SIMIDX_OK);
	hb_engine()->close(state);
}

/* Without the next id, ids of documents would be given to others. */
static void next_id(int is_short)
{
	ht_doc doc = ht_document(7, 0x7777);
	void *state = anew();
	uint64_t next;

	HT_CODE(ht_write(state, NULL, &doc, 1, NULL, 0), SIMIDX_OK);
	if (is_short)
		put_raw("c", 1, "");
	else
		ht_raw_remove(docs, "c", 1, "");
	HT_CODE(hb_engine()->reserve_ids(state, 1, 0, &next, &ht_err), SIMIDX_E_CORRUPT);
	HT_CHECK(next == SIMIDX_NO_ID && strstr(ht_err.text, "repair"));
	HT_CHECK(ht_check(state, 0, NULL) == 1);
	HT_CHECK(ht_check(state, SIMIDX_ENGINE_MEND, NULL) == 1);
	HT_CODE(hb_engine()->reserve_ids(state, 1, 0, &next, &ht_err), SIMIDX_OK);
	HT_CHECK(next == 8 && ht_check(state, 0, NULL) == 0);
	hb_engine()->close(state);
}

int main(int argc, char **argv)
{
	HT_CHECK(argc == 3);
	table = argv[2];
	snprintf(uri, sizeof(uri), "hbase://127.0.0.1:%s/%s?regions=1", argv[1], table);
	snprintf(docs, sizeof(docs), "%s_docs", table);
	ht_raw_gateway(atoi(argv[1]));
	damaged_documents(0);
	damaged_documents(SIMIDX_DOC_FP2);
	ids_that_are_too_large();
	strangers();
	next_id(0);
	next_id(1);
	printf("damage: all held\n");
	return 0;
}
