#define _DEFAULT_SOURCE  // MAP_ANONYMOUS
#include "exec/kernel_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/machine.h"
#include "exec/kernels/table.h"
#include "exec/run/prepare.h"
#include "graph/shape_cases.h"
#include "support/test.h"

#define MOST 64    // operands or results
#define MARGIN 64  // bytes before and after each buffer that nobody may touch
#define MARK 0xa5  // what they hold
#define WORKERS 3
#define MESSAGE_SIZE STOW_DIAG_MESSAGE_SIZE
#define MOST_PLACES 64
#define MOST_SCRATCH ((uint64_t)1 << 28)
#define MOST_FROZEN ((size_t)1 << 16)

// Bytes with a margin on both sides. |data| is NULL where there is nothing.
typedef struct buffer {
  unsigned char* data;
  size_t size;
} buffer;

// What a call gave.
typedef struct outcome {
  stow_status status;
  stow_tensor results[MOST];
  buffer bytes[MOST];
} outcome;

struct kernel_case {
  stow_module* module;  // NULL: the graph is owned
  stow_graph* graph;
  stow_node node;
  stow_kernel kernel;           // |run| is NULL: none
  stowi_exec_blocks* blocks;    // what it has, if it is that of `blocks`,
  stowi_exec_streams* streams;  // or of `stream`
  size_t operand_count;
  size_t result_count;
  buffer operands[MOST];  // as set
  stow_type types[MOST];  // of results, with actual dims
  outcome plain;
  uint64_t least_scratch;
  size_t in_place_count;  // ways in place
  kernel_case_place places[MOST_PLACES];
  char message[MESSAGE_SIZE];
};

#define NONE SIZE_MAX

// One way to run: copies of the operands, results of their own or over operands.
typedef struct way {
  const kernel_case* c;
  uint32_t workers;
  uint32_t variant;
  uint64_t packs;         // operands that are packed, where the kernel can
  bool is_unaligned;      // operands that need not be aligned are not; they are in |packed|, too
  uint64_t scratch;       // that was asked for, in bytes
  size_t in_place[MOST];  // by result: the operand that it is in place of; NONE
  size_t same[MOST];      // by operand: the one whose bytes it shares; NONE
  buffer operands[MOST];
  buffer results[MOST];
  buffer packed[MOST];  // by operand
  stow_tensor operand_tensors[MOST];
  stow_tensor result_tensors[MOST];
  bool is_frozen;
  char message[MESSAGE_SIZE];
} way;

static void die(const char* what, const char* detail) {
  fprintf(stderr, "%s: %s\n", what, detail);
  exit(2);
}

static buffer buffer_make(size_t size) {
  size_t whole = ((size + 63) / 64) * 64 + 2 * MARGIN;
  unsigned char* bytes = aligned_alloc(64, whole);
  if (bytes == NULL) {
    die("kernel case", "out of memory");
  }
  memset(bytes, MARK, whole);
  return (buffer){bytes + MARGIN, size};
}

static void buffer_free(buffer* b) {
  if (b->data != NULL) {
    free(b->data - MARGIN);
  }
  b->data = NULL;
}

static bool buffer_is_intact(const buffer* b) {
  for (size_t i = 1; b->data != NULL && i <= MARGIN; ++i) {
    if (b->data[-(ptrdiff_t)i] != MARK || b->data[b->size + i - 1] != MARK) {
      return false;
    }
  }
  return true;
}

static size_t type_bytes(const stow_type* type) {
  uint64_t bytes;
  if (stow_type_bytes(type, &bytes) != STOW_OK) {
    die("kernel case", "dims must be numbers");
  }
  return (size_t)bytes;
}

