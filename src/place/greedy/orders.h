// Orders in which buffers are placed one by one.
#ifndef STOWAGE_SRC_PLACE_GREEDY_ORDERS_H_
#define STOWAGE_SRC_PLACE_GREEDY_ORDERS_H_

#include "place/quest.h"

typedef enum stowi_order {
  STOWI_ORDER_SIZE,  // without guard, largest first
} stowi_order;

// The buffers that are not fixed, equal ones by number. Freed with stowi_order_free.
stow_status stowi_order_make(const stowi_quest* quest, stowi_order order, uint32_t** out_buffers,
                             size_t* out_count);
void stowi_order_free(const stowi_quest* quest, uint32_t* buffers);

#endif  // STOWAGE_SRC_PLACE_GREEDY_ORDERS_H_
