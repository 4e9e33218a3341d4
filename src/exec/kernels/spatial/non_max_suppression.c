// non_max_suppression: for each batch and class, boxes by falling score, each kept unless it
// overlaps one that was kept too much. Of equal scores the box with the smaller index comes first.
// Candidates lie in a heap, so that only those that are looked at are put in order: O(B + k log B)
// and the overlaps. Scratch: 8 bytes for each box.
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct box {
  float y1, x1, y2, x2;
} box;

typedef struct job {
  const float* boxes;   // of the batch
  const float* scores;  // of the class
  int64_t* heap;
  size_t size;
  bool is_centered;
  float overlap;
} job;

// ---------------------------------------------------------------------------------------------
// The heap: the best candidate first

static bool is_before(const job* j, int64_t a, int64_t b) {
  float x = j->scores[a];
  float y = j->scores[b];
  return x > y || (x == y && a < b);
}

static void sift_down(job* j, size_t i) {
  for (size_t child = 2 * i + 1; child < j->size; child = 2 * i + 1) {
    if (child + 1 < j->size && is_before(j, j->heap[child + 1], j->heap[child])) {
      ++child;
    }
    if (!is_before(j, j->heap[child], j->heap[i])) {
      return;
    }
    int64_t moved = j->heap[i];
    j->heap[i] = j->heap[child];
    j->heap[child] = moved;
    i = child;
  }
}

static int64_t pop(job* j) {
  int64_t best = j->heap[0];
  j->heap[0] = j->heap[--j->size];
  sift_down(j, 0);
  return best;
}

// A score that is not a number is not a candidate.
static void fill_heap(job* j, size_t count, const float* least) {
  j->size = 0;
  for (size_t i = 0; i < count; ++i) {
    if (least == NULL ? j->scores[i] == j->scores[i] : j->scores[i] > *least) {
      j->heap[j->size++] = (int64_t)i;
    }
  }
  for (size_t i = j->size / 2; i-- > 0;) {
    sift_down(j, i);
  }
}

// ---------------------------------------------------------------------------------------------
// Boxes

static float min_f32(float a, float b) { return a < b ? a : b; }
static float max_f32(float a, float b) { return a > b ? a : b; }

static box box_at(const job* j, int64_t i) {
  const float* b = j->boxes + 4 * i;
  if (j->is_centered) {
    float half_width = b[2] / 2;
    float half_height = b[3] / 2;
    return (box){b[1] - half_height, b[0] - half_width, b[1] + half_height, b[0] + half_width};
  }
  return (box){min_f32(b[0], b[2]), min_f32(b[1], b[3]), max_f32(b[0], b[2]), max_f32(b[1], b[3])};
}

static bool overlaps(const job* j, const box* a, const box* b) {
  float height = min_f32(a->y2, b->y2) - max_f32(a->y1, b->y1);
  float width = min_f32(a->x2, b->x2) - max_f32(a->x1, b->x1);
  float a_area = (a->y2 - a->y1) * (a->x2 - a->x1);
  float b_area = (b->y2 - b->y1) * (b->x2 - b->x1);
  if (!(height > 0 && width > 0 && a_area > 0 && b_area > 0)) {
    return false;
  }
  float common = height * width;
  return common / (a_area + b_area - common) > j->overlap;
}

// Writes at most |most| triples to |out|; how many.
static size_t suppress(job* j, int64_t batch, int64_t class, size_t most, int64_t* out) {
  size_t kept = 0;
  while (j->size != 0 && kept < most) {
    int64_t candidate = pop(j);
    box b = box_at(j, candidate);
    bool is_kept = true;
    for (size_t i = 0; i < kept && is_kept; ++i) {
      box other = box_at(j, out[3 * i + 2]);
      is_kept = !overlaps(j, &other, &b);
    }
    if (is_kept) {
      out[3 * kept] = batch;
      out[3 * kept + 1] = class;
      out[3 * kept + 2] = candidate;
      ++kept;
    }
  }
  return kept;
}

static stow_status scratch_non_max_suppression(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = (uint64_t)stow_kernel_operand(call, 0)->dims[1] * sizeof(int64_t);
  return STOW_OK;
}

static float float_or_zero(const stow_tensor* t) {
  return t == NULL || stow_tensor_elements(t) == 0 ? 0 : (float)stowi_kernel_float_at(t, 0);
}

static stow_status run_non_max_suppression(stow_kernel_call* call) {
  const stow_tensor* boxes = stow_kernel_operand(call, 0);
  const stow_tensor* scores = stow_kernel_operand(call, 1);
  const stow_tensor* most = stow_kernel_operand(call, 2);
  const stow_tensor* least = stow_kernel_operand(call, 4);
  stow_tensor* y = stow_kernel_result(call, 0);
  if (boxes->dtype != STOW_F32 || scores->dtype != STOW_F32) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "boxes and scores must be f32");
  }
  int64_t asked =
      most == NULL || stow_tensor_elements(most) == 0 ? 0 : stowi_kernel_int_at(most, 0);
  size_t count = (size_t)boxes->dims[1];
  size_t limit = asked <= 0 ? 0 : (uint64_t)asked < count ? (size_t)asked : count;
  float least_score = float_or_zero(least);
  job j = {.heap = call->scratch,
           .is_centered = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_CENTER_POINT_BOX, false),
           .overlap = float_or_zero(stow_kernel_operand(call, 3))};
  size_t kept = 0;
  size_t room = (size_t)y->dims[0];
  for (int64_t b = 0; b < scores->dims[0] && limit != 0; ++b) {
    for (int64_t c = 0; c < scores->dims[1]; ++c) {
      j.boxes = (const float*)boxes->data + (size_t)b * count * 4;
      j.scores = (const float*)scores->data + (size_t)(b * scores->dims[1] + c) * count;
      fill_heap(&j, count, least == NULL ? NULL : &least_score);
      size_t free = room - kept < limit ? room - kept : limit;
      kept += suppress(&j, b, c, free, (int64_t*)y->data + 3 * kept);
    }
  }
  y->dims[0] = (int64_t)kept;
  return STOW_OK;
}

STOWI_KERNEL(NON_MAX_SUPPRESSION, scratch_non_max_suppression, run_non_max_suppression);
