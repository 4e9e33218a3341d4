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
#define STOWI_ORDERS(X)  \
  X(SIZE, "Z")           \
  X(BIRTH, "l")          \
  X(TWA, "TWA")          \
  X(TWL, "TWL")          \
  X(TAW, "TAW")          \
  X(WAT, "WAT")          \
  X(ATW, "ATW")          \
  X(ZWT, "ZWT")          \
  X(TZW, "TZW")          \
  X(TZL, "TZL")          \
  X(T_SIZE_DEATH, "TZu") \
  X(T_BIRTH_W, "TlW")    \
  X(T_DEATH_W, "TUW")    \
  X(BIRTH_WA, "lWA")     \
  X(BIRTH_AT, "lAT")     \
  X(DEATH_TW, "UTW")     \
  X(DEATH_AT, "UAT")     \
  X(DEATH_ZW, "UZW")

typedef enum stowi_order {
#define STOWI_ORDER_ENUM(name, letters) STOWI_ORDER_##name,
  STOWI_ORDERS(STOWI_ORDER_ENUM)
#undef STOWI_ORDER_ENUM
      STOWI_ORDER_COUNT
} stowi_order;

// The buffers that are not fixed, by size. Freed with stowi_order_free.
stow_status stowi_order_make(const stowi_quest* quest, stowi_order order, uint32_t** out_buffers,
                             size_t* out_count);
void stowi_order_free(const stowi_quest* quest, uint32_t* buffers);

// Shared by several orders of the same buffers, computed once.
typedef struct stowi_orders {
  const stowi_quest* quest;
  uint64_t* load;       // per buffer: the highest in its lifetime
  uint32_t area_shift;  // sizes lose this many low bits before they are multiplied
} stowi_orders;

// |quest| must outlive it. Free it even after a failure. O(n log n).
stow_status stowi_orders_make(const stowi_quest* quest, const stowi_sections* sections,
                              stowi_orders* out_orders);
void stowi_orders_free(stowi_orders* orders);
// Writes the buffers that are not fixed; |buffers| has room for all. O(n log n).
stow_status stowi_orders_fill(const stowi_orders* orders, stowi_order order, uint32_t* buffers,
                              size_t* out_count);

#endif  // STOWAGE_SRC_PLACE_GREEDY_ORDERS_H_
