// Tests of arenas: creation, typed access, cloning, generations.
#include <stddef.h>
#include <stdio.h>
#include <stowage/arena.h>
#include <stowage/text.h>
#include <string.h>

#include "plan/api.h"
#include "plan/plan_internal.h"
#include "support/fault.h"
#include "support/test.h"

static const char text[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = param \"w\" : f64[8]\n"
    "  %2 \"h\" = relu(%0) : f32[64]\n"
    "  %3 = narrow(%2) {axis = 0, start = 16, len = 16} : f32[16]\n"
    "  %4 = custom(%3) {name = \"n\"} : i32[4] with {scratch = [100, 64, 20, 64]}\n"
    "  %5 = custom(%4) {name = \"n\"} : i64[4]\n"
    "  %6 = custom(%5) {name = \"n\"} : u8[3]\n"
    "  %7 = custom(%6) {name = \"n\"} : u4[5]\n"
    "  %8 = custom(%7) {name = \"n\"} : c128[2]\n"
    "  %9 = custom(%8) {name = \"n\"} : f32[0]\n"
    "  return %8, %1, %9\n"
    "}\n";

typedef struct fixture {
  stow_module* module;
  stow_graph* graph;
  stow_effects* effects;
  stow_plan* plan;
  stow_arena* arena;
  stow_diag diag;
  test_heap heap;
} fixture;

static void make_plan(fixture* f, const char* source, const stow_plan_options* options) {
  stow_allocator allocator = stow_allocator_default();
  memset(f, 0, sizeof(*f));
  stow_diag_init(&f->diag);
  stow_module_parse(source, strlen(source), NULL, NULL, allocator, &f->diag, &f->module);
  if (!test_check(f->module != NULL, __FILE__, __LINE__, "%s", f->diag.message)) {
    return;
  }
  f->graph = stow_module_graph(f->module, 0);
  stow_effects_create(f->graph, allocator, &f->diag, &f->effects);
  stow_plan_make(f->graph, f->effects, options, allocator, &f->diag, &f->plan);
  test_check(f->plan != NULL, __FILE__, __LINE__, "%s", f->diag.message);
}

static void make_arena(fixture* f, const char* source) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  make_plan(f, source, &options);
  if (f->plan != NULL) {
    CHECK(stow_arena_create(f->plan, NULL, test_heap_allocator(&f->heap), &f->diag, &f->arena) ==
          STOW_OK);
  }
}

static void fixture_free(fixture* f) {
  stow_arena_destroy(f->arena);
  CHECK_U64(f->heap.live_blocks, 0);
  stow_plan_destroy(f->plan);
  stow_effects_destroy(f->effects);
  stow_module_destroy(f->module);
}

// ---------------------------------------------------------------------------------------------

TEST(AnArenaIsOneAllocation) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  CHECK_U64(f.heap.allocations, 1);
  float* x;
  size_t count;
  for (uint32_t step = 0; step <= stow_plan_step_count(f.plan); ++step) {
    CHECK(stow_arena_enter_step(f.arena, step, &f.diag) == STOW_OK);
    CHECK(stow_arena_check_guards(f.arena, step, &f.diag, NULL) == STOW_OK);
  }
  stow_arena_leave_steps(f.arena);
  CHECK(stow_arena_f32(f.arena, 0, &f.diag, &x, &count) == STOW_OK);
  stow_arena_reset(f.arena);
  CHECK_U64(f.heap.allocations, 1);
  fixture_free(&f);
}

TEST(BytesAreZeroAndAligned) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  CHECK_U64(stow_arena_size(f.arena), stow_plan_arena_size(f.plan));
  const unsigned char* base = (const unsigned char*)stow_arena_base(f.arena);
  CHECK_U64((uintptr_t)base % stowi_plan_alignment(f.plan), 0);
  size_t set = 0;
  for (size_t i = 0; i < stow_arena_size(f.arena); ++i) {
    set += base[i] != 0;
  }
  CHECK_U64(set, 0);
  fixture_free(&f);
}

TEST(LargeAlignmentsAreKept) {
  fixture f;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.alignment = 8192;
  make_plan(&f, text, &options);
  REQUIRE(f.plan != NULL);
  CHECK(stow_arena_create(f.plan, NULL, stow_allocator_default(), &f.diag, &f.arena) == STOW_OK);
  CHECK_U64((uintptr_t)stow_arena_base(f.arena) % 8192, 0);
  fixture_free(&f);
}

