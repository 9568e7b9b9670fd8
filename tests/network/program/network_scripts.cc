// network_scripts [--verbose] [--any-option-order] [--define NAME] [--at-least PERCENT] PLACE...: runs the scripts that
// the places are, or that lie below them, against the kernel's stack, and says of each whether it passed. --at-least:
// of a place, else it fails.
#include <cstdio>
#include <cstdlib>

#include "tests/network/ingot_stack.h"
#include "tests/network/script_folders.h"

using namespace ingot;
using namespace ingot::network_scripts;

namespace {

struct Wishes {
  FolderOptions options;
  std::vector<std::filesystem::path> folders;
  bool is_verbose = false;
  int least_percent = 0;
};

bool read_wishes(int count, char** arguments, Wishes& wishes) {
  for (int index = 1; index < count; ++index) {
    const std::string_view argument = arguments[index];
    if (argument == "--verbose") {
      wishes.is_verbose = true;
    } else if (argument == "--any-option-order") {
      wishes.options.rules.option_order_matters = false;
    } else if (argument == "--define" && index + 1 < count) {
      wishes.options.defined = {arguments[++index]};
    } else if (argument == "--at-least" && index + 1 < count) {
      wishes.least_percent = std::atoi(arguments[++index]);
    } else if (argument.starts_with("-")) {
      std::fprintf(stderr, "expected --verbose, --any-option-order, --define NAME, --at-least PERCENT, found %s\n",
                   arguments[index]);
      return false;
    } else {
      wishes.folders.emplace_back(argument);
    }
  }
  return !wishes.folders.empty();
}

StackFactory our_stack(const Script&) {
  return [](const Environment& place) { return std::make_unique<IngotStack>(place); };
}

void print(const ScriptReport& report, bool is_verbose) {
  const Verdict& verdict = report.verdict;
  const char* word = verdict.kind == Verdict::Kind::passed   ? "passed"
                     : verdict.kind == Verdict::Kind::failed ? "FAILED"
                                                             : "not judged";
  std::printf("%-10s %s", word, report.path.c_str());
  if (verdict.kind != Verdict::Kind::passed) std::printf(":%d: %s", verdict.line, verdict.reason.c_str());
  std::printf("\n%s", is_verbose ? verdict.details.c_str() : "");
}

void print(const char* name, const Tally& tally) {
  std::printf("%-28s %4d passed, %4d failed, %4d not judged of %4d\n", name, tally.passed, tally.failed,
              tally.not_judged, tally.count());
}

}  // namespace

int main(int count, char** arguments) {
  Wishes wishes;
  if (!read_wishes(count, arguments, wishes)) return 2;
  bool is_enough = true;
  for (const std::filesystem::path& folder : wishes.folders) {
    const std::vector<ScriptReport> reports = run_folder(folder, wishes.options, our_stack);
    Tally all;
    for (const ScriptReport& report : reports) {
      print(report, wishes.is_verbose);
      all.add(report.verdict);
    }
    for (const auto& [name, tally] : tally_by_folder(reports)) print(name.c_str(), tally);
    print(folder.c_str(), all);
    is_enough = is_enough && all.passed * 100 >= all.count() * wishes.least_percent;
  }
  return is_enough ? 0 : 1;
}
