// Interned strings: one text of all, and a hash index over it.
#include "report/picture/strings.h"

void stowi_report_strings_init(stowi_report_strings* strings, stow_allocator allocator) {
  *strings = (stowi_report_strings){.broken = false};
  stow_string_init(&strings->bytes, allocator);
}

void stowi_report_strings_free(stowi_report_strings* strings) {
  stow_allocator allocator = strings->bytes.allocator;
  STOWI_VEC_FREE(allocator, &strings->ends);
  stowi_index_free(&strings->index, allocator);
  stow_string_free(&strings->bytes);
}

stow_str stowi_report_strings_at(const stowi_report_strings* strings, uint32_t id) {
  if (id == STOWI_REPORT_STRING_NONE) {
    return (stow_str){"", 0};
  }
  size_t begin = id == 0 ? 0 : strings->ends.data[id - 1];
  return (stow_str){strings->bytes.data + begin, strings->ends.data[id] - begin};
}

static bool is_equal(const void* context, uint32_t id, const void* key) {
  return stow_str_equal(stowi_report_strings_at(context, id), *(const stow_str*)key);
}

uint32_t stowi_report_strings_add(stowi_report_strings* strings, stow_str text) {
  if (strings->ends.count >= STOWI_REPORT_STRING_NONE ||
      STOWI_VEC_RESERVE(strings->bytes.allocator, &strings->ends, 1) != STOW_OK ||
      stow_string_append(&strings->bytes, text.data, text.size) != STOW_OK) {
    strings->broken = true;
    return STOWI_REPORT_STRING_NONE;
  }
  strings->ends.data[strings->ends.count++] = strings->bytes.size;
  return (uint32_t)strings->ends.count - 1;
}

uint32_t stowi_report_strings_intern(stowi_report_strings* strings, stow_str text) {
  uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, text.data, text.size);
  uint32_t found = stowi_index_find(&strings->index, hash, is_equal, strings, &text);
  if (found != STOWI_INDEX_NONE) {
    return found;
  }
  if (stowi_index_reserve(&strings->index, strings->bytes.allocator) != STOW_OK) {
    strings->broken = true;
    return STOWI_REPORT_STRING_NONE;
  }
  uint32_t id = stowi_report_strings_add(strings, text);
  if (id != STOWI_REPORT_STRING_NONE) {
    stowi_index_insert(&strings->index, hash, id);
  }
  return id;
}
