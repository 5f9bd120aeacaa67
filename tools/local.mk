# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

bin_PROGRAMS += tools/simidx-dedup tools/simidx-load tools/simidx-query
noinst_LIBRARIES += tools/libcommon.a tools/libdedup.a tools/libload.a tools/libquery.a

tools_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
# The objects of our own libraries are linked into the tools, so that these start from wherever they
# are installed, before ldconfig has run. With --enable-shared-tools they take the shared libraries.
tools_libs = tools/libcommon.a
if SHARED_TOOLS
dedup_libs = lib/dedup/libsimidx-dedup.la $(tools_libs)
if HAVE_TEXT
tools_libs += lib/text/libsimidx-text.la
endif
tools_libs += $(engine_libraries) lib/libsimidx.la
else
dedup_libs = lib/dedup/libsd.la $(tools_libs)
if HAVE_TEXT
tools_libs += lib/text/libsx-text.la
endif
tools_libs += $(engine_libs) lib/libsx-core.la
endif
tools_libs += $(JANSSON_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS) -lm

# What all tools share: messages and options, and the parsers of every input format.
tools_libcommon_a_SOURCES = \
	tools/common/tl_advice.c \
	tools/common/tl_advice.h \
	tools/common/tl_crash.c \
	tools/common/tl_crash.h \
	tools/common/tl_emit.c \
	tools/common/tl_engines.c \
	tools/common/tl_engines.h \
	tools/common/tl_emit.h \
	tools/common/tl_escape.c \
	tools/common/tl_escape.h \
	tools/common/tl_example.c \
	tools/common/tl_example.h \
	tools/common/tl_features.c \
	tools/common/tl_features.h \
	tools/common/tl_fp.c \
	tools/common/tl_fp.h \
	tools/common/tl_help.c \
	tools/common/tl_help.h \
	tools/common/tl_index.c \
	tools/common/tl_index.h \
	tools/common/tl_json.c \
	tools/common/tl_json.h \
	tools/common/tl_msg.c \
	tools/common/tl_msg.h \
	tools/common/tl_number.c \
	tools/common/tl_number.h \
	tools/common/tl_options.c \
	tools/common/tl_options.h \
	tools/common/tl_others.c \
	tools/common/tl_others.h \
	tools/common/tl_output.c \
	tools/common/tl_output.h \
	tools/common/tl_path.c \
	tools/common/tl_path.h \
	tools/common/tl_owners.c \
	tools/common/tl_owners.h \
	tools/common/tl_report.c \
	tools/common/tl_report.h \
	tools/common/tl_term.c \
	tools/common/tl_term.h \
	tools/common/tl_time.c \
	tools/common/tl_time.h \
	tools/common/tl_text_options.c \
	tools/common/tl_text_options.h \
	tools/common/tl_unknown.c \
	tools/common/tl_unknown.h \
	tools/common/tl_utf8.c \
	tools/common/tl_utf8.h \
	tools/common/tl_value.c \
	tools/common/tl_value.h \
	tools/input/in_bare.c \
	tools/input/in_causes.c \
	tools/input/in_causes.h \
	tools/input/in_codec.c \
	tools/input/in_codec.h \
	tools/input/in_columns.c \
	tools/input/in_columns.h \
	tools/input/in_csv.c \
	tools/input/in_evidence.c \
	tools/input/in_evidence.h \
	tools/input/in_features.c \
	tools/input/in_files.c \
	tools/input/in_files.h \
	tools/input/in_format.c \
	tools/input/in_full.c \
	tools/input/in_full.h \
	tools/input/in_guard.c \
	tools/input/in_guard.h \
	tools/input/in_jsonl.c \
	tools/input/in_jsonl.h \
	tools/input/in_leave.c \
	tools/input/in_leave.h \
	tools/input/in_lines.c \
	tools/input/in_lines.h \
	tools/input/in_look.c \
	tools/input/in_look.h \
	tools/input/in_member.c \
	tools/input/in_member.h \
	tools/input/in_npy.c \
	tools/input/in_reader.c \
	tools/input/in_reader.h \
	tools/input/in_room.c \
	tools/input/in_room.h \
	tools/input/in_row.h \
	tools/input/in_source.c \
	tools/input/in_source.h \
	tools/input/in_table.c \
	tools/input/in_table.h \
	tools/input/in_text.c \
	tools/input/in_written.c \
	tools/input/in_written.h
if !HAVE_TEXT
tools_libcommon_a_SOURCES += tools/common/tl_text_none.c
endif
tools_libcommon_a_CPPFLAGS = $(tools_cppflags) $(JANSSON_CFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS)

