// Status codes, diagnostics, the allocator, strings, writers and splitters: what every other header
// stands on.
//
// Conventions that hold for the whole library:
// - A call that can fail returns a stow_status. A failing call changes nothing the caller can see,
//   except the diagnostic. |out_*| parameters come last and are cleared first.
// - Detail of an error goes to a caller-owned stow_diag; passing NULL is always fine.
// - The library never prints, exits, aborts on bad input or reads the environment. It starts no
//   threads but those that stow_prepare_options asks for.
// - Objects are thread-compatible: const calls may run concurrently, anything else needs a lock.
// - destroy(NULL) does nothing.
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

// name, value, text
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

// A short English text for |status|; never NULL, also for unknown values.
STOW_API const char* stow_status_text(stow_status status);

// ---------------------------------------------------------------------------------------------
// Strings: a borrowed span of bytes. May hold NUL bytes; strings that the library returns are also
// followed by a NUL that |size| does not count.

typedef struct stow_str {
  const char* data;
  size_t size;
} stow_str;

// |text| may be NULL, which gives the empty string.
STOW_API stow_str stow_str_of(const char* text);
STOW_API bool stow_str_equal(stow_str a, stow_str b);
// Byte-wise order, like memcmp, a prefix first: <0, 0, >0.
STOW_API int stow_str_compare(stow_str a, stow_str b);

// ---------------------------------------------------------------------------------------------
// Diagnostics

#define STOW_DIAG_MESSAGE_SIZE 1024

typedef struct stow_diag {
  size_t struct_size;  // sizeof(stow_diag); written by stow_diag_init
  stow_status status;
  uint32_t line;                         // 1-based position in a text; 0 where there is none
  uint32_t column;                       // 1-based, in bytes
  uint32_t node;                         // the node concerned, or UINT32_MAX
  uint32_t value;                        // the value concerned, or UINT32_MAX
  char message[STOW_DIAG_MESSAGE_SIZE];  // NUL-terminated UTF-8 as far as the input was; may be cut
} stow_diag;

// Writes every field: STOW_OK, no position, empty message. As every init function it sets the
// struct_size of these headers, and has the library write the defaults: no further than that.
STOW_API void stow_diag_defaults(stow_diag* diag);
static inline void stow_diag_init(stow_diag* diag) {
  diag->struct_size = sizeof(*diag);
  stow_diag_defaults(diag);
}

// ---------------------------------------------------------------------------------------------
// Allocator: one function does all three jobs.
//   allocate  old == NULL, old_size == 0, new_size > 0
//   resize    old != NULL, new_size > 0: the first min(old_size, new_size) bytes are kept
//   free      old != NULL, new_size == 0: must succeed; the result is ignored
// |alignment| is a power of two and the same over a block's life. Returns NULL when out of memory,
// leaving |old| as it was. Passed by value everywhere; objects keep a copy.

typedef struct stow_allocator {
  void* (*reallocate)(void* user, void* old, size_t old_size, size_t new_size, size_t alignment);
  void* user;
} stow_allocator;

// malloc, realloc, free and aligned_alloc of the C library. Thread-safe.
STOW_API stow_allocator stow_allocator_default(void);

// ---------------------------------------------------------------------------------------------
// Writers: where text goes. A write that does not return STOW_OK ends the call that wrote with that
// status.

typedef struct stow_writer {
  stow_status (*write)(void* user, const char* data, size_t size);
  void* user;
} stow_writer;

// A growing string that a writer can fill. |data| is always NUL-terminated when not NULL.
typedef struct stow_string {
  char* data;
  size_t size;
  size_t capacity;
  stow_allocator allocator;
} stow_string;

STOW_API void stow_string_init(stow_string* string, stow_allocator allocator);
STOW_API void stow_string_free(stow_string* string);
STOW_API stow_status stow_string_append(stow_string* string, const char* data, size_t size);
// |string| must stay where it is while the writer is used.
STOW_API stow_writer stow_string_writer(stow_string* string);

// ---------------------------------------------------------------------------------------------
// Splitters: how work is divided among threads. The caller brings the threads.

// Does [begin, end) of the work. |worker| is below the number of workers; no two ranges have the
// same one at the same time.
typedef void (*stow_split_task)(void* user, size_t begin, size_t end, uint32_t worker);

// |split| calls |task| for ranges that together are [0, count), and returns when all are done.
// Ranges shorter than |grain| cost more than they gain.
typedef struct stow_splitter {
  void (*split)(void* pool, size_t count, size_t grain, stow_split_task task, void* user);
  void* pool;
} stow_splitter;

// ---------------------------------------------------------------------------------------------
// Version of the library that is linked, as in "0.1.0".

#define STOW_VERSION_MAJOR 0
#define STOW_VERSION_MINOR 1
#define STOW_VERSION_PATCH 0
#define STOW_VERSION_STRING "0.1.0"
STOW_API const char* stow_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_BASE_H_
