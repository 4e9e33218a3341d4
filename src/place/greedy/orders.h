// Orders in which buffers are placed one by one.
#ifndef STOWAGE_SRC_PLACE_GREEDY_ORDERS_H_
#define STOWAGE_SRC_PLACE_GREEDY_ORDERS_H_

#include "place/quest.h"
#include "place/sections.h"

// Up to three keys each, by letter; equal buffers by number.
//   Z  size, without guard            largest first
//   W  length of the lifetime          longest first
//   A  area: size × steps             largest first
//   T  highest load in its lifetime   highest first
//   L  birth, U  death                latest first; l, u: earliest first
#define STOWI_PLACE_ORDERS(X) \
  X(SIZE, "Z")                \
  X(BIRTH, "l")               \
  X(TWA, "TWA")               \
  X(TWL, "TWL")               \
  X(TAW, "TAW")               \
  X(WAT, "WAT")               \
  X(ATW, "ATW")               \
  X(ZWT, "ZWT")               \
  X(TZW, "TZW")               \
  X(TZL, "TZL")               \
  X(T_SIZE_DEATH, "TZu")      \
  X(T_BIRTH_W, "TlW")         \
  X(T_DEATH_W, "TUW")         \
  X(BIRTH_WA, "lWA")          \
  X(BIRTH_AT, "lAT")          \
  X(DEATH_TW, "UTW")          \
  X(DEATH_AT, "UAT")          \
  X(DEATH_ZW, "UZW")

typedef enum stowi_place_order {
#define STOWI_PLACE_ORDER_ENUM(name, letters) STOWI_PLACE_ORDER_##name,
  STOWI_PLACE_ORDERS(STOWI_PLACE_ORDER_ENUM)
#undef STOWI_PLACE_ORDER_ENUM
      STOWI_PLACE_ORDER_COUNT
} stowi_place_order;

// The buffers that are not fixed, by size. Freed with stowi_place_order_free.
stow_status stowi_place_order_make(const stowi_place_quest* quest, stowi_place_order order,
                                   uint32_t** out_buffers, size_t* out_count);
void stowi_place_order_free(const stowi_place_quest* quest, uint32_t* buffers);

// Shared by several orders of the same buffers, computed once.
typedef struct stowi_place_orders {
  const stowi_place_quest* quest;
  uint64_t* load;       // per buffer: the highest in its lifetime
  uint32_t area_shift;  // sizes lose this many low bits before they are multiplied
} stowi_place_orders;

// |quest| must outlive it. Free it even after a failure. O(n log n).
stow_status stowi_place_orders_make(const stowi_place_quest* quest,
                                    const stowi_place_sections* sections,
                                    stowi_place_orders* out_orders);
void stowi_place_orders_free(stowi_place_orders* orders);
// Writes the buffers that are not fixed; |buffers| has room for all. O(n log n).
stow_status stowi_place_orders_fill(const stowi_place_orders* orders, stowi_place_order order,
                                    uint32_t* buffers, size_t* out_count);

#endif  // STOWAGE_SRC_PLACE_GREEDY_ORDERS_H_
