// A module is the first parts of a name's path, as many as make the groups useful: the fewest at
// which no single one holds most of the bytes. Depth and choice go by a sample, as on the page,
// where long names of very many buffers would take time. Sums are doubles, as the page's are, so
// that both decide alike.
#include "report/write/groups.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "report/api.h"

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
  stowi_report_strings keys;  // the id of a key is that of its string
  STOWI_VEC(total) totals;
  STOWI_VEC(size_t) of;  // the key of each buffer that was counted
  stow_allocator allocator;
  bool broken;  // memory was out on the way
} tally;

static void end_tally(tally* t) {
  stowi_report_strings_free(&t->keys);
  STOWI_VEC_FREE(t->allocator, &t->totals);
  STOWI_VEC_FREE(t->allocator, &t->of);
}

static void count_key(tally* t, stow_str key, uint64_t bytes) {
  size_t id = stowi_report_strings_intern(&t->keys, key);
  total fresh = {.id = id};
  if (id == t->totals.count) {
    STOWI_REPORT_PICTURE_ADD(t, &t->totals, fresh);
  }
  STOWI_REPORT_PICTURE_ADD(t, &t->of, id);
  t->broken = t->broken || t->keys.broken;
  if (!t->broken) {
    t->totals.data[id].bytes += (double)bytes;
  }
}

// ---------------------------------------------------------------------------------------------
// Keys

static bool is_separator(char c) { return c == '/' || c == '.'; }

stow_str stowi_report_picture_next_part(stow_str* path) {
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
  while (stowi_report_picture_next_part(&path).size > 0) {
    ++count;
  }
  return count;
}

static bool is_given(stowi_report_picture_kind kind) {
  return kind == STOWI_REPORT_PICTURE_INPUT || kind == STOWI_REPORT_PICTURE_PARAM ||
         kind == STOWI_REPORT_PICTURE_CONSTANT;
}