static stow_tensor tensor_of(const stow_type* type, void* data) {
  stow_tensor tensor = {.data = data, .dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
  return tensor;
}

static const stow_type* operand_type(const kernel_case* c, size_t k) {
  return stow_graph_type(c->graph, stow_graph_operands(c->graph, c->node)[k]);
}

static const stow_type* result_type(const kernel_case* c, size_t k) {
  return stow_graph_type(c->graph, stow_graph_first_result(c->graph, c->node) + (stow_value)k);
}

static void find_kernel(kernel_case* c) {
  stow_op op = stow_graph_op(c->graph, c->node);
  const stow_kernel* kernel = stowi_kernel_of(op);
  const stowi_kernel_blocks* data = NULL;
  stow_allocator heap = stow_allocator_default();
  if (kernel != NULL) {
    c->kernel = *kernel;
  }
  if (op == STOW_OP_BLOCKS && stow_graph_require_bound(c->graph, NULL) == STOW_OK) {
    CHECK(stowi_exec_blocks_create(c->graph, c->graph, NULL, 1, heap, NULL, &c->blocks) == STOW_OK);
    CHECK(stowi_exec_blocks_of(c->blocks, c->node, 0, NULL, &data, &c->kernel.variant_count) ==
          STOW_OK);
    memcpy(&c->kernel.user, &data, sizeof(data));
  }
  if (op == STOW_OP_STREAM) {
    const stowi_kernel_stream* stream = NULL;
    CHECK(stowi_exec_streams_create(c->graph, NULL, WORKERS, heap, NULL, &c->streams) == STOW_OK);
    CHECK(stowi_exec_streams_of(c->streams, c->node, 0, NULL, &stream) == STOW_OK);
    memcpy(&c->kernel.user, &stream, sizeof(stream));
  }
}

kernel_case* kernel_case_of(stow_graph* graph) {
  kernel_case* c = calloc(1, sizeof(*c));
  if (c == NULL) {
    die("kernel case", "out of memory");
  }
  c->graph = graph;
  c->node = stow_graph_node_count(c->graph) - 1;
  find_kernel(c);
  c->operand_count = stow_graph_operand_count(c->graph, c->node);
  c->result_count = stow_graph_result_count(c->graph, c->node);
  if (c->operand_count > MOST || c->result_count > MOST) {
    die("kernel case", "too many operands or results");
  }
  for (size_t k = 0; k < c->operand_count; ++k) {
    stow_value value = stow_graph_operands(c->graph, c->node)[k];
    if (value == STOW_VALUE_NONE) {
      continue;
    }
    c->operands[k] = buffer_make(type_bytes(stow_graph_type(c->graph, value)));
    memset(c->operands[k].data, 0, c->operands[k].size);
    const void* data = stow_graph_data(c->graph, value, NULL);
    if (data != NULL && c->operands[k].size != 0) {
      memcpy(c->operands[k].data, data, c->operands[k].size);
    }
  }
  for (size_t k = 0; k < c->result_count; ++k) {
    c->types[k] = *result_type(c, k);
  }
  return c;
}

kernel_case* kernel_case_create(const char* operands, const char* node, const char* results) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  if (module == NULL) {
    die(node, diag.message);
  }
  stow_graph* graph = stow_module_graph(module, 0);
  if (stow_graph_require_bound(graph, NULL) != STOW_OK) {
    stow_module_destroy(module);
    return NULL;
  }
  kernel_case* c = kernel_case_of(graph);
  c->module = module;
  return c;
}

void kernel_case_destroy(kernel_case* c) {
  stowi_exec_blocks_destroy(c->blocks);
  stowi_exec_streams_destroy(c->streams);
  for (size_t k = 0; k < MOST; ++k) {
    buffer_free(&c->operands[k]);
    buffer_free(&c->plain.bytes[k]);
  }
  if (c->module == NULL) {
    stow_graph_destroy(c->graph);
  }
  stow_module_destroy(c->module);
  free(c);
}

