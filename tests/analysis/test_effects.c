// The effects table and the `with` clauses.
#include <stdio.h>
#include <string.h>

#include "effects/effects.h"
#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

static const char plain[] =
    "  %0 = input \"x\" : f32[4]\n"
    "  %1 = param \"w\" : f32[4]\n"
    "  %2 = add(%0, %1) : f32[4]\n"
    "  %3 = layer_norm(%2, _, %1) : f32[4]\n"
    "  %4, %5 = topk(%3) {k = 2} : f32[2], i64[2]\n"
    "  return %4";

TEST(NoEffectsMeansDefaultsEverywhere) {
  size_t operand;
  uint64_t offset;
  CHECK_U64(stowi_effects_scratch_count(NULL), 0);
  CHECK_U64(stowi_effects_hold_count(NULL), 0);
  CHECK_U64(stowi_effects_early_write_count(NULL), 0);
  CHECK_U64(stowi_effects_overwrite_count(NULL), 0);
  CHECK_U64(stowi_effects_forbidden_count(NULL), 0);
  CHECK(!stowi_effects_is_forbidden(NULL, 3, 0, 0));
  CHECK(!stowi_effects_inside(NULL, 3, &operand, &offset));
  CHECK_U64(stowi_effects_storage(NULL, 3), STOW_BYTES_DEFAULT);
  CHECK_U64(stowi_effects_alignment(NULL, 3), 0);
  CHECK_U64(stowi_effects_offset(NULL, 3), STOW_OFFSET_NONE);
  CHECK(!stowi_effects_own(NULL, 3));
  CHECK(!stowi_effects_state(NULL, 3));
  CHECK(stowi_effects_io(NULL, 3) == STOW_IO_DEFAULT);
  stow_effects_destroy(NULL);
}

TEST(ListsAreInOrderOfNodeThenOfCall) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f, plain) == STOW_OK);
  size_t index = 99;
  CHECK(stow_effects_add_scratch(f.effects, 3, 30, 16, &f.diag, &index) == STOW_OK);
  CHECK_U64(index, 0);
  CHECK(stow_effects_add_scratch(f.effects, 2, 20, 8, &f.diag, &index) == STOW_OK);
  CHECK_U64(index, 0);
  CHECK(stow_effects_add_scratch(f.effects, 2, 21, 8, &f.diag, &index) == STOW_OK);
  CHECK_U64(index, 1);
  CHECK(stow_effects_add_scratch(f.effects, 4, 40, 8, &f.diag, NULL) == STOW_OK);
  CHECK(stow_effects_add_scratch(f.effects, 0, 0, 1, &f.diag, &index) == STOW_OK);
  CHECK_U64(index, 0);
  const uint64_t bytes[] = {0, 20, 21, 30, 40};
  REQUIRE(stowi_effects_scratch_count(f.effects) == 5);
  for (size_t i = 0; i < 5; ++i) {
    CHECK_U64(stowi_effects_scratch(f.effects, i).bytes, bytes[i]);
  }
  CHECK_U64(stowi_effects_scratch(f.effects, 3).node, 3);
  CHECK_U64(stowi_effects_scratch(f.effects, 3).alignment, 16);

  CHECK(stow_effects_hold_operand(f.effects, 3, 0, STOW_STEP_END, &f.diag) == STOW_OK);
  CHECK(stow_effects_hold_operand(f.effects, 2, 1, 4, &f.diag) == STOW_OK);
  CHECK_U64(stowi_effects_hold(f.effects, 0).node, 2);
  CHECK_U64(stowi_effects_hold(f.effects, 0).operand, 1);
  CHECK_U64(stowi_effects_hold(f.effects, 0).until, 4);
  CHECK_U64(stowi_effects_hold(f.effects, 1).until, STOW_STEP_END);

  CHECK(stow_effects_write_early(f.effects, 4, 1, 2, &f.diag) == STOW_OK);
  CHECK_U64(stowi_effects_early_write(f.effects, 0).result, 1);
  CHECK_U64(stowi_effects_early_write(f.effects, 0).from, 2);
  CHECK(stow_effects_allow_in_place(f.effects, 3, 0, 2, &f.diag) == STOW_OK);
  CHECK_U64(stowi_effects_overwrite(f.effects, 0).node, 3);
  CHECK_U64(stowi_effects_overwrite(f.effects, 0).operand, 2);

  CHECK(stow_effects_forbid_in_place(f.effects, 4, 1, 0, &f.diag) == STOW_OK);
  CHECK(stow_effects_forbid_in_place(f.effects, 3, 0, 0, &f.diag) == STOW_OK);
  CHECK(stow_effects_forbid_in_place(f.effects, 3, 0, 2, &f.diag) == STOW_OK);
  CHECK_U64(stowi_effects_forbidden_count(f.effects), 3);
  CHECK_U64(stowi_effects_forbidden(f.effects, 0).operand, 0);
  CHECK_U64(stowi_effects_forbidden(f.effects, 1).operand, 2);
  CHECK_U64(stowi_effects_forbidden(f.effects, 2).node, 4);
  CHECK_U64(stowi_effects_forbidden(f.effects, 2).result, 1);
  CHECK_U64(stowi_effects_overwrite_count(f.effects), 1);
  fixture_free(&f);
}

