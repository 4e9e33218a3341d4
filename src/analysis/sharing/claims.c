// What must stay in the bytes of roots that join, and until when.
//     bytes   ┌────┐ ┌─────────────
//             │ %1 │ │ %4, for %6       %3 = concat(%2, %1) and %6 = concat(%2, %4, …) have %2 at
//             ├────┴─┴─────────────     the same bytes. It must stay until both are dead; the
//             others │ %2, for %3 and %6       only for theirs └────────────────────▶ step
// A value claims the bytes of its root from its beginning to its end, or to that of the last concat
// that it is built in, if that is later. A concat claims the bytes that it copies, and all of them
// from the step on at which something is computed in place of it. Two claims must not have a byte
// and a step in common.
#include "analysis/sharing/elider.h"
#include "analysis/views.h"
#include "base/diag.h"
#include "base/sort.h"

// The limit on entries visited and claims compared in all: it bounds the time for programs in which
// everything is in many concats.
#define MOST_WORK (UINT64_C(1) << 22)

typedef struct claim {
  uint64_t low;  // first: the key
  uint64_t high;
  uint32_t begin, end;
} claim;

typedef struct claims {
  stowi_analysis_elider* elider;
  stow_value root;  // will be
  uint64_t offset;  // here
  stow_value into;  // in this
  STOWI_VEC(claim) list;
} claims;

static bool is_elided(const stowi_analysis_entry* e) {
  return e->is_tried || e->reason == STOW_REASON_TAKEN;
}

// The step from which on the bytes of |root| hold what is computed in place of it.
static uint32_t overwritten_at(const stowi_analysis_elider* h, stow_value root) {
  stow_value taker = h->roots[root].first_in_place;
  return taker == STOW_VALUE_NONE ? UINT32_MAX : stowi_analysis_elider_birth(h, taker);
}

// ---------------------------------------------------------------------------------------------
// Until when

static void forget(const stowi_analysis_elider* h, stow_value root) {
  h->roots[root].kept = h->roots[root].own_end;
  h->roots[root].is_claimed = false;
}

// A concat can only be an operand of later ones, whose entries are visited before.
static void find_ends(stowi_analysis_elider* h) {
  for (size_t i = 0; i < h->entries.count; ++i) {
    const stowi_analysis_entry* e = &h->entries.data[i];
    forget(h, stowi_analysis_elider_result(h, e));
    forget(h, stowi_analysis_elider_home(h, stowi_analysis_elider_operand(h, e)));
  }
  for (size_t i = h->entries.count; i-- > 0;) {
    const stowi_analysis_entry* e = &h->entries.data[i];
    stow_value result = stowi_analysis_elider_result(h, e);
    stow_value home = stowi_analysis_elider_home(h, stowi_analysis_elider_operand(h, e));
    uint32_t kept = h->roots[result].kept;
    uint32_t overwritten = overwritten_at(h, result);
    kept = kept < overwritten ? kept : overwritten;
    if (is_elided(e) && h->roots[home].kept < kept) {
      h->roots[home].kept = kept;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Claims

static bool add(claims* c, uint64_t low, uint64_t high, uint32_t begin, uint32_t end) {
  if (low >= high || begin >= end) {
    return true;
  }
  if (STOWI_VEC_RESERVE(c->elider->call->allocator, &c->list, 1) != STOW_OK) {
    return false;
  }
  c->list.data[c->list.count++] = (claim){low, high, begin, end};
  return true;
}

// Whether |home| is in one of the roots that join, and at which offset it will be.
static bool is_there(const claims* c, stow_value home, uint64_t* out_offset) {
  stow_value root = stowi_analysis_hulls_find(&c->elider->hulls, home, out_offset);
  *out_offset += root == c->root ? c->offset : 0;
  return root == c->root || root == c->into;
}

// A root that is not the result of a concat.
static bool claim_root(claims* c, stow_value home) {
  stowi_analysis_elider* h = c->elider;
  stowi_analysis_root* g = &h->roots[home];
  uint64_t offset;
  bool is_concat = stow_graph_op(h->graph, stow_graph_producer(h->graph, home)) == STOW_OP_CONCAT;
  if (is_concat || g->is_claimed || !is_there(c, home, &offset)) {
    return true;
  }
  g->is_claimed = true;
  return add(c, offset, offset + h->call->views->bytes[home], g->begin, g->kept);
}

static bool claim_concat(claims* c, const stowi_analysis_entry* e,
                         const stowi_analysis_entry* end) {
  stowi_analysis_elider* h = c->elider;
  stow_value result = stowi_analysis_elider_result(h, e);
  const stowi_analysis_root* g = &h->roots[result];
  uint32_t overwritten = overwritten_at(h, result);
  uint32_t until = overwritten < g->kept ? overwritten : g->kept;
  uint64_t offset;
  if (!is_there(c, result, &offset)) {
    return true;
  }
  uint64_t top = offset + h->call->views->bytes[result];
  uint64_t low = offset;
  bool added = true;
  for (; e < end; ++e) {
    if (is_elided(e)) {
      added = added && add(c, low, offset + e->place, g->begin, until);
      low = offset + e->place + h->call->views->bytes[stowi_analysis_elider_operand(h, e)];
    }
  }
  return added && add(c, low, top, g->begin, until) && add(c, offset, top, overwritten, g->kept);
}

static bool claim_all(claims* c) {
  stowi_analysis_elider* h = c->elider;
  bool added = true;
  for (size_t i = 0; i < h->entries.count && added;) {
    const stowi_analysis_entry* e = &h->entries.data[i];
    size_t first = i;
    while (i < h->entries.count && h->entries.data[i].node == e->node) {
      stow_value operand = stowi_analysis_elider_operand(h, &h->entries.data[i]);
      added = added && claim_root(c, stowi_analysis_elider_home(h, operand));
      ++i;
    }
    added = added && claim_concat(c, e, e + (i - first));
  }
  return added;
}

// ---------------------------------------------------------------------------------------------

static bool are_apart(const claim* a, const claim* b) {
  return a->end <= b->begin || b->end <= a->begin;
}

// Of claims that are sorted by their first byte.
static bool are_all_apart(const claims* c) {
  for (size_t i = 0; i < c->list.count; ++i) {
    const claim* a = &c->list.data[i];
    for (size_t j = i + 1; j < c->list.count && c->list.data[j].low < a->high; ++j) {
      if (!are_apart(a, &c->list.data[j]) || ++c->elider->claims > MOST_WORK) {
        return false;
      }
    }
  }
  return true;
}

stow_status stowi_analysis_elider_fits(stowi_analysis_elider* h, stow_value root, stow_value into,
                                       uint64_t offset, bool* out_fits) {
  claims c = {.elider = h, .root = root, .offset = offset, .into = into};
  h->claims += h->entries.count;
  if (h->claims > MOST_WORK) {
    *out_fits = false;
    return STOW_OK;
  }
  find_ends(h);
  bool made = claim_all(&c) && stowi_sort_by_key(c.list.data, c.list.count, sizeof(claim),
                                                 h->call->allocator) == STOW_OK;
  *out_fits = made && are_all_apart(&c);
  STOWI_VEC_FREE(h->call->allocator, &c.list);
  return stowi_need_memory(made, h->call->diag);
}
