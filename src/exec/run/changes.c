// Thousands of numbers change from point to point, but in few ways: layers are alike, and what is
// twice as long lies twice as far from what follows it. So a number is what it was at the first
// point, its base, plus an entry of a *column*, which has one for each point; most share theirs.
//
//     number          base   column          column   point 0    1    2  …
//     values[7].dims     1   a               a              0    1    2
//     values[7].bytes 1536   b               b              0 1536 3072
//     values[8].data 0x7f…   b
//
// Columns are found while points are noted. All numbers begin in the first one, that of what never
// changes; where numbers of one column change by different amounts, they part, as states do when
// automata are minimised (Hopcroft 1971).
#include "exec/run/changes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

// Entries of columns that are worth their room, which is 4 bytes for most.
#define MOST_ENTRIES (UINT32_C(1) << 19)

#define NONE UINT32_MAX

typedef enum number_kind {
  NARROW,  // 8 bytes, of which entries have the last 4
  WIDE,    // 8 bytes: the first 4 are in the column after that
  HALF,    // 4 bytes
  BYTE,
  KIND_COUNT
} number_kind;

typedef struct number {
  void* at;
  uint64_t base;
  uint32_t column;
  number_kind kind;
} number;

// Of a column, at a point that is being noted.
typedef struct parting {
  bool is_seen;   // it has an entry there
  uint32_t next;  // that has parted from it there, or from the same one
} parting;

struct stowi_exec_changes {
  stow_allocator allocator;
  size_t point_count;
  STOWI_VEC(number) numbers;
  bool is_failed;  // memory ran out
  // Until the end:
  STOWI_VEC(uint64_t) entries;  // by column, then point
  STOWI_VEC(parting) columns;
  // Then:
  size_t ends[KIND_COUNT];  // of numbers of each kind
  size_t width;             // columns
  uint32_t* table;          // by point, then column
};

stow_status stowi_exec_changes_create(size_t point_count, stow_allocator allocator, stow_diag* diag,
                                      stowi_exec_changes** out_changes) {
  stowi_exec_changes* changes = STOWI_NEW(allocator, stowi_exec_changes);
  *out_changes = changes;
  STOW_TRY(stowi_need_memory(changes != NULL, diag));
  changes->allocator = allocator;
  changes->point_count = point_count;
  return STOW_OK;
}

static void forget_entries(stowi_exec_changes* changes) {
  STOWI_VEC_FREE(changes->allocator, &changes->entries);
  STOWI_VEC_FREE(changes->allocator, &changes->columns);
}

void stowi_exec_changes_destroy(stowi_exec_changes* changes) {
  if (changes != NULL) {
    forget_entries(changes);
    STOWI_VEC_FREE(changes->allocator, &changes->numbers);
    STOWI_ARRAY_FREE(changes->allocator, changes->table, changes->width * changes->point_count);
    STOWI_DELETE(changes->allocator, changes);
  }
}

// ---------------------------------------------------------------------------------------------
// Noting

static size_t size_of(number_kind kind) { return kind == BYTE ? 1 : kind == HALF ? 4 : 8; }

void stowi_exec_changes_name(void* to, void* at, size_t size) {
  stowi_exec_changes* changes = (stowi_exec_changes*)to;
  number_kind kind = size % 8 == 0 ? NARROW : size % 4 == 0 ? HALF : BYTE;
  size_t count = size / size_of(kind);
  changes->is_failed = changes->is_failed ||
                       STOWI_VEC_RESERVE(changes->allocator, &changes->numbers, count) != STOW_OK;
  for (size_t i = 0; !changes->is_failed && i < count; ++i) {
    changes->numbers.data[changes->numbers.count++] =
        (number){.at = (unsigned char*)at + i * size_of(kind), .kind = kind};
  }
}

static uint64_t get(const number* n) {
  uint64_t whole;
  uint32_t half;
  switch (n->kind) {
    case HALF: memcpy(&half, n->at, sizeof(half)); return half;
    case BYTE: return *(const unsigned char*)n->at;
    default: memcpy(&whole, n->at, sizeof(whole)); return whole;
  }
}

