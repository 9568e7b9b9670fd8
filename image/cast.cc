#include "image/cast.h"

#include <algorithm>
#include <set>

#include "base/image/image_manifest.h"
#include "base/image/network_settings.h"
#include "base/units.h"
#include "image/cast_checks.h"
#include "image/cpio_writer.h"
#include "image/disk_image.h"
#include "image/iso_image.h"
#include "image/kernel_choice.h"
#include "image/kernel_image.h"
#include "image/manifest_text.h"
#include "image/output_file.h"
#include "image/preflight.h"
#include "image/program.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t largest_loader = 64 << 20;
constexpr std::uint64_t memory_step = 16 << 20;  // machines are given memory in whole steps

struct Parts {
  std::string bundle;
  std::vector<const Content*> segments;
  KernelImage::Composed composed;
};

std::vector<std::string> large_files(const FileTree& root) {
  std::vector<std::string> paths;
  for (const auto& [path, node] : root.nodes()) {
    if (node.kind == FileNode::Kind::file && node.content.size() >= segment_from_bytes) paths.push_back(path);
  }
  if (paths.size() > ImageTable::segment_capacity) {
    std::stable_sort(paths.begin(), paths.end(), [&](const std::string& left, const std::string& right) {
      return root.at(left)->content.size() > root.at(right)->content.size();
    });
    paths.resize(ImageTable::segment_capacity);
    std::sort(paths.begin(), paths.end());
  }
  return paths;
}

Result<CastReport> prepare(const CastRequest& request, Parts& parts) {
  TRY(check_request(request));
  CastReport report;
  // The program must be there, be ours, and find its interpreter and its libraries.
  const std::vector<std::string> program = TRY(program_parts(request.root, request.program, request.environment));
  TRY(check_limit(request, program.front()));
  MissingCalls missing = TRY(missing_calls_of(request.root, program));
  report.missing_calls = std::move(missing.names);
  report.tried_calls = std::move(missing.tried);
  report.missing_in_the_c_library = missing.more_in_the_c_library;
  KernelChoice kernel = TRY(choose_kernel(request.kernels, request.rights));
  report.kernel = std::move(kernel.taken);
  report.passed_over = std::move(kernel.passed_over);

  const std::vector<std::string> large = large_files(request.root);
  TRY(check_consumed(request, large));
  const std::set<std::string> apart(large.begin(), large.end());
  std::vector<std::uint64_t> sizes;
  for (const std::string& path : large) {
    parts.segments.push_back(&request.root.at(path)->content);
    sizes.push_back(parts.segments.back()->size());
  }
  // The manifest names the machine's memory, which depends on the bundle's size, which depends on the manifest: so the
  // number is found with a manifest that has one of equal length at most, and steps are large.
  const auto is_inside = [&](const std::string& path) { return !apart.contains(path); };
  for (std::uint64_t memory = request.machine_memory.value_or(memory_step);;) {
    report.manifest = TRY(manifest_text(request, large, memory));
    parts.bundle = TRY(write_bundle(report.manifest, request.root, is_inside));
    parts.composed = TRY(kernel.image.compose(parts.bundle.size(), sizes));
    report.least_memory = least_memory(parts.composed.memory_end, request.anonymous);
    report.machine_memory = memory;
    if (memory >= report.least_memory) break;
    if (request.machine_memory) {
      return Error::of(ErrorCode::out_of_memory, "--memory: expected at least ",
                       divide_rounding_up(static_cast<std::int64_t>(report.least_memory), 1 << 20),
                       " MiB of memory (image to ", parts.composed.memory_end >> 20, " MiB, program ",
                       request.anonymous >> 20, " MiB, kernel ", kernel_margin >> 20, " MiB), found ", memory >> 20,
                       " MiB");
    }
    memory = align_up(report.least_memory, memory_step);
  }
  const Manifest parsed = TRY(Manifest::parse(report.manifest));  // what the kernel would refuse is refused here
  TRY(network_settings_of(parsed));
  report.bundle_bytes = parts.bundle.size();
  report.file_bytes = parts.composed.file_bytes;
  for (std::size_t index = 0; index < large.size(); ++index) {
    report.segments.push_back({large[index], parts.composed.table.segments[index]});
  }
  return report;
}

Result<void> write_parts(const Parts& parts, OutputFile& file) {
  TRY(file.write(parts.composed.front));
  TRY(file.write(parts.bundle));
  for (const Content* content : parts.segments) TRY(file.write(*content));
  return {};
}

Result<void> write_elf(const CastRequest& request, const Parts& parts, const std::string& path) {
  OutputFile file = TRY(OutputFile::create(path, parts.composed.file_bytes));
  if (request.progress) file.watch([&](std::uint64_t done) { request.progress(done, parts.composed.file_bytes); });
  TRY(write_parts(parts, file));
  return file.commit();
}

Result<void> write_disk(const CastRequest& request, const Parts& parts, CastReport& report) {
  const Content loader_file = TRY(Content::of_file(request.loader));
  const std::string loader = TRY(loader_file.read(largest_loader));
  const DiskImage disk = TRY(DiskImage::plan({{"EFI/BOOT/BOOTX64.EFI", loader}, {"INGOT/OPTIONS", request.options}},
                                             {"INGOT/KERNEL", parts.composed.file_bytes}));
  report.file_bytes = disk.bytes();
  OutputFile file = TRY(OutputFile::create(request.output, disk.used_bytes()));
  if (request.progress) file.watch([&](std::uint64_t done) { request.progress(done, disk.bytes()); });
  TRY(disk.write(file, [&](OutputFile& output) { return write_parts(parts, output); }));
  return file.commit();
}

}  // namespace

Result<CastReport> check_cast(const CastRequest& request) {
  Parts parts;
  return prepare(request, parts);
}

Result<CastReport> cast(const CastRequest& request) {
  Parts parts;
  CastReport report = TRY(prepare(request, parts));
  switch (request.format) {
    case ImageFormat::elf: TRY(write_elf(request, parts, request.output)); break;
    case ImageFormat::disk: TRY(write_disk(request, parts, report)); break;
    case ImageFormat::iso:
      report.file_bytes = TRY(write_iso(
          request.output, request.options, [&](const std::string& path) { return write_elf(request, parts, path); },
          parts.composed.file_bytes));
      break;
  }
  return report;
}

}  // namespace ingot::image