# A library, as unit tests need its modules.
tools_libdedup_a_SOURCES = \
	tools/dedup/dd_against.c \
	tools/dedup/dd_against.h \
	tools/dedup/dd_again.c \
	tools/dedup/dd_again.h \
	tools/dedup/dd_anew.c \
	tools/dedup/dd_anew.h \
	tools/dedup/dd_best.c \
	tools/dedup/dd_best.h \
	tools/dedup/dd_binary.c \
	tools/dedup/dd_binary.h \
	tools/dedup/dd_check.c \
	tools/dedup/dd_check.h \
	tools/dedup/dd_columns.c \
	tools/dedup/dd_columns.h \
	tools/dedup/dd_counters.c \
	tools/dedup/dd_counters.h \
	tools/dedup/dd_evidence.c \
	tools/dedup/dd_evidence.h \
	tools/dedup/dd_facts.c \
	tools/dedup/dd_facts.h \
	tools/dedup/dd_files.c \
	tools/dedup/dd_files.h \
	tools/dedup/dd_fit.c \
	tools/dedup/dd_fit.h \
	tools/dedup/dd_groups.c \
	tools/dedup/dd_groups.h \
	tools/dedup/dd_header.c \
	tools/dedup/dd_header.h \
	tools/dedup/dd_index.c \
	tools/dedup/dd_index.h \
	tools/dedup/dd_keep.c \
	tools/dedup/dd_keep.h \
	tools/dedup/dd_labels.c \
	tools/dedup/dd_labels.h \
	tools/dedup/dd_keepers.c \
	tools/dedup/dd_keepers.h \
	tools/dedup/dd_lines.c \
	tools/dedup/dd_lines.h \
	tools/dedup/dd_mark.c \
	tools/dedup/dd_mark.h \
	tools/dedup/dd_member.h \
	tools/dedup/dd_memory.c \
	tools/dedup/dd_memory.h \
	tools/dedup/dd_name.h \
	tools/dedup/dd_options.c \
	tools/dedup/dd_options.h \
	tools/dedup/dd_output.c \
	tools/dedup/dd_output.h \
	tools/dedup/dd_pairs.c \
	tools/dedup/dd_pairs.h \
	tools/dedup/dd_resume.c \
	tools/dedup/dd_resume.h \
	tools/dedup/dd_report.c \
	tools/dedup/dd_report.h \
	tools/dedup/dd_room.c \
	tools/dedup/dd_room.h \
	tools/dedup/dd_shards.c \
	tools/dedup/dd_shards.h \
	tools/dedup/dd_sink.c \
	tools/dedup/dd_sink.h \
	tools/dedup/dd_run.c \
	tools/dedup/dd_run.h \
	tools/dedup/dd_summary.c \
	tools/dedup/dd_texts.c \
	tools/dedup/dd_texts.h \
	tools/dedup/dd_work.h
tools_libdedup_a_CPPFLAGS = $(tools_cppflags) $(XXHASH_CFLAGS)

tools_simidx_dedup_SOURCES = tools/dedup/dd_main.c
tools_simidx_dedup_CPPFLAGS = $(tools_cppflags)
tools_simidx_dedup_LDADD = tools/libdedup.a $(dedup_libs)

# Each is a library, main() included, because tests link it again with calls exchanged.
tools_libload_a_SOURCES = \
	tools/load/ld_change.c \
	tools/load/ld_change.h \
	tools/load/ld_check.c \
	tools/load/ld_check.h \
	tools/load/ld_emit.c \
	tools/load/ld_emit.h \
	tools/load/ld_end.c \
	tools/load/ld_end.h \
	tools/load/ld_fit.c \
	tools/load/ld_fit.h \
	tools/load/ld_from.c \
	tools/load/ld_from.h \
	tools/load/ld_full.c \
	tools/load/ld_full.h \
	tools/load/ld_main.c \
	tools/load/ld_mark.c \
	tools/load/ld_mark.h \
	tools/load/ld_merger.c \
	tools/load/ld_merger.h \
	tools/load/ld_options.c \
	tools/load/ld_options.h \
	tools/load/ld_places.c \
	tools/load/ld_places.h \
	tools/load/ld_progress.c \
	tools/load/ld_queue.c \
	tools/load/ld_queue.h \
	tools/load/ld_read.c \
	tools/load/ld_read.h \
	tools/load/ld_report.c \
	tools/load/ld_report.h \
	tools/load/ld_run.c \
	tools/load/ld_run.h \
	tools/load/ld_steps.c \
	tools/load/ld_steps.h \
	tools/load/ld_store.c \
	tools/load/ld_store.h \
	tools/load/ld_target.c \
	tools/load/ld_target.h
tools_libload_a_CPPFLAGS = $(tools_cppflags)

tools_simidx_load_SOURCES =
tools_simidx_load_LDADD = tools/libload.a $(tools_libs)

