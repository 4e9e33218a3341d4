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

static size_t count_kept(const stowi_plan_residents* residents) {
  size_t count = 0;
  for (size_t i = 0; i < residents->member_count; ++i) {
    const stowi_plan_member* member = &residents->members[i];
    for (stow_value v = 0; v < member->maker.plan->value_count; ++v) {
      count += member->kept[v];
    }
  }
  return count;
}

static int compare_entries(const void* a, const void* b, const void* context) {
  const stowi_plan_entry* x = (const stowi_plan_entry*)a;
  const stowi_plan_entry* y = (const stowi_plan_entry*)b;
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

static stow_status gather(stowi_plan_residents* residents, stow_diag* diag) {
  residents->entry_count = count_kept(residents);
  residents->entries = STOWI_ARRAY(residents->allocator, stowi_plan_entry, residents->entry_count);
  residents->list = STOWI_ARRAY(residents->allocator, stowi_plan_resident, residents->entry_count);
  STOW_TRY(stowi_need_memory(residents->entries != NULL && residents->list != NULL, diag));
  stowi_plan_entry* next = residents->entries;
  for (size_t i = 0; i < residents->member_count; ++i) {
    const stowi_plan_member* member = &residents->members[i];
    const stow_plan* plan = member->maker.plan;
    for (stow_value v = 0; v < plan->value_count; ++v) {
      if (member->kept[v]) {
        *next++ = (stowi_plan_entry){stowi_plan_value_name(plan, v), (uint32_t)i, v, 0};
      }
    }
  }
  stow_status status =
      stowi_sort(residents->entries, residents->entry_count, sizeof(stowi_plan_entry),
                 compare_entries, NULL, residents->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}

static const stowi_plan_member* member_of(const stowi_plan_residents* residents, size_t entry) {
  return &residents->members[residents->entries[entry].member];
}

static const stowi_plan_value* value_of(const stowi_plan_residents* residents, size_t entry) {
  return &member_of(residents, entry)->maker.plan->values[residents->entries[entry].value];
}

static bool is_state(const stowi_plan_residents* residents, size_t entry) {
  return member_of(residents, entry)->state[residents->entries[entry].value];
}

static stowi_plan_member_text name_of(const stowi_plan_residents* residents, size_t entry) {
  return stowi_plan_name_in_member(member_of(residents, entry), residents->entries[entry].value);
}

// The entry's data in every run; NULL if unknown, or if runs change it.
static const void* data_of(const stowi_plan_residents* residents, size_t entry, size_t* out_size) {
  *out_size = 0;
  return is_state(residents, entry) ? NULL
                                    : stow_graph_data(member_of(residents, entry)->graph,
                                                      residents->entries[entry].value, out_size);
}

static bool has_data(const stowi_plan_residents* residents, size_t entry) {
  size_t size;
  return data_of(residents, entry, &size) != NULL;
}

// ---------------------------------------------------------------------------------------------
// Kept roots

static stow_status fail_pair(const stowi_plan_residents* residents, stow_status status, size_t a,
                             size_t b, const char* what, uint64_t x, uint64_t y, stow_diag* diag) {
  return stowi_fail(diag, status, "%s and %s have the same name, but %s %" PRIu64 " and %" PRIu64,
                    name_of(residents, a).text, name_of(residents, b).text, what, x, y);
}

static stow_status fail_open(const stowi_plan_residents* residents, size_t open, size_t a, size_t b,
                             stow_diag* diag) {
  return stowi_fail(diag, STOW_ERR_CONFLICT,
                    "%s, whose data is unknown, could be %s or %s, which hold different data",
                    name_of(residents, open).text, name_of(residents, a).text,
                    name_of(residents, b).text);
}

// Whether both have known data that differs.
static bool has_other_data(const stowi_plan_residents* residents, size_t a, size_t b) {
  size_t size_a;
  size_t size_b;
  const void* data_a = data_of(residents, a, &size_a);
  const void* data_b = data_of(residents, b, &size_b);
  if (data_a == NULL || data_b == NULL || data_a == data_b) {
    return false;
  }
  return size_a != size_b || memcmp(data_a, data_b, size_a) != 0;
}

// Whether |entry| is |resident|, which has its name.
static stow_status is_same(const stowi_plan_residents* residents,
                           const stowi_plan_resident* resident, size_t entry, stow_diag* diag,
                           bool* out_same) {
  uint64_t size = value_of(residents, entry)->size;
  *out_same = false;
  if (size != resident->size) {
    bool state = resident->state_entry != STOWI_PLAN_ENTRY_NONE && is_state(residents, entry);
    return state ? fail_pair(residents, STOW_ERR_TYPE, resident->state_entry, entry, "have bytes",
                             resident->size, size, diag)
                 : STOW_OK;
  }
  if (resident->data_entry == STOWI_PLAN_ENTRY_NONE ||
      !has_other_data(residents, resident->data_entry, entry)) {
    *out_same = true;
    return STOW_OK;
  }
  return resident->open_entry == STOWI_PLAN_ENTRY_NONE
             ? STOW_OK
             : fail_open(residents, resident->open_entry, resident->data_entry, entry, diag);
}

static void note_first(size_t* first, size_t entry, bool holds) {
  if (holds && *first == STOWI_PLAN_ENTRY_NONE) {
    *first = entry;
  }
}

// Adds the entry's demands to those of the kept root.
static stow_status join(stowi_plan_residents* residents, size_t entry, size_t index,
                        stow_diag* diag) {
  stowi_plan_resident* resident = &residents->list[index];
  const stowi_plan_value* value = value_of(residents, entry);
  uint64_t alignment = UINT64_C(1) << value->alignment_log2;
  uint64_t fixed = member_of(residents, entry)->maker.fixed[residents->entries[entry].value];
  bool is_fixed = fixed != STOW_PLACE_ANYWHERE;
  residents->entries[entry].resident = index;
  if (is_fixed && resident->fixed_entry != STOWI_PLAN_ENTRY_NONE && fixed != resident->fixed) {
    return fail_pair(residents, STOW_ERR_CONFLICT, resident->fixed_entry, entry, "are fixed at",
                     resident->fixed, fixed, diag);
  }
  resident->members += 1;
  resident->guard = value->guard > resident->guard ? value->guard : resident->guard;
  resident->alignment = alignment > resident->alignment ? alignment : resident->alignment;
  resident->fixed = is_fixed ? fixed : resident->fixed;
  note_first(&resident->first_entry, entry, true);
  note_first(&resident->fixed_entry, entry, is_fixed);
  note_first(&resident->state_entry, entry, is_state(residents, entry));
  note_first(&resident->data_entry, entry, has_data(residents, entry));
  note_first(&resident->open_entry, entry, !has_data(residents, entry));
  return STOW_OK;
}

static stow_status assign(stowi_plan_residents* residents, size_t entry, size_t first_resident,
                          stow_diag* diag) {
  // Searches the kept roots of the entry's name, which begin at |first_resident|.
  size_t resident = residents->count;
  for (size_t t = first_resident; t < residents->count; ++t) {
    bool same;
    STOW_TRY(is_same(residents, &residents->list[t], entry, diag, &same));
    if (same && resident != residents->count) {
      return fail_open(residents, entry, residents->list[resident].data_entry,
                       residents->list[t].data_entry, diag);
    }
    resident = same ? t : resident;
  }
  if (resident == residents->count) {
    residents->list[residents->count++] =
        (stowi_plan_resident){.size = value_of(residents, entry)->size,
                              .alignment = 1,
                              .fixed = STOW_PLACE_ANYWHERE,
                              .first_entry = STOWI_PLAN_ENTRY_NONE,
                              .fixed_entry = STOWI_PLAN_ENTRY_NONE,
                              .state_entry = STOWI_PLAN_ENTRY_NONE,
                              .data_entry = STOWI_PLAN_ENTRY_NONE,
                              .open_entry = STOWI_PLAN_ENTRY_NONE};
  }
  return join(residents, entry, resident, diag);
}

// An unnamed value is never shared.
static bool begins_name(const stowi_plan_residents* residents, size_t entry) {
  stow_str name = residents->entries[entry].name;
  return entry == 0 || name.size == 0 || !stow_str_equal(name, residents->entries[entry - 1].name);
}

stow_status stowi_plan_residents_create(const stowi_plan_member* members, size_t count,
                                        stow_allocator allocator, stow_diag* diag,
                                        stowi_plan_residents* out_residents) {
  *out_residents =
      (stowi_plan_residents){.members = members, .member_count = count, .allocator = allocator};
  STOW_TRY(gather(out_residents, diag));
  size_t first_resident = 0;
  for (size_t i = 0; i < out_residents->entry_count; ++i) {
    first_resident = begins_name(out_residents, i) ? out_residents->count : first_resident;
    STOW_TRY(assign(out_residents, i, first_resident, diag));
  }
  return STOW_OK;
}

void stowi_plan_residents_free(stowi_plan_residents* residents) {
  STOWI_ARRAY_FREE(residents->allocator, residents->entries, residents->entry_count);
  STOWI_ARRAY_FREE(residents->allocator, residents->list, residents->entry_count);
  memset(residents, 0, sizeof(*residents));
}

stowi_plan_member_text stowi_plan_name_in_member(const stowi_plan_member* member,
                                                 stow_value value) {
  stowi_plan_member_text name;
  stow_str graph = stow_graph_name(member->graph);
  int shown = (int)(graph.size < 80 ? graph.size : 80);
  snprintf(name.text, sizeof(name.text), "%s of @%.*s",
           stowi_plan_name_value(value, stow_graph_value_name(member->graph, value)).text, shown,
           graph.data);
  return name;
}

// ---------------------------------------------------------------------------------------------
// After placement

static int compare_spans(const void* a, const void* b, const void* context) {
  const stowi_plan_span* x = (const stowi_plan_span*)a;
  const stowi_plan_span* y = (const stowi_plan_span*)b;
  (void)context;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// |own|: by kept root, how many bytes of its footprint belong to the plan itself.
static stow_status fill_reserved(const stowi_plan_residents* residents,
                                 const stow_placement* placement, const uint64_t* own,
                                 stow_plan* plan, stow_diag* diag) {
  size_t count = 0;
  for (size_t t = 0; t < residents->count; ++t) {
    count += own[t] < residents->list[t].size + residents->list[t].guard;
  }
  STOW_TRY(stowi_plan_set_reserved_count(plan, count, diag));
  stowi_plan_span* span = plan->reserved;
  for (size_t t = 0; t < residents->count; ++t) {
    uint64_t footprint = residents->list[t].size + residents->list[t].guard;
    if (own[t] < footprint) {
      uint64_t offset = stow_placement_offset(placement, t);
      *span++ = (stowi_plan_span){offset + own[t], offset + footprint};
    }
  }
  stow_status status = stowi_sort(plan->reserved, count, sizeof(stowi_plan_span), compare_spans,
                                  NULL, plan->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}

stow_status stowi_plan_residents_reserve(const stowi_plan_residents* residents,
                                         const stow_placement* placement, size_t index,
                                         stow_diag* diag) {
  stow_plan* plan = residents->members[index].maker.plan;
  uint64_t* own = STOWI_ARRAY_ZERO(residents->allocator, uint64_t, residents->count);
  STOW_TRY(stowi_need_memory(own != NULL, diag));
  for (size_t i = 0; i < residents->entry_count; ++i) {
    if (residents->entries[i].member == index) {
      own[residents->entries[i].resident] =
          value_of(residents, i)->size + value_of(residents, i)->guard;
    }
  }
  stow_status status = fill_reserved(residents, placement, own, plan, diag);
  STOWI_ARRAY_FREE(residents->allocator, own, residents->count);
  return status;
}

void stowi_plan_residents_count_shared(const stowi_plan_residents* residents, size_t* out_count,
                                       uint64_t* out_bytes) {
  *out_count = 0;
  *out_bytes = 0;
  for (size_t t = 0; t < residents->count; ++t) {
    if (residents->list[t].members > 1) {
      *out_count += 1;
      *out_bytes += residents->list[t].size;
    }
  }
}
