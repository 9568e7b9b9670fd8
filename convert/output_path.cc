#include "convert/output_path.h"

#include <filesystem>

#include "model/files/gguf_pieces.h"
#include "model/files/quoted.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

// Whether `output` is a piece of the model of which `input` is one: that very piece lies where it would be by its name.
bool is_piece_of(const std::string& input, const std::string& output) {
  const std::optional<GgufPieceName> read = gguf_piece_name(input);
  const std::optional<GgufPieceName> written = gguf_piece_name(output);
  std::error_code ignored;
  return read && written && read->count == written->count &&
         fs::equivalent(input, written->path_of(read->number), ignored);
}

}  // namespace

Result<void> require_other_file(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) {
    return Error::of(ErrorCode::invalid_argument, "output: expected the name of a file, found the folder ",
                     Quoted{output});
  }
  if (!fs::exists(output, ignored)) return {};
  const fs::path folder = fs::absolute(output, ignored).parent_path();
  const bool is_held = fs::is_directory(input, ignored) && fs::equivalent(folder, input, ignored);
  if (!is_held && !fs::equivalent(input, output, ignored) && !is_piece_of(input, output)) return {};
  return Error::of(ErrorCode::invalid_argument, "output: expected another file than what is read, found ",
                   Quoted{output});
}

}  // namespace ingot