TEST(ForbiddenPairsAreFound) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f, plain) == STOW_OK);
  CHECK(!stowi_effects_is_forbidden(f.effects, 3, 0, 0));
  CHECK(stow_effects_forbid_in_place(f.effects, 3, 0, 2, &f.diag) == STOW_OK);
  CHECK(stow_effects_forbid_in_place(f.effects, 3, 0, 0, &f.diag) == STOW_OK);
  CHECK(stow_effects_forbid_in_place(f.effects, 4, 1, 0, &f.diag) == STOW_OK);
  CHECK(stowi_effects_is_forbidden(f.effects, 3, 0, 0));
  CHECK(stowi_effects_is_forbidden(f.effects, 3, 0, 2));
  CHECK(stowi_effects_is_forbidden(f.effects, 4, 1, 0));
  CHECK(!stowi_effects_is_forbidden(f.effects, 4, 0, 0));
  CHECK(!stowi_effects_is_forbidden(f.effects, 2, 0, 0));
  CHECK(!stowi_effects_is_forbidden(f.effects, 3, 0, 1));
  fixture_free(&f);
}

TEST(SettersOfValuesAreReadBack) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f, plain) == STOW_OK);
  CHECK(stow_effects_set_storage(f.effects, 2, 100, &f.diag) == STOW_OK);
  CHECK(stow_effects_set_alignment(f.effects, 2, 4096, &f.diag) == STOW_OK);
  CHECK(stow_effects_set_offset(f.effects, 2, 8192, &f.diag) == STOW_OK);
  CHECK(stow_effects_set_own(f.effects, 3, &f.diag) == STOW_OK);
  CHECK(stow_effects_set_state(f.effects, 5, &f.diag) == STOW_OK);
  CHECK(stow_effects_set_io(f.effects, 4, STOW_IO_EXTERNAL, &f.diag) == STOW_OK);
  CHECK(stow_effects_set_io(f.effects, 0, STOW_IO_CONSUME, &f.diag) == STOW_OK);
  CHECK(stow_effects_place_inside(f.effects, 4, 0, 0, 8, &f.diag) == STOW_OK);
  CHECK_U64(stowi_effects_storage(f.effects, 2), 100);
  CHECK_U64(stowi_effects_alignment(f.effects, 2), 4096);
  CHECK_U64(stowi_effects_offset(f.effects, 2), 8192);
  CHECK(stowi_effects_own(f.effects, 3));
  CHECK(!stowi_effects_own(f.effects, 2));
  CHECK(stowi_effects_state(f.effects, 5));
  CHECK(stowi_effects_io(f.effects, 4) == STOW_IO_EXTERNAL);
  CHECK(stowi_effects_io(f.effects, 0) == STOW_IO_CONSUME);
  size_t operand;
  uint64_t offset;
  CHECK(stowi_effects_inside(f.effects, 4, &operand, &offset));
  CHECK_U64(operand, 0);
  CHECK_U64(offset, 8);
  CHECK(stow_effects_place_inside(f.effects, 2, 0, 1, 4, &f.diag) == STOW_OK);
  CHECK(stowi_effects_inside(f.effects, 2, &operand, &offset));
  CHECK_U64(operand, 1);
  CHECK_U64(offset, 4);
  CHECK_U64(stowi_effects_storage(f.effects, 77), STOW_BYTES_DEFAULT);
  CHECK(stow_effects_set_storage(f.effects, 2, STOW_BYTES_DEFAULT, &f.diag) == STOW_OK);
  CHECK_U64(stowi_effects_storage(f.effects, 2), STOW_BYTES_DEFAULT);
  fixture_free(&f);
}

