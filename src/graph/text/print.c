// The canonical text of a graph: one pass over the nodes in id order. Nodes of a region come before
// their owner, whose head is written before them, so entering a region writes the head of its
// owner, and the owner itself writes only its tail. Linear in the output; open regions are tracked
// by their ids, without a stack.
#include <stowage/text.h>

#include "base/diag.h"
#include "base/text.h"
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/known.h"
#include "graph/text/number.h"

typedef struct printer {
  const stow_graph* graph;
  stow_writer writer;
  stow_region region;  // the innermost open one
  size_t depth;        // of it, and 1 more in a function
} printer;

static stow_status put_indent(const printer* p) {
  for (size_t i = 0; i <= p->depth; ++i) {
    STOW_TRY(stowi_put(p->writer, "  "));
  }
  return STOW_OK;
}

static stow_status put_comma(const printer* p, size_t index) {
  return index == 0 ? STOW_OK : stowi_put(p->writer, ", ");
}

static stow_status put_name(stow_writer writer, stow_str name) {
  return stowi_is_plain_name(name) ? stowi_put_str(writer, name) : stowi_put_quoted(writer, name);
}

// ---------------------------------------------------------------------------------------------
// Attributes

static stow_status put_list_item(const printer* p, const stow_attr* attr, size_t i) {
  switch (attr->kind) {
    case STOW_ATTR_INTS: return stowi_printf(p->writer, "%lld", (long long)attr->ints[i]);
    case STOW_ATTR_FLOATS: return stowi_graph_put_float(p->writer, attr->floats[i]);
    default: return stowi_put_quoted(p->writer, attr->strings[i]);
  }
}

static bool is_default(const stow_graph* graph, stow_op op, const stow_attr* attr) {
  const stow_ops* ops = stow_graph_ops(graph);
  size_t count = stow_ops_attr_count(ops, op);
  for (size_t i = 0; i < count; ++i) {
    bool required = false;
    const stow_attr* known = stow_ops_attr(ops, op, i, &required);
    if (!required && stowi_graph_attr_equal(known, attr)) {
      return true;
    }
  }
  return false;
}

// One entry of a list of which |shown| have been printed.
static stow_status put_attr(const printer* p, const stow_attr* attr, size_t shown) {
  STOW_TRY(stowi_put(p->writer, shown == 0 ? "{" : ", "));
  STOW_TRY(put_name(p->writer, attr->name));
  STOW_TRY(stowi_put(p->writer, " = "));
  switch (attr->kind) {
    case STOW_ATTR_INT: return stowi_printf(p->writer, "%lld", (long long)attr->i);
    case STOW_ATTR_FLOAT: return stowi_graph_put_float(p->writer, attr->f);
    case STOW_ATTR_BOOL: return stowi_put(p->writer, attr->b ? "true" : "false");
    case STOW_ATTR_STRING: return stowi_put_quoted(p->writer, attr->s);
    default: break;
  }
  STOW_TRY(stowi_put(p->writer, "["));
  for (size_t i = 0; i < attr->count; ++i) {
    STOW_TRY(put_comma(p, i));
    STOW_TRY(put_list_item(p, attr, i));
  }
  return stowi_put(p->writer, "]");
}

// Element |i| of inline data; false if the text format cannot represent it.
static bool data_element(const stowi_graph_known* data, size_t i, int64_t* out_int,
                         double* out_float) {
  bool is_float = stow_dtype_kind_of(data->dtype) == STOW_KIND_FLOAT;
  return is_float ? stowi_graph_known_double(data, i, out_float)
                  : stowi_graph_known_int(data, i, out_int);
}

static bool has_inline_data(const stow_graph* graph, stow_node node) {
  const stow_attr* attr = stow_graph_attr(graph, node, "data");
  return attr != NULL && attr->count != 0;
}

// Data that types or known values depend on and no attribute holds, if it can be written inline;
// otherwise without elements. The graph may have been made for the known data of an input even if
// the nodes that read it are gone.
static stowi_graph_known inline_data_of(const stow_graph* graph, stow_node node) {
  stowi_graph_known none = {.dtype = STOW_BOOL};
  if (!stowi_graph_is_boundary_op(stow_graph_op(graph, node)) || has_inline_data(graph, node)) {
    return none;
  }
  stow_value value = stow_graph_first_result(graph, node);
  size_t index = stowi_graph_data_index(graph, value);
  bool is_input = stow_graph_op(graph, node) == STOW_OP_INPUT;
  if (index == graph->data.count || !(is_input || graph->known.is_read.data[index])) {
    return none;
  }
  stowi_graph_known data =
      stowi_graph_known_of(graph, &graph->known, graph->value_types.data, value);
  int64_t number;
  double real;
  bool can_tell = data.count <= STOWI_GRAPH_MAX_INLINE;
  for (size_t i = 0; i < data.count && can_tell; ++i) {
    can_tell = data_element(&data, i, &number, &real);
  }
  return can_tell ? data : none;
}

