// Weight layouts: what they contain, and how a plan takes its params from one.
#include <stdlib.h>
#include <string.h>

#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

static const char* const forward =
    "graph @forward {\n"
    "  %0 = input \"x\" : f32[4, 16]\n"
    "  %1 = param \"w\" : f32[16, 16]\n"
    "  %2 = param \"bias\" : f32[16]\n"
    "  %3 = param \"empty\" : f32[0]\n"
    "  %4 = matmul(%0, %1) : f32[4, 16]\n"
    "  %5 = add(%4, %2) : f32[4, 16]\n"
    "  return %5\n"
    "}\n";

// Uses only some of the weights.
static const char* const backward =
    "graph @backward {\n"
    "  %0 = input \"grad\" : f32[4, 16]\n"
    "  %1 = param \"w\" : f32[16, 16]\n"
    "  %2 = transpose(%1) {perm = [1, 0]} : f32[16, 16]\n"
    "  %3 = matmul(%0, %2) : f32[4, 16]\n"
    "  %4 = relu(%3) : f32[4, 16]\n"
    "  return %4\n"
    "}\n";

static stow_weight_layout* layout_of(const plan_case* c) {
  stow_weight_layout* layout = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_weight_layout_create(c->graph, c->plan, stow_allocator_default(), &diag, &layout) ==
        STOW_OK);
  return layout;
}

// A forward plan, its layout, and options that use it.
typedef struct pair {
  plan_case forward;
  stow_weight_layout* layout;
  stow_plan_options options;
} pair;

static pair begin_pair(const stow_plan_options* forward_options) {
  pair p;
  p.forward = plan_make(forward, forward_options);
  p.layout = layout_of(&p.forward);
  p.options = plan_plain(STOW_PRESET_BACKWARD);
  p.options.layout = p.layout;
  return p;
}

static void end_pair(pair* p) {
  stow_weight_layout_destroy(p->layout);
  plan_free(&p->forward);
}

TEST(LayoutListsParamsByName) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  pair p = begin_pair(&options);
  CHECK_U64(stow_weight_layout_count(p.layout), 3);
  stow_weight bias = weight_of(p.layout, 0);
  stow_weight w = weight_of(p.layout, 2);
  CHECK_TEXT(bias.name.data, "bias");
  CHECK_TEXT(weight_of(p.layout, 1).name.data, "empty");
  CHECK_TEXT(w.name.data, "w");
  CHECK_U64(w.name.size, 1);
  CHECK_U64(w.value, 1);
  CHECK_U64(w.offset, plan_offset(p.forward.plan, 1));
  CHECK_U64(w.size, 1024);
  CHECK_U64(w.guard, 128);
  CHECK_U64(bias.value, 2);
  CHECK(stow_weight_layout_describe(p.layout, 3, &w) == STOW_ERR_NOT_FOUND);
  end_pair(&p);
}

TEST(LayoutSizeIsTheHighestEnd) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  pair p = begin_pair(&options);
  uint64_t highest = 0;
  for (size_t i = 0; i < stow_weight_layout_count(p.layout); ++i) {
    stow_weight weight = weight_of(p.layout, i);
    uint64_t end = weight.offset + weight.size;
    highest = end > highest ? end : highest;
  }
  CHECK_U64(stowi_plan_weight_layout_size(p.layout), highest);
  end_pair(&p);
}

TEST(WeightsAreFoundByName) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  stow_weight weight;
  CHECK(stowi_plan_weight_layout_find(p.layout, stow_str_of("bias"), &weight));
  CHECK_U64(weight.value, 2);
  CHECK(stowi_plan_weight_layout_find(p.layout, stow_str_of("w"), &weight));
  CHECK_U64(weight.value, 1);
  CHECK(!stowi_plan_weight_layout_find(p.layout, stow_str_of("x"), &weight));
  CHECK_U64(weight.value, STOW_VALUE_NONE);
  CHECK(!stowi_plan_weight_layout_find(p.layout, stow_str_of("a"), &weight));
  CHECK(!stowi_plan_weight_layout_find(p.layout, stow_str_of("zzz"), &weight));
  CHECK(!stowi_plan_weight_layout_find(NULL, stow_str_of("w"), &weight));
  end_pair(&p);
}