// The diagnostic says so, too.
static bool is_refused(stow_status status, stow_diag* diag) {
  bool is = status == STOW_ERR_INVALID_ARGUMENT && diag->status == status;
  diag->status = STOW_OK;
  return is;
}

TEST(SettersRefuseUnknownIds) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f, plain) == STOW_OK);
  stow_effects* e = f.effects;
  stow_diag* d = &f.diag;
  CHECK(is_refused(stow_effects_add_scratch(e, 5, 8, 8, d, NULL), d));
  CHECK_HAS(d->message, "node 5 is out of range (5 nodes)");
  CHECK(is_refused(stow_effects_add_scratch(e, 2, 8, 24, d, NULL), d));
  CHECK_HAS(d->message, "alignment 24 is not a power of two");
  CHECK_U64(d->node, 2);
  CHECK_U64(d->line, 4);
  CHECK(is_refused(stow_effects_offer_scratch(e, 5, 0, 8, d), d));
  CHECK(is_refused(stow_effects_offer_scratch(e, 2, 0, 8, d), d));
  CHECK_HAS(d->message, "add %2: scratch 0 is out of range (0 pieces)");
  CHECK(is_refused(stow_effects_add_scratch(e, 2, 8, 0, d, NULL), d));
  CHECK(is_refused(stow_effects_hold_operand(e, 2, 2, 4, d), d));
  CHECK_HAS(d->message, "add %2: operand 2 is out of range (2 operands)");
  CHECK(is_refused(stow_effects_hold_operand(e, 3, 1, 4, d), d));
  CHECK_HAS(d->message, "operand 1 is missing");
  CHECK(is_refused(stow_effects_hold_operand(e, 3, 0, 3, d), d));
  CHECK_HAS(d->message,
            "layer_norm %3 holds operand 0 until layer_norm %3, which is not a later node");
  CHECK(is_refused(stow_effects_hold_operand(e, 3, 0, 9, d), d));
  CHECK(is_refused(stow_effects_write_early(e, 4, 2, 1, d), d));
  CHECK_HAS(d->message, "topk %4: result 2 is out of range (2 results)");
  CHECK(is_refused(stow_effects_write_early(e, 3, 0, 4, d), d));
  CHECK_HAS(d->message, "which is not an earlier node");
  CHECK(is_refused(stow_effects_write_early(e, 3, 0, 9, d), d));
  CHECK(is_refused(stow_effects_allow_in_place(e, 3, 1, 0, d), d));
  CHECK(is_refused(stow_effects_allow_in_place(e, 3, 0, 1, d), d));
  CHECK(is_refused(stow_effects_forbid_in_place(e, 3, 1, 0, d), d));
  CHECK_HAS(d->message, "result 1 is out of range (1 results)");
  CHECK(is_refused(stow_effects_forbid_in_place(e, 3, 0, 1, d), d));
  CHECK_HAS(d->message, "operand 1 is missing");
  CHECK(is_refused(stow_effects_forbid_in_place(e, 9, 0, 0, d), d));
  CHECK(is_refused(stow_effects_forbid_rows(e, 9, d), d));
  CHECK(is_refused(stow_effects_place_inside(e, 9, 0, 0, 0, d), d));
  CHECK(is_refused(stow_effects_place_inside(e, 3, 0, 7, 0, d), d));
  CHECK(is_refused(stow_effects_set_storage(e, 6, 1, d), d));
  CHECK_HAS(d->message, "value %6 is out of range (6 values)");
  CHECK(is_refused(stow_effects_set_own(e, 6, d), d));
  CHECK(is_refused(stow_effects_set_state(e, 6, d), d));
  CHECK(is_refused(stow_effects_set_offset(e, 6, 0, d), d));
  CHECK(is_refused(stow_effects_set_alignment(e, 6, 8, d), d));
  CHECK(is_refused(stow_effects_set_alignment(e, 2, 0, d), d));
  CHECK(is_refused(stow_effects_set_io(e, 6, STOW_IO_KEEP, d), d));
  fixture_free(&f);
}

