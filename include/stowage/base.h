// Status codes, diagnostics, allocators, strings, writers and splitters: the types that every other
// header uses.
//
// These conventions hold in all headers:
//
// - Errors. A call that can fail returns a stow_status. A failed call changes nothing that the
//   caller can see, except the diagnostic. |out_*| parameters come last; unless a comment says
//   otherwise they must not be NULL, and are cleared before anything can fail.
// - Diagnostics. The details of an error go to a stow_diag that the caller owns: a message of one
//   line, and a position, node or value where there is one. NULL is always allowed.
// - Memory. Objects are allocated with the stow_allocator passed at creation, keep a copy of it,
//   and are freed by the destroy, close or free call of their type; NULL is allowed there. All else
//   that a getter returns is borrowed from the object.
// - Growth. A struct whose first field is |struct_size| may get more fields at its end. Where there
//   is an init function, that sets the size and every other field; else the caller sets it to
//   sizeof. A shorter struct of a caller built earlier is accepted; a size that no version had is
//   STOW_ERR_INVALID_ARGUMENT. Options may be NULL: the defaults that the init function writes.
// - Units. `size` is in bytes, `offset` in bytes from the start of the arena, `count` is a number
//   of things, `step` is a position in the running order. Ranges [begin, end) exclude their end.
// - Threads. Calls on the same object through const pointers may run at the same time; anything
//   else needs a lock. Different objects are independent.
// - The library never prints, exits, aborts on bad input or reads the environment. It starts no
//   threads except those that stow_prepare_options asks for.
//
// An allocator that counts the bytes in use:
//
//     #include <stdio.h>
//     #include <stowage/base.h>
//
//     static void* count(void* user, void* old, size_t old_size, size_t new_size,
//                        size_t alignment) {
//       stow_allocator heap = stow_allocator_default();
//       void* block = heap.reallocate(heap.user, old, old_size, new_size, alignment);
//       if (block != NULL || new_size == 0) *(size_t*)user += new_size - old_size;
//       return block;
//     }
//
//     int main(void) {
//       size_t used = 0;
//       stow_string string;
//       stow_string_init(&string, (stow_allocator){count, &used});
//       stow_status status = stow_string_append(&string, "stowage", 7);
//       puts(status == STOW_OK ? string.data : stow_status_text(status));
//       stow_string_free(&string);
//       return used == 0 ? 0 : 1;
//     }
#ifndef STOWAGE_BASE_H_
#define STOWAGE_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(STOW_SHARED)
#ifdef STOW_BUILDING
#define STOW_API __declspec(dllexport)
#else
#define STOW_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define STOW_API __attribute__((visibility("default")))
#else
#define STOW_API
#endif

#if defined(__GNUC__)
#define STOW_PRINTF_LIKE(format_index, first_argument) \
  __attribute__((format(printf, format_index, first_argument)))
#else
#define STOW_PRINTF_LIKE(format_index, first_argument)
#endif

// ---------------------------------------------------------------------------------------------
// Status

// name, value, text. Values are part of the ABI: new ones are added at the end.
#define STOW_STATUS_LIST(X)                                    \
  X(OK, 0, "ok")                                               \
  X(ERR_INVALID_ARGUMENT, 1, "invalid argument")               \
  X(ERR_OUT_OF_MEMORY, 2, "out of memory")                     \
  X(ERR_OVERFLOW, 3, "a size does not fit in 64 bits")         \
  X(ERR_SYNTAX, 4, "syntax error")                             \
  X(ERR_TYPE, 5, "types do not fit")                           \
  X(ERR_NOT_FOUND, 6, "not found")                             \
  X(ERR_DUPLICATE, 7, "duplicate")                             \
  X(ERR_UNBOUND_DIM, 8, "a dimension is not bound")            \
  X(ERR_LIMIT, 9, "an implementation limit was exceeded")      \
  X(ERR_STALE_PLAN, 10, "the plan was made for another graph") \
  X(ERR_VIOLATION, 11, "the plan is wrong")                    \
  X(ERR_CONFLICT, 12, "requirements contradict each other")    \
  X(ERR_IO, 13, "input or output failed")                      \
  X(ERR_GAVE_UP, 14, "gave up within the budget")              \
  X(ERR_DATA_DEPENDENT, 15, "a shape depends on data")         \
  X(ERR_UNSUPPORTED, 16, "not supported")

typedef enum stow_status {
#define STOW_STATUS_ENUM(name, value, text) STOW_##name = (value),
  STOW_STATUS_LIST(STOW_STATUS_ENUM)
#undef STOW_STATUS_ENUM
} stow_status;

// A short English text for |status|; never NULL, not even for an unknown value. Static.
STOW_API const char* stow_status_text(stow_status status);

