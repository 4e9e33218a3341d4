// Percentiles by the nearest rank: every number told is a time that was measured.
#include <stdlib.h>

#include "run/statistics.h"

static int compare_times(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a;
  uint64_t y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

static uint64_t percentile(const uint64_t* times, size_t count, size_t percent) {
  size_t rank = (count * percent + 99) / 100;
  return times[rank == 0 ? 0 : rank - 1];
}

uint64_t cli_median_of(uint64_t* times, size_t count) {
  if (count == 0) {
    return 0;
  }
  qsort(times, count, sizeof *times, compare_times);
  return percentile(times, count, 50);
}

cli_latency cli_latency_of(cli_list* times) {
  cli_latency latency = {.count = times->count};
  uint64_t* items = times->items;
  if (times->count == 0) {
    return latency;
  }
  qsort(items, times->count, sizeof *items, compare_times);
  uint64_t sum = 0;
  for (size_t i = 0; i < times->count; ++i) {
    sum += items[i];
  }
  latency.min = items[0];
  latency.median = percentile(items, times->count, 50);
  latency.p90 = percentile(items, times->count, 90);
  latency.p99 = percentile(items, times->count, 99);
  latency.max = items[times->count - 1];
  latency.mean = sum / times->count;
  return latency;
}
