// Judges Ingot by test vectors that others made. They are not part of the tree: the folder is named by the environment
// variable INGOT_OUTSIDE_DATA, and without it the tests say that they were skipped. They run over whatever a folder
// holds, not over a list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "kernels/all_operations.h"
#include "machine/feature_detection.h"
#include "tests/outside/block_format_vectors.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

namespace fs = std::filesystem;

class OutsideData : public testing::Test {
 protected:
  void SetUp() override {
    const char* root = std::getenv("INGOT_OUTSIDE_DATA");
    if (root == nullptr || !fs::is_directory(root)) GTEST_SKIP() << "INGOT_OUTSIDE_DATA names no folder";
    root_ = root;
    Result<KernelTable> table = KernelTable::select(all_operations(), detect_features());
    ASSERT_TRUE(table.ok()) << table.error().text();
    table_ = std::move(table).value();
    Result<std::unique_ptr<Workers>> workers = Workers::create({.threads = 2});
    ASSERT_TRUE(workers.ok()) << workers.error().text();
    workers_ = std::move(workers).value();
  }

  fs::path root_;
  KernelTable table_;
  std::unique_ptr<Workers> workers_;
};

const Adapter* adapter_of(const std::string& operation) {
  for (const auto list : {activation_adapters(), attention_adapters(), linear_adapters(), loss_adapters(),
                          norm_adapters(), optimizer_adapters(), position_adapters(), quantization_adapters(),
                          selection_adapters(), softmax_adapters(), state_adapters()}) {
    for (const Adapter& adapter : list) {
      if (adapter.operation == operation) return &adapter;
    }
  }
  return nullptr;
}

struct Judgement {
  Verdict verdict = Verdict::passed;
  std::string text;
  int runs = 0;
};

Judgement judge(const Bench& bench, const OnnxCase& onnx) {
  const Adapter* adapter = adapter_of(onnx.operation);
  if (adapter == nullptr) {
    const std::string_view reason = reason_for_no_adapter(onnx.operation);
    return {Verdict::not_applicable, std::string(reason.empty() ? "no operation of this kind" : reason)};
  }
  if (onnx.nodes != 1) return {Verdict::not_applicable, "a graph of several nodes"};
  Judgement judgement;
  for (int preference = 0;; ++preference) {
    Trial trial(bench, onnx, preference);
    try {
      adapter->run(onnx, trial);
    } catch (const std::exception& error) {  // an input, an attribute or an axis that the operator does not have
      trial.fail(error.what());
    }
    ++judgement.runs;
    if (trial.verdict() != Verdict::passed) return {trial.verdict(), trial.text(), judgement.runs};
    if (!trial.has_further_variants()) return judgement;
  }
}

struct Tally {
  int passed = 0;
  int not_applicable = 0;
  int failed = 0;
  int runs = 0;
  std::set<std::string> reasons;
};

void print(const std::map<std::string, Tally>& tallies) {
  Tally total;
  std::cout << "operation                     passed  not applicable  failed  runs\n";
  auto line = [](const std::string& name, const Tally& tally) {
    std::cout << name << std::string(name.size() < 30 ? 30 - name.size() : 1, ' ') << tally.passed << "\t"
              << tally.not_applicable << "\t" << tally.failed << "\t" << tally.runs;
    for (const std::string& reason : tally.reasons) std::cout << "  [" << reason << "]";
    std::cout << "\n";
  };
  for (const auto& [operation, tally] : tallies) {
    line(operation, tally);
    total.passed += tally.passed;
    total.not_applicable += tally.not_applicable;
    total.failed += tally.failed;
    total.runs += tally.runs;
  }
  line("all", total);
}

TEST_F(OutsideData, OnnxNodesAgree) {
  const fs::path folder = root_ / "onnx-node";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no folder onnx-node";
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "case.json") cases.push_back(entry.path().parent_path());
  }
  std::sort(cases.begin(), cases.end());
  const Bench bench{table_, *workers_};
  std::map<std::string, Tally> tallies;
  for (const fs::path& path : cases) {
    const Result<OnnxCase> onnx = read_onnx_case(path);
    if (!onnx.ok()) {
      Tally& tally = tallies[path.parent_path().filename()];
      if (onnx.error().code() == ErrorCode::unsupported) {
        ++tally.not_applicable;
        tally.reasons.insert(std::string(onnx.error().text()));
      } else {
        ++tally.failed;
        ADD_FAILURE() << onnx.error().text();
      }
      continue;
    }
    const Judgement judgement = judge(bench, onnx.value());
    Tally& tally = tallies[onnx.value().operation];
    tally.runs += judgement.runs;
    switch (judgement.verdict) {
      case Verdict::passed: ++tally.passed; break;
      case Verdict::not_applicable:
        ++tally.not_applicable;
        tally.reasons.insert(judgement.text);
        break;
      case Verdict::failed:
        ++tally.failed;
        ADD_FAILURE() << onnx.value().name << ": " << judgement.text;
        break;
    }
  }
  print(tallies);
  EXPECT_FALSE(cases.empty()) << "the folder onnx-node holds no case";
}

TEST_F(OutsideData, BlockFormatsAgreeToTheBit) {
  const fs::path folder = root_ / "gguf-quant";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no folder gguf-quant";
  const BlockFormatReport report = check_block_formats({table_, *workers_}, folder);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  for (const std::string& line : report.lines) std::cout << line << "\n";
  EXPECT_GT(report.formats, 0) << "the folder gguf-quant holds no format";
}

}  // namespace
}  // namespace ingot::outside
