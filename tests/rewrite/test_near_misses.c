// Near misses: patterns in which a rule fires, and changes of them after which it must not.
//
// near_misses/ has a file for each rule, with patterns, whose holes are filled with several seeds
// (template.h). A pattern must be rewritten each time. Then it is changed in one way after the
// other: as the file says, by making a node the caller's (a clause, a custom op), by returning a
// value, and by reading it once more. The rule must not fire then, and all exact rules together
// leave every bit as it was.
//
//     pattern
//       %x = input "x" : f32[$a, $a]
//       %y = reshape(%x) : f32[$a, $a]
//       %z = $u(%y) : f32[$a, $a]
//       return %z
//     nodes y                            # that must not be the caller's
//     outputs …                          # values that must not be outputs
//     readers …                          # values that must not have another reader
//
//     miss: another order
//     - reshape(%x)                      # this, wherever it is, becomes
//     + transpose(%x)
//
// A miss may have several such changes, of several lines, and a line `fires N`: how often the rule
// does.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite_support.h"
#include "rewrite/run_text.h"
#include "rewrite/template.h"
#include "support/test.h"

#define SEEDS 6
#define SEEDS_LONG 100
#define LEAST 1000  // near misses
#define ANY SIZE_MAX

typedef struct tally {
  uint64_t patterns;
  uint64_t misses;
  uint64_t rewritten;  // near misses of which other rules made another graph
} tally;

typedef struct trial {
  stow_rewrite_rule rule;
  char why[64];
  uint64_t seed;
  template_text text;  // before it is filled
  size_t fires;        // how often the rule must
} trial;

// ---------------------------------------------------------------------------------------------
// Trying them

static void check(const trial* t, bool is_good, const char* what, size_t number, const char* text) {
  test_check(is_good, __FILE__, __LINE__, "%s: %s: seed %" PRIu64 ": %s %zu\n%s",
             stow_rewrite_rule_name(t->rule), t->why, t->seed, what, number, text);
}

static stow_rewritten* rewrite_without(const stow_graph* graph, uint32_t off) {
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = off;
  return rewrite_graph(graph, &options);
}

static uint32_t other_near_rules(stow_rewrite_rule rule) {
  uint32_t bits = 0;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    bits |= stow_rewrite_rule_is_near((stow_rewrite_rule)i) ? UINT32_C(1) << i : 0;
  }
  return bits & ~stow_rewrite_bit(rule);
}

static bool same_names(const stow_graph* a, const stow_graph* b) {
  bool same = stow_graph_output_count(a) == stow_graph_output_count(b);
  for (size_t i = 0; same && i < stow_graph_output_count(a); ++i) {
    same = stow_str_equal(stow_graph_value_name(a, stow_graph_outputs(a)[i]),
                          stow_graph_value_name(b, stow_graph_outputs(b)[i]));
  }
  return same;
}

// All exact rules, and that of the trial. Returns whether any fired.
static bool compare(const trial* t, const stow_graph* graph, const char* text) {
  stow_rewritten* r = rewrite_without(graph, other_near_rules(t->rule));
  bool is_rewritten = stow_rewritten_graph(r) != graph;
  uint64_t before = run_outputs(graph, NULL, t->seed);
  check(t, same_names(graph, stow_rewritten_graph(r)), "other names", 0, text);
  check(t, run_outputs(graph, r, t->seed) == before, "other bits", 0, text);
  stow_rewritten_destroy(r);
  return is_rewritten;
}

static bool run_trial(const trial* t) {
  static template_text filled;
  template_fill(&t->text, t->seed, &filled);
  stow_module* module = parse_graph(filled.data);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_rewritten* r = rewrite_without(graph, ~stow_rewrite_bit(t->rule));
  size_t fired = stow_rewritten_count(r, t->rule);
  check(t, t->fires == ANY ? fired != 0 : fired == t->fires, "fired", fired, filled.data);
  bool may_differ = stow_rewrite_rule_is_near(t->rule) && fired != 0;
  bool is_rewritten = !may_differ && compare(t, graph, filled.data);
  stow_rewritten_destroy(r);
  stow_module_destroy(module);
  return is_rewritten;
}

static void try_miss(tally* all, const trial* t) {
  ++all->misses;
  all->rewritten += run_trial(t);
}

// ---------------------------------------------------------------------------------------------
// Changes that any pattern may have

// Adds |more| to the end of the line that makes |name|.
static void add_to_line(template_text* text, const char* name, const char* more) {
  char line[512], changed[600];
  const char* at = text->data + template_line(text, name);
  snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
  snprintf(changed, sizeof(changed), "%s%s", line, more);
  template_replace(text, line, changed);
}

static void add_alignment(template_text* text, const char* name) {
  add_to_line(text, name, " with {align = 128}");
}

static void add_scratch(template_text* text, const char* name) {
  add_to_line(text, name, " with {scratch = [64, 64]}");
}

static void make_custom(template_text* text, const char* name) {
  char line[512], changed[600];
  const char* at = text->data + template_line(text, name);
  const char* operands = strchr(at, '(');
  int size = (int)strcspn(operands, ")") + 1;
  bool has_attrs = strncmp(operands + size, " {", 2) == 0;
  snprintf(line, sizeof(line), "%.*s", (int)(operands - at) + size + (has_attrs ? 2 : 0), at);
  snprintf(changed, sizeof(changed), "%%%s = custom%.*s {name = \"custom\"%s", name, size, operands,
           has_attrs ? ", " : "}");
  template_replace(text, line, changed);
}