static void* note_alignment(void* user, void* data, size_t old_size, size_t size,
                            size_t alignment) {
  stow_allocator allocator = stow_allocator_default();
  *(size_t*)user = alignment;
  return allocator.reallocate(allocator.user, data, old_size, size, alignment);
}

// A block is aligned for its handle, and for the bytes of the plan if they are in it.
TEST(BlocksAreAlignedForWhatIsInThem) {
  size_t natural = _Alignof(max_align_t);
  for (uint64_t alignment = 1; alignment <= 256; alignment *= 256) {
    fixture f;
    stow_plan_options options;
    size_t asked = 0;
    stow_allocator allocator = {note_alignment, &asked};
    static _Alignas(256) unsigned char bytes[8192];
    stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
    options.alignment = alignment;
    make_plan(&f, "graph @g {\n  %0 = input \"x\" : u8[3]\n  return %0\n}\n", &options);
    REQUIRE(f.plan != NULL);
    CHECK(stow_arena_create(f.plan, NULL, allocator, &f.diag, &f.arena) == STOW_OK);
    CHECK_U64(asked, alignment > natural ? alignment : natural);
    stow_arena_destroy(f.arena);
    CHECK(stow_arena_create_over(f.plan, bytes, sizeof(bytes), NULL, allocator, &f.diag,
                                 &f.arena) == STOW_OK);
    CHECK_U64(asked, natural);
    fixture_free(&f);
  }
}

TEST(PitchedValuesHaveNoBytesInOneRun) {
  fixture f;
  stow_plan_options options;
  void* bytes;
  size_t size;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.least_row = 16;
  make_plan(&f,
            "graph @g {\n%0 = input \"x\" : f32[2, 4, 4]\n%1 \"a\" = neg(%0) : f32[2, 4, 4]\n"
            "%2 = relu(%0) : f32[2, 4, 4]\n%3 = concat(%1, %2) {axis = 1} : f32[2, 8, 4]\n"
            "return %3\n}\n",
            &options);
  CHECK(stow_arena_create(f.plan, NULL, test_heap_allocator(&f.heap), &f.diag, &f.arena) ==
        STOW_OK);
  REQUIRE(f.arena != NULL);
  CHECK(stow_arena_bytes(f.arena, 3, &f.diag, &bytes, &size) == STOW_OK);
  CHECK(stow_arena_bytes(f.arena, 1, &f.diag, &bytes, &size) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(f.diag.message, "is pitched: its rows are apart");
  fixture_free(&f);
}

TEST(TwoHundredFiftySixBytesAreSixtyFourFloats) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  float* x;
  void* bytes;
  size_t count;
  CHECK(stow_arena_f32(f.arena, 2, &f.diag, &x, &count) == STOW_OK);
  CHECK_U64(count, 64);
  CHECK(stow_arena_bytes(f.arena, 2, &f.diag, &bytes, &count) == STOW_OK);
  CHECK_U64(count, 256);
  CHECK(bytes == x);
  CHECK((char*)bytes == (char*)stow_arena_base(f.arena) + stow_arena_byte_offset(f.arena, 2));
  fixture_free(&f);
}

TEST(AViewIsPartOfItsRoot) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  float *root, *view;
  size_t count;
  CHECK(stow_arena_f32(f.arena, 2, &f.diag, &root, &count) == STOW_OK);
  CHECK(stow_arena_f32(f.arena, 3, &f.diag, &view, &count) == STOW_OK);
  CHECK_U64(count, 16);
  CHECK(view == root + 16);
  fixture_free(&f);
}

TEST(EveryElementTypeIsAccessible) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  void* any;
  size_t count;
  CHECK(stow_arena_elements(f.arena, 1, STOW_F64, &f.diag, &any, &count) == STOW_OK && count == 8);
  CHECK(stow_arena_elements(f.arena, 4, STOW_I32, &f.diag, &any, &count) == STOW_OK && count == 4);
  CHECK(stow_arena_elements(f.arena, 5, STOW_I64, &f.diag, &any, &count) == STOW_OK && count == 4);
  CHECK(stow_arena_elements(f.arena, 6, STOW_U8, &f.diag, &any, &count) == STOW_OK && count == 3);
  CHECK(stow_arena_elements(f.arena, 8, STOW_C128, &f.diag, &any, &count) == STOW_OK && count == 2);
  // Another type of the same width is the caller's responsibility.
  CHECK(stow_arena_elements(f.arena, 1, STOW_I64, &f.diag, &any, &count) == STOW_OK && count == 8);
  fixture_free(&f);
}

