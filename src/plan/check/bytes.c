// Part of the plan checker: reads against writes into the same root.
// If several values are in one root, lifetimes are not enough: all of them are the root's. There,
// each value records since when its bytes hold it, and nothing may write there until its last read:
//     bytes ▲ ┌────────w1───────w3─▶       a is written at w0 and read until w2 overwrites it;
//           │ │  b     │  d     │          w1 may write while a is read, as it writes elsewhere
//           │ w0───────┴──w2────┴──▶
//           │ │  a        │  c
//           └──────────────────────▶ step
// A node may read at the step at which it writes: shares.c has checked that. A read that lasts
// through a step counts as one of the next step.
// Writes are sorted by root and step. On top of them is a binary tree of blocks, each with the
// bytes written by any of its writes as disjoint ranges. A read covers a range of writes, O(log w)
// blocks, each with a binary search: O(log² w), even if thousands write into one root. Writes that
// begin before their node runs (results of branches and loops, and effects) have a separate tree,
// sorted by when they begin. O((w + reads) log² w) time, O(w log w) memory.
#include <inttypes.h>

#include "base/diag.h"
#include "base/sort.h"
#include "graph/api.h"
#include "plan/check/check.h"

typedef struct writer {
  stow_value root;
  uint32_t key;    // sort key: |since|; or |start|, for writes that begin early
  uint32_t since;  // step of the writing node + 1
  uint32_t start;  // the step at which it begins
  uint64_t low, high;
  stow_value value;  // the value written
} writer;

// Bytes of a root as ranks among all ends of writes.
typedef struct ranks {
  uint32_t low, high;
} ranks;

typedef struct end {
  stow_value root;
  uint64_t offset;
} end;

#define MAX_LEVELS 33

typedef struct tree {
  STOWI_VEC(writer) writers;
  size_t level_count;
  ranks* spans[MAX_LEVELS];      // of the block at writer i from index i on
  uint32_t* counts[MAX_LEVELS];  // of spans, by block
} tree;

typedef struct book {
  stowi_plan_checker* checker;
  tree at_step;
  tree early;
  end* ends;
  size_t end_count;
  size_t end_capacity;
  stowi_plan_elisions elisions;
} book;

// ---------------------------------------------------------------------------------------------
// Writers

static bool is_shared(const stowi_plan_checker* checker, stow_value value) {
  return checker->values[stow_plan_root(checker->plan, value)].makers > 1;
}

// Bytes [low, high) of |value|, written at |step| or from |start| on.
static stow_status add_writer(book* b, stow_value value, stowi_plan_span bytes, uint32_t start,
                              uint32_t step) {
  stowi_plan_checker* checker = b->checker;
  tree* t = start < step ? &b->early : &b->at_step;
  stowi_plan_bytes place = stowi_plan_bytes_of(checker, value);
  while (bytes.offset < bytes.end) {
    stowi_plan_span run = stowi_plan_bytes_run(&place, bytes.offset);
    uint64_t left = bytes.end - bytes.offset;
    run.end = run.end - run.offset < left ? run.end : run.offset + left;
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(checker->allocator, &t->writers, 1) == STOW_OK,
                               checker->diag));
    t->writers.data[t->writers.count++] = (writer){
        .root = stow_plan_root(checker->plan, value),
        .key = start < step ? start : step + 1,
        .since = step + 1,
        .start = start,
        .low = run.offset,
        .high = run.end,
        .value = value,
    };
    bytes.offset += run.end - run.offset;
  }
  return STOW_OK;
}

// What a concat copies, neighbours as one: they may share a byte, even if an operand without
// elements is between them.
static stow_status add_row_copies(book* b, stow_value result, uint32_t step, uint64_t row) {
  for (size_t k = 0; k < b->elisions.count; ++k) {
    stowi_plan_span bytes = stowi_plan_elisions_place(&b->elisions, k);
    if (!stowi_plan_elisions_copies(&b->elisions, k)) {
      continue;
    }
    while (k + 1 < b->elisions.count && (stowi_plan_elisions_copies(&b->elisions, k + 1) ||
                                         b->elisions.ends[k + 1] == b->elisions.ends[k])) {
      k += 1;
      bytes.end = stowi_plan_elisions_place(&b->elisions, k).end;
    }
    bytes.offset += row * b->elisions.row;
    bytes.end += row * b->elisions.row;
    STOW_TRY(add_writer(b, result, bytes, step, step));
  }
  return STOW_OK;
}

