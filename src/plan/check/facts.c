// Part of the plan checker: what the plan states about itself. Peak and lower bound change nothing
// in memory, but readers must be able to rely on them.
//
// By now live footprints are known to be disjoint and inside the arena, so no load exceeds the
// arena. A root with windows counts with what it occupies, but needs room for all of itself once.
// Loads are stored as differences between steps, so that a lifetime costs two additions whatever
// its length: O(buffers + windows + steps).
#include <inttypes.h>

#include "base/diag.h"
#include "plan/api.h"
#include "plan/check/check.h"

// Changes of the load at a step. Differences wrap around; their sums are correct.
typedef struct change {
  uint64_t bytes;
  uint64_t padded;  // every footprint up to the next unit
} change;

typedef struct tally {
  stowi_plan_checker* checker;
  change* changes;  // by step, n + 2 of them
  uint64_t starts;  // all of these are multiples of its lowest bit
  uint64_t unit;    // that bit: everything occupied begins at a multiple
  uint64_t most_padding;
  uint64_t fixed_end;  // end of the highest fixed footprint
  uint64_t largest;    // footprint
} tally;

typedef struct piece {
  uint64_t low, high;   // bytes [low, high)
  uint32_t begin, end;  // steps [begin, end)
  uint64_t starts;      // its lowest bit divides the offset of the first byte
  stow_slot whole;      // the footprint that it is a part of
  bool is_fixed;
} piece;

typedef void (*visit_piece)(tally* t, const piece* p);

// ---------------------------------------------------------------------------------------------
// All footprints

static bool is_fixed(const stowi_plan_checker* checker, stow_value value) {
  stowi_plan_params params = checker->plan->facts.params;
  bool shared = params == STOWI_PLAN_PARAMS_SHARED || params == STOWI_PLAN_PARAMS_SHARED_OR_NONE;
  return stowi_effects_offset(checker->effects, value) != STOW_OFFSET_NONE ||
         (shared && stowi_plan_check_is_op(checker, value, STOW_OP_PARAM));
}

static void visit_values(tally* t, visit_piece visit) {
  const stow_plan* plan = t->checker->plan;
  for (stow_value value = 0; value < t->checker->value_count; ++value) {
    stow_slot slot;
    if (stow_plan_root(plan, value) == value && stow_plan_value_slot(plan, value, &slot) &&
        slot.size > 0) {
      uint64_t footprint = slot.size + stowi_plan_guard(plan, value);
      uint64_t alignment = UINT64_C(1) << plan->values[value].alignment_log2;
      stowi_plan_stretches stretches = stowi_plan_stretches_of(t->checker, value);
      stowi_plan_occupied_bytes part;
      while (stowi_plan_stretches_next(&stretches, &part)) {
        piece p = {slot.offset + part.low,
                   slot.offset + part.high,
                   part.begin,
                   part.end,
                   alignment | part.low,
                   {slot.offset, footprint, 0},
                   is_fixed(t->checker, value)};
        visit(t, &p);
      }
    }
  }
}

static void visit_scratch(tally* t, visit_piece visit) {
  const stow_plan* plan = t->checker->plan;
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    // The rest of it was free anyway.
    slot.size = stowi_effects_scratch(t->checker->effects, i).bytes;
    if (slot.size > 0) {
      uint32_t step = t->checker->steps[node];
      piece p = {slot.offset, slot.offset + slot.size, step, step + 1, alignment, slot, false};
      visit(t, &p);
    }
  }
}

// Weights of a shared layout need no alignment in this plan: their offsets are given.
static void visit_reserved(tally* t, visit_piece visit) {
  const stow_plan* plan = t->checker->plan;
  for (size_t i = 0; i < stow_plan_reserved_count(plan); ++i) {
    stow_slot slot = stow_plan_reserved_slot(plan, i);
    if (slot.size > 0) {
      piece p = {slot.offset, slot.offset + slot.size, 0, t->checker->node_count + 1, 1, slot,
                 true};
      visit(t, &p);
    }
  }
}

