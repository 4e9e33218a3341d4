// Makes a model. Every offset that matters is a sum of distances, each rounded up to an alignment:
// in a placement in which nothing can sink, every buffer is on the ground or on others. So if a
// unit divides all windows and fixed offsets and, rounded up to the grain, all footprints, and
// either divides or is divided by every alignment, it divides every offset.
#include "place/exact/model.h"

#include "base/bits.h"
#include "base/diag.h"
#include "base/sort.h"

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t round_up(uint64_t x, uint64_t unit) { return (x + unit - 1) / unit * unit; }

// ---------------------------------------------------------------------------------------------
// Units

// The largest power of two that divides all offsets and all windows' low ends. A fixed offset may
// be a multiple of more than its buffer's alignment.
static uint64_t find_grain(const stow_problem* problem) {
  uint64_t starts = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* buffer = &problem->buffers.data[i];
    starts |= stowi_place_is_fixed(buffer) ? buffer->fixed_offset : buffer->alignment;
  }
  for (size_t i = 0; i < problem->windows.count; ++i) {
    starts |= problem->windows.data[i].low;
  }
  return starts == 0 ? 1 : starts & (~starts + 1);
}

static uint64_t divide_windows(const stowi_place_model* model, size_t buffer, uint64_t unit) {
  const stowi_place_sections* sections = &model->sections;
  for (uint32_t p = stowi_place_piece_first(sections, buffer);
       p < stowi_place_piece_end(sections, buffer); ++p) {
    uint64_t low = sections->low[p];
    uint64_t high = sections->high[p];
    bool whole = low == 0 && high == stowi_place_footprint(&model->problem->buffers.data[buffer]);
    unit = whole ? unit : gcd(gcd(unit, low), high);
  }
  return unit;
}

static uint64_t find_unit(const stowi_place_model* model) {
  const stow_problem* problem = model->problem;
  uint64_t unit = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* buffer = &problem->buffers.data[i];
    unit = gcd(unit, round_up(stowi_place_footprint(buffer), model->grain));
    unit = stowi_place_is_fixed(buffer) ? gcd(unit, buffer->fixed_offset) : unit;
    unit = model->has_windows ? divide_windows(model, i, unit) : unit;
  }
  for (uint64_t before = 0; before != unit;) {
    before = unit;
    for (size_t i = 0; i < problem->buffers.count; ++i) {
      const stowi_place_buffer* buffer = &problem->buffers.data[i];
      uint64_t alignment = stowi_place_is_fixed(buffer) ? 1 : buffer->alignment;
      unit = unit % alignment != 0 ? gcd(unit, alignment) : unit;
    }
  }
  return unit > 0 ? unit : 1;
}

// ---------------------------------------------------------------------------------------------
// Buffers

typedef struct birth {
  uint32_t section;
  uint32_t buffer;
} birth;

