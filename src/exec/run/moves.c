// What happens between kernels: copies, jumps, and where loops stand. The program says which
// (exec/program/code.h).
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "exec/kernels/support/seed.h"
#include "exec/run/exec.h"

static bool read_bool(const stow_tensor* tensor) {
  unsigned char byte = 0;
  memcpy(&byte, tensor->data, 1);
  return byte != 0;
}

// ---------------------------------------------------------------------------------------------
// Copies

static bool has_room(const stow_type* type, const stow_tensor* tensor) {
  bool has = type->rank == tensor->rank;
  for (uint32_t i = 0; has && i < type->rank; ++i) {
    has = tensor->dims[i] <= type->dims[i];
  }
  return has;
}

// Copies elements and dims to |to|. STOW_ERR_TYPE where that has no room.
static stow_status copy(stow_exec* exec, stow_node node, const stow_tensor* source, stow_value to,
                        stow_diag* diag) {
  const stow_type* type = exec->program->values[to].type;
  stow_tensor* target = &exec->frame.tensors[to];
  size_t bytes = stow_tensor_bytes(source);
  if (!has_room(type, source)) {
    stow_tensor most = stowi_exec_tensor_of(type);
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

static unsigned char* aside_of(const stow_exec* exec, const stowi_exec_instruction* in) {
  return exec->base + exec->code.scratch[in->node].offset + in->at;
}

static void move_aside(stow_exec* exec, const stowi_exec_instruction* in) {
  const stow_tensor* from = &exec->frame.tensors[in->from];
  unsigned char* aside = aside_of(exec, in);
  memcpy(aside, from->dims, STOWI_EXEC_DIMS_SIZE);
  if (stow_tensor_bytes(from) != 0) {
    memcpy(aside + STOWI_EXEC_DIMS_SIZE, from->data, stow_tensor_bytes(from));
  }
}

static stow_status move_back(stow_exec* exec, const stowi_exec_instruction* in, stow_diag* diag) {
  unsigned char* aside = aside_of(exec, in);
  stow_tensor from = stowi_exec_tensor_of(exec->program->values[in->from].type);
  memcpy(from.dims, aside, STOWI_EXEC_DIMS_SIZE);
  from.data = aside + STOWI_EXEC_DIMS_SIZE;
  return copy(exec, in->node, &from, in->to, diag);
}

// Elements of all rounds have the dims of the first one's.
static stow_status append(stow_exec* exec, const stowi_exec_instruction* in, stow_diag* diag) {
  const stow_tensor* from = &exec->frame.tensors[in->from];
  const stow_type* type = exec->program->values[in->to].type;
  stow_tensor* to = &exec->frame.tensors[in->to];
  int64_t round = exec->loops[in->loop].round;
  size_t bytes = stow_tensor_bytes(from);
  size_t dims_size = from->rank * sizeof(from->dims[0]);
  if (round >= type->dims[0]) {
    return stowi_exec_fail(exec, in->node, STOW_ERR_LIMIT, diag,
                           "%s has room for %" PRId64 " rounds, but there are more",
                           stowi_exec_words_value(exec->graph, in->to).text, type->dims[0]);
  }
  if (round != 0 && dims_size != 0 && memcmp(&to->dims[1], from->dims, dims_size) != 0) {
    return stowi_exec_fail(exec, in->node, STOW_ERR_TYPE, diag,
                           "round %" PRId64 " yields %s for %s, unlike earlier rounds", round,
                           stowi_exec_words_tensor(from).text,
                           stowi_exec_words_value(exec->graph, in->to).text);
  }
  if (stow_tensor_elements(from) * stow_dtype_bits(from->dtype) % 8 != 0) {
    return stowi_exec_fail(exec, in->node, STOW_ERR_UNSUPPORTED, diag,
                           "%s collects %s, which is not a whole number of bytes",
                           stowi_exec_words_value(exec->graph, in->to).text,
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

// ---------------------------------------------------------------------------------------------
// Loops

static void enter_round(stow_exec* exec, stowi_exec_loop* loop, int64_t round) {
  loop->round = round;
  exec->rounds = stowi_kernel_seed_round(loop->around, (uint64_t)round);
}

static void begin_loop(stow_exec* exec, const stowi_exec_instruction* in) {
  stowi_exec_loop* loop = &exec->loops[in->loop];
  const stow_tensor* tensors = exec->frame.tensors;
  *loop = (stowi_exec_loop){.trip = INT64_MAX,
                            .around = exec->rounds,
                            .has_condition = in->to != STOW_VALUE_NONE,
                            .condition = in->to == STOW_VALUE_NONE || read_bool(&tensors[in->to])};
  if (in->from != STOW_VALUE_NONE) {
    memcpy(&loop->trip, tensors[in->from].data, sizeof(loop->trip));
  }
  enter_round(exec, loop, 0);
}

static bool goes_on(const stowi_exec_loop* loop) {
  return loop->round < loop->trip && (!loop->has_condition || loop->condition);
}

static void write_args(stow_exec* exec, const stowi_exec_instruction* in) {
  const stowi_exec_loop* loop = &exec->loops[in->loop];
  unsigned char condition = loop->condition ? 1 : 0;
  memcpy(exec->frame.tensors[in->to].data, &loop->round, sizeof(loop->round));
  memcpy(exec->frame.tensors[in->to + 1].data, &condition, sizeof(condition));
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_exec_move(stow_exec* exec, size_t* at, stow_diag* diag) {
  const stowi_exec_instruction* in = &exec->code.instructions[(*at)++];
  stow_tensor* tensors = exec->frame.tensors;
  stowi_exec_loop* loop = &exec->loops[in->loop];
  switch (in->action) {
    case STOWI_EXEC_COPY: return copy(exec, in->node, &tensors[in->from], in->to, diag);
    case STOWI_EXEC_ASIDE: move_aside(exec, in); return STOW_OK;
    case STOWI_EXEC_BACK: return move_back(exec, in, diag);
    case STOWI_EXEC_APPEND: return append(exec, in, diag);
    case STOWI_EXEC_CLOSE: tensors[in->to].dims[0] = loop->round; return STOW_OK;
    case STOWI_EXEC_ARGS: write_args(exec, in); return STOW_OK;
    case STOWI_EXEC_IF:
      *at = read_bool(&tensors[in->from]) == in->is_wanted ? *at : in->target;
      return STOW_OK;
    case STOWI_EXEC_BEGIN: begin_loop(exec, in); return STOW_OK;
    case STOWI_EXEC_WHILE: *at = goes_on(loop) ? *at : in->target; return STOW_OK;
    case STOWI_EXEC_COND: loop->condition = read_bool(&tensors[in->from]); return STOW_OK;
    case STOWI_EXEC_NEXT:
      enter_round(exec, loop, loop->round + 1);
      *at = in->target;
      return STOW_OK;
    case STOWI_EXEC_END: exec->rounds = loop->around; return STOW_OK;
    default: return STOW_OK;
  }
}