TEST(LayoutOfAnotherGraphIsStale) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case f = plan_make(forward, &options);
  plan_case b = plan_make(backward, &options);
  stow_weight_layout* layout = (stow_weight_layout*)&options;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_weight_layout_create(b.graph, f.plan, stow_allocator_default(), &diag, &layout) ==
        STOW_ERR_STALE_PLAN);
  CHECK(layout == NULL);
  CHECK_HAS(diag.message, "\"forward\"");
  CHECK_HAS(diag.message, "\"backward\"");
  plan_free(&b);
  plan_free(&f);
}

TEST(DestroyingANullLayoutIsAllowed) { stow_weight_layout_destroy(NULL); }

// ---------------------------------------------------------------------------------------------
// Plans that take their params from a layout

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

TEST(UnusedWeightsAreReserved) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  pair p = begin_pair(&options);
  plan_case b = plan_make(backward, &p.options);
  REQUIRE(b.plan != NULL);
  CHECK_U64(plan_offset(b.plan, 1), plan_offset(p.forward.plan, 1));
  CHECK_U64(stow_plan_reserved_count(b.plan), 2);
  for (size_t i = 0; i < stow_plan_reserved_count(b.plan); ++i) {
    stow_slot reserved = stow_plan_reserved_slot(b.plan, i);
    CHECK(reserved.size == 64 + 128);
    CHECK(reserved.offset + reserved.size <= stow_plan_arena_size(b.plan));
    for (stow_value v = 0; v < stow_plan_value_count(b.plan); ++v) {
      stow_slot slot = plan_slot(b.plan, v);
      CHECK(!overlap(slot.offset, slot.size, reserved.offset, reserved.size));
    }
  }
  CHECK_U64(stow_plan_reserved_slot(b.plan, 2).size, 0);
  plan_prove(&b);
  plan_free(&b);
  end_pair(&p);
}

TEST(ArenaIsAtLeastAsLargeAsTheLayout) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  plan_case b = plan_make(
      "graph @tiny {\n"
      "  %0 = input \"grad\" : f32[1]\n"
      "  %1 = relu(%0) : f32[1]\n"
      "  return %1\n"
      "}\n",
      &p.options);
  REQUIRE(b.plan != NULL);
  CHECK(stow_plan_arena_size(b.plan) >= stowi_plan_weight_layout_size(p.layout));
  CHECK_U64(stow_plan_reserved_count(b.plan), 3);
  plan_prove(&b);
  plan_free(&b);
  end_pair(&p);
}

TEST(WeightsLiveOverTheWholeRun) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  p.options.io = STOW_IO_CONSUME;
  plan_case b = plan_make(backward, &p.options);
  REQUIRE(b.plan != NULL);
  CHECK_U64(stowi_plan_begin(b.plan, 1), 0);
  CHECK_U64(stowi_plan_end(b.plan, 1), 6);
  plan_free(&b);
  end_pair(&p);
}

static const char* const other_weights =
    "graph @other {\n"
    "  %0 = input \"grad\" : f32[4, 16]\n"
    "  %1 = param \"v\" : f32[4, 16]\n"
    "  %2 = add(%0, %1) : f32[4, 16]\n"
    "  return %2\n"
    "}\n";

TEST(MissingParamIsNamed) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  plan_case c = plan_try(other_weights, &p.options);
  CHECK(c.status == STOW_ERR_NOT_FOUND);
  CHECK_HAS(c.diag.message, "param %1 \"v\" is missing from the weight layout");
  CHECK_U64(c.diag.value, 1);
  plan_free(&c);
  end_pair(&p);
}

TEST(MissingParamMayBeAllowed) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  p.options.allow_missing_params = true;
  plan_case c = plan_make(other_weights, &p.options);
  REQUIRE(c.plan != NULL);
  CHECK(!plan_has_slot(c.plan, 1));
  CHECK(plan_has_slot(c.plan, 2));
  plan_prove(&c);
  plan_free(&c);
  end_pair(&p);
}

TEST(OtherSizeIsRefusedWithBothSizes) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  char* text = plan_replace(other_weights, "\"v\"", "\"w\"");
  plan_case c = plan_try(text, &p.options);
  CHECK(c.status == STOW_ERR_TYPE);
  CHECK_HAS(c.diag.message, "%1 \"w\" has 256 bytes, but 1024");
  plan_free(&c);
  free(text);
  end_pair(&p);
}

static const char* const empty_weight =
    "graph @empty {\n"
    "  %0 = input \"grad\" : f32[4, 16]\n"
    "  %1 = param \"empty\" : f32[0]\n"
    "  %2 = relu(%0) : f32[4, 16]\n"
    "  %3 = concat(%1, %1) {axis = 0} : f32[0]\n"
    "  return %2, %3\n"
    "}\n";

