// Tests of the base room: diagnostics, memory, text, sorting, hashing, checked arithmetic.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/rank_set.h"
#include "base/sort.h"
#include "base/text.h"
#include "support/fault.h"
#include "support/test.h"

TEST(EveryStatusHasAText) {
  for (int status = STOW_OK; status <= STOW_ERR_GAVE_UP; ++status) {
    CHECK(strcmp(stow_status_text((stow_status)status), "unknown status") != 0);
  }
  CHECK_TEXT(stow_status_text((stow_status)9999), "unknown status");
}

TEST(VersionsAgree) {
  char expected[32];
  snprintf(expected, sizeof(expected), "%d.%d.%d", STOW_VERSION_MAJOR, STOW_VERSION_MINOR,
           STOW_VERSION_PATCH);
  CHECK_TEXT(stow_version(), expected);
}

TEST(LongMessagesAreTruncated) {
  stow_diag diag;
  stow_diag_init(&diag);
  char text[3000];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  CHECK(stowi_fail(&diag, STOW_ERR_TYPE, "%s", text) == STOW_ERR_TYPE);
  CHECK_U64(strlen(diag.message), STOW_DIAG_MESSAGE_SIZE - 1);
  stowi_diag_append(&diag, "more");
  CHECK_U64(strlen(diag.message), STOW_DIAG_MESSAGE_SIZE - 1);
}

TEST(DiagnosticsCarryPositionAndIds) {
  stow_diag diag;
  stow_diag_init(&diag);
  stowi_fail(&diag, STOW_ERR_SYNTAX, "expected %s", "':'");
  stowi_diag_at(&diag, 3, 7);
  stowi_diag_node(&diag, 4);
  stowi_diag_value(&diag, 5);
  stowi_diag_append(&diag, " here");
  CHECK_TEXT(diag.message, "expected ':' here");
  CHECK_U64(diag.line, 3);
  CHECK_U64(diag.column, 7);
  CHECK_U64(diag.node, 4);
  CHECK_U64(diag.value, 5);
  stowi_diag_split(&diag, stow_str_of("seq"), 2);
  stow_diag other;
  stow_diag_init(&other);
  stowi_fail(&other, STOW_ERR_TYPE, "%s", diag.message);
  CHECK_TEXT(other.split_symbol, "");
  stowi_diag_keep_split(&other, &diag);
  CHECK_TEXT(other.split_symbol, "seq");
  CHECK(other.split_at == 2);
}

TEST(DiagnosticMayBeNull) {
  CHECK(stowi_fail(NULL, STOW_ERR_IO, "x") == STOW_ERR_IO);
  CHECK(stowi_fail_memory(NULL) == STOW_ERR_OUT_OF_MEMORY);
  stowi_diag_at(NULL, 1, 1);
  stowi_diag_node(NULL, 1);
  stowi_diag_value(NULL, 1);
  stowi_diag_append(NULL, "x");
  stow_diag uninitialised;
  memset(&uninitialised, 0, sizeof(uninitialised));
  stowi_fail(&uninitialised, STOW_ERR_IO, "x");
  CHECK_U64(uninitialised.message[0], 0);
}

typedef struct sample_options {
  size_t struct_size;
  int first;
  int second;
} sample_options;

