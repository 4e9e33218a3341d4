// Compression of time. The set of live buffers is largest (not contained in another one's) right
// before a death that follows a birth, and every pair that ever lives together does so at one of
// these moments. So they are all the time there is: the sections.
//
//     a ├──────────┤                 births  a b   c     d
//     b   ├────┤                     deaths        b   a   c d
//     c         ├─────────┤          sections   0    1      2     {a,b} {a,c} {c,d}
//     d               ├───────┤
//
// Buffers that all die at the horizon make one section, however many steps they are born at.
#include "place/sections.h"

#include "base/sort.h"

typedef struct event {
  uint64_t time;
  uint32_t buffer;
} event;

static int compare_events(const void* a, const void* b, const void* context) {
  const event* x = (const event*)a;
  const event* y = (const event*)b;
  (void)context;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

// Lists made from graphs often are in order of birth.
static stow_status sort_events(event* events, size_t count, stow_allocator allocator) {
  size_t i = 1;
  while (i < count && events[i - 1].time <= events[i].time) {
    ++i;
  }
  if (i >= count) {
    return STOW_OK;
  }
  return stowi_sort(events, count, sizeof(event), compare_events, NULL, allocator);
}

static void sweep(const event* births, const event* deaths, size_t count,
                  stowi_sections* sections) {
  uint32_t section = 0;
  size_t born = 0;
  for (size_t dead = 0; dead < count; ++dead) {
    bool any_born = false;
    for (; born < count && births[born].time < deaths[dead].time; ++born) {
      sections->begin[births[born].buffer] = section;
      any_born = true;
    }
    section += any_born ? 1 : 0;
    sections->end[deaths[dead].buffer] = section;
  }
  sections->count = section;
}

stow_status stowi_sections_make(const stow_problem* problem, stow_allocator allocator,
                                stowi_sections* out_sections) {
  size_t count = problem->buffers.count;
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  out_sections->count = 0;
  out_sections->begin = STOWI_ARRAY(allocator, uint32_t, count);
  out_sections->end = STOWI_ARRAY(allocator, uint32_t, count);
  event* births = STOWI_ARRAY(allocator, event, count);
  event* deaths = STOWI_ARRAY(allocator, event, count);
  if (out_sections->begin == NULL || out_sections->end == NULL || births == NULL ||
      deaths == NULL) {
    goto done;
  }
  for (size_t i = 0; i < count; ++i) {
    births[i] = (event){problem->buffers.data[i].begin, (uint32_t)i};
    deaths[i] = (event){problem->buffers.data[i].end, (uint32_t)i};
  }
  status = sort_events(births, count, allocator);
  if (status == STOW_OK) {
    status = sort_events(deaths, count, allocator);
  }
  if (status == STOW_OK) {
    sweep(births, deaths, count, out_sections);
  }
done:
  STOWI_ARRAY_FREE(allocator, births, count);
  STOWI_ARRAY_FREE(allocator, deaths, count);
  return status;
}

void stowi_sections_free(stowi_sections* sections, const stow_problem* problem,
                         stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, sections->begin, problem->buffers.count);
  STOWI_ARRAY_FREE(allocator, sections->end, problem->buffers.count);
  sections->begin = sections->end = NULL;
}
