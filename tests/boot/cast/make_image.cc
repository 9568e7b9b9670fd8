// Casts a small image for cast_image.cc: usage: make_image KERNEL OUTPUT [LOADER]
// With a loader (BOOTX64.EFI) it is a disk, else an ELF file.
#include <cstdio>

#include "image/cast.h"
#include "tests/boot/cast/pattern.h"

using namespace ingot;
using namespace ingot::image;

namespace {

Content pattern(std::uint64_t file, std::uint64_t bytes) {
  std::string content(bytes, '\0');
  for (std::uint64_t offset = 0; offset < bytes; ++offset) {
    content[offset] = static_cast<char>(pattern_byte(file, offset));
  }
  return Content::of_bytes(std::move(content));
}

Result<void> make(const char* kernel, const char* output, const char* loader) {
  CastRequest request;
  request.kernels = {kernel};
  request.output = output;
  if (loader != nullptr) {
    request.loader = loader;
    request.format = ImageFormat::disk;
    request.options = "debug-exit";
  }
  request.program = "/bin/program";
  request.arguments = {"program", "two words", "line\nbreak"};
  request.anonymous = 1 << 20;
  // Any program for the machine will do, for nothing runs it: the kernel's own file is one.
  const Content program = TRY(Content::of_file(kernel));
  TRY(request.root.put_file("/bin/program", 0755, program));
  TRY(request.root.put_file("/small", 0644, Content::of_bytes("a small file")));
  TRY(request.root.put_file("/model", 0644, pattern(0, model_bytes)));
  TRY(request.root.put_file("/other", 0644, pattern(1, other_bytes)));
  const CastReport report = TRY(cast(request));
  std::printf("%llu bytes, needs %llu KiB of memory\n", static_cast<unsigned long long>(report.file_bytes),
              static_cast<unsigned long long>(report.least_memory >> 10));
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (count < 3 || count > 4) {
    std::fprintf(stderr, "usage: make_image KERNEL OUTPUT [LOADER]\n");
    return 2;
  }
  const Result<void> made = make(words[1], words[2], count == 4 ? words[3] : nullptr);
  if (made.ok()) return 0;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(made.error().text().size()), made.error().text().data());
  return 1;
}