TEST(WrongWidthReportsTheActualType) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  void* any = &f;
  size_t count = 7;
  CHECK(stow_arena_elements(f.arena, 2, STOW_F64, &f.diag, &any, &count) == STOW_ERR_TYPE);
  CHECK_TEXT(f.diag.message, "%2 \"h\" holds f32 of 32 bits each, not f64 of 64 bits");
  CHECK(f.diag.status == STOW_ERR_TYPE);
  CHECK(any == NULL && count == 0);
  CHECK_U64(f.diag.value, 2);
  f.diag.status = STOW_OK;
  CHECK(stow_arena_elements(f.arena, 7, STOW_U4, &f.diag, &any, &count) == STOW_ERR_TYPE);
  CHECK_TEXT(f.diag.message, "%7 has no element access: u4 is not a whole number of bytes");
  CHECK(f.diag.status == STOW_ERR_TYPE);
  CHECK(stow_arena_elements(f.arena, 2, (stow_dtype)99, &f.diag, &any, &count) == STOW_ERR_TYPE);
  fixture_free(&f);
}

TEST(ValueWithoutASlotIsAnError) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  void* data;
  size_t size;
  CHECK(stow_arena_has_buffer(f.arena, 2));
  CHECK(!stow_arena_has_buffer(f.arena, 9));
  CHECK(!stow_arena_has_buffer(f.arena, 1000));
  CHECK_U64(stow_arena_byte_offset(f.arena, 9), SIZE_MAX);
  CHECK(stow_arena_bytes(f.arena, 9, &f.diag, &data, &size) == STOW_ERR_NOT_FOUND);
  CHECK(data == NULL && size == 0);
  CHECK_TEXT(f.diag.message, "%9 has no slot in the plan");
  CHECK(stow_arena_bytes(f.arena, 1000, &f.diag, &data, &size) == STOW_ERR_NOT_FOUND);
  CHECK_TEXT(f.diag.message, "value %1000 is out of range (10 values)");
  fixture_free(&f);
}

TEST(MisalignedElementsAreRefused) {
  fixture f;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.alignment = 1;
  make_plan(&f,
            "graph @g {\n"
            "  %0 = input \"a\" : u8[3]\n"
            "  %1 = input \"b\" : f32[0, 3] with {storage = 2}\n"
            "  %2 = input \"c\" : f32[1] with {at = 9}\n"
            "  return %0, %1, %2\n"
            "}\n",
            &options);
  REQUIRE(f.plan != NULL);
  CHECK(stow_arena_create(f.plan, NULL, stow_allocator_default(), &f.diag, &f.arena) == STOW_OK);
  float* data;
  size_t count;
  CHECK(stow_arena_f32(f.arena, 2, &f.diag, &data, &count) == STOW_ERR_TYPE);
  CHECK_TEXT(f.diag.message, "%2 \"c\" is at offset 9, which is not aligned for f32");
  CHECK(f.diag.status == STOW_ERR_TYPE);
  fixture_free(&f);
}

TEST(ScratchHasBytes) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  void *first, *second;
  size_t size;
  CHECK(stow_arena_scratch(f.arena, 0, &f.diag, &first, &size) == STOW_OK && size == 100);
  CHECK(stow_arena_scratch(f.arena, 1, &f.diag, &second, &size) == STOW_OK && size == 20);
  CHECK(first != second && (uintptr_t)second % 64 == 0);
  const unsigned char* base = (const unsigned char*)stow_arena_base(f.arena);
  CHECK(first == base + f.plan->scratch[0].offset && second == base + f.plan->scratch[1].offset);
  CHECK(stow_arena_scratch(f.arena, 2, &f.diag, &first, &size) == STOW_ERR_NOT_FOUND);
  CHECK_TEXT(f.diag.message, "scratch 2 is out of range (2 in the plan)");
  fixture_free(&f);
}

TEST(ResetCountsAndKeepsTheBytes) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  float* x;
  size_t count;
  CHECK(stow_arena_f32(f.arena, 0, &f.diag, &x, &count) == STOW_OK);
  x[63] = 4.5f;
  CHECK_U64(stow_arena_generation(f.arena), 0);
  stow_arena_reset(f.arena);
  stow_arena_reset(f.arena);
  CHECK_U64(stow_arena_generation(f.arena), 2);
  float* again;
  CHECK(stow_arena_f32(f.arena, 0, &f.diag, &again, &count) == STOW_OK);
  CHECK(again == x && again[63] == 4.5f);
  fixture_free(&f);
}