const stow_graph* kernel_case_graph(const kernel_case* c) { return c->graph; }
stow_node kernel_case_node(const kernel_case* c) { return c->node; }
void* kernel_case_operand(kernel_case* c, size_t k) { return c->operands[k].data; }
const char* kernel_case_message(const kernel_case* c) { return c->message; }
const stow_tensor* kernel_case_result(const kernel_case* c, size_t k) {
  return &c->plain.results[k];
}
size_t kernel_case_place_count(const kernel_case* c) { return c->in_place_count; }
kernel_case_place kernel_case_place_at(const kernel_case* c, size_t i) { return c->places[i]; }

void kernel_case_set(kernel_case* c, size_t k, const void* data, size_t size) {
  if (size != c->operands[k].size) {
    fprintf(stderr, "operand %zu has %zu bytes, not %zu\n", k, c->operands[k].size, size);
    exit(2);
  }
  memcpy(c->operands[k].data, data, size);
}

void kernel_case_fill(kernel_case* c, uint64_t seed) {
  test_random random = {seed};
  for (size_t k = 0; k < c->operand_count; ++k) {
    if (c->operands[k].data == NULL ||
        stow_graph_data(c->graph, stow_graph_operands(c->graph, c->node)[k], NULL) != NULL) {
      continue;
    }
    const stow_type* type = operand_type(c, k);
    stow_dtype_kind kind = stow_dtype_kind_of(type->dtype);
    size_t count = 0;
    uint64_t elements;
    count = stow_type_elements(type, &elements) == STOW_OK ? (size_t)elements : 0;
    for (size_t i = 0; i < count; ++i) {
      uint64_t bits = test_random_u64(&random);
      if (kind == STOW_KIND_COMPLEX) {
        continue;
      }
      if (kind == STOW_KIND_FLOAT) {
        float number = (float)(bits >> 40) / 4194304.0F - 2.0F;
        stowi_kernel_store_f32(type->dtype, c->operands[k].data, i, 1, &number);
      } else {
        int64_t number = (int64_t)(bits % 2);
        stowi_kernel_store_i64(type->dtype, c->operands[k].data, i, 1, &number);
      }
    }
  }
}

