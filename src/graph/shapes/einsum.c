// Shapes of einsum. An equation "bij,bjk->bik" names the dims of each operand by letters; a letter
// stands for one size. "..." stands for dims that are broadcast. Without "->" the result has the
// broadcast dims and then the letters that occur once, in code order. One pass over the equation:
// O(its length).
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

enum { LETTERS = 'z' - 'A' + 1 };

typedef struct equation {
  stow_shape_call* call;
  const char* at;
  const char* end;
  stow_dim dims[LETTERS];  // STOW_DIM_INVALID: not seen
  bool is_repeated[LETTERS];
  bool is_placed[LETTERS];  // in the result
  stow_type broadcast;      // what "..." stands for
} equation;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static void skip_spaces(equation* e) {
  while (e->at != e->end && *e->at == ' ') {
    ++e->at;
  }
}

// Skips |text|, of |size| characters, if it comes next; whether it did.
static bool take(equation* e, const char* text, size_t size) {
  skip_spaces(e);
  if ((size_t)(e->end - e->at) < size) {
    return false;
  }
  for (size_t i = 0; i < size; ++i) {
    if (e->at[i] != text[i]) {
      return false;
    }
  }
  e->at += size;
  return true;
}

static bool take_letter(equation* e, char* out_letter) {
  skip_spaces(e);
  if (e->at == e->end || !is_letter(*e->at)) {
    return false;
  }
  *out_letter = *e->at++;
  return true;
}

// The number of letters in the next term.
static size_t count_letters(const equation* e) {
  size_t count = 0;
  for (const char* c = e->at; c != e->end && (is_letter(*c) || *c == ' ' || *c == '.'); ++c) {
    count += is_letter(*c);
  }
  return count;
}

// Lets |letter| stand for |dim|, which must match earlier uses; 1 broadcasts.
static stow_status name_dim(equation* e, char letter, stow_dim dim) {
  stow_dim* known = &e->dims[letter - 'A'];
  e->is_repeated[letter - 'A'] = *known != STOW_DIM_INVALID;
  if (*known == STOW_DIM_INVALID || *known == 1) {
    *known = dim;
  } else if (dim != 1) {
    if (stowi_graph_shape_differ(e->call, *known, dim)) {
      return stow_shape_fail(e->call, "letter %c stands for both %s and %s", letter,
                             stowi_graph_shape_dim_text(e->call, *known).text,
                             stowi_graph_shape_dim_text(e->call, dim).text);
    }
    *known = stowi_graph_dim_known(*known, dim);
  }
  return STOW_OK;
}

// The term of operand |k|.
static stow_status read_term(equation* e, size_t k) {
  const stow_type* type = stow_shape_operand(e->call, k);
  size_t letters = count_letters(e);
  if (letters > type->rank) {
    return stow_shape_fail(e->call,
                           "operand %zu has rank %" PRIu32 ", but its term has %zu letters", k,
                           type->rank, letters);
  }
  uint32_t axis = 0;
  bool has_dots = false;
  for (;;) {
    char letter;
    if (!has_dots && take(e, "...", 3)) {
      uint32_t hidden = type->rank - (uint32_t)letters;
      stow_type dims = stow_type_make(type->dtype, hidden, type->dims + axis);
      STOW_TRY(stowi_graph_shape_broadcast(e->call, &e->broadcast, &dims, &e->broadcast));
      axis += hidden;
      has_dots = true;
    } else if (take_letter(e, &letter)) {
      STOW_TRY(name_dim(e, letter, type->dims[axis++]));
    } else {
      break;
    }
  }
  if (axis != type->rank) {
    return stow_shape_fail(e->call,
                           "operand %zu has rank %" PRIu32 ", but its term has %zu letters", k,
                           type->rank, letters);
  }
  return STOW_OK;
}

static stow_status read_terms(equation* e) {
  size_t count = stow_shape_operand_count(e->call);
  for (size_t k = 0; k < count; ++k) {
    if (stow_shape_operand(e->call, k) == NULL) {
      return stow_shape_fail(e->call, "operand %zu is missing", k);
    }
    if (k != 0) {
      STOW_TRY(stowi_graph_shape_same_dtype(e->call, 0, k));
      if (!take(e, ",", 1)) {
        return stow_shape_fail(e->call, "the equation has %zu terms for %zu operands", k, count);
      }
    }
    STOW_TRY(read_term(e, k));
  }
  return STOW_OK;
}

static stow_status append(equation* e, stow_type* result, const stow_dim* dims, uint32_t count) {
  if (count > STOW_MAX_RANK - result->rank) {
    return stow_shape_fail(e->call, "the result would have more than %d dims", STOW_MAX_RANK);
  }
  for (uint32_t i = 0; i < count; ++i) {
    result->dims[result->rank++] = dims[i];
  }
  return STOW_OK;
}

static stow_status read_result(equation* e, stow_type* result) {
  bool has_dots = false;
  for (;;) {
    char letter;
    if (!has_dots && take(e, "...", 3)) {
      STOW_TRY(append(e, result, e->broadcast.dims, e->broadcast.rank));
      has_dots = true;
    } else if (take_letter(e, &letter)) {
      int index = letter - 'A';
      if (e->dims[index] == STOW_DIM_INVALID || e->is_placed[index]) {
        return stow_shape_fail(e->call, "letter %c of the result %s", letter,
                               e->is_placed[index] ? "is repeated" : "is in no operand");
      }
      e->is_placed[index] = true;
      STOW_TRY(append(e, result, &e->dims[index], 1));
    } else {
      return STOW_OK;
    }
  }
}

static stow_status imply_result(equation* e, stow_type* result) {
  STOW_TRY(append(e, result, e->broadcast.dims, e->broadcast.rank));
  for (int i = 0; i < LETTERS; ++i) {
    if (e->dims[i] != STOW_DIM_INVALID && !e->is_repeated[i]) {
      STOW_TRY(append(e, result, &e->dims[i], 1));
    }
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_einsum(stow_shape_call* call) {
  const stow_attr* text = stow_shape_attr(call, "equation");
  stow_str given = text != NULL ? text->s : stow_str_of("");
  stow_dtype dtype = stow_shape_operand(call, 0)->dtype;
  equation e = {.call = call, .at = given.data, .end = given.data + given.size};
  e.broadcast = stow_type_make(dtype, 0, NULL);
  for (int i = 0; i < LETTERS; ++i) {
    e.dims[i] = STOW_DIM_INVALID;
  }
  STOW_TRY(read_terms(&e));
  stow_type result = stow_type_make(dtype, 0, NULL);
  STOW_TRY(take(&e, "->", 2) ? read_result(&e, &result) : imply_result(&e, &result));
  skip_spaces(&e);
  if (e.at != e.end) {
    return stow_shape_fail(call, "cannot parse the equation at \"%.*s\"",
                           20 < e.end - e.at ? 20 : (int)(e.end - e.at), e.at);
  }
  return stowi_graph_shape_set(call, 0, &result);
}
