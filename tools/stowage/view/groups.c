// A module is the first parts of a name's path, as many as make the groups useful: the fewest at
// which no single one holds most of the bytes. Depth and choice go by a sample, as on the page,
// where long names of very many buffers would take time. Sums are doubles, as the page's are, so
// that both decide alike.
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define MOST_DEPTH 6
#define BY_KIND 0  // a depth: no module path
#define SAMPLE 2000

// What shares a key: a module, or a kind.
typedef struct total {
  stow_str key;
  size_t id;  // of the key
  double bytes;
  int rank;            // lower ones come first
  const char* colour;  // NULL: one of the palette
} total;

typedef struct tally {
  cli_view keys;  // its strings; the id of a key is that of its string
  cli_list totals;
  cli_list of;  // size_t: the key of each buffer that was counted
} tally;

static void end_tally(tally* t) {
  cli_view_free(&t->keys);
  cli_list_free(&t->totals, sizeof(total));
  cli_list_free(&t->of, sizeof(size_t));
}

static total* totals_of(const tally* t) { return t->totals.items; }

static void count_key(tally* t, stow_str key, uint64_t bytes) {
  size_t id = cli_view_intern(&t->keys, key);
  total fresh = {.id = id};
  if (id == t->totals.count) {
    cli_view_add(&t->keys, &t->totals, &fresh, sizeof fresh);
  }
  cli_view_add(&t->keys, &t->of, &id, sizeof id);
  if (!t->keys.broken) {
    totals_of(t)[id].bytes += (double)bytes;
  }
}

// ---------------------------------------------------------------------------------------------
// Keys

static bool is_separator(char c) { return c == '/' || c == '.'; }

stow_str cli_view_next_part(stow_str* path) {
  size_t begin = 0;
  while (begin < path->size && is_separator(path->data[begin])) {
    ++begin;
  }
  size_t end = begin;
  while (end < path->size && !is_separator(path->data[end])) {
    ++end;
  }
  stow_str part = {path->data + begin, end - begin};
  *path = (stow_str){path->data + end, path->size - end};
  return part;
}

static size_t count_parts(stow_str path) {
  size_t count = 0;
  while (cli_view_next_part(&path).size > 0) {
    ++count;
  }
  return count;
}

static bool is_given(cli_view_kind kind) {
  return kind == CLI_VIEW_INPUT || kind == CLI_VIEW_PARAM || kind == CLI_VIEW_CONSTANT;
}

// The first |depth| parts of the name; the last one names the tensor, not a module.
static void count_module(tally* t, stow_str name, size_t depth, uint64_t bytes) {
  size_t parts = count_parts(name);
  size_t most = parts > 2 ? parts - 1 : 1;
  stow_string key;
  stow_string_init(&key, stow_allocator_default());
  for (size_t i = 0; i < depth && i < most; ++i) {
    stow_str part = cli_view_next_part(&name);
    bool good = (i == 0 || stow_string_append(&key, "/", 1) == STOW_OK) &&
                stow_string_append(&key, part.data, part.size) == STOW_OK;
    t->keys.broken = t->keys.broken || !good;
  }
  count_key(t, (stow_str){key.size > 0 ? key.data : "", key.size}, bytes);
  stow_string_free(&key);
}

// What is given and has no path belongs to no module: it goes by its kind.
static void count_buffer(tally* t, const cli_view* view, const cli_view_buffer* b, size_t depth) {
  stow_str name = cli_view_str(view, b->name);
  bool lone = b->name != CLI_VIEW_NONE && is_given(b->kind) && count_parts(name) < 2;
  if (depth == BY_KIND || lone) {
    count_key(t, stow_str_of(cli_view_kind_text(b->kind)), b->size);
  } else {
    count_module(t, name, depth, b->size);
  }
}

typedef struct look {
  const char* key;
  const char* colour;
} look;

// What lives longest comes first.
static const look kind_looks[] = {{"reserved", "#8b919b"}, {"param", "#a3826a"},
                                  {"constant", "#dcbf3c"}, {"state", "#b784b0"},
                                  {"input", "#5b8fc9"},    {"activation", "#5fae5b"},
                                  {"scratch", "#e06666"},  {"buffer", "#5b8fc9"}};
