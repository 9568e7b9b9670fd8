// A cast image's parts arrive where its table says, every byte of them, whatever loader brought them.
//
// boot-test: success
// boot-test: expect image: bundle and 2 segments
// boot-test: expect image: manifest of program with 3 arguments
// boot-test: expect image: every byte is right
// boot-test: expect image: all of it is kept
#include "base/image/image_manifest.h"
#include "base/image/image_table.h"
#include "os/boot/kernel.h"
#include "os/file/cpio.h"
#include "os/trace/panic.h"
#include "tests/boot/cast/pattern.h"

namespace ingot::os {

namespace {

template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic("image: ", result.error());
  return std::move(result).value();
}

std::span<const std::byte> bytes_of(Kernel& kernel, PhysicalRange range) {
  return {kernel.platform.window().at<const std::byte>(range.begin), range.bytes};
}

void check_file(Kernel& kernel, const Manifest& manifest, const CastImage& image, std::string_view path,
                std::uint64_t file, std::uint64_t bytes) {
  const auto entry = manifest.file(path);
  if (!entry || entry->number != bytes) panic("expected ", bytes, " bytes for ", path, ", found another line");
  const PhysicalRange range = image.segments[entry->index];
  if (range.bytes != bytes || !range.begin.aligned(large_page_bytes)) {
    panic("expected ", bytes, " bytes at 2 MiB, found ", range.bytes, " at ", range.begin);
  }
  const std::span<const std::byte> found = bytes_of(kernel, {range.begin, round_up(bytes, page_bytes)});
  for (std::uint64_t offset = 0; offset < found.size(); ++offset) {
    const std::uint8_t expected = offset < bytes ? pattern_byte(file, offset) : std::uint8_t{0};
    if (std::to_integer<std::uint8_t>(found[offset]) != expected) panic("wrong byte ", offset, " of ", path);
  }
}

}  // namespace

void run_payload(Kernel& kernel) {
  const std::optional<CastImage> image = kernel.boot_info.image();
  if (!image) panic("expected a cast image, found none");
  kernel.log.information("image: bundle and ", image->segments.size(), " segments");

  const std::span<const std::byte> bundle = bytes_of(kernel, image->bundle);
  CpioReader reader(bundle);
  const std::optional<CpioEntry> first = require(reader.next());
  if (!first || first->path != ImageTable::manifest_path) panic("expected the manifest first, found another");
  const std::string_view text(reinterpret_cast<const char*>(first->content.data()), first->content.size());
  const Manifest manifest = require(Manifest::parse(text));
  kernel.log.information("image: manifest of program with ", manifest.arguments, " arguments");

  const CpioEntry small = require(find_in_cpio(bundle, "/small"));
  const std::string_view content(reinterpret_cast<const char*>(small.content.data()), small.content.size());
  if (content != "a small file") panic("expected the small file, found '", content, "'");
  check_file(kernel, manifest, *image, "/model", 0, model_bytes);
  check_file(kernel, manifest, *image, "/other", 1, other_bytes);
  kernel.log.information("image: every byte is right");

  std::uint64_t expected = image->bundle.bytes;
  for (const PhysicalRange& segment : image->segments) expected += segment.bytes;
  const std::uint64_t kept = kernel.boot_info.memory.bytes_of(MemoryKind::image);
  if (kept < expected) panic("expected ", expected, " bytes kept, found ", kept);
  kernel.log.information("image: all of it is kept");
}

}  // namespace ingot::os