TEST(EmptyWeightKeepsItsAddressAtAnyAlignment) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.alignment = 256;
  pair p = begin_pair(&options);
  plan_case c = plan_make(empty_weight, &p.options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_offset(c.plan, 1), plan_offset(p.forward.plan, 3));
  CHECK_U64(plan_slot(c.plan, 1).size, 256);
  CHECK_U64(stowi_plan_alignment(c.plan), 256);
  plan_prove(&c);
  plan_free(&c);
  end_pair(&p);
}

TEST(EmptyWeightIsDistinctFromOthers) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  char* text = plan_replace(empty_weight, "\"empty\"", "\"bias\"");  // 64 bytes, as an empty one
  plan_case c = plan_try(text, &p.options);
  CHECK(c.status == STOW_ERR_TYPE);
  CHECK_HAS(c.diag.message, "has 0 bytes, but 64");
  plan_free(&c);
  free(text);
  end_pair(&p);
}

TEST(MisalignedWeightIsAConflict) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.alignment = 16;
  pair p = begin_pair(&options);
  p.options.alignment = 2048;
  char* text = plan_replace(backward, "\"w\" : f32[16, 16]", "\"bias\" : f32[16]");
  char* fits = plan_replace(text, "[1, 0]} : f32[16, 16]", "[0]} : f32[16]");
  char* whole = plan_replace(fits, "matmul", "add");
  plan_case c = plan_try(whole, &p.options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_HAS(c.diag.message,
            "\"bias\" must be at 1792, which is not a multiple of its alignment 2048");
  CHECK_HAS(c.diag.message, "2048");
  plan_free(&c);
  free(whole);
  free(fits);
  free(text);
  end_pair(&p);
}

TEST(FixedOffsetMustAgreeWithTheLayout) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  char* elsewhere = plan_replace(backward, "f32[16, 16]\n", "f32[16, 16] with {at = 4096}\n");
  plan_case c = plan_try(elsewhere, &p.options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_HAS(c.diag.message, "fixed at 4096, but the weight layout has it at 0");
  plan_free(&c);
  char* there = plan_replace(backward, "f32[16, 16]\n", "f32[16, 16] with {at = 0}\n");
  c = plan_make(there, &p.options);
  plan_free(&c);
  free(there);
  free(elsewhere);
  end_pair(&p);
}

TEST(FixedValueInAReservedWeightIsAConflict) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  char* text =
      plan_replace(backward, "relu(%3) : f32[4, 16]\n", "relu(%3) : f32[4, 16] with {at = 1792}\n");
  plan_case c = plan_try(text, &p.options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_HAS(c.diag.message, "%4");
  CHECK_HAS(c.diag.message, "a weight of the layout");
  plan_free(&c);
  free(text);
  end_pair(&p);
}

TEST(ExternalParamNeedsNoWeight) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  char* text = plan_replace(other_weights, "\"v\" : f32[4, 16]",
                            "\"v\" : f32[4, 16] with {io = \"external\"}");
  plan_case c = plan_make(text, &p.options);
  REQUIRE(c.plan != NULL);
  CHECK(!plan_has_slot(c.plan, 1));
  plan_free(&c);
  free(text);
  end_pair(&p);
}

// ---------------------------------------------------------------------------------------------

static stow_status create_attempt(stow_allocator allocator, void* user) {
  const plan_case* c = (const plan_case*)user;
  stow_weight_layout* layout = NULL;
  stow_status status = stow_weight_layout_create(c->graph, c->plan, allocator, NULL, &layout);
  stow_weight_layout_destroy(layout);
  return status;
}

TEST(CreatingALayoutSurvivesFailingAllocations) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(forward, &options);
  CHECK(test_fault_sweep(create_attempt, &c) >= 3);
  plan_free(&c);
}

typedef struct make_input {
  const plan_case* c;
  const stow_plan_options* options;
} make_input;

static stow_status make_attempt(stow_allocator allocator, void* user) {
  const make_input* input = (const make_input*)user;
  stow_plan* plan = NULL;
  stow_status status =
      stow_plan_make(input->c->graph, input->c->effects, input->options, allocator, NULL, &plan);
  stow_plan_destroy(plan);
  return status;
}

TEST(MakingAPlanWithALayoutSurvivesFailingAllocations) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  pair p = begin_pair(&options);
  plan_case b = plan_make(backward, &p.options);
  make_input input = {&b, &p.options};
  CHECK(test_fault_sweep(make_attempt, &input) > 20);
  plan_free(&b);
  end_pair(&p);
}
