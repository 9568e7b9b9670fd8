// CaseList: the shapes and data an operation is proved and measured on.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <type_traits>
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

// What lists of all operations share. There are two hundred, with a thousand cases: whatever a case would have of its
// own here is compiled a thousand times.
class AnyCaseList {
 public:
  void exclude(Regime regime, std::string_view reason);

  const std::vector<CaseInformation>& cases() const { return cases_; }
  const std::vector<ExcludedRegime>& excluded() const { return excluded_; }
  // Makes the arguments of a case where there is room for them.
  void make(int index, CaseBuilder& builder, void* arguments) const;

 protected:
  using Make = void (*)(const void* build, CaseBuilder& builder, void* arguments);

  void add(std::string_view name, CasePurpose purpose, Make maker, std::shared_ptr<const void> build);
  // With a copy of the bytes that `build` is.
  void add(std::string_view name, CasePurpose purpose, Make maker, const void* build, std::size_t bytes);

 private:
  struct Made {
    Make maker;
    std::shared_ptr<const void> build;
  };

  std::vector<CaseInformation> cases_;
  std::vector<Made> made_;
  std::vector<ExcludedRegime> excluded_;
};

// A case's `build` is called with a CaseBuilder& and returns Arguments.
template <class Op>
class CaseList : public AnyCaseList {
 public:
  using Arguments = typename Op::Arguments;

  template <class Build>
  void parity(std::string_view name, const Build& build) {
    add_case(name, CasePurpose::parity, build);
  }
  template <class Build>
  void gradient(std::string_view name, const Build& build) {
    add_case(name, CasePurpose::gradient, build);
  }
  template <class Build>
  void benchmark(std::string_view name, const Build& build) {
    add_case(name, CasePurpose::benchmark, build);
  }

 private:
  template <class Build>
  void add_case(std::string_view name, CasePurpose purpose, const Build& build) {
    static_assert(std::is_trivially_destructible_v<Arguments>);
    const Make maker = [](const void* held, CaseBuilder& builder, void* arguments) {
      ::new (arguments) Arguments((*static_cast<const Build*>(held))(builder));
    };
    // Nearly all hold shapes and numbers alone, which need no code of their own to be kept.
    if constexpr (std::is_trivially_copyable_v<Build> && alignof(Build) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      add(name, purpose, maker, &build, sizeof(Build));
    } else {
      add(name, purpose, maker, std::make_shared<Build>(build));
    }
  }
};

}  // namespace ingot
