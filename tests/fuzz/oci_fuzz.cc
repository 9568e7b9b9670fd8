// Any index, manifest, config and layers are an image or an error. An input is a list of parts, each two bytes of its
// length and its bytes; the last is index.json, the others are blobs. A blob that begins with 't', 'g' or 'z' is what
// follows as it is, as gzip or as zstd; with '{' it is a document. Documents name blobs that stand before them, since
// no fuzzer guesses a digest: $N$ is the descriptor's digest and size of the Nth, #N# its digest unpacked.
#include <cstdlib>

#include "image/fake_packing.h"
#include "image/fake_tar.h"
#include "image/oci_image.h"
#include "image/sha256.h"
#include "tests/fuzz/byte_source.h"
#include "tests/fuzz/tar_sums.h"

using namespace ingot;
using namespace ingot::image;

namespace {

struct Blob {
  std::string bytes, unpacked;
};

std::string digest_with_kind(std::string_view bytes) { return "sha256:" + digest_of(bytes); }

std::string name_blobs(std::string_view document, const std::vector<Blob>& blobs) {
  std::string named;
  for (std::size_t at = 0; at < document.size(); ++at) {
    const char mark = document[at];
    const bool is_name = (mark == '$' || mark == '#') && at + 2 < document.size() && document[at + 2] == mark;
    const auto index = is_name ? static_cast<std::size_t>(static_cast<unsigned char>(document[at + 1])) - '0' : 0;
    if (!is_name || index >= blobs.size()) {
      named += mark;
      continue;
    }
    const Blob& blob = blobs[index];
    named += mark == '#'
                 ? digest_with_kind(blob.unpacked)
                 : R"("digest":")" + digest_with_kind(blob.bytes) + R"(","size":)" + std::to_string(blob.bytes.size());
    at += 2;
  }
  return named;
}

Blob blob_of(std::string part, const std::vector<Blob>& blobs) {
  if (part.empty()) return {};
  const char kind = part.front();
  if (kind != 't' && kind != 'g' && kind != 'z') {
    part = name_blobs(part, blobs);
    return {part, part};
  }
  part.erase(0, 1);
  mend_tar_sums(part);
  return {kind == 'g' ? gzip_of(part) : kind == 'z' ? zstd_of(part) : part, part};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  std::vector<Blob> blobs;
  while (!source.empty() && blobs.size() < 10) {
    const std::size_t length = std::min<std::size_t>(source.take<std::uint16_t>(), source.rest_size());
    blobs.push_back(blob_of(std::string(reinterpret_cast<const char*>(source.rest()), length), blobs));
    source = ByteSource(source.rest() + length, source.rest_size() - length);
  }
  if (blobs.empty()) return 0;
  std::vector<TarMember> members = {{"index.json", '0', blobs.back().bytes}};
  blobs.pop_back();
  for (const Blob& blob : blobs) members.push_back({"blobs/sha256/" + digest_of(blob.bytes), '0', blob.bytes});
  const LayerLimits limits{.unpacked_bytes = std::uint64_t{1} << 20, .nodes = 10000};
  const Result<OciImage> image = read_oci_archive(Content::of_bytes(fake_tar(members)), limits);
  if (!image.ok()) return image.error().text().empty() ? std::abort(), 0 : 0;
  if (!normal_path(image.value().directory).ok()) std::abort();
  for (const auto& [path, node] : image.value().root.nodes()) {
    if (node.content.size() > limits.unpacked_bytes) std::abort();
  }
  return 0;
}
