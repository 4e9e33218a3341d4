// The points of a range: frames and series give back every text, series every number; pictures of
// formula plans.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/formula.h>
#include <stowage/report.h>
#include <stowage/text.h>
#include <string.h>

#include "report/picture/range.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Series

// Reads `2 7 64 0x510`, in quotes; returns how many numbers there are.
static size_t read_series(const char* text, uint64_t* out, size_t most) {
  int64_t sums[2] = {0};
  size_t count = 0;
  unsigned order = (unsigned)(text[1] - '0');
  const char* at = text + 2;
  while (*at == ' ') {
    char* end;
    int64_t value = strtoll(at, &end, 10);
    size_t times = *end == 'x' ? (size_t)strtoull(end + 1, &end, 10) : 1;
    for (; times > 0 && count < most; --times) {
      int64_t number = value;
      for (unsigned i = order; i-- > 0;) {
        number = sums[i] += number;
      }
      out[count++] = (uint64_t)number;
    }
    at = end;
  }
  return count;
}

#define NUMBERS 40

static uint64_t make_number(test_random* random, int kind, uint64_t i, uint64_t a, uint64_t b) {
  switch (kind) {
    case 0: return a;
    case 1: return a + b * i;
    case 2: return a + b * i * i;
    case 3: return (a + b * i + 63) / 64 * 64;
    case 4: return (UINT64_C(1) << 53) - 1 - (i % 2) * test_random_below(random, 1000);
    default: return test_random_below(random, 1u << 30);
  }
}

TEST(SeriesGiveBackTheirNumbers) {
  test_random random = {3};
  for (int round = 0; round < 3000; ++round) {
    uint64_t numbers[NUMBERS];
    uint64_t found[NUMBERS];
    size_t count = test_random_below(&random, NUMBERS + 1);
    uint64_t a = test_random_below(&random, 1u << 20);
    uint64_t b = test_random_below(&random, 5000);
    for (size_t i = 0; i < count; ++i) {
      numbers[i] = make_number(&random, round % 6, i, a, b);
    }
    stow_string text;
    stowi_report_out out;
    stow_string_init(&text, stow_allocator_default());
    CHECK(stowi_report_out_open(&out, stow_string_writer(&text), NULL, NULL) == STOW_OK);
    stowi_report_range_write_series(numbers, count, stow_allocator_default(), &out);
    CHECK(out.status == STOW_OK);
    CHECK(read_series(text.data, found, NUMBERS) == count);
    CHECK(count == 0 || memcmp(found, numbers, count * sizeof *found) == 0);
    CHECK(round % 6 > 2 || text.size < 40);
    stow_string_free(&text);
  }
}

// ---------------------------------------------------------------------------------------------
// Frames

#define POINTS 12

static stowi_report_range* make_range(stow_allocator allocator) {
  stowi_report_range* range = STOWI_NEW(allocator, stowi_report_range);
  if (range != NULL) {
    range->allocator = allocator;
    stow_string_init(&range->facts, allocator);
  }
  return range;
}