static stow_status put_data(const printer* p, const stowi_graph_known* data, size_t shown) {
  STOW_TRY(stowi_put(p->writer, shown == 0 ? " {data = [" : ", data = ["));
  for (size_t i = 0; i < data->count; ++i) {
    int64_t number = 0;
    double real = 0;
    (void)data_element(data, i, &number, &real);
    STOW_TRY(put_comma(p, i));
    STOW_TRY(stow_dtype_kind_of(data->dtype) == STOW_KIND_FLOAT
                 ? stowi_graph_put_float(p->writer, real)
                 : stowi_printf(p->writer, "%lld", (long long)number));
  }
  return stowi_put(p->writer, "]");
}

static stow_status put_attrs(const printer* p, stow_node node) {
  stow_op op = stow_graph_op(p->graph, node);
  size_t count = stow_graph_attr_count(p->graph, node);
  size_t shown = 0;
  for (size_t i = 0; i < count; ++i) {
    const stow_attr* attr = stow_graph_attr_at(p->graph, node, i);
    if (!is_default(p->graph, op, attr)) {
      STOW_TRY(shown == 0 ? stowi_put(p->writer, " ") : STOW_OK);
      STOW_TRY(put_attr(p, attr, shown++));
    }
  }
  stowi_graph_known data = inline_data_of(p->graph, node);
  if (data.count != 0) {
    STOW_TRY(put_data(p, &data, shown++));
  }
  return shown == 0 ? STOW_OK : stowi_put(p->writer, "}");
}

static stow_status put_with(const printer* p, stow_node node) {
  size_t count = stowi_graph_with_count(p->graph, node);
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(i == 0 ? stowi_put(p->writer, " with ") : STOW_OK);
    STOW_TRY(put_attr(p, stowi_graph_with_at(p->graph, node, i), i));
  }
  return count == 0 ? STOW_OK : stowi_put(p->writer, "}");
}

// ---------------------------------------------------------------------------------------------
// Nodes

static stow_status put_values(const printer* p, const stow_value* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(put_comma(p, i));
    STOW_TRY(values[i] == STOW_VALUE_NONE
                 ? stowi_put(p->writer, "_")
                 : stowi_printf(p->writer, "%%%lu", (unsigned long)values[i]));
  }
  return STOW_OK;
}

static bool is_boundary(const printer* p, stow_node node) {
  return stow_graph_result_count(p->graph, node) != 0 &&
         stow_graph_is_boundary(p->graph, stow_graph_first_result(p->graph, node));
}

// `%6 "vals", %7 = `
static stow_status put_results(const printer* p, stow_node node) {
  stow_value first = stow_graph_first_result(p->graph, node);
  size_t count = stow_graph_result_count(p->graph, node);
  bool names_here = !is_boundary(p, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value value = first + (stow_value)k;
    stow_str name = stow_graph_value_name(p->graph, value);
    STOW_TRY(put_comma(p, k));
    STOW_TRY(stowi_printf(p->writer, "%%%lu", (unsigned long)value));
    if (names_here && name.size != 0) {
      STOW_TRY(stowi_put(p->writer, " "));
      STOW_TRY(stowi_put_quoted(p->writer, name));
    }
  }
  return count == 0 ? STOW_OK : stowi_put(p->writer, " = ");
}

static stow_status put_operands(const printer* p, stow_node node) {
  if (is_boundary(p, node)) {
    stow_value value = stow_graph_first_result(p->graph, node);
    STOW_TRY(stowi_put(p->writer, " "));
    return stowi_put_quoted(p->writer, stow_graph_value_name(p->graph, value));
  }
  STOW_TRY(stowi_put(p->writer, "("));
  STOW_TRY(
      put_values(p, stow_graph_operands(p->graph, node), stow_graph_operand_count(p->graph, node)));
  return stowi_put(p->writer, ")");
}

static stow_status put_head(const printer* p, stow_node node) {
  STOW_TRY(put_indent(p));
  STOW_TRY(put_results(p, node));
  STOW_TRY(stowi_put(p->writer, stow_graph_op_desc(p->graph, node)->name));
  STOW_TRY(put_operands(p, node));
  return put_attrs(p, node);
}

// `bounded `, or `bounded(0, 2) ` if only some dims are upper bounds.
static stow_status put_bounded(const printer* p, stow_value value) {
  uint32_t rank = stow_graph_type(p->graph, value)->rank;
  uint32_t axes = p->graph->values.data[value].bounded;
  if (axes == 0) {
    return STOW_OK;
  }
  if (axes == stowi_graph_axes_below(rank)) {
    return stowi_put(p->writer, "bounded ");
  }
  STOW_TRY(stowi_put(p->writer, "bounded("));
  for (uint32_t i = 0, put = 0; i < rank; ++i) {
    if ((axes >> i & 1) != 0) {
      STOW_TRY(stowi_printf(p->writer, "%s%lu", put++ == 0 ? "" : ", ", (unsigned long)i));
    }
  }
  return stowi_put(p->writer, ") ");
}

