// How attempts are spread whose success cannot be foreseen.
#ifndef STOWAGE_SRC_PLACE_SPREAD_H_
#define STOWAGE_SRC_PLACE_SPREAD_H_

#include <stdint.h>

// The sequence 1, 1, 2, 1, 1, 2, 4, 1, … of Luby, Sinclair and Zuckerman (1993), from i = 1: within
// a constant and a logarithm of the best restart lengths, whatever these are.
uint64_t stowi_place_luby(uint64_t i);

// A number below |count|, which is above 0: as often 0, as 1 or 2, as 3 to 6, and so on. |point|
// starts at 0 and is advanced.
uint64_t stowi_place_spread(uint64_t* point, uint64_t count);

#endif  // STOWAGE_SRC_PLACE_SPREAD_H_