TEST(StructsFromAnEarlierHeaderGetDefaultsForTheRest) {
  stow_diag diag;
  stow_diag_init(&diag);
  sample_options given = {offsetof(sample_options, second), 7, 8};
  sample_options full = {0, 1, 2};
  CHECK(stowi_load_struct(&full, &given, sizeof(full), "stow_x", &diag) == STOW_OK);
  CHECK_U64(full.first, 7);
  CHECK_U64(full.second, 2);
  CHECK_U64(full.struct_size, sizeof(full));
  size_t refused[] = {0, 1, sizeof(full) + 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); ++i) {
    given.struct_size = refused[i];
    CHECK(stowi_load_struct(&full, &given, sizeof(full), "stow_x", &diag) ==
          STOW_ERR_INVALID_ARGUMENT);
    CHECK_HAS(diag.message, "stow_x.struct_size is ");
  }
  CHECK(stowi_load_struct(&full, NULL, sizeof(full), "stow_x", &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(diag.message, "stow_x is NULL");
}

TEST(DefaultAllocatorKeepsContentsAtAnyAlignment) {
  stow_allocator allocator = stow_allocator_default();
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    char* block = (char*)allocator.reallocate(allocator.user, NULL, 0, 100, alignment);
    REQUIRE(block != NULL);
    CHECK_U64((uintptr_t)block % alignment, 0);
    memset(block, 7, 100);
    block = (char*)allocator.reallocate(allocator.user, block, 100, 5000, alignment);
    REQUIRE(block != NULL);
    CHECK_U64((uintptr_t)block % alignment, 0);
    CHECK_U64(block[99], 7);
    allocator.reallocate(allocator.user, block, 5000, 0, alignment);
  }
  CHECK(allocator.reallocate(allocator.user, NULL, 0, SIZE_MAX - 10, 4096) == NULL);
}

TEST(OverflowingSizesAreRefusedNotWrapped) {
  stow_allocator allocator = stow_allocator_default();
  CHECK(stowi_alloc(allocator, SIZE_MAX / 2, 4) == NULL);
  STOWI_VEC(uint64_t) vec = {0};
  CHECK(STOWI_VEC_RESERVE(allocator, &vec, SIZE_MAX / 4) == STOW_ERR_OUT_OF_MEMORY);
  vec.count = 10;
  CHECK(STOWI_VEC_RESERVE(allocator, &vec, SIZE_MAX) == STOW_ERR_OUT_OF_MEMORY);
}

TEST(ZeroBytesGiveABlock) {
  stow_allocator allocator = stow_allocator_default();
  void* block = stowi_alloc(allocator, 0, 16);
  CHECK(block != NULL);
  stowi_free(allocator, block, 0, 16);
  stowi_free(allocator, NULL, 0, 16);
}

TEST(CheckedArithmeticReportsOverflow) {
  uint64_t u;
  int64_t i;
  CHECK(!stowi_add_u64(UINT64_MAX, 1, &u));
  CHECK(stowi_add_u64(UINT64_MAX - 1, 1, &u) && u == UINT64_MAX);
  CHECK(!stowi_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &u));
  CHECK(stowi_mul_u64(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &u));
  CHECK(!stowi_add_i64(INT64_MAX, 1, &i));
  CHECK(!stowi_add_i64(INT64_MIN, -1, &i));
  CHECK(stowi_add_i64(INT64_MIN, INT64_MAX, &i) && i == -1);
  CHECK(!stowi_mul_i64(INT64_MIN, -1, &i));
  CHECK(!stowi_mul_i64(-1, INT64_MIN, &i));
  CHECK(!stowi_mul_i64(INT64_C(1) << 40, INT64_C(1) << 40, &i));
  CHECK(stowi_mul_i64(INT64_MIN, 1, &i) && i == INT64_MIN);
  CHECK(stowi_mul_i64(-3, 5, &i) && i == -15);
  CHECK(!stowi_align_up(UINT64_MAX, 64, &u));
  CHECK(stowi_align_up(65, 64, &u) && u == 128);
  CHECK(stowi_is_power_of_two(64) && !stowi_is_power_of_two(0) && !stowi_is_power_of_two(48));
  size_t s;
  CHECK(!stowi_add_size(SIZE_MAX, 1, &s) && !stowi_mul_size(SIZE_MAX, 2, &s));
}

TEST(StringsCompareByBytes) {
  CHECK(stow_str_compare(stow_str_of("a"), stow_str_of("ab")) < 0);
  CHECK(stow_str_compare(stow_str_of("b"), stow_str_of("ab")) > 0);
  CHECK(stow_str_compare(stow_str_of(NULL), stow_str_of("")) == 0);
  CHECK(stow_str_compare(stow_str_of("\xff"), stow_str_of("a")) > 0);
  CHECK(stow_str_equal(stow_str_of("x"), stow_str_of("x")));
  CHECK(!stow_str_equal(stow_str_of("x"), stow_str_of("y")));
}