static stow_status add_copies(book* b, stow_value result, uint32_t step) {
  for (uint64_t row = 0; row < b->elisions.rows; ++row) {
    STOW_TRY(add_row_copies(b, result, step, row));
  }
  return STOW_OK;
}

static stow_status add_result(book* b, stow_node node, stow_value value) {
  stowi_plan_checker* checker = b->checker;
  const stowi_plan_check_value* own = &checker->values[value];
  uint32_t step = checker->steps[node];
  uint32_t start = own->first_write < step ? own->first_write : step;
  bool has_elisions = false;
  if (!is_shared(checker, value) || own->made == STOWI_PLAN_MADE_OUTSIDE ||
      own->made == STOWI_PLAN_MADE_VIEW) {
    return STOW_OK;
  }
  if (start == step) {
    STOW_TRY(stowi_plan_elisions_find(checker, node, &b->elisions, &has_elisions));
  }
  return has_elisions ? add_copies(b, value, step)
                      : add_writer(b, value, (stowi_plan_span){0, own->bytes}, start, step);
}

static stow_status add_all(book* b) {
  const stow_graph* graph = b->checker->graph;
  for (stow_node node = 0; node < b->checker->node_count; ++node) {
    size_t results = stow_graph_result_count(graph, node);
    for (size_t k = 0; k < results; ++k) {
      STOW_TRY(add_result(b, node, stow_graph_first_result(graph, node) + (stow_value)k));
    }
    // Carried arguments are written again by the loop's yield.
    stowi_plan_checker* checker = b->checker;
    stow_node loop = stowi_plan_check_loop_of_args(checker, node);
    size_t count = loop == STOW_NODE_NONE ? 0 : stow_graph_result_count(checker->graph, node);
    for (size_t k = 0; k < count; ++k) {
      stow_value argument = stow_graph_first_result(checker->graph, node) + (stow_value)k;
      if (stowi_plan_check_initial(checker, loop, k) != STOW_VALUE_NONE &&
          is_shared(checker, argument)) {
        stow_region body = stow_graph_node_region(checker->graph, node);
        uint32_t yield = stowi_plan_check_region_end(checker, body);
        stowi_plan_span bytes = {0, checker->values[argument].bytes};
        STOW_TRY(add_writer(b, argument, bytes, yield, yield));
      }
    }
  }
  return STOW_OK;
}

static int compare_writers(const void* a, const void* b, const void* context) {
  const writer* x = (const writer*)a;
  const writer* y = (const writer*)b;
  (void)context;
  if (x->root != y->root) {
    return x->root < y->root ? -1 : 1;
  }
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  if (x->low != y->low) {
    return x->low < y->low ? -1 : 1;
  }
  return x->value < y->value ? -1 : x->value > y->value;
}

// ---------------------------------------------------------------------------------------------
// Bytes as ranks

static int compare_end(end x, end y) {
  if (x.root != y.root) {
    return x.root < y.root ? -1 : 1;
  }
  return x.offset < y.offset ? -1 : x.offset > y.offset;
}

static int compare_ends(const void* a, const void* b, const void* context) {
  (void)context;
  return compare_end(*(const end*)a, *(const end*)b);
}