tools_libquery_a_SOURCES = \
	tools/query/qr_ask.c \
	tools/query/qr_ask.h \
	tools/query/qr_backup.c \
	tools/query/qr_clusters.c \
	tools/query/qr_command.c \
	tools/query/qr_command.h \
	tools/query/qr_compact.c \
	tools/query/qr_delete.c \
	tools/query/qr_dump.c \
	tools/query/qr_explain.c \
	tools/query/qr_explain.h \
	tools/query/qr_export.c \
	tools/query/qr_full.c \
	tools/query/qr_full.h \
	tools/query/qr_get.c \
	tools/query/qr_hbase.c \
	tools/query/qr_hbase.h \
	tools/query/qr_idf.c \
	tools/query/qr_join.c \
	tools/query/qr_join.h \
	tools/query/qr_json.c \
	tools/query/qr_json.h \
	tools/query/qr_main.c \
	tools/query/qr_pairs.c \
	tools/query/qr_plan.c \
	tools/query/qr_print.c \
	tools/query/qr_print.h \
	tools/query/qr_program.c \
	tools/query/qr_queue.c \
	tools/query/qr_queue.h \
	tools/query/qr_repair.c \
	tools/query/qr_review.c \
	tools/query/qr_review.h \
	tools/query/qr_review_page.c \
	tools/query/qr_review_term.c \
	tools/query/qr_sample.c \
	tools/query/qr_sample.h \
	tools/query/qr_search.c \
	tools/query/qr_sequence.c \
	tools/query/qr_sequence.h \
	tools/query/qr_similar.c \
	tools/query/qr_similar.h \
	tools/query/qr_similar_print.c \
	tools/query/qr_stats.c \
	tools/query/qr_texts.c \
	tools/query/qr_texts.h \
	tools/query/qr_verify.c \
	tools/query/qr_words.c \
	tools/query/qr_words.h
tools_libquery_a_CPPFLAGS = $(tools_cppflags) $(XXHASH_CFLAGS)

tools_simidx_query_SOURCES =
tools_simidx_query_LDADD = tools/libquery.a $(tools_libs)

# Manual pages and completions, made from the tables of options by a program that has them. Where
# what is built does not run here, those of the tarball are installed.
noinst_PROGRAMS += tools/make_manual
tools_make_manual_SOURCES = \
	tools/manual/mn_main.c \
	tools/manual/mn_manual.h \
	tools/manual/mn_page.c \
	tools/manual/mn_shells.c
tools_make_manual_CPPFLAGS = $(tools_cppflags)
tools_make_manual_LDADD = tools/libdedup.a tools/libload.a tools/libquery.a $(dedup_libs)

manual_pages = tools/manual/simidx-dedup.1 tools/manual/simidx-load.1 tools/manual/simidx-query.1 \
	tools/manual/simidx-query-backup.1 \
	tools/manual/simidx-query-clusters.1 \
	tools/manual/simidx-query-compact.1 \
	tools/manual/simidx-query-delete.1 \
	tools/manual/simidx-query-dump.1 \
	tools/manual/simidx-query-export.1 \
	tools/manual/simidx-query-get.1 \
	tools/manual/simidx-query-help.1 \
	tools/manual/simidx-query-idf.1 \
	tools/manual/simidx-query-pairs.1 \
	tools/manual/simidx-query-plan.1 \
	tools/manual/simidx-query-repair.1 \
	tools/manual/simidx-query-review.1 \
	tools/manual/simidx-query-search.1 \
	tools/manual/simidx-query-similar.1 \
	tools/manual/simidx-query-stats.1 \
	tools/manual/simidx-query-verify.1
manual_bash = tools/manual/bash/simidx-dedup tools/manual/bash/simidx-load tools/manual/bash/simidx-query
manual_zsh = tools/manual/zsh/_simidx-dedup tools/manual/zsh/_simidx-load tools/manual/zsh/_simidx-query
manual_fish = tools/manual/fish/simidx-dedup.fish tools/manual/fish/simidx-load.fish tools/manual/fish/simidx-query.fish
manual_all = $(manual_pages) $(manual_bash) $(manual_zsh) $(manual_fish)
dist_man1_MANS = $(manual_pages)
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = $(manual_bash)
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = $(manual_zsh)
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = $(manual_fish)

manual_make = $(AM_V_GEN)mkdir -p $(@D) && tools/make_manual
manual_date = "$$(sed -n '/^\#\# /{s/.*(\(.*\))/\1/;s/.* //;p;q;}' $(srcdir)/CHANGELOG.md)"
if !CROSS_COMPILING
DISTCLEANFILES += $(manual_all)
$(manual_pages): tools/make_manual$(EXEEXT) CHANGELOG.md
	$(manual_make) man `basename $@ .1` $(manual_date) >$@.new && mv $@.new $@
$(manual_bash): tools/make_manual$(EXEEXT)
	$(manual_make) bash $(@F) >$@.new && mv $@.new $@
$(manual_zsh): tools/make_manual$(EXEEXT)
	$(manual_make) zsh `basename $@ | sed s/_//` >$@.new && mv $@.new $@
$(manual_fish): tools/make_manual$(EXEEXT)
	$(manual_make) fish `basename $@ .fish` >$@.new && mv $@.new $@
endif
