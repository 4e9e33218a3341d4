// Every meeting of two pieces forbids a range of differences; ranges that touch are merged. Most
// pairs end up with one to three. O(meetings × ranges of a pair), which are limited.
#include "place/exact/clash.h"

#include <string.h>

#include "base/diag.h"
#include "place/exact/model.h"

#define MAX_PARTNERS ((size_t)1 << 20)
#define MAX_RANGES ((size_t)1 << 21)
#define MAX_OF_PAIR 32

typedef struct pair_ranges {
  stowi_place_clash ranges[MAX_OF_PAIR];
  size_t count;
} pair_ranges;

// False if there is no room for it.
static bool add_range(pair_ranges* pair, stowi_place_clash range) {
  size_t at = 0;
  while (at < pair->count && pair->ranges[at].high < range.low) {
    ++at;
  }
  size_t end = at;
  for (; end < pair->count && pair->ranges[end].low <= range.high; ++end) {
    const stowi_place_clash* other = &pair->ranges[end];
    range.low = other->low < range.low ? other->low : range.low;
    range.high = other->high > range.high ? other->high : range.high;
  }
  if (end == at && pair->count == MAX_OF_PAIR) {
    return false;
  }
  // Replaces the |gone| ranges from |at| on by |range|.
  size_t gone = end - at;
  memmove(&pair->ranges[at + 1], &pair->ranges[at + gone],
          (pair->count - at - gone) * sizeof(range));
  pair->ranges[at] = range;
  pair->count += 1 - gone;
  return true;
}

static bool find_ranges(const stowi_place_model* model, uint32_t a, uint32_t b, pair_ranges* pair) {
  pair->count = 0;
  stowi_place_meeting m = stowi_place_meeting_of(model, a, b);
  while (stowi_place_meeting_next(&m)) {
    if (!add_range(pair, stowi_place_meeting_clash(&m))) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------

// |windowed|: initially all zeros.
static void find_partners(const stowi_place_model* model, stowi_place_clashes* clashes,
                          uint64_t* windowed) {
  for (uint32_t i = 0; i < model->count; ++i) {
    if (!stowi_place_model_is_whole(model, i)) {
      windowed[i / 64] |= UINT64_C(1) << (i % 64);
    }
  }
  size_t count = 0;
  for (uint32_t i = 0; i < model->count; ++i) {
    const uint64_t* neighbours = stowi_place_model_neighbours(model, i);
    bool all = !stowi_place_model_is_whole(model, i);
    for (uint32_t w = 0; w < model->words; ++w) {
      size_t word = (size_t)i * model->words + w;
      clashes->partners[word] = neighbours[w] & (all ? UINT64_MAX : windowed[w]);
      clashes->rank[word] = (uint32_t)count;
      count += stowi_bit_count(clashes->partners[word]);
    }
  }
  clashes->partner_count = count;
}

static bool make_sets(const stowi_place_model* model, stowi_place_clashes* clashes) {
  size_t words = (size_t)model->count * model->words;
  clashes->words = model->words;
  clashes->partners = STOWI_ARRAY(model->allocator, uint64_t, words);
  clashes->rank = STOWI_ARRAY(model->allocator, uint32_t, words);
  uint64_t* windowed = STOWI_ARRAY_ZERO(model->allocator, uint64_t, model->words);
  bool made = clashes->partners != NULL && clashes->rank != NULL && windowed != NULL;
  if (made) {
    find_partners(model, clashes, windowed);
  }
  STOWI_ARRAY_FREE(model->allocator, windowed, model->words);
  return made;
}

// |*out_fits| is false if there are too many.
static stow_status add_pair(const stowi_place_model* model, stowi_place_clashes* clashes,
                            uint32_t a, uint32_t b, bool* out_fits) {
  pair_ranges pair;
  *out_fits = clashes->ranges.count < MAX_RANGES && find_ranges(model, a, b, &pair);
  if (!*out_fits) {
    return STOW_OK;
  }
  STOW_TRY(STOWI_VEC_RESERVE(model->allocator, &clashes->ranges, pair.count));
  for (size_t i = 0; i < pair.count; ++i) {
    clashes->ranges.data[clashes->ranges.count++] = pair.ranges[i];
  }
  return STOW_OK;
}

static stow_status fill(const stowi_place_model* model, stowi_place_clashes* clashes,
                        bool* out_fits) {
  size_t partner = 0;
  *out_fits = true;
  for (uint32_t a = 0; a < model->count; ++a) {
    const uint64_t* partners = &clashes->partners[(size_t)a * model->words];
    for (uint32_t w = 0; w < model->words; ++w) {
      for (uint64_t bits = partners[w]; bits != 0 && *out_fits; bits &= bits - 1) {
        clashes->first[partner++] = (uint32_t)clashes->ranges.count;
        STOW_TRY(add_pair(model, clashes, a, w * 64 + stowi_lowest_bit(bits), out_fits));
      }
    }
  }
  clashes->first[partner] = (uint32_t)clashes->ranges.count;
  return STOW_OK;
}

static stow_status make(const stowi_place_model* model, stowi_place_clashes* clashes,
                        bool* out_fits) {
  *out_fits = false;
  if (!make_sets(model, clashes)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  if (clashes->partner_count > MAX_PARTNERS) {
    return STOW_OK;
  }
  clashes->first = STOWI_ARRAY(model->allocator, uint32_t, clashes->partner_count + 1);
  return clashes->first == NULL ? STOW_ERR_OUT_OF_MEMORY : fill(model, clashes, out_fits);
}

stow_status stowi_place_clashes_make(const stowi_place_model* model,
                                     stowi_place_clashes* out_clashes) {
  bool fits;
  memset(out_clashes, 0, sizeof(*out_clashes));
  stow_status status = make(model, out_clashes, &fits);
  if (status != STOW_OK || !fits) {
    stowi_place_clashes_free(out_clashes, model);
  }
  return status;
}

void stowi_place_clashes_free(stowi_place_clashes* clashes, const stowi_place_model* model) {
  size_t words = (size_t)model->count * model->words;
  size_t firsts = clashes->first != NULL ? clashes->partner_count + 1 : 0;
  STOWI_ARRAY_FREE(model->allocator, clashes->partners, words);
  STOWI_ARRAY_FREE(model->allocator, clashes->rank, words);
  STOWI_ARRAY_FREE(model->allocator, clashes->first, firsts);
  STOWI_VEC_FREE(model->allocator, &clashes->ranges);
  memset(clashes, 0, sizeof(*clashes));
}
