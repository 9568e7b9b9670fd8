#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace ingot {
namespace {

using Numbers = std::vector<std::int64_t>;
using Runs = std::vector<ScheduledRun>;

// 10 ms a pass of any number of rows that decode, and 101 rows with a prompt in 110 ms.
PassCosts measured_costs() {
  PassCosts costs;
  costs.observe(1, 0, 0.01);
  costs.observe(1, 100, 0.11);
  return costs;
}

RequestState waiting(std::int64_t number, std::int64_t tokens, std::int64_t asker = 0) {
  return {.number = number, .asker = asker, .tokens = tokens};
}

RequestState reading(std::int64_t number, std::int64_t tokens, std::int64_t computed) {
  const std::int64_t pages = (computed + 63) / 64;
  return {.number = number,
          .tokens = tokens,
          .computed = computed,
          .pages = pages,
          .own_pages = pages,
          .is_admitted = true};
}

RequestState generating(std::int64_t number, std::int64_t tokens) {
  return {.number = number,
          .tokens = tokens,
          .computed = tokens - 1,
          .pages = (tokens - 1 + 63) / 64,
          .own_pages = (tokens - 1 + 63) / 64,
          .is_admitted = true,
          .generates = true};
}

ScheduledPass schedule_of(const std::vector<RequestState>& requests, std::int64_t free_pages,
                          const ScheduleLimits& limits = {}, std::vector<ScheduleState::Turn> turns = {}) {
  return schedule({.requests = requests, .free_pages = free_pages, .admissions = 10, .turns = turns}, limits,
                  measured_costs());
}

TEST(Scheduler, WithoutRequestsThereIsNothingToCompute) {
  const ScheduledPass pass = schedule_of({}, 10);
  EXPECT_EQ(pass.runs, (Runs{}));
  EXPECT_EQ(pass.admitted, (Numbers{}));
}

TEST(Scheduler, ARunEndsWhereSomethingIsToBeKeptAndOthersHaveTheRest) {
  std::vector<RequestState> requests = {reading(0, 1000, 70), reading(1, 30, 0), waiting(2, 20)};
  requests[0].most_run = 58;
  requests[1].most_run = 30;
  requests[2].most_run = 7;
  EXPECT_EQ(schedule_of(requests, 100).runs, (Runs{{0, 58, false}, {1, 30, true}, {2, 7, false}}));
}

TEST(Scheduler, EveryGeneratingRequestHasItsRowAndAPromptWhatTimeIsLeft) {
  const ScheduledPass pass = schedule_of({generating(0, 100), reading(1, 1000, 0), generating(2, 30)}, 100);
  // Six times the 10 ms of a pass without prompts have time for 55 rows, which are 48 in whole tiles.
  EXPECT_EQ(pass.runs, (Runs{{0, 1, true}, {2, 1, true}, {1, 46, false}}));
  EXPECT_EQ(pass.decoding_rows, 2);
  EXPECT_EQ(pass.prompt_rows, 46);
}

// 734 rows in four times 200 ms, in whole tiles 736.
TEST(Scheduler, WhileNobodyGeneratesAPassTakesLonger) {
  EXPECT_EQ(schedule_of({reading(0, 1000, 100)}, 100, {.rows = 1024}).runs, (Runs{{0, 736, false}}));
  EXPECT_EQ(schedule_of({reading(0, 1000, 100)}, 100, {.rows = 1024, .stretch_alone = 1}).runs,
            (Runs{{0, 176, false}}));
  EXPECT_EQ(schedule_of({reading(0, 1000, 100)}, 100).runs, (Runs{{0, 512, false}}));
}

TEST(Scheduler, TheRestOfAPromptEndsItAndTheNextOneBegins) {
  const ScheduledPass pass = schedule_of({reading(0, 130, 100), reading(1, 500, 0)}, 100);
  EXPECT_EQ(pass.runs, (Runs{{0, 30, true}, {1, 482, false}}));
}

TEST(Scheduler, PromptsAreReadInTheOrderOfAdmission) {
  std::vector<RequestState> requests = {reading(0, 1000, 0), reading(1, 30, 0), waiting(2, 20)};
  requests[0].admission = 9;
  requests[1].admission = 8;
  EXPECT_EQ(schedule_of(requests, 100).runs, (Runs{{1, 30, true}, {0, 482, false}}));
}

TEST(Scheduler, TheMoreRowsDecodeTheFewerPromptsHaveInTheSameTime) {
  PassCosts costs;
  for (int pass = 0; pass < 10; ++pass) costs.observe(0, 256, 0.2);
  costs.observe(128, 0, 0.1);
  std::vector<std::int64_t> rows;
  for (const std::int64_t decoding : {1, 32, 64, 100, 128}) rows.push_back(prompt_rows_beside(decoding, {}, costs));
  EXPECT_EQ(rows, (Numbers{255, 224, 192, 156, 128}));
}

TEST(Scheduler, WhereMemoryIsShortPromptsHaveFewerRowsAndWhoGeneratesHasHisOwn) {
  const ScheduleLimits limits = {.prompt_rows = 20};
  EXPECT_EQ(schedule_of({generating(0, 100), reading(1, 1000, 0), generating(2, 30)}, 100, limits).runs,
            (Runs{{0, 1, true}, {2, 1, true}, {1, 20, false}}));
  EXPECT_EQ(schedule_of({reading(1, 1000, 0)}, 100, limits).runs, (Runs{{1, 20, false}}));
}

TEST(Scheduler, RowsForSoManyLeaveTheLeastChunkToPrompts) {
  EXPECT_EQ(rows_for(1), 32);
  EXPECT_EQ(rows_for(240), 256);
  EXPECT_EQ(rows_for(4096), 4112);
  ScheduleLimits limits;
  limits.rows = rows_for(300);
  EXPECT_GE(prompt_rows_beside(300, limits, measured_costs()), limits.least_chunk);
}

TEST(Scheduler, PromptsGetAsManyRowsAsDecodingOrSixteen) {
  ScheduleLimits limits;
  limits.pass_seconds = 0.001;  // no time at all
  std::vector<RequestState> requests;
  for (std::int64_t i = 0; i < 3; ++i) requests.push_back(generating(i, 10));
  requests.push_back(reading(3, 1000, 0));
  EXPECT_EQ(schedule_of(requests, 100, limits).prompt_rows, 16);
  for (std::int64_t i = 4; i < 40; ++i) requests.push_back(generating(i, 10));
  EXPECT_EQ(schedule_of(requests, 100, limits).prompt_rows, 39);
}

TEST(Scheduler, BeforeAnythingIsMeasuredAPromptBeginsWithTheLeastChunk) {
  EXPECT_EQ(prompt_rows_beside(0, {}, PassCosts{}), 16);
}

TEST(Scheduler, APassHasNoMoreRowsThanItMay) {
  ScheduleLimits limits;
  limits.rows = 32;
  const ScheduledPass pass = schedule_of({generating(0, 10), reading(1, 1000, 0)}, 100, limits);
  EXPECT_EQ(pass.decoding_rows + pass.prompt_rows, 32);
}

TEST(Scheduler, WaitingRequestsComeInTurnByAskerThenByArrival) {
  const std::vector<RequestState> requests = {waiting(0, 10, 7), waiting(1, 10, 7), waiting(2, 10, 8),
                                              waiting(3, 10, 7)};
  EXPECT_EQ(schedule_of(requests, 100).admitted, (Numbers{0, 2, 1, 3}));
  // 7 had the last turn.
  EXPECT_EQ(schedule_of(requests, 100, {}, {{7, 4}, {8, 3}}).admitted, (Numbers{2, 0, 1, 3}));
}

TEST(Scheduler, NewcomersTakeTheirPlaceBehindThoseWhoWait) {
  std::vector<RequestState> requests = {waiting(0, 10, 7)};
  for (std::int64_t i = 1; i < 50; ++i) {
    requests.push_back(waiting(i, 10, 100 + i));
    requests.back().admissions_before = 5 + i;
  }
  ScheduleLimits limits;
  limits.admitted = 1;
  EXPECT_EQ(schedule_of(requests, 100, limits, {{7, 5}}).admitted, (Numbers{0}));
}

TEST(Scheduler, PagesThatOthersUseAreNotFreeWhenARequestGoes) {
  std::vector<RequestState> requests;
  for (std::int64_t i = 0; i < 4; ++i) {
    requests.push_back(generating(i, 65 + 64 * 6));  // six pages of one text, and the seventh of its own to come
    requests.back().own_pages = 0;
  }
  // Nobody's going makes a page free: all but the oldest go, whose page is the one that there is.
  EXPECT_EQ(schedule_of(requests, 1).preempted, (Numbers{3, 2, 1}));
}

TEST(Scheduler, ARequestIsAdmittedWhenItsWholePromptAndAReserveFit) {
  const std::vector<RequestState> requests = {generating(0, 10), waiting(1, 640)};
  // Ten pages, and one each for the two that then run.
  EXPECT_EQ(schedule_of(requests, 11).admitted, (Numbers{}));
  EXPECT_EQ(schedule_of(requests, 12).admitted, (Numbers{1}));
}

TEST(Scheduler, PagesThatARequestSharesNeedNotBeFree) {
  RequestState sharing = waiting(1, 640);
  sharing.computed = 512;
  sharing.pages = 8;
  EXPECT_EQ(schedule_of({generating(0, 10), sharing}, 4).admitted, (Numbers{1}));
}

TEST(Scheduler, NobodyOvertakesTheOneWhoseTurnItIs) {
  EXPECT_EQ(schedule_of({generating(0, 10), waiting(1, 6400), waiting(2, 10)}, 50).admitted, (Numbers{}));
}

TEST(Scheduler, AHeldRequestLetsOthersPass) {
  RequestState held = waiting(0, 100);
  held.is_held = true;
  EXPECT_EQ(schedule_of({held, waiting(1, 10)}, 50).admitted, (Numbers{1}));
}

RequestState beginning_with(RequestState request, std::uint64_t page) {
  request.next_page = page;
  return request;
}

TEST(Scheduler, OfThoseWhoBeginAlikeOneReadsAndTheOthersLetOthersPass) {
  const std::vector<RequestState> requests = {beginning_with(waiting(0, 100), 5), beginning_with(waiting(1, 100), 5),
                                              beginning_with(waiting(2, 100), 6), waiting(3, 10), waiting(4, 10)};
  EXPECT_EQ(schedule_of(requests, 50).admitted, (Numbers{0, 2, 3, 4}));
}

// 8's turn comes first: it does not wait for what an earlier request of 7 might begin with some day.
TEST(Scheduler, NobodyWaitsForOneWhoseTurnComesLater) {
  const std::vector<RequestState> requests = {waiting(0, 10, 7), beginning_with(waiting(1, 100, 7), 5),
                                              beginning_with(waiting(2, 100, 8), 5)};
  ScheduleLimits limits;
  limits.admitted = 2;
  EXPECT_EQ(schedule_of(requests, 50, limits).admitted, (Numbers{0, 2}));
  EXPECT_EQ(schedule_of(requests, 50, {}, {{7, 4}, {8, 3}}).admitted, (Numbers{2, 0}));
}

TEST(Scheduler, WhoComputesAllOfItsPromptWaitsForNobody) {
  std::vector<RequestState> requests = {beginning_with(waiting(0, 100), 5), beginning_with(waiting(1, 100), 5)};
  requests[1].wants_all_outputs = true;
  EXPECT_EQ(schedule_of(requests, 50).admitted, (Numbers{0, 1}));
}

TEST(Scheduler, NoMoreRunThanMay) {
  ScheduleLimits limits;
  limits.admitted = 2;
  EXPECT_EQ(schedule_of({generating(0, 10), waiting(1, 10), waiting(2, 10)}, 50, limits).admitted, (Numbers{1}));
}

TEST(Scheduler, OutOfPagesTheYoungestGoesAndNobodyTakesItsPlace) {
  // Each needs a page for its next token.
  const ScheduledPass pass = schedule_of({generating(0, 65), generating(1, 65), generating(2, 65), waiting(3, 10)}, 1);
  EXPECT_EQ(pass.preempted, (Numbers{2}));
  EXPECT_EQ(pass.admitted, (Numbers{}));
  EXPECT_EQ(pass.runs, (Runs{{0, 1, true}, {1, 1, true}}));
}

TEST(Scheduler, TheOldestIsNeverPreempted) {
  const ScheduledPass pass = schedule_of({generating(0, 65)}, 0);
  EXPECT_EQ(pass.preempted, (Numbers{}));
}

TEST(Scheduler, ARunOfSeveralTokensGoesInWhole) {
  RequestState drafting = generating(0, 20);
  drafting.computed = 15;
  const ScheduledPass pass = schedule_of({drafting}, 10);
  EXPECT_EQ(pass.runs, (Runs{{0, 5, true}}));
  EXPECT_EQ(pass.decoding_rows, 1);
  EXPECT_EQ(pass.further_rows, 4);
}

RequestState far_ahead(std::int64_t number) {
  RequestState request = generating(number, 600);
  request.computed = 100;
  request.pages = request.own_pages = 10;
  return request;
}

TEST(Scheduler, RunsOfSeveralTokensShareWhatIsLeft) {
  const ScheduleLimits limits{.rows = 128};
  const ScheduledPass pass = schedule_of({far_ahead(0), generating(1, 20), far_ahead(2)}, 50, limits);
  ASSERT_EQ(pass.runs.size(), 3u);
  EXPECT_EQ(pass.runs[0], (ScheduledRun{1, 1, true}));  // those with a row each come first
  EXPECT_EQ(pass.runs[1].number, 0);
  EXPECT_EQ(pass.runs[2].number, 2);
  EXPECT_GT(pass.runs[1].tokens, 1);
  EXPECT_NEAR(static_cast<double>(pass.runs[1].tokens), static_cast<double>(pass.runs[2].tokens), 1);
  EXPECT_EQ(pass.decoding_rows, 3);
  EXPECT_EQ(pass.further_rows, pass.runs[1].tokens + pass.runs[2].tokens - 2);
  EXPECT_LE(pass.decoding_rows + pass.further_rows, limits.rows);
}

TEST(Scheduler, RunsOfSeveralTokensLeavePromptsTheLeastChunk) {
  const ScheduleLimits limits{.rows = 128};
  const ScheduledPass pass = schedule_of({far_ahead(0), reading(1, 200, 0)}, 50, limits);
  ASSERT_EQ(pass.runs.size(), 2u);
  EXPECT_EQ(pass.runs[1], (ScheduledRun{1, limits.least_chunk, false}));
  EXPECT_EQ(pass.prompt_rows, limits.least_chunk);
  EXPECT_GT(pass.further_rows, 0);
}

TEST(Scheduler, WhereMemoryIsShortThoseThatGenerateHaveARowEach) {
  const ScheduledPass pass = schedule_of({far_ahead(0), generating(1, 20)}, 50, {.reads_ahead = false});
  EXPECT_EQ(pass.runs, (Runs{{0, 1, false}, {1, 1, true}}));
  EXPECT_EQ(pass.further_rows, 0);
}

RequestState paused(RequestState request) {
  request.is_paused = true;
  return request;
}

TEST(Scheduler, APausedRequestHasNoRowsAndKeepsItsPages) {
  const ScheduledPass pass = schedule_of(
      {paused(generating(0, 65)), generating(1, 30), paused(reading(2, 100, 0)), paused(waiting(3, 10))}, 9);
  EXPECT_EQ(pass.runs, (Runs{{1, 1, true}}));
  EXPECT_EQ(pass.preempted, (Numbers{}));
  EXPECT_EQ(pass.admitted, (Numbers{}));
}

TEST(Scheduler, OutOfPagesPausedRequestsGoFirst) {
  const std::vector<RequestState> requests = {paused(generating(0, 64)), paused(generating(1, 64)), generating(2, 65),
                                              generating(3, 65)};
  EXPECT_EQ(schedule_of(requests, 2).preempted, (Numbers{}));
  EXPECT_EQ(schedule_of(requests, 1).preempted, (Numbers{1}));
  EXPECT_EQ(schedule_of(requests, 0).preempted, (Numbers{1, 0}));
  EXPECT_EQ(schedule_of({paused(generating(0, 64)), generating(2, 65), generating(3, 65)}, 0).preempted,
            (Numbers{0, 3}));
}

TEST(Scheduler, APausedRequestMakesWayForOneThatWaits) {
  ScheduleLimits limits;
  limits.admitted = 2;
  // In the next pass it has a place.
  EXPECT_EQ(schedule_of({paused(generating(0, 10)), generating(1, 10), waiting(2, 10)}, 50, limits).preempted,
            (Numbers{0}));
  EXPECT_EQ(schedule_of({paused(generating(0, 640)), waiting(2, 640)}, 9).preempted, (Numbers{0}));
  // Its pages are enough.
  EXPECT_EQ(schedule_of({paused(generating(0, 640)), waiting(2, 640)}, 10).admitted, (Numbers{2}));
}

TEST(Scheduler, RowsThatEachGiveAnOutputAreBounded) {
  ScheduleLimits limits;
  limits.prompt_outputs = 40;
  std::vector<RequestState> requests = {reading(0, 30, 0), reading(1, 500, 0), reading(2, 500, 0)};
  requests[0].wants_all_outputs = requests[1].wants_all_outputs = true;
  EXPECT_EQ(schedule_of(requests, 100, limits).runs, (Runs{{0, 30, true}, {1, 10, false}, {2, 472, false}}));
}

// A whole service without a model: whatever arrives, everybody ends, nobody holds more pages than there are, and what
// generates has its row in every pass, unless it is paused.
TEST(Scheduler, WhateverArrivesEverybodyEnds) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RandomNumbers random(seed);
    auto up_to = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(most));
    };
    const ScheduleLimits limits = {.page_length = 4, .admitted = 1 + up_to(8), .rows = 32};
    const std::int64_t pages = 20 + up_to(40);
    struct Simulated {
      RequestState state;
      std::int64_t left;  // to generate
    };
    std::vector<Simulated> requests;
    std::vector<ScheduleState::Turn> turns;
    PassCosts costs = measured_costs();
    std::int64_t arrived = 0, admissions = 0, passes = 0;
    while (arrived < 40 || !requests.empty()) {
      ASSERT_LT(++passes, 5000) << "seed " << seed;
      for (std::int64_t more = up_to(3); more > 0 && arrived < 40; --more, ++arrived) {
        requests.push_back({waiting(arrived, 1 + up_to(40), up_to(3)), 1 + up_to(30)});
        requests.back().state.admissions_before = admissions;
      }
      for (Simulated& request : requests) request.state.is_paused = up_to(4) == 0;
      std::vector<RequestState> states;
      std::int64_t held = 0;
      for (const Simulated& request : requests) {
        states.push_back(request.state);
        held += request.state.pages;
      }
      ASSERT_LE(held, pages) << "seed " << seed;
      const ScheduledPass pass = schedule(
          {.requests = states, .free_pages = pages - held, .admissions = admissions, .turns = turns}, limits, costs);
      auto find = [&](std::int64_t number) -> Simulated& {
        return *std::ranges::find_if(requests,
                                     [&](const Simulated& request) { return request.state.number == number; });
      };
      for (const std::int64_t number : pass.preempted) {
        RequestState& state = find(number).state;
        ASSERT_TRUE(state.is_admitted);
        state.computed = state.pages = state.own_pages = 0;
        state.is_admitted = state.generates = false;
      }
      for (const std::int64_t number : pass.admitted) {
        RequestState& state = find(number).state;
        ASSERT_FALSE(state.is_admitted);
        state.is_admitted = true;
        std::erase_if(turns, [&](const ScheduleState::Turn& turn) { return turn.asker == state.asker; });
        state.admission = ++admissions;
        turns.push_back({state.asker, admissions});
      }
      std::int64_t rows = 0;
      for (const ScheduledRun& run : pass.runs) {
        Simulated& request = find(run.number);
        ASSERT_TRUE(request.state.is_admitted && !request.state.is_paused);
        rows += run.tokens;
        request.state.computed += run.tokens;
        request.state.pages = request.state.own_pages = (request.state.computed + 3) / 4;
        ASSERT_EQ(run.ends, request.state.computed == request.state.tokens);
        if (!run.ends) continue;
        request.state.generates = true;
        ++request.state.tokens;
        --request.left;
      }
      ASSERT_LE(rows, limits.rows);
      for (const RequestState& before : states) {
        const bool went = std::ranges::count(pass.preempted, before.number) > 0;
        if (before.is_admitted && before.generates && !before.is_paused && !went) {
          ASSERT_TRUE(
              std::ranges::any_of(pass.runs, [&](const ScheduledRun& run) { return run.number == before.number; }));
        }
      }
      std::erase_if(requests, [](const Simulated& request) { return request.left <= 0; });
    }
  }
}

}  // namespace
}  // namespace ingot
