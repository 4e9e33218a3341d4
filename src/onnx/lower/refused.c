// Ops that are known, and known to need what the core does not have: sequences, optionals, maps,
// strings, other languages' code. Each has a reason; without a row it would be an unknown op.
#include "base/diag.h"
#include "onnx/lower/rows.h"

static stow_status refuse_sequence(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "sequences are not supported");
}

static stow_status refuse_optional(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "optionals are not supported");
}

// Operands are tensors here: what makes or is an optional has been refused before. A tensor has its
// element, and is it; where the operand is left off there is none.
static stow_status lower_get_element(stowi_onnx_lowering* l) {
  stow_value value = stowi_onnx_lower_operand(l, 0);
  return value == STOW_VALUE_NONE ? refuse_optional(l) : stowi_onnx_lower_alias(l, 0, value);
}

static stow_status lower_has_element(stowi_onnx_lowering* l) {
  const unsigned char truth = stowi_onnx_lower_operand(l, 0) != STOW_VALUE_NONE;
  stow_type type = stow_type_make(STOW_BOOL, 0, NULL);
  stow_value value;
  STOW_TRY(stowi_onnx_lower_constant(l, &type, &truth, 1, &value));
  return stowi_onnx_lower_alias(l, 0, value);
}

static stow_status refuse_string(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "strings are not supported");
}

static stow_status refuse_map(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "maps are not supported");
}

static stow_status refuse_gradient(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "gradients of a graph are not supported");
}

static stow_status refuse_aten(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "PyTorch's own operations are not supported");
}

static stow_status refuse_search(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(
      l, "searches that hold their decoder as a subgraph are not supported");
}

#define REFUSED(from, text, function) \
  { .domain = (from), .name = (text), .since = 1, .op = STOW_OP_NONE, .lower = (function) }

static const stowi_onnx_lower_row rows[] = {
    REFUSED("", "ConcatFromSequence", refuse_sequence),
    REFUSED("", "SequenceAt", refuse_sequence),
    REFUSED("", "SequenceConstruct", refuse_sequence),
    REFUSED("", "SequenceEmpty", refuse_sequence),
    REFUSED("", "SequenceErase", refuse_sequence),
    REFUSED("", "SequenceInsert", refuse_sequence),
    REFUSED("", "SequenceLength", refuse_sequence),
    REFUSED("", "SequenceMap", refuse_sequence),
    REFUSED("", "SplitToSequence", refuse_sequence),
    REFUSED("", "Optional", refuse_optional),
    REFUSED("", "OptionalGetElement", lower_get_element),
    REFUSED("", "OptionalHasElement", lower_has_element),
    REFUSED("", "RegexFullMatch", refuse_string),
    REFUSED("", "StringConcat", refuse_string),
    REFUSED("", "StringNormalizer", refuse_string),
    REFUSED("", "StringSplit", refuse_string),
    REFUSED(ML, "CastMap", refuse_map),
    REFUSED(ML, "CategoryMapper", refuse_string),
    REFUSED(ML, "DictVectorizer", refuse_map),
    REFUSED(ML, "ZipMap", refuse_map),
    REFUSED(TRAINING, "Gradient", refuse_gradient),
    REFUSED("", "ATen", refuse_aten),
    REFUSED("org.pytorch.aten", "ATen", refuse_aten),
    REFUSED(MICROSOFT, "BeamSearch", refuse_search),
    REFUSED(MICROSOFT, "GreedySearch", refuse_search),
    REFUSED(MICROSOFT, "Sampling", refuse_search),
    REFUSED(MICROSOFT, "WhisperBeamSearch", refuse_search),
};

const stowi_onnx_lower_table stowi_onnx_lower_refused_table = {LIST(rows)};
