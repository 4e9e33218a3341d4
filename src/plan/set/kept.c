// What the graphs of a set keep between runs. Entries are sorted by name; each joins the kept root
// of its name that it equals, or begins a new one.
//
// Params of one name are distinguished by their data, if known. One without data could be any of
// them: with a single candidate it is that one, with several it is ambiguous, and that is an error
// rather than a guess.
//
// O(n log n), and k comparisons of data per entry for k different kept roots of its name.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/api.h"
#include "plan/set/set.h"

// ---------------------------------------------------------------------------------------------
// Entries

static size_t count_kept(const stowi_things* things) {
  size_t count = 0;
  for (size_t i = 0; i < things->member_count; ++i) {
    const stowi_member* member = &things->members[i];
    for (stow_value v = 0; v < member->maker.plan->value_count; ++v) {
      count += member->kept[v];
    }
  }
  return count;
}

static int compare_entries(const void* a, const void* b, const void* context) {
  const stowi_entry* x = (const stowi_entry*)a;
  const stowi_entry* y = (const stowi_entry*)b;
  (void)context;
  int by_name = stow_str_compare(x->name, y->name);
  if (by_name != 0) {
    return by_name;
  }
  if (x->member != y->member) {
    return x->member < y->member ? -1 : 1;
  }
  return x->value < y->value ? -1 : x->value > y->value;
}

static void add_entries(stowi_things* things, size_t index, stowi_entry** next) {
  const stowi_member* member = &things->members[index];
  const stow_plan* plan = member->maker.plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (member->kept[v]) {
      *(*next)++ = (stowi_entry){stowi_plan_value_name(plan, v), (uint32_t)index, v, 0};
    }
  }
}

