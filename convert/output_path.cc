#include "convert/output_path.h"

#include <filesystem>

#include "model/files/quoted.h"

namespace ingot {

Result<void> require_other_file(const std::string& input, const std::string& output) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) {
    return Error::of(ErrorCode::invalid_argument, "output: expected the name of a file, found the folder ",
                     Quoted{output});
  }
  if (!fs::exists(output, ignored)) return {};
  const fs::path folder = fs::absolute(output, ignored).parent_path();
  const bool is_held = fs::is_directory(input, ignored) && fs::equivalent(folder, input, ignored);
  if (!is_held && !fs::equivalent(input, output, ignored)) return {};
  return Error::of(ErrorCode::invalid_argument, "output: expected another file than what is read, found ",
                   Quoted{output});
}

}  // namespace ingot
