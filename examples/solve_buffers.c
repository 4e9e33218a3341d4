// Placement without a graph, a library or a build system: sizes and lifetimes go in, offsets and a
// proven lower bound come out. In this directory:
//
//     sh ../scripts/amalgamate.sh .
//     cc -std=c11 -O2 solve_buffers.c stowage-solve.c -o solve_buffers && ./solve_buffers
#include <inttypes.h>
#include <stdio.h>

#include "stowage-solve.h"

typedef struct row {
  const char* name;
  uint64_t size;   // bytes
  uint64_t begin;  // live at steps [begin, end)
  uint64_t end;
} row;

static const row rows[] = {
    {"image", 32768, 0, 2},   {"stem", 32768, 1, 4},     {"branch_a", 24576, 2, 6},
    {"branch_b", 4096, 3, 8}, {"wide_a", 32768, 5, 9},   {"wide_b", 16384, 7, 11},
    {"skip", 3072, 1, 12},    {"mix", 16384, 8, 13},     {"mask", 6144, 4, 10},
    {"pool", 32768, 11, 15},  {"norm", 3072, 12, 17},    {"logits", 32768, 14, 19},
    {"boxes", 6144, 10, 18},  {"scores", 16384, 16, 20}, {"table", 6144, 0, 20},
};
enum { COUNT = sizeof(rows) / sizeof(*rows) };

static stow_status describe(stow_problem* problem, stow_diag* diag) {
  stow_status status = STOW_OK;
  for (size_t i = 0; status == STOW_OK && i < COUNT; ++i) {
    size_t number;  // i: buffers are numbered in the order they are added
    stow_buffer buffer;
    stow_buffer_init(&buffer);
    buffer.size = rows[i].size;
    buffer.begin = rows[i].begin;
    buffer.end = rows[i].end;
    buffer.alignment = 64;
    status = stow_problem_add(problem, &buffer, diag, &number);
  }
  return status;
}

static void print(const stow_placement* placement) {
  stow_placement_info info = {.struct_size = sizeof(info)};
  if (stow_placement_describe(placement, &info) == STOW_OK) {
    printf("arena %" PRIu64 " bytes, bound %" PRIu64 ", %s\n", info.height, info.bound,
           stow_outcome_text(info.outcome));
  }
  for (size_t i = 0; i < COUNT; ++i) {
    printf("%8" PRIu64 "  %s\n", stow_placement_offset(placement, i), rows[i].name);
  }
}

int main(int argc, char** argv) {
  if (argc > 1) {
    fprintf(stderr, "solve_buffers: unexpected argument '%s': the buffers are in the source\n",
            argv[1]);
    return 2;
  }
  stow_allocator heap = stow_allocator_default();
  stow_problem* problem = NULL;
  stow_placement* placement = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_problem_create(heap, &diag, &problem);
  if (status == STOW_OK) {
    status = describe(problem, &diag);
  }
  if (status == STOW_OK) {
    status = stow_place_auto(problem, NULL, heap, &diag, &placement);
  }
  if (status == STOW_OK) {
    print(placement);
  } else {
    fprintf(stderr, "solve_buffers: %s\n", diag.message);
  }
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
  return status == STOW_OK ? 0 : 1;
}
