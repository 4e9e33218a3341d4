// Chooses the next buffer. A buffer can be decided on if no free neighbour can still end up below
// it: then it is either at its least offset, or will be lifted by a neighbour. That holds for the
// lowest of all, and for any that is reached from another one by going down to what fits below it.
// With holes between windows, every buffer can be decided on at any time.
#include "place/exact/choose.h"

#include "base/alloc.h"
#include "base/bits.h"
#include "base/checked.h"
#include "base/hash.h"

#define FAILURES_UNIT 50  // after which a corner counts as if half as many could fill it
#define COUNT_UNIT 1024   // of how many can fill a corner,
#define COUNT_NOISE 512   // which noise makes less than one more

// ---------------------------------------------------------------------------------------------
// Ranks

bool stowi_place_ranks_init(stowi_place_ranks* ranks, const stowi_place_model* model,
                            stow_allocator allocator) {
  ranks->order = STOWI_ARRAY(allocator, uint32_t, model->count);
  ranks->key = STOWI_ARRAY(allocator, uint64_t, (size_t)model->count * 3);
  return ranks->order != NULL && ranks->key != NULL;
}

void stowi_place_ranks_free(stowi_place_ranks* ranks, const stowi_place_model* model,
                            stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, ranks->order, model->count);
  STOWI_ARRAY_FREE(allocator, ranks->key, (size_t)model->count * 3);
}

// Constant for a buffer throughout a run.
static uint64_t random_of(const stowi_place_ranks* ranks, uint32_t buffer) {
  uint64_t x = (ranks->seed + buffer) * UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  return (x ^ x >> 32) % 1024;
}

static uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t product;
  return stowi_mul_u64(a, b, &product) ? product : UINT64_MAX;
}

static int64_t fullest(const stowi_place_state* state, uint32_t buffer) {
  const stowi_place_model* model = state->model;
  int64_t most = 0;
  for (uint32_t p = model->first_piece[buffer]; p < model->first_piece[buffer + 1]; ++p) {
    for (uint32_t s = model->pieces[p].begin; s < model->pieces[p].end; ++s) {
      most = state->load[s] > most ? state->load[s] : most;
    }
  }
  return most;
}

static void make_keys(stowi_place_ranks* ranks, const stowi_place_state* state, uint32_t buffer) {
  static const uint8_t places[][3] = {{0, 1, 2}, {0, 2, 1}, {2, 0, 1}};  // of T, W, A
  const stowi_place_model* model = state->model;
  uint64_t* key = &ranks->key[(size_t)buffer * 3];
  uint64_t width = model->width[buffer];
  uint64_t keys[3] = {(uint64_t)fullest(state, buffer), width,
                      saturating_product(width, (uint64_t)model->size[buffer])};
  for (size_t i = 0; i < 3; ++i) {
    key[places[ranks->whom][i]] = keys[i];
  }
}

static bool comes_first(const stowi_place_ranks* ranks, uint32_t a, uint32_t b) {
  const uint64_t* x = &ranks->key[(size_t)a * 3];
  const uint64_t* y = &ranks->key[(size_t)b * 3];
  for (size_t i = 0; i < 3; ++i) {
    if (x[i] != y[i]) {
      return x[i] > y[i];
    }
  }
  return a < b;
}

// Heapsort: in place, and no two buffers compare equal.
static void sift(const stowi_place_ranks* ranks, uint32_t root, uint32_t count) {
  uint32_t* order = ranks->order;
  while (2 * root + 1 < count) {
    uint32_t child = 2 * root + 1;
    if (child + 1 < count && comes_first(ranks, order[child], order[child + 1])) {
      ++child;
    }
    if (!comes_first(ranks, order[root], order[child])) {
      return;
    }
    uint32_t moved = order[root];
    order[root] = order[child];
    order[child] = moved;
    root = child;
  }
}

static void sort_order(const stowi_place_ranks* ranks, uint32_t count) {
  for (uint32_t i = count / 2; i > 0; --i) {
    sift(ranks, i - 1, count);
  }
  for (uint32_t i = count; i > 1; --i) {
    uint32_t last = ranks->order[0];
    ranks->order[0] = ranks->order[i - 1];
    ranks->order[i - 1] = last;
    sift(ranks, 0, i - 1);
  }
}

