// Compression of time. The set of live buffers is maximal (not contained in another one) right
// before a death that follows a birth, and every pair that is ever live together is so at one of
// these moments. So these moments are all that matters: the sections.
//     a ├──────────┤                 births  a b   c     d
//     b   ├────┤                     deaths        b   a   c d
//     c         ├─────────┤          sections   0    1      2     {a,b} {a,c} {c,d}
//     d               ├───────┤
// Buffers that all die at the horizon make one section, however many steps they are born at. With
// windows, the pieces of the buffers are what is live.
#include "place/sections.h"

#include "base/sort.h"

typedef struct event {
  uint64_t time;
  uint32_t piece;
} event;

static void sweep(const event* births, const event* deaths, size_t count,
                  stowi_place_sections* sections) {
  uint32_t section = 0;
  size_t born = 0;
  for (size_t dead = 0; dead < count; ++dead) {
    bool any_born = false;
    for (; born < count && births[born].time < deaths[dead].time; ++born) {
      sections->begin[births[born].piece] = section;
      any_born = true;
    }
    section += any_born ? 1 : 0;
    sections->end[deaths[dead].piece] = section;
  }
  sections->count = section;
}

static void make_pieces(const stow_problem* problem, event* births, event* deaths,
                        stowi_place_sections* sections) {
  size_t count = problem->buffers.count;
  sections->piece_count = sections->first == NULL ? count : 0;
  for (size_t i = 0; i < count; ++i) {
    if (sections->first == NULL) {
      births[i] = (event){problem->buffers.data[i].begin, (uint32_t)i};
      deaths[i] = (event){problem->buffers.data[i].end, (uint32_t)i};
    } else {
      // Appends the pieces of buffer |i|.
      stowi_place_walk walk = stowi_place_walk_start(problem, i);
      stowi_place_stretch stretch;
      sections->first[i] = (uint32_t)sections->piece_count;
      while (stowi_place_walk_next(&walk, &stretch)) {
        uint32_t piece = (uint32_t)sections->piece_count++;
        births[piece] = (event){stretch.begin, piece};
        deaths[piece] = (event){stretch.end, piece};
        sections->low[piece] = stretch.low;
        sections->high[piece] = stretch.high;
      }
      sections->first[i + 1] = (uint32_t)sections->piece_count;
    }
  }
}

static bool allocate(const stow_problem* problem, stow_allocator allocator,
                     stowi_place_sections* sections) {
  size_t most = stowi_place_max_pieces(problem);
  sections->begin = STOWI_ARRAY(allocator, uint32_t, most);
  sections->end = STOWI_ARRAY(allocator, uint32_t, most);
  if (problem->windows.count == 0) {
    return sections->begin != NULL && sections->end != NULL;
  }
  sections->first = STOWI_ARRAY(allocator, uint32_t, problem->buffers.count + 1);
  sections->low = STOWI_ARRAY(allocator, uint64_t, most);
  sections->high = STOWI_ARRAY(allocator, uint64_t, most);
  return sections->begin != NULL && sections->end != NULL && sections->first != NULL &&
         sections->low != NULL && sections->high != NULL;
}

stow_status stowi_place_sections_make(const stow_problem* problem, stow_allocator allocator,
                                      stowi_place_sections* out_sections) {
  size_t most = stowi_place_max_pieces(problem);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  *out_sections = (stowi_place_sections){.count = 0};
  event* births = STOWI_ARRAY(allocator, event, most);
  event* deaths = STOWI_ARRAY(allocator, event, most);
  if (allocate(problem, allocator, out_sections) && births != NULL && deaths != NULL) {
    make_pieces(problem, births, deaths, out_sections);
    status = stowi_sort_by_key(births, out_sections->piece_count, sizeof(event), allocator);
    if (status == STOW_OK) {
      status = stowi_sort_by_key(deaths, out_sections->piece_count, sizeof(event), allocator);
    }
    if (status == STOW_OK) {
      sweep(births, deaths, out_sections->piece_count, out_sections);
    }
  }
  STOWI_ARRAY_FREE(allocator, births, most);
  STOWI_ARRAY_FREE(allocator, deaths, most);
  return status;
}

void stowi_place_sections_free(stowi_place_sections* sections, const stow_problem* problem,
                               stow_allocator allocator) {
  size_t most = stowi_place_max_pieces(problem);
  STOWI_ARRAY_FREE(allocator, sections->begin, most);
  STOWI_ARRAY_FREE(allocator, sections->end, most);
  STOWI_ARRAY_FREE(allocator, sections->first, problem->buffers.count + 1);
  STOWI_ARRAY_FREE(allocator, sections->low, most);
  STOWI_ARRAY_FREE(allocator, sections->high, most);
  *sections = (stowi_place_sections){.count = 0};
}
