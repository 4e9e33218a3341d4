// Tests of arenas: guards and steps, with and without AddressSanitizer.
#include <stowage/arena.h>
#include <stowage/text.h>
#include <string.h>

#include "arena/arena.h"
#include "arena/poison.h"
#include "plan/api.h"
#include "plan/plan_internal.h"
#include "support/fault.h"
#include "support/test.h"

#if STOWI_ARENA_ASAN
int __asan_address_is_poisoned(void const volatile* address);
#endif

// Steps are ids. %0 is consumed: it dies at step 2, and its guard with it.
static const char text[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[5] with {io = \"consume\"}\n"
    "  %1 = param \"w\" : f32[5]\n"
    "  %2 \"h\" = relu(%0) : f32[5] with {scratch = [24, 64]}\n"
    "  %3 = exp(%2) : f32[5]\n"
    "  %4 = add(%3, %1) : f32[5]\n"
    "  return %4\n"
    "}\n";

typedef struct fixture {
  stow_module* module;
  stow_effects* effects;
  stow_plan* plan;
  stow_arena* arena;
  unsigned char* base;
  stow_arena_options options;
  stow_diag diag;
} fixture;

// Of %1 only the first half is left after step 3, then only the last quarter.
static const char shrinking_text[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = custom(%0) {name = \"f\"} : f32[64]\n"
    "  %2 = narrow(%1) {axis = 0, start = 0, len = 32} : f32[32]\n"
    "  %3 = custom(%1) {name = \"f\"} : f32[16]\n"
    "  %4 = narrow(%2) {axis = 0, start = 16, len = 16} : f32[16]\n"
    "  %5 = custom(%2, %3) {name = \"f\"} : f32[16]\n"
    "  %6 = custom(%4, %5) {name = \"f\"} : f32[16]\n"
    "  return %6\n"
    "}\n";

static void make_plan_of(fixture* f, const char* graph_text, bool fill_guards, bool track_steps) {
  stow_allocator allocator = stow_allocator_default();
  stow_plan_options options;
  memset(f, 0, sizeof(*f));
  stow_diag_init(&f->diag);
  stow_arena_options_init(&f->options);
  f->options.fill_guards = fill_guards;
  f->options.track_steps = track_steps;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.strategy = stow_strategy_find(stow_str_of("first-fit"));
  options.tail_guard = fill_guards ? 128 : 0;
  options.in_place = false;  // %0 dies with its guard
  stow_module_parse(graph_text, strlen(graph_text), NULL, NULL, allocator, &f->diag, &f->module);
  if (!test_check(f->module != NULL, __FILE__, __LINE__, "%s", f->diag.message)) {
    return;
  }
  stow_graph* graph = stow_module_graph(f->module, 0);
  stow_effects_create(graph, allocator, &f->diag, &f->effects);
  stow_plan_make(graph, f->effects, &options, allocator, &f->diag, &f->plan);
  test_check(f->plan != NULL, __FILE__, __LINE__, "%s", f->diag.message);
}

static void make_plan(fixture* f, bool fill_guards, bool track_steps) {
  make_plan_of(f, text, fill_guards, track_steps);
}

static void make(fixture* f, bool fill_guards, bool track_steps) {
  make_plan(f, fill_guards, track_steps);
  if (f->plan != NULL) {
    CHECK(stow_arena_create(f->plan, &f->options, stow_allocator_default(), &f->diag, &f->arena) ==
          STOW_OK);
    f->base = (unsigned char*)stow_arena_base(f->arena);
  }
}

static void fixture_free(fixture* f) {
  stow_arena_destroy(f->arena);
  stow_plan_destroy(f->plan);
  stow_effects_destroy(f->effects);
  stow_module_destroy(f->module);
}

static size_t guard_at(const fixture* f, stow_value value) {
  return (size_t)(f->plan->values[value].offset + f->plan->values[value].size);
}

static bool is_intact(fixture* f, uint32_t step) {
  stow_value value;
  stow_status status = stow_arena_check_guards(f->arena, step, &f->diag, &value);
  CHECK((status == STOW_OK) == (value == STOW_VALUE_NONE));
  return status == STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Guards

TEST(WrittenGuardIsNamedWithItsByte) {
  fixture f;
  make(&f, true, false);
  REQUIRE(f.arena != NULL);
  CHECK(is_intact(&f, 0) && is_intact(&f, 5));
  size_t at = guard_at(&f, 1) + 3;
  unsigned char saved = f.base[at];
  f.base[at] = (unsigned char)(saved + 1);
  stow_value value;
  CHECK(stow_arena_check_guards(f.arena, 4, &f.diag, &value) == STOW_ERR_VIOLATION);
  CHECK_U64(value, 1);
  CHECK_U64(f.diag.value, 1);
  CHECK_HAS(f.diag.message,
            "the guard of %1 \"w\" was overwritten: byte 3 of 128 after its 20 bytes, at offset "
            "279 of the arena");
  CHECK(stow_arena_check_guards(f.arena, 4, NULL, NULL) == STOW_ERR_VIOLATION);
  f.base[at] = saved;
  CHECK(is_intact(&f, 4));
  fixture_free(&f);
}

TEST(AGuardOfAnUnnamedValueIsNamedByItsId) {
  fixture f;
  make(&f, true, false);
  REQUIRE(f.arena != NULL);
  f.plan->name_at[2] = f.plan->name_at[1] + 1;  // %1 is called ""
  f.base[guard_at(&f, 1)] ^= 1;
  CHECK(stow_arena_check_guards(f.arena, 4, &f.diag, NULL) == STOW_ERR_VIOLATION);
  CHECK_HAS(f.diag.message,
            "the guard of %1 was overwritten: byte 0 of 128 after its 20 bytes, at offset 276 of "
            "the arena");
  fixture_free(&f);
}

TEST(EveryByteOfAGuardCounts) {
  fixture f;
  make(&f, true, false);
  REQUIRE(f.arena != NULL);
  for (size_t i = 0; i < 128; ++i) {
    size_t at = guard_at(&f, 0) + i;
    unsigned char saved = f.base[at];
    CHECK(saved != 0);
    f.base[at] = 0;
    CHECK(!is_intact(&f, 1));
    f.base[at] = saved;
  }
  // The bytes beside it do not.
  f.base[f.plan->values[0].offset] = 1;
  f.base[f.plan->values[1].offset + 19] = 1;
  CHECK(is_intact(&f, 1));
  fixture_free(&f);
}

TEST(GuardsOfDeadValuesAreSkipped) {
  fixture f;
  make(&f, true, false);
  REQUIRE(f.arena != NULL);
  f.base[guard_at(&f, 0)] ^= 1;
  CHECK(!is_intact(&f, 2));
  CHECK(is_intact(&f, 3));
  fixture_free(&f);
}

// A consumed input's guard may be used by others later in the run, so the next run must fill it
// again.
TEST(GuardsAreFilledAgainAtBirth) {
  fixture f;
  make(&f, true, false);
  REQUIRE(f.arena != NULL);
  memset(f.base + guard_at(&f, 0), 0x77, 128);
  stow_arena_reset(f.arena);
  CHECK(is_intact(&f, 0));  // not filled in this generation
  CHECK(stow_arena_enter_step(f.arena, 0, &f.diag) == STOW_OK);
  CHECK(is_intact(&f, 0));
  f.base[guard_at(&f, 0)] ^= 1;
  CHECK(!is_intact(&f, 0));
  fixture_free(&f);
}

// One that is live up to the last step is not always live: nothing reads it after the run.
TEST(GuardsLiveToTheEndAreFilledAgain) {
  fixture f;
  make_plan(&f, true, false);
  REQUIRE(f.plan != NULL);
  f.plan->values[0].end = 5;
  CHECK(stow_arena_create(f.plan, &f.options, stow_allocator_default(), &f.diag, &f.arena) ==
        STOW_OK);
  f.base = (unsigned char*)stow_arena_base(f.arena);
  memset(f.base + guard_at(&f, 0), 0x77, 128);
  CHECK(!is_intact(&f, 4));
  stow_arena_reset(f.arena);
  CHECK(is_intact(&f, 0));
  CHECK(stow_arena_enter_step(f.arena, 0, &f.diag) == STOW_OK);
  CHECK(is_intact(&f, 0));
  f.base[guard_at(&f, 0)] ^= 1;
  CHECK(!is_intact(&f, 0));
  fixture_free(&f);
}

TEST(AGuardOfOneByteIsChecked) {
  fixture f;
  make_plan(&f, true, false);
  REQUIRE(f.plan != NULL);
  f.plan->values[1].guard = 1;
  CHECK(stow_arena_create(f.plan, &f.options, stow_allocator_default(), &f.diag, &f.arena) ==
        STOW_OK);
  f.base = (unsigned char*)stow_arena_base(f.arena);
  f.base[guard_at(&f, 1) + 1] ^= 1;
  CHECK(is_intact(&f, 0));
  f.base[guard_at(&f, 1)] ^= 1;
  CHECK(!is_intact(&f, 0));
  fixture_free(&f);
}

// That of an always live value is not, or entering step 0 would hide what the last run did.
TEST(GuardsOfAlwaysLiveValuesAreFilledOnce) {
  fixture f;
  make(&f, true, false);
  REQUIRE(f.arena != NULL);
  f.base[guard_at(&f, 1)] ^= 1;
  stow_arena_reset(f.arena);
  CHECK(stow_arena_enter_step(f.arena, 0, &f.diag) == STOW_OK);
  CHECK(!is_intact(&f, 0));
  fixture_free(&f);
}

TEST(GuardsAreCloned) {
  fixture f;
  make(&f, true, true);
  REQUIRE(f.arena != NULL);
  stow_arena* clone = NULL;
  CHECK(stow_arena_enter_step(f.arena, 1, &f.diag) == STOW_OK);
  CHECK(stow_arena_clone(f.arena, stow_allocator_default(), &f.diag, &clone) == STOW_OK);
  CHECK(stow_arena_check_guards(clone, 1, &f.diag, NULL) == STOW_OK);
  unsigned char* base = (unsigned char*)stow_arena_base(clone);
  for (stow_value value = 0; value < 2; ++value) {
    base[guard_at(&f, value)] ^= 1;
    CHECK(stow_arena_check_guards(clone, 1, &f.diag, NULL) == STOW_ERR_VIOLATION);
    CHECK(is_intact(&f, 1));
    base[guard_at(&f, value)] ^= 1;
  }
  stow_arena_destroy(clone);
  fixture_free(&f);
}

TEST(UnfilledGuardsAreUnfilledInAClone) {
  fixture f;
  make(&f, true, false);
  REQUIRE(f.arena != NULL);
  f.base[guard_at(&f, 0)] ^= 1;
  stow_arena_reset(f.arena);
  stow_arena* clone = NULL;
  CHECK(stow_arena_clone(f.arena, stow_allocator_default(), &f.diag, &clone) == STOW_OK);
  CHECK(stow_arena_check_guards(clone, 0, &f.diag, NULL) == STOW_OK);
  stow_arena_destroy(clone);
  fixture_free(&f);
}

TEST(WithoutTheOptionGuardsAreNotChecked) {
  fixture f;
  make(&f, false, false);
  REQUIRE(f.arena != NULL);
  CHECK_U64(f.base[guard_at(&f, 1)], 0);
  f.base[guard_at(&f, 1)] = 9;
  CHECK(is_intact(&f, 0));
  fixture_free(&f);
}

TEST(GuardsOfTheCallersMemoryAreFilledAndNothingElse) {
  static union {
    long double align;
    unsigned char bytes[8192];
  } memory;
  fixture f;
  make_plan(&f, true, false);
  REQUIRE(f.plan != NULL && stow_plan_arena_size(f.plan) + 64 <= sizeof(memory));
  unsigned char* bytes = memory.bytes + (64 - (uintptr_t)memory.bytes % 64) % 64;
  memset(bytes, 0, 4096);
  CHECK(stow_arena_create_over(f.plan, bytes, 4096, &f.options, stow_allocator_default(), &f.diag,
                               &f.arena) == STOW_OK);
  size_t set = 0;
  for (size_t i = 0; i < 4096; ++i) {
    set += bytes[i] != 0;
  }
  CHECK_U64(set, 256);
  CHECK(is_intact(&f, 0));
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Steps

TEST(StepsBeyondTheEndAreRefused) {
  fixture f;
  make(&f, true, true);
  REQUIRE(f.arena != NULL);
  CHECK(stow_arena_enter_step(f.arena, 5, &f.diag) == STOW_OK);  // the caller reads
  CHECK(stow_arena_enter_step(f.arena, 6, &f.diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(f.diag.message, "step 6 is out of range (0 to 5)");
  fixture_free(&f);
}

static size_t reachable(const fixture* f, size_t offset, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) {
#if STOWI_ARENA_ASAN
    count += __asan_address_is_poisoned(f->base + offset + i) ? 0 : 1;
#else
    (void)f;
    (void)offset;
    count += 1;
#endif
  }
  return count;
}

// Everything that is live at |step|, and under ASan nothing else.
static void check_reach(const fixture* f, uint32_t step) {
  size_t live = 0;
  for (stow_value value = 0; value < f->plan->value_count; ++value) {
    stow_slot slot = stow_plan_occupied_slot(f->plan, value, step);
    uint64_t size = slot.size - (slot.size == 0 ? 0 : stowi_plan_guard(f->plan, value));
    CHECK_U64(reachable(f, (size_t)slot.offset, (size_t)size), size);
    live += (size_t)size;
  }
  for (size_t i = 0; i < f->plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &f->plan->scratch[i];
    if (scratch->step == step) {
      CHECK_U64(reachable(f, (size_t)scratch->offset, (size_t)scratch->size), scratch->size);
      live += (size_t)scratch->size;
    }
  }
  if (STOWI_ARENA_ASAN) {
    CHECK_U64(reachable(f, 0, stow_arena_size(f->arena)), live);
  }
}

TEST(ExactlyLiveValuesAreAccessible) {
  fixture f;
  make(&f, false, true);
  REQUIRE(f.arena != NULL);
  for (uint32_t step = 0; step <= 5; ++step) {
    CHECK(stow_arena_enter_step(f.arena, step, &f.diag) == STOW_OK);
    check_reach(&f, step);
  }
  static const uint32_t any_order[] = {3, 1, 5, 0, 1, 2, 2, 4};
  for (size_t i = 0; i < sizeof(any_order) / sizeof(any_order[0]); ++i) {
    CHECK(stow_arena_enter_step(f.arena, any_order[i], &f.diag) == STOW_OK);
    check_reach(&f, any_order[i]);
  }
  stow_arena_leave_steps(f.arena);
  CHECK_U64(reachable(&f, 0, stow_arena_size(f.arena)), stow_arena_size(f.arena));
  memset(f.base, 1, stow_arena_size(f.arena));
  fixture_free(&f);
}

TEST(BytesOutsideAWindowAreNotAccessible) {
  fixture f;
  make_plan_of(&f, shrinking_text, false, true);
  REQUIRE(f.plan != NULL);
  CHECK_U64(stow_plan_window_count(f.plan, 1), 2);
  CHECK(stow_arena_create(f.plan, &f.options, stow_allocator_default(), &f.diag, &f.arena) ==
        STOW_OK);
  f.base = (unsigned char*)stow_arena_base(f.arena);
  static const uint32_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 2, 5, 1, 6, 3};
  for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); ++i) {
    CHECK(stow_arena_enter_step(f.arena, order[i], &f.diag) == STOW_OK);
    check_reach(&f, order[i]);
  }
  stow_arena_leave_steps(f.arena);
  fixture_free(&f);
}

TEST(PoisonedGuardsAreChecked) {
  fixture f;
  make(&f, true, true);
  REQUIRE(f.arena != NULL);
  for (uint32_t step = 0; step <= 5; ++step) {
    CHECK(stow_arena_enter_step(f.arena, step, &f.diag) == STOW_OK);
    CHECK(is_intact(&f, step));
    check_reach(&f, step);
  }
  stow_arena_leave_steps(f.arena);
  f.base[guard_at(&f, 1) + 127] ^= 1;
  CHECK(stow_arena_enter_step(f.arena, 4, &f.diag) == STOW_OK);
  CHECK(!is_intact(&f, 4));
  fixture_free(&f);
}

TEST(ClonesOfAPoisonedArenaAreAccessible) {
  fixture f;
  make(&f, false, true);
  REQUIRE(f.arena != NULL);
  f.base[f.plan->values[1].offset] = 42;
  CHECK(stow_arena_enter_step(f.arena, 3, &f.diag) == STOW_OK);
  stow_arena* clone = NULL;
  CHECK(stow_arena_clone(f.arena, stow_allocator_default(), &f.diag, &clone) == STOW_OK);
  unsigned char* base = (unsigned char*)stow_arena_base(clone);
  CHECK_U64(base[f.plan->values[1].offset], 42);
  memset(base, 7, stow_arena_size(clone));
  stow_arena_destroy(clone);
  fixture_free(&f);
}

TEST(CallersMemoryIsReturnedUnpoisoned) {
  static union {
    long double align;
    unsigned char bytes[8192];
  } memory;
  fixture f;
  make_plan(&f, true, true);
  REQUIRE(f.plan != NULL && stow_plan_arena_size(f.plan) <= 4096);
  unsigned char* bytes = memory.bytes + (64 - (uintptr_t)memory.bytes % 64) % 64;
  CHECK(stow_arena_create_over(f.plan, bytes, 4096, &f.options, stow_allocator_default(), &f.diag,
                               &f.arena) == STOW_OK);
  f.base = bytes;
  CHECK(stow_arena_enter_step(f.arena, 2, &f.diag) == STOW_OK);
  check_reach(&f, 2);
  stow_arena_destroy(f.arena);
  f.arena = NULL;
  memset(bytes, 1, 4096);
  fixture_free(&f);
}

// All of |user| is one block.
static size_t block_size;
static void* give_all(void* user, void* data, size_t old_size, size_t size, size_t alignment) {
  (void)data;
  (void)old_size;
  (void)alignment;
  block_size = size == 0 ? block_size : size;
  return size == 0 ? NULL : user;
}

// A plan that was never proved may claim any lifetimes; the arena must not be misled by them.
TEST(ClaimsOutsideTheRunAreIgnored) {
  fixture f;
  make_plan(&f, true, true);
  REQUIRE(f.plan != NULL);
  f.plan->values[0].begin = 77;
  f.plan->values[0].end = 99;
  f.plan->values[2].begin = 77;
  f.plan->values[2].end = 99;
  f.plan->values[3].end = UINT32_MAX;
  f.plan->scratch[0].node = 1234;
  CHECK(stow_arena_create(f.plan, &f.options, stow_allocator_default(), &f.diag, &f.arena) ==
        STOW_OK);
  f.base = (unsigned char*)stow_arena_base(f.arena);
  CHECK_U64(f.base[guard_at(&f, 0)], 0);  // never born
  for (uint32_t step = 0; step <= 5; ++step) {
    CHECK(stow_arena_enter_step(f.arena, step, &f.diag) == STOW_OK);
  }
  fixture_free(&f);
}

// Bytes after the block, which another may own, stay accessible.
TEST(OnlyTheArenasBytesArePoisoned) {
  static _Alignas(64) unsigned char bytes[8192];
  fixture f;
  make_plan(&f, false, true);
  REQUIRE(f.plan != NULL);
  stow_allocator allocator = {give_all, bytes};
  CHECK(stow_arena_create(f.plan, &f.options, allocator, &f.diag, &f.arena) == STOW_OK);
  f.base = bytes;
  size_t end = block_size;
  CHECK(stow_arena_enter_step(f.arena, 3, &f.diag) == STOW_OK);
  CHECK_U64(reachable(&f, end, sizeof(bytes) - end), sizeof(bytes) - end);
  fixture_free(&f);
}

// One item per root that is tracked, and per part of its lifetime; two lists by step; no more.
TEST(BlocksAreNoLargerThanNeeded) {
  static const struct {
    const char* text;
    bool fill_guards, track_steps;
    size_t items;
  } cases[] = {{text, false, false, 0},
               {text, true, false, 2},  // the inputs
               {text, false, true, 6},  // all, and scratch
               {text, true, true, 6},
               {shrinking_text, false, true, 7}};  // three parts of one lifetime
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    fixture f;
    make_plan_of(&f, cases[i].text, cases[i].fill_guards, cases[i].track_steps);
    REQUIRE(f.plan != NULL);
    CHECK(stow_arena_create(f.plan, &f.options, stow_allocator_default(), &f.diag, &f.arena) ==
          STOW_OK);
    bool has_tables = cases[i].fill_guards || cases[i].track_steps;
    size_t steps = stow_plan_step_count(f.plan);
    size_t tables = sizeof(stow_arena) + cases[i].items * sizeof(stowi_arena_item) +
                    (has_tables ? (2 * steps + 3) * sizeof(uint32_t) : 0);
    CHECK_U64(f.arena->item_count, cases[i].items);
    CHECK((unsigned char*)f.arena->dead - (unsigned char*)f.arena->born ==
          (has_tables ? (ptrdiff_t)((steps + 1) * sizeof(uint32_t)) : 0));
    CHECK_U64(f.arena->block_size,
              (tables + 63) / 64 * 64 + (stow_arena_size(f.arena) + 7) / 8 * 8);
    fixture_free(&f);
  }
}

TEST(ScratchOfTheFirstStepIsAccessible) {
  fixture f;
  make_plan_of(&f,
               "graph @g {\n"
               "  %0 = custom() {name = \"f\"} : f32[5] with {scratch = [24, 64]}\n"
               "  %1 = relu(%0) : f32[5]\n"
               "  return %1\n"
               "}\n",
               false, true);
  REQUIRE(f.plan != NULL);
  CHECK(stow_arena_create(f.plan, &f.options, stow_allocator_default(), &f.diag, &f.arena) ==
        STOW_OK);
  f.base = (unsigned char*)stow_arena_base(f.arena);
  const stowi_arena_item* scratch = &f.arena->items[f.arena->item_count - 1];
  CHECK(scratch->value == STOW_VALUE_NONE && scratch->begin == 0 && scratch->end == 1);
  CHECK(stow_arena_enter_step(f.arena, 0, &f.diag) == STOW_OK);
  check_reach(&f, 0);
  stow_arena_leave_steps(f.arena);
  fixture_free(&f);
}

static stow_status attempt_create(stow_allocator allocator, void* user) {
  const fixture* f = (const fixture*)user;
  stow_arena* arena = NULL;
  stow_status status = stow_arena_create(f->plan, &f->options, allocator, NULL, &arena);
  stow_arena_destroy(arena);
  return status;
}

TEST(TablesNeedNoExtraAllocation) {
  fixture f;
  make_plan(&f, true, true);
  REQUIRE(f.plan != NULL);
  CHECK_U64(test_fault_sweep(attempt_create, &f), 1);
  fixture_free(&f);
}