static int earlier_first(const void* a, const void* b, const void* context) {
  const birth* x = (const birth*)a;
  const birth* y = (const birth*)b;
  (void)context;
  if (x->section != y->section) {
    return x->section < y->section ? -1 : 1;
  }
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static stow_status number_buffers(stowi_place_model* model) {
  birth* births = STOWI_ARRAY(model->allocator, birth, model->count);
  if (births == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (uint32_t i = 0; i < model->count; ++i) {
    births[i] = (birth){model->sections.begin[stowi_place_piece_first(&model->sections, i)], i};
  }
  stow_status status =
      stowi_sort(births, model->count, sizeof(birth), earlier_first, NULL, model->allocator);
  uint32_t section = 0;
  for (uint32_t i = 0; status == STOW_OK && i < model->count; ++i) {
    model->buffer[i] = births[i].buffer;
    for (; section <= births[i].section; ++section) {
      model->first_of[section] = i;
    }
  }
  for (; section <= model->section_count; ++section) {
    model->first_of[section] = model->count;
  }
  STOWI_ARRAY_FREE(model->allocator, births, model->count);
  return status;
}

static void fill_pieces(stowi_place_model* model, uint32_t i, const stowi_place_buffer* buffer) {
  const stowi_place_sections* sections = &model->sections;
  uint32_t from = stowi_place_piece_first(sections, model->buffer[i]);
  uint32_t end = stowi_place_piece_end(sections, model->buffer[i]);
  stowi_place_model_piece* piece = &model->pieces[model->first_piece[i]];
  for (uint32_t p = from; p < end; ++p, ++piece) {
    uint64_t low = stowi_place_piece_low(sections, p);
    uint64_t high = stowi_place_piece_high(sections, p, buffer);
    bool whole = low == 0 && high == stowi_place_footprint(buffer);
    piece->begin = sections->begin[p];
    piece->end = sections->end[p];
    piece->low = (int64_t)(low / model->unit);
    piece->room = whole ? model->size[i] : (int64_t)((high - low) / model->unit);
  }
  model->first_piece[i + 1] = model->first_piece[i] + (end - from);
  model->low[i] = end - from == 1 ? piece[-1].low : STOWI_PLACE_MANY_LOWS;
}

static void fill_buffers(stowi_place_model* model) {
  const stow_problem* problem = model->problem;
  model->first_piece[0] = 0;
  for (uint32_t i = 0; i < model->count; ++i) {
    const stowi_place_buffer* buffer = &problem->buffers.data[model->buffer[i]];
    uint64_t padded = round_up(stowi_place_footprint(buffer), model->grain);
    bool aligned = stowi_place_is_fixed(buffer) || model->unit % buffer->alignment == 0;
    model->size[i] = (int64_t)(padded / model->unit);
    model->padding[i] = (int64_t)(padded - stowi_place_footprint(buffer));
    model->alignment[i] = aligned ? 1 : (int64_t)(buffer->alignment / model->unit);
    model->pin[i] = stowi_place_is_fixed(buffer) ? (int64_t)(buffer->fixed_offset / model->unit)
                                                 : STOWI_PLACE_NO_PIN;
    model->width[i] = buffer->end - buffer->begin;
    fill_pieces(model, i, buffer);
    if (model->padding[i] > model->most_padding) {
      model->most_padding = model->padding[i];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Overlapping lifetimes

static void put_in(uint64_t* set, uint32_t buffer) {
  set[buffer / 64] |= UINT64_C(1) << (buffer % 64);
}

// A buffer that overlaps a whole buffer in time is live when that is born, or is born during its
// lifetime, since lifetimes are intervals. With windows a later piece can begin meanwhile, so every
// section is checked.
static void fill_neighbours(stowi_place_model* model, uint32_t i) {
  uint64_t* set = stowi_place_model_neighbours(model, i);
  for (uint32_t p = model->first_piece[i]; p < model->first_piece[i + 1]; ++p) {
    const stowi_place_model_piece* piece = &model->pieces[p];
    uint32_t end = model->has_windows ? piece->end : piece->begin + 1;
    for (uint32_t s = piece->begin; s < end; ++s) {
      const uint64_t* members = stowi_place_model_members(model, s);
      for (uint32_t w = model->first_word[s]; w < stowi_place_model_end_word(model, s); ++w) {
        set[w] |= members[w];
      }
    }
    for (uint32_t j = model->first_of[piece->begin];
         !model->has_windows && j < model->first_of[piece->end]; ++j) {
      put_in(set, j);
    }
  }
  set[i / 64] &= ~(UINT64_C(1) << (i % 64));
  for (uint32_t w = 0; w < model->words; ++w) {
    model->pair_count += stowi_bit_count(set[w]);
  }
}

static void fill_spanning(stowi_place_model* model, uint32_t block) {
  uint64_t* set = stowi_place_model_spanning(model, block);
  uint32_t begin = block * STOWI_PLACE_BLOCK;
  uint32_t end = begin + STOWI_PLACE_BLOCK < model->section_count ? begin + STOWI_PLACE_BLOCK
                                                                  : model->section_count;
  for (uint32_t i = 0; i < model->first_of[begin + 1]; ++i) {
    const stowi_place_model_piece* piece = &model->pieces[model->first_piece[i]];
    if (model->low[i] != STOWI_PLACE_MANY_LOWS && piece->begin <= begin && end <= piece->end) {
      put_in(set, i);
    }
  }
}

static void fill_sets(stowi_place_model* model) {
  for (uint32_t s = 0; s < model->section_count; ++s) {
    model->first_word[s] = model->words;
  }
  for (uint32_t i = 0; i < model->count; ++i) {
    for (uint32_t p = model->first_piece[i]; p < model->first_piece[i + 1]; ++p) {
      for (uint32_t s = model->pieces[p].begin; s < model->pieces[p].end; ++s) {
        put_in(stowi_place_model_members(model, s), i);
        uint32_t word = i / 64;
        model->first_word[s] = word < model->first_word[s] ? word : model->first_word[s];
      }
    }
  }
  for (uint32_t b = 0; b < stowi_place_model_blocks(model); ++b) {
    fill_spanning(model, b);
  }
  for (uint32_t i = 0; i < model->count; ++i) {
    fill_neighbours(model, i);
  }
  model->pair_count /= 2;
}

static bool same_pieces(const stowi_place_model* model, uint32_t a, uint32_t b) {
  uint32_t count = model->first_piece[a + 1] - model->first_piece[a];
  if (count != model->first_piece[b + 1] - model->first_piece[b]) {
    return false;
  }
  uint32_t x = stowi_place_piece_first(&model->sections, model->buffer[a]);
  uint32_t y = stowi_place_piece_first(&model->sections, model->buffer[b]);
  const stowi_place_buffer* buffers = model->problem->buffers.data;
  for (uint32_t p = 0; p < count; ++p) {
    if (model->sections.begin[x + p] != model->sections.begin[y + p] ||
        model->sections.end[x + p] != model->sections.end[y + p] ||
        stowi_place_piece_low(&model->sections, x + p) !=
            stowi_place_piece_low(&model->sections, y + p) ||
        stowi_place_piece_high(&model->sections, x + p, &buffers[model->buffer[a]]) !=
            stowi_place_piece_high(&model->sections, y + p, &buffers[model->buffer[b]])) {
      return false;
    }
  }
  return true;
}

static bool are_twins(const stowi_place_model* model, uint32_t a, uint32_t b) {
  return model->size[a] == model->size[b] && model->padding[a] == model->padding[b] &&
         model->alignment[a] == model->alignment[b] && model->pin[a] == STOWI_PLACE_NO_PIN &&
         model->pin[b] == STOWI_PLACE_NO_PIN && same_pieces(model, a, b);
}

// Twins begin in the same section, so they are close to each other.
static void find_twins(stowi_place_model* model) {
  for (uint32_t s = 0; s < model->section_count; ++s) {
    for (uint32_t a = model->first_of[s]; a < model->first_of[s + 1]; ++a) {
      model->twin[a] = STOWI_PLACE_NO_TWIN;
      for (uint32_t b = a + 1; b < model->first_of[s + 1]; ++b) {
        if (are_twins(model, a, b)) {
          model->twin[a] = b;
          break;
        }
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Distances

stowi_place_meeting stowi_place_meeting_of(const stowi_place_model* model, uint32_t a, uint32_t b) {
  stowi_place_meeting m = {model, model->buffer[a], model->buffer[b], 0, 0, 0, 0};
  m.p = stowi_place_piece_first(&model->sections, m.a);
  m.q = stowi_place_piece_first(&model->sections, m.b);
  return m;
}

bool stowi_place_meeting_next(stowi_place_meeting* m) {
  const stowi_place_sections* sections = &m->model->sections;
  const stowi_place_buffer* buffers = m->model->problem->buffers.data;
  bool found = false;
  while (!found && m->p < stowi_place_piece_end(sections, m->a) &&
         m->q < stowi_place_piece_end(sections, m->b)) {
    uint32_t p = m->p;
    uint32_t q = m->q;
    found = stowi_place_together((stowi_place_life){sections->begin[p], sections->end[p]},
                                 (stowi_place_life){sections->begin[q], sections->end[q]});
    m->up = (int64_t)stowi_place_piece_high(sections, p, &buffers[m->a]) -
            (int64_t)stowi_place_piece_low(sections, q);
    m->down = (int64_t)stowi_place_piece_high(sections, q, &buffers[m->b]) -
              (int64_t)stowi_place_piece_low(sections, p);
    if (sections->end[p] < sections->end[q]) {
      m->p = p + 1;
    } else {
      m->q = q + 1;
    }
  }
  return found;
}

static int64_t walk_distance(const stowi_place_model* model, uint32_t below, uint32_t above) {
  int64_t most = INT64_MIN;
  stowi_place_meeting m = stowi_place_meeting_of(model, below, above);
  while (stowi_place_meeting_next(&m)) {
    most = m.up > most ? m.up : most;
  }
  return stowi_place_model_units(model, most);
}

int64_t stowi_place_model_distance(const stowi_place_model* model, uint32_t below, uint32_t above) {
  const stowi_place_clashes* clashes = &model->clashes;
  if (clashes->first == NULL) {
    return model->has_windows ? walk_distance(model, below, above) : model->size[below];
  }
  return stowi_place_clashes_has(clashes, below, above)
             ? stowi_place_clashes_of(clashes, below, above).end[-1].high
             : model->size[below];
}

// Ordered if 0 is forbidden and the forbidden range around it has no hole.
static bool are_ordered(const stowi_place_model* model, uint32_t a, uint32_t b) {
  stowi_place_clash_list list = stowi_place_clashes_of(&model->clashes, a, b);
  return list.end - list.begin == 1 && list.begin->low <= 0 && list.begin->high > 0;
}

// If it would take too long to decide, they count as not ordered.
static bool all_ordered(const stowi_place_model* model) {
  if (!model->has_windows || model->clashes.first == NULL) {
    return !model->has_windows;
  }
  for (uint32_t a = 0; a < model->count; ++a) {
    const uint64_t* set = &model->clashes.partners[(size_t)a * model->words];
    for (uint32_t w = 0; w < model->words; ++w) {
      for (uint64_t bits = set[w]; bits != 0; bits &= bits - 1) {
        if (!are_ordered(model, a, w * 64 + stowi_lowest_bit(bits))) {
          return false;
        }
      }
    }
  }
  return true;
}

uint64_t stowi_place_model_next_height(const stowi_place_model* model, uint64_t capacity) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < model->count; ++i) {
    uint64_t footprint = stowi_place_footprint(&model->problem->buffers.data[model->buffer[i]]);
    uint64_t above = capacity + 1 > footprint ? capacity + 1 - footprint : 0;
    uint64_t height = round_up(above, model->unit) + footprint;
    next = height < next ? height : next;
  }
  return next;
}

// ---------------------------------------------------------------------------------------------

static bool allocate(stowi_place_model* model) {
  stow_allocator allocator = model->allocator;
  size_t n = model->count;
  model->buffer = STOWI_ARRAY(allocator, uint32_t, n);
  model->size = STOWI_ARRAY(allocator, int64_t, n);
  model->padding = STOWI_ARRAY(allocator, int64_t, n);
  model->alignment = STOWI_ARRAY(allocator, int64_t, n);
  model->pin = STOWI_ARRAY(allocator, int64_t, n);
  model->width = STOWI_ARRAY(allocator, uint64_t, n);
  model->twin = STOWI_ARRAY(allocator, uint32_t, n);
  model->low = STOWI_ARRAY(allocator, int64_t, n);
  model->first_piece = STOWI_ARRAY(allocator, uint32_t, n + 1);
  model->pieces = STOWI_ARRAY(allocator, stowi_place_model_piece, model->sections.piece_count);
  model->first_of = STOWI_ARRAY(allocator, uint32_t, (size_t)model->section_count + 1);
  model->neighbours = STOWI_ARRAY_ZERO(allocator, uint64_t, n * model->words);
  model->members =
      STOWI_ARRAY_ZERO(allocator, uint64_t, (size_t)model->section_count * model->words);
  model->first_word = STOWI_ARRAY(allocator, uint32_t, model->section_count);
  model->spanning =
      STOWI_ARRAY_ZERO(allocator, uint64_t, (size_t)stowi_place_model_blocks(model) * model->words);
  return model->buffer != NULL && model->size != NULL && model->padding != NULL &&
         model->alignment != NULL && model->pin != NULL && model->width != NULL &&
         model->twin != NULL && model->low != NULL && model->first_piece != NULL &&
         model->pieces != NULL && model->first_of != NULL && model->neighbours != NULL &&
         model->members != NULL && model->first_word != NULL && model->spanning != NULL;
}

static stow_status fill(stowi_place_model* model) {
  STOW_TRY(stowi_place_sections_make(model->problem, model->allocator, &model->sections));
  model->section_count = model->sections.count;
  model->has_windows = model->sections.first != NULL;
  if (!allocate(model)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  model->grain = find_grain(model->problem);
  model->unit = find_unit(model);
  STOW_TRY(number_buffers(model));
  fill_buffers(model);
  fill_sets(model);
  find_twins(model);
  if (model->has_windows) {
    STOW_TRY(stowi_place_clashes_make(model, &model->clashes));
  }
  model->is_ordered = all_ordered(model);
  return STOW_OK;
}

stow_status stowi_place_model_create(const stow_problem* problem, stow_allocator allocator,
                                     stow_diag* diag, stowi_place_model** out_model) {
  *out_model = NULL;
  if (problem->buffers.count > STOWI_PLACE_MODEL_MAX_BUFFERS) {
    return STOW_ERR_LIMIT;
  }
  stowi_place_model* model = STOWI_NEW(allocator, stowi_place_model);
  STOW_TRY(stowi_need_memory(model != NULL, diag));
  model->problem = problem;
  model->allocator = allocator;
  model->count = (uint32_t)problem->buffers.count;
  model->words = (model->count + 63) / 64;
  if (fill(model) != STOW_OK) {
    stowi_place_model_destroy(model);
    return stowi_fail_memory(diag);
  }
  *out_model = model;
  return STOW_OK;
}

void stowi_place_model_destroy(stowi_place_model* model) {
  if (model == NULL) {
    return;
  }
  stow_allocator allocator = model->allocator;
  size_t n = model->count;
  STOWI_ARRAY_FREE(allocator, model->buffer, n);
  STOWI_ARRAY_FREE(allocator, model->size, n);
  STOWI_ARRAY_FREE(allocator, model->padding, n);
  STOWI_ARRAY_FREE(allocator, model->alignment, n);
  STOWI_ARRAY_FREE(allocator, model->pin, n);
  STOWI_ARRAY_FREE(allocator, model->width, n);
  STOWI_ARRAY_FREE(allocator, model->twin, n);
  STOWI_ARRAY_FREE(allocator, model->low, n);
  STOWI_ARRAY_FREE(allocator, model->first_piece, n + 1);
  STOWI_ARRAY_FREE(allocator, model->pieces, model->sections.piece_count);
  STOWI_ARRAY_FREE(allocator, model->first_of, (size_t)model->section_count + 1);
  STOWI_ARRAY_FREE(allocator, model->neighbours, n * model->words);
  STOWI_ARRAY_FREE(allocator, model->members, (size_t)model->section_count * model->words);
  STOWI_ARRAY_FREE(allocator, model->first_word, model->section_count);
  STOWI_ARRAY_FREE(allocator, model->spanning,
                   (size_t)stowi_place_model_blocks(model) * model->words);
  stowi_place_clashes_free(&model->clashes, model);
  stowi_place_sections_free(&model->sections, model->problem, allocator);
  STOWI_DELETE(allocator, model);
}
