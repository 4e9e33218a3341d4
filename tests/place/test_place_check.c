// The placement checker: correct placements pass, every kind of damage is named, and it agrees with
// comparing all pairs.
#include <stowage/place.h>
#include <string.h>

#include "place/api.h"
#include "support/fault.h"
#include "support/test.h"

enum { MAX_BUFFERS = 40 };

typedef struct fixture {
  stow_problem* problem;
  stow_buffer buffers[MAX_BUFFERS];
  uint64_t offsets[MAX_BUFFERS];
  size_t count;
  uint64_t height;
} fixture;

static void add(fixture* f, stow_buffer desc, uint64_t offset) {
  CHECK(stow_problem_add(f->problem, &desc, NULL, NULL) == STOW_OK);
  f->buffers[f->count] = desc;
  f->offsets[f->count++] = offset;
}

static fixture new_fixture(void) {
  fixture f;
  memset(&f, 0, sizeof(f));
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &f.problem) == STOW_OK);
  return f;
}

static stow_buffer random_buffer(test_random* random) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = 1 + test_random_below(random, 30);
  desc.guard = test_random_below(random, 4) == 0 ? 8 : 0;
  desc.begin = test_random_below(random, 20);
  desc.end = desc.begin + 1 + test_random_below(random, 10);
  desc.alignment = UINT64_C(1) << test_random_below(random, 4);
  return desc;
}

static bool is_right(const fixture* f) {
  for (size_t i = 0; i < f->count; ++i) {
    const stow_buffer* a = &f->buffers[i];
    uint64_t a_end = f->offsets[i] + a->size + a->guard;
    if (f->offsets[i] % a->alignment != 0 || a_end > f->height) {
      return false;
    }
    for (size_t j = 0; j < i; ++j) {
      const stow_buffer* b = &f->buffers[j];
      uint64_t b_end = f->offsets[j] + b->size + b->guard;
      if (a->begin < b->end && b->begin < a->end && f->offsets[i] < b_end &&
          f->offsets[j] < a_end) {
        return false;
      }
    }
  }
  return true;
}

static stow_status check(const fixture* f, stow_diag* diag, stow_placement_violation* violation) {
  return stow_placement_check(f->problem, f->offsets, f->count, f->height, stow_allocator_default(),
                              diag, violation);
}

// The named violation is a real one.
static void check_named(const fixture* f, const stow_placement_violation* v) {
  const stow_buffer* a = &f->buffers[v->first];
  uint64_t a_end = f->offsets[v->first] + a->size + a->guard;
  if (v->fault == STOW_PLACEMENT_OVERLAP) {
    const stow_buffer* b = &f->buffers[v->second];
    uint64_t b_end = f->offsets[v->second] + b->size + b->guard;
    CHECK(f->offsets[v->first] < b_end && f->offsets[v->second] < a_end);
    CHECK_U64(v->step, a->begin > b->begin ? a->begin : b->begin);
    CHECK(v->step < a->end && v->step < b->end);
  } else if (v->fault == STOW_PLACEMENT_MISALIGNED) {
    CHECK(f->offsets[v->first] % a->alignment != 0);
  } else {
    CHECK(v->fault == STOW_PLACEMENT_OUTSIDE && a_end > f->height);
  }
}

static fixture place(test_random* random) {
  fixture f = new_fixture();
  size_t count = test_random_below(random, MAX_BUFFERS);
  for (size_t i = 0; i < count; ++i) {
    add(&f, random_buffer(random), 0);
  }
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  CHECK(stowi_place_first_fit(f.problem, &options, stow_allocator_default(), NULL, &placement) ==
        STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    f.offsets[i] = stow_placement_offset(placement, i);
  }
  f.height = stow_placement_height(placement);
  stow_placement_destroy(placement);
  return f;
}

TEST(TheCheckerAgreesWithComparingAllPairs) {
  test_random random = {31};
  int cases = test_is_long() ? 100000 : 5000;
  int wrong = 0;
  for (int i = 0; i < cases; ++i) {
    fixture f = place(&random);
    CHECK(check(&f, NULL, NULL) == STOW_OK);
    if (f.count > 0) {
      uint64_t moves = 1 + test_random_below(&random, 3);
      for (uint64_t k = 0; k < moves; ++k) {
        f.offsets[test_random_below(&random, f.count)] = test_random_below(&random, f.height);
      }
      f.height -= test_random_below(&random, 8) == 0;
    }
    stow_placement_violation violation = {.struct_size = sizeof(violation)};
    stow_status status = check(&f, NULL, &violation);
    CHECK((status == STOW_OK) == is_right(&f));
    if (status != STOW_OK) {
      ++wrong;
      CHECK(status == STOW_ERR_VIOLATION);
      check_named(&f, &violation);
    } else {
      CHECK(violation.fault == STOW_PLACEMENT_OK);
    }
    stow_problem_destroy(f.problem);
  }
  CHECK(wrong > cases / 4);
}

TEST(EveryFaultHasAMessage) {
  fixture f = new_fixture();
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = 64;
  desc.end = 4;
  desc.alignment = 64;
  desc.guard = 8;
  add(&f, desc, 0);
  desc.begin = 2;
  desc.end = 9;
  desc.fixed_offset = 128;
  add(&f, desc, 128);
  f.height = 200;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_placement_violation v = {.struct_size = sizeof(v)};
  CHECK(check(&f, &diag, &v) == STOW_OK);
  f.offsets[0] = 64;
  CHECK(check(&f, &diag, &v) == STOW_ERR_VIOLATION);
  CHECK_U64(v.fault, STOW_PLACEMENT_OVERLAP);
  CHECK_HAS(diag.message, "overlap while both are live at step 2");
  f.offsets[0] = 32;
  CHECK(check(&f, &diag, &v) == STOW_ERR_VIOLATION);
  CHECK_U64(v.fault, STOW_PLACEMENT_MISALIGNED);
  CHECK_HAS(diag.message, "buffer 0 is at 32, which is not a multiple of its alignment 64");
  f.offsets[0] = 0;
  f.offsets[1] = 192;
  CHECK(check(&f, &diag, &v) == STOW_ERR_VIOLATION);
  CHECK_U64(v.fault, STOW_PLACEMENT_MOVED);
  CHECK_HAS(diag.message, "is fixed at 128");
  f.offsets[1] = 128;
  f.height = 199;
  CHECK(check(&f, &diag, &v) == STOW_ERR_VIOLATION);
  CHECK_U64(v.fault, STOW_PLACEMENT_OUTSIDE);
  CHECK_HAS(diag.message, "ends above the height 199");
  f.offsets[1] = UINT64_MAX - 63;
  f.height = UINT64_MAX;
  CHECK(check(&f, &diag, &v) == STOW_ERR_VIOLATION);
  CHECK(stow_placement_check(f.problem, f.offsets, 1, 999, stow_allocator_default(), &diag, &v) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "1 offsets for 2 buffers");
  stow_problem_destroy(f.problem);
}

static stow_status check_some(stow_allocator allocator, void* user) {
  (void)user;
  test_random random = {32};
  fixture f = place(&random);
  stow_status status =
      stow_placement_check(f.problem, f.offsets, f.count, f.height, allocator, NULL, NULL);
  stow_problem_destroy(f.problem);
  return status;
}

TEST(TheCheckerSurvivesEveryFailedAllocation) { CHECK(test_fault_sweep(check_some, NULL) >= 4); }
