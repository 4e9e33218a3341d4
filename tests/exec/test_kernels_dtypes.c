// Which dtypes each kernel takes: every case of in_place_cases.h is run again with each dtype in
// the place of its first operand's. What comes of it is the table in docs/kernels.md; and whatever
// is taken gives the same bits in place, divided and alone (kernel_case_run).
#include <stdio.h>
#include <stdlib.h>
#include <stowage/op.h>
#include <string.h>

#include "exec/kernel_case.h"
#include "exec/kernels/table.h"
#include "graph/in_place_cases.h"
#include "graph/shape_cases.h"
#include "support/test.h"

#define TEXT_SIZE 1024
#define TABLE_SIZE 65536

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// |text| with |from| replaced, where it is a word: |most| times at most.
static void replace(const char* text, const char* from, const char* to, size_t most, char* out) {
  size_t size = strlen(from);
  size_t used = 0;
  for (const char* at = text; *at != '\0' && used + 16 < TEXT_SIZE;) {
    bool is_here = most != 0 && strncmp(at, from, size) == 0 && (at == text || !is_word(at[-1])) &&
                   !is_word(at[size]);
    if (is_here) {
      used += (size_t)snprintf(out + used, TEXT_SIZE - used, "%s", to);
      at += size;
      --most;
    } else {
      out[used++] = *at++;
    }
  }
  out[used] = '\0';
}

// The dtype of the first operand, where that is an input.
static bool find_dtype(const in_place_case* o, char* out) {
  const char* at = strncmp(o->operands, "bounded ", 8) == 0 ? o->operands + 8 : o->operands;
  size_t size = strcspn(at, "[");
  bool is_first = strstr(o->node, "(%0") != NULL && strstr(o->operands, ":=") == NULL;
  if (!is_first || size == 0 || size >= 16) {
    return false;
  }
  memcpy(out, at, size);
  out[size] = '\0';
  return true;
}

// Data that an op cannot take, such as indices beyond a dim, does not speak against the dtype.
static bool is_taken(const char* operands, const char* node, const char* results) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  bool is_graph = module != NULL;
  stow_module_destroy(module);
  kernel_case* c = is_graph ? kernel_case_create(operands, node, results) : NULL;
  if (c == NULL) {
    return false;
  }
  kernel_case_fill(c, 1);
  stow_status status = kernel_case_run(c);
  kernel_case_destroy(c);
  return status != STOW_ERR_UNSUPPORTED && status != STOW_ERR_TYPE;
}

// ---------------------------------------------------------------------------------------------
// The table

typedef struct op_row {
  bool has_case;
  uint32_t taken;  // by dtype
} op_row;

static stow_op op_of(const in_place_case* o) {
  char name[64];
  size_t size = strcspn(o->node, "(");
  snprintf(name, sizeof(name), "%.*s", (int)size, o->node);
  return stow_ops_find(NULL, stow_str_of(name));
}

// Other operands and results may have to be of the same dtype, or of the one they are.
static bool takes(const in_place_case* o, const char* from, const char* to) {
  char operands[TEXT_SIZE], node[TEXT_SIZE], results[TEXT_SIZE];
  bool is = false;
  for (int way = 0; way < 4 && !is; ++way) {
    replace(o->operands, from, to, (way & 1) != 0 ? 1 : SIZE_MAX, operands);
    replace(o->node, from, to, (way & 2) != 0 ? 0 : SIZE_MAX, node);
    replace(o->results, from, to, (way & 2) != 0 ? 0 : SIZE_MAX, results);
    is = is_taken(operands, node, results);
  }
  return is;
}

