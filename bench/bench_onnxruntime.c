// What onnxruntime's memory planner allocates for a model, counted by our allocator, registered
// with its environment.
//
//     bench_onnxruntime MODEL [--level N] [--save FILE] [--input NAME TYPE DIMS FILE]…
//
// TYPE is ONNX's number of the element type, DIMS is 1x3x224x224 or - for a scalar, FILE holds the
// elements. --save writes the graph after onnxruntime's optimisations of that level.
//
// The model runs four times with the same inputs. onnxruntime traces the first run, which allocates
// tensor by tensor; later runs allocate the planned block first. The buffers of inputs and, except
// in the first run, outputs are the caller's and are not counted. Prints one line of JSON, in
// bytes:
//
// - session: held by the session itself (weights, also packed and folded ones), not part of a run
// - unplanned: the highest sum of live allocations of the first run
// - block: the planned block, which is the first allocation of the last run
// - tensors: the number of allocations of the first run, including scratch of kernels
// - rest: the number of allocations of the last run besides the block
// - peak: the highest sum of live allocations of the last run: block, scratch, and tensors that the
//   plan does not cover (data-dependent shapes, bodies of If and Loop)
// - bound: whether all outputs were the caller's, which fails if a shape changes from run to run
// - outputs: their names and shapes
//
// If the last run makes as many allocations as the first, there was no plan, and block is 0.
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <onnxruntime_c_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 256
#define MAX_DIMS 16
#define RUNS 4
#define ALIGNMENT 64

static const OrtApi* api;

static void fail(const char* what) {
  fprintf(stderr, "bench_onnxruntime: %s\n", what);
  exit(1);
}

static void require(OrtStatus* status) {
  if (status != NULL) {
    fail(api->GetErrorMessage(status));
  }
}

// Counts what is live, and the allocations since the last mark. One thread runs the session.
typedef struct counter {
  OrtAllocator allocator;  // the first member: onnxruntime hands its address back
  OrtMemoryInfo* info;
  size_t live, peak, first, count;
} counter;

static void* count_alloc(OrtAllocator* self, size_t size) {
  counter* c = (counter*)self;
  if (size == 0) {
    return NULL;
  }
  size_t padded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  char* block = aligned_alloc(ALIGNMENT, padded + ALIGNMENT);
  if (block == NULL) {
    return NULL;
  }
  memcpy(block, &size, sizeof(size));
  c->first = c->count++ == 0 ? size : c->first;
  c->live += size;
  c->peak = c->live > c->peak ? c->live : c->peak;
  return block + ALIGNMENT;
}

static void count_free(OrtAllocator* self, void* memory) {
  if (memory == NULL) {
    return;
  }
  char* block = (char*)memory - ALIGNMENT;
  size_t size;
  memcpy(&size, block, sizeof(size));
  ((counter*)self)->live -= size;
  free(block);
}

static const OrtMemoryInfo* count_info(const OrtAllocator* self) {
  return ((const counter*)self)->info;
}

static void counter_init(counter* c) {
  memset(c, 0, sizeof(*c));
  c->allocator.version = ORT_API_VERSION;
  c->allocator.Alloc = count_alloc;
  c->allocator.Reserve = count_alloc;
  c->allocator.Free = count_free;
  c->allocator.Info = count_info;
  require(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &c->info));
}

static void counter_mark(counter* c) {
  c->peak = c->live;
  c->first = c->count = 0;
}

// The values of one side of the session: names, and buffers that are the caller's.
typedef struct values {
  size_t count;
  const char* names[MAX_VALUES];
  OrtValue* tensors[MAX_VALUES];
} values;

static void* read_whole(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    fail("cannot read an input's file");
  }
  *bytes = (size_t)ftell(file);
  rewind(file);
  void* data = malloc(*bytes + 1);
  if (data == NULL || fread(data, 1, *bytes, file) != *bytes) {
    fail("cannot read an input's file");
  }
  fclose(file);
  return data;
}

static size_t parse_dims(const char* text, int64_t* dims) {
  size_t rank = 0;
  if (strcmp(text, "-") == 0) {
    return 0;
  }
  for (char* end; rank < MAX_DIMS; text = end + 1) {
    dims[rank++] = strtoll(text, &end, 10);
    if (*end != 'x') {
      return rank;
    }
  }
  fail("an input has too many dims");
  return 0;
}

static void add_input(values* inputs, char** words, const OrtMemoryInfo* info) {
  int64_t dims[MAX_DIMS];
  size_t rank = parse_dims(words[2], dims);
  size_t bytes;
  void* data = read_whole(words[3], &bytes);
  if (inputs->count == MAX_VALUES) {
    fail("there are too many inputs");
  }
  inputs->names[inputs->count] = words[0];
  require(api->CreateTensorWithDataAsOrtValue(info, data, bytes, dims, rank,
                                              (ONNXTensorElementDataType)atoi(words[1]),
                                              &inputs->tensors[inputs->count++]));
}

static OrtSession* open_session(OrtEnv* env, const char* path, int level, const char* save) {
  OrtSessionOptions* options;
  OrtSession* session;
  require(api->CreateSessionOptions(&options));
  require(api->AddSessionConfigEntry(options, "session.use_env_allocators", "1"));
  require(api->SetIntraOpNumThreads(options, 1));
  require(api->SetInterOpNumThreads(options, 1));
  require(api->SetSessionGraphOptimizationLevel(options, (GraphOptimizationLevel)level));
  if (save != NULL) {
    require(api->SetOptimizedModelFilePath(options, save));
  }
  require(api->CreateSession(env, path, options, &session));
  api->ReleaseSessionOptions(options);
  return session;
}

