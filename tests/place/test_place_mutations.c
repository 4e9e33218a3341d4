// The checker against brute force over pairs: correct placements, one mutation of every kind, and
// inputs designed to be slow.
#include <stdlib.h>
#include <stowage/place.h>
#include <string.h>

#include "support/fault.h"
#include "support/test.h"

enum { MAX_BUFFERS = 48 };

typedef struct instance {
  size_t count;
  stow_buffer descs[MAX_BUFFERS];
  uint64_t offsets[MAX_BUFFERS];
  uint64_t height;
  stow_problem* problem;
} instance;

static uint64_t footprint(const stow_buffer* desc) { return desc->size + desc->guard; }

static bool is_in_conflict(const instance* in, size_t i, size_t j) {
  const stow_buffer* a = &in->descs[i];
  const stow_buffer* b = &in->descs[j];
  return a->begin < b->end && b->begin < a->end && in->offsets[i] < in->offsets[j] + footprint(b) &&
         in->offsets[j] < in->offsets[i] + footprint(a);
}

// Lowest place that is free, so that the instance is correct.
static void settle(instance* in, size_t i) {
  in->offsets[i] = 0;
  for (size_t j = 0; j < i; ++j) {
    if (is_in_conflict(in, i, j)) {
      uint64_t mask = in->descs[i].alignment - 1;
      in->offsets[i] = (in->offsets[j] + footprint(&in->descs[j]) + mask) & ~mask;
      j = SIZE_MAX;  // from the start, at the new place
    }
  }
}

static void draw(test_random* random, instance* in) {
  uint64_t horizon = 1 + test_random_below(random, 30);
  in->count = 1 + (size_t)test_random_below(random, MAX_BUFFERS);
  in->height = 0;
  in->problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &in->problem) == STOW_OK);
  for (size_t i = 0; i < in->count; ++i) {
    stow_buffer* desc = &in->descs[i];
    stow_buffer_init(desc);
    desc->size = 1 + test_random_below(random, 20);
    desc->guard = test_random_below(random, 2) == 0 ? 0 : test_random_below(random, 6);
    desc->alignment = UINT64_C(1) << test_random_below(random, 5);
    desc->begin = test_random_below(random, horizon);
    desc->end = desc->begin + 1 + test_random_below(random, horizon - desc->begin);
    settle(in, i);
    if (test_random_below(random, 6) == 0) {
      desc->fixed_offset = in->offsets[i];
    }
    uint64_t end = in->offsets[i] + footprint(desc);
    in->height = end > in->height ? end : in->height;
    CHECK(stow_problem_add(in->problem, desc, NULL, NULL) == STOW_OK);
  }
}

// Whether |found| is a fault that the instance really has, named in full.
static bool is_true_fault(const instance* in, const stow_placement_violation* found) {
  if (found->first >= in->count) {
    return false;
  }
  const stow_buffer* desc = &in->descs[found->first];
  uint64_t offset = in->offsets[found->first];
  if (found->fault == STOW_PLACEMENT_OVERLAP) {
    if (found->second >= in->count || found->second == found->first) {
      return false;
    }
    const stow_buffer* other = &in->descs[found->second];
    uint64_t step = desc->begin > other->begin ? desc->begin : other->begin;
    return is_in_conflict(in, found->first, found->second) && found->step == step;
  }
  bool is_alone = found->second == STOW_BUFFER_NONE && found->step == desc->begin;
  switch (found->fault) {
    case STOW_PLACEMENT_MISALIGNED: return is_alone && offset % desc->alignment != 0;
    case STOW_PLACEMENT_MOVED:
      return is_alone && desc->fixed_offset != STOW_PLACE_ANYWHERE && offset != desc->fixed_offset;
    case STOW_PLACEMENT_OUTSIDE:
      return is_alone && (offset > in->height || footprint(desc) > in->height - offset);
    default: return false;
  }
}

static bool has_fault(const instance* in) {
  for (size_t i = 0; i < in->count; ++i) {
    const stow_buffer* desc = &in->descs[i];
    if (in->offsets[i] % desc->alignment != 0 || in->offsets[i] > in->height ||
        footprint(desc) > in->height - in->offsets[i] ||
        (desc->fixed_offset != STOW_PLACE_ANYWHERE && desc->fixed_offset != in->offsets[i])) {
      return true;
    }
    for (size_t j = 0; j < i; ++j) {
      if (is_in_conflict(in, i, j)) {
        return true;
      }
    }
  }
  return false;
}

