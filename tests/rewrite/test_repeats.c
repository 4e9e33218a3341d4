// The rule `repeats`: what it makes, and that every bit stays. What it leaves: near_misses/.
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "support/test.h"

#define HEAD                                                                                 \
  "graph @g {\n  %0 = input \"q\" : f32[1, 6, 1, 5]\n  %1 = input \"k\" : f32[1, 2, 9, 5]\n" \
  "  %2 = unsqueeze(%1) {axes = [2]} : f32[1, 2, 1, 9, 5]\n"
#define REPEATED                                  \
  HEAD "  %3 = expand(%2) : f32[1, 2, 3, 9, 5]\n" \
       "  %4 = reshape(%3) : f32[1, 6, 9, 5]\n"
#define TURNED REPEATED "  %5 = transpose(%4) {perm = [0, 1, 3, 2]} : f32[1, 6, 5, 9]\n"
#define PRODUCT(n) "matmul(%0, %" #n ") : f32[1, 6, 1, 9]\n"

TEST(RepeatedMatricesAreReadOnce) {
  REWRITES(STOW_REWRITE_REPEATS,
           TURNED
           "  %6 = constant \"c\" {data = [0x1p-1]} : f32[]\n"
           "  %7 = mul(%5, %6) : f32[1, 6, 5, 9]\n"
           "  %8 \"scores\" = " PRODUCT(7) "  return %8\n}\n",
           "graph @g {\n"
           "  %0 = input \"q\" : f32[1, 6, 1, 5]\n"
           "  %1 = input \"k\" : f32[1, 2, 9, 5]\n"
           "  %2 = unsqueeze(%1) {axes = [2]} : f32[1, 2, 1, 9, 5]\n"
           "  %3 = constant \"c\" {data = [0x1p-1]} : f32[]\n"
           "  %4 = reshape(%2) : f32[1, 2, 9, 5]\n"
           "  %5 = transpose(%4) {perm = [0, 1, 3, 2]} : f32[1, 2, 5, 9]\n"
           "  %6 = mul(%5, %3) : f32[1, 2, 5, 9]\n"
           "  %7 = reshape(%0) : f32[1, 2, 3, 5]\n"
           "  %8 = matmul(%7, %6) : f32[1, 2, 3, 9]\n"
           "  %9 \"scores\" = reshape(%8) : f32[1, 6, 1, 9]\n"
           "  return %9\n"
           "}\n");
}

// ---------------------------------------------------------------------------------------------
// Random chains

typedef struct shape {
  unsigned batch, heads, times, rows, keys, size;
} shape;

static unsigned draw(test_random* random, unsigned most) {
  return 1 + (unsigned)test_random_below(random, most);
}

// A chain of at most four nodes between the repetition and the product.
static void make(test_random* random, char* out, size_t room) {
  static const char* const ops[] = {"neg(%%%u)", "add(%%%u, %%2)", "mul(%%2, %%%u)", "exp(%%%u)"};
  shape s = {draw(random, 2), draw(random, 3),     1 + draw(random, 4),
             draw(random, 2), 4 + draw(random, 8), 4 + draw(random, 6)};
  unsigned next = 5, heads = s.heads * s.times, y = s.keys, x = s.size;
  size_t n = (size_t)snprintf(
      out, room,
      "graph @g {\n%%0 = input \"q\" : f32[%u, %u, %u, %u]\n"
      "%%1 = input \"k\" : f32[%u, %u, 1, %u, %u]\n%%2 = input \"c\" : f32[]\n"
      "%%3 = expand(%%1) : f32[%u, %u, %u, %u, %u]\n%%4 = reshape(%%3) : f32[%u, %u, %u, %u]\n",
      s.batch, heads, s.rows, s.size, s.batch, s.heads, y, x, s.batch, s.heads, s.times, y, x,
      s.batch, heads, y, x);
  unsigned count = (unsigned)test_random_below(random, 4);
  for (unsigned i = 0; i < count || y != s.size; ++i, ++next) {
    bool turns = i >= count || test_random_below(random, 2) == 0;
    unsigned kept = y;
    n += (size_t)snprintf(out + n, room - n, "%%%u = ", next);
    n += turns ? (size_t)snprintf(out + n, room - n, "transpose(%%%u) {perm = [0, 1, 3, 2]}",
                                  next - 1)
               : (size_t)snprintf(out + n, room - n, ops[test_random_below(random, 4)], next - 1);
    y = turns ? x : y;
    x = turns ? kept : x;
    n += (size_t)snprintf(out + n, room - n, " : f32[%u, %u, %u, %u]\n", s.batch, heads, y, x);
  }
  snprintf(out + n, room - n, "%%%u = matmul(%%0, %%%u) : f32[%u, %u, %u, %u]\nreturn %%%u\n}\n",
           next, next - 1, s.batch, heads, s.rows, x, next);
}

TEST(EveryBitStays) {
  size_t fired = 0, graphs = test_is_long() ? 5000 : 300;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    test_random random = {seed};
    char text[2048];
    run_output before, after;
    make(&random, text, sizeof(text));
    stow_module* module = parse_graph(text);
    const stow_graph* graph = stow_module_graph(module, 0);
    stow_rewritten* r = rewrite_graph(graph, NULL);
    fired += stow_rewritten_count(r, STOW_REWRITE_REPEATS);
    run_first_output(graph, NULL, seed, &before);
    run_first_output(graph, r, seed, &after);
    test_check(
        before.count == after.count && memcmp(before.data, after.data, 4 * before.count) == 0,
        __FILE__, __LINE__, "seed %llu differs:\n%s", (unsigned long long)seed, text);
    stow_rewritten_destroy(r);
    stow_module_destroy(module);
  }
  printf("%zu graphs, %zu rewritten\n", graphs, fired);
  CHECK(fired * 2 > graphs);
}

TEST(EveryAllocationMayFail) {
  CHECK(rewrite_with_faults(TURNED "  %6 = " PRODUCT(5) "  return %6\n}\n", NULL) > 20);
}
