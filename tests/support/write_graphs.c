// Writes random graphs as texts, for scripts that compare builds:
//
//     write_graphs --data FOLDER [--long]
//
// 1,000 files 0000.stow …, with --long 10,000. The same files on every machine.
#include <inttypes.h>
#include <stdio.h>
#include <stowage/text.h>

#include "support/random_graph.h"
#include "support/random_ops.h"
#include "support/test.h"

#define GRAPHS 1000
#define GRAPHS_LONG 10000
#define MAX_NODES 32

// Every other one has nodes of every op.
static stow_graph* make_graph(uint64_t seed, random_ops* ops) {
  test_random random = {seed};
  random_graph_options options =
      random_graph_everything(2 + test_random_below(&random, MAX_NODES - 1));
  options.regions = test_random_below(&random, 3) == 0;
  options.most = test_random_below(&random, 8) == 0 ? 0 : 8;
  if (seed % 2 == 0) {
    options.more = random_ops_add;
    options.user = ops;
  }
  return random_graph(&random, &options, stow_allocator_default());
}

static bool write_text(uint64_t number, const stow_string* text) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%04" PRIu64 ".stow", test_data_dir(), number);
  FILE* file = fopen(path, "wb");
  if (!test_check(file != NULL, __FILE__, __LINE__, "cannot write %s", path)) {
    return false;
  }
  bool is_written = fwrite(text->data, 1, text->size, file) == text->size;
  return CHECK(fclose(file) == 0 && is_written);
}

TEST(GraphsAreWritten) {
  REQUIRE(test_data_dir() != NULL);
  random_ops* ops = random_ops_create();
  uint64_t count = test_is_long() ? GRAPHS_LONG : GRAPHS;
  bool is_good = true;
  for (uint64_t i = 0; i < count && is_good; ++i) {
    stow_graph* graph = make_graph(i, ops);
    stow_string text;
    stow_string_init(&text, stow_allocator_default());
    is_good = CHECK(stow_graph_print(graph, stow_string_writer(&text)) == STOW_OK) &&
              write_text(i, &text);
    stow_string_free(&text);
    stow_graph_destroy(graph);
  }
  random_ops_destroy(ops);
}
