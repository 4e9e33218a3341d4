// The exact search's view of a problem: buffers and sections as small numbers, and overlap in time
// as bit sets. Made once for a problem, never changed.
//
// Sizes and offsets are counted in units: the largest number of bytes that divides them all, so
// that the search meets few different offsets. Buffers are numbered by the first section of their
// lifetime, so that those close in time are adjacent.
#ifndef STOWAGE_SRC_PLACE_EXACT_MODEL_H_
#define STOWAGE_SRC_PLACE_EXACT_MODEL_H_

#include "place/exact/clash.h"
#include "place/problem.h"
#include "place/sections.h"

// Larger models are refused: the bit sets would exceed a gigabit.
#define STOWI_PLACE_MODEL_MAX_BUFFERS 16384

// Sections in a block: a buffer that lives throughout is looked at once for all of them.
#define STOWI_PLACE_BLOCK 8

#define STOWI_PLACE_NO_TWIN UINT32_MAX
#define STOWI_PLACE_NO_PIN INT64_MIN
#define STOWI_PLACE_MANY_LOWS INT64_MIN

typedef struct stowi_place_model_piece {
  uint32_t begin;  // sections
  uint32_t end;
  int64_t low;   // units of the buffer below it
  int64_t room;  // units that it blocks for others
} stowi_place_model_piece;

typedef struct stowi_place_model {
  const stow_problem* problem;
  stow_allocator allocator;
  stowi_place_sections sections;
  uint64_t unit;
  uint64_t grain;          // bytes: every occupied range begins at a multiple of it
  uint32_t count;          // of buffers
  uint32_t section_count;  // also the number of words of `first_of`, less one
  uint32_t words;          // of a set of buffers
  int64_t most_padding;    // bytes
  bool has_windows;        // distances differ from sizes
  bool is_ordered;     // of two that are live together, the higher one is entirely above the other
  uint32_t* buffer;    // number in the problem
  int64_t* size;       // footprint, rounded up to where the next one above it can begin
  int64_t* padding;    // bytes by which that is more than the footprint
  int64_t* alignment;  // fixed offset, or STOWI_PLACE_NO_PIN
  int64_t* pin;        // fixed offset, or STOWI_PLACE_NO_PIN
  uint64_t* width;     // of its lifetime, in steps
  uint32_t* twin;      // the next identical one, or STOWI_PLACE_NO_TWIN
  int64_t* low;        // units below its only piece, or STOWI_PLACE_MANY_LOWS if it has several
  uint32_t* first_piece;  // count + 1
  stowi_place_model_piece* pieces;
  uint32_t* first_of;    // section_count + 1: the first buffer whose lifetime begins there or later
  uint64_t* neighbours;  // count sets: those that are live together with it
  uint64_t* members;     // section_count sets: those that occupy something there
  uint32_t* first_word;  // by section: in its set, the words before are empty
  uint64_t* spanning;    // a set for each block of sections: those that are in all of them, at one
                         // height
  uint64_t pair_count;
  stowi_place_clashes clashes;  // empty without windows, or where there would be too many
} stowi_place_model;

// STOW_ERR_LIMIT, without a message, for more than STOWI_PLACE_MODEL_MAX_BUFFERS. O(n² / 64 +
// pieces × sections).
stow_status stowi_place_model_create(const stow_problem* problem, stow_allocator allocator,
                                     stow_diag* diag, stowi_place_model** out_model);
void stowi_place_model_destroy(stowi_place_model* model);

// Whether it occupies all of its footprint whenever it occupies anything.
static inline bool stowi_place_model_is_whole(const stowi_place_model* model, uint32_t buffer) {
  const stowi_place_model_piece* piece = &model->pieces[model->first_piece[buffer]];
  return model->first_piece[buffer + 1] - model->first_piece[buffer] == 1 && piece->low == 0 &&
         piece->room == model->size[buffer];
}

// How far |above|'s offset must be from |below|'s, in units, if it is above it. Both are live
// together.
int64_t stowi_place_model_distance(const stowi_place_model* model, uint32_t below, uint32_t above);

// Iterates over the intervals in which two buffers each occupy the same bytes.
typedef struct stowi_place_meeting {
  const stowi_place_model* model;
  uint32_t a;  // by the problem's numbers
  uint32_t b;
  uint32_t p;  // pieces
  uint32_t q;
  int64_t up;    // bytes by which b's offset must be above a's,
  int64_t down;  // or a's above b's
} stowi_place_meeting;
stowi_place_meeting stowi_place_meeting_of(const stowi_place_model* model, uint32_t a, uint32_t b);
// False after the last one.
bool stowi_place_meeting_next(stowi_place_meeting* meeting);

// Rounded up, also where they are negative.
static inline int64_t stowi_place_model_units(const stowi_place_model* model, int64_t bytes) {
  int64_t unit = (int64_t)model->unit;
  return bytes <= 0 ? -(-bytes / unit) : (bytes + unit - 1) / unit;
}
static inline stowi_place_clash stowi_place_meeting_clash(const stowi_place_meeting* m) {
  return (stowi_place_clash){1 - stowi_place_model_units(m->model, m->down),
                             stowi_place_model_units(m->model, m->up)};
}
// The lowest offset from |offset| on, at least 0, that is aligned.
static inline int64_t stowi_place_model_align(const stowi_place_model* model, uint32_t buffer,
                                              int64_t offset) {
  int64_t alignment = model->alignment[buffer];
  return alignment == 1 ? offset : (offset + alignment - 1) / alignment * alignment;
}

// The lowest height not excluded once |capacity| is proven too small.
uint64_t stowi_place_model_next_height(const stowi_place_model* model, uint64_t capacity);

static inline uint64_t* stowi_place_model_neighbours(const stowi_place_model* model,
                                                     uint32_t buffer) {
  return model->neighbours + (size_t)buffer * model->words;
}
// The words of a section's set from this one on are empty: everything live there was born by then.
static inline uint32_t stowi_place_model_end_word(const stowi_place_model* model,
                                                  uint32_t section) {
  return (model->first_of[section + 1] + 63) / 64;
}
static inline uint64_t* stowi_place_model_members(const stowi_place_model* model,
                                                  uint32_t section) {
  return model->members + (size_t)section * model->words;
}

static inline uint32_t stowi_place_model_blocks(const stowi_place_model* model) {
  return (model->section_count + STOWI_PLACE_BLOCK - 1) / STOWI_PLACE_BLOCK;
}
static inline uint64_t* stowi_place_model_spanning(const stowi_place_model* model, uint32_t block) {
  return model->spanning + (size_t)block * model->words;
}

#endif  // STOWAGE_SRC_PLACE_EXACT_MODEL_H_