// The first |depth| parts of the name; the last one names the tensor, not a module.
static void count_module(tally* t, stow_str name, size_t depth, uint64_t bytes) {
  size_t parts = count_parts(name);
  size_t most = parts > 2 ? parts - 1 : 1;
  stow_string key;
  stow_string_init(&key, t->allocator);
  for (size_t i = 0; i < depth && i < most; ++i) {
    stow_str part = stowi_report_picture_next_part(&name);
    bool good = (i == 0 || stow_string_append(&key, "/", 1) == STOW_OK) &&
                stow_string_append(&key, part.data, part.size) == STOW_OK;
    t->broken = t->broken || !good;
  }
  count_key(t, (stow_str){key.size > 0 ? key.data : "", key.size}, bytes);
  stow_string_free(&key);
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

static void make_tally(tally* t, const stow_picture* picture, size_t depth, size_t stride) {
  *t = (tally){.allocator = picture->allocator};
  stowi_report_strings_init(&t->keys, t->allocator);
  for (size_t i = 0; i < picture->buffers.count; i += stride) {
    // What is given and has no path belongs to no module: it goes by its kind.
    const stowi_report_picture_buffer* b = &picture->buffers.data[i];
    stow_str name = stowi_report_picture_str(picture, b->name);
    bool lone = b->name != STOWI_REPORT_PICTURE_NONE && is_given(b->kind) && count_parts(name) < 2;
    if (depth == BY_KIND || lone) {
      count_key(t, stow_str_of(stowi_report_picture_kind_text(b->kind)), b->size);
    } else {
      count_module(t, name, depth, b->size);
    }
  }
  for (size_t i = 0; i < t->totals.count && !t->broken; ++i) {
    t->totals.data[i].key = stowi_report_strings_at(&t->keys, (uint32_t)i);
    set_look(&t->totals.data[i], depth);
  }
}

// ---------------------------------------------------------------------------------------------
// The depth

static size_t stride_of(const stow_picture* picture) {
  return (picture->buffers.count + SAMPLE - 1) / SAMPLE;
}

// At least four groups, none of which holds most of the bytes.
static bool is_useful(const tally* t) {
  double sum = 0;
  double most = 0;
  for (size_t i = 0; i < t->totals.count; ++i) {
    double bytes = t->totals.data[i].bytes;
    sum += bytes;
    most = bytes > most ? bytes : most;
  }
  return t->totals.count >= 4 && most < 0.6 * sum;
}

static bool has_modules(const tally* t) {
  size_t loud = 0;
  for (size_t i = 0; i < t->totals.count; ++i) {
    loud += t->totals.data[i].colour == NULL;
  }
  return loud >= 2;
}

// Whether most bytes of what is computed have a name with a path.
static bool has_paths(const stow_picture* picture) {
  double computed = 0;
  double told = 0;
  for (size_t i = 0; i < picture->buffers.count; i += stride_of(picture)) {
    const stowi_report_picture_buffer* b = &picture->buffers.data[i];
    if (!is_given(b->kind)) {
      computed += (double)b->size;
      told += count_parts(stowi_report_picture_str(picture, b->name)) > 1 ? (double)b->size : 0;
    }
  }
  return told > 0 && 2 * told >= computed;
}

// The first useful depth, else 1; BY_KIND where names do not tell modules there.
static size_t find_depth(const stow_picture* picture, bool* out_broken) {
  bool modular = false;
  size_t useful = 0;
  if (!has_paths(picture)) {
    return BY_KIND;
  }
  for (size_t depth = 1; depth <= MOST_DEPTH && useful == 0; ++depth) {
    tally t;
    make_tally(&t, picture, depth, stride_of(picture));
    *out_broken = t.broken;
    useful = t.broken || is_useful(&t) ? depth : 0;
    modular = depth == 1 || useful != 0 ? has_modules(&t) : modular;
    end_tally(&t);
  }
  return !modular ? BY_KIND : useful != 0 ? useful : 1;
}

// ---------------------------------------------------------------------------------------------
// Groups

static int compare_totals(const void* a, const void* b, const void* context) {
  (void)context;
  const total* x = a;
  const total* y = b;
  if (x->rank != y->rank) {
    return x->rank < y->rank ? -1 : 1;
  }
  if (x->bytes != y->bytes) {
    return x->bytes > y->bytes ? -1 : 1;
  }
  return stow_str_compare(x->key, y->key);
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

static void name_groups(stowi_report_picture_groups* groups, const tally* t, size_t kept) {
  static const char* const palette[STOWI_REPORT_PICTURE_GROUPS_MAX] = {
      "#5b8fc9", "#ef9443", "#5fae5b", "#e06666", "#6dbdb5", "#dcbf3c",
      "#b784b0", "#a3826a", "#f49ab0", "#8f9ee8", "#94b84a", "#c9715c"};
  for (size_t i = 0; i < kept; ++i) {
    const total* one = &t->totals.data[i];
    stowi_report_picture_group* group = &groups->groups[i];
    stow_str label = label_of(t->totals.data, kept, i);
    group->colour = one->colour != NULL ? one->colour : palette[i];
    stowi_report_escape(one->key.size == 0 ? stow_str_of("(none)") : label, group->label,
                        STOWI_REPORT_PICTURE_LABEL_SIZE - 8);
    stowi_report_cut_after(group->label, STOWI_REPORT_PICTURE_GROUP_LABEL / 2,
                           STOWI_REPORT_PICTURE_GROUP_LABEL + 1);
  }
  if (kept < t->totals.count) {
    stowi_report_picture_group* other = &groups->groups[kept];
    other->colour = "#a9adb5";
    snprintf(other->label, sizeof other->label, "other (%zu)", t->totals.count - kept);
  }
}

// The keys with most bytes get groups of their own; the last group is what is left.
static stow_status take_groups(stowi_report_picture_groups* groups, tally* t) {
  size_t count = t->totals.count;
  size_t kept =
      count > STOWI_REPORT_PICTURE_GROUPS_MAX ? STOWI_REPORT_PICTURE_GROUPS_MAX - 1 : count;
  groups->count = count > kept ? kept + 1 : kept;
  groups->of_count = t->of.count;
  groups->of = STOWI_ARRAY(t->allocator, size_t, t->of.count);
  size_t* places = STOWI_ARRAY(t->allocator, size_t, count);  // the group of each key
  stow_status status =
      groups->of == NULL || places == NULL
          ? STOW_ERR_OUT_OF_MEMORY
          : stowi_sort(t->totals.data, count, sizeof(total), compare_totals, NULL, t->allocator);
  if (status == STOW_OK) {
    name_groups(groups, t, kept);
    for (size_t i = 0; i < count; ++i) {
      places[t->totals.data[i].id] = i < kept ? i : kept;
    }
    for (size_t i = 0; i < t->of.count; ++i) {
      groups->of[i] = places[t->of.data[i]];
    }
  }
  STOWI_ARRAY_FREE(t->allocator, places, count);
  return status;
}

stow_status stowi_report_picture_groups_make(stowi_report_picture_groups* groups,
                                             const stow_picture* picture) {
  *groups = (stowi_report_picture_groups){0};
  bool broken = false;
  size_t depth = find_depth(picture, &broken);
  tally t;
  make_tally(&t, picture, depth, 1);
  stow_status status = broken || t.broken ? STOW_ERR_OUT_OF_MEMORY : take_groups(groups, &t);
  end_tally(&t);
  return status;
}

void stowi_report_picture_groups_free(stowi_report_picture_groups* groups,
                                      stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, groups->of, groups->of_count);
}
