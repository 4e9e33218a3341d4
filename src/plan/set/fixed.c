// Checks what is fixed in the graphs of a set: a root that one graph keeps must not be where
// another has fixed something else. The placer would refuse it too, but can only name buffer
// numbers. As for one graph (make/fixed.c), the fixed buffers alone are a problem with its
// solution. O(n log n).
#include <inttypes.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "plan/set/set.h"

typedef struct party {
  const stowi_plan_member* member;
  stow_value value;
} party;

typedef struct fixed_set {
  const stowi_plan_residents* residents;
  uint64_t steps;  // of all members
  stow_problem* problem;
  STOWI_VEC(party) parties;
  STOWI_VEC(uint64_t) offsets;
  stow_diag* diag;
} fixed_set;

static stow_status add(fixed_set* set, party who, const stow_buffer* desc) {
  stow_allocator allocator = set->residents->allocator;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(allocator, &set->parties, 1) == STOW_OK &&
                                 STOWI_VEC_RESERVE(allocator, &set->offsets, 1) == STOW_OK,
                             set->diag));
  if (desc->fixed_offset % desc->alignment != 0) {
    return stowi_fail(set->diag, STOW_ERR_CONFLICT,
                      "%s must be at %" PRIu64 ", which is not a multiple of %" PRIu64
                      ", the alignment that another graph needs there",
                      stowi_plan_name_in_member(who.member, who.value).text, desc->fixed_offset,
                      desc->alignment);
  }
  size_t buffer;
  stow_status status = stow_problem_add(set->problem, desc, set->diag, &buffer);
  if (status == STOW_ERR_OVERFLOW) {
    return stowi_fail(set->diag, status, "%s, fixed at %" PRIu64 ": %" PRIu64 STOWI_PLAN_TOO_LARGE,
                      stowi_plan_name_in_member(who.member, who.value).text, desc->fixed_offset,
                      desc->size);
  }
  STOW_TRY(status);
  set->parties.data[set->parties.count++] = who;
  set->offsets.data[set->offsets.count++] = desc->fixed_offset;
  return STOW_OK;
}

// Roots that are fixed, and not kept. They were checked against each other when the graph was
// planned alone.
static stow_status add_member(fixed_set* set, const stowi_plan_member* member, uint64_t shift) {
  const stow_plan* plan = member->maker.plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    if (stowi_plan_is_view(plan, v) || !stowi_plan_has_slot(plan, v) || member->kept[v] ||
        member->maker.fixed[v] == STOW_PLACE_ANYWHERE) {
      continue;
    }
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = value->size;
    desc.guard = value->guard;
    desc.begin = shift + value->begin;
    desc.end = shift + value->end;
    desc.fixed_offset = member->maker.fixed[v];
    STOW_TRY(add(set, (party){member, v}, &desc));
  }
  return STOW_OK;
}

static stow_status collect(fixed_set* set) {
  const stowi_plan_residents* residents = set->residents;
  STOW_TRY(stow_problem_create(residents->allocator, set->diag, &set->problem));
  for (size_t i = 0; i < residents->member_count; ++i) {
    STOW_TRY(add_member(set, &residents->members[i], set->steps));
    set->steps += (uint64_t)residents->members[i].maker.plan->step_count + 1;
  }
  for (size_t t = 0; t < residents->count; ++t) {
    const stowi_plan_resident* resident = &residents->list[t];
    if (resident->fixed_entry == STOWI_PLAN_ENTRY_NONE) {
      continue;
    }
    const stowi_plan_entry* entry = &set->residents->entries[resident->fixed_entry];
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = resident->size;
    desc.guard = resident->guard;
    desc.end = set->steps;
    desc.alignment = resident->alignment;
    desc.fixed_offset = resident->fixed;
    STOW_TRY(add(set, (party){&set->residents->members[entry->member], entry->value}, &desc));
  }
  return STOW_OK;
}

static stow_status check_apart(const fixed_set* set) {
  stow_placement_violation violation = {.struct_size = sizeof(violation)};
  stow_status status =
      stow_placement_check(set->problem, set->offsets.data, set->offsets.count, UINT64_MAX,
                           set->residents->allocator, set->diag, &violation);
  if (status != STOW_ERR_VIOLATION) {
    return status;
  }
  party first = set->parties.data[violation.first];
  party second = set->parties.data[violation.second];
  return stowi_fail(
      set->diag, STOW_ERR_CONFLICT,
      "%s, fixed at %" PRIu64 ", and %s, fixed at %" PRIu64 ", overlap while both are live",
      stowi_plan_name_in_member(first.member, first.value).text, set->offsets.data[violation.first],
      stowi_plan_name_in_member(second.member, second.value).text,
      set->offsets.data[violation.second]);
}

stow_status stowi_plan_residents_check_fixed(const stowi_plan_residents* residents,
                                             stow_diag* diag) {
  fixed_set set = {.residents = residents, .diag = diag};
  stow_status status = collect(&set);
  if (status == STOW_OK && set.parties.count > 1) {
    status = check_apart(&set);
  }
  STOWI_VEC_FREE(residents->allocator, &set.parties);
  STOWI_VEC_FREE(residents->allocator, &set.offsets);
  stow_problem_destroy(set.problem);
  return status;
}