// ---------------------------------------------------------------------------------------------
// Strings: a borrowed range of bytes, which may include NUL. Strings that the library returns are
// followed by a NUL that |size| does not count, unless a comment says otherwise.

typedef struct stow_str {
  const char* data;
  size_t size;
} stow_str;

// The bytes of |text| up to its NUL, borrowed; NULL gives the empty string.
STOW_API stow_str stow_str_of(const char* text);
STOW_API bool stow_str_equal(stow_str a, stow_str b);
// Order by bytes, as memcmp; a prefix comes first. Returns <0, 0 or >0.
STOW_API int stow_str_compare(stow_str a, stow_str b);

// ---------------------------------------------------------------------------------------------
// Diagnostics

#define STOW_DIAG_MESSAGE_SIZE 1024
#define STOW_DIAG_SYMBOL_SIZE 128

typedef struct stow_diag {
  size_t struct_size;  // sizeof(stow_diag); written by stow_diag_init
  stow_status status;
  uint32_t line;                         // 1-based position in a text; 0: none
  uint32_t column;                       // 1-based, in bytes
  uint32_t node;                         // the node concerned, or UINT32_MAX
  uint32_t value;                        // the value concerned, or UINT32_MAX
  char message[STOW_DIAG_MESSAGE_SIZE];  // NUL-terminated; UTF-8 if the input is; may be truncated
  // Where something cannot be decided for a whole range of a symbol (type.h): the symbol, and the
  // first value of a second part of its range. What is asked of each part alone may be decided.
  // Empty: none.
  char split_symbol[STOW_DIAG_SYMBOL_SIZE];
  int64_t split_at;
} stow_diag;

// Writes every field: STOW_OK, no position, an empty message. Call it before the first use.
STOW_API void stow_diag_defaults(stow_diag* diag);
static inline void stow_diag_init(stow_diag* diag) {
  diag->struct_size = sizeof(*diag);
  stow_diag_defaults(diag);
}

// ---------------------------------------------------------------------------------------------
// Allocators: one function allocates, resizes and frees.
//   allocate  old == NULL, old_size == 0, new_size > 0
//   resize    old != NULL, new_size > 0: the first min(old_size, new_size) bytes are kept
//   free      old != NULL, new_size == 0: must succeed; the result is ignored
// Sizes are in bytes. |alignment| is a power of two, the same in all calls for a block. Returns
// NULL if there is not enough memory, and leaves |old| unchanged. Passed by value; objects keep a
// copy, so |user| must outlive them.

typedef struct stow_allocator {
  void* (*reallocate)(void* user, void* old, size_t old_size, size_t new_size, size_t alignment);
  void* user;
} stow_allocator;

// The C library's malloc, realloc, free and aligned_alloc. Thread-safe.
STOW_API stow_allocator stow_allocator_default(void);

// ---------------------------------------------------------------------------------------------
// Writers: where output goes. |write| gets |size| bytes at a time and returns STOW_OK if it took
// all of them; any other status ends the call that writes, which returns it.

typedef struct stow_writer {
  stow_status (*write)(void* user, const char* data, size_t size);
  void* user;
} stow_writer;

// A growing string, which a writer can fill. |data| is NULL or NUL-terminated; |size| does not
// count the NUL.
typedef struct stow_string {
  char* data;
  size_t size;
  size_t capacity;
  stow_allocator allocator;
} stow_string;

// Empty; allocates nothing.
STOW_API void stow_string_init(stow_string* string, stow_allocator allocator);
// Frees the bytes and leaves an empty string that can be used again.
STOW_API void stow_string_free(stow_string* string);
// Copies |size| bytes to the end. STOW_ERR_OUT_OF_MEMORY.
STOW_API stow_status stow_string_append(stow_string* string, const char* data, size_t size);
// A writer that appends to |string|, which must not move while the writer is in use.
STOW_API stow_writer stow_string_writer(stow_string* string);

// ---------------------------------------------------------------------------------------------
// Splitters: how work is divided among threads, which the caller provides.

// Does the items [begin, end) of the work. |worker| is below the number of workers; no two ranges
// that run at the same time have the same one.
typedef void (*stow_split_task)(void* user, size_t begin, size_t end, uint32_t worker);

// |split| calls |task| for ranges that together cover [0, count), each item once, and returns when
// all are done. Ranges shorter than |grain| items cost more than they gain.
typedef struct stow_splitter {
  void (*split)(void* pool, size_t count, size_t grain, stow_split_task task, void* user);
  void* pool;
} stow_splitter;

// ---------------------------------------------------------------------------------------------
// Version: the macros are those of the headers, stow_version returns that of the linked library.

#define STOW_VERSION_MAJOR 0
#define STOW_VERSION_MINOR 1
#define STOW_VERSION_PATCH 0
#define STOW_VERSION_STRING "0.1.0"
STOW_API const char* stow_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_BASE_H_
