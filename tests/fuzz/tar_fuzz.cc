// Any bytes are a tar or an error, the same as a stream and as a content; whatever it says, the tree that a layer of it
// makes is one: normal paths, each in a directory.
#include <cstdlib>

#include "image/oci_layer.h"
#include "image/sha256.h"
#include "image/tar_reader.h"
#include "tests/fuzz/tar_sums.h"

using namespace ingot;
using namespace ingot::image;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_entries(const Content& tar) {
  const Result<std::vector<TarEntry>> parts = read_tar(tar);
  const std::unique_ptr<ByteStream> stream = tar.open().value();
  const Result<std::vector<TarEntry>> streamed = read_tar(*stream);
  const std::unique_ptr<ByteStream> again = tar.open().value();
  const Result<std::vector<TarEntry>> staying = read_tar(*again, tar, 8, [](std::uint64_t) { return Result<void>(); });
  require(parts.ok() == streamed.ok() && parts.ok() == staying.ok());
  if (!parts.ok()) return require(!parts.error().text().empty() && !streamed.error().text().empty());
  require(parts.value().size() == streamed.value().size());
  for (std::size_t index = 0; index < parts.value().size(); ++index) {
    const TarEntry &part = parts.value()[index], &other = streamed.value()[index];
    require(part.path == other.path && part.target == other.target && part.kind == other.kind);
    const std::string content = part.content.read(tar.size()).value();
    require(content == other.content.read(tar.size()).value());
    require(content == staying.value()[index].content.read(tar.size()).value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mend_tar_sums(bytes);
  const std::string digest = digest_of(bytes);
  const Content tar = Content::of_bytes(std::move(bytes));
  check_entries(tar);
  FileTree tree;
  LayerReader reader({.nodes = 10000});
  for (int twice = 0; twice < 2; ++twice) {  // on nothing, and on what it made itself
    const Result<void> applied = reader.apply({tar, Packing::none, digest}, tree);
    if (!applied.ok()) require(!applied.error().text().empty());
  }
  for (const auto& [path, node] : tree.nodes()) {
    const Result<std::string> normal = normal_path(path);
    require(normal.ok() && normal.value() == path);
    require(tree.at(parent_of(path))->kind == FileNode::Kind::directory);
    (void)tree.resolve(path).ok();
  }
  return 0;
}
