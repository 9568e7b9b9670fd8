#include "engine/sequence_proof.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/golden_model.h"

namespace ingot {
namespace {

std::vector<SequenceProofRow> proved(const std::shared_ptr<const Model>& model, bool is_deterministic) {
  const SequenceProofOptions options = {.prompt = 40, .generate = 3, .cuts = {1, 16}, .batches = {2, 9}};
  const std::unique_ptr<Session> session =
      std::move(Session::create(model, {.context = options.prompt + options.generate,
                                        .sequences = static_cast<int>(options.sequences()),
                                        .deterministic = is_deterministic}))
          .value();
  return prove_sequences(*session, options, {}).value();
}

TEST(SequenceProof, ComparesEveryRowOfLogits) {
  std::vector<std::int64_t> compared;
  for (const SequenceProofRow& row : proved(Model::open_default().value(), true)) {
    EXPECT_EQ(row.different, 0) << row.what << ": " << row.first_difference;
    compared.push_back(row.compared);
  }
  // Each text has one behind its prompt and three that follow; beside eight others, which were read unseen, they have
  // three.
  EXPECT_EQ(compared, (std::vector<std::int64_t>{4, 4, 2 * 4, 9 * 4, 4 + 8 * 3}));
}

// Ways of multiplying floats that are chosen by how many rows there are add them in orders of their own.
TEST(SequenceProof, FindsWhereNeighboursShow) {
  const std::vector<SequenceProofRow> rows = proved(Model::open(golden_folder("llama")).value(), false);
  const auto found = std::ranges::find_if(rows, [](const SequenceProofRow& row) { return row.different > 0; });
  ASSERT_NE(found, rows.end());
  EXPECT_NE(found->first_difference.find(", alone "), std::string::npos) << found->first_difference;
}

}  // namespace
}  // namespace ingot
