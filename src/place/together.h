// Whether two lives share a step: the one place where strategies and bounds say what it means that
// two buffers live at the same time, and so may not share bytes.
//
// A life is an interval [begin, end), in steps or in sections (sections.h). Sweeps over time and
// searches in trees of intervals rely on that: a life that has ended never comes back. Were lives
// more than intervals (the branches of a condition never live together), the predicate would say
// so, and each of these would ask it of the pairs that they now take to live together; a comment
// there says where. The checkers (check.c, plan/check) share no code with the strategies and have
// predicates of their own.
#ifndef STOWAGE_SRC_PLACE_TOGETHER_H_
#define STOWAGE_SRC_PLACE_TOGETHER_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct stowi_place_life {
  uint64_t begin;
  uint64_t end;
} stowi_place_life;

static inline bool stowi_place_together(stowi_place_life a, stowi_place_life b) {
  return a.begin < b.end && b.begin < a.end;
}

#endif  // STOWAGE_SRC_PLACE_TOGETHER_H_
