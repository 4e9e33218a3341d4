// Several graphs in one arena: plans all graphs of a file as a set, proves that they can share the
// arena, and runs them in turn: one fills a cache, the other reads it.
//
//     plan_set generate.stow
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/stowage.h>
#include <string.h>

#define GRAPHS_MAX 8

typedef struct model {
  size_t count;
  stow_module* module;
  const stow_graph* graphs[GRAPHS_MAX];
  stow_effects* effects[GRAPHS_MAX];
  const stow_plan* plans[GRAPHS_MAX];
} model;

// An example may stop at the first error; the diagnostic describes it.
static void require(stow_status status, const stow_diag* diag) {
  if (status != STOW_OK) {
    fprintf(stderr, "plan_set: %s\n", diag->message);
    if (diag->line != 0) {
      fprintf(stderr, "  in line %u, column %u\n", (unsigned)diag->line, (unsigned)diag->column);
    }
    exit(1);
  }
}

static char* read_file(const char* path, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  size_t room = 1 << 16;
  char* text = file == NULL ? NULL : (char*)malloc(room);
  if (text == NULL) {
    fprintf(stderr, "plan_set: %s can't be read\n", path);
    exit(1);
  }
  *out_size = fread(text, 1, room, file);
  fclose(file);
  return text;
}

// Adds all graphs of the file, each with the effects of its `with` clauses, which mark state.
static model load(const char* path, stow_diag* diag) {
  model m = {0};
  size_t size;
  char* text = read_file(path, &size);
  stow_allocator heap = stow_allocator_default();
  require(stow_module_parse(text, size, path, NULL, heap, diag, &m.module), diag);
  free(text);
  size_t count = stow_module_graph_count(m.module);
  for (; m.count < count && m.count < GRAPHS_MAX; ++m.count) {
    m.graphs[m.count] = stow_module_graph(m.module, m.count);
    require(stow_effects_create(m.graphs[m.count], heap, diag, &m.effects[m.count]), diag);
  }
  return m;
}

static stow_set* plan(model* m, stow_diag* diag) {
  stow_set* set;
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  require(stow_set_create(&options, stow_allocator_default(), diag, &set), diag);
  for (size_t i = 0; i < m->count; ++i) {
    size_t index;
    require(stow_set_add(set, m->graphs[i], m->effects[i], NULL, diag, &index), diag);
  }
  require(stow_set_place(set, diag), diag);
  for (size_t i = 0; i < m->count; ++i) {
    m->plans[i] = stow_set_plan(set, i);
  }
  return set;
}

// Checks each plan alone, then all together.
static void prove(const model* m, stow_diag* diag) {
  stow_allocator heap = stow_allocator_default();
  for (size_t i = 0; i < m->count; ++i) {
    require(stow_plan_check(m->plans[i], m->graphs[i], m->effects[i], heap, diag, NULL), diag);
  }
  require(stow_set_check(m->plans, m->graphs, (const stow_effects* const*)m->effects, m->count,
                         heap, diag, NULL),
          diag);
}

static void print(const model* m, const stow_set* set) {
  for (size_t i = 0; i < m->count; ++i) {
    stow_str name = stow_graph_name(m->graphs[i]);
    printf("@%.*s alone: %" PRIu64 " bytes\n", (int)name.size, name.data, stow_set_alone(set, i));
  }
  stow_set_info info = {.struct_size = sizeof(info)};
  (void)stow_set_describe(set, &info);
  printf("all in one arena: %" PRIu64 " bytes, %zu things shared (%" PRIu64 " bytes)\n",
         info.arena_size, info.shared_count, info.shared_bytes);
}

// The elements of a value of graph |index|, in an arena over the shared memory.
static float* elements(const model* m, size_t index, const char* name, void* memory, size_t size,
                       stow_diag* diag, size_t* out_count) {
  stow_arena* arena;
  float* data;
  stow_value value = stow_graph_find(m->graphs[index], stow_str_of(name));
  require(stow_arena_create_over(m->plans[index], memory, size, NULL, stow_allocator_default(),
                                 diag, &arena),
          diag);
  require(stow_arena_f32(arena, value, diag, &data, out_count), diag);
  stow_arena_destroy(arena);  // only the handle: the memory is ours
  return data;
}

// The first graph fills a cache; the second overwrites all its activations and reads the cache.
static bool take_turns(const model* m, const stow_set* set, stow_diag* diag) {
  stow_set_info info = {.struct_size = sizeof(info)};
  require(stow_set_describe(set, &info), diag);
  size_t size = (size_t)info.arena_size;
  size_t alignment = (size_t)info.alignment;
  size_t count;
  bool right = true;
  void* memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  float* cache = elements(m, 0, "k_cache", memory, size, diag, &count);
  for (size_t i = 0; i < count; ++i) {
    cache[i] = (float)i;
  }
  float* y = elements(m, 1, "y", memory, size, diag, &count);
  memset(y, 0xff, count * sizeof(float));
  cache = elements(m, 1, "k_cache", memory, size, diag, &count);
  for (size_t i = 0; i < count; ++i) {
    right = right && (size_t)cache[i] == i;
  }
  free(memory);
  return right;
}

int main(int argc, char** argv) {
  stow_diag diag;
  stow_diag_init(&diag);
  if (argc != 2) {
    fprintf(stderr, "usage: plan_set FILE.stow\n");
    return 2;
  }
  model m = load(argv[1], &diag);
  stow_set* set = plan(&m, &diag);
  prove(&m, &diag);
  print(&m, set);
  bool right = take_turns(&m, set, &diag);
  printf("%s\n", right ? "the cache is where it was" : "the cache is lost");
  stow_set_destroy(set);
  for (size_t i = 0; i < m.count; ++i) {
    stow_effects_destroy(m.effects[i]);
  }
  stow_module_destroy(m.module);
  return right ? 0 : 1;
}
