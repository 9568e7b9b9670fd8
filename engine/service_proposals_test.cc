// Tokens that are proposed and computed several at once: nobody's words depend on it.
#include <gtest/gtest.h>

#include <future>

#include "engine/service_fixture.h"
#include "model/grammar/constraints.h"

namespace ingot {
namespace {

using grammar::GrammarSource;

// Everything that was told of a request.
std::string told(const Heard& heard) {
  std::string all = heard.text + "|" + std::to_string(static_cast<int>(heard.ended.value_or(GenerationEnd::none)));
  for (std::size_t i = 0; i < heard.tokens.size(); ++i) {
    all += " " + std::to_string(heard.tokens[i]) + ":" + std::to_string(heard.scores[i].log_probability);
  }
  return all + " " + heard.reason;
}

class ServiceProposalsTest : public ServiceTest {
 protected:
  static constexpr std::string_view form = R"(root ::= "\nOnce there was a " word " cook named " word ". " word
    " lived in a little house by the sea, and every day" rest
    word ::= [A-Za-z]{1,9}
    rest ::= [ a-z]{4,12} ".")";

  TextRequest formed(std::uint64_t seed, double temperature) {
    TextRequest asked = request(openings[seed % 5], 120);
    asked.constraint = constraints_.of({.kind = GrammarSource::Kind::gbnf, .text = std::string(form)}).value();
    asked.sampling = {.temperature = temperature, .seed = seed};
    return asked;
  }
  std::vector<std::string> all_told(const std::vector<TextRequest>& requests, const ServiceOptions& options,
                                    int sequences = 8, std::int64_t pages = 0) {
    serve(sequences, pages, options);
    std::vector<HeardListener> listeners;
    for (const TextRequest& asked : requests) submit(asked, listeners.emplace_back(std::make_shared<Heard>()));
    run_all();
    std::vector<std::string> all;
    for (const HeardListener& listener : listeners) all.push_back(told(*listener));
    return all;
  }
  ServiceCounts counts() const { return service_->counts(); }

  grammar::Constraints constraints_{tokenizer()};
};

TEST_F(ServiceProposalsTest, WhatFollowedBeforeIsProposedAndChangesNothing) {
  std::vector<TextRequest> requests;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    TextRequest asked = request(openings[seed % 5], 60);
    const std::vector<std::int32_t> first = asked.prompt;
    // The tale has begun in this way before.
    asked.prompt.insert(asked.prompt.end(), first.begin() + 1, first.end());
    asked.sampling = {.temperature = seed < 3 ? 0.0 : 0.7, .seed = seed};
    asked.ignores_end = true;
    requests.push_back(std::move(asked));
  }
  const auto expected = all_told(requests, {});
  EXPECT_EQ(counts().proposed_tokens, 0);
  EXPECT_EQ(all_told(requests, {.most_looked_up = 6}), expected);
  EXPECT_GT(counts().accepted_tokens, 0);
  EXPECT_EQ(all_told(requests, {.most_looked_up = 6}, 6, 40), expected);
}

TEST_F(ServiceProposalsTest, WhoWaitsForMasksKeepsAllRows) {
  TextRequest asked = formed(1, 0);
  asked.most_likely = 2;
  const auto expected = all_told({asked}, {});
  auto masks = std::make_shared<MaskThread>();
  serve(2, 0, {.masks = masks});
  const HeardListener slow = std::make_shared<Heard>();
  const HeardListener beside = std::make_shared<Heard>();
  submit(asked, slow);
  for (int pass = 0; counts().accepted_tokens == 0 && pass < 100; ++pass) {
    service_->step();
    if (service_->awaits_masks()) bell_.wait();
  }
  std::promise<void> go;
  masks->run([&] { go.get_future().wait(); });
  submit(request(openings[1], 10), beside);
  for (int pass = 0; !beside->ended && pass < 100; ++pass) service_->step();
  EXPECT_TRUE(beside->ended && service_->awaits_masks() && !slow->ended);
  go.set_value();
  run_all();
  EXPECT_EQ(told(*slow), expected.front());
}

}  // namespace
}  // namespace ingot
