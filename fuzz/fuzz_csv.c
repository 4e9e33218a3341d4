// Any bytes as a problem in CSV. What is read is placed by first-fit and best-fit, checked and
// written; what was written is read again, and now every buffer is fixed where the placement has
// it. As a start, it matches itself.
#include <stdint.h>
#include <stowage/stowage.h>
#include <string.h>

static void require(int condition) {
  if (!condition) {
    __builtin_trap();
  }
}

static stow_placement* place(const stow_problem* problem, const char* strategy) {
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  stow_status status = stow_strategy_find(stow_str_of(strategy))
                           ->place(problem, &options, stow_allocator_default(), NULL, &placement);
  require(status == STOW_OK || status == STOW_ERR_CONFLICT);
  return placement;
}

static void check(const stow_problem* problem, const stow_placement* placement) {
  size_t count = stow_problem_count(problem);
  uint64_t offsets[256];
  stow_placement_info info = {.struct_size = sizeof(info)};
  require(stow_placement_describe(placement, &info) == STOW_OK);
  require(info.bound <= info.height);
  if (count > sizeof(offsets) / sizeof(offsets[0])) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  require(stow_placement_check(problem, offsets, count, stow_placement_height(placement),
                               stow_allocator_default(), NULL, NULL) == STOW_OK);
}

static void check_same(const stow_csv* csv, const stow_placement* placement,
                       const stow_csv* again) {
  const stow_problem* problem = stow_csv_problem(again);
  size_t count = stow_problem_count(problem);
  stow_placement_info info = {.struct_size = sizeof(info)};
  require(stow_placement_describe(placement, &info) == STOW_OK && count == info.count);
  for (size_t i = 0; i < count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    require(desc.fixed_offset == stow_placement_offset(placement, i));
    require(stow_str_equal(stow_csv_id(csv, i), stow_csv_id(again, i)));
  }
  stow_placement* same = place(problem, "first-fit");
  require(same != NULL && stow_placement_height(same) == stow_placement_height(placement));
  stow_placement_destroy(same);
}

static void write_and_read(const stow_csv* csv, const stow_placement* placement) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  require(stow_csv_write(csv, placement, stow_string_writer(&text), NULL) == STOW_OK);
  stow_str written = {text.data, text.size};
  stow_csv* again = NULL;
  stow_status status = stow_csv_read(written, stow_allocator_default(), NULL, &again);
  // A fixed end counts beside the sizes: what filled more than 62 bits may not fit 63 now. And the
  // added column may be one too many.
  require(status == STOW_OK || status == STOW_ERR_OVERFLOW || status == STOW_ERR_LIMIT);
  if (status == STOW_OK) {
    check_same(csv, placement, again);
  }
  stow_csv_destroy(again);
  stow_string_free(&text);
}

// Every row is itself; those that match nothing are reserved ranges.
static void match_itself(const stow_csv* csv) {
  uint64_t offsets[256];
  stow_start* start = NULL;
  require(stow_start_from_csv(csv, stow_allocator_default(), NULL, &start) == STOW_OK);
  size_t count = stow_start_count(start);
  if (count <= sizeof(offsets) / sizeof(offsets[0])) {
    require(stow_start_match(start, start, stow_allocator_default(), NULL, offsets) == STOW_OK);
    for (size_t i = 0; i < count; ++i) {
      stow_buffer desc = {.struct_size = sizeof(desc)};
      stow_problem_describe_buffer(stow_csv_problem(csv), i, &desc);
      require(offsets[i] == desc.fixed_offset || offsets[i] == STOW_PLACE_ANYWHERE);
    }
  }
  stow_start_destroy(start);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stow_str text = {(const char*)data, size};
  stow_csv* csv = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_csv_read(text, stow_allocator_default(), &diag, &csv);
  if (status != STOW_OK) {
    require(csv == NULL && diag.status == status && diag.line != 0 && diag.column != 0);
    require(strlen(diag.message) > 0);
    return 0;
  }
  const stow_problem* problem = stow_csv_problem(csv);
  match_itself(csv);
  stow_placement* placement = place(problem, "first-fit");
  stow_placement* best = place(problem, "best-fit");
  require((placement == NULL) == (best == NULL));
  if (placement != NULL) {
    check(problem, placement);
    check(problem, best);
    write_and_read(csv, placement);
  }
  stow_placement_destroy(best);
  stow_placement_destroy(placement);
  stow_csv_destroy(csv);
  return 0;
}
