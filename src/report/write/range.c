// The points of a range as JSON. Series are sums of runs: most numbers are linear or quadratic in
// a symbol, rounded up to an alignment, so that their differences repeat.
#include "report/picture/range.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

// Above it, differences of differences might not be exact as doubles.
#define LARGEST_DIFFERENCE (UINT64_C(1) << 51)
#define MOST_ORDER 2

// The next of the differences of order |order|; |last| has those of the lower orders so far.
static int64_t next_difference(uint64_t number, unsigned order, int64_t last[MOST_ORDER]) {
  int64_t value = (int64_t)number;
  for (unsigned i = 0; i < order; ++i) {
    int64_t lower = value;
    value -= last[i];
    last[i] = lower;
  }
  return value;
}

static stow_status put_run(stow_string* out, int64_t value, size_t count) {
  char text[64];
  int size = count == 1 ? snprintf(text, sizeof text, " %" PRId64, value)
                        : snprintf(text, sizeof text, " %" PRId64 "x%zu", value, count);
  return stow_string_append(out, text, (size_t)size);
}

// `2 7 64 0x510`: the order, then its differences; those before the first number are 0.
static stow_status put_series(stow_string* out, const uint64_t* numbers, size_t count,
                              unsigned order) {
  char digit = (char)('0' + order);
  int64_t last[MOST_ORDER] = {0};
  int64_t value = 0;
  size_t run = 0;
  out->size = 0;
  STOW_TRY(stow_string_append(out, &digit, 1));
  for (size_t i = 0; i < count; ++i) {
    int64_t next = next_difference(numbers[i], order, last);
    if (run > 0 && next != value) {
      STOW_TRY(put_run(out, value, run));
      run = 0;
    }
    value = next;
    ++run;
  }
  return run == 0 ? STOW_OK : put_run(out, value, run);
}

void stowi_report_range_write_series(const uint64_t* numbers, size_t count,
                                     stow_allocator allocator, stowi_report_out* out) {
  unsigned most = MOST_ORDER;
  stow_string tried;
  stow_string best;
  stow_string_init(&tried, allocator);
  stow_string_init(&best, allocator);
  for (size_t i = 0; i < count; ++i) {
    most = numbers[i] >= LARGEST_DIFFERENCE ? 0 : most;
  }
  stow_status status = put_series(&best, numbers, count, 0);
  for (unsigned order = 1; order <= most && status == STOW_OK; ++order) {
    status = put_series(&tried, numbers, count, order);
    if (status == STOW_OK && tried.size < best.size) {
      stow_string swapped = best;
      best = tried;
      tried = swapped;
    }
  }
  out->status = out->status == STOW_OK ? status : out->status;
  if (status == STOW_OK) {
    stowi_report_out_print(out, "\"");
    stowi_report_out_bytes(out, best.data, best.size);
    stowi_report_out_print(out, "\"");
  }
  stow_string_free(&tried);
  stow_string_free(&best);
}

// Numbers that change: how many do not since the last one that does, and its series.
static void write_cells(const stowi_report_frame* frame, stowi_report_out* out) {
  size_t gap = 0;
  bool is_first = true;
  for (size_t i = 0; i < frame->series_of.count; ++i) {
    const stowi_report_series* series = &frame->series.data[frame->series_of.data[i]];
    if (series->numbers.count == 0) {
      ++gap;
      continue;
    }
    stowi_report_out_print(out, "%s%zu,%zu", is_first ? "" : ",", gap, series->rank);
    is_first = false;
    gap = 0;
  }
}

static void write_frames(const stowi_report_range* range, stowi_report_out* out) {
  stowi_report_out_print(out, ",\n \"frames\":[");
  for (size_t i = 0; i < range->frames.count; ++i) {
    const stowi_report_frame* frame = &range->frames.data[i];
    stowi_report_out_print(out, "%s{\"text\":", i == 0 ? "" : ",\n  ");
    if (i == range->own) {
      stowi_report_out_print(out, "null");
    } else {
      stowi_report_out_json(out, (stow_str){frame->text.data, frame->text.size});
    }
    stowi_report_out_print(out, ",\"cells\":[");
    write_cells(frame, out);
    stowi_report_out_print(out, "]}");
  }
  stowi_report_out_print(out, "]");
}

void stowi_report_range_write(const stowi_report_range* range, stowi_report_out* out) {
  stowi_report_out_print(out, ",\n\"range\":{");
  stowi_report_out_bytes(out, range->facts.data, range->facts.size);
  stowi_report_out_print(out, ",\n \"frame\":");
  stowi_report_range_write_series(range->frame_of.data, range->frame_of.count, range->allocator,
                                  out);
  write_frames(range, out);
  stowi_report_out_print(out, ",\n \"series\":[");
  for (size_t i = 0; i < range->frames.count; ++i) {
    for (size_t k = 0; k < range->frames.data[i].series.count; ++k) {
      const stowi_report_series* series = &range->frames.data[i].series.data[k];
      if (series->numbers.count != 0) {
        stowi_report_out_print(out, series->rank == 0 ? "" : ",\n  ");
        stowi_report_range_write_series(series->numbers.data, series->numbers.count,
                                        range->allocator, out);
      }
    }
  }
  stowi_report_out_print(out, "]}");
}
