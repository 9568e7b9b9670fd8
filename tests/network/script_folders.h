// Runs all scripts below a folder.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/network/runner.h"

namespace ingot::network_scripts {

struct FolderOptions {
  // Words for #ifdef. Where FreeBSD's scripts know of a difference, this one stands for what the RFCs say.
  std::set<std::string> defined = {"STANDARD"};
  ComparisonRules rules;
};

// A stack for a script, which only one that replays it looks at.
using StackChooser = std::function<StackFactory(const Script&)>;

struct ScriptReport {
  std::filesystem::path path;
  Verdict verdict;
};

// Of a folder in the order of their names; or one script. One that cannot be read failed.
std::vector<ScriptReport> run_folder(const std::filesystem::path& folder, const FolderOptions& options,
                                     const StackChooser& choose);

struct Tally {
  int passed = 0, failed = 0, not_judged = 0;

  int count() const { return passed + failed + not_judged; }
  void add(const Verdict& verdict);
};

std::map<std::string, Tally> tally_by_folder(const std::vector<ScriptReport>& reports);

}  // namespace ingot::network_scripts
