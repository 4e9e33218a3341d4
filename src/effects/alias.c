// Gives an output an input's bytes: this keeps a model's key and value caches in place from one run
// to the next. It is a combination of existing effects: the input has room for the output, dies at
// its last read, and may be overwritten by the op that makes the output. What does not depend on
// the order is checked here; lifetimes and the plan checker prove the rest.
#include "base/diag.h"
#include "effects/effects.h"
#include "graph/api.h"

typedef struct pair {
  stow_effects* effects;
  const stow_graph* graph;
  stow_value output, input;
  stow_diag* diag;
} pair;

static stow_status refuse(const pair* p, const char* reason, stow_node node) {
  return stowi_fail(p->diag, STOW_ERR_CONFLICT, "%s cannot take the bytes of %s: %s%s%s",
                    stowi_graph_describe_value(p->graph, p->output).text,
                    stowi_graph_describe_value(p->graph, p->input).text,
                    node == STOW_NODE_NONE ? "" : stowi_graph_describe_node(p->graph, node).text,
                    node == STOW_NODE_NONE ? "" : " ", reason);
}

// The value that |value| is a view of according to the op table; sets |*out_moved| if the view does
// not begin at its first byte.
static stow_value view_root(const stow_graph* graph, stow_value value, bool* out_moved) {
  for (;;) {
    stow_node node = stow_graph_producer(graph, value);
    size_t k = value - stow_graph_first_result(graph, node);
    stow_view view;
    if (!stow_graph_view(graph, node, k, &view)) {
      return value;
    }
    *out_moved = *out_moved || view.element_offset != 0;
    value = stow_graph_operands(graph, node)[view.operand];
  }
}

// The first node from |first| on that reads the input's bytes, except through |operand| of |first|.
static stow_node later_reader(const pair* p, stow_node first, size_t operand) {
  for (stow_node node = first; node < stow_graph_node_count(p->graph); ++node) {
    const stow_value* operands = stow_graph_operands(p->graph, node);
    for (size_t k = 0; k < stow_graph_operand_count(p->graph, node); ++k) {
      bool moved = false;
      bool is_the_one = node == first && k == operand;
      if (!is_the_one && operands[k] != STOW_VALUE_NONE &&
          view_root(p->graph, operands[k], &moved) == p->input) {
        return node;
      }
    }
  }
  return STOW_NODE_NONE;
}

static stow_status check_ends(const pair* p) {
  if (p->output >= stow_graph_value_count(p->graph) ||
      p->input >= stow_graph_value_count(p->graph)) {
    return stowi_fail(p->diag, STOW_ERR_INVALID_ARGUMENT, "the graph has no such value");
  }
  if (!stowi_bits_has(&p->effects->outputs, p->output)) {
    return refuse(p, "it is not an output", STOW_NODE_NONE);
  }
  if (!stowi_effects_is_input(p->graph, p->input)) {
    return refuse(p, "the latter is not an input", STOW_NODE_NONE);
  }
  if (stow_graph_type(p->graph, p->output)->dtype != stow_graph_type(p->graph, p->input)->dtype) {
    return refuse(p, "their element types differ", STOW_NODE_NONE);
  }
  return STOW_OK;
}

// The index of the operand of |node| that is the input, or SIZE_MAX.
static size_t find_operand(const pair* p, stow_node node) {
  const stow_value* operands = stow_graph_operands(p->graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(p->graph, node); ++k) {
    if (operands[k] == p->input) {
      return k;
    }
  }
  return SIZE_MAX;
}

// Whether |node|, which computes |made| from the input as its |operand|, can write it in place.
static stow_status check_maker(const pair* p, stow_node node, stow_value made, size_t operand) {
  size_t k = made - stow_graph_first_result(p->graph, node);
  if (stowi_graph_in_place_storage(p->graph, node, k, operand) == STOW_IN_PLACE_NEVER) {
    return refuse(p, "makes it and cannot work in place", node);
  }
  if (stowi_effects_is_forbidden(p->effects, node, k, operand)) {
    return refuse(p, "makes it, and effects forbid it to work in place", node);
  }
  if (stowi_bits_has(&p->effects->outputs, p->input)) {
    return refuse(p, "the input is also an output", STOW_NODE_NONE);
  }
  stow_node reader = later_reader(p, node, operand);
  return reader == STOW_NODE_NONE ? STOW_OK
                                  : refuse(p, "reads the input after it is overwritten", reader);
}

static stow_status measure(const pair* p, stow_value made, uint64_t* in, uint64_t* out) {
  if (stow_type_bytes(stow_graph_type(p->graph, p->input), in) != STOW_OK ||
      stow_type_bytes(stow_graph_type(p->graph, made), out) != STOW_OK) {
    return stowi_fail(p->diag, STOW_ERR_UNBOUND_DIM, "sizes are unknown until dims are bound");
  }
  return STOW_OK;
}

static stow_status set_room(const pair* p, stow_value made, uint64_t in, uint64_t out) {
  if (out > in) {
    return stow_effects_set_storage(p->effects, p->input, out, p->diag);
  }
  return in > out ? stow_effects_set_storage(p->effects, made, in, p->diag) : STOW_OK;
}

stow_status stow_effects_alias(stow_effects* effects, stow_value output, stow_value input,
                               stow_diag* diag) {
  pair p = {effects, effects->graph, output, input, diag};
  STOW_TRY(check_ends(&p));
  bool moved = false;
  stow_value made = view_root(p.graph, output, &moved);
  if (moved) {
    return refuse(&p, "it begins inside another value", STOW_NODE_NONE);
  }
  if (made == input) {
    return STOW_OK;  // already a view of the input
  }
  stow_node node = stow_graph_producer(p.graph, made);
  size_t operand = find_operand(&p, node);
  if (operand == SIZE_MAX) {
    return refuse(&p, "makes it and does not read the input", node);
  }
  uint64_t in = 0;
  uint64_t out = 0;
  STOW_TRY(measure(&p, made, &in, &out));
  STOW_TRY(check_maker(&p, node, made, operand));
  STOW_TRY(set_room(&p, made, in, out));
  STOW_TRY(stow_effects_set_io(effects, input, STOW_IO_CONSUME, diag));
  return stow_effects_allow_in_place(effects, node, made - stow_graph_first_result(p.graph, node),
                                     operand, diag);
}