TEST(PoliciesAreForBoundaryValuesAndOutputs) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f, plain) == STOW_OK);
  stow_effects* e = f.effects;
  stow_diag* d = &f.diag;
  CHECK(stow_effects_set_io(e, 2, STOW_IO_KEEP, d) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(d->message, "%2 is neither a boundary value nor an output");
  CHECK_U64(d->value, 2);
  CHECK(stow_effects_set_io(e, 5, STOW_IO_EXTERNAL, d) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_effects_set_io(e, 1, STOW_IO_CONSUME, d) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(d->message, "%1 \"w\" is a param or constant; only inputs can be consumed");
  CHECK(stow_effects_set_io(e, 1, STOW_IO_EXTERNAL, d) == STOW_OK);
  CHECK(stow_effects_set_io(e, 4, STOW_IO_CONSUME, d) == STOW_OK);
  CHECK(stow_effects_set_io(e, 4, (stow_io_policy)7, d) == STOW_ERR_INVALID_ARGUMENT);
  fixture_free(&f);
}

TEST(ContradictionsAreFoundInEitherOrder) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f, plain) == STOW_OK);
  stow_effects* e = f.effects;
  stow_diag* d = &f.diag;
  CHECK(stow_effects_set_own(e, 2, d) == STOW_OK);
  CHECK(stow_effects_place_inside(e, 2, 0, 0, 0, d) == STOW_ERR_CONFLICT);
  CHECK(stow_effects_place_inside(e, 3, 0, 0, 0, d) == STOW_OK);
  CHECK(stow_effects_set_own(e, 3, d) == STOW_ERR_CONFLICT);
  CHECK_HAS(d->message, "%3 cannot both have its own bytes and be inside an operand");
  CHECK(!stowi_effects_own(e, 3));
  CHECK(stow_effects_set_offset(e, 4, 24, d) == STOW_OK);
  CHECK(stow_effects_set_alignment(e, 4, 16, d) == STOW_ERR_CONFLICT);
  CHECK_HAS(d->message, "offset 24 is not a multiple of its alignment 16");
  CHECK(stow_effects_set_alignment(e, 4, 8, d) == STOW_OK);
  CHECK(stow_effects_set_offset(e, 4, 4, d) == STOW_ERR_CONFLICT);
  CHECK(stow_effects_set_offset(e, 4, STOW_OFFSET_NONE, d) == STOW_OK);
  CHECK_U64(stowi_effects_offset(e, 4), STOW_OFFSET_NONE);
  fixture_free(&f);
}

TEST(ResultsOfRegionOwnersAreInsideNothing) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f,
                          "  %0 = input \"c\" : bool[]\n"
                          "  %1 = if(%0) { yield %0 } else { yield %0 } : bool[]\n"
                          "  return %1") == STOW_OK);
  CHECK(is_refused(stow_effects_place_inside(f.effects, 3, 0, 0, 0, &f.diag), &f.diag));
  CHECK_HAS(f.diag.message, "if %1 owns regions");
  fixture_free(&f);
}

TEST(ResultsWrittenIntoAnOperandAreNotPlacedElsewhere) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f,
                          "  %0 = input \"cache\" : f32[4, 8]\n"
                          "  %1 = input \"new\" : f32[1, 8]\n"
                          "  %2 = kv_append(%0, %1) {axis = 0} : f32[4, 8]\n"
                          "  return %2") == STOW_OK);
  CHECK(is_refused(stow_effects_place_inside(f.effects, 2, 0, 0, 0, &f.diag), &f.diag));
  CHECK_HAS(f.diag.message, "kv_append %2 writes into an operand");
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Clauses

