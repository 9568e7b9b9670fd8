#include "tests/network/script_folders.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/network/script_reader.h"

namespace ingot::network_scripts {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Verdict run_file(const std::filesystem::path& path, const FolderOptions& options, const StackChooser& choose) {
  const Result<Script> script = read_script(text_of(path), options.defined);
  if (script.ok()) return run_script(script.value(), choose(script.value()), options.rules);
  return {.kind = Verdict::Kind::failed, .line = 0, .reason = std::string(script.error().text()), .details = {}};
}

}  // namespace

void Tally::add(const Verdict& verdict) {
  ++(verdict.kind == Verdict::Kind::passed ? passed : verdict.kind == Verdict::Kind::failed ? failed : not_judged);
}

std::vector<ScriptReport> run_folder(const std::filesystem::path& folder, const FolderOptions& options,
                                     const StackChooser& choose) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  if (std::filesystem::is_regular_file(folder, error)) paths.push_back(folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".pkt") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<ScriptReport> reports;
  for (const std::filesystem::path& path : paths) reports.push_back({path, run_file(path, options, choose)});
  return reports;
}

std::map<std::string, Tally> tally_by_folder(const std::vector<ScriptReport>& reports) {
  std::map<std::string, Tally> tallies;
  for (const ScriptReport& report : reports) {
    tallies[report.path.parent_path().filename().string()].add(report.verdict);
  }
  return tallies;
}

}  // namespace ingot::network_scripts