TEST(CloneIsIndependent) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  float *x, *y;
  size_t count;
  stow_arena* clone = NULL;
  CHECK(stow_arena_f32(f.arena, 0, &f.diag, &x, &count) == STOW_OK);
  x[5] = 1.0f;
  stow_arena_reset(f.arena);
  CHECK(stow_arena_clone(f.arena, test_heap_allocator(&f.heap), &f.diag, &clone) == STOW_OK);
  CHECK_U64(f.heap.allocations, 2);
  CHECK_U64(stow_arena_generation(clone), 1);
  CHECK(stow_arena_f32(clone, 0, &f.diag, &y, &count) == STOW_OK);
  CHECK(y != x && y[5] == 1.0f);
  CHECK_U64((uintptr_t)stow_arena_base(clone) % stowi_plan_alignment(f.plan), 0);
  y[5] = 2.0f;
  stow_arena_reset(clone);
  CHECK(x[5] == 1.0f);
  CHECK_U64(stow_arena_generation(f.arena), 1);
  stow_arena_destroy(clone);
  CHECK(x[5] == 1.0f);
  fixture_free(&f);
}

TEST(DestroyingNullIsAllowed) { stow_arena_destroy(NULL); }

// ---------------------------------------------------------------------------------------------
// The caller's memory

#define MEMORY_SIZE 4096
static union {
  long double align;
  unsigned char bytes[MEMORY_SIZE + 64];
} memory;

static unsigned char* aligned_memory(void) {
  uintptr_t address = (uintptr_t)memory.bytes;
  return memory.bytes + (64 - address % 64) % 64;
}

TEST(ArenaUsesTheCallersMemory) {
  fixture f;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  make_plan(&f, text, &options);
  REQUIRE(f.plan != NULL && stow_plan_arena_size(f.plan) <= MEMORY_SIZE);
  unsigned char* bytes = aligned_memory();
  memset(bytes, 0x11, MEMORY_SIZE);
  CHECK(stow_arena_create_over(f.plan, bytes, MEMORY_SIZE, NULL, test_heap_allocator(&f.heap),
                               &f.diag, &f.arena) == STOW_OK);
  CHECK(stow_arena_base(f.arena) == bytes);
  CHECK_U64(stow_arena_size(f.arena), stow_plan_arena_size(f.plan));
  CHECK_U64(bytes[0], 0x11);
  CHECK(f.heap.live_bytes < 512);  // the handle alone
  stow_arena* clone = NULL;
  CHECK(stow_arena_clone(f.arena, test_heap_allocator(&f.heap), &f.diag, &clone) == STOW_OK);
  CHECK(stow_arena_base(clone) != bytes);
  CHECK_U64(*(unsigned char*)stow_arena_base(clone), 0x11);
  stow_arena_destroy(clone);
  stow_arena_destroy(f.arena);
  f.arena = NULL;
  bytes[0] = 0x22;  // still ours
  fixture_free(&f);
}