static stow_status put_tail(const printer* p, stow_node node) {
  stow_value first = stow_graph_first_result(p->graph, node);
  size_t count = stow_graph_result_count(p->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value value = first + (stow_value)k;
    STOW_TRY(stowi_put(p->writer, k == 0 ? " : " : ", "));
    STOW_TRY(put_bounded(p, value));
    STOW_TRY(
        stow_type_print(stow_graph_dims(p->graph), stow_graph_type(p->graph, value), p->writer));
  }
  STOW_TRY(put_with(p, node));
  return stowi_put(p->writer, "\n");
}

// ---------------------------------------------------------------------------------------------
// Regions

// Opens |region|, a child of the open one.
static stow_status enter_region(printer* p, stow_region region) {
  stow_node owner = stowi_graph_region_owner(p->graph, region);
  if (owner == STOW_NODE_NONE) {
    return STOW_ERR_INVALID_ARGUMENT;  // the graph is still under construction
  }
  if (stow_graph_owned_region(p->graph, owner, 0) == region) {
    STOW_TRY(put_head(p, owner));
  } else {
    STOW_TRY(stowi_put(p->writer, " else"));
  }
  p->region = region;
  ++p->depth;
  return stowi_put(p->writer, " {\n");
}

// Opens all regions around |node| that are not open yet, outermost first.
static stow_status enter_regions(printer* p, stow_node node) {
  stow_region chain[STOW_MAX_REGION_DEPTH];
  size_t count = 0;
  for (stow_region region = stow_graph_node_region(p->graph, node); region != p->region;
       region = stowi_graph_region_parent(p->graph, region)) {
    if (region == STOW_REGION_BODY || count == STOW_MAX_REGION_DEPTH) {
      return STOW_ERR_INVALID_ARGUMENT;
    }
    chain[count++] = region;
  }
  while (count > 0) {
    STOW_TRY(enter_region(p, chain[--count]));
  }
  return STOW_OK;
}

static stow_status put_yield(printer* p, stow_node node) {
  size_t count = stow_graph_operand_count(p->graph, node);
  STOW_TRY(put_indent(p));
  STOW_TRY(stowi_put(p->writer, count == 0 ? "yield" : "yield "));
  STOW_TRY(put_values(p, stow_graph_operands(p->graph, node), count));
  p->region = stowi_graph_region_parent(p->graph, p->region);
  --p->depth;
  STOW_TRY(stowi_put(p->writer, "\n"));
  STOW_TRY(put_indent(p));
  return stowi_put(p->writer, "}");
}

static stow_status put_node(printer* p, stow_node node) {
  STOW_TRY(enter_regions(p, node));
  if (stow_graph_op(p->graph, node) == STOW_OP_YIELD) {
    return put_yield(p, node);
  }
  bool has_regions = stow_graph_owned_region(p->graph, node, 0) != STOW_REGION_ID_NONE;
  if (!has_regions) {
    STOW_TRY(put_head(p, node));
  }
  return put_tail(p, node);
}

static stow_status put_ranges(const printer* p) {
  const stow_dims* dims = stow_graph_dims(p->graph);
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    stow_dim_range range;
    if (stow_dims_range(dims, i, &range)) {
      STOW_TRY(put_indent(p));
      STOW_TRY(stowi_put(p->writer, "range ?"));
      STOW_TRY(stowi_graph_put_symbol(dims, i, p->writer));
      STOW_TRY(
          stowi_printf(p->writer, " = %lld..%lld", (long long)range.min, (long long)range.max));
      STOW_TRY(range.step == 1 ? STOW_OK : stowi_printf(p->writer, "/%lld", (long long)range.step));
      STOW_TRY(stowi_put(p->writer, "\n"));
    }
  }
  return STOW_OK;
}

// `graph @name { … }`, or a function in it.
static stow_status put_graph(const stow_graph* graph, stow_writer writer, const char* what,
                             size_t depth) {
  printer p = {graph, writer, STOW_REGION_BODY, depth};
  STOW_TRY(stowi_printf(writer, "%*s%s @", 2 * (int)depth, "", what));
  STOW_TRY(put_name(writer, stow_graph_name(graph)));
  STOW_TRY(stowi_put(writer, " {\n"));
  STOW_TRY(put_ranges(&p));
  for (size_t i = 0; i < stow_graph_function_count(graph); ++i) {
    STOW_TRY(put_graph(stow_graph_function(graph, i), writer, "function", depth + 1));
  }
  uint32_t node_count = stow_graph_node_count(graph);
  for (stow_node node = 0; node < node_count; ++node) {
    STOW_TRY(put_node(&p, node));
  }
  size_t output_count = stow_graph_output_count(graph);
  STOW_TRY(put_indent(&p));
  STOW_TRY(stowi_put(writer, output_count == 0 ? "return" : "return "));
  STOW_TRY(put_values(&p, stow_graph_outputs(graph), output_count));
  return stowi_printf(writer, "\n%*s}\n", 2 * (int)depth, "");
}

stow_status stow_graph_print(const stow_graph* graph, stow_writer writer) {
  return put_graph(graph, writer, "graph", 0);
}
