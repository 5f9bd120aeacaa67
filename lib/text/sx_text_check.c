/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <unicode/uversion.h>

#include <simidx_text.h>

#include "text/sx_text_stem.h"
#include "util/sx_err.h"

/* clang-format off */
const sx_check_text sx_check_texts[SX_N_CHECK_TEXTS] = {
	{ "English",
	  "A near-duplicate isn't always easy to see: the reader's copy may carry another date, a "
	  "shorter title or one more paragraph, and yet it tells the same story. We count words, "
	  "and pairs of neighbouring words, because their order matters." },
	{ "German",
	  "Größere Sammlungen enthalten fast immer dieselben Straßenkarten, Übersichten und "
	  "Merkblätter in mehreren Fassungen. Wer sie ordnet, prüft zuerst die Überschrift und "
	  "danach jede einzelne Bahnhofsgaststätte." },
	{ "French",
	  "Aujourd'hui, l'archiviste a retrouvé deux lettres presque identiques ; l'une d'elles "
	  "portait une date effacée. « Qu'est-ce que cela change ? » demanda l'élève, étonnée." },
	{ "Russian",
	  "Вечером библиотекарь сравнил оба списка и нашёл, что они отличаются только одной "
	  "строкой. Ещё раз: никакие числа, кроме года, не изменились." },
	{ "Greek",
	  "Ο βιβλιοθηκάριος διάβασε δύο φορές το ίδιο κείμενο· μόνο η τελευταία ΛΕΞΗ ήταν "
	  "διαφορετική. Ποιος άλλαξε τους τόνους, και γιατί;" },
	{ "Arabic",
	  "وجدت أمينة المكتبة نسختين من الرسالة نفسها، ولم يكن بينهما فرق إلا في السطر الأخير. "
	  "كُتِبَتِ الأولى عام ١٩٧٢ والثانية بعد ذلك بقليل." },
	{ "Hebrew",
	  "הספרן השווה בין שני העותקים ומצא שרק התאריך שונה. בצה\"ל וב-ד\"ש נכתבו "
	  "ראשי התיבות כרגיל, וגם צ'ק אחד נשאר בתיק." },
	{ "Hindi",
	  "पुस्तकालय में एक ही पत्र की दो प्रतियाँ मिलीं। दूसरी प्रति में केवल अंतिम पंक्ति बदली "
	  "हुई थी, बाकी सब शब्द वैसे ही थे।" },
	{ "Thai",
	  "บรรณารักษ์พบจดหมายสองฉบับที่เหมือนกันเกือบทุกคำ ต่างกันเพียงวันที่และชื่อผู้ส่ง "
	  "เราจึงนับคำและคู่ของคำที่อยู่ติดกัน" },
	{ "simplified Chinese",
	  "图书管理员把两份报告放在一起比较，发现内容几乎完全相同，只有日期和最后一段不一样。"
	  "我们统计每个词语以及相邻的两个词语，因为顺序也很重要。" },
	{ "traditional Chinese",
	  "圖書館員把兩份報告放在一起比較，發現內容幾乎完全相同，只有日期和最後一段不一樣。"
	  "研究生命的起源並不容易，臺灣的學者這樣說。" },
	{ "Japanese",
	  "図書館の職員が二通の手紙を比べたところ、日付と最後の一行だけが違っていました。"
	  "コンピューターで単語を数え、隣り合う言葉の組も調べます。" },
	{ "Korean",
	  "사서가 두 편지를 나란히 놓고 비교해 보니 날짜와 마지막 줄만 달랐다. 우리는 낱말과 "
	  "이웃한 낱말의 짝을 함께 세며, 漢字가 섞인 글도 다룬다." },
	{ "numbers and signs",
	  "v2.10.3 costs 4,095,000.50 EUR (about 3½ times $1.2e6) on 2024-02-29 at 07:45; see "
	  "https://www.example.org/a_b/c?id=42&x=%20#top or mail first.last+tag@example.com. "
	  "C++ & C#, 50% off, 👩‍👩‍👧 🇫🇷🇯🇵 👍🏽 #tag @name x² ≥ 10 µm, № 5, 3×4." },
	{ "full-width forms",
	  "ＦＵＬＬ　ｗｉｄｔｈ，１２３．４５％ ｶﾞｷﾞｸﾞ ﾊﾟｿｺﾝ ﬁne ﬂow ①②③ ㍿ ㌔ Ⅻ ℡ ﷺ "
	  "ＡＢＣ－９（ｔｅｓｔ）" },
	{ "combining marks",
	  "cafe\u0301 re\u0301sume\u0301 A\u030angstro\u0308m \u212b \u1e9e stra\u00dfe "
	  "I\u0307stanbul \u0130 \u01c4 \u0149 \u03b1\u0345 \u1fb3 q\u0323\u0307 q\u0307\u0323 "
	  "Vie\u0323\u0302t \u1112\u1161\u11ab\u1100\u1173\u11af soft\u00adhyphen zero\u200dwidth "
	  "no\u200bspace" },
};
/* clang-format on */

static char build_info[U_MAX_VERSION_STRING_LENGTH + 32];

static void make_build_info(void)
{
	char version[U_MAX_VERSION_STRING_LENGTH];
	UVersionInfo parts;

	u_getVersion(parts);
	u_versionToString(parts, version);
	snprintf(build_info, sizeof(build_info), "ICU %s%s", version, sx_stem_build_info());
}

const char *simidx_text_build_info(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_build_info);
	return build_info;
}

int sx_check_fps_compare(const uint64_t *stored, size_t n_stored, const uint64_t *own,
		    simidx_error *err)
{
	size_t i;

	if (n_stored != SX_N_CHECK_TEXTS)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index has %zu fingerprints of check texts, not %d",
			       n_stored, SX_N_CHECK_TEXTS);
	for (i = 0; i < SX_N_CHECK_TEXTS; i++) {
		if (stored[i] != own[i])
			return sx_fail(err, SIMIDX_E_MISMATCH,
				       "check text %zu (%s) has fingerprint %016" PRIx64
				       " in the index and %016" PRIx64
				       " here: %s splits texts into other words",
				       i + 1, sx_check_texts[i].name, stored[i], own[i],
				       simidx_text_build_info());
	}
	return SIMIDX_OK;
}