TEST(EveryKeyOfAClauseIsRead) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(
              &f,
              "  %0 = input \"x\" : f32[4] with {io = \"consume\"}\n"
              "  %1 = relu(%0) : f32[4] with {offer = [1, 9, 0, 200, 1, 7], "
              "scratch = [100, 64, 7, 1], hold = [0, 4]}\n"
              "  %2 = relu(%1) : f32[4] with {overwrite = [0, 0], hold = [0, -1], at = 128}\n"
              "  %3, %4 = topk(%2) {k = 2} : f32[2], i64[2] with {storage = [-1, 32], align = 32, "
              "own = [0, 1], state = true}\n"
              "  %5 = relu(%3) : f32[2] with {early = [0, 2], own = false, no_overwrite = [0, 0]}\n"
              "  %6 = relu(%5) : f32[2] with {inside = [0, 0, 0], io = \"external\"}\n"
              "  %7 = relu(%6) : f32[2] with {io = \"keep\", scratch = []}\n"
              "  return %6, %7") == STOW_OK);
  stow_effects* e = f.effects;
  CHECK(stowi_effects_io(e, 0) == STOW_IO_CONSUME);
  CHECK(stowi_effects_io(e, 6) == STOW_IO_EXTERNAL);
  CHECK(stowi_effects_io(e, 7) == STOW_IO_KEEP);
  REQUIRE(stowi_effects_scratch_count(e) == 2);
  CHECK_U64(stowi_effects_scratch(e, 0).bytes, 100);
  CHECK_U64(stowi_effects_scratch(e, 0).alignment, 64);
  CHECK_U64(stowi_effects_scratch(e, 1).bytes, 7);
  size_t offers;
  CHECK_U64(stowi_effects_offers(e, 1, &offers)[1].bytes, 200);
  CHECK_U64(stowi_effects_offers(e, 1, &offers)[2].index, 1);
  CHECK_U64(offers, 3);
  REQUIRE(stowi_effects_hold_count(e) == 2);
  CHECK_U64(stowi_effects_hold(e, 0).until, 3);  // the node that makes %4
  CHECK_U64(stowi_effects_hold(e, 1).until, STOW_STEP_END);
  REQUIRE(stowi_effects_overwrite_count(e) == 1);
  CHECK_U64(stowi_effects_overwrite(e, 0).node, 2);
  REQUIRE(stowi_effects_forbidden_count(e) == 1);
  CHECK_U64(stowi_effects_forbidden(e, 0).node, 4);
  CHECK_U64(stowi_effects_offset(e, 2), 128);
  CHECK_U64(stowi_effects_storage(e, 3), STOW_BYTES_DEFAULT);
  CHECK_U64(stowi_effects_storage(e, 4), 32);
  CHECK_U64(stowi_effects_alignment(e, 3), 32);
  CHECK_U64(stowi_effects_alignment(e, 4), 32);
  CHECK(!stowi_effects_own(e, 3));
  CHECK(stowi_effects_own(e, 4));
  CHECK(stowi_effects_state(e, 3));
  CHECK(stowi_effects_state(e, 4));
  REQUIRE(stowi_effects_early_write_count(e) == 1);
  CHECK_U64(stowi_effects_early_write(e, 0).from, 2);
  CHECK(!stowi_effects_own(e, 5));
  size_t operand;
  uint64_t offset;
  CHECK(stowi_effects_inside(e, 6, &operand, &offset));
  fixture_free(&f);
}

TEST(OfSeveralResultsTheOutputsTakeThePolicy) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f,
                          "  %0 = input \"x\" : f32[4]\n"
                          "  %1, %2 = topk(%0) {k = 2} : f32[2], i64[2] with {io = \"external\"}\n"
                          "  return %2") == STOW_OK);
  CHECK(stowi_effects_io(f.effects, 1) == STOW_IO_DEFAULT);
  CHECK(stowi_effects_io(f.effects, 2) == STOW_IO_EXTERNAL);
  fixture_free(&f);
}

static void check_clause(const char* clause, stow_status expected, const char* part) {
  fixture f;
  fixture_init(&f);
  char body[1024];
  snprintf(body, sizeof(body),
           "  %%0 = input \"x\" : f32[4]\n"
           "  %%1, %%2 = topk(%%0) {k = 2} : f32[2], i64[2]\n"
           "  %%3 = layer_norm(%%1, _, %%1) : f32[2] with {%s}\n"
           "  %%4 = relu(%%3) : f32[2]\n"
           "  return %%4",
           clause);
  stow_status status = fixture_effects(&f, body);
  test_check(status == expected, __FILE__, __LINE__, "{%s}: status %d, expected %d (%s)", clause,
             (int)status, (int)expected, f.diag.message);
  CHECK(f.effects == NULL);
  CHECK_HAS(f.diag.message, "layer_norm %3 with { ");
  CHECK_HAS(f.diag.message, part);
  CHECK_U64(f.diag.line, 4);
  CHECK_U64(f.diag.node, 2);
  fixture_free(&f);
}

