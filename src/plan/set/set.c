// Several graphs in one arena: one placement problem, in which the graphs' steps follow each other
// and what is kept between runs is live over all of them. So no pair of graphs needs a special
// rule, and every strategy, bound and proof holds for sets as it does for single plans.
//     step   0 ……… n₀ │ n₀+1 ……… n₀+n₁+1
//            graph 0  │ graph 1
//            ─────────┴───────────────── kept
// Each graph is planned alone first: that determines its order and sharing. Then it is prepared
// again with these, and all are placed at once.
// O(n log n) besides planning, placement and the comparison of data, and O(members × kept roots).
#include "plan/set/set.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "plan/api.h"

struct stow_set {
  stow_allocator allocator;
  stow_plan_options options;  // checked
  STOWI_VEC(stowi_plan_member) members;
  bool placed;
  uint64_t arena_size;
  uint64_t lower_bound;
  size_t shared_count;
  uint64_t shared_bytes;
};

// ---------------------------------------------------------------------------------------------
// The set

stow_status stow_set_create(const stow_plan_options* options, stow_allocator allocator,
                            stow_diag* diag, stow_set** out_set) {
  *out_set = NULL;
  stow_plan_options loaded;
  STOW_TRY(stowi_plan_options_load(options, diag, &loaded));
  if (loaded.layout != NULL || loaded.pack_params) {
    return stowi_fail(
        diag, STOW_ERR_INVALID_ARGUMENT,
        "a set places params itself and takes neither a weight layout nor packed params");
  }
  if (loaded.start != NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "a set takes no start");
  }
  if (loaded.schedule != NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "a set takes a schedule with each graph, not with the options");
  }
  stow_set* set = STOWI_NEW(allocator, stow_set);
  STOW_TRY(stowi_need_memory(set != NULL, diag));
  set->allocator = allocator;
  set->options = loaded;
  *out_set = set;
  return STOW_OK;
}

// Frees what is needed only while the set is placed.
static void release(const stow_set* set, stowi_plan_member* member) {
  size_t value_count = stow_graph_value_count(member->graph);
  STOWI_ARRAY_FREE(set->allocator, member->kept, value_count);
  STOWI_ARRAY_FREE(set->allocator, member->state, value_count);
  member->kept = NULL;
  member->state = NULL;
  if (member->prepared) {
    stowi_plan_maker_free(&member->maker);
    memset(&member->maker, 0, sizeof(member->maker));
    member->prepared = false;
  }
}

void stow_set_destroy(stow_set* set) {
  if (set == NULL) {
    return;
  }
  stow_allocator allocator = set->allocator;
  for (size_t i = 0; i < set->members.count; ++i) {
    stow_plan_destroy(set->members.data[i].plan);
  }
  STOWI_VEC_FREE(allocator, &set->members);
  STOWI_DELETE(allocator, set);
}

stow_status stow_set_add(stow_set* set, const stow_graph* graph, const stow_effects* effects,
                         const stow_schedule* schedule, stow_diag* diag, size_t* out_index) {
  *out_index = 0;
  if (set->placed) {
    return stowi_fail(diag, STOW_ERR_CONFLICT, "the set has been placed; no graph can be added");
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(set->allocator, &set->members, 1) == STOW_OK, diag));
  stowi_plan_member member = {.graph = graph, .effects = effects, .schedule = schedule};
  *out_index = set->members.count;
  set->members.data[set->members.count++] = member;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Plans without offsets

// The second time, order and sharing are given.
static stow_status prepare(const stow_set* set, const stowi_plan_request* request,
                           stowi_plan_member* member) {
  stow_schedule* order;
  STOW_TRY(stow_schedule_create_order(member->graph, stow_plan_order(member->plan),
                                      stow_plan_step_count(member->plan), set->allocator,
                                      request->diag, &order));
  const stowi_plan_facts* facts = &member->plan->facts;
  stowi_plan_choice choice = {order, facts->in_place, facts->elide_copies,
                              member->plan->window_count != 0, facts->least_row};
  stowi_plan_maker_init(&member->maker, request, choice);
  member->prepared = true;
  stow_status status = stowi_plan_make_prepare(&member->maker);
  stow_schedule_destroy(order);
  member->maker.choice.schedule = NULL;
  return status;
}

static void mark_value(stowi_plan_member* member, stow_value v) {
  const stow_plan* plan = member->maker.plan;
  stow_value root = plan->values[v].root;
  uint8_t kind = plan->values[v].kind;
  bool is_weight = kind == STOWI_PLAN_KIND_PARAM || kind == STOWI_PLAN_KIND_CONSTANT;
  bool is_state = stowi_effects_state(member->effects, v);
  if (stowi_plan_has_slot(plan, root) && (is_weight || is_state)) {
    member->kept[root] = true;
    member->state[root] = member->state[root] || is_state;
  }
}

