// Values whose place is given: params at the places of a shared weight layout, params packed at the
// bottom of the arena, and offsets that effects fix. They are fixed buffers of the problem, so
// every strategy places the rest around them.
// In a forward/backward pair that shares one arena this matters: weights placed into a finished
// plan afterwards would overlap its activations.
//     offset   forward              backward, in the same arena
//       ▲   ┌──────────────┐        ┌──────────────┐
//       │   │ activations  │        │ activations  │
//       │   ├──────────────┤        ├──────────────┤
//       │   │ w1 · w2 · w3 │  ───▶  │ w1 · w2 ·▒▒▒▒│  w3 is not named here: reserved
//       └───┴──────────────┴────────┴──────────────┴──▶ step
#include <inttypes.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/api.h"
#include "plan/make/make.h"

// ---------------------------------------------------------------------------------------------
// Shared weights

static stow_status missing_param(stowi_plan_maker* maker, stow_value v) {
  if (!maker->options.allow_missing_params) {
    stowi_plan_value_text name = stowi_plan_make_name(maker, v);
    return stowi_plan_make_fail(maker, STOW_ERR_NOT_FOUND, v,
                                "param %s is missing from the weight layout", name.text);
  }
  stowi_plan_value* value = &maker->plan->values[v];
  value->offset = STOW_OFFSET_NONE;
  value->size = 0;
  value->guard = 0;
  return STOW_OK;
}

static stow_status share_param(stowi_plan_maker* maker, stow_value v, bool* used) {
  const stow_weight_layout* layout = maker->options.layout;
  size_t index = stowi_plan_weight_layout_index(layout, stowi_plan_value_name(maker->plan, v));
  if (index == STOWI_PLAN_WEIGHT_NONE) {
    return missing_param(maker, v);
  }
  used[index] = true;
  stow_weight weight = {.struct_size = sizeof(weight)};
  STOW_TRY(stow_weight_layout_describe(layout, index, &weight));
  stowi_plan_value* value = &maker->plan->values[v];
  stowi_plan_value_text name = stowi_plan_make_name(maker, v);
  uint64_t* fixed = &maker->fixed[v];
  if (*fixed != STOW_PLACE_ANYWHERE && *fixed != weight.offset) {
    return stowi_plan_make_fail(maker, STOW_ERR_CONFLICT, v,
                                "param %s is fixed at %" PRIu64
                                ", but the weight layout has it at %" PRIu64,
                                name.text, *fixed, weight.offset);
  }
  bool is_empty = stowi_analysis_views_bytes(maker->views, v) == 0;
  if (is_empty != stowi_plan_weight_is_empty(layout, index) ||
      (!is_empty && value->size != weight.size)) {
    return stowi_plan_make_fail(
        maker, STOW_ERR_TYPE, v,
        "param %s has %" PRIu64 " bytes, but %" PRIu64 " in the weight layout", name.text,
        stowi_analysis_views_bytes(maker->views, v), weight.size);
  }
  *fixed = weight.offset;
  value->begin = 0;
  value->end = maker->plan->step_count + 1;
  value->guard = weight.guard;
  if (is_empty) {
    // Only the address of an empty weight matters. Its slot has the forward plan's alignment as its
    // size, and is aligned to that.
    value->size = weight.size;
    if (stowi_plan_log2(weight.size) > value->alignment_log2) {
      value->alignment_log2 = stowi_plan_log2(weight.size);
    }
  }
  return STOW_OK;
}