static void name_outputs(OrtSession* session, values* outputs) {
  OrtAllocator* names;
  require(api->GetAllocatorWithDefaultOptions(&names));
  require(api->SessionGetOutputCount(session, &outputs->count));
  if (outputs->count > MAX_VALUES) {
    fail("there are too many outputs");
  }
  for (size_t k = 0; k < outputs->count; k++) {
    char* name;
    require(api->SessionGetOutputName(session, k, names, &name));
    outputs->names[k] = name;
  }
}

// The type of a tensor.
typedef struct shape {
  ONNXTensorElementDataType element;
  size_t rank, bytes;
  int64_t dims[MAX_DIMS];
} shape;

static shape shape_of(const OrtValue* tensor) {
  OrtTensorTypeAndShapeInfo* type;
  shape s;
  require(api->GetTensorTypeAndShape(tensor, &type));
  require(api->GetTensorElementType(type, &s.element));
  require(api->GetDimensionsCount(type, &s.rank));
  if (s.rank > MAX_DIMS) {
    fail("an output has too many dims");
  }
  require(api->GetDimensions(type, s.dims, s.rank));
  require(api->GetTensorSizeInBytes(tensor, &s.bytes));
  api->ReleaseTensorTypeAndShapeInfo(type);
  return s;
}

// In the place of outputs that onnxruntime allocated, some of the same types that are the caller's.
static void own_outputs(values* outputs, const OrtMemoryInfo* info) {
  for (size_t k = 0; k < outputs->count; k++) {
    shape s = shape_of(outputs->tensors[k]);
    void* data = malloc(s.bytes + 1);
    if (data == NULL) {
      fail("out of memory");
    }
    api->ReleaseValue(outputs->tensors[k]);
    require(api->CreateTensorWithDataAsOrtValue(info, data, s.bytes, s.dims, s.rank, s.element,
                                                &outputs->tensors[k]));
  }
}

static void print_shapes(const values* outputs) {
  for (size_t k = 0; k < outputs->count; k++) {
    shape s = shape_of(outputs->tensors[k]);
    printf("%s\"%s\": [", k > 0 ? ", " : "", outputs->names[k]);
    for (size_t d = 0; d < s.rank; d++) {
      printf("%s%" PRId64, d > 0 ? ", " : "", s.dims[d]);
    }
    printf("]");
  }
}

static OrtStatus* run(OrtSession* session, const values* inputs, values* outputs) {
  return api->Run(session, NULL, inputs->names, (const OrtValue* const*)inputs->tensors,
                  inputs->count, outputs->names, outputs->count, outputs->tensors);
}

// Where an output's shape changes from run to run, it cannot be bound: onnxruntime allocates it.
static bool run_bound(OrtSession* session, const values* inputs, values* outputs) {
  OrtStatus* status = run(session, inputs, outputs);
  if (status == NULL) {
    return true;
  }
  api->ReleaseStatus(status);
  return false;
}

static void measure(OrtSession* session, const values* inputs, counter* c) {
  values outputs;
  memset(&outputs, 0, sizeof(outputs));
  name_outputs(session, &outputs);
  size_t held = c->live;
  counter_mark(c);
  require(run(session, inputs, &outputs));
  size_t unplanned = c->peak - held;
  size_t tensors = c->count;
  own_outputs(&outputs, c->info);
  bool bound = true;
  for (int k = 1; k < RUNS; k++) {
    held = c->live;
    counter_mark(c);
    bound = bound && run_bound(session, inputs, &outputs);
    if (!bound) {
      memset(outputs.tensors, 0, sizeof(outputs.tensors));
      require(run(session, inputs, &outputs));
    }
  }
  size_t block = c->count > 0 && c->count < tensors ? c->first : 0;
  printf(
      "{\"session\": %zu, \"unplanned\": %zu, \"block\": %zu, \"tensors\": %zu, \"rest\": %zu, "
      "\"peak\": %zu, \"bound\": %s, \"outputs\": {",
      held, unplanned, block, tensors, c->count - (block > 0), c->peak - held,
      bound ? "true" : "false");
  print_shapes(&outputs);
  printf("}}\n");
}

int main(int argc, char** argv) {
  static counter c;
  static values inputs;
  const char* save = NULL;
  int level = ORT_ENABLE_BASIC;
  OrtEnv* env;
  api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (api == NULL || argc < 2) {
    fail(argc < 2 ? "a model is missing" : "the library is older than the header");
  }
  require(api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "bench", &env));
  counter_init(&c);
  require(api->RegisterAllocator(env, &c.allocator));
  for (int k = 2; k < argc; k++) {
    if (strcmp(argv[k], "--level") == 0 && k + 1 < argc) {
      level = atoi(argv[++k]);
    } else if (strcmp(argv[k], "--save") == 0 && k + 1 < argc) {
      save = argv[++k];
    } else if (strcmp(argv[k], "--input") == 0 && k + 4 < argc) {
      add_input(&inputs, &argv[k + 1], c.info);
      k += 4;
    } else {
      fail("unknown option");
    }
  }
  measure(open_session(env, argv[1], level, save), &inputs, &c);
  return 0;
}