// Marks the roots that are kept between runs. They have all of their bytes at any time: another
// graph may keep more of them than this one.
static stow_status mark_kept(const stow_set* set, stowi_plan_member* member, stow_diag* diag) {
  stow_plan* plan = member->maker.plan;
  member->kept = STOWI_ARRAY_ZERO(set->allocator, bool, plan->value_count);
  member->state = STOWI_ARRAY_ZERO(set->allocator, bool, plan->value_count);
  STOW_TRY(stowi_need_memory(member->kept != NULL && member->state != NULL, diag));
  for (stow_value v = 0; v < plan->value_count; ++v) {
    mark_value(member, v);
  }
  stowi_plan_drop_windows(plan, member->kept);
  return STOW_OK;
}

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

// What each graph alone may spend: the rest is for the set, which is what counts. A larger budget
// than the default does not change the orders and the sharing.
static stow_plan_options options_alone(const stow_set* set) {
  stow_plan_options options = set->options;
  options.nodes = min_u64(options.nodes, STOW_PLAN_DEFAULT_NODES) / (set->members.count + 1);
  options.patience = min_u64(options.patience, STOW_PLAN_DEFAULT_PATIENCE);
  return options;
}

static stow_status prepare_all(stow_set* set, stow_diag* diag) {
  for (size_t i = 0; i < set->members.count; ++i) {
    stowi_plan_member* member = &set->members.data[i];
    stowi_plan_request request = {member->graph, member->effects, options_alone(set),
                                  set->allocator, diag};
    request.options.schedule = member->schedule;
    STOW_TRY(stow_plan_make(member->graph, member->effects, &request.options, set->allocator,
                            request.diag, &member->plan));
    member->alone = stow_plan_arena_size(member->plan);
    STOW_TRY(prepare(set, &request, member));
    STOW_TRY(mark_kept(set, member, diag));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Placing

typedef struct placing {
  stow_set* set;
  stowi_plan_residents residents;
  stow_problem* problem;
  stow_placement* placement;
  uint64_t lower_bound;
  stow_diag* diag;
} placing;

static uint64_t step_total(const stow_set* set) {
  uint64_t total = 0;
  for (size_t i = 0; i < set->members.count; ++i) {
    total += (uint64_t)set->members.data[i].maker.plan->step_count + 1;
  }
  return total;
}

static stow_status add_resident(placing* p, const stowi_plan_resident* resident, uint64_t steps) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = resident->size;
  desc.guard = resident->guard;
  desc.end = steps;
  desc.alignment = resident->alignment;
  desc.fixed_offset = resident->fixed;
  size_t buffer;
  stow_status status = stow_problem_add(p->problem, &desc, p->diag, &buffer);
  if (status == STOW_ERR_OVERFLOW) {
    const stowi_plan_entry* entry = &p->residents.entries[resident->first_entry];
    const stowi_plan_member* member = &p->set->members.data[entry->member];
    stowi_fail(p->diag, status, "%s: %" PRIu64 STOWI_PLAN_TOO_LARGE,
               stowi_plan_name_in_member(member, entry->value).text, resident->size);
  }
  return status;
}

static stow_status pose(placing* p) {
  STOW_TRY(stow_problem_create(p->set->allocator, p->diag, &p->problem));
  uint64_t steps = step_total(p->set);
  for (size_t i = 0; i < p->residents.count; ++i) {
    STOW_TRY(add_resident(p, &p->residents.list[i], steps));
  }
  uint64_t shift = 0;
  for (size_t i = 0; i < p->set->members.count; ++i) {
    const stowi_plan_member* member = &p->set->members.data[i];
    STOW_TRY(stowi_plan_add_buffers(&member->maker, p->problem, shift, member->kept));
    shift += (uint64_t)member->maker.plan->step_count + 1;
  }
  return STOW_OK;
}

// With what the graphs alone have left of the nodes.
static stow_plan_options options_together(const stow_set* set) {
  stow_plan_options options = set->options;
  for (size_t i = 0; i < set->members.count && options.nodes != STOW_PLACE_NO_LIMIT; ++i) {
    options.nodes -= min_u64(options.nodes, set->members.data[i].plan->search.nodes);
  }
  return options;
}

static stow_status place(placing* p) {
  stow_set* set = p->set;
  stow_plan_options options = options_together(set);
  STOW_TRY(
      stowi_plan_place(p->problem, &options, NULL, true, set->allocator, p->diag, &p->placement));
  stow_load load = {.struct_size = sizeof(load)};
  STOW_TRY(stow_problem_load(p->problem, set->allocator, p->diag, &load));
  p->lower_bound = load.lower_bound;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Plans with offsets

// The plan ends at its own highest footprint, or at that of what the others keep.
static uint64_t highest_end(const stow_plan* plan) {
  uint64_t end = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (stowi_plan_has_slot(plan, v) && stowi_plan_footprint_end(&plan->values[v]) > end) {
      end = stowi_plan_footprint_end(&plan->values[v]);
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    uint64_t scratch_end = plan->scratch[i].offset + plan->scratch[i].size;
    end = scratch_end > end ? scratch_end : end;
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    end = plan->reserved[i].end > end ? plan->reserved[i].end : end;
  }
  return end;
}

// The decisions about order and sharing from planning the graph alone.
static void move_decisions(stow_plan* from, stow_plan* to) {
  STOWI_ARRAY_FREE(to->allocator, to->decisions, to->decision_count);
  to->decisions = from->decisions;
  to->decision_count = from->decision_count;
  to->ordering = from->ordering;
  from->decisions = NULL;
  from->decision_count = 0;
}

static stow_status finish(placing* p, size_t index, size_t* next) {
  stowi_plan_member* member = &p->set->members.data[index];
  stowi_plan_maker* maker = &member->maker;
  stow_plan* plan = p->set->members.data[index].maker.plan;
  for (size_t i = 0; i < p->residents.entry_count; ++i) {
    const stowi_plan_entry* entry = &p->residents.entries[i];
    if (entry->member == index) {
      plan->values[entry->value].offset = stow_placement_offset(p->placement, entry->resident);
    }
  }
  *next = stowi_plan_take_offsets(maker, p->placement, *next, member->kept);
  STOW_TRY(stowi_plan_residents_reserve(&p->residents, p->placement, index, p->diag));
  STOW_TRY(stowi_plan_enlarge_scratch(plan, maker->effects, stow_placement_height(p->placement),
                                      p->diag));
  plan->arena_size = highest_end(plan);
  STOW_TRY(stowi_plan_make_judge(maker));
  move_decisions(member->plan, maker->plan);
  stow_plan_destroy(member->plan);
  member->plan = maker->plan;
  maker->plan = NULL;
  return STOW_OK;
}

static stow_status run(placing* p) {
  stow_set* set = p->set;
  STOW_TRY(prepare_all(set, p->diag));
  STOW_TRY(stowi_plan_residents_create(set->members.data, set->members.count, set->allocator,
                                       p->diag, &p->residents));
  STOW_TRY(stowi_plan_residents_check_fixed(&p->residents, p->diag));
  STOW_TRY(pose(p));
  STOW_TRY(place(p));
  size_t next = p->residents.count;
  for (size_t i = 0; i < set->members.count; ++i) {
    STOW_TRY(finish(p, i, &next));
  }
  return STOW_OK;
}

stow_status stow_set_place(stow_set* set, stow_diag* diag) {
  if (set->placed || set->members.count == 0) {
    return stowi_fail(diag, STOW_ERR_CONFLICT,
                      set->placed ? "the set has already been placed" : "the set has no graph");
  }
  placing p = {.set = set, .diag = diag};
  stow_status status = run(&p);
  if (status == STOW_OK) {
    set->placed = true;
    set->arena_size = stow_placement_height(p.placement);
    set->lower_bound = p.lower_bound;
    stowi_plan_residents_count_shared(&p.residents, &set->shared_count, &set->shared_bytes);
  }
  for (size_t i = 0; i < set->members.count; ++i) {
    release(set, &set->members.data[i]);
    if (status != STOW_OK) {
      stowi_plan_member* member = &set->members.data[i];
      stow_plan_destroy(member->plan);
      member->plan = NULL;
      member->alone = 0;
    }
  }
  stowi_plan_residents_free(&p.residents);
  stow_problem_destroy(p.problem);
  stow_placement_destroy(p.placement);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Reading

size_t stowi_plan_set_count(const stow_set* set) { return set->members.count; }

const stow_plan* stow_set_plan(const stow_set* set, size_t index) {
  return index < set->members.count ? set->members.data[index].plan : NULL;
}

uint64_t stow_set_arena_size(const stow_set* set) { return set->arena_size; }

uint64_t stowi_plan_set_alignment(const stow_set* set) {
  uint64_t alignment = 1;
  for (size_t i = 0; i < set->members.count && set->placed; ++i) {
    uint64_t own = stowi_plan_alignment(set->members.data[i].plan);
    alignment = own > alignment ? own : alignment;
  }
  return alignment;
}

uint64_t stowi_plan_set_lower_bound(const stow_set* set) { return set->lower_bound; }

uint64_t stow_set_alone(const stow_set* set, size_t index) {
  return index < set->members.count ? set->members.data[index].alone : 0;
}

size_t stowi_plan_set_shared_count(const stow_set* set) { return set->shared_count; }

uint64_t stowi_plan_set_shared_bytes(const stow_set* set) { return set->shared_bytes; }

stow_status stow_set_describe(const stow_set* set, stow_set_info* out_info) {
  stow_set_info info = {.count = stowi_plan_set_count(set),
                        .arena_size = stow_set_arena_size(set),
                        .alignment = stowi_plan_set_alignment(set),
                        .lower_bound = stowi_plan_set_lower_bound(set),
                        .shared_count = stowi_plan_set_shared_count(set),
                        .shared_bytes = stowi_plan_set_shared_bytes(set)};
  return stowi_fill_struct(out_info, &info, sizeof(info), "stow_set_info", NULL);
}