// Texts with numbers, words, and what only looks like a number.
static void make_text(test_random* random, char* out, size_t capacity) {
  static const char* const words[] = {"optimal", "feasible"};
  uint64_t n = test_random_below(random, 4);
  snprintf(out, capacity,
           "{\"a\":[%u,%u,%" PRIu64 "],\"b\":\"f32[%u, 7]\",\"c\":\"00%u\",\"d\":%s,\"%s\":1%s}",
           (unsigned)test_random_below(random, 3), (unsigned)test_random_below(random, 3), n,
           (unsigned)test_random_below(random, 200), (unsigned)test_random_below(random, 2),
           test_random_below(random, 8) == 0 ? "12345678901234567890" : "1234567890123456789",
           words[test_random_below(random, 2)], test_random_below(random, 4) == 0 ? ",2" : "");
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The size of the token at |at|, as the page finds it.
static size_t token_size(const char* at) {
  size_t size = 0;
  while (is_digit(at[size])) {
    ++size;
  }
  return size > 0                          ? size
         : strncmp(at, "optimal", 7) == 0  ? 7
         : strncmp(at, "feasible", 8) == 0 ? 8
                                           : 0;
}

// What the page makes of a frame at one of its points.
static void fill_frame(const stowi_report_frame* frame, size_t rank, char* out, size_t capacity) {
  size_t token = 0;
  size_t used = 0;
  for (const char* at = frame->text.data; at < frame->text.data + frame->text.size;) {
    size_t size = token_size(at);
    if (size == 0) {
      out[used++] = *at++;
      continue;
    }
    const stowi_report_series* series = &frame->series.data[frame->series_of.data[token++]];
    if (series->numbers.count == 0) {
      used += (size_t)snprintf(out + used, capacity - used, "%.*s", (int)size, at);
    } else if (is_digit(*at)) {
      used += (size_t)snprintf(out + used, capacity - used, "%" PRIu64, series->numbers.data[rank]);
    } else {
      used += (size_t)snprintf(out + used, capacity - used, "%s",
                               series->numbers.data[rank] == 0 ? "optimal" : "feasible");
    }
    at += size;
  }
  out[used] = '\0';
}

TEST(FramesGiveBackEveryText) {
  test_random random = {5};
  for (int round = 0; round < 500; ++round) {
    char texts[POINTS][200];
    size_t ranks[POINTS];
    stowi_report_range* range = make_range(stow_allocator_default());
    for (size_t i = 0; i < POINTS; ++i) {
      make_text(&random, texts[i], sizeof texts[i]);
      CHECK(stowi_report_range_add(range, stow_str_of(texts[i])) == STOW_OK);
      ranks[i] = range->frames.data[range->frame_of.data[i]].point_count - 1;
    }
    stowi_report_range_finish(range);
    for (size_t i = 0; i < POINTS; ++i) {
      char found[400];
      fill_frame(&range->frames.data[range->frame_of.data[i]], ranks[i], found, sizeof found);
      CHECK_TEXT(found, texts[i]);
    }
    stowi_report_range_destroy(range);
  }
  stowi_report_range_destroy(NULL);
}

// ---------------------------------------------------------------------------------------------
// Pictures

// A transpose of one row is a view, so there are two regions, with a frame each.
static const char turn[] =
    "graph @turn {\n"
    "  range ?seq = 1..20\n"
    "  %0 = input \"x\" : f32[?seq, 8, 4]\n"
    "  %1 = exp(%0) : f32[?seq, 8, 4]\n"
    "  %2 = transpose(%1) {perm = [1, 0, 2]} : f32[8, ?seq, 4]\n"
    "  %3 = tanh(%2) : f32[8, ?seq, 4]\n"
    "  return %3\n"
    "}\n";

typedef struct ranged {
  stow_module* module;
  stow_formula* formula;
} ranged;

static ranged make_formula(const char* text) {
  ranged r = {NULL, NULL};
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_module_parse(text, strlen(text), "range.stow", NULL, stow_allocator_default(), &diag,
                          &r.module) == STOW_OK);
  const stow_graph* graph = stow_module_graph(r.module, 0);
  CHECK(stow_formula_make(graph, NULL, stow_allocator_default(), &diag, &r.formula) == STOW_OK);
  return r;
}

static void free_formula(ranged* r) {
  stow_formula_destroy(r->formula);
  stow_module_destroy(r->module);
}

static stow_status draw(const ranged* r, size_t point, bool is_one, stow_allocator allocator,
                        stow_picture_format format, stow_string* out) {
  stow_picture* picture;
  stow_picture_formula from;
  stow_picture_formula_init(&from);
  from.formula = r->formula;
  from.point = point;
  from.is_one_point = is_one;
  stow_status status = stow_picture_from_formula(&from, allocator, NULL, &picture);
  if (status == STOW_OK) {
    status = stow_picture_write(picture, format, NULL, stow_string_writer(out), NULL);
  }
  stow_picture_destroy(picture);
  return status;
}