TEST(TooSmallMemoryReportsTheNeed) {
  fixture f;
  char expected[100];
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  make_plan(&f, text, &options);
  REQUIRE(f.plan != NULL);
  size_t needed = (size_t)stow_plan_arena_size(f.plan);
  unsigned char* bytes = aligned_memory();
  stow_allocator allocator = test_heap_allocator(&f.heap);
  CHECK(stow_arena_create_over(f.plan, bytes, needed - 1, NULL, allocator, &f.diag, &f.arena) ==
        STOW_ERR_INVALID_ARGUMENT);
  snprintf(expected, sizeof(expected), "the plan needs %zu bytes, but the memory has %zu", needed,
           needed - 1);
  CHECK_TEXT(f.diag.message, expected);
  CHECK(stow_arena_create_over(f.plan, bytes + 8, needed, NULL, allocator, &f.diag, &f.arena) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(f.diag.message, "the plan needs memory aligned to 64 bytes, but this is aligned to 8");
  CHECK(stow_arena_create_over(f.plan, NULL, needed, NULL, allocator, &f.diag, &f.arena) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "NULL");
  CHECK(f.arena == NULL);
  CHECK_U64(f.heap.allocations, 0);
  CHECK(stow_arena_create_over(f.plan, bytes, needed, NULL, allocator, &f.diag, &f.arena) ==
        STOW_OK);
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Plans that no arena can hold

TEST(PlansThatDoNotFitTheMachineAreRefused) {
  fixture f;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  make_plan(&f, text, &options);
  REQUIRE(f.plan != NULL);
  stow_allocator allocator = test_heap_allocator(&f.heap);
  uint64_t size = f.plan->arena_size;
  f.plan->arena_size = (uint64_t)PTRDIFF_MAX + 1;
  CHECK(stow_arena_create(f.plan, NULL, allocator, &f.diag, &f.arena) == STOW_ERR_OVERFLOW);
  CHECK_HAS(f.diag.message, "the plan needs 9223372036854775808 bytes");
  f.plan->arena_size = PTRDIFF_MAX;
  CHECK(stow_arena_create(f.plan, NULL, allocator, &f.diag, &f.arena) == STOW_ERR_OUT_OF_MEMORY);
  f.plan->arena_size = size;
  for (stow_value value = 0; value < 9; ++value) {  // %9 is empty
    uint64_t own = f.plan->values[value].size;
    char expected[20];
    f.plan->values[value].size = size + 1;
    CHECK(stow_arena_create(f.plan, NULL, allocator, &f.diag, &f.arena) == STOW_ERR_VIOLATION);
    snprintf(expected, sizeof(expected), "%%%u is ", (unsigned)value);
    CHECK_HAS(f.diag.message, expected);
    CHECK(f.arena == NULL);
    f.plan->values[value].size = own;
  }
  f.plan->scratch[0].offset = UINT64_MAX;
  CHECK(stow_arena_create(f.plan, NULL, allocator, &f.diag, &f.arena) == STOW_ERR_VIOLATION);
  CHECK_HAS(f.diag.message, "scratch of node 4");
  f.plan->scratch[0].offset = 0;
  f.plan->arena_alignment = 48;
  CHECK(stow_arena_create(f.plan, NULL, allocator, &f.diag, &f.arena) == STOW_ERR_VIOLATION);
  CHECK_HAS(f.diag.message, "the plan's alignment is 48, which is not a power of two");
  CHECK_U64(f.heap.live_blocks, 0);
  fixture_free(&f);
}

TEST(OptionsOfAnUnknownSizeAreRefused) {
  fixture f;
  stow_plan_options plan_options;
  stow_plan_options_init(&plan_options, STOW_PRESET_DEFAULT);
  make_plan(&f, text, &plan_options);
  REQUIRE(f.plan != NULL);
  stow_arena_options options;
  stow_arena_options_init(&options);
  CHECK(!options.fill_guards && !options.track_steps);
  options.struct_size = 0;
  CHECK(stow_arena_create(f.plan, &options, stow_allocator_default(), &f.diag, &f.arena) ==
        STOW_ERR_INVALID_ARGUMENT);
  options.struct_size = sizeof(options) + 1;
  CHECK(stow_arena_create_over(f.plan, aligned_memory(), MEMORY_SIZE, &options,
                               stow_allocator_default(), &f.diag,
                               &f.arena) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "stow_arena_options");
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------

static stow_status attempt_create(stow_allocator allocator, void* user) {
  stow_arena* arena = NULL;
  stow_status status = stow_arena_create((const stow_plan*)user, NULL, allocator, NULL, &arena);
  stow_arena_destroy(arena);
  return status;
}

static stow_status attempt_create_over(stow_allocator allocator, void* user) {
  stow_arena* arena = NULL;
  stow_status status = stow_arena_create_over((const stow_plan*)user, aligned_memory(), MEMORY_SIZE,
                                              NULL, allocator, NULL, &arena);
  stow_arena_destroy(arena);
  return status;
}

static stow_status attempt_clone(stow_allocator allocator, void* user) {
  stow_arena* clone = NULL;
  stow_status status = stow_arena_clone((const stow_arena*)user, allocator, NULL, &clone);
  stow_arena_destroy(clone);
  return status;
}

TEST(OutOfMemoryIsReported) {
  fixture f;
  make_arena(&f, text);
  REQUIRE(f.arena != NULL);
  CHECK_U64(test_fault_sweep(attempt_create, f.plan), 1);
  CHECK_U64(test_fault_sweep(attempt_create_over, f.plan), 1);
  CHECK_U64(test_fault_sweep(attempt_clone, f.arena), 1);
  fixture_free(&f);
}
