// Pairing. Names first: both sides sorted by name and walked together. What has no name is known by
// its place alone, and one node more at the front of a graph shifts every id behind it; so places
// are counted from both ends, as when two texts are compared, and ids decide only in between.
#include "compare.h"

#include <stdlib.h>

typedef struct item {
  const cli_match_key* key;
  size_t index;
  bool taken;
} item;

typedef struct side {
  item* items;
  size_t count;
} side;

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_names(const cli_match_key* a, const cli_match_key* b) {
  return a->group != b->group ? (a->group < b->group ? -1 : 1) : stow_str_compare(a->name, b->name);
}

static int compare_ids(const cli_match_key* a, const cli_match_key* b) {
  return a->group != b->group ? (a->group < b->group ? -1 : 1) : compare_numbers(a->id, b->id);
}

static int by_name(const void* x, const void* y) {
  const item* a = x;
  const item* b = y;
  int order = compare_names(a->key, b->key);
  return order != 0 ? order : compare_numbers(a->index, b->index);
}

static int by_id(const void* x, const void* y) {
  const item* a = x;
  const item* b = y;
  int order = compare_ids(a->key, b->key);
  return order != 0 ? order : compare_numbers(a->index, b->index);
}

static bool list_items(const cli_match_key* keys, size_t count, side* out) {
  *out = (side){NULL, 0};
  if (count == 0) {
    return true;
  }
  out->items = count > SIZE_MAX / sizeof(item) ? NULL : malloc(count * sizeof(item));
  if (out->items == NULL) {
    return false;
  }
  out->count = count;
  for (size_t i = 0; i < count; ++i) {
    out->items[i] = (item){&keys[i], i, false};
  }
  return true;
}

static void sort_items(side* s, int (*order)(const void*, const void*)) {
  if (s->count > 0) {
    qsort(s->items, s->count, sizeof(item), order);
  }
}

static void pair(item* then, item* now, size_t* out_then) {
  then->taken = true;
  now->taken = true;
  out_then[now->index] = then->index;
}

static bool is_named(const item* i) { return i->key->name.size > 0; }

static void pair_names(side* then, side* now, size_t* out_then) {
  sort_items(then, by_name);
  sort_items(now, by_name);
  for (size_t i = 0, j = 0; i < then->count && j < now->count;) {
    int order = compare_names(then->items[i].key, now->items[j].key);
    if (order == 0 && is_named(&then->items[i])) {
      pair(&then->items[i], &now->items[j], out_then);
    }
    i += order <= 0;
    j += order >= 0;
  }
}

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

bool cli_match(const cli_match_key* then, size_t then_count, const cli_match_key* now,
               size_t now_count, size_t* out_then) {
  side before;
  side after = {NULL, 0};
  bool listed = list_items(then, then_count, &before) && list_items(now, now_count, &after);
  for (size_t i = 0; i < now_count; ++i) {
    out_then[i] = CLI_UNMATCHED;
  }
  if (listed) {
    pair_names(&before, &after, out_then);
    drop_taken(&before);
    drop_taken(&after);
    sort_items(&before, by_id);
    sort_items(&after, by_id);
    pair_ends(&before, &after, out_then);
    drop_taken(&before);
    drop_taken(&after);
    pair_ids(&before, &after, out_then);
  }
  free(before.items);
  free(after.items);
  return listed;
}
