// Branches and loops.
//
// Steps of a region precede its owner's. A branch that is not taken is jumped over; what the other
// one yields is copied to the owner's results at its yield. What a loop carries lies in one place,
// the argument's: the initial value is copied there where the body begins (also where no round
// follows: that is the last moment at which it surely lives), what a round yields is copied there
// at the yield, and the owner finds it there.
//
// All yields happen at once. One that is (a view of) another argument is moved to scratch before
// the first argument is written.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "exec/run/exec.h"
#include "graph/api.h"

enum { TRIP_OPERAND = 0, CONDITION_OPERAND = 1, ITERATION_ARG = 0, CONDITION_ARG = 1 };

static bool read_bool(const stow_tensor* tensor) {
  unsigned char byte = 0;
  memcpy(&byte, tensor->data, 1);
  return byte != 0;
}

static const stow_tensor* operand_of(const stow_exec* exec, stow_node node, size_t k) {
  return stow_kernel_operand(&exec->calls.calls[node], k);
}

static bool has_room(const stow_exec* exec, stow_value value, const stow_tensor* tensor) {
  const stow_type* type = stow_graph_type(exec->graph, value);
  bool has = type->rank == tensor->rank;
  for (uint32_t i = 0; has && i < type->rank; ++i) {
    has = tensor->dims[i] <= type->dims[i];
  }
  return has;
}

