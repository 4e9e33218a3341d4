// A task v at place i of an order is comparable with all others if it is the only task that may run
// after the first i (then every task that has not run comes after v: follow what each waits for),
// and the only one of the first i + 1 that none of them needs (then every task that has run comes
// before v). Both are counts of tasks over places: a task may run from the place after the last of
// those before it up to its own, and is needed by nothing from its own place up to that of the
// first task after it.
#include "base/diag.h"
#include "flow/search.h"

typedef struct counts {
  uint32_t* place;  // of a task
  int32_t* ready;   // differences between places
  int32_t* loose;
} counts;

static void count_task(const stowi_flow_net* net, const counts* c, stowi_flow_task task) {
  uint32_t at = c->place[task];
  uint32_t since = 0;
  stowi_flow_span before = stowi_flow_list(&net->before, task);
  for (const uint32_t* t = before.begin; t < before.end; ++t) {
    since = c->place[*t] + 1 > since ? c->place[*t] + 1 : since;
  }
  uint32_t until = net->task_count;
  stowi_flow_span after = stowi_flow_list(&net->after, task);
  for (const uint32_t* t = after.begin; t < after.end; ++t) {
    until = c->place[*t] < until ? c->place[*t] : until;
  }
  c->ready[since] += 1;
  c->ready[at + 1] -= 1;
  c->loose[at] += 1;
  c->loose[until] -= 1;
}

static stow_status append(stowi_flow_cell_vec* cells, stow_allocator allocator, uint32_t begin,
                          uint32_t end) {
  if (begin == end) {
    return STOW_OK;
  }
  STOW_TRY(STOWI_VEC_RESERVE(allocator, cells, 1));
  cells->data[cells->count++] = (stowi_flow_cell){0, begin, end - begin};
  return STOW_OK;
}

static stow_status cut(const stowi_flow_net* net, const stowi_flow_task* order, const counts* c,
                       stowi_flow_cell_vec* cells) {
  for (uint32_t i = 0; i < net->task_count; ++i) {
    c->place[order[i]] = i;
  }
  for (uint32_t t = 0; t < net->task_count; ++t) {
    count_task(net, c, t);
  }
  uint32_t begin = 0;
  int32_t ready = 0;
  int32_t loose = 0;
  for (uint32_t i = 0; i < net->task_count; ++i) {
    ready += c->ready[i];
    loose += c->loose[i];
    if (ready == 1 && loose == 1) {
      STOW_TRY(append(cells, net->allocator, begin, i));
      STOW_TRY(append(cells, net->allocator, i, i + 1));
      begin = i + 1;
    }
  }
  return append(cells, net->allocator, begin, net->task_count);
}

stow_status stowi_flow_cells(const stowi_flow_net* net, const stowi_flow_task* order,
                             stowi_flow_cell_vec* out_cells) {
  stow_allocator a = net->allocator;
  size_t n = (size_t)net->task_count + 1;
  counts c = {STOWI_ARRAY(a, uint32_t, n), STOWI_ARRAY_ZERO(a, int32_t, n),
              STOWI_ARRAY_ZERO(a, int32_t, n)};
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (c.place != NULL && c.ready != NULL && c.loose != NULL) {
    status = cut(net, order, &c, out_cells);
  }
  STOWI_ARRAY_FREE(a, c.place, n);
  STOWI_ARRAY_FREE(a, c.ready, n);
  STOWI_ARRAY_FREE(a, c.loose, n);
  return status;
}
