// Comparison. Which buffer is which is told by compare.h. O(n log n).
#include <stdlib.h>
#include <string.h>

#include "view.h"

// Reserved stretches and scratch never are the same as a value of that name.
static int group_of(const cli_view_buffer* buffer) {
  return buffer->kind == CLI_VIEW_RESERVED ? 2 : buffer->kind == CLI_VIEW_SCRATCH ? 1 : 0;
}

cli_match_key cli_view_match_key(const cli_view* view, size_t buffer) {
  const cli_view_buffer* b = &cli_view_buffers(view)[buffer];
  return (cli_match_key){.group = group_of(b),
                         .name = cli_view_str(view, b->name),
                         .op = cli_view_str(view, b->op),
                         .id = b->key};
}

static bool list_keys(const cli_view* view, cli_list* keys) {
  bool listed = true;
  for (size_t i = 0; i < view->buffers.count && listed; ++i) {
    cli_match_key key = cli_view_match_key(view, i);
    listed = cli_list_add(keys, &key, sizeof key);
  }
  return listed;
}

// Appends the change, unless there is none.
static void add_change(cli_view* view, size_t now, size_t then) {
  const cli_view_buffer* a = now == CLI_VIEW_NOWHERE ? NULL : &cli_view_buffers(view)[now];
  const cli_view_buffer* b =
      then == CLI_VIEW_NOWHERE ? NULL : &cli_view_buffers(view->against)[then];
  cli_view_change change = {.now = now, .then = then};
  if (a != NULL && b != NULL && a->size == b->size && a->offset == b->offset) {
    return;
  }
  change.change = b == NULL           ? CLI_VIEW_NEW
                  : a == NULL         ? CLI_VIEW_GONE
                  : a->size > b->size ? CLI_VIEW_GREW
                  : a->size < b->size ? CLI_VIEW_SHRANK
                                      : CLI_VIEW_MOVED;
  change.name =
      a != NULL ? a->name : cli_view_intern_name(view, cli_view_str(view->against, b->name));
  cli_view_add(view, &view->changes, &change, sizeof change);
}

static uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

static uint64_t weight_of(const cli_view* view, const cli_view_change* change) {
  uint64_t now = change->now == CLI_VIEW_NOWHERE ? 0 : cli_view_buffers(view)[change->now].size;
  uint64_t then =
      change->then == CLI_VIEW_NOWHERE ? 0 : cli_view_buffers(view->against)[change->then].size;
  return difference(now, then);
}

typedef struct weighed {
  uint64_t weight;
  size_t index;
  cli_view_change change;
} weighed;

static int compare_weights(const void* x, const void* y) {
  const weighed* a = x;
  const weighed* b = y;
  if (a->weight != b->weight) {
    return a->weight > b->weight ? -1 : 1;
  }
  return (a->index > b->index) - (a->index < b->index);
}

// What changed the most comes first.
static void sort_changes(cli_view* view) {
  cli_list sorted = {0};
  for (size_t i = 0; i < view->changes.count; ++i) {
    weighed item = {weight_of(view, &cli_view_changes(view)[i]), i, cli_view_changes(view)[i]};
    cli_view_add(view, &sorted, &item, sizeof item);
  }
  if (sorted.count > 0 && !view->broken) {
    qsort(sorted.items, sorted.count, sizeof(weighed), compare_weights);
    for (size_t i = 0; i < sorted.count; ++i) {
      ((cli_view_change*)view->changes.items)[i] = ((const weighed*)sorted.items)[i].change;
    }
  }
  cli_list_free(&sorted, sizeof(weighed));
}

// |partners|: of each buffer of |view|; |met| has room for a flag for each of |then|.
static void add_changes(cli_view* view, const size_t* partners, bool* met) {
  for (size_t i = 0; i < view->buffers.count; ++i) {
    add_change(view, i, partners[i] == CLI_UNMATCHED ? CLI_VIEW_NOWHERE : partners[i]);
    if (partners[i] != CLI_UNMATCHED) {
      met[partners[i]] = true;
    }
  }
  for (size_t i = 0; i < view->against->buffers.count; ++i) {
    if (!met[i]) {
      add_change(view, CLI_VIEW_NOWHERE, i);
    }
  }
}

cli_exit cli_view_compare(cli_view* view, const cli_view* then) {
  cli_list now_keys = {0};
  cli_list then_keys = {0};
  view->against = then;
  bool listed = list_keys(view, &now_keys) && list_keys(then, &then_keys);
  // one more than needed, so that nothing is asked for no bytes
  size_t* partners = calloc(now_keys.count + 1, sizeof *partners);
  bool* met = calloc(then_keys.count + 1, sizeof *met);
  if (listed && partners != NULL && met != NULL &&
      cli_match(then_keys.items, then_keys.count, now_keys.items, now_keys.count, partners)) {
    add_changes(view, partners, met);
    sort_changes(view);
  } else {
    view->broken = true;
  }
  free(partners);
  free(met);
  cli_list_free(&now_keys, sizeof(cli_match_key));
  cli_list_free(&then_keys, sizeof(cli_match_key));
  return view->broken ? cli_fail_memory() : CLI_YES;
}
