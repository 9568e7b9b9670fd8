// CaseList: the shapes and data an operation is proved and measured on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/contract/case_builder.h"

namespace ingot {

enum class CasePurpose : std::uint8_t {
  parity,     // small and odd shapes, run in every regime and layout
  gradient,   // tiny shapes, for finite differences
  benchmark,  // shapes worth timing; also verified once before they are timed
};

struct CaseInformation {
  std::string name;
  CasePurpose purpose;
};

// A regime an operation's contract leaves undefined. It is reported as skipped with its reason, never silently dropped.
struct ExcludedRegime {
  Regime regime;
  std::string_view reason;
};

template <class Op>
class CaseList {
 public:
  using Arguments = typename Op::Arguments;
  using Build = std::function<Arguments(CaseBuilder&)>;
  struct Case {
    CaseInformation information;
    Build build;
  };

  void parity(std::string name, Build build) { add(std::move(name), CasePurpose::parity, std::move(build)); }
  void gradient(std::string name, Build build) { add(std::move(name), CasePurpose::gradient, std::move(build)); }
  void benchmark(std::string name, Build build) { add(std::move(name), CasePurpose::benchmark, std::move(build)); }
  void exclude(Regime regime, std::string_view reason) { excluded_.push_back({regime, reason}); }

  const std::vector<Case>& cases() const { return cases_; }
  const std::vector<ExcludedRegime>& excluded() const { return excluded_; }

 private:
  void add(std::string name, CasePurpose purpose, Build build) {
    cases_.push_back({{std::move(name), purpose}, std::move(build)});
  }

  std::vector<Case> cases_;
  std::vector<ExcludedRegime> excluded_;
};

}  // namespace ingot
