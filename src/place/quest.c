// Runs a quest: load and bound first, then the strategy's work, then the outcome.
#include "place/quest.h"

#include <string.h>

#include "base/diag.h"
#include "place/greedy/greedy.h"
#include "place/problem.h"

// Nodes between two reports: a few milliseconds of any search. A node costs more in a large
// problem.
#define MOST_BETWEEN_REPORTS 2048
#define BUFFERS_BETWEEN_REPORTS 131072

void stow_place_options_defaults(stow_place_options* options) {
  static const stow_place_options defaults = {.reuse = true,
                                              .capacity = STOW_PLACE_SMALLEST,
                                              .nodes = STOW_PLACE_DEFAULT_NODES,
                                              .patience = STOW_PLACE_NO_LIMIT};
  stowi_init_struct(options, &defaults, sizeof(defaults));
}

uint64_t stowi_place_quest_goal(const stowi_place_quest* quest) {
  bool fit = quest->options.capacity != STOW_PLACE_SMALLEST;
  return fit ? quest->options.capacity : quest->bound;
}

bool stowi_place_quest_answered(const stowi_place_quest* quest) {
  return quest->height <= stowi_place_quest_goal(quest) || quest->bound > quest->options.capacity;
}

bool stowi_place_quest_done(const stowi_place_quest* quest) {
  return quest->stopped || quest->nodes >= quest->options.nodes ||
         quest->nodes - quest->last_gain >= quest->options.patience ||
         stowi_place_quest_answered(quest);
}

bool stowi_place_quest_turn_over(const stowi_place_quest* quest) {
  return quest->nodes >= quest->turn_end || stowi_place_quest_done(quest);
}

static uint64_t nodes_between_reports(const stowi_place_quest* quest) {
  uint64_t nodes = 1 + BUFFERS_BETWEEN_REPORTS / (quest->problem->buffers.count + 1);
  return nodes < MOST_BETWEEN_REPORTS ? nodes : MOST_BETWEEN_REPORTS;
}

static void report(stowi_place_quest* quest) {
  quest->next_report = quest->nodes + nodes_between_reports(quest);
  if (quest->options.on_progress != NULL && !quest->stopped) {
    stow_place_progress progress = {quest->phase, quest->height, quest->bound, quest->nodes};
    if (!quest->options.on_progress(quest->options.user, &progress)) {
      quest->stopped = true;
    }
  }
}

void stowi_place_quest_offer(stowi_place_quest* quest, const uint64_t* offsets, uint64_t height) {
  if (height < quest->height) {
    memcpy(quest->offsets, offsets, quest->problem->buffers.count * sizeof(*offsets));
    quest->height = height;
    quest->last_gain = quest->nodes;
    report(quest);
  }
}

void stowi_place_quest_raise(stowi_place_quest* quest, uint64_t bound) {
  if (bound > quest->bound) {
    quest->bound = bound;
    quest->last_gain = quest->nodes;
  }
}

bool stowi_place_quest_spend(stowi_place_quest* quest, uint64_t nodes) {
  quest->nodes += nodes;
  if (quest->nodes >= quest->next_report) {
    report(quest);
  }
  return !stowi_place_quest_done(quest);
}

bool stowi_place_quest_poll(stowi_place_quest* quest) {
  report(quest);
  return !quest->stopped;
}

uint64_t stowi_place_quest_left(const stowi_place_quest* quest) {
  return quest->nodes < quest->options.nodes ? quest->options.nodes - quest->nodes : 0;
}

// ---------------------------------------------------------------------------------------------
// Turns

// Long enough for an attempt or two, so that turns are about equal.
#define TURN_NODES 3072
#define TURN_NODES_PER_BUFFER 4

static stow_status play(stowi_place_quest* quest, uint64_t nodes, stowi_place_player* player) {
  if (player->debt >= nodes) {
    player->debt -= nodes;
    return STOW_OK;
  }
  uint64_t end = quest->nodes + (nodes - player->debt);
  quest->turn_end = end;
  stow_status status = player->play(player->state, &player->is_idle);
  player->debt = quest->nodes > end ? quest->nodes - end : 0;
  quest->turn_end = STOW_PLACE_NO_LIMIT;
  return status;
}

stow_status stowi_place_take_turns(stowi_place_quest* quest, uint64_t first_nodes,
                                   stowi_place_player* players, size_t count) {
  uint64_t turn = TURN_NODES + TURN_NODES_PER_BUFFER * (uint64_t)quest->problem->buffers.count;
  uint64_t shares = 0;
  for (size_t i = 0; i < count; ++i) {
    shares += players[i].share;
  }
  size_t leader = 0;
  size_t busy = 1;
  for (uint64_t round = 0; busy > 0 && !stowi_place_quest_done(quest); ++round) {
    busy = 0;
    size_t first = leader;
    for (size_t k = 0; k < count && !stowi_place_quest_done(quest); ++k) {
      size_t i = (first + k) % count;
      if (!players[i].is_idle) {
        uint64_t before = quest->height;
        uint64_t others = shares - players[i].share;
        uint64_t own = i == leader && others > players[i].share ? others : players[i].share;
        STOW_TRY(play(quest, round == 0 && i == 0 ? first_nodes : turn * own, &players[i]));
        leader = quest->height < before ? i : leader;
        busy += !players[i].is_idle;
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// From problem to placement

static stow_outcome outcome_of(const stowi_place_quest* quest) {
  if (quest->height <= quest->options.capacity) {
    return quest->height <= quest->bound ? STOW_OUTCOME_OPTIMAL : STOW_OUTCOME_FEASIBLE;
  }
  return quest->bound > quest->options.capacity ? STOW_OUTCOME_INFEASIBLE : STOW_OUTCOME_GAVE_UP;
}

static stow_status work_on(stowi_place_quest* quest, stowi_place_work work) {
  if (!quest->options.reuse) {
    return stowi_place_apart(quest);
  }
  stow_load load = {.struct_size = sizeof(load)};
  STOW_TRY(stow_problem_load(quest->problem, quest->allocator, quest->diag, &load));
  quest->pair_count = load.pair_count;
  stowi_place_quest_raise(quest, load.lower_bound);
  STOW_TRY(stowi_place_check_fixed(quest));
  STOW_TRY(stowi_place_start(quest));
  bool is_over = quest->stopped || stowi_place_quest_answered(quest);
  return is_over && quest->height != UINT64_MAX ? STOW_OK : work(quest);
}

stow_status stowi_place_quest_run(const stow_problem* problem, const stow_place_options* options,
                                  stow_allocator allocator, stow_diag* diag, stowi_place_work work,
                                  stow_placement** out_placement) {
  *out_placement = NULL;
  stowi_place_quest quest = {.problem = problem, .allocator = allocator, .diag = diag};
  quest.phase = "start";
  quest.height = UINT64_MAX;
  stow_place_options_init(&quest.options);
  STOW_TRY(stowi_load_options(&quest.options, options, sizeof(quest.options), "stow_place_options",
                              diag));
  quest.turn_end = STOW_PLACE_NO_LIMIT;
  stow_placement* placement = stowi_place_placement_create(allocator, problem->buffers.count);
  STOW_TRY(stowi_need_memory(placement != NULL, diag));
  quest.offsets = placement->offsets;
  stow_status status = work_on(&quest, work);
  if (status != STOW_OK) {
    stow_placement_destroy(placement);
    return status;
  }
  placement->height = quest.height;
  placement->bound = quest.bound;
  placement->outcome = outcome_of(&quest);
  placement->nodes = quest.nodes;
  placement->stopped = quest.stopped;
  *out_placement = placement;
  return STOW_OK;
}