static stow_status sort_ends(book* b) {
  const tree* trees[] = {&b->at_step, &b->early};
  b->end_capacity = 2 * (b->at_step.writers.count + b->early.writers.count);
  b->ends = STOWI_ARRAY(b->checker->allocator, end, b->end_capacity);
  if (b->ends == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  size_t count = 0;
  for (size_t t = 0; t < 2; ++t) {
    for (size_t i = 0; i < trees[t]->writers.count; ++i) {
      const writer* w = &trees[t]->writers.data[i];
      b->ends[count++] = (end){w->root, w->low};
      b->ends[count++] = (end){w->root, w->high};
    }
  }
  STOW_TRY(stowi_sort(b->ends, count, sizeof(end), compare_ends, NULL, b->checker->allocator));
  for (size_t i = 0; i < count; ++i) {
    if (i == 0 || compare_end(b->ends[i], b->ends[b->end_count - 1]) != 0) {
      b->ends[b->end_count++] = b->ends[i];
    }
  }
  return STOW_OK;
}

// The first end that is not below |at|.
static uint32_t rank_of(const book* b, end at) {
  size_t low = 0;
  size_t high = b->end_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_end(b->ends[middle], at) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return (uint32_t)low;
}

// All ranks that bytes [low, high) of |root| overlap.
static ranks ranks_of(const book* b, stow_value root, uint64_t low, uint64_t high) {
  uint32_t first = rank_of(b, (end){root, low});
  bool is_end = first < b->end_count && compare_end(b->ends[first], (end){root, low}) == 0;
  if (!is_end && first > 0 && b->ends[first - 1].root == root) {
    first -= 1;
  }
  return (ranks){first, rank_of(b, (end){root, high})};
}

// ---------------------------------------------------------------------------------------------
// The tree

static size_t add_span(ranks* spans, size_t count, ranks span) {
  if (count > 0 && span.low <= spans[count - 1].high) {
    spans[count - 1].high = span.high > spans[count - 1].high ? span.high : spans[count - 1].high;
    return count;
  }
  spans[count] = span;
  return count + 1;
}

static void merge_blocks(tree* t, size_t level, size_t block) {
  size_t half = (size_t)1 << (level - 1);
  const ranks* x = &t->spans[level - 1][2 * block * half];
  const ranks* y = x + half;
  const ranks* x_end = x + t->counts[level - 1][2 * block];
  const ranks* y_end = y + t->counts[level - 1][2 * block + 1];
  ranks* out = &t->spans[level][2 * block * half];
  size_t count = 0;
  while (x < x_end || y < y_end) {
    bool take_x = y == y_end || (x < x_end && x->low <= y->low);
    count = add_span(out, count, take_x ? *x++ : *y++);
  }
  t->counts[level][block] = (uint32_t)count;
}

static stow_status plant(const book* b, tree* t) {
  stow_allocator allocator = b->checker->allocator;
  size_t count = t->writers.count;
  for (size_t level = 0; level < MAX_LEVELS && count >> level > 0; ++level) {
    t->level_count = level + 1;
    t->spans[level] = STOWI_ARRAY(allocator, ranks, count);
    t->counts[level] = STOWI_ARRAY(allocator, uint32_t, count >> level);
    if (t->spans[level] == NULL || t->counts[level] == NULL) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
    for (size_t block = 0; block < count >> level; ++block) {
      const writer* w = &t->writers.data[block];
      if (level == 0) {
        t->spans[0][block] = ranks_of(b, w->root, w->low, w->high);
        t->counts[0][block] = 1;
      } else {
        merge_blocks(t, level, block);
      }
    }
  }
  return STOW_OK;
}

static void fell(const book* b, tree* t) {
  size_t count = t->writers.count;
  for (size_t level = 0; level < t->level_count; ++level) {
    STOWI_ARRAY_FREE(b->checker->allocator, t->spans[level], count);
    STOWI_ARRAY_FREE(b->checker->allocator, t->counts[level], count >> level);
  }
  STOWI_VEC_FREE(b->checker->allocator, &t->writers);
}

static bool block_meets(const tree* t, size_t level, size_t at, ranks span) {
  const ranks* spans = &t->spans[level][at];
  size_t low = 0;
  size_t count = t->counts[level][at >> level];
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (spans[middle].high <= span.low) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && spans[low].low < span.high;
}

// The first of writers [at, last) that writes some of |span|; |last| if none does.
static size_t find_writer(const tree* t, size_t at, size_t last, ranks span) {
  while (at < last) {
    size_t level = 0;
    while ((at >> level & 1) == 0 && at + ((size_t)2 << level) <= last) {
      level += 1;
    }
    if (!block_meets(t, level, at, span)) {
      at += (size_t)1 << level;
      continue;
    }
    while (level > 0) {
      level -= 1;
      at += block_meets(t, level, at, span) ? 0 : (size_t)1 << level;
    }
    return at;
  }
  return last;
}

// The first writer of |root| whose key is not below |key|, or of a higher root.
static size_t first_writer(const tree* t, stow_value root, uint64_t key) {
  size_t low = 0;
  size_t high = t->writers.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const writer* w = &t->writers.data[middle];
    if (w->root < root || (w->root == root && w->key < key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---------------------------------------------------------------------------------------------
// Reads

// Whether |a| and |b| are in different branches of one if, of which at most one runs.
static bool exclude_each_other(const stowi_plan_checker* checker, stow_region a, stow_region b,
                               stow_region* out_branch_of_b) {
  if (a == STOW_REGION_BODY || b == STOW_REGION_BODY) {
    return false;
  }
  while (!stowi_plan_check_contains(checker, stowi_graph_region_parent(checker->graph, a), b)) {
    a = stowi_graph_region_parent(checker->graph, a);
  }
  while (!stowi_plan_check_contains(checker, stowi_graph_region_parent(checker->graph, b), a)) {
    b = stowi_graph_region_parent(checker->graph, b);
  }
  *out_branch_of_b = b;
  stow_node owner = stowi_graph_region_owner(checker->graph, a);
  return a != b && owner == stowi_graph_region_owner(checker->graph, b) &&
         stow_graph_op_desc(checker->graph, owner)->region_kind == STOW_REGION_BRANCH;
}

static stow_region region_of(const stowi_plan_checker* checker, const writer* w) {
  return stow_graph_node_region(checker->graph, stow_graph_producer(checker->graph, w->value));
}

static stow_status stale_read_fault(stowi_plan_checker* checker, const stowi_plan_use* u,
                                    const writer* w) {
  bool is_append = checker->values[w->value].made == STOWI_PLAN_MADE_APPEND;
  return stowi_plan_fault(checker, is_append ? STOW_FAULT_SCHEDULE : STOW_FAULT_REUSED_TOO_EARLY,
                          u->value, w->value, u->step,
                          "%s is read at step %" PRIu32
                          " by %s, but %s is written into its bytes at"
                          " step %" PRIu32,
                          stowi_plan_label_value(checker, u->value).text, u->step,
                          stowi_plan_label_step(checker, u->step).text,
                          stowi_plan_label_value(checker, w->value).text, w->start);
}

// Writers that begin early are found by when they do; earlier ones are harmless.
static stow_status check_early(book* b, const stowi_plan_use* u, ranks span, uint64_t busy) {
  stowi_plan_checker* checker = b->checker;
  stow_value root = stow_plan_root(checker->plan, u->value);
  size_t last = first_writer(&b->early, root, busy + 1);
  size_t next = first_writer(&b->early, root, 0);
  while ((next = find_writer(&b->early, next, last, span)) < last) {
    const writer* w = &b->early.writers.data[next++];
    stow_region branch;
    if (w->since > u->since &&
        (u->held || !exclude_each_other(checker, u->region, region_of(checker, w), &branch))) {
      return stale_read_fault(checker, u, w);
    }
  }
  return STOW_OK;
}

// A read of bytes |run| of the value's root.
static stow_status check_run(book* b, stowi_plan_use u, stowi_plan_span run) {
  stowi_plan_checker* checker = b->checker;
  stow_value root = stow_plan_root(checker->plan, u.value);
  uint64_t busy = (uint64_t)u.step + (u.through ? 1 : 0);
  ranks span = ranks_of(b, root, run.offset, run.end);
  size_t last = first_writer(&b->at_step, root, busy + 1);
  size_t next = first_writer(&b->at_step, root, (uint64_t)u.since + 1);
  while ((next = find_writer(&b->at_step, next, last, span)) < last) {
    const writer* w = &b->at_step.writers.data[next];
    stow_region branch;
    if (u.held || !exclude_each_other(checker, u.region, region_of(checker, w), &branch)) {
      return stale_read_fault(checker, &u, w);
    }
    // Neither this one nor any other of that branch counts.
    next =
        first_writer(&b->at_step, root, (uint64_t)stowi_plan_check_region_end(checker, branch) + 2);
  }
  return check_early(b, &u, span, busy);
}

static stow_status check_use(void* user, stowi_plan_use u) {
  book* b = (book*)user;
  stowi_plan_bytes place = stowi_plan_bytes_of(b->checker, u.value);
  stow_value root = stow_plan_root(b->checker->plan, u.value);
  bool is_checked = b->checker->values[root].makers >= 2;
  for (uint64_t at = 0; is_checked && at < place.bytes; at += place.bytes / place.rows) {
    STOW_TRY(check_run(b, u, stowi_plan_bytes_run(&place, at)));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Writes against writes

static stow_status double_write_fault(stowi_plan_checker* checker, const writer* a, const writer* b,
                                      uint32_t step) {
  bool in_order = a->value < b->value;
  stow_value first = in_order ? a->value : b->value;
  stow_value second = in_order ? b->value : a->value;
  return stowi_plan_fault(checker, STOW_FAULT_OVERLAP, first, second, step,
                          "%s and %s are both written into %s at step %" PRIu32,
                          stowi_plan_label_value(checker, first).text,
                          stowi_plan_label_value(checker, second).text,
                          stowi_plan_label_value(checker, a->root).text, step);
}

// Nothing else is written into the bytes of |w| between its beginning and its node.
static stow_status check_early_writer(book* b, size_t index) {
  stowi_plan_checker* checker = b->checker;
  const writer* w = &b->early.writers.data[index];
  ranks span = b->early.spans[0][index];
  size_t next = first_writer(&b->at_step, w->root, (uint64_t)w->start + 1);
  size_t last = first_writer(&b->at_step, w->root, (uint64_t)w->since + 1);
  next = find_writer(&b->at_step, next, last, span);
  if (next < last) {
    const writer* other = &b->at_step.writers.data[next];
    return double_write_fault(checker, w, other, other->start);
  }
  last = first_writer(&b->early, w->root, w->since);
  next = find_writer(&b->early, index + 1, last, span);
  if (next < last) {
    const writer* other = &b->early.writers.data[next];
    return double_write_fault(checker, w, other, other->start);
  }
  return STOW_OK;
}

static stow_status check_double_writes(book* b) {
  for (size_t i = 1; i < b->at_step.writers.count; ++i) {
    const writer* x = &b->at_step.writers.data[i - 1];
    const writer* y = &b->at_step.writers.data[i];
    if (x->root == y->root && x->since == y->since && y->low < x->high) {
      return double_write_fault(b->checker, x, y, x->since - 1);
    }
  }
  for (size_t i = 0; i < b->early.writers.count; ++i) {
    STOW_TRY(check_early_writer(b, i));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status prepare(book* b) {
  tree* trees[] = {&b->at_step, &b->early};
  for (size_t t = 0; t < 2; ++t) {
    STOW_TRY(stowi_sort(trees[t]->writers.data, trees[t]->writers.count, sizeof(writer),
                        compare_writers, NULL, b->checker->allocator));
  }
  STOW_TRY(sort_ends(b));
  STOW_TRY(plant(b, &b->at_step));
  return plant(b, &b->early);
}

static stow_status check_book(book* b) {
  STOW_TRY(add_all(b));
  if (b->at_step.writers.count + b->early.writers.count == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(prepare(b) == STOW_OK, b->checker->diag));
  STOW_TRY(check_double_writes(b));
  return stowi_plan_check_each_use(b->checker, check_use, b);
}

stow_status stowi_plan_check_bytes(stowi_plan_checker* checker) {
  book b = {.checker = checker};
  stow_status status = check_book(&b);
  fell(&b, &b.at_step);
  fell(&b, &b.early);
  STOWI_ARRAY_FREE(checker->allocator, b.ends, b.end_capacity);
  stowi_plan_elisions_free(checker, &b.elisions);
  return status;
}