// Copies elements and dims to |to|. STOW_ERR_TYPE where that has no room.
static stow_status copy(stow_exec* exec, stow_node node, const stow_tensor* source, stow_value to,
                        stow_diag* diag) {
  stow_tensor* target = &exec->calls.tensors[to];
  size_t bytes = stow_tensor_bytes(source);
  if (!has_room(exec, to, source)) {
    stow_tensor most = stowi_exec_tensor_of(stow_graph_type(exec->graph, to));
    return stowi_exec_fail(exec, node, STOW_ERR_TYPE, diag, "%s is at most %s, but would become %s",
                           stowi_exec_words_value(exec->graph, to).text,
                           stowi_exec_words_tensor(&most).text,
                           stowi_exec_words_tensor(source).text);
  }
  if (bytes != 0 && target->data != source->data) {
    memmove(target->data, source->data, bytes);
  }
  memcpy(target->dims, source->dims, sizeof(target->dims));
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Beginning

static bool goes_on(const stowi_exec_region* region) {
  return region->round < region->trip && (!region->has_condition || region->condition);
}

static void begin_loop(stow_exec* exec, stowi_exec_region* region) {
  stow_node owner = region->body.owner;
  const stow_tensor* trip = operand_of(exec, owner, TRIP_OPERAND);
  const stow_tensor* condition = operand_of(exec, owner, CONDITION_OPERAND);
  region->round = 0;
  region->trip = INT64_MAX;
  if (trip != NULL) {
    memcpy(&region->trip, trip->data, sizeof(region->trip));
  }
  region->has_condition = condition != NULL;
  region->condition = condition == NULL || read_bool(condition);
  for (size_t k = region->body.carried; k < stow_graph_result_count(exec->graph, owner); ++k) {
    stow_value result = stow_graph_first_result(exec->graph, owner) + (stow_value)k;
    exec->calls.tensors[result].dims[0] = 0;
  }
}

bool stowi_exec_region_begin(stow_exec* exec, stow_region id) {
  stowi_exec_region* region = &exec->regions[id];
  stow_node owner = stowi_graph_region_owner(exec->graph, id);
  if (!region->is_loop) {
    bool is_first = stow_graph_owned_region(exec->graph, owner, 0) == id;
    return read_bool(operand_of(exec, owner, 0)) == is_first;
  }
  begin_loop(exec, region);
  return goes_on(region);
}

// ---------------------------------------------------------------------------------------------
// Nodes

static stow_value argument_of(const stow_exec* exec, const stowi_exec_body* body, size_t i) {
  return stow_graph_first_result(exec->graph, body->args) + (stow_value)(body->carry.first_arg + i);
}

static const stow_tensor* yielded_by(const stow_exec* exec, const stowi_exec_body* body, size_t i) {
  return operand_of(exec, body->yield, body->carry.first_yield + i);
}

stow_status stowi_exec_run_args(stow_exec* exec, stow_node node, bool is_run, stow_diag* diag) {
  stowi_exec_region* region = &exec->regions[stow_graph_node_region(exec->graph, node)];
  const stow_kernel_call* call = &exec->calls.calls[node];
  if (region->round == 0) {
    const stowi_exec_body* body = &region->body;
    for (size_t i = 0; i < body->carried; ++i) {
      STOW_TRY(copy(exec, body->args, operand_of(exec, body->owner, body->carry.first_operand + i),
                    argument_of(exec, body, i), diag));
    }
  }
  if (is_run) {
    unsigned char condition = region->condition ? 1 : 0;
    memcpy(call->results[ITERATION_ARG]->data, &region->round, sizeof(region->round));
    memcpy(call->results[CONDITION_ARG]->data, &condition, sizeof(condition));
  }
  return STOW_OK;
}

// Adds what round |round| yields to the result that collects it. Elements of all rounds have the
// dims of the first one's.
static stow_status collect(stow_exec* exec, const stowi_exec_body* body, int64_t round, size_t k,
                           stow_diag* diag) {
  stow_value into = stow_graph_first_result(exec->graph, body->owner) + (stow_value)k;
  const stow_tensor* from = yielded_by(exec, body, k);
  stow_tensor* to = &exec->calls.tensors[into];
  size_t bytes = stow_tensor_bytes(from);
  size_t dims_size = from->rank * sizeof(from->dims[0]);
  if (round >= stow_graph_type(exec->graph, into)->dims[0]) {
    return stowi_exec_fail(exec, body->yield, STOW_ERR_LIMIT, diag,
                           "%s has room for %" PRId64 " rounds, but there are more",
                           stowi_exec_words_value(exec->graph, into).text,
                           stow_graph_type(exec->graph, into)->dims[0]);
  }
  if (round != 0 && dims_size != 0 && memcmp(&to->dims[1], from->dims, dims_size) != 0) {
    return stowi_exec_fail(exec, body->yield, STOW_ERR_TYPE, diag,
                           "round %" PRId64 " yields %s for %s, unlike earlier rounds", round,
                           stowi_exec_words_tensor(from).text,
                           stowi_exec_words_value(exec->graph, into).text);
  }
  if (stow_tensor_elements(from) * stow_dtype_bits(from->dtype) % 8 != 0) {
    return stowi_exec_fail(exec, body->yield, STOW_ERR_UNSUPPORTED, diag,
                           "%s collects %s, which is not a whole number of bytes",
                           stowi_exec_words_value(exec->graph, into).text,
                           stowi_exec_words_tensor(from).text);
  }
  if (bytes != 0) {
    memcpy((unsigned char*)to->data + (size_t)round * bytes, from->data, bytes);
  }
  if (dims_size != 0) {
    memcpy(&to->dims[1], from->dims, dims_size);
  }
  to->dims[0] = round + 1;
  return STOW_OK;
}

static size_t size_aside(const stow_tensor* tensor) {
  return STOWI_EXEC_DIMS_SIZE + (stow_tensor_bytes(tensor) + 63) / 64 * 64;
}

static void move_aside(stow_exec* exec, const stowi_exec_body* body) {
  unsigned char* aside = (unsigned char*)exec->calls.calls[body->yield].scratch;
  for (size_t i = 0; i < body->carried; ++i) {
    const stow_tensor* from = yielded_by(exec, body, i);
    if (!stowi_exec_body_swaps(exec->graph, body, i)) {
      continue;
    }
    memcpy(aside, from->dims, STOWI_EXEC_DIMS_SIZE);
    if (stow_tensor_bytes(from) != 0) {
      memcpy(aside + STOWI_EXEC_DIMS_SIZE, from->data, stow_tensor_bytes(from));
    }
    aside += size_aside(from);
  }
}

static stow_status yield_aside(stow_exec* exec, const stowi_exec_body* body, stow_diag* diag) {
  unsigned char* aside = (unsigned char*)exec->calls.calls[body->yield].scratch;
  for (size_t i = 0; i < body->carried; ++i) {
    if (stowi_exec_body_swaps(exec->graph, body, i)) {
      // In scratch, each value that is moved aside is its dims, then its elements.
      const stow_tensor* like = yielded_by(exec, body, i);
      stow_tensor from = {.dtype = like->dtype, .rank = like->rank};
      memcpy(from.dims, aside, STOWI_EXEC_DIMS_SIZE);
      from.data = aside + STOWI_EXEC_DIMS_SIZE;
      STOW_TRY(copy(exec, body->yield, &from, argument_of(exec, body, i), diag));
      aside += size_aside(&from);
    }
  }
  return STOW_OK;
}

static stow_status yield_loop(stow_exec* exec, stowi_exec_region* region, stow_diag* diag,
                              bool* out_again) {
  const stowi_exec_body* body = &region->body;
  size_t results = stow_graph_result_count(exec->graph, body->owner);
  region->condition = read_bool(operand_of(exec, body->yield, 0));
  for (size_t k = body->carried; k < results; ++k) {
    STOW_TRY(collect(exec, body, region->round, k, diag));
  }
  move_aside(exec, body);
  for (size_t i = 0; i < body->carried; ++i) {
    if (!stowi_exec_body_swaps(exec->graph, body, i)) {
      STOW_TRY(
          copy(exec, body->yield, yielded_by(exec, body, i), argument_of(exec, body, i), diag));
    }
  }
  STOW_TRY(yield_aside(exec, body, diag));
  ++region->round;
  *out_again = goes_on(region);
  return STOW_OK;
}

stow_status stowi_exec_run_yield(stow_exec* exec, stow_node node, stow_diag* diag,
                                 bool* out_again) {
  stow_region id = stow_graph_node_region(exec->graph, node);
  stow_node owner = stowi_graph_region_owner(exec->graph, id);
  *out_again = false;
  if (exec->regions[id].is_loop) {
    return yield_loop(exec, &exec->regions[id], diag, out_again);
  }
  for (size_t k = 0; k < stow_graph_result_count(exec->graph, owner); ++k) {
    stow_value result = stow_graph_first_result(exec->graph, owner) + (stow_value)k;
    STOW_TRY(copy(exec, node, operand_of(exec, node, k), result, diag));
  }
  return STOW_OK;
}

stow_status stowi_exec_run_owner(stow_exec* exec, stow_node node, stow_diag* diag) {
  stow_region id = stow_graph_owned_region(exec->graph, node, 0);
  if (!exec->regions[id].is_loop) {
    return STOW_OK;
  }
  const stowi_exec_body* body = &exec->regions[id].body;
  for (size_t i = 0; i < body->carried; ++i) {
    stow_value result =
        stow_graph_first_result(exec->graph, node) + (stow_value)(body->carry.first_result + i);
    STOW_TRY(copy(exec, node, &exec->calls.tensors[argument_of(exec, body, i)], result, diag));
  }
  return STOW_OK;
}