// What no op computes comes before modules, and stays quiet among them.
static const look quiet_looks[] = {
    {"", "#a9adb5"}, {"input", "#9fb2c6"}, {"param", "#b8a898"}, {"constant", "#c6bf9f"}};

static void set_look(total* one, size_t depth) {
  const look* looks = depth == BY_KIND ? kind_looks : quiet_looks;
  size_t count = depth == BY_KIND ? sizeof kind_looks / sizeof *kind_looks
                                  : sizeof quiet_looks / sizeof *quiet_looks;
  one->rank = (int)count;
  for (size_t i = 0; i < count; ++i) {
    if (stow_str_equal(one->key, stow_str_of(looks[i].key))) {
      one->rank = depth == BY_KIND ? (int)i : 0;
      one->colour = looks[i].colour;
    }
  }
}

static void make_tally(tally* t, const cli_view* view, size_t depth, size_t stride) {
  *t = (tally){0};
  cli_view_init(&t->keys);
  for (size_t i = 0; i < view->buffers.count; i += stride) {
    count_buffer(t, view, &cli_view_buffers(view)[i], depth);
  }
  for (size_t i = 0; i < t->totals.count && !t->keys.broken; ++i) {
    totals_of(t)[i].key = cli_view_str(&t->keys, (cli_view_text)i);
    set_look(&totals_of(t)[i], depth);
  }
}

// ---------------------------------------------------------------------------------------------
// The depth

static size_t stride_of(const cli_view* view) {
  return (view->buffers.count + SAMPLE - 1) / SAMPLE;
}

// At least four groups, none of which holds most of the bytes.
static bool is_useful(const tally* t) {
  double sum = 0;
  double most = 0;
  for (size_t i = 0; i < t->totals.count; ++i) {
    double bytes = totals_of(t)[i].bytes;
    sum += bytes;
    most = bytes > most ? bytes : most;
  }
  return t->totals.count >= 4 && most < 0.6 * sum;
}

static bool has_modules(const tally* t) {
  size_t loud = 0;
  for (size_t i = 0; i < t->totals.count; ++i) {
    loud += totals_of(t)[i].colour == NULL;
  }
  return loud >= 2;
}

// Whether most bytes of what is computed have a name with a path.
static bool has_paths(const cli_view* view) {
  double computed = 0;
  double told = 0;
  for (size_t i = 0; i < view->buffers.count; i += stride_of(view)) {
    const cli_view_buffer* b = &cli_view_buffers(view)[i];
    if (!is_given(b->kind)) {
      computed += (double)b->size;
      told += count_parts(cli_view_str(view, b->name)) > 1 ? (double)b->size : 0;
    }
  }
  return told > 0 && 2 * told >= computed;
}

// The first useful depth, else 1; BY_KIND where names do not tell modules there.
static size_t find_depth(const cli_view* view, bool* out_broken) {
  bool modular = false;
  size_t useful = 0;
  if (!has_paths(view)) {
    return BY_KIND;
  }
  for (size_t depth = 1; depth <= MOST_DEPTH && useful == 0; ++depth) {
    tally t;
    make_tally(&t, view, depth, stride_of(view));
    *out_broken = t.keys.broken;
    useful = t.keys.broken || is_useful(&t) ? depth : 0;
    modular = depth == 1 || useful != 0 ? has_modules(&t) : modular;
    end_tally(&t);
  }
  return !modular ? BY_KIND : useful != 0 ? useful : 1;
}

// ---------------------------------------------------------------------------------------------
// Groups

static int compare_totals(const void* a, const void* b) {
  const total* x = a;
  const total* y = b;
  if (x->rank != y->rank) {
    return x->rank < y->rank ? -1 : 1;
  }
  if (x->bytes != y->bytes) {
    return x->bytes > y->bytes ? -1 : 1;
  }
  size_t size = x->key.size < y->key.size ? x->key.size : y->key.size;
  int order = size == 0 ? 0 : memcmp(x->key.data, y->key.data, size);
  return order != 0 ? order : (x->key.size > y->key.size) - (x->key.size < y->key.size);
}