static stow_status gather(stowi_things* things, stow_diag* diag) {
  things->entry_count = count_kept(things);
  things->entries = STOWI_ARRAY(things->allocator, stowi_entry, things->entry_count);
  things->list = STOWI_ARRAY(things->allocator, stowi_thing, things->entry_count);
  if (things->entries == NULL || things->list == NULL) {
    return stowi_fail_memory(diag);
  }
  stowi_entry* next = things->entries;
  for (size_t i = 0; i < things->member_count; ++i) {
    add_entries(things, i, &next);
  }
  stow_status status = stowi_sort(things->entries, things->entry_count, sizeof(stowi_entry),
                                  compare_entries, NULL, things->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}

static const stowi_member* member_of(const stowi_things* things, size_t entry) {
  return &things->members[things->entries[entry].member];
}

static const stowi_plan_value* value_of(const stowi_things* things, size_t entry) {
  return &member_of(things, entry)->maker.plan->values[things->entries[entry].value];
}

static bool is_state(const stowi_things* things, size_t entry) {
  return member_of(things, entry)->state[things->entries[entry].value];
}

static stowi_member_text name_of(const stowi_things* things, size_t entry) {
  return stowi_name_in_member(member_of(things, entry), things->entries[entry].value);
}

// The entry's data in every run; NULL if unknown, or if runs change it.
static const void* data_of(const stowi_things* things, size_t entry, size_t* out_size) {
  *out_size = 0;
  return is_state(things, entry) ? NULL
                                 : stow_graph_data(member_of(things, entry)->graph,
                                                   things->entries[entry].value, out_size);
}

static bool has_data(const stowi_things* things, size_t entry) {
  size_t size;
  return data_of(things, entry, &size) != NULL;
}

// ---------------------------------------------------------------------------------------------
// Kept roots

static stow_status fail_pair(const stowi_things* things, stow_status status, size_t a, size_t b,
                             const char* what, uint64_t x, uint64_t y, stow_diag* diag) {
  return stowi_fail(diag, status, "%s and %s have the same name, but %s %" PRIu64 " and %" PRIu64,
                    name_of(things, a).text, name_of(things, b).text, what, x, y);
}

static stow_status fail_open(const stowi_things* things, size_t open, size_t a, size_t b,
                             stow_diag* diag) {
  return stowi_fail(diag, STOW_ERR_CONFLICT,
                    "%s, whose data is unknown, could be %s or %s, which hold different data",
                    name_of(things, open).text, name_of(things, a).text, name_of(things, b).text);
}

// Whether both have known data that differs.
static bool has_other_data(const stowi_things* things, size_t a, size_t b) {
  size_t size_a;
  size_t size_b;
  const void* data_a = data_of(things, a, &size_a);
  const void* data_b = data_of(things, b, &size_b);
  if (data_a == NULL || data_b == NULL || data_a == data_b) {
    return false;
  }
  return size_a != size_b || memcmp(data_a, data_b, size_a) != 0;
}

// Whether |entry| is |thing|, which has its name.
static stow_status is_same(const stowi_things* things, const stowi_thing* thing, size_t entry,
                           stow_diag* diag, bool* out_same) {
  uint64_t size = value_of(things, entry)->size;
  *out_same = false;
  if (size != thing->size) {
    bool state = thing->state_entry != STOWI_ENTRY_NONE && is_state(things, entry);
    return state ? fail_pair(things, STOW_ERR_TYPE, thing->state_entry, entry, "have bytes",
                             thing->size, size, diag)
                 : STOW_OK;
  }
  if (thing->data_entry == STOWI_ENTRY_NONE || !has_other_data(things, thing->data_entry, entry)) {
    *out_same = true;
    return STOW_OK;
  }
  return thing->open_entry == STOWI_ENTRY_NONE
             ? STOW_OK
             : fail_open(things, thing->open_entry, thing->data_entry, entry, diag);
}

// Searches the kept roots of the entry's name, which begin at |first_thing|.
static stow_status find_thing(const stowi_things* things, size_t entry, size_t first_thing,
                              stow_diag* diag, size_t* out_thing) {
  *out_thing = things->count;
  for (size_t t = first_thing; t < things->count; ++t) {
    bool same;
    STOW_TRY(is_same(things, &things->list[t], entry, diag, &same));
    if (same && *out_thing != things->count) {
      return fail_open(things, entry, things->list[*out_thing].data_entry,
                       things->list[t].data_entry, diag);
    }
    *out_thing = same ? t : *out_thing;
  }
  return STOW_OK;
}

static void note_first(size_t* first, size_t entry, bool holds) {
  if (holds && *first == STOWI_ENTRY_NONE) {
    *first = entry;
  }
}

// Adds the entry's demands to those of the kept root.
static stow_status join(stowi_things* things, size_t entry, size_t thing_index, stow_diag* diag) {
  stowi_thing* thing = &things->list[thing_index];
  const stowi_plan_value* value = value_of(things, entry);
  uint64_t alignment = UINT64_C(1) << value->alignment_log2;
  uint64_t fixed = member_of(things, entry)->maker.fixed[things->entries[entry].value];
  bool is_fixed = fixed != STOW_PLACE_ANYWHERE;
  things->entries[entry].thing = thing_index;
  if (is_fixed && thing->fixed_entry != STOWI_ENTRY_NONE && fixed != thing->fixed) {
    return fail_pair(things, STOW_ERR_CONFLICT, thing->fixed_entry, entry, "are fixed at",
                     thing->fixed, fixed, diag);
  }
  thing->members += 1;
  thing->guard = value->guard > thing->guard ? value->guard : thing->guard;
  thing->alignment = alignment > thing->alignment ? alignment : thing->alignment;
  thing->fixed = is_fixed ? fixed : thing->fixed;
  note_first(&thing->first_entry, entry, true);
  note_first(&thing->fixed_entry, entry, is_fixed);
  note_first(&thing->state_entry, entry, is_state(things, entry));
  note_first(&thing->data_entry, entry, has_data(things, entry));
  note_first(&thing->open_entry, entry, !has_data(things, entry));
  return STOW_OK;
}

static stow_status assign(stowi_things* things, size_t entry, size_t first_thing, stow_diag* diag) {
  size_t thing;
  STOW_TRY(find_thing(things, entry, first_thing, diag, &thing));
  if (thing == things->count) {
    things->list[things->count++] = (stowi_thing){.size = value_of(things, entry)->size,
                                                  .alignment = 1,
                                                  .fixed = STOW_PLACE_ANYWHERE,
                                                  .first_entry = STOWI_ENTRY_NONE,
                                                  .fixed_entry = STOWI_ENTRY_NONE,
                                                  .state_entry = STOWI_ENTRY_NONE,
                                                  .data_entry = STOWI_ENTRY_NONE,
                                                  .open_entry = STOWI_ENTRY_NONE};
  }
  return join(things, entry, thing, diag);
}

// An unnamed value is never shared.
static bool begins_name(const stowi_things* things, size_t entry) {
  stow_str name = things->entries[entry].name;
  return entry == 0 || name.size == 0 || !stow_str_equal(name, things->entries[entry - 1].name);
}

stow_status stowi_things_create(const stowi_member* members, size_t count, stow_allocator allocator,
                                stow_diag* diag, stowi_things* out_things) {
  *out_things = (stowi_things){.members = members, .member_count = count, .allocator = allocator};
  STOW_TRY(gather(out_things, diag));
  size_t first_thing = 0;
  for (size_t i = 0; i < out_things->entry_count; ++i) {
    first_thing = begins_name(out_things, i) ? out_things->count : first_thing;
    STOW_TRY(assign(out_things, i, first_thing, diag));
  }
  return STOW_OK;
}

void stowi_things_free(stowi_things* things) {
  STOWI_ARRAY_FREE(things->allocator, things->entries, things->entry_count);
  STOWI_ARRAY_FREE(things->allocator, things->list, things->entry_count);
  memset(things, 0, sizeof(*things));
}

stowi_member_text stowi_name_in_member(const stowi_member* member, stow_value value) {
  stowi_member_text name;
  stow_str graph = stow_graph_name(member->graph);
  int shown = (int)(graph.size < 80 ? graph.size : 80);
  snprintf(name.text, sizeof(name.text), "%s of @%.*s",
           stowi_name_value(value, stow_graph_value_name(member->graph, value)).text, shown,
           graph.data);
  return name;
}

// ---------------------------------------------------------------------------------------------
// After placement

static int compare_spans(const void* a, const void* b, const void* context) {
  const stowi_span* x = (const stowi_span*)a;
  const stowi_span* y = (const stowi_span*)b;
  (void)context;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// |own|: by kept root, how many bytes of its footprint belong to the plan itself.
static stow_status fill_reserved(const stowi_things* things, const stow_placement* placement,
                                 const uint64_t* own, stow_plan* plan, stow_diag* diag) {
  size_t count = 0;
  for (size_t t = 0; t < things->count; ++t) {
    count += own[t] < things->list[t].size + things->list[t].guard;
  }
  STOW_TRY(stowi_plan_set_reserved_count(plan, count, diag));
  stowi_span* span = plan->reserved;
  for (size_t t = 0; t < things->count; ++t) {
    uint64_t footprint = things->list[t].size + things->list[t].guard;
    if (own[t] < footprint) {
      uint64_t offset = stow_placement_offset(placement, t);
      *span++ = (stowi_span){offset + own[t], offset + footprint};
    }
  }
  stow_status status =
      stowi_sort(plan->reserved, count, sizeof(stowi_span), compare_spans, NULL, plan->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}

stow_status stowi_things_reserve(const stowi_things* things, const stow_placement* placement,
                                 size_t index, stow_diag* diag) {
  stow_plan* plan = things->members[index].maker.plan;
  uint64_t* own = STOWI_ARRAY_ZERO(things->allocator, uint64_t, things->count);
  if (own == NULL) {
    return stowi_fail_memory(diag);
  }
  for (size_t i = 0; i < things->entry_count; ++i) {
    if (things->entries[i].member == index) {
      own[things->entries[i].thing] = value_of(things, i)->size + value_of(things, i)->guard;
    }
  }
  stow_status status = fill_reserved(things, placement, own, plan, diag);
  STOWI_ARRAY_FREE(things->allocator, own, things->count);
  return status;
}

void stowi_things_count_shared(const stowi_things* things, size_t* out_count, uint64_t* out_bytes) {
  *out_count = 0;
  *out_bytes = 0;
  for (size_t t = 0; t < things->count; ++t) {
    if (things->list[t].members > 1) {
      *out_count += 1;
      *out_bytes += things->list[t].size;
    }
  }
}
