#include "place/spread.h"

#include "base/hash.h"

uint64_t stowi_place_luby(uint64_t i) {
  uint64_t power = 2;
  while (power <= i) {
    power *= 2;
  }
  return power - 1 == i ? power / 2 : stowi_place_luby(i - power / 2 + 1);
}

// The golden ratio spreads evenly.
uint64_t stowi_place_spread(uint64_t* point, uint64_t count) {
  *point += UINT64_C(0x9E3779B97F4A7C15);
  uint32_t scales = 1;
  while (scales < 64 && count >> scales != 0) {
    ++scales;
  }
  uint64_t scale = UINT64_C(1) << ((*point >> 32) * scales >> 32);
  uint64_t most = count - scale + 1 < scale ? count - scale + 1 : scale;
  return scale - 1 + stowi_hash_u64(*point, 0) % most;
}
