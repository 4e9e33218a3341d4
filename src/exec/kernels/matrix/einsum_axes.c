// One pass over the equation. Letters have a place each in a table; dims that "..." stands for have
// places after them, counted from the last one, which is how they are broadcast.
#include "exec/kernels/matrix/einsum_axes.h"

#include <string.h>

enum { LETTERS = 'z' - 'A' + 1, PLACES = LETTERS + STOW_MAX_RANK };

typedef struct reader {
  const char* at;
  const char* end;
  size_t operands;
  size_t times[PLACES];  // how often it stands in the terms
  size_t hidden;         // dims that "..." stands for
  stowi_axis axes[PLACES];
} reader;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool take(reader* r, const char* text) {
  size_t size = strlen(text);
  while (r->at != r->end && *r->at == ' ') {
    ++r->at;
  }
  if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0) {
    return false;
  }
  r->at += size;
  return true;
}

static bool take_letter(reader* r, size_t* out_place) {
  if (!take(r, "") || r->at == r->end || !is_letter(*r->at)) {
    return false;
  }
  *out_place = (size_t)(*r->at++ - 'A');
  return true;
}

static size_t letters_ahead(const reader* r) {
  size_t count = 0;
  for (const char* c = r->at; c != r->end && (is_letter(*c) || *c == ' ' || *c == '.'); ++c) {
    count += is_letter(*c);
  }
  return count;
}

// A second time in one term moves along the diagonal.
static bool meet(reader* r, size_t place, size_t operand, size_t dim, size_t stride) {
  stowi_axis* axis = &r->axes[place];
  if (r->times[place]++ == 0 || axis->dim == 1) {
    axis->dim = dim;
  }
  if (dim != 1) {
    axis->in[operand] += stride;
  }
  return dim == axis->dim || dim == 1;
}

static bool read_term(reader* r, size_t operand, const stow_tensor* tensor) {
  size_t letters = letters_ahead(r);
  if (letters > tensor->rank) {
    return false;
  }
  size_t strides[STOW_MAX_RANK];
  size_t stride = 1;
  for (uint32_t i = tensor->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= (size_t)tensor->dims[i];
  }
  uint32_t i = 0;
  for (bool has_dots = false;;) {
    size_t place;
    if (!has_dots && take(r, "...")) {
      has_dots = true;
      size_t hidden = tensor->rank - letters;
      r->hidden = hidden > r->hidden ? hidden : r->hidden;
      for (size_t h = hidden; h-- > 0; ++i) {
        if (!meet(r, LETTERS + h, operand, (size_t)tensor->dims[i], strides[i])) {
          return false;
        }
      }
    } else if (take_letter(r, &place)) {
      if (i == tensor->rank || !meet(r, place, operand, (size_t)tensor->dims[i], strides[i])) {
        return false;
      }
      ++i;
    } else {
      return i == tensor->rank;
    }
  }
}

static bool place_axis(reader* r, size_t place, stowi_einsum* out) {
  if (r->times[place] == 0 || out->out_count == STOW_MAX_RANK) {
    return false;
  }
  out->outs[out->out_count++] = r->axes[place];
  r->times[place] = 0;
  return true;
}

static bool place_hidden(reader* r, stowi_einsum* out) {
  for (size_t h = r->hidden; h-- > 0;) {
    if (!place_axis(r, LETTERS + h, out)) {
      return false;
    }
  }
  return true;
}

static bool read_result(reader* r, stowi_einsum* out) {
  for (;;) {
    size_t place;
    if (take(r, "...")) {
      if (!place_hidden(r, out)) {
        return false;
      }
    } else if (take_letter(r, &place)) {
      if (!place_axis(r, place, out)) {
        return false;
      }
    } else {
      return r->at == r->end;
    }
  }
}

static bool imply_result(reader* r, stowi_einsum* out) {
  bool fits = place_hidden(r, out) && r->at == r->end;
  for (size_t place = 0; place < LETTERS && fits; ++place) {
    if (r->times[place] == 1) {
      fits = place_axis(r, place, out);
    }
  }
  return fits;
}

// What is left is summed.
static bool collect_sums(const reader* r, stowi_einsum* out) {
  for (size_t place = 0; place < PLACES; ++place) {
    if (r->times[place] != 0) {
      if (out->sum_count == STOWI_EINSUM_SUMS) {
        return false;
      }
      out->sums[out->sum_count++] = r->axes[place];
    }
  }
  return true;
}

static bool moves_as_one(const stowi_einsum* e, const stowi_axis* outer, const stowi_axis* inner) {
  bool is_one = outer->out == inner->dim * inner->out;
  for (size_t k = 0; k < e->operands; ++k) {
    is_one = is_one && outer->in[k] == inner->dim * inner->in[k];
  }
  return is_one;
}

static size_t join(const stowi_einsum* e, stowi_axis* axes, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (kept != 0 && moves_as_one(e, &axes[kept - 1], &axes[i])) {
      size_t dim = axes[kept - 1].dim * axes[i].dim;
      axes[kept - 1] = axes[i];
      axes[kept - 1].dim = dim;
    } else if (axes[i].dim != 1) {
      axes[kept++] = axes[i];
    }
  }
  return kept;
}

bool stowi_einsum_of(const stow_kernel_call* call, stowi_einsum* out) {
  const stow_attr* equation = stow_kernel_attr(call, "equation");
  *out = (stowi_einsum){.operands = call->operand_count};
  if (equation == NULL || call->operand_count > STOWI_EINSUM_OPERANDS) {
    return false;
  }
  reader r = {.at = equation->s.data, .end = equation->s.data + equation->s.size};
  for (size_t k = 0; k < call->operand_count; ++k) {
    if ((k != 0 && !take(&r, ",")) || !read_term(&r, k, call->operands[k])) {
      return false;
    }
  }
  if (!(take(&r, "->") ? read_result(&r, out) : imply_result(&r, out)) || !collect_sums(&r, out)) {
    return false;
  }
  size_t stride = 1;
  for (size_t i = out->out_count; i-- > 0;) {
    out->outs[i].out = stride;
    stride *= out->outs[i].dim;
  }
  out->out_count = join(out, out->outs, out->out_count);
  out->sum_count = join(out, out->sums, out->sum_count);
  return true;
}
