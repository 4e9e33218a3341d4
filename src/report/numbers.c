// Numbers for people, written with integer arithmetic alone.
#include <inttypes.h>
#include <stdio.h>

#include "report/api.h"

static const char* const size_names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

void stowi_report_size(uint64_t bytes, char out[STOWI_REPORT_NUMBER]) {
  if (bytes < 1024) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 " B", bytes);
    return;
  }
  size_t unit = 1;
  while (unit < 6 && bytes >> 10 * (unit + 1) != 0) {
    ++unit;
  }
  // In 1024ths of the unit, below 2^20; three digits, rounded once.
  uint64_t parts = bytes >> 10 * (unit - 1);
  if (parts >= 1023 * 1024 + 512 && unit < 6) {  // would print as 1024
    parts = 1024;
    ++unit;
  }
  uint64_t hundredths = (parts * 100 + 512) / 1024;
  uint64_t tenths = (parts * 10 + 512) / 1024;
  if (hundredths < 1000) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%02" PRIu64 " %s", hundredths / 100,
             hundredths % 100, size_names[unit]);
  } else if (tenths < 1000) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
             size_names[unit]);
  } else {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 " %s", (parts + 512) / 1024, size_names[unit]);
  }
}

stowi_report_scale stowi_report_scale_of(uint64_t top, uint64_t tick) {
  stowi_report_scale scale = {0};
  while (top >> 10 * (scale.unit + 1) != 0) {
    ++scale.unit;
  }
  uint64_t unit = UINT64_C(1) << 10 * scale.unit;
  unsigned most = top >= 100 * unit ? 0 : top >= 10 * unit ? 1 : 2;
  for (; scale.decimals < most && tick % unit != 0; ++scale.decimals) {
    tick = tick % unit * 10;
  }
  return scale;
}

void stowi_report_on_scale(stowi_report_scale scale, uint64_t bytes,
                           char out[STOWI_REPORT_NUMBER]) {
  uint64_t unit = UINT64_C(1) << 10 * scale.unit;
  uint64_t parts = scale.decimals == 0 ? 1 : scale.decimals == 1 ? 10 : 100;
  uint64_t number = (bytes * parts + unit / 2) / unit;
  if (scale.decimals == 0) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 " %s", number, size_names[scale.unit]);
  } else {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%0*" PRIu64 " %s", number / parts,
             (int)scale.decimals, number % parts, size_names[scale.unit]);
  }
}

// |part| in units of |whole| / |scale|, rounded; the largest number where that is larger still.
static uint64_t ratio(uint64_t part, uint64_t whole, uint64_t scale) {
  if (whole == 0) {
    return 0;
  }
  uint64_t times = part / whole;
  uint64_t rest = part % whole;
  if (times >= UINT64_MAX / scale) {
    return UINT64_MAX;
  }
  while (whole > UINT64_MAX / (scale + 1)) {
    rest >>= 1;
    whole >>= 1;
  }
  return times * scale + (rest * scale + whole / 2) / whole;
}

void stowi_report_percent(uint64_t part, uint64_t whole, char out[STOWI_REPORT_NUMBER]) {
  uint64_t tenths = ratio(part, whole, 1000);
  snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

void stowi_report_gap(uint64_t part, uint64_t whole, char out[STOWI_REPORT_NUMBER]) {
  uint64_t hundredths = ratio(part, whole, 10000);
  if (hundredths == 0 && part > 0 && whole > 0) {
    snprintf(out, STOWI_REPORT_NUMBER, "<0.01 %%");
    return;
  }
  if (hundredths == UINT64_MAX) {
    snprintf(out, STOWI_REPORT_NUMBER, ">10^17 %%");
    return;
  }
  snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%02" PRIu64 " %%", hundredths / 100,
           hundredths % 100);
}

void stowi_report_count(uint64_t count, char out[STOWI_REPORT_NUMBER]) {
  static const char* const units[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  uint64_t rest = 0;  // thousandths
  for (; count >= 1000; ++unit) {
    rest = count % 1000;
    count /= 1000;
  }
  if (unit == 0 || count >= 100) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 "%s", count, units[unit]);
  } else if (count >= 10) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%" PRIu64 "%s", count, rest / 100, units[unit]);
  } else {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%02" PRIu64 "%s", count, rest / 10,
             units[unit]);
  }
}

void stowi_report_duration(uint64_t microseconds, char out[STOWI_REPORT_NUMBER]) {
  uint64_t hundredths = microseconds / 10000;
  uint64_t seconds = hundredths / 100;
  if (seconds < 10) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%02" PRIu64 " s", seconds, hundredths % 100);
  } else if (seconds < 100) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 ".%" PRIu64 " s", seconds, hundredths % 100 / 10);
  } else if (seconds < 3600) {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60,
             seconds % 60);
  } else {
    snprintf(out, STOWI_REPORT_NUMBER, "%" PRIu64 " h %02" PRIu64 " min", seconds / 3600,
             seconds / 60 % 60);
  }
}

uint64_t stowi_report_rate(uint64_t count, uint64_t microseconds) {
  return ratio(count, microseconds, 1000000);
}