static stow_status write_everything(stow_allocator allocator, void* user) {
  (void)user;
  stow_string string;
  stow_string_init(&string, allocator);
  stow_writer writer = stow_string_writer(&string);
  stow_str nasty = {"a\"\\\n\t\r\x01\x7f\0é", 11};
  stow_status status = stowi_put_quoted(writer, nasty);
  if (status == STOW_OK) {
    status = stowi_printf(writer, " %d %s", 42, "end");
  }
  for (int i = 0; status == STOW_OK && i < 20; ++i) {
    status = stowi_put(writer, "");
    if (status == STOW_OK) {
      status = stowi_put(writer, "0123456789");
    }
  }
  if (status == STOW_OK) {
    CHECK(strncmp(string.data, "\"a\\\"\\\\\\n\\t\\r\\x01\\x7f\\x00é\" 42 end012", 36) == 0);
  }
  stow_string_free(&string);
  return status;
}

TEST(WritingSurvivesEveryFailedAllocation) { CHECK(test_fault_sweep(write_everything, NULL) >= 3); }

TEST(OverlongFormattedPieceIsAnError) {
  stow_string string;
  stow_string_init(&string, stow_allocator_default());
  char text[600];
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  CHECK(stowi_printf(stow_string_writer(&string), "%s", text) == STOW_ERR_LIMIT);
  CHECK(stow_string_append(&string, "x", SIZE_MAX) == STOW_ERR_OUT_OF_MEMORY);
  CHECK_U64(string.size, 0);
  stow_string_free(&string);
}

TEST(NumbersParseExactlyOrNotAtAll) {
  uint64_t number;
  CHECK(stowi_parse_u64(stow_str_of("18446744073709551615"), &number) && number == UINT64_MAX);
  CHECK(!stowi_parse_u64(stow_str_of("18446744073709551616"), &number));
  CHECK(!stowi_parse_u64(stow_str_of(""), &number));
  CHECK(!stowi_parse_u64(stow_str_of("-1"), &number));
  CHECK(!stowi_parse_u64(stow_str_of("1 "), &number));
}

TEST(PlainNamesAreIdentifiersWithDots) {
  CHECK(stowi_is_plain_name(stow_str_of("_a.b9")));
  CHECK(!stowi_is_plain_name(stow_str_of("9a")));
  CHECK(!stowi_is_plain_name(stow_str_of("")));
  CHECK(!stowi_is_plain_name(stow_str_of("a-b")));
}

typedef struct pair {
  uint32_t key;
  uint32_t order;
} pair;

static int by_key(const void* a, const void* b, const void* context) {
  (void)context;
  const pair* x = (const pair*)a;
  const pair* y = (const pair*)b;
  return x->key < y->key ? -1 : x->key > y->key;
}

static void check_sorted(test_random* random, size_t count, uint64_t keys) {
  pair* pairs = (pair*)malloc((count + 1) * sizeof(pair));
  if (pairs == NULL) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    pairs[i] = (pair){(uint32_t)test_random_below(random, keys), (uint32_t)i};
  }
  CHECK(stowi_sort(pairs, count, sizeof(pair), by_key, NULL, stow_allocator_default()) == STOW_OK);
  for (size_t i = 1; i < count; ++i) {
    bool in_order = pairs[i - 1].key < pairs[i].key ||
                    (pairs[i - 1].key == pairs[i].key && pairs[i - 1].order < pairs[i].order);
    CHECK(in_order);
  }
  free(pairs);
}

TEST(SortIsStableForEveryLength) {
  test_random random = {1};
  for (size_t count = 0; count < 200; ++count) {
    check_sorted(&random, count, 10);
    check_sorted(&random, count, 1000000);
  }
  check_sorted(&random, 10000, 50);
}

typedef struct keyed {
  uint64_t key;
  uint32_t order;
} keyed;

static void check_sorted_by_key(test_random* random, size_t count, uint64_t keys, uint64_t base) {
  keyed* elements = (keyed*)malloc((count + 1) * sizeof(keyed));
  if (elements == NULL) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    elements[i] = (keyed){base + test_random_below(random, keys), (uint32_t)i};
  }
  CHECK(stowi_sort_by_key(elements, count, sizeof(keyed), stow_allocator_default()) == STOW_OK);
  for (size_t i = 1; i < count; ++i) {
    keyed a = elements[i - 1];
    keyed b = elements[i];
    CHECK(a.key < b.key || (a.key == b.key && a.order < b.order));
  }
  free(elements);
}