// The last |count| parts of a key.
static stow_str key_end(stow_str key, size_t count) {
  size_t begin = key.size;
  while (begin > 0 && (key.data[begin - 1] != '/' || --count > 0)) {
    --begin;
  }
  return (stow_str){key.data + begin, key.size - begin};
}

static bool is_number(stow_str text) {
  size_t digits = 0;
  while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9') {
    ++digits;
  }
  return text.size > 0 && digits == text.size;
}

// The last part of a path, and the one before it where the last is a number or not alone.
static stow_str label_of(const total* kept, size_t count, size_t at) {
  stow_str last = key_end(kept[at].key, 1);
  bool alone = !is_number(last);
  for (size_t i = 0; i < count; ++i) {
    alone = alone && (i == at || !stow_str_equal(key_end(kept[i].key, 1), last));
  }
  return key_end(kept[at].key, alone ? 1 : 2);
}

static void name_groups(cli_view_groups* groups, const tally* t, size_t kept) {
  static const char* const palette[CLI_VIEW_GROUPS_MAX] = {
      "#5b8fc9", "#ef9443", "#5fae5b", "#e06666", "#6dbdb5", "#dcbf3c",
      "#b784b0", "#a3826a", "#f49ab0", "#8f9ee8", "#94b84a", "#c9715c"};
  for (size_t i = 0; i < kept; ++i) {
    const total* one = &totals_of(t)[i];
    cli_view_group* group = &groups->groups[i];
    stow_str label = label_of(totals_of(t), kept, i);
    group->colour = one->colour != NULL ? one->colour : palette[i];
    cli_escape(one->key.size == 0 ? stow_str_of("(none)") : label, group->label,
               CLI_VIEW_LABEL_SIZE - 8);
    cli_cut_after(group->label, CLI_VIEW_GROUP_LABEL / 2, CLI_VIEW_GROUP_LABEL + 1);
  }
  if (kept < t->totals.count) {
    cli_view_group* other = &groups->groups[kept];
    other->colour = "#a9adb5";
    snprintf(other->label, sizeof other->label, "other (%zu)", t->totals.count - kept);
  }
}

// The keys with most bytes get groups of their own; the last group is what is left.
static cli_exit take_groups(cli_view_groups* groups, tally* t) {
  size_t count = t->totals.count;
  size_t kept = count > CLI_VIEW_GROUPS_MAX ? CLI_VIEW_GROUPS_MAX - 1 : count;
  groups->count = count > kept ? kept + 1 : kept;
  if (count > 0) {
    qsort(t->totals.items, count, sizeof(total), compare_totals);
  }
  name_groups(groups, t, kept);
  cli_list places = {0};  // size_t: the group of each key
  bool good = true;
  for (size_t i = 0; i < count && good; ++i) {
    good = cli_list_add(&places, &i, sizeof i);
  }
  for (size_t i = 0; i < count && good; ++i) {
    ((size_t*)places.items)[totals_of(t)[i].id] = i < kept ? i : kept;
  }
  for (size_t i = 0; i < t->of.count && good; ++i) {
    size_t group = ((size_t*)places.items)[((size_t*)t->of.items)[i]];
    good = cli_list_add(&groups->of, &group, sizeof group);
  }
  cli_list_free(&places, sizeof(size_t));
  return good ? CLI_YES : cli_fail_memory();
}

cli_exit cli_view_groups_make(cli_view_groups* groups, const cli_view* view) {
  *groups = (cli_view_groups){0};
  bool broken = false;
  size_t depth = find_depth(view, &broken);
  tally t;
  make_tally(&t, view, depth, 1);
  cli_exit code = broken || t.keys.broken ? cli_fail_memory() : take_groups(groups, &t);
  end_tally(&t);
  return code;
}

void cli_view_groups_free(cli_view_groups* groups) { cli_list_free(&groups->of, sizeof(size_t)); }

size_t cli_view_group_of(const cli_view_groups* groups, size_t buffer) {
  return ((const size_t*)groups->of.items)[buffer];
}
