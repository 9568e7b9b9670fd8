// One layer of an OCI image on top of a tree (the specification's layer.md): files, links, and what it removes
// (".wh.NAME", ".wh..wh..opq"). A packed layer is read as a stream: in memory are its files, never all of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "image/content.h"
#include "image/file_tree.h"

namespace ingot::image {

enum class Packing : std::uint8_t { none, gzip, zstd };

struct Layer {
  Content content;  // as it is packed
  Packing packing = Packing::none;
  std::string unpacked_digest;  // 64 hexadecimal digits
};

// What all layers of an image may cost together: a few packed bytes can ask for all memory.
struct LayerLimits {
  std::uint64_t unpacked_bytes = std::uint64_t{8} << 30;  // of packed layers and of files held in memory
  std::size_t nodes = std::size_t{1} << 20;               // files, links and folders
};

class LayerReader {
 public:
  explicit LayerReader(const LayerLimits& limits) : limits_(limits) {}

  // Nothing of a layer is applied unless all of it was read and is what its digest says.
  Result<void> apply(const Layer& layer, FileTree& root);

 private:
  LayerLimits limits_;
  std::uint64_t unpacked_bytes_ = 0;
};

}  // namespace ingot::image