// A column with the entries of |from| up to |point|, and |change| there; NONE: there are too many.
static stow_status add_column(stowi_exec_changes* changes, uint32_t from, size_t point,
                              uint64_t change, uint32_t* out_column) {
  size_t points = changes->point_count;
  size_t count = changes->columns.count;
  *out_column = NONE;
  if (count >= MOST_ENTRIES / points) {
    return STOW_OK;
  }
  STOW_TRY(STOWI_VEC_RESERVE(changes->allocator, &changes->columns, 1));
  STOW_TRY(STOWI_VEC_RESERVE(changes->allocator, &changes->entries, points));
  uint64_t* entries = &changes->entries.data[count * points];
  memset(entries, 0, points * sizeof(uint64_t));
  if (count != 0) {
    memcpy(entries, &changes->entries.data[from * points], points * sizeof(uint64_t));
  }
  entries[point] = change;
  changes->entries.count += points;
  changes->columns.data[changes->columns.count++] = (parting){.is_seen = true, .next = NONE};
  *out_column = (uint32_t)count;
  return STOW_OK;
}

// The column of a number of |from| that changes by |change| at |point|.
static stow_status find_column(stowi_exec_changes* changes, uint32_t from, size_t point,
                               uint64_t change, uint32_t* out_column) {
  uint64_t* entries = changes->entries.data;
  parting* columns = changes->columns.data;
  if (!columns[from].is_seen) {
    columns[from].is_seen = true;
    entries[from * changes->point_count + point] = change;
  }
  uint32_t found = from;
  while (found != NONE && entries[found * changes->point_count + point] != change) {
    found = columns[found].next;
  }
  *out_column = found;
  if (found != NONE) {
    return STOW_OK;
  }
  STOW_TRY(add_column(changes, from, point, change, out_column));
  if (*out_column != NONE) {
    columns = changes->columns.data;
    columns[*out_column].next = columns[from].next;
    columns[from].next = *out_column;
  }
  return STOW_OK;
}

static stow_status note(stowi_exec_changes* changes, size_t point, bool* out_is_worth) {
  uint32_t column = 0;
  bool is_first = changes->columns.count == 0;
  for (size_t i = 0; i < changes->columns.count; ++i) {
    changes->columns.data[i] = (parting){.is_seen = i == 0, .next = NONE};
  }
  STOW_TRY(is_first ? add_column(changes, 0, point, 0, &column) : STOW_OK);
  *out_is_worth = column != NONE;
  for (size_t i = 0; i < changes->numbers.count && *out_is_worth; ++i) {
    number* n = &changes->numbers.data[i];
    n->base = is_first ? get(n) : n->base;
    STOW_TRY(find_column(changes, n->column, point, get(n) - n->base, &column));
    n->column = column;
    *out_is_worth = column != NONE;
  }
  return STOW_OK;
}

stow_status stowi_exec_changes_note(stowi_exec_changes* changes, size_t point, stow_diag* diag,
                                    bool* out_is_worth) {
  *out_is_worth = false;
  return stowi_need_memory(!changes->is_failed && note(changes, point, out_is_worth) == STOW_OK,
                           diag);
}

// ---------------------------------------------------------------------------------------------
// The end

static bool is_wide(const stowi_exec_changes* changes, size_t column) {
  const uint64_t* entries = &changes->entries.data[column * changes->point_count];
  bool is = false;
  for (size_t i = 0; i < changes->point_count; ++i) {
    is = is || entries[i] + (UINT64_C(1) << 31) > UINT32_MAX;
  }
  return is;
}

