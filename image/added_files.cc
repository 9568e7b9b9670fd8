#include "image/added_files.h"

#include <sys/stat.h>

#include <filesystem>

#include "image/bytes.h"

namespace ingot::image {

namespace {

namespace fs = std::filesystem;

Result<void> add_one(const fs::path& path, const std::string& place, FileTree& root) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return root.put(place, {FileNode::Kind::directory, 0755, {}, {}});
  }
  // What the source keeps from others stays kept from them. Nothing else of its mode counts: that is a matter of whose
  // machine casts, and equal files give equal images.
  const std::uint32_t usual = (status.st_mode & 0111) != 0 ? 0755 : 0644;
  const std::uint32_t mode = usual & (0700 | status.st_mode);
  Content content = TRY(Content::of_file(path.string()));
  return root.put_file(place, mode, std::move(content));
}

bool is_below(const std::string& path, const std::string& folder) { return path.starts_with(folder + '/'); }

Error is_taken(const std::string& earlier, const std::string& later) {
  return Error::of(ErrorCode::invalid_argument, "expected a destination of its own, found that of '",
                   shortened(earlier), "' taken by '", shortened(later), "', too");
}

}  // namespace

Result<void> AddedFiles::check_spelling(const std::string& option) {
  const std::size_t equals = option.rfind('=');
  if (equals != std::string::npos && equals != 0 && option.substr(equals + 1).starts_with('/')) return {};
  return Error::of(ErrorCode::invalid_argument, "expected SOURCE=DESTINATION with an absolute destination, found '",
                   shortened(option), "'");
}

Result<void> AddedFiles::check_place(const Added& added) const {
  for (const Added& earlier : added_) {
    const bool is_same = earlier.destination == added.destination && !(earlier.is_folder && added.is_folder);
    const bool is_inside = (!earlier.is_folder && is_below(added.destination, earlier.destination)) ||
                           (!added.is_folder && is_below(earlier.destination, added.destination));
    if (!is_same && !is_inside) continue;
    return is_taken(earlier.option, added.option);
  }
  return {};
}

// A folder stands beside what is named below it; anything else would take its place.
Result<void> AddedFiles::check_entry(const Added& folder, const std::string& place, bool is_folder) const {
  for (const Added& earlier : added_) {
    if (earlier.is_folder) continue;
    const bool is_hit = earlier.destination == place || (!is_folder && is_below(earlier.destination, place));
    if (is_hit) return is_taken(earlier.option, folder.option);
  }
  return {};
}

Result<void> AddedFiles::add_content(const Added& folder, const std::string& source, FileTree& root) const {
  std::error_code problem;
  const std::string destination = folder.destination == "/" ? "" : folder.destination;
  for (fs::recursive_directory_iterator entry(source, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    const std::string place = TRY(root.place_of(destination + '/' + entry->path().lexically_relative(source).string()));
    const bool is_link = entry->is_symlink(problem);
    TRY(check_entry(folder, place, !is_link && entry->is_directory(problem)));
    if (is_link) {
      const std::string target = fs::read_symlink(entry->path(), problem).string();
      TRY(root.put(place, {FileNode::Kind::symbolic_link, 0777, {}, target}));
    } else {
      TRY(add_one(entry->path(), place, root));
    }
  }
  if (!problem) return {};
  return Error::of(ErrorCode::input_output, "expected to read the folder '", shortened(source),
                   "', found: ", std::string_view(problem.message()));
}

Result<void> AddedFiles::add(const std::string& option, FileTree& root) {
  const std::size_t equals = option.rfind('=');
  const std::string source = option.substr(0, equals);
  std::error_code problem;
  const auto put = [&]() -> Result<void> {
    const std::string named = TRY(normal_path(std::string_view(option).substr(equals + 1)));
    const std::string destination = TRY(root.place_of(named));
    Added added{option, destination, fs::is_directory(source, problem)};
    TRY(check_place(added));
    TRY(add_one(source, destination, root));
    if (added.is_folder) TRY(add_content(added, source, root));
    added_.push_back(std::move(added));
    return {};
  };
  const Result<void> done = put();
  if (!done.ok()) return done.error().within("--file");
  return {};
}

}  // namespace ingot::image