TEST(SortByKeyIsStableForFewAndMany) {
  test_random random = {2};
  for (size_t count = 0; count < 3000; count = 2 * count + 1) {
    check_sorted_by_key(&random, count, 1, 7);
    check_sorted_by_key(&random, count, 50, UINT64_MAX - 50);
    check_sorted_by_key(&random, count, 1 << 20, 0);
    check_sorted_by_key(&random, count, UINT64_MAX, 0);
  }
}

static stow_status sort_many_by_key(stow_allocator allocator, void* user) {
  keyed elements[2000];
  (void)user;
  for (size_t i = 0; i < 2000; ++i) {
    elements[i] = (keyed){2000 - i, 0};
  }
  stow_status status = stowi_sort_by_key(elements, 2000, sizeof(keyed), allocator);
  CHECK_U64(elements[0].key, status == STOW_OK ? 1 : 2000);
  return status;
}

TEST(SortByKeySurvivesFailingAllocations) {
  CHECK_U64(test_fault_sweep(sort_many_by_key, NULL), 1);
}

static stow_status sort_some(stow_allocator allocator, void* user) {
  (void)user;
  pair pairs[40];
  memset(pairs, 0, sizeof(pairs));
  return stowi_sort(pairs, 40, sizeof(pair), by_key, NULL, allocator);
}

TEST(SortSurvivesAFailedAllocation) { CHECK_U64(test_fault_sweep(sort_some, NULL), 1); }

static bool equal_number(const void* context, uint32_t id, const void* key) {
  return ((const uint64_t*)context)[id] == *(const uint64_t*)key;
}

static stow_status fill_index(stow_allocator allocator, void* user) {
  enum { COUNT = 1000 };
  (void)user;
  static uint64_t keys[COUNT];
  stowi_index index = {0};
  stow_status status = STOW_OK;
  for (uint32_t i = 0; i < COUNT && status == STOW_OK; ++i) {
    keys[i] = (uint64_t)i * i;
    status = stowi_index_reserve(&index, allocator);
    if (status == STOW_OK) {
      // Only four different hashes: probing must still find every key.
      stowi_index_insert(&index, i % 4, i);
    }
  }
  for (uint32_t i = 0; i < COUNT && status == STOW_OK; ++i) {
    CHECK_U64(stowi_index_find(&index, i % 4, equal_number, keys, &keys[i]), i);
  }
  uint64_t absent = 3;
  CHECK(stowi_index_find(&index, 3, equal_number, keys, &absent) == STOWI_INDEX_NONE);
  stowi_index_free(&index, allocator);
  return status;
}

TEST(IndexFindsInsertedKeysAndSurvivesFailedAllocations) {
  CHECK(test_fault_sweep(fill_index, NULL) > 3);
}

TEST(HashesAreTheSameOnEveryMachine) {
  CHECK_U64(stowi_hash_bytes(STOWI_HASH_SEED, "stowage plans", 13), UINT64_C(5310776257455802037));
  CHECK(stowi_hash_bytes(1, "ab", 2) != stowi_hash_bytes(1, "ab\0", 3));
}

static stow_status use_rank_set(stow_allocator allocator, void* user) {
  enum { BOUND = 5000 };
  test_random random = {9};
  static bool in[BOUND];
  (void)user;
  memset(in, 0, sizeof(in));
  stowi_rank_set set;
  stow_status status = stowi_rank_set_init(&set, BOUND, allocator);
  for (int i = 0; i < 4000 && status == STOW_OK; ++i) {
    size_t rank = (size_t)test_random_below(&random, BOUND);
    in[rank] = !in[rank];
    (in[rank] ? stowi_rank_set_insert : stowi_rank_set_remove)(&set, rank);
    size_t from = (size_t)test_random_below(&random, BOUND);
    size_t next = from + 1;
    while (next < BOUND && !in[next]) {
      ++next;
    }
    size_t previous = from;
    while (previous > 0 && !in[previous - 1]) {
      --previous;
    }
    CHECK_U64(stowi_rank_set_next(&set, from), next == BOUND ? STOWI_NO_RANK : next);
    CHECK_U64(stowi_rank_set_previous(&set, from), previous == 0 ? STOWI_NO_RANK : previous - 1);
  }
  stowi_rank_set_free(&set, allocator);
  return status;
}