static int compare_spans(const void* a, const void* b, const void* context) {
  (void)context;
  const stowi_plan_span* x = (const stowi_plan_span*)a;
  const stowi_plan_span* y = (const stowi_plan_span*)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static stow_status share_params(stowi_plan_maker* maker, bool* used) {
  for (stow_value v = 0; v < maker->plan->value_count; ++v) {
    if (maker->plan->values[v].kind == STOWI_PLAN_KIND_PARAM &&
        stowi_plan_has_slot(maker->plan, v)) {
      STOW_TRY(share_param(maker, v, used));
    }
  }
  // Weights that this graph does not name are still there.
  const stow_weight_layout* layout = maker->options.layout;
  size_t count = 0;
  for (size_t i = 0; i < stow_weight_layout_count(layout); ++i) {
    count += !used[i];
  }
  STOW_TRY(stowi_plan_set_reserved_count(maker->plan, count, maker->diag));
  stowi_plan_span* span = maker->plan->reserved;
  for (size_t i = 0; i < stow_weight_layout_count(layout); ++i) {
    if (!used[i]) {
      stow_weight weight = {.struct_size = sizeof(weight)};
      STOW_TRY(stow_weight_layout_describe(layout, i, &weight));
      span->offset = weight.offset;
      span->end = weight.offset + weight.size + weight.guard;
      ++span;
    }
  }
  stow_status status = stowi_sort(maker->plan->reserved, count, sizeof(stowi_plan_span),
                                  compare_spans, NULL, maker->allocator);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(maker->diag);
}

stow_status stowi_plan_make_shared(stowi_plan_maker* maker) {
  if (maker->options.layout == NULL) {
    return STOW_OK;
  }
  size_t count = stow_weight_layout_count(maker->options.layout);
  bool* used = STOWI_ARRAY_ZERO(maker->allocator, bool, count);
  STOW_TRY(stowi_need_memory(used != NULL, maker->diag));
  stow_status status = share_params(maker, used);
  STOWI_ARRAY_FREE(maker->allocator, used, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Packed params

static bool is_packable(const stowi_plan_maker* maker, stow_value v) {
  return maker->plan->values[v].kind == STOWI_PLAN_KIND_PARAM &&
         stowi_plan_has_slot(maker->plan, v) && maker->fixed[v] == STOW_PLACE_ANYWHERE;
}

static int compare_sizes(const void* a, const void* b, const void* context) {
  const stowi_plan_value* values = (const stowi_plan_value*)context;
  stow_value i = *(const stow_value*)a;
  stow_value j = *(const stow_value*)b;
  if (values[i].size != values[j].size) {
    return values[i].size > values[j].size ? -1 : 1;
  }
  return i < j ? -1 : i > j;
}

static stow_status stack_params(stowi_plan_maker* maker, const stow_value* params, size_t count) {
  uint64_t top = 0;
  for (size_t i = 0; i < count; ++i) {
    const stowi_plan_value* value = &maker->plan->values[params[i]];
    uint64_t offset = 0;
    if (!stowi_align_up(top, UINT64_C(1) << value->alignment_log2, &offset) ||
        !stowi_add_u64(offset, value->size, &top) || !stowi_add_u64(top, value->guard, &top)) {
      stowi_plan_value_text name = stowi_plan_make_name(maker, params[i]);
      return stowi_plan_make_fail(maker, STOW_ERR_OVERFLOW, params[i],
                                  "packing the params overflows 64 bits at %s", name.text);
    }
    maker->fixed[params[i]] = offset;
  }
  return STOW_OK;
}

static stow_status pack_params(stowi_plan_maker* maker) {
  size_t count = 0;
  for (stow_value v = 0; v < maker->plan->value_count; ++v) {
    count += is_packable(maker, v);
  }
  stow_value* params = STOWI_ARRAY(maker->allocator, stow_value, count);
  STOW_TRY(stowi_need_memory(params != NULL, maker->diag));
  size_t at = 0;
  for (stow_value v = 0; v < maker->plan->value_count; ++v) {
    if (is_packable(maker, v)) {
      params[at++] = v;
    }
  }
  stow_status status = stowi_sort(params, count, sizeof(*params), compare_sizes,
                                  maker->plan->values, maker->allocator);
  if (status == STOW_OK) {
    status = stack_params(maker, params, count);
  } else {
    status = stowi_fail_memory(maker->diag);
  }
  STOWI_ARRAY_FREE(maker->allocator, params, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Checking what is fixed. The placer would refuse it too, but can only name buffer numbers.

// The fixed buffers alone, as a problem with its solution.
typedef struct fixed_set {
  stow_problem* problem;
  STOWI_VEC(stow_value) values;  // STOW_VALUE_NONE: a reserved range
  STOWI_VEC(uint64_t) offsets;
} fixed_set;

static stow_status add_fixed(stowi_plan_maker* maker, fixed_set* set, stow_value v,
                             const stow_buffer* desc) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(maker->allocator, &set->values, 1) == STOW_OK &&
                                 STOWI_VEC_RESERVE(maker->allocator, &set->offsets, 1) == STOW_OK,
                             maker->diag));
  size_t buffer;
  stow_status status = stow_problem_add(set->problem, desc, maker->diag, &buffer);
  if (status == STOW_ERR_OVERFLOW && v != STOW_VALUE_NONE) {
    stowi_plan_value_text name = stowi_plan_make_name(maker, v);
    return stowi_plan_make_fail(maker, status, v,
                                "%s, fixed at %" PRIu64 ": %" PRIu64 STOWI_PLAN_TOO_LARGE,
                                name.text, desc->fixed_offset, desc->size);
  }
  STOW_TRY(status);
  set->values.data[set->values.count++] = v;
  set->offsets.data[set->offsets.count++] = desc->fixed_offset;
  return STOW_OK;
}

static stow_status collect_fixed(stowi_plan_maker* maker, fixed_set* set) {
  stow_plan* plan = maker->plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (!stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v) &&
        maker->fixed[v] != STOW_PLACE_ANYWHERE) {
      const stowi_plan_value* value = &maker->plan->values[v];
      uint64_t alignment = UINT64_C(1) << value->alignment_log2;
      if (maker->fixed[v] % alignment != 0) {
        stowi_plan_value_text name = stowi_plan_make_name(maker, v);
        return stowi_plan_make_fail(maker, STOW_ERR_CONFLICT, v,
                                    "%s must be at %" PRIu64
                                    ", which is not a multiple of its alignment %" PRIu64,
                                    name.text, maker->fixed[v], alignment);
      }
      stow_buffer desc;
      stow_buffer_init(&desc);
      desc.size = value->size;
      desc.guard = value->guard;
      desc.begin = maker->plan->facts.reuse ? value->begin : 0;
      desc.end = maker->plan->facts.reuse ? value->end : 1;
      desc.fixed_offset = maker->fixed[v];
      STOW_TRY(add_fixed(maker, set, v, &desc));
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = plan->reserved[i].end - plan->reserved[i].offset;
    desc.end = (uint64_t)plan->step_count + 1;
    desc.fixed_offset = plan->reserved[i].offset;
    STOW_TRY(add_fixed(maker, set, STOW_VALUE_NONE, &desc));
  }
  return STOW_OK;
}

static stowi_plan_value_text name_party(const stowi_plan_maker* maker, stow_value v) {
  if (v != STOW_VALUE_NONE) {
    return stowi_plan_make_name(maker, v);
  }
  stowi_plan_value_text text = {"a weight of the layout"};
  return text;
}

static stow_status check_apart(stowi_plan_maker* maker, fixed_set* set) {
  stow_placement_violation violation = {.struct_size = sizeof(violation)};
  stow_status status = stow_placement_check(set->problem, set->offsets.data, set->offsets.count,
                                            UINT64_MAX, maker->allocator, maker->diag, &violation);
  if (status != STOW_ERR_VIOLATION) {
    return status;
  }
  stow_value first = set->values.data[violation.first];
  stow_value second = set->values.data[violation.second];
  stowi_plan_value_text first_name = name_party(maker, first);
  stowi_plan_value_text second_name = name_party(maker, second);
  return stowi_plan_make_fail(maker, STOW_ERR_CONFLICT, first != STOW_VALUE_NONE ? first : second,
                              "%s, fixed at %" PRIu64 ", and %s, fixed at %" PRIu64
                              ", overlap while both are live",
                              first_name.text, set->offsets.data[violation.first], second_name.text,
                              set->offsets.data[violation.second]);
}

stow_status stowi_plan_make_fixed(stowi_plan_maker* maker) {
  if (maker->options.pack_params) {
    STOW_TRY(pack_params(maker));
  }
  fixed_set set = {0};
  stow_status status = stow_problem_create(maker->allocator, maker->diag, &set.problem);
  if (status == STOW_OK) {
    status = collect_fixed(maker, &set);
  }
  if (status == STOW_OK && set.values.count > 1) {
    status = check_apart(maker, &set);
  }
  STOWI_VEC_FREE(maker->allocator, &set.values);
  STOWI_VEC_FREE(maker->allocator, &set.offsets);
  stow_problem_destroy(set.problem);
  return status;
}
