// A model that lies in several GGUF files, as other tools split it for places that hold no large ones:
//
//   NAME-00001-of-00003.gguf    all metadata, and maybe tensors
//   NAME-00002-of-00003.gguf    tensors
//   NAME-00003-of-00003.gguf    tensors
//
// Each says in split.no (from 0), split.count and split.tensors.count which piece it is, of how many, with how many
// tensors in all. A file without split.count, or with one below 2, is a model by itself, whatever its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/files/gguf.h"

namespace ingot {

inline constexpr std::string_view gguf_split_count_key = "split.count";

// A piece by its name.
struct GgufPieceName {
  std::string before;  // the path up to the number
  std::uint32_t number = 1;
  std::uint32_t count = 1;

  std::string path_of(std::uint32_t piece) const;  // of the model's piece of this number
  std::string path_of_whole() const;               // NAME.gguf: how the model would be called in one file
};

// Nothing where the path does not end as a piece's does.
std::optional<GgufPieceName> gguf_piece_name(std::string_view path);

// The file at this path, or all pieces of the model of which it is one, in their order. They are checked to be whole,
// of one model, and to hold every tensor once.
Result<std::vector<GgufFile>> open_gguf_pieces(const std::string& path);

// The file at this path, or the first piece of its model, which has the metadata.
Result<GgufFile> open_first_gguf_piece(const std::string& path);

// The metadata without what is true of a piece alone.
Result<Metadata> metadata_of_whole(const Metadata& first);

}  // namespace ingot