stow_status kernel_case_resolve(kernel_case* c) {
  static unsigned char memory[STOW_INFER_MEMORY];
  const stow_type* types[MOST] = {NULL};
  const void* data[MOST] = {NULL};
  stow_diag diag;
  if (!stowi_exec_is_bounded(c->graph, c->node)) {
    return STOW_OK;
  }
  for (size_t k = 0; k < c->operand_count; ++k) {
    if (c->operands[k].data != NULL) {
      types[k] = operand_type(c, k);
      data[k] = c->operands[k].data;
    }
  }
  stow_diag_init(&diag);
  stow_status status = stow_graph_infer_actual(c->graph, c->node, types, data, memory,
                                               sizeof(memory), &diag, c->types);
  snprintf(c->message, sizeof(c->message), "%s", diag.message);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Ways

// Small ranges from the last to the first, each by another worker.
static void split_backwards(void* pool, size_t count, size_t grain, stow_split_task task,
                            void* user) {
  (void)pool;
  (void)grain;
  size_t piece = count / 5 + 1;
  uint32_t worker = 0;
  for (size_t end = count; end > 0;) {
    size_t begin = end > piece ? end - piece : 0;
    task(user, begin, end, worker++ % WORKERS);
    end = begin;
  }
}

static size_t list_attrs(const kernel_case* c, stow_attr* out) {
  stow_op op = stow_graph_op(c->graph, c->node);
  size_t count = stow_graph_attr_count(c->graph, c->node);
  for (size_t i = 0; i < count; ++i) {
    out[i] = *stow_graph_attr_at(c->graph, c->node, i);
  }
  for (size_t i = 0; i < stow_ops_attr_count(NULL, op); ++i) {
    bool required;
    const stow_attr* attr = stow_ops_attr(NULL, op, i, &required);
    bool is_given = false;
    for (size_t j = 0; j < stow_graph_attr_count(c->graph, c->node); ++j) {
      is_given = is_given || stow_str_equal(out[j].name, attr->name);
    }
    if (!required && !is_given) {
      out[count++] = *attr;
    }
  }
  return count;
}

// The operands of the plain way are read-only, like weights in a model's file: a kernel may not
// even write what is already there. One range for all of them, so that it costs two calls; operands
// that have no room there are only compared.
static void freeze_operands(way* w, bool is_frozen) {
  static unsigned char* frozen;
  if (frozen == NULL) {
    frozen = mmap(NULL, MOST_FROZEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  size_t used = 0;
  for (size_t k = 0; k < w->c->operand_count; ++k) {
    const buffer* b = &w->operands[k];
    size_t size = (b->size + 63) / 64 * 64;
    if (b->data != NULL && size <= MOST_FROZEN - used) {
      if (is_frozen) {
        memcpy(frozen + used, b->data, b->size);
      }
      w->operand_tensors[k].data = is_frozen ? frozen + used : b->data;
      used += size;
    }
  }
  if (frozen == MAP_FAILED ||
      mprotect(frozen, MOST_FROZEN, is_frozen ? PROT_READ : PROT_READ | PROT_WRITE) != 0) {
    die("kernel case", "no memory that can be read-only");
  }
}

static way way_of(uint32_t workers, uint32_t variant) {
  way w = {.workers = workers, .variant = variant};
  for (size_t k = 0; k < MOST; ++k) {
    w.in_place[k] = NONE;
    w.same[k] = NONE;
  }
  return w;
}

// The operand whose bytes operand |k| is given.
static size_t home_of(const way* w, size_t k) { return w->same[k] == NONE ? k : w->same[k]; }

static void* operand_data(const way* w, size_t k) {
  return w->packed[k].data != NULL ? w->packed[k].data + (w->is_unaligned ? 1 : 0)
                                   : w->operands[home_of(w, k)].data;
}

static bool is_written(const way* w, size_t operand) {
  for (size_t k = 0; k < w->c->result_count; ++k) {
    if (w->in_place[k] != NONE && home_of(w, w->in_place[k]) == operand) {
      return true;
    }
  }
  return false;
}

static void way_prepare(way* w, const kernel_case* c) {
  w->c = c;
  for (size_t k = 0; k < c->operand_count; ++k) {
    if (c->operands[k].data == NULL) {
      continue;
    }
    size_t size = c->operands[k].size;
    w->operands[k] = buffer_make(size);
    memcpy(w->operands[k].data, c->operands[k].data, size);
  }
  for (size_t k = 0; k < c->operand_count; ++k) {
    if (c->operands[k].data != NULL) {
      w->operand_tensors[k] = tensor_of(operand_type(c, k), operand_data(w, k));
    }
  }
  for (size_t k = 0; k < c->result_count; ++k) {
    const stow_type* type = &c->types[k];
    if (w->in_place[k] == NONE) {
      w->results[k] = buffer_make(type_bytes(result_type(c, k)));
    }
    w->result_tensors[k] =
        tensor_of(type, w->in_place[k] == NONE ? w->results[k].data
                                               : w->operands[home_of(w, w->in_place[k])].data);
  }
}

// What the kernel is shown before there is a plan: the largest dims, and data of constants alone.
static stow_status ask_scratch(way* w, const stow_kernel* kernel, stow_kernel_call* call,
                               uint64_t* out_bytes) {
  const kernel_case* c = w->c;
  if (kernel->scratch == NULL) {
    return STOW_OK;
  }
  for (size_t k = 0; k < c->operand_count; ++k) {
    stow_value value = stow_graph_operands(c->graph, c->node)[k];
    bool is_there = value != STOW_VALUE_NONE && stow_graph_data(c->graph, value, NULL) != NULL;
    w->operand_tensors[k].data = is_there ? w->operands[k].data : NULL;
  }
  for (size_t k = 0; k < c->result_count; ++k) {
    memcpy(w->result_tensors[k].dims, result_type(c, k)->dims, sizeof(c->types[k].dims));
  }
  stow_status status = kernel->scratch(call, out_bytes);
  for (size_t k = 0; k < c->operand_count; ++k) {
    w->operand_tensors[k].data = operand_data(w, k);
  }
  for (size_t k = 0; k < c->result_count; ++k) {
    memcpy(w->result_tensors[k].dims, c->types[k].dims, sizeof(c->types[k].dims));
  }
  return status == STOW_OK && *out_bytes > MOST_SCRATCH
             ? stow_kernel_fail(call, STOW_ERR_LIMIT, "more scratch than a test has")
             : status;
}

static stow_status way_call(way* w, stow_kernel_call* call) {
  const stow_kernel* kernel = &w->c->kernel;
  if (kernel->run == NULL) {
    die("kernel case", "this op has no kernel");
  }
  call->user = kernel->user;
  uint64_t bytes = 0;
  stow_status status = ask_scratch(w, kernel, call, &bytes);
  bytes = status == STOW_OK ? bytes : 0;
  w->scratch = bytes;
  buffer scratch = buffer_make((size_t)bytes);
  call->scratch = scratch.data;
  call->scratch_size = (size_t)bytes;
  if (status == STOW_OK) {
    if (w->is_frozen) {
      freeze_operands(w, true);
    }
    status = kernel->run(call);
    if (w->is_frozen) {
      freeze_operands(w, false);
    }
  }
  test_check(buffer_is_intact(&scratch), __FILE__, __LINE__, "wrote outside its scratch");
  buffer_free(&scratch);
  for (size_t k = 0; k < w->c->operand_count; ++k) {
    const buffer* b = &w->operands[k];
    test_check(buffer_is_intact(b), __FILE__, __LINE__, "wrote around operand %zu", k);
    test_check(b->data == NULL || is_written(w, k) || b->size == 0 ||
                   memcmp(b->data, w->c->operands[k].data, b->size) == 0 ||
                   stow_graph_op_desc(w->c->graph, w->c->node)->writes_view,
               __FILE__, __LINE__, "wrote into operand %zu", k);
  }
  for (size_t k = 0; k < w->c->result_count; ++k) {
    test_check(buffer_is_intact(&w->results[k]), __FILE__, __LINE__, "wrote around result %zu", k);
  }
  return status;
}

// Bit k: operand |k| can be packed.
static uint64_t packable(const kernel_case* c, const stow_kernel_call* call) {
  const stow_kernel* kernel = &c->kernel;
  uint64_t bits = 0;
  for (size_t k = 0; kernel->pack_size != NULL && k < c->operand_count; ++k) {
    bool can = call->operands[k] != NULL && kernel->pack_size(call, k) != 0;
    bits |= (uint64_t)can << k;
  }
  return bits;
}

// Packed operands are all that the kernel sees of them.
static void pack_operands(way* w, stow_kernel_call* call) {
  const stow_kernel* kernel = &w->c->kernel;
  uint64_t bits = w->packs & packable(w->c, call);
  for (size_t k = 0; k < w->c->operand_count; ++k) {
    if ((bits >> k & 1) != 0) {
      w->packed[k] = buffer_make((size_t)kernel->pack_size(call, k));
      kernel->pack(call, k, w->packed[k].data);
      test_check(buffer_is_intact(&w->packed[k]), __FILE__, __LINE__, "packs outside operand %zu",
                 k);
    }
  }
  for (size_t k = 0; k < w->c->operand_count; ++k) {
    w->operand_tensors[k].data = operand_data(w, k);
  }
  call->packed = bits;
  w->packs = bits;
}

static void shift_operands(way* w) {
  const stow_kernel* kernel = &w->c->kernel;
  for (size_t k = 0; k < w->c->operand_count; ++k) {
    size_t size = w->operands[k].size;
    if ((kernel->unaligned >> k & 1) != 0 && w->operands[k].data != NULL) {
      w->packed[k] = buffer_make(size + 1);
      memcpy(w->packed[k].data + 1, w->operands[k].data, size);
      w->operand_tensors[k].data = operand_data(w, k);
    }
  }
}

static stow_status way_run(way* w, const kernel_case* c) {
  static stow_attr attrs[STOW_MAX_ATTRS + MOST];
  const stow_tensor* operands[MOST];
  stow_tensor* results[MOST];
  way_prepare(w, c);
  for (size_t k = 0; k < c->operand_count; ++k) {
    operands[k] = w->operands[k].data == NULL ? NULL : &w->operand_tensors[k];
  }
  for (size_t k = 0; k < c->result_count; ++k) {
    results[k] = &w->result_tensors[k];
  }
  stow_kernel_call call = {
      .user = w->c->kernel.user,
      .struct_size = sizeof(call),
      .op = stow_graph_op(c->graph, c->node),
      .operand_count = c->operand_count,
      .operands = operands,
      .result_count = c->result_count,
      .results = results,
      .attr_count = list_attrs(c, attrs),
      .attrs = attrs,
      .workers = w->workers,
      .splitter = {w->workers == 1 ? NULL : split_backwards, NULL},
      .seed = 42,
      .message = w->message,
      .message_size = sizeof(w->message),
      .variant = w->variant,
  };
  pack_operands(w, &call);
  if (w->is_unaligned) {
    shift_operands(w);
  }
  return way_call(w, &call);
}

static void way_free(way* w) {
  for (size_t k = 0; k < MOST; ++k) {
    buffer_free(&w->operands[k]);
    buffer_free(&w->results[k]);
    buffer_free(&w->packed[k]);
  }
}

// NaN is NaN: which of several goes on is the processor's choice.
static bool are_same(const stow_tensor* a, const stow_tensor* b) {
  size_t size = stow_tensor_bytes(a);
  bool same = size == 0 || memcmp(a->data, b->data, size) == 0;
  if (same || stowi_kernel_kind(a->dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(a->dtype) < 8) {
    return same;
  }
  size_t width = stowi_kernel_bits(a->dtype) / 8;
  for (size_t i = 0; i < size / width; ++i) {
    bool are_nan = isnan(stowi_kernel_float_at(a, i)) && isnan(stowi_kernel_float_at(b, i));
    if (!are_nan &&
        memcmp((const char*)a->data + i * width, (const char*)b->data + i * width, width) != 0) {
      return false;
    }
  }
  return true;
}

// Runs another way; status and bits must be the expected ones.
static void compare(kernel_case* c, const outcome* expected, way* w, const char* name) {
  stow_status status = way_run(w, c);
  test_check(status == expected->status, __FILE__, __LINE__, "%s: %s instead of %s", name,
             w->message, stow_status_text(expected->status));
  for (size_t k = 0; status == STOW_OK && k < c->result_count; ++k) {
    const stow_tensor* tensor = &w->result_tensors[k];
    const stow_tensor* wanted = &expected->results[k];
    test_check(memcmp(tensor->dims, wanted->dims, sizeof(tensor->dims)) == 0, __FILE__, __LINE__,
               "%s: result %zu has other dims", name, k);
    test_check(are_same(wanted, tensor), __FILE__, __LINE__, "%s: result %zu has other bits", name,
               k);
  }
  way_free(w);
}

// Runs with nothing over anything, alone.
static void run_plain(kernel_case* c, outcome* out, char* message) {
  way plain = way_of(1, 0);
  plain.is_frozen = !stow_graph_op_desc(c->graph, c->node)->writes_view;
  out->status = way_run(&plain, c);
  memcpy(message, plain.message, MESSAGE_SIZE);
  for (size_t k = 0; k < c->result_count; ++k) {
    out->bytes[k] = plain.results[k];
    plain.results[k] = (buffer){NULL, 0};
    out->results[k] = plain.result_tensors[k];
  }
  way_free(&plain);
}

static void outcome_free(outcome* o) {
  for (size_t k = 0; k < MOST; ++k) {
    buffer_free(&o->bytes[k]);
  }
}

static stow_in_place in_place_of(const kernel_case* c, size_t result, size_t operand) {
  return stow_graph_in_place(c->graph, c->node, result, operand);
}

// Of a call that asks for more scratch than there is the fastest alone, as others may do with less.
static uint32_t variant_count(const kernel_case* c) {
  if (c->plain.status == STOW_ERR_LIMIT) {
    return 1;
  }
  uint32_t count = c->kernel.variant_count;
  return count == 0 ? 1 : count;
}

uint64_t kernel_case_least_scratch(const kernel_case* c) { return c->least_scratch; }

// ---------------------------------------------------------------------------------------------
// Ways in place

static void note_place(kernel_case* c, size_t result, size_t operand, stow_in_place in_place) {
  if (c->in_place_count < MOST_PLACES) {
    c->places[c->in_place_count++] = (kernel_case_place){result, operand, in_place};
  }
}

// Result |r| over operand |k|, alone and divided, with every variant.
static void run_over(kernel_case* c, size_t r, size_t k) {
  note_place(c, r, k, in_place_of(c, r, k));
  for (uint32_t i = 0; i < 2 * variant_count(c); ++i) {
    char name[128];
    way in_place = way_of(i % 2 == 0 ? 1 : WORKERS, i / 2);
    snprintf(name, sizeof(name), "result %zu over operand %zu, %u workers, variant %u", r, k,
             in_place.workers, in_place.variant);
    in_place.in_place[r] = k;
    compare(c, &c->plain, &in_place, name);
  }
}

// Every result over an operand of its own, as far as they go, beginning with operand |first|.
static void run_all_over(kernel_case* c, size_t first) {
  bool is_taken[MOST] = {false};
  size_t count = 0;
  way all = way_of(1, 0);
  for (size_t r = 0; r < c->result_count; ++r) {
    for (size_t i = 0; i < c->operand_count && all.in_place[r] == NONE; ++i) {
      size_t k = (first + i) % c->operand_count;
      if (!is_taken[k] && in_place_of(c, r, k) != STOW_IN_PLACE_NEVER) {
        all.in_place[r] = k;
        is_taken[k] = true;
        ++count;
      }
    }
  }
  if (count > 1) {
    compare(c, &c->plain, &all, "all results in place");
  }
}

// Operand |j| is the very same bytes as |k|, with the same elements, which a result may be written
// over: the case is another one then.
static void run_same(kernel_case* c, size_t r, size_t k, size_t j) {
  char message[MESSAGE_SIZE];
  unsigned char* own = c->operands[j].data;
  outcome expected = {0};
  c->operands[j].data = c->operands[k].data;
  run_plain(c, &expected, message);
  for (uint32_t workers = 1; workers <= WORKERS; workers += WORKERS - 1) {
    char name[128];
    snprintf(name, sizeof(name), "result %zu over operands %zu and %zu, %u workers", r, k, j,
             workers);
    way in_place = way_of(workers, 0);
    in_place.in_place[r] = k;
    in_place.same[j] = k;
    compare(c, &expected, &in_place, name);
  }
  outcome_free(&expected);
  c->operands[j].data = own;
}

static bool may_be_same(const kernel_case* c, size_t r, size_t k, size_t j) {
  return j != k && in_place_of(c, r, k) == STOW_IN_PLACE_INDEX &&
         in_place_of(c, r, j) == STOW_IN_PLACE_INDEX &&
         stow_type_equal(operand_type(c, k), operand_type(c, j));
}

static void run_in_place(kernel_case* c) {
  c->in_place_count = 0;
  for (size_t r = 0; r < c->result_count; ++r) {
    for (size_t k = 0; k < c->operand_count; ++k) {
      if (in_place_of(c, r, k) == STOW_IN_PLACE_NEVER) {
        continue;
      }
      run_over(c, r, k);
      for (size_t j = 0; j < c->operand_count; ++j) {
        if (may_be_same(c, r, k, j)) {
          run_same(c, r, k, j);
        }
      }
    }
  }
  for (size_t first = 0; c->in_place_count > 1 && first < c->operand_count; ++first) {
    run_all_over(c, first);
  }
}

// Every variant, alone and divided: the same bits, and no more scratch than the one before. With
// operands that are packed too. Returns those that could be.
static uint64_t run_variants(kernel_case* c, uint32_t workers, uint64_t packs) {
  uint64_t before = UINT64_MAX;
  uint64_t packed = 0;
  for (uint32_t variant = 0; variant < variant_count(c); ++variant) {
    char name[96];
    way w = way_of(workers, variant);
    w.packs = packs;
    snprintf(name, sizeof(name), "variant %u, %u workers, packing %llx", variant, workers,
             (unsigned long long)packs);
    compare(c, &c->plain, &w, name);
    test_check(w.scratch <= before, __FILE__, __LINE__, "%s needs %llu bytes, %llu before", name,
               (unsigned long long)w.scratch, (unsigned long long)before);
    before = w.scratch;
    packed = w.packs;
    if (packs == 0) {
      c->least_scratch = w.scratch;
    }
  }
  return packed;
}

static void run_packed(kernel_case* c) {
  uint64_t all = c->plain.status == STOW_OK ? run_variants(c, 1, UINT64_MAX) : 0;
  if (all != 0) {
    run_variants(c, WORKERS, all);
  }
  for (size_t k = 0; k < c->operand_count && (all & (all - 1)) != 0; ++k) {
    if ((all >> k & 1) != 0) {
      run_variants(c, 1, UINT64_C(1) << k);
    }
  }
}

static void run_unaligned(kernel_case* c) {
  if (c->kernel.unaligned != 0) {
    way w = way_of(1, 0);
    w.is_unaligned = true;
    compare(c, &c->plain, &w, "unaligned operands");
  }
}

// As on machines that have less than this one.
static void run_machines(kernel_case* c) {
  for (int machine = (int)stowi_kernel_machine_is() - 1; machine >= 0; --machine) {
    way w = way_of(1, 0);
    char name[32];
    snprintf(name, sizeof(name), "machine %d", machine);
    stowi_kernel_machine_limit((stowi_kernel_machine)machine);
    compare(c, &c->plain, &w, name);
    if (variant_count(c) > 1) {
      w = way_of(1, variant_count(c) - 1);
      compare(c, &c->plain, &w, name);
    }
    stowi_kernel_machine_limit(STOWI_KERNEL_MACHINE_VNNI);
  }
}

stow_status kernel_case_run(kernel_case* c) {
  outcome_free(&c->plain);
  run_plain(c, &c->plain, c->message);
  run_machines(c);
  run_variants(c, WORKERS, 0);
  run_variants(c, 1, 0);
  run_packed(c);
  run_unaligned(c);
  run_in_place(c);
  return c->plain.status;
}

static double number_at(const stow_tensor* tensor, size_t i) {
  return stowi_kernel_kind(tensor->dtype) == STOW_KIND_FLOAT
             ? stowi_kernel_float_at(tensor, i)
             : (double)stowi_kernel_int_at(tensor, i);
}

static bool is_close(double actual, double expected, double tolerance) {
  if (isnan(expected) || isinf(expected)) {
    return isnan(expected) ? isnan(actual) : actual == expected;
  }
  return fabs(actual - expected) <= tolerance * (1 + fabs(expected));
}

void kernel_case_gives(kernel_case* c, size_t k, const double* expected, size_t count,
                       double tolerance, const char* file, int line) {
  stow_status status = kernel_case_run(c);
  if (!test_check(status == STOW_OK, file, line, "%s: %s", stow_status_text(status), c->message)) {
    return;
  }
  size_t elements = stow_tensor_elements(&c->plain.results[k]);
  if (!test_check_u64(elements, count, file, line, "elements")) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    double actual = number_at(&c->plain.results[k], i);
    if (!test_check(is_close(actual, expected[i], tolerance), file, line,
                    "element %zu is %.9g, not %.9g", i, actual, expected[i])) {
      return;
    }
  }
}