// Moves each back by up to |noise| places.
static void shuffle(stowi_place_ranks* ranks, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t* key = &ranks->key[(size_t)ranks->order[i] * 3];
    uint64_t back = random_of(ranks, ranks->order[i]) * ranks->noise;
    key[0] = UINT64_MAX - (i * UINT64_C(1024) + back);  // the highest key comes first
    key[1] = key[2] = 0;
  }
  sort_order(ranks, count);
}

void stowi_place_rank(stowi_place_ranks* ranks, stowi_place_state* state, uint32_t begin,
                      uint32_t end) {
  const stowi_place_model* model = state->model;
  uint32_t count = 0;
  for (uint32_t i = model->first_of[begin]; i < model->first_of[end]; ++i) {
    if (stowi_place_exact_state_is_free(state, i)) {
      ranks->order[count++] = i;
      make_keys(ranks, state, i);
    }
  }
  sort_order(ranks, count);
  if (ranks->noise > 0) {
    shuffle(ranks, count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    stowi_place_exact_state_set_rank(state, ranks->order[i], i);
  }
}

// ---------------------------------------------------------------------------------------------
// The lowest of all

typedef struct lowest {
  uint32_t buffer;
  int64_t least;
  int64_t ceiling;  // the lowest end of any free buffer at its current least offset
} lowest;

static uint64_t bits_from_to(const stowi_place_state* state, uint32_t word, uint32_t from,
                             uint32_t to) {
  uint64_t bits = state->free[word];
  if (word == from / 64) {
    bits &= UINT64_MAX << (from % 64);
  }
  if (word == to / 64) {
    bits &= (UINT64_C(1) << (to % 64)) - 1;
  }
  return bits;
}

static lowest find_lowest(const stowi_place_state* state, uint32_t begin, uint32_t end) {
  const stowi_place_model* model = state->model;
  uint32_t from = model->first_of[begin];
  uint32_t to = model->first_of[end];
  lowest found = {UINT32_MAX, INT64_MAX, INT64_MAX};
  for (uint32_t w = from / 64; w * 64 < to; ++w) {
    for (uint64_t bits = bits_from_to(state, w, from, to); bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      int64_t least = state->least[j];
      int64_t top = least + model->size[j];
      found.ceiling = top < found.ceiling ? top : found.ceiling;
      if (least <= found.least && !state->passed[j] &&
          (least < found.least || state->rank[j] < state->rank[found.buffer])) {
        found.least = least;
        found.buffer = j;
      }
    }
  }
  return found;
}

typedef struct fullness {
  int64_t most;
  uint64_t area;
} fullness;

static fullness find_fullness(const stowi_place_state* state, uint32_t buffer, int64_t least) {
  const stowi_place_model* model = state->model;
  fullness found = {0, 0};
  uint64_t sections = 0;
  for (uint32_t p = model->first_piece[buffer]; p < model->first_piece[buffer + 1]; ++p) {
    for (uint32_t s = model->pieces[p].begin; s < model->pieces[p].end; ++s) {
      int64_t floor = state->floor[s] > least ? state->floor[s] : least;
      found.most = floor + state->load[s] > found.most ? floor + state->load[s] : found.most;
      ++sections;
    }
  }
  found.area = saturating_product(sections, (uint64_t)model->size[buffer]);
  return found;
}

// Among those at the lowest offset.
static uint32_t pick_fullest(const stowi_place_state* state, lowest at, stowi_place_where where,
                             uint32_t begin, uint32_t end) {
  const stowi_place_model* model = state->model;
  uint32_t from = model->first_of[begin];
  uint32_t to = model->first_of[end];
  uint32_t best = at.buffer;
  fullness most = {-1, 0};
  for (uint32_t w = from / 64; w * 64 < to; ++w) {
    for (uint64_t bits = bits_from_to(state, w, from, to); bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      if (state->least[j] != at.least || state->passed[j]) {
        continue;
      }
      fullness f = find_fullness(state, j, at.least);
      f.area = where == STOWI_PLACE_LOWEST_LARGEST ? f.area : model->width[j];
      bool better = f.most != most.most   ? f.most > most.most
                    : f.area != most.area ? f.area > most.area
                                          : state->rank[j] < state->rank[best];
      if (better) {
        most = f;
        best = j;
      }
    }
  }
  return best;
}

// ---------------------------------------------------------------------------------------------
// A section

typedef struct need {
  int64_t first;
  int64_t second;
} need;

static need need_of(const stowi_place_state* state, stowi_place_where where, uint32_t section) {
  int64_t floor = state->floor[section];
  int64_t slack = state->ceiling[section] - floor - state->load[section];
  switch (where) {
    case STOWI_PLACE_TIGHTEST_LOW: return (need){slack, floor};
    default: return (need){floor, slack};
  }
}

static bool is_less(need a, need b) {
  return a.first != b.first ? a.first < b.first : a.second < b.second;
}

static uint32_t find_section(const stowi_place_state* state, stowi_place_where where,
                             uint32_t begin, uint32_t end) {
  uint32_t best = UINT32_MAX;
  need least = {0, 0};
  for (uint32_t s = begin; s < end; ++s) {
    if (state->holder[s] != STOWI_PLACE_NO_HOLDER) {
      need n = need_of(state, where, s);
      if (best == UINT32_MAX || is_less(n, least)) {
        least = n;
        best = s;
      }
    }
  }
  return best;
}

static uint32_t lowest_in(const stowi_place_state* state, uint32_t section) {
  const stowi_place_model* model = state->model;
  const uint64_t* members = stowi_place_model_members(model, section);
  uint32_t end = stowi_place_model_end_word(model, section);
  uint32_t best = UINT32_MAX;
  for (uint32_t w = model->first_word[section]; w < end; ++w) {
    for (uint64_t bits = members[w] & state->free[w]; bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      if (state->passed[j]) {
        continue;
      }
      if (best == UINT32_MAX || state->least[j] < state->least[best] ||
          (state->least[j] == state->least[best] && state->rank[j] < state->rank[best])) {
        best = j;
      }
    }
  }
  return best;
}

// The neighbour that fits lowest below |buffer|, or UINT32_MAX.
static uint32_t find_below(const stowi_place_state* state, uint32_t buffer) {
  const stowi_place_model* model = state->model;
  const uint64_t* neighbours = stowi_place_model_neighbours(model, buffer);
  int64_t highest = state->least[buffer];
  uint32_t below = UINT32_MAX;
  for (uint32_t w = 0; w < model->words; ++w) {
    for (uint64_t bits = neighbours[w] & state->free[w]; bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      int64_t top = state->bound[j] + stowi_place_model_distance(model, j, buffer);
      if (top < highest || (top == highest && below == UINT32_MAX)) {
        highest = top;
        below = j;
      }
    }
  }
  return below;
}

// Goes down from |buffer| to one that nothing fits below; UINT32_MAX if one on the way was passed
// over. With holes between windows, something that begins higher may fit below: the descent ignores
// that.
static uint32_t go_down(const stowi_place_state* state, uint32_t buffer) {
  while (buffer != UINT32_MAX) {
    uint32_t below = find_below(state, buffer);
    if (below == UINT32_MAX || state->least[below] >= state->least[buffer]) {
      return buffer;
    }
    buffer = state->passed[below] ? UINT32_MAX : below;
  }
  return buffer;
}

// ---------------------------------------------------------------------------------------------
// A corner: the first or last section of a valley, a plateau of floors that is lower than both its
// neighbours. What lies there begins or ends with it: mostly there are few, and where no byte can
// be spared one of them must. Fewest first, as in any search for an exact cover; and where it
// failed often is where it is hard (the weighted degrees of Boussemart, Hemery, Lecoutre and Sais,
// 2004): without that, a mistake is only met after all that was decided since at other places,
// again and again. Failures are counted over all attempts, so later ones begin where it is hard.

typedef struct corner {
  uint32_t section;
  uint64_t count;     // of those that can lie in it, with noise
  uint64_t failures;  // of its section
} corner;

static bool can_lie_in(const stowi_place_state* state, uint32_t buffer, int64_t floor) {
  return state->least[buffer] == floor && state->bound[buffer] == floor && !state->passed[buffer];
}

static uint64_t count_corner(const stowi_place_state* state, uint32_t section) {
  const stowi_place_model* model = state->model;
  const uint64_t* members = stowi_place_model_members(model, section);
  uint32_t end = stowi_place_model_end_word(model, section);
  uint64_t count = 0;
  for (uint32_t w = model->first_word[section]; w < end; ++w) {
    for (uint64_t bits = members[w] & state->free[w]; bits != 0; bits &= bits - 1) {
      count += can_lie_in(state, w * 64 + stowi_lowest_bit(bits), state->floor[section]);
    }
  }
  return count;
}

static bool is_harder(const corner* a, const corner* b) {
  return a->count * (FAILURES_UNIT + b->failures) < b->count * (FAILURES_UNIT + a->failures);
}

static void try_corner(const stowi_place_state* state, const stowi_place_ranks* ranks,
                       uint32_t section, corner* best) {
  uint64_t count = count_corner(state, section);
  if (count > 0) {
    uint64_t noise = ranks->noise == 0
                         ? 0
                         : stowi_hash_u64(ranks->seed + state->placed_count, section) % COUNT_NOISE;
    corner c = {section, count * COUNT_UNIT + noise, state->failures[section]};
    *best = best->count == 0 || is_harder(&c, best) ? c : *best;
  }
}

static corner find_corner(const stowi_place_state* state, const stowi_place_ranks* ranks,
                          uint32_t begin, uint32_t end) {
  corner best = {0, 0, 0};
  for (uint32_t p = begin, q; p < end; p = q) {
    int64_t floor = state->floor[p];
    for (q = p + 1; q < end && state->floor[q] == floor; ++q) {
    }
    bool is_valley = state->holder[p] != STOWI_PLACE_NO_HOLDER &&
                     (p == begin || state->floor[p - 1] > floor) &&
                     (q == end || state->floor[q] > floor);
    if (is_valley) {
      try_corner(state, ranks, p, &best);
      if (q - 1 > p) {
        try_corner(state, ranks, q - 1, &best);
      }
    }
  }
  return best;
}

// With noise, the lengths of lifetimes count more or less.
static uint32_t pick_in_corner(const stowi_place_state* state, const stowi_place_ranks* ranks,
                               uint32_t section) {
  const stowi_place_model* model = state->model;
  const uint64_t* members = stowi_place_model_members(model, section);
  uint32_t end = stowi_place_model_end_word(model, section);
  uint32_t best = UINT32_MAX;
  uint64_t most = 0;
  for (uint32_t w = model->first_word[section]; w < end; ++w) {
    for (uint64_t bits = members[w] & state->free[w]; bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      if (can_lie_in(state, j, state->floor[section])) {
        const stowi_place_model_piece* piece = &model->pieces[model->first_piece[j]];
        uint64_t factor = ranks->noise == 0
                              ? COUNT_UNIT
                              : stowi_hash_u64(ranks->seed + state->placed_count, j) % COUNT_UNIT;
        uint64_t length = 1 + (uint64_t)(piece->end - piece->begin) * factor;
        if (length > most || (length == most && state->rank[j] < state->rank[best])) {
          most = length;
          best = j;
        }
      }
    }
  }
  return best;
}

bool stowi_place_choose(const stowi_place_state* state, const stowi_place_ranks* ranks,
                        stowi_place_where where, uint32_t begin, uint32_t end,
                        uint32_t* out_buffer) {
  lowest at = find_lowest(state, begin, end);
  bool dominance = (state->rules & STOWI_PLACE_RULE_DOMINANCE) != 0;
  if (at.buffer == UINT32_MAX || (dominance && at.least >= at.ceiling)) {
    return false;
  }
  *out_buffer = at.buffer;
  if (where == STOWI_PLACE_LOWEST_TIGHTEST || where == STOWI_PLACE_LOWEST_LARGEST) {
    *out_buffer = pick_fullest(state, at, where, begin, end);
  } else if (where == STOWI_PLACE_CORNER && !state->among_holes) {
    corner c = find_corner(state, ranks, begin, end);
    uint32_t chosen =
        c.count > 0 ? go_down(state, pick_in_corner(state, ranks, c.section)) : UINT32_MAX;
    *out_buffer = chosen != UINT32_MAX ? chosen : at.buffer;
  } else if (where != STOWI_PLACE_LOWEST) {
    uint32_t section = find_section(state, where, begin, end);
    uint32_t chosen = lowest_in(state, section);
    chosen = state->among_holes ? chosen : go_down(state, chosen);
    *out_buffer = chosen != UINT32_MAX ? chosen : at.buffer;
  }
  return true;
}
