// Binding evaluates all numbers, finds the region, and gives tensors their dims and places:
// O(numbers
// + tensors).
#include "program/range.h"

static bool has_value(const stow_program_symbol* symbol, int64_t value) {
  return value >= symbol->min && value <= symbol->max && (value - symbol->min) % symbol->step == 0;
}

// Whether the values are in the box, which has pairs.
static bool is_in(const int64_t* box, const int64_t* values, size_t count) {
  bool is = true;
  for (size_t i = 0; i < count; ++i) {
    is = is && values[i] >= box[2 * i] && values[i] <= box[2 * i + 1];
  }
  return is;
}

static uint32_t find_region(const stow_program_range* range, const int64_t* values) {
  size_t width = 1 + 2 * range->symbol_count;
  size_t at = 0;
  while (at + 1 < range->box_count &&
         !is_in(range->boxes + at * width + 1, values, range->symbol_count)) {
    ++at;
  }
  return (uint32_t)range->boxes[at * width];
}

// What has no bytes is never NULL: kernels add to pointers.
static void place(const stow_program_range* range, uint32_t memory, bool all) {
  const stow_program_place* places = range->regions[*range->region].places;
  for (size_t i = 0; i < range->place_count; ++i) {
    if (!all && places[i].memory != memory) {
      continue;
    }
    stow_tensor* tensor = &range->tensors[places[i].tensor];
    unsigned char* base = range->memories[places[i].memory];
    bool is_empty = stow_tensor_bytes(tensor) == 0;
    tensor->data = is_empty       ? range->memories[0]
                   : base == NULL ? NULL
                                  : base + range->numbers[places[i].number];
  }
}

stow_status stow_program_bind(const stow_program_range* range, const int64_t* values) {
  size_t point = 0;
  stow_program_begin(range->state);
  for (size_t i = 0; i < range->symbol_count; ++i) {
    const stow_program_symbol* symbol = &range->symbols[i];
    if (!has_value(symbol, values[i])) {
      (void)stow_program_fail(range->state, STOW_ERR_NOT_FOUND, symbol->name.data,
                              "the value is not in the range");
      return STOW_ERR_NOT_FOUND;
    }
    size_t count = (size_t)((symbol->max - symbol->min) / symbol->step) + 1;
    point = point * count + (size_t)((values[i] - symbol->min) / symbol->step);
  }
  *range->region = find_region(range, values);
  stow_program_evaluate(&range->formula, values, point, range->numbers);
  stow_program_evaluate(&range->regions[*range->region].formula, values, point, range->numbers);
  for (size_t i = 0; i < range->dim_count; ++i) {
    const stow_program_dim* dim = &range->dims[i];
    range->tensors[dim->tensor].dims[dim->axis] = range->numbers[dim->number];
  }
  place(range, 0, true);
  return STOW_OK;
}

void stow_program_bind_memory(const stow_program_range* range, uint32_t memory, const void* data) {
  range->memories[memory] = (unsigned char*)data;
  if (*range->region != UINT32_MAX) {
    place(range, memory, false);
  }
}

bool stow_program_is_bound(const stow_program_range* range) {
  return *range->region != UINT32_MAX ||
         stow_program_fail(range->state, STOW_ERR_NOT_FOUND, "run", "no shape is bound");
}

bool stow_program_has_memory(const stow_program_range* range, const stow_tensor* tensor,
                             const char* name) {
  return tensor->data != NULL ||
         stow_program_fail(range->state, STOW_ERR_NOT_FOUND, name, "no memory is bound");
}

// The fastest variant that has room; the last one has it where the plan says.
static void give_room(const stow_program_range* range, const stow_program_room* room,
                      stow_program_step* step) {
  const stow_program_price* price = range->prices + room->first_price;
  size_t size = (size_t)range->numbers[room->size];
  size_t above = (size_t)range->numbers[room->above];
  size_t free_bytes = above < range->program->arena_size ? range->program->arena_size - above : 0;
  uint32_t i = 0;
  while (i + 1 < room->price_count && (size_t)range->numbers[price[i].number] > size &&
         (size_t)range->numbers[price[i].number] > free_bytes) {
    ++i;
  }
  size_t wanted = (size_t)range->numbers[price[i].number];
  bool is_above = wanted > size;
  if (range->blocks != NULL && step->op == STOW_OP_BLOCKS) {
    step->user = range->blocks(range, step->user, i);
  } else {
    step->variant = price[i].variant;
  }
  step->scratch_size = is_above ? wanted : size;
  step->scratch =
      range->memories[0] + (is_above                  ? above
                            : step->scratch_size == 0 ? 0
                                                      : (size_t)range->numbers[room->at]);
}

bool stow_program_run_bound(const stow_program_range* range, const stow_program_step* steps,
                            const stow_program_room* rooms, size_t count) {
  bool is_done = true;
  for (size_t i = 0; i < count && is_done; ++i) {
    stow_program_step step = steps[i];
    if (rooms[i].price_count != 0) {
      give_room(range, &rooms[i], &step);
    }
    is_done = stow_program_run(range->state, &step, 1);
  }
  return is_done;
}
