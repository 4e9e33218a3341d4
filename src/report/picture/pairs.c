// Pairing. Names first: both sides sorted by name and walked together. What has no name is known by
// its place alone, and one node more at the front of a graph shifts every id behind it; so places
// are counted from both ends, as when two texts are compared, and ids decide only in between.
#include "report/picture/pairs.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"

typedef struct item {
  const stowi_report_pair_key* key;
  size_t index;
  bool taken;
} item;

typedef struct side {
  item* items;
  size_t count;
} side;

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_names(const stowi_report_pair_key* a, const stowi_report_pair_key* b) {
  return a->group != b->group ? (a->group < b->group ? -1 : 1) : stow_str_compare(a->name, b->name);
}

static int compare_ids(const stowi_report_pair_key* a, const stowi_report_pair_key* b) {
  return a->group != b->group ? (a->group < b->group ? -1 : 1) : compare_numbers(a->id, b->id);
}

static int by_name(const void* x, const void* y, const void* context) {
  (void)context;
  const item* a = x;
  const item* b = y;
  return compare_names(a->key, b->key);
}

static int by_id(const void* x, const void* y, const void* context) {
  (void)context;
  const item* a = x;
  const item* b = y;
  int order = compare_ids(a->key, b->key);
  return order != 0 ? order : compare_numbers(a->index, b->index);
}

static stow_status list_items(const stowi_report_pair_key* keys, size_t count,
                              stow_allocator allocator, side* out) {
  out->items = STOWI_ARRAY(allocator, item, count);
  if (out->items == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  out->count = count;
  for (size_t i = 0; i < count; ++i) {
    out->items[i] = (item){&keys[i], i, false};
  }
  return STOW_OK;
}

static void pair(item* then, item* now, size_t* out_then) {
  then->taken = true;
  now->taken = true;
  out_then[now->index] = then->index;
}

static bool is_named(const item* i) { return i->key->name.size > 0; }

// Leaves out what has a partner.
static void drop_taken(side* s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->count; ++i) {
    if (!s->items[i].taken) {
      s->items[kept++] = s->items[i];
    }
  }
  s->count = kept;
}

static bool same_op(const item* a, const item* b) {
  bool unknown = a->key->op.size == 0 || b->key->op.size == 0;
  return unknown || stow_str_equal(a->key->op, b->key->op);
}

// Whether two things without names may be one, wherever they stand. Where an op is not known, only
// the id is left to tell.
static bool alike(const item* a, const item* b) {
  bool unknown = a->key->op.size == 0 || b->key->op.size == 0;
  return !is_named(a) && !is_named(b) && a->key->group == b->key->group && same_op(a, b) &&
         (!unknown || a->key->id == b->key->id);
}

static size_t skip_named(const side* s, size_t at) {
  while (at < s->count && is_named(&s->items[at])) {
    ++at;
  }
  return at;
}

static size_t skip_named_back(const side* s, size_t end) {
  while (end > 0 && is_named(&s->items[end - 1])) {
    --end;
  }
  return end;
}

// From the front until something differs, then from the back.
static void pair_ends(side* then, side* now, size_t* out_then) {
  size_t i = skip_named(then, 0);
  size_t j = skip_named(now, 0);
  while (i < then->count && j < now->count && alike(&then->items[i], &now->items[j])) {
    pair(&then->items[i], &now->items[j], out_then);
    i = skip_named(then, i + 1);
    j = skip_named(now, j + 1);
  }
  size_t k = skip_named_back(then, then->count);
  size_t l = skip_named_back(now, now->count);
  while (k > i && l > j && alike(&then->items[k - 1], &now->items[l - 1])) {
    pair(&then->items[k - 1], &now->items[l - 1], out_then);
    k = skip_named_back(then, k - 1);
    l = skip_named_back(now, l - 1);
  }
}

static void pair_ids(side* then, side* now, size_t* out_then) {
  for (size_t i = 0, j = 0; i < then->count && j < now->count;) {
    item* a = &then->items[i];
    item* b = &now->items[j];
    int order = compare_ids(a->key, b->key);
    if (order == 0 && !(is_named(a) && is_named(b)) && same_op(a, b)) {
      pair(a, b, out_then);
    }
    i += order <= 0;
    j += order >= 0;
  }
}

static stow_status sort_sides(side* then, side* now, stowi_compare order,
                              stow_allocator allocator) {
  STOW_TRY(stowi_sort(then->items, then->count, sizeof(item), order, NULL, allocator));
  return stowi_sort(now->items, now->count, sizeof(item), order, NULL, allocator);
}

static stow_status pair_sides(side* then, side* now, stow_allocator allocator, size_t* out_then) {
  STOW_TRY(sort_sides(then, now, by_name, allocator));
  for (size_t i = 0, j = 0; i < then->count && j < now->count;) {
    int order = compare_names(then->items[i].key, now->items[j].key);
    if (order == 0 && is_named(&then->items[i])) {
      pair(&then->items[i], &now->items[j], out_then);
    }
    i += order <= 0;
    j += order >= 0;
  }
  drop_taken(then);
  drop_taken(now);
  STOW_TRY(sort_sides(then, now, by_id, allocator));
  pair_ends(then, now, out_then);
  drop_taken(then);
  drop_taken(now);
  pair_ids(then, now, out_then);
  return STOW_OK;
}

stow_status stowi_report_pair(const stowi_report_pair_key* then, size_t then_count,
                              const stowi_report_pair_key* now, size_t now_count,
                              stow_allocator allocator, size_t* out_then) {
  side before = {NULL, 0};
  side after = {NULL, 0};
  for (size_t i = 0; i < now_count; ++i) {
    out_then[i] = STOWI_REPORT_UNPAIRED;
  }
  stow_status status = list_items(then, then_count, allocator, &before);
  status = status == STOW_OK ? list_items(now, now_count, allocator, &after) : status;
  status = status == STOW_OK ? pair_sides(&before, &after, allocator, out_then) : status;
  STOWI_ARRAY_FREE(allocator, before.items, then_count);
  STOWI_ARRAY_FREE(allocator, after.items, now_count);
  return status;
}