TEST(AWrongClauseReportsPlaceAndExpectation) {
  const stow_status invalid = STOW_ERR_INVALID_ARGUMENT;
  check_clause("colour = 3", invalid, "{ colour }: unknown key; expected one of scratch, offer");
  check_clause("offer = 3", invalid, "{ offer }: expected a list of pairs [piece of scratch, by");
  check_clause("offer = [-1, 3]", invalid, "{ offer }: expected the index of a piece of scratch");
  check_clause("offer = [0, -3]", invalid, "{ offer }: expected the index of a piece of scratch");
  check_clause("offer = [1, 64], scratch = [64, 64]", invalid,
               "{ offer }: layer_norm %3: scratch 1 is out of range (1 pieces)");
  check_clause("scratch = [64, 64], offer = [0, 63]", invalid,
               "an offer of 63 bytes is less than its scratch needs, 64");
  check_clause("scratch = 3", invalid, "{ scratch }: expected a list of pairs [bytes, alignment");
  check_clause("scratch = [3]", invalid, "expected a list of pairs");
  check_clause("scratch = [-3, 1]", invalid,
               "layer_norm %3 with { scratch }: expected bytes and alignments, 0 or more");
  check_clause("scratch = [3, 3]", invalid, "alignment 3 is not a power of two");
  check_clause("hold = [0]", invalid, "expected a list of pairs [operand, value");
  check_clause("hold = [-1, 4]", invalid, "expected an operand index");
  check_clause("hold = [1, 4]", invalid, "operand 1 is missing");
  check_clause("hold = [0, 5]", invalid, "expected a value's number");
  check_clause("hold = [0, -2]", invalid, "expected a value's number");
  check_clause("hold = [0, 2]", invalid, "which is not a later node");
  check_clause("early = [0, 4]", invalid, "which is not an earlier node");
  check_clause("early = [4294967296, 0]", invalid, "expected a result index");
  check_clause("early = [0, -1]", invalid, "expected a value's number");
  check_clause("early = true", invalid, "expected a list of pairs [result, value");
  check_clause("no_overwrite = [0, 3]", invalid, "operand 3 is out of range (3 operands)");
  check_clause("no_overwrite = [-1, 0]", invalid, "expected result and operand indices");
  check_clause("seed = -1", invalid, "expected a number from 0 to 4294967295");
  check_clause("no_overwrite = 1", invalid, "expected a list of pairs [result, operand");
  check_clause("overwrite = [0, 3]", invalid, "operand 3 is out of range (3 operands)");
  check_clause("overwrite = [0, -3]", invalid, "expected result and operand indices");
  check_clause("overwrite = \"a\"", invalid, "expected a list of pairs [result, operand");
  check_clause("inside = [0, 0]", invalid, "expected a list of triples");
  check_clause("inside = [0, 0, -1]", invalid,
               "layer_norm %3 with { inside }: expected indices and an offset, 0 or more");
  check_clause("inside = [1, 0, 0]", invalid, "result 1 is out of range (1 results)");
  check_clause("storage = [1, 2]", invalid, "a list of one number per result");
  check_clause("storage = true", invalid, "expected a number");
  check_clause("storage = -2", invalid, "or -1 for the default");
  check_clause("align = 3", invalid, "alignment 3 is not a power of two");
  check_clause("at = 3, align = 4", STOW_ERR_CONFLICT, "offset 3 is not a multiple");
  check_clause("own = 1", invalid, "expected true or false");
  check_clause("own = [2]", invalid, "expected 0 or 1 for each result");
  check_clause("own = true, inside = [0, 0, 0]", STOW_ERR_CONFLICT, "cannot both");
  check_clause("state = [0, 1]", invalid, "one 0 or 1 per result");
  check_clause("io = \"borrow\"", invalid, "expected \"keep\", \"consume\" or \"external\"");
  check_clause("io = true", invalid, "expected \"keep\"");
  check_clause("io = \"keep\"", invalid, "expected a boundary value or an output of the graph");
}

TEST(AClauseWithoutALineNamesTheNode) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_graph* graph = NULL;
  stow_allocator allocator = stow_allocator_default();
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, allocator, &diag, &graph) == STOW_OK);
  stow_dim dims[1] = {4};
  stow_type type = stow_type_make(STOW_F32, 1, dims);
  stow_call* call = stow_graph_begin(graph, STOW_OP_PARAM);
  stow_call_name(call, 0, stow_str_of("w"));
  stow_call_result_type(call, &type);
  stow_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.name = stow_str_of("io");
  attr.kind = STOW_ATTR_STRING;
  attr.s = stow_str_of("consume");
  stow_call_with(call, &attr);
  REQUIRE(stow_call_finish(call, &diag, NULL) == STOW_OK);
  stow_effects* effects;
  CHECK(stow_effects_create(graph, allocator, &diag, &effects) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(effects == NULL);
  CHECK_TEXT(diag.message,
             "param %0 \"w\" with { io }: %0 \"w\" is a param or constant; only inputs can be "
             "consumed");
  CHECK_U64(diag.value, 0);
  stow_graph_destroy(graph);
}

