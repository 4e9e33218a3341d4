#include "rewrite/template.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define MOST_VALUES 64
#define MOST_NAME 16

static void fail(const template_text* text, const char* what) {
  fprintf(stderr, "%s:\n%s", what, text->data);
  exit(2);
}

__attribute__((format(printf, 2, 3))) static void put(template_text* t, const char* format, ...) {
  va_list list;
  va_start(list, format);
  t->size += (size_t)vsnprintf(t->data + t->size, sizeof(t->data) - t->size, format, list);
  va_end(list);
  if (t->size >= sizeof(t->data)) {
    t->data[sizeof(t->data) - 1] = '\0';
    fail(t, "too long");
  }
}

// ---------------------------------------------------------------------------------------------
// Edits

void template_set(template_text* text, const char* data) {
  text->size = 0;
  put(text, "%s", data);
}

void template_replace(template_text* text, const char* from, const char* to) {
  static template_text whole;
  whole = *text;
  const char* begin = whole.data;
  const char* at = strstr(begin, from);
  if (at == NULL) {
    fail(&whole, from);
  }
  for (text->size = 0; at != NULL; at = strstr(begin, from)) {
    put(text, "%.*s%s", (int)(at - begin), begin, to);
    begin = at + strlen(from);
  }
  put(text, "%s", begin);
}

size_t template_line(const template_text* text, const char* name) {
  char wanted[MOST_NAME + 8];
  int size = snprintf(wanted, sizeof(wanted), "%%%s", name);
  for (const char* at = text->data; (at = strstr(at, wanted)) != NULL; ++at) {
    const char* before = at;
    while (before > text->data && before[-1] == ' ') {
      --before;
    }
    bool is_first = before == text->data || before[-1] == '\n';
    if (is_first && !isalnum((unsigned char)at[size])) {
      return (size_t)(at - text->data);
    }
  }
  fail(text, wanted);
  return 0;
}

// ---------------------------------------------------------------------------------------------
// Holes

typedef struct filler {
  const char* at;
  template_text* out;
  uint64_t seed;
} filler;

// What hole |name| draws: independent of other holes.
static test_random random_of(const filler* f, char name) {
  test_random random = {f->seed * 256 + (unsigned char)name};
  return (test_random){test_random_u64(&random)};
}

static uint64_t draw(const filler* f, char name, uint64_t bound) {
  test_random random = random_of(f, name);
  return test_random_below(&random, bound);
}

static uint64_t dim_of(const filler* f, char name) {
  if (strchr("abcdMN", name) == NULL) {
    fail(f->out, "unknown hole");
  }
  return name >= 'a' ? 2 + draw(f, name, 4) : 48 + draw(f, name, 32);
}

// |name|, or the next letter, which is drawn to differ.
static const char* word_of(const filler* f, const char* const* words, size_t count, char name,
                           bool is_other) {
  size_t first = draw(f, name, count);
  size_t step = 1 + draw(f, (char)(name + 1), count - 1);
  return words[(first + (is_other ? step : 0)) % count];
}

static size_t read_count(filler* f) {
  size_t count = 1;
  while (*f->at++ != ')') {
    char c = *f->at;
    count *= isdigit((unsigned char)c)   ? (size_t)(c - '0')
             : isalpha((unsigned char)c) ? dim_of(f, c)
                                         : 1;
  }
  return count;
}

static void put_data(filler* f, char name) {
  test_random random = random_of(f, name);
  size_t count = read_count(f);
  put(f->out, "data = [");
  for (size_t i = 0; i < count; ++i) {
    int number = (int)test_random_below(&random, 127) + 1;
    number = name != 'h' && test_random_below(&random, 2) == 0 ? -number : number;
    put(f->out, name == 'i' ? "%s%d" : "%s%d.0e-2", i == 0 ? "" : ", ", number);
  }
  put(f->out, "]");
}