static void visit_all(tally* t, visit_piece visit) {
  visit_values(t, visit);
  visit_scratch(t, visit);
  visit_reserved(t, visit);
}

// ---------------------------------------------------------------------------------------------
// The load

static void note_unit(tally* t, const piece* p) {
  t->starts |= p->starts;
  t->unit = t->starts & (~t->starts + 1);
}

static void note_load(tally* t, const piece* p) {
  uint64_t bytes = p->high - p->low;
  uint64_t padding = bytes % t->unit == 0 ? 0 : t->unit - bytes % t->unit;
  t->changes[p->begin].bytes += bytes;
  t->changes[p->begin].padded += bytes + padding;
  t->changes[p->end].bytes -= bytes;
  t->changes[p->end].padded -= bytes + padding;
  t->most_padding = padding > t->most_padding ? padding : t->most_padding;
  t->largest = p->whole.size > t->largest ? p->whole.size : t->largest;
  if (p->is_fixed && p->whole.offset + p->whole.size > t->fixed_end) {
    t->fixed_end = p->whole.offset + p->whole.size;
  }
}

static stow_status judge(tally* t) {
  stowi_plan_checker* checker = t->checker;
  change now = {0, 0};
  change most = {0, 0};
  uint32_t peak_step = 0;
  for (uint32_t step = 0; step <= checker->node_count; ++step) {
    now.bytes += t->changes[step].bytes;
    now.padded += t->changes[step].padded;
    if (now.bytes > most.bytes) {
      most.bytes = now.bytes;
      peak_step = step;
    }
    most.padded = now.padded > most.padded ? now.padded : most.padded;
  }
  if (stowi_plan_peak_step(checker->plan) != peak_step) {
    return stowi_plan_fault(checker, STOW_FAULT_FACT, STOW_VALUE_NONE, STOW_VALUE_NONE, peak_step,
                            "the plan's peak step is %" PRIu32
                            ", but the load is first highest at step %" PRIu32 ", with %" PRIu64
                            " bytes",
                            stowi_plan_peak_step(checker->plan), peak_step, most.bytes);
  }
  // Of what is live together all but the topmost end in padding, whichever that is.
  uint64_t bound = most.padded > t->most_padding ? most.padded - t->most_padding : 0;
  bound = most.bytes > bound ? most.bytes : bound;
  bound = t->fixed_end > bound ? t->fixed_end : bound;
  bound = t->largest > bound ? t->largest : bound;
  if (stow_plan_lower_bound(checker->plan) != bound) {
    return stowi_plan_fault(checker, STOW_FAULT_FACT, STOW_VALUE_NONE, STOW_VALUE_NONE, peak_step,
                            "the plan states a lower bound of %" PRIu64
                            " bytes, but it is %" PRIu64,
                            stow_plan_lower_bound(checker->plan), bound);
  }
  return STOW_OK;
}

// Kernels that are not the library's pack nothing that a plan tells of.
static stow_status check_packed(stowi_plan_checker* checker) {
  stowi_effects_kernels kernels = stowi_effects_kernels_of(checker->effects);
  uint64_t stated = checker->plan->facts.kernels.packed_bytes;
  if (kernels.threads == 0 || stated == kernels.packed_bytes) {
    return STOW_OK;
  }
  return stowi_plan_fault(checker, STOW_FAULT_FACT, STOW_VALUE_NONE, STOW_VALUE_NONE, 0,
                          "the plan states %" PRIu64
                          " bytes of packed weights, but they are %" PRIu64
                          " with this choice of what is packed",
                          stated, kernels.packed_bytes);
}

stow_status stowi_plan_check_facts(stowi_plan_checker* checker) {
  STOW_TRY(check_packed(checker));
  size_t count = (size_t)checker->node_count + 2;
  tally t = {.checker = checker};
  t.changes = STOWI_ARRAY_ZERO(checker->allocator, change, count);
  STOW_TRY(stowi_need_memory(t.changes != NULL, checker->diag));
  visit_all(&t, note_unit);
  visit_all(&t, note_load);
  stow_status status = judge(&t);
  STOWI_ARRAY_FREE(checker->allocator, t.changes, count);
  return status;
}