static void add_output(template_text* text, const char* name) {
  char changed[64];
  snprintf(changed, sizeof(changed), "return %%%s, ", name);
  template_replace(text, "return ", changed);
}

static void add_reader(template_text* text, const char* name) {
  char changed[256];
  const char* type = strstr(text->data + template_line(text, name), " : ");
  snprintf(changed, sizeof(changed), "%%reader = cosh(%%%s)%.*sreturn %%reader, ", name,
           (int)strcspn(type, "\n") + 1, type);
  template_replace(text, "return ", changed);
}

static const struct {
  const char* list;  // the names in this line of the file
  const char* why;
  void (*make)(template_text* text, const char* name);
} changes[] = {
    {"nodes", "the caller's alignment of", add_alignment},
    {"nodes", "the caller's scratch of", add_scratch},
    {"nodes", "the caller's kernel of", make_custom},
    {"outputs", "returned", add_output},
    {"readers", "another reader of", add_reader},
};

static void make_changes(tally* all, const trial* pattern, const char* list, const char* names) {
  static trial t;
  char name[16];
  for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); ++i) {
    int size;
    for (const char* at = names;
         strcmp(changes[i].list, list) == 0 && sscanf(at, "%15[a-z]%n", name, &size) == 1;
         at += size + (at[size] == ' ')) {
      t = *pattern;
      t.fires = 0;
      snprintf(t.why, sizeof(t.why), "%s %%%s", changes[i].why, name);
      changes[i].make(&t.text, name);
      try_miss(all, &t);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Files

typedef struct reader {
  const char* at;  // the beginning of a line
} reader;

static const char* line_end(const reader* r) { return r->at + strcspn(r->at, "\n"); }

static void next_line(reader* r) { r->at = line_end(r) + (*line_end(r) == '\n'); }

static bool begins(const reader* r, const char* text) {
  return strncmp(r->at, text, strlen(text)) == 0;
}

// The lines that begin with |prefix|, without it, with or without the last line's end.
static void read_lines(reader* r, const char* prefix, bool is_whole, template_text* out) {
  out->size = 0;
  out->data[0] = '\0';
  while (begins(r, prefix)) {
    const char* line = r->at + strlen(prefix);
    size_t size = (size_t)(line_end(r) - line);
    next_line(r);
    bool has_end = is_whole || begins(r, prefix);
    REQUIRE(out->size + size + 2 < sizeof(out->data));
    out->size += (size_t)snprintf(out->data + out->size, sizeof(out->data) - out->size, "%.*s%s",
                                  (int)size, line, has_end ? "\n" : "");
  }
}

static void read_miss(reader* r, trial* t) {
  static template_text from, to;
  snprintf(t->why, sizeof(t->why), "%.*s", (int)(line_end(r) - r->at), r->at);
  next_line(r);
  t->fires = 0;
  if (begins(r, "fires ")) {
    t->fires = strtoul(r->at + strlen("fires "), NULL, 10);
    next_line(r);
  }
  while (begins(r, "- ")) {
    read_lines(r, "- ", false, &from);
    read_lines(r, "+ ", false, &to);
    template_replace(&t->text, from.data, to.data);
  }
}

static void try_pattern(tally* all, reader* r, trial* pattern) {
  static trial t;
  read_lines(r, "  ", true, &pattern->text);
  snprintf(pattern->why, sizeof(pattern->why), "as it should be");
  pattern->fires = ANY;
  (void)run_trial(pattern);
  ++all->patterns;
  for (; *r->at != '\0' && !begins(r, "pattern"); next_line(r)) {
    char list[16];
    int size;
    while (begins(r, "miss: ")) {
      t = *pattern;
      read_miss(r, &t);
      try_miss(all, &t);
    }
    if (sscanf(r->at, "%15[a-z] %n", list, &size) == 1) {
      make_changes(all, pattern, list, r->at + size);
    }
  }
}

static tally try_file(stow_rewrite_rule rule, const char* data, uint64_t seed) {
  static trial pattern;
  tally all = {0};
  for (reader r = {data}; *r.at != '\0';) {
    bool is_pattern = begins(&r, "pattern");
    next_line(&r);
    pattern.rule = rule;
    pattern.seed = seed;
    if (is_pattern) {
      try_pattern(&all, &r, &pattern);
    }
  }
  return all;
}

static tally try_rule(stow_rewrite_rule rule) {
  char path[1024];
  size_t size;
  tally all = {0};
  snprintf(path, sizeof(path), "%s/%s.txt", test_data_dir(), stow_rewrite_rule_name(rule));
  char* data = test_read_file(path, &size);
  for (uint64_t seed = 1; seed <= (test_is_long() ? SEEDS_LONG : SEEDS); ++seed) {
    tally one = try_file(rule, data, seed);
    all.patterns += one.patterns;
    all.misses += one.misses;
    all.rewritten += one.rewritten;
  }
  free(data);
  printf("  %-12s %4" PRIu64 " patterns, %4" PRIu64 " near misses, %4" PRIu64 " rewritten\n",
         stow_rewrite_rule_name(rule), all.patterns, all.misses, all.rewritten);
  CHECK(all.misses > all.patterns);
  return all;
}

TEST(NearMissesStay) {
  uint64_t misses = 0;
  for (int i = 0; i < STOW_REWRITE_RULE_COUNT; ++i) {
    misses += try_rule((stow_rewrite_rule)i).misses;
  }
  printf("%" PRIu64 " near misses\n", misses);
  CHECK(misses >= LEAST);
}