static void put_perm(filler* f, char name) {
  static const char* const perms[] = {"0, 2, 1", "1, 0, 2", "1, 2, 0", "2, 0, 1", "2, 1, 0"};
  put(f->out, "%s", perms[draw(f, name, 5)]);
}

static void put_hole(filler* f) {
  static const char* const unary[] = {"sigmoid", "tanh", "neg", "relu", "abs", "sinh", "atan"};
  static const char* const binary[] = {"add", "mul", "sub", "max", "min"};
  char name = *f->at++;
  switch (name) {
    case 'u':
    case 'v': put(f->out, "%s", word_of(f, unary, 7, 'u', name == 'v')); break;
    case 'o':
    case 'w': put(f->out, "%s", word_of(f, binary, 5, 'o', name == 'w')); break;
    case 'p':
    case 'q': put_perm(f, name); break;
    case 's': put(f->out, "0x1.%dp-6", (int)draw(f, name, 8)); break;
    case 't': put(f->out, "0x1.%dp-5", (int)draw(f, name, 8)); break;
    case 'z': put(f->out, "%d", 1 + (int)draw(f, name, 20)); break;
    case 'f':
    case 'g':
    case 'h':
    case 'i': put_data(f, name); break;
    default: put(f->out, "%d", (int)dim_of(f, name)); break;
  }
}

// ---------------------------------------------------------------------------------------------
// Names

typedef struct names {
  char texts[MOST_VALUES][MOST_NAME];
  int ids[MOST_VALUES];
  size_t count;
  int next;
} names;

static size_t read_name(const char* at, char out[MOST_NAME]) {
  size_t size = 0;
  while (isalnum((unsigned char)at[size]) && size + 1 < MOST_NAME) {
    out[size] = at[size];
    ++size;
  }
  out[size] = '\0';
  return size;
}

// The results of a line, without ids. Returns how many.
static size_t add_results(names* n, const char* at) {
  size_t before = n->count;
  while (*at == '%' && n->count < MOST_VALUES) {
    at += 1 + read_name(at + 1, n->texts[n->count++]);
    at += *at == ',' ? 2 : 0;
  }
  return n->count - before;
}

static void give_ids(names* n, size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i) {
    n->ids[i] = n->next++;
  }
}

// A node that owns regions has the ids after those in them. Only one level of them is needed.
static void find_names(names* n, const char* text) {
  size_t owner = 0, owned = 0;
  for (const char* line = text; *line != '\0';) {
    line += strspn(line, " ");
    const char* end = line + strcspn(line, "\n");
    size_t first = n->count;
    size_t count = add_results(n, line);
    if (count != 0 && end[-1] == '{') {
      owner = first;
      owned = count;
    } else {
      give_ids(n, first, count);
    }
    if (*line == '}' && end[-1] != '{') {
      give_ids(n, owner, owned);
    }
    line = end + (*end == '\n');
  }
}

static int id_of(const names* n, const char* name, const template_text* text) {
  for (size_t i = 0; i < n->count; ++i) {
    if (strcmp(n->texts[i], name) == 0) {
      return n->ids[i];
    }
  }
  fail(text, name);
  return 0;
}

static void number(const template_text* from, template_text* out) {
  names n = {.count = 0};
  find_names(&n, from->data);
  out->size = 0;
  put(out, "graph @g {\n");
  for (const char* at = from->data; *at != '\0';) {
    char name[MOST_NAME];
    if (*at == '%' || *at == '#') {
      put(out, *at == '%' ? "%%" : "");
      at += 1 + read_name(at + 1, name);
      put(out, "%d", id_of(&n, name, from));
    } else {
      put(out, "%c", *at++);
    }
  }
  put(out, "}\n");
}

void template_fill(const template_text* from, uint64_t seed, template_text* out) {
  static template_text filled;
  filler f = {.at = from->data, .out = &filled, .seed = seed};
  filled.size = 0;
  while (*f.at != '\0') {
    if (*f.at == '$') {
      ++f.at;
      put_hole(&f);
    } else {
      put(&filled, "%c", *f.at++);
    }
  }
  number(&filled, out);
}