// ---------------------------------------------------------------------------------------------

static stow_status set_all(stow_effects* e, stow_diag* diag) {
  stow_status status = stow_effects_add_scratch(e, 2, 8, 8, diag, NULL);
  status = status != STOW_OK ? status : stow_effects_hold_operand(e, 2, 0, 3, diag);
  status = status != STOW_OK ? status : stow_effects_write_early(e, 3, 0, 2, diag);
  status = status != STOW_OK ? status : stow_effects_allow_in_place(e, 3, 0, 0, diag);
  status = status != STOW_OK ? status : stow_effects_forbid_in_place(e, 3, 0, 0, diag);
  status = status != STOW_OK ? status : stow_effects_forbid_rows(e, 3, diag);
  status = status != STOW_OK ? status : stow_effects_place_inside(e, 4, 0, 0, 0, diag);
  return status;
}

static stow_status attempt_effects(stow_allocator allocator, void* user) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_effects* effects = NULL;
  stow_status status = stow_effects_create((const stow_graph*)user, allocator, &diag, &effects);
  if (status == STOW_OK) {
    status = set_all(effects, &diag);
  }
  CHECK(diag.status == status);
  stow_effects_destroy(effects);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndLeaksNothing) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_parse(
              &f,
              "  %0 = input \"x\" : f32[4] with {io = \"consume\"}\n"
              "  %1 = relu(%0) : f32[4] with {scratch = [8, 8], hold = [0, 2]}\n"
              "  %2 = relu(%1) : f32[4] with {overwrite = [0, 0], storage = 16, early = [0, 0]}\n"
              "  %3 = relu(%2) : f32[4] with {state = true, align = 8, at = 8}\n"
              "  %4 = relu(%3) : f32[4]\n"
              "  return %4") == STOW_OK);
  CHECK(test_fault_sweep(attempt_effects, f.graph) > 5);
  fixture_free(&f);
}

typedef stow_status (*value_setter)(stow_effects* effects, stow_diag* diag);
static stow_status set_storage(stow_effects* e, stow_diag* d) {
  return stow_effects_set_storage(e, 1, 1, d);
}
static stow_status set_alignment(stow_effects* e, stow_diag* d) {
  return stow_effects_set_alignment(e, 1, 1, d);
}
static stow_status set_offset(stow_effects* e, stow_diag* d) {
  return stow_effects_set_offset(e, 1, 1, d);
}
static stow_status set_own(stow_effects* e, stow_diag* d) { return stow_effects_set_own(e, 1, d); }
static stow_status set_state(stow_effects* e, stow_diag* d) {
  return stow_effects_set_state(e, 1, d);
}
static stow_status set_io(stow_effects* e, stow_diag* d) {
  return stow_effects_set_io(e, 0, STOW_IO_KEEP, d);
}
static stow_status set_inside(stow_effects* e, stow_diag* d) {
  return stow_effects_place_inside(e, 2, 0, 0, 0, d);
}

typedef struct setter_case {
  const stow_graph* graph;
  value_setter set;
} setter_case;

static stow_status attempt_setter(stow_allocator allocator, void* user) {
  const setter_case* c = (const setter_case*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_effects* effects = NULL;
  stow_status status = stow_effects_create(c->graph, allocator, &diag, &effects);
  if (status == STOW_OK) {
    status = c->set(effects, &diag);
  }
  stow_effects_destroy(effects);
  return status;
}

TEST(EverySetterSurvivesFailedAllocations) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_parse(&f, plain) == STOW_OK);
  const value_setter setters[] = {set_storage, set_alignment, set_offset, set_own,
                                  set_state,   set_io,        set_inside};
  for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); ++i) {
    setter_case c = {f.graph, setters[i]};
    CHECK_U64(test_fault_sweep(attempt_setter, &c), 4);
  }
  fixture_free(&f);
}
