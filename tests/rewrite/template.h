// Texts of graphs with holes that are filled with what is drawn, and values with names instead of
// ids.
#ifndef STOWAGE_TESTS_REWRITE_TEMPLATE_H_
#define STOWAGE_TESTS_REWRITE_TEMPLATE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEMPLATE_MOST 32768

typedef struct template_text {
  char data[TEMPLATE_MOST];  // ends with NUL
  size_t size;
} template_text;

// Fills |from| and puts its nodes into a graph. A line is a node, whose results are `%name`; they
// get the next ids. `#name` is the id alone. Holes are the same wherever they occur, and follow
// from |seed|:
//
//     $a $b $c $d     dims from 2 to 5
//     $M $N           dims from 48 to 79
//     $u $v           two elementwise ops of one operand
//     $o $w           two of two operands
//     $p $q           permutations of 3 dims
//     $s $t $z        two scales and a zero point of quantised numbers
//     $f(n) $g(n)     data: n floats; n is a product of digits and dims, such as 3*a
//     $h(n)           data: n floats above 0
//     $i(n)           data: n integers that i8 has
//
// Ends the program if a hole or a name is unknown, or there is no room.
void template_fill(const template_text* from, uint64_t seed, template_text* out);

void template_set(template_text* text, const char* data);
// Puts |to| in place of |from|, wherever it is. Ends the program if it is nowhere.
void template_replace(template_text* text, const char* from, const char* to);
// The line that makes %|name|: where it begins, after spaces. Ends the program if none does.
size_t template_line(const template_text* text, const char* name);

#endif  // STOWAGE_TESTS_REWRITE_TEMPLATE_H_