TEST(EveryPointIsDrawnAsItIsAlone) {
  ranged r = make_formula(turn);
  stow_string all;
  stow_string_init(&all, stow_allocator_default());
  CHECK(draw(&r, SIZE_MAX, false, stow_allocator_default(), STOW_PICTURE_JSON, &all) == STOW_OK);
  CHECK_HAS(all.data, "\"at\":\"seq=20\"");
  CHECK_HAS(all.data,
            "\"range\":{\"symbols\":[{\"name\":\"seq\",\"min\":1,\"max\":20,\"step\":1}]");
  CHECK_HAS(all.data, "\"point\":19,\"largest\":19");
  for (size_t point = 0; point < 20; ++point) {
    stow_string one;
    stow_string some;
    stow_string_init(&one, stow_allocator_default());
    stow_string_init(&some, stow_allocator_default());
    CHECK(draw(&r, point, true, stow_allocator_default(), STOW_PICTURE_JSON, &one) == STOW_OK);
    CHECK(draw(&r, point, false, stow_allocator_default(), STOW_PICTURE_JSON, &some) == STOW_OK);
    CHECK(strstr(one.data, "\"range\"") == NULL);
    CHECK(memcmp(one.data, some.data, one.size - 2) == 0);
    CHECK(memcmp(some.data + one.size - 2, ",\n\"range\":{", 11) == 0);
    stow_string_free(&one);
    stow_string_free(&some);
  }
  stow_string_free(&all);
  free_formula(&r);
}

TEST(EveryFormatNamesThePoint) {
  ranged r = make_formula(turn);
  for (int format = STOW_PICTURE_HTML; format <= STOW_PICTURE_TRACE; ++format) {
    stow_string out;
    stow_string_init(&out, stow_allocator_default());
    CHECK(draw(&r, 4, true, stow_allocator_default(), (stow_picture_format)format, &out) ==
          STOW_OK);
    CHECK_HAS(out.data, "seq=5");
    stow_string_free(&out);
  }
  free_formula(&r);
}

TEST(LongRangesAreDrawnAtSomePoints) {
  ranged r = make_formula(
      "graph @long {\n"
      "  range ?a = 1..100\n"
      "  range ?b = 1..300\n"
      "  %0 = input \"x\" : f32[?a, ?b]\n"
      "  %1 = exp(%0) : f32[?a, ?b]\n"
      "  return %1\n"
      "}\n");
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(draw(&r, 100 * 300 - 2, false, stow_allocator_default(), STOW_PICTURE_JSON, &out) ==
        STOW_OK);
  // Every second and every eighth, and the last ones, of which the last but one is asked for.
  CHECK(strstr(out.data, "\"drawn\":[\"1 0 2x49 1\",\"1 0 8x37 2 1\"]") != NULL);
  stow_string_free(&out);
  free_formula(&r);
}

TEST(WrongPointsAreRefused) {
  ranged r = make_formula(turn);
  stow_string out;
  stow_picture* picture;
  stow_picture_formula from;
  stow_picture_formula_init(&from);
  stow_string_init(&out, stow_allocator_default());
  CHECK(stow_picture_from_formula(&from, stow_allocator_default(), NULL, &picture) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK(draw(&r, 20, true, stow_allocator_default(), STOW_PICTURE_JSON, &out) ==
        STOW_ERR_NOT_FOUND);
  from.formula = r.formula;
  CHECK(stow_picture_from_formula(&from, stow_allocator_default(), NULL, &picture) == STOW_OK);
  CHECK(stow_picture_compare(picture, picture, NULL) == STOW_ERR_INVALID_ARGUMENT);
  stow_picture_destroy(picture);
  stow_string_free(&out);
  free_formula(&r);
}

static stow_status starve(stow_allocator allocator, void* user) {
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  stow_status status = draw(user, SIZE_MAX, false, allocator, STOW_PICTURE_HTML, &out);
  stow_string_free(&out);
  return status;
}

TEST(PicturesOfRangesSurviveEveryFailingAllocation) {
  ranged r = make_formula(
      "graph @turn {\n"
      "  range ?seq = 1..3\n"
      "  %0 = input \"x\" : f32[?seq, 8, 4]\n"
      "  %1 = exp(%0) : f32[?seq, 8, 4]\n"
      "  %2 = transpose(%1) {perm = [1, 0, 2]} : f32[8, ?seq, 4]\n"
      "  return %2\n"
      "}\n");
  CHECK(test_fault_sweep(starve, &r) > 100);
  free_formula(&r);
}