// Numbers that change, by kind. |places| are those of columns in the table.
static void sort_numbers(const stowi_exec_changes* changes, const uint32_t* places,
                         number* out_numbers, size_t ends[KIND_COUNT]) {
  size_t count = 0;
  for (int kind = 0; kind < KIND_COUNT; ++kind) {
    for (size_t i = 0; i < changes->numbers.count; ++i) {
      number n = changes->numbers.data[i];
      bool has_more = n.column != 0 && places[n.column + 1] - places[n.column] == 2;
      n.kind = n.kind == NARROW && has_more ? WIDE : n.kind;
      if (n.column != 0 && (int)n.kind == kind) {
        n.column = places[n.column];
        out_numbers[count++] = n;
      }
    }
    ends[kind] = count;
  }
}

static void fill_table(const stowi_exec_changes* changes, const uint32_t* places, uint32_t* table) {
  size_t width = places[changes->columns.count];
  for (size_t column = 1; column < changes->columns.count; ++column) {
    for (size_t point = 0; point < changes->point_count; ++point) {
      uint64_t entry = changes->entries.data[column * changes->point_count + point];
      uint32_t* to = &table[point * width + places[column]];
      to[0] = (uint32_t)entry;
      if (places[column + 1] - places[column] == 2) {
        to[1] = (uint32_t)(entry >> 32);
      }
    }
  }
}

static stow_status finish(stowi_exec_changes* changes, uint32_t* places) {
  size_t columns = changes->columns.count;
  size_t count = 0;
  places[0] = places[1] = 0;  // the first one has no entries
  for (size_t i = 1; i < columns; ++i) {
    places[i + 1] = places[i] + (is_wide(changes, i) ? 2 : 1);
  }
  for (size_t i = 0; i < changes->numbers.count; ++i) {
    count += changes->numbers.data[i].column != 0;
  }
  changes->width = places[columns];
  changes->table = STOWI_ARRAY(changes->allocator, uint32_t, changes->width * changes->point_count);
  number* numbers = STOWI_ARRAY(changes->allocator, number, count);
  if (changes->table == NULL || numbers == NULL) {
    STOWI_ARRAY_FREE(changes->allocator, numbers, count);
    return STOW_ERR_OUT_OF_MEMORY;
  }
  sort_numbers(changes, places, numbers, changes->ends);
  fill_table(changes, places, changes->table);
  STOWI_VEC_FREE(changes->allocator, &changes->numbers);
  changes->numbers.data = numbers;
  changes->numbers.count = changes->numbers.capacity = count;
  return STOW_OK;
}

stow_status stowi_exec_changes_finish(stowi_exec_changes* changes, stow_diag* diag) {
  size_t count = changes->columns.count + 1;
  uint32_t* places = STOWI_ARRAY(changes->allocator, uint32_t, count);
  STOW_TRY(stowi_need_memory(places != NULL, diag));
  stow_status status = finish(changes, places);
  STOWI_ARRAY_FREE(changes->allocator, places, count);
  forget_entries(changes);
  return stowi_need_memory(status == STOW_OK, diag);
}

void stowi_exec_changes_set(const stowi_exec_changes* changes, size_t point) {
  const uint32_t* row = &changes->table[point * changes->width];
  const number* numbers = changes->numbers.data;
  size_t i = 0;
  for (; i < changes->ends[NARROW]; ++i) {
    uint64_t whole = numbers[i].base + (uint64_t)(int64_t)(int32_t)row[numbers[i].column];
    memcpy(numbers[i].at, &whole, sizeof(whole));
  }
  for (; i < changes->ends[WIDE]; ++i) {
    const uint32_t* entry = &row[numbers[i].column];
    uint64_t whole = numbers[i].base + (entry[0] | (uint64_t)entry[1] << 32);
    memcpy(numbers[i].at, &whole, sizeof(whole));
  }
  for (; i < changes->ends[HALF]; ++i) {
    uint32_t half = (uint32_t)numbers[i].base + row[numbers[i].column];
    memcpy(numbers[i].at, &half, sizeof(half));
  }
  for (; i < changes->ends[BYTE]; ++i) {
    *(unsigned char*)numbers[i].at = (unsigned char)(numbers[i].base + row[numbers[i].column]);
  }
}
