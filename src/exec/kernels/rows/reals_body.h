// The text of reals.h: included once for each type of number, with REAL the type, REAL_DTYPE its
// dtype and OF(name) the name for that type.

// |count| elements of |data| from |first| on, at most a block: in their place where they are REALs
// already, else in |room|.
static inline const REAL* OF(stowi_kernel_view)(stow_dtype dtype, const void* data, size_t first,
                                                size_t count, REAL* room) {
  if (dtype == REAL_DTYPE) {
    return (const REAL*)data + first;
  }
  OF(stowi_kernel_load)(dtype, data, first, count, room);
  return room;
}

static inline void OF(stowi_kernel_put)(stow_dtype dtype, void* data, size_t first, size_t count,
                                        const REAL* in) {
  if (dtype == REAL_DTYPE) {
    memcpy((REAL*)data + first, in, count * sizeof(REAL));
  } else {
    OF(stowi_kernel_store)(dtype, data, first, count, in);
  }
}

#undef REAL
#undef REAL_DTYPE
#undef OF