// Checks the checker; returns what it found.
static stow_placement_fault check(const instance* in) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_placement_violation found;
  memset(&found, 0xff, sizeof(found));
  found.struct_size = sizeof(found);
  stow_status status = stow_placement_check(in->problem, in->offsets, in->count, in->height,
                                            stow_allocator_default(), &diag, &found);
  if (has_fault(in)) {
    CHECK(status == STOW_ERR_VIOLATION);
    CHECK(is_true_fault(in, &found));
    CHECK_HAS(diag.message, "buffer");
  } else {
    CHECK(status == STOW_OK);
    CHECK(found.fault == STOW_PLACEMENT_OK);
    CHECK(found.first == STOW_BUFFER_NONE && found.second == STOW_BUFFER_NONE);
  }
  CHECK(stow_placement_check(in->problem, in->offsets, in->count, in->height,
                             stow_allocator_default(), NULL, NULL) == status);
  return found.fault;
}

TEST(CorrectPlacementsPassAndMutationsAgreeWithBruteForce) {
  test_random random = {21};
  int cases = test_is_long() ? 20000 : 1500;
  size_t seen[5] = {0, 0, 0, 0, 0};
  for (int k = 0; k < cases; ++k) {
    instance in;
    draw(&random, &in);
    ++seen[check(&in)];
    for (int m = 0; m < 4; ++m) {
      instance bad = in;
      size_t i = (size_t)test_random_below(&random, in.count);
      uint64_t shift = test_random_below(&random, 3) == 0 ? 1 : in.descs[i].alignment;
      switch (test_random_below(&random, 4)) {
        case 0: bad.offsets[i] += shift; break;
        case 1: bad.offsets[i] -= bad.offsets[i] < shift ? 0 : shift; break;
        case 2: bad.offsets[i] = in.offsets[test_random_below(&random, in.count)]; break;
        default: bad.height -= 1 + test_random_below(&random, bad.height);
      }
      ++seen[check(&bad)];
    }
    stow_problem_destroy(in.problem);
  }
  for (int fault = STOW_PLACEMENT_OK; fault <= STOW_PLACEMENT_OUTSIDE; ++fault) {
    CHECK(seen[fault] > 50);  // no kind was left out
  }
}

static stow_problem* pair_of(uint64_t first_end, uint64_t second_begin) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = 10;
  desc.guard = 6;
  desc.alignment = 2;
  desc.begin = 0;
  desc.end = first_end;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  desc.begin = second_begin;
  desc.end = 9;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  return problem;
}

static stow_status check_two(const stow_problem* problem, uint64_t a, uint64_t b, uint64_t height,
                             stow_diag* diag) {
  uint64_t offsets[] = {a, b};
  stow_diag_init(diag);
  return stow_placement_check(problem, offsets, 2, height, stow_allocator_default(), diag, NULL);
}

TEST(TheEdgesOfBytesAndOfStepsAreExact) {
  stow_diag diag;
  stow_problem* together = pair_of(5, 4);
  CHECK(check_two(together, 0, 16, 32, &diag) == STOW_OK);
  CHECK(check_two(together, 16, 0, 32, &diag) == STOW_OK);
  CHECK(check_two(together, 0, 14, 32, &diag) == STOW_ERR_VIOLATION);  // in the guard
  CHECK_HAS(diag.message, "buffers 0 (at 0, 10 + 6 bytes) and 1 (at 14, 10 + 6 bytes) overlap");
  CHECK_HAS(diag.message, "step 4");
  CHECK(check_two(together, 14, 0, 32, &diag) == STOW_ERR_VIOLATION);
  CHECK(check_two(together, 0, 0, 32, &diag) == STOW_ERR_VIOLATION);
  CHECK(check_two(together, 0, 16, 31, &diag) == STOW_ERR_VIOLATION);
  CHECK_HAS(diag.message, "buffer 1 at 16 with 10 + 6 bytes ends above the height 31");
  CHECK(check_two(together, 0, 17, 40, &diag) == STOW_ERR_VIOLATION);
  CHECK_HAS(diag.message, "buffer 1 is at 17, which is not a multiple of its alignment 2");
  stow_problem_destroy(together);
  stow_problem* apart = pair_of(4, 4);
  CHECK(check_two(apart, 0, 0, 16, &diag) == STOW_OK);
  stow_problem_destroy(apart);
}