TEST(RankSetsFindTheNeighboursThatALinearSearchFinds) {
  CHECK_U64(test_fault_sweep(use_rank_set, NULL), 1);
}

static stow_status put_json(const char* text, size_t size, bool in_page, stow_string* out) {
  out->size = 0;
  return stowi_put_json(stow_string_writer(out), (stow_str){text, size}, in_page);
}

TEST(JsonStringsEscapeWhatActs) {
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(put_json("a\"\\\n\x01\x7F\xC2\x85", 8, false, &out) == STOW_OK);
  CHECK_TEXT(out.data, "\"a\\\"\\\\\\n\\u0001\\u007f\\u0085\"");
  CHECK(put_json(NULL, 0, false, &out) == STOW_OK);
  CHECK_TEXT(out.data, "\"\"");
  CHECK(put_json("<&>\xE2\x80\xA8", 6, false, &out) == STOW_OK);
  CHECK_TEXT(out.data, "\"<&>\xE2\x80\xA8\"");
  CHECK(put_json("<&>\xE2\x80\xA8", 6, true, &out) == STOW_OK);
  CHECK_TEXT(out.data, "\"\\u003c\\u0026\\u003e\\u2028\"");
  stow_string_free(&out);
}

TEST(JsonStringsReplaceWhatIsNotUtf8) {
  // overlong, a surrogate, above U+10FFFF, cut off; and the last valid ones
  static const char* const wrong[] = {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"};
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  for (size_t i = 0; i < 4; ++i) {
    CHECK(put_json(wrong[i], strlen(wrong[i]), true, &out) == STOW_OK);
    CHECK_U64(out.size, 2 + 6 * strlen(wrong[i]));
    CHECK(strstr(out.data, "\\ufffd") == out.data + 1);
  }
  CHECK(put_json("\xF4\x8F\xBF\xBF\xED\x9F\xBF", 7, true, &out) == STOW_OK);
  CHECK_TEXT(out.data, "\"\xF4\x8F\xBF\xBF\xED\x9F\xBF\"");
  stow_string_free(&out);
}

TEST(QuotedTextIsReadBack) {
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  for (unsigned byte = 1; byte < 256; ++byte) {
    char c = (char)byte;
    char back = '\0';
    out.size = 0;
    CHECK(stowi_put_quoted(stow_string_writer(&out), (stow_str){&c, 1}) == STOW_OK);
    const char* at = out.data + 1;
    CHECK(stowi_unescape(&at, out.data + out.size - 1, &back));
    CHECK(back == c && at == out.data + out.size - 1);
  }
  const char* wrong[] = {"\\q", "\\x4", "\\xg0", "\\"};
  for (size_t i = 0; i < 4; ++i) {
    const char* at = wrong[i];
    char c;
    CHECK(!stowi_unescape(&at, at + strlen(at), &c) && at == wrong[i]);
  }
  stow_string_free(&out);
}

TEST(EditDistanceCountsLettersPutInTakenOutChangedAndSwapped) {
  CHECK_U64(stowi_edit_distance(stow_str_of("reshape"), stow_str_of("reshape")), 0);
  CHECK_U64(stowi_edit_distance(stow_str_of("reshpe"), stow_str_of("reshape")), 1);
  CHECK_U64(stowi_edit_distance(stow_str_of("bacth"), stow_str_of("batch")), 1);
  CHECK_U64(stowi_edit_distance(stow_str_of("ca"), stow_str_of("abc")), 3);
  CHECK_U64(stowi_edit_distance(stow_str_of(""), stow_str_of("abc")), 3);
  CHECK_U64(stowi_edit_distance(stow_str_of("kitten"), stow_str_of("sitting")), 3);
}
