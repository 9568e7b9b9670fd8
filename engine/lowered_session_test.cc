// Cache lowering, checked against the circuit it rewrote: a session that is fed pieces of several sequences gives the
// scores of one pass without memory over whole sequences, whose attention is not lowered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "engine/golden_model.h"
#include "kernels/all_operations.h"
#include "machine/machine.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

constexpr std::int64_t longest = 24;
constexpr std::int64_t lengths[] = {13, 21, longest};
constexpr std::int64_t most_at_once = 5;  // tokens of a sequence

using Rows = std::vector<std::vector<float>>;  // one for each token of a sequence

struct Sequence {
  std::vector<std::int32_t> tokens;
  Rows expected;
};

// Outputs of the circuit as the template writes it down, without memory and without a rewrite.
void compute_unlowered(const Model& model, std::vector<Sequence>& sequences) {
  PassShape pass{.runs = {}, .outputs = 0};
  for (const Sequence& sequence : sequences) pass.runs.push_back(static_cast<std::int64_t>(sequence.tokens.size()));
  pass.outputs = pass.tokens();
  CircuitBuilder builder(model.weights(), pass);
  model.form().emit(builder);
  const KernelTable table = KernelTable::select(all_operations(), Machine::detect().features, {}).value();
  Result<Plan> plan = Plan::create(builder.finish().value(), table, 1);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  for (const Step& step : plan.value().circuit().steps) ASSERT_NE(step.operation->name, "cache.store_paged");

  const Memory arena = Memory::allocate(Bytes(static_cast<std::size_t>(plan.value().arena_bytes()))).value();
  const Memory scratch = Memory::allocate(Bytes(plan.value().scratch_bytes())).value();
  ASSERT_TRUE(plan.value().bind(arena.data(), [](const CircuitTensor&) { return nullptr; }).ok());
  const auto input = [&](std::string_view name) {
    return reinterpret_cast<std::int32_t*>(plan.value().tensor(name).data());
  };
  std::int32_t token = 0;
  for (const Sequence& sequence : sequences) {
    for (std::size_t position = 0; position < sequence.tokens.size(); ++position, ++token) {
      input(pass_inputs::tokens)[token] = sequence.tokens[position];
      input(pass_inputs::positions)[token] = static_cast<std::int32_t>(position);
      input(pass_inputs::wanted)[token] = token;
    }
  }
  const std::unique_ptr<Workers> workers = Workers::create({.threads = 1}).value();
  Context context{*workers, scratch.bytes()};
  const Result<void> done = plan.value().run(context);
  ASSERT_TRUE(done.ok()) << done.error().text();
  const AnyView result = plan.value().tensor(pass_inputs::result);
  const auto* row = reinterpret_cast<const float*>(result.data());
  for (Sequence& sequence : sequences) {
    for (std::size_t position = 0; position < sequence.tokens.size(); ++position, row += result.size(1)) {
      sequence.expected.emplace_back(row, row + result.size(1));
    }
  }
}

void expect_near(std::span<const float> expected, const float* found, std::size_t sequence, std::size_t position) {
  double size = 0;
  double worst = 0;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    const double error = std::fabs(double{expected[index]} - found[index]);
    size = std::max(size, std::fabs(double{expected[index]}));
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
  }
  // Pieces sum in other orders; the gated delta rule carries that from token to token.
  EXPECT_LE(worst, 5e-5 * size) << "sequence " << sequence << " at " << position;
}

class LoweredSession : public testing::TestWithParam<const char*> {};

TEST_P(LoweredSession, GivesTheScoresOfWholeSequencesInWhateverPiecesTheyCome) {
  for (const bool rewrites : {true, false}) {
    const auto session = golden_session(GetParam(), {.context = longest,
                                                     .sequences = std::ssize(lengths),
                                                     .page_length = 2,
                                                     .chunk = most_at_once * std::ssize(lengths),
                                                     .rewrites = rewrites});
    ASSERT_NE(session, nullptr);
    const bool sees_the_future = session->model().facts().sees_the_future;
    RandomNumbers random(11);
    std::vector<Sequence> sequences;
    for (const std::int64_t length : lengths) {
      sequences.emplace_back();
      for (std::int64_t index = 0; index < length; ++index) {
        const auto vocabulary = static_cast<std::uint64_t>(session->model().facts().vocabulary);
        sequences.back().tokens.push_back(static_cast<std::int32_t>(random.below(vocabulary)));
      }
      ASSERT_TRUE(session->sequences().add().ok());
    }
    compute_unlowered(session->model(), sequences);
    if (HasFatalFailure()) return;

    std::vector<std::size_t> begins(sequences.size(), 0);
    for (std::int64_t left = std::accumulate(std::begin(lengths), std::end(lengths), std::int64_t{0}); left > 0;) {
      std::vector<TokenRun> runs;
      for (std::size_t index = 0; index < sequences.size(); ++index) {
        const std::size_t most = sees_the_future ? longest : random.below(most_at_once + 1);
        const std::size_t count = std::min(most, sequences[index].tokens.size() - begins[index]);
        if (count == 0) continue;
        const std::span<const std::int32_t> tokens(sequences[index].tokens);
        runs.push_back({static_cast<int>(index), tokens.subspan(begins[index], count), Wanted::all});
      }
      if (runs.empty()) continue;
      const Result<View<const float>> found = session->forward(runs);
      ASSERT_TRUE(found.ok()) << found.error().text();
      const float* row = found.value().data();
      for (const TokenRun& run : runs) {
        const auto index = static_cast<std::size_t>(run.sequence);
        for (std::size_t token = 0; token < run.tokens.size(); ++token, row += found.value().size(1)) {
          expect_near(sequences[index].expected[begins[index]], row, index, begins[index]);
          ++begins[index];
          --left;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LoweredSession,
                         testing::Values("llama", "mistral", "mixtral", "qwen2", "qwen3", "phi3", "gemma2",
                                         "gemma3_text", "gpt2", "qwen3_moe", "mamba", "mamba2", "qwen3_next", "bert"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(LoweredCircuit, KeepsACacheWithRewritesOff) {
  const auto session = golden_session("llama", {.context = 16, .rewrites = false});
  ASSERT_NE(session, nullptr);
  const Circuit& circuit = session->plan_for({.runs = {3, 1}, .outputs = 2}).value()->circuit();
  const auto count = [&](std::string_view operation) {
    return std::ranges::count_if(circuit.steps, [&](const Step& step) { return step.operation->name == operation; });
  };
  EXPECT_EQ(count("attention.decode"), session->model().facts().layers);
  EXPECT_EQ(count("attention.prefill"), 0);
  EXPECT_EQ(count("cache.store_paged"), 2 * session->model().facts().layers);
  EXPECT_EQ(count("attention.sdpa"), 0);
  EXPECT_EQ(count("activation.swiglu"), 0);
}

}  // namespace
}  // namespace ingot