TEST(OffsetsNearTheEndOfTheAddressSpaceDoNotWrapAround) {
  stow_diag diag;
  stow_problem* problem = pair_of(5, 4);
  CHECK(check_two(problem, 0, UINT64_MAX - 1, UINT64_MAX, &diag) == STOW_ERR_VIOLATION);
  CHECK(check_two(problem, 0, UINT64_MAX - 15, UINT64_MAX, &diag) == STOW_ERR_VIOLATION);
  CHECK(check_two(problem, 0, UINT64_MAX - 17, UINT64_MAX, &diag) == STOW_OK);
  stow_problem_destroy(problem);
}

TEST(AFixedBufferElsewhereIsMoved) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = 4;
  desc.begin = 3;
  desc.end = 4;
  desc.fixed_offset = 12;
  REQUIRE(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  stow_diag diag;
  stow_diag_init(&diag);
  uint64_t offset = 8;
  stow_placement_violation found = {.struct_size = sizeof(found)};
  CHECK(stow_placement_check(problem, &offset, 1, 100, stow_allocator_default(), &diag, &found) ==
        STOW_ERR_VIOLATION);
  CHECK(found.fault == STOW_PLACEMENT_MOVED && found.first == 0 && found.step == 3);
  CHECK_HAS(diag.message, "buffer 0 is at 8, but is fixed at 12");
  CHECK(stow_placement_check(problem, &offset, 0, 100, stow_allocator_default(), &diag, &found) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "0 offsets for 1 buffers");
  stow_problem_destroy(problem);
}

TEST(AnEmptyPlacementOfAnEmptyProblemPasses) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  CHECK(stow_placement_check(problem, NULL, 0, 0, stow_allocator_default(), NULL, NULL) == STOW_OK);
  stow_problem_destroy(problem);
}

// A stack of |count| buffers that are all live at once; |scatter| spreads births over addresses.
static void check_crowd(size_t count, size_t scatter) {
  stow_problem* problem = NULL;
  uint64_t* offsets = (uint64_t*)malloc(count * sizeof(uint64_t));
  REQUIRE(offsets != NULL);
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = 3;
    desc.begin = i;
    desc.end = count + i * scatter % count;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    offsets[i] = 3 * (i * scatter % count);
  }
  stow_placement_violation found = {.struct_size = sizeof(found)};
  CHECK(stow_placement_check(problem, offsets, count, 3 * count, stow_allocator_default(), NULL,
                             &found) == STOW_OK);
  offsets[count / 2] += offsets[count / 2] == 0 ? 1 : -UINT64_C(1);
  CHECK(stow_placement_check(problem, offsets, count, 3 * count, stow_allocator_default(), NULL,
                             &found) == STOW_ERR_VIOLATION);
  CHECK(found.fault == STOW_PLACEMENT_OVERLAP);
  CHECK(found.first == count / 2 || found.second == count / 2);
  stow_problem_destroy(problem);
  free(offsets);
}

TEST(ManyLiveBuffersAreCheckedWithoutComparingPairs) {
  size_t count = test_is_long() ? 1000000 : 100003;  // 5e9 pairs would show
  check_crowd(count, 1);
  check_crowd(count, count - 1);
  check_crowd(count, 7919);
}

static stow_status check_some(stow_allocator allocator, void* user) {
  const instance* in = (const instance*)user;
  return stow_placement_check(in->problem, in->offsets, in->count, in->height, allocator, NULL,
                              NULL);
}

TEST(EveryFailedAllocationIsReported) {
  test_random random = {22};
  instance in;
  do {
    draw(&random, &in);
  } while (in.count < 20 && (stow_problem_destroy(in.problem), true));
  CHECK(test_fault_sweep(check_some, &in) >= 5);
  stow_problem_destroy(in.problem);
}