static void ask(op_row* rows) {
  for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
    const in_place_case* o = &in_place_cases[i];
    char from[16];
    stow_op op = op_of(o);
    // The dtypes of `blocks` and `stream` are those of the ops in their functions.
    if (op >= STOW_OP_CORE_COUNT || stowi_kernel_of(op) == NULL || op == STOW_OP_BLOCKS ||
        op == STOW_OP_STREAM || !find_dtype(o, from)) {
      continue;
    }
    rows[op].has_case = true;
    for (int dtype = 0; dtype < STOW_DTYPE_COUNT; ++dtype) {
      bool is = takes(o, from, stow_dtype_name((stow_dtype)dtype));
      rows[op].taken |= is ? UINT32_C(1) << dtype : 0;
    }
  }
}

typedef struct group {
  const char* name;
  uint32_t dtypes;
} group;

#define BIT(name) (UINT32_C(1) << STOW_##name)

static const group groups[] = {
    {"floats", BIT(F32) | BIT(F16) | BIT(BF16) | BIT(F64)},
    {"integers",
     BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64) | BIT(U8) | BIT(U16) | BIT(U32) | BIT(U64)},
    {"bool", BIT(BOOL)},
    {"f8", BIT(F8E4M3FN) | BIT(F8E4M3FNUZ) | BIT(F8E5M2) | BIT(F8E5M2FNUZ) | BIT(F8E8M0)},
    {"packed", BIT(F4E2M1) | BIT(I4) | BIT(U4) | BIT(I2) | BIT(U2)},
    {"complex", BIT(C64) | BIT(C128)},
};

static size_t write_dtypes(uint32_t taken, char* out) {
  size_t used = 0;
  for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); ++i) {
    if ((taken & groups[i].dtypes) == groups[i].dtypes) {
      used += (size_t)sprintf(out + used, "%s%s", used == 0 ? "" : ", ", groups[i].name);
      continue;
    }
    for (int dtype = 0; dtype < STOW_DTYPE_COUNT; ++dtype) {
      if ((taken & groups[i].dtypes) >> dtype & 1) {
        used += (size_t)sprintf(out + used, "%s%s", used == 0 ? "" : ", ",
                                stow_dtype_name((stow_dtype)dtype));
      }
    }
  }
  return used == 0 ? (size_t)sprintf(out, "none") : used;
}

static size_t write_table(const op_row* rows, char* out) {
  bool is_done[STOW_OP_CORE_COUNT] = {false};
  size_t used = (size_t)sprintf(out, "| first operand | ops |\n| --- | --- |\n");
  for (stow_op first = 0; first < STOW_OP_CORE_COUNT; ++first) {
    if (!rows[first].has_case || is_done[first]) {
      continue;
    }
    used += (size_t)sprintf(out + used, "| ");
    used += write_dtypes(rows[first].taken, out + used);
    for (stow_op op = first; op < STOW_OP_CORE_COUNT; ++op) {
      if (rows[op].has_case && rows[op].taken == rows[first].taken) {
        is_done[op] = true;
        used += (size_t)sprintf(out + used, "%s`%s`", op == first ? " | " : " ",
                                stow_ops_get(NULL, op)->name);
      }
    }
    used += (size_t)sprintf(out + used, " |\n");
  }
  return used;
}

static char* read_docs(void) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/kernels.md", test_data_dir());
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 4 * TABLE_SIZE);
  if (file != NULL && text != NULL) {
    size_t size = fread(text, 1, 4 * TABLE_SIZE - 1, file);
    text[size] = '\0';
  }
  if (file != NULL) {
    fclose(file);
  }
  return text;
}

TEST(TheTableOfDtypesIsCorrect) {
  static op_row rows[STOW_OP_CORE_COUNT];
  static char table[TABLE_SIZE];
  ask(rows);
  size_t size = write_table(rows, table);
  char* docs = read_docs();
  REQUIRE(docs != NULL);
  const char* there = strstr(docs, "| first operand | ops |\n");
  if (!CHECK(there != NULL && strncmp(there, table, size) == 0 && there[size] == '\n')) {
    printf("docs/kernels.md should have:\n%s", table);
  }
  free(docs);
}
