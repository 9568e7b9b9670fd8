#include "image/cast.h"

#include <gtest/gtest.h>

#include "base/image/image_manifest.h"
#include "base/random.h"
#include "image/cpio_writer.h"
#include "image/emulator.h"
#include "image/fake_files.h"
#include "image/kernel_image.h"
#include "image/preflight.h"

namespace ingot::image {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

// A program, two large files and a small one, in a folder with a kernel.
struct Foundry {
  TestFolder folder;
  CastRequest request;

  Foundry() {
    request.kernels = {folder.put("kernel", fake_kernel())};
    request.output = folder.path("image");
    request.program = "/bin/program";
    request.arguments = {"program", "two words", "line\nbreak \\", ""};
    request.default_arguments = {"--help"};
    request.environment = {"HOME=/"};
    request.machine_cpus = 2;
    EXPECT_TRUE(request.root.put_file("/bin/program", 0755, Content::of_bytes(fake_program())).ok());
    EXPECT_TRUE(request.root.put_file("/small", 0644, Content::of_bytes("small")).ok());
    const std::string weights = folder.put("weights", std::string(3 * mebibyte + 17, 'w'));
    EXPECT_TRUE(request.root.put_file("/model", 0644, Content::of_file(weights).value()).ok());
    EXPECT_TRUE(request.root.put_file("/other", 0600, Content::of_bytes(std::string(2 * mebibyte, 'o'))).ok());
    request.consumed = {"/model"};
  }
  std::string complaint() const {
    const Result<CastReport> report = cast(request);
    return report.ok() ? "" : std::string(report.error().text());
  }
};

TEST(Cast, PartsLieWhereTheTableSays) {
  const Foundry foundry;
  const Result<CastReport> cast_report = cast(foundry.request);
  ASSERT_TRUE(cast_report.ok()) << cast_report.error().text();
  const CastReport& report = cast_report.value();
  const std::string image = foundry.folder.get("image");
  EXPECT_EQ(image.size(), report.file_bytes);
  constexpr std::uint64_t headers = 64 + 6 * 56, kernel = 0x2000;  // nothing is padded
  EXPECT_EQ(image.size(), headers + kernel + report.bundle_bytes + 5 * mebibyte + 17);

  const OpenedImage opened = open_image(foundry.request.output).value();
  EXPECT_EQ(opened.table.bundle, (ImagePart{0x102000, report.bundle_bytes}));
  ASSERT_EQ(opened.table.segment_count, 2u);
  EXPECT_EQ(opened.table.segments[0], (ImagePart{2 * mebibyte, 3 * mebibyte + 17}));
  EXPECT_EQ(opened.table.segments[1], (ImagePart{6 * mebibyte, 2 * mebibyte}));
  EXPECT_EQ(image.substr(opened.segment_offsets[0], 3 * mebibyte + 17), std::string(3 * mebibyte + 17, 'w'));
  EXPECT_EQ(image.substr(opened.segment_offsets[1], 2 * mebibyte), std::string(2 * mebibyte, 'o'));
  EXPECT_EQ(opened.bundle.find("www"), std::string::npos);

  const ElfFile file = ElfFile::parse(image).value();
  ASSERT_EQ(file.segments().size(), 6u);
  EXPECT_EQ(file.segments()[1].memory_bytes, 3 * mebibyte + 4096);  // zeros to the end of the page
  const std::string_view text = first_member(opened.bundle, ImageTable::manifest_path).value();
  EXPECT_EQ(text, report.manifest);
  const Manifest manifest = Manifest::parse(text).value();
  EXPECT_TRUE(manifest.program == "/bin/program");
  EXPECT_EQ(manifest.arguments, 4u);
  EXPECT_EQ(manifest.file("/model")->index, 0u);
  EXPECT_EQ(manifest.file("/other")->mode, 0600u);
  EXPECT_EQ(manifest.machine_memory, report.machine_memory);
  EXPECT_EQ(manifest.machine_cpus, 2u);
  EXPECT_GE(report.machine_memory, report.least_memory);
  EXPECT_EQ(report.least_memory, 8 * mebibyte + kernel_margin + 64 * mebibyte);
}

TEST(Cast, EqualInputsGiveEqualBytes) {
  Foundry first;
  const Foundry second;
  ASSERT_EQ(first.complaint(), "");
  ASSERT_EQ(second.complaint(), "");
  EXPECT_EQ(first.folder.get("image"), second.folder.get("image"));
  first.request.loader = first.folder.put("loader", "MZ");
  first.request.format = ImageFormat::disk;
  ASSERT_EQ(first.complaint(), "");
  const std::string disk = first.folder.get("image");
  ASSERT_EQ(first.complaint(), "");
  EXPECT_TRUE(disk == first.folder.get("image"));
}

TEST(Cast, RefusalsNameTheReason) {
  Foundry foundry;
  foundry.request.machine_memory = 64 * mebibyte;
  EXPECT_EQ(
      foundry.complaint(),
      "--memory: expected at least 80 MiB of memory (image to 8 MiB, program 64 MiB, kernel 8 MiB), found 64 MiB");
  foundry.request.machine_memory.reset();
  foundry.request.program = "/bin/none";
  EXPECT_EQ(foundry.complaint(), "expected '/bin/none' in the image's root, found no such path");
  foundry.request.program = "/small";
  EXPECT_EQ(foundry.complaint(), "program '/small': expected an ELF file, found another beginning");
  foundry.request.program = "/foreign";
  const std::string foreign = fake_program("x", 0, elf_aarch64);
  ASSERT_TRUE(foundry.request.root.put_file("/foreign", 0755, Content::of_bytes(foreign)).ok());
  EXPECT_EQ(foundry.complaint(), "expected a program for x86_64, found one for aarch64 at '/foreign'");
  foundry.request.program = "/bin/program";
  foundry.request.output = foundry.folder.path("missing/image");
  EXPECT_NE(foundry.complaint().find("No such file or directory"), std::string::npos);
  foundry.request.output = "/dev/full";
  EXPECT_EQ(foundry.complaint(), "expected the name of a file to write, found a device at '/dev/full'");
  foundry.request.output = foundry.folder.path("image");
  for (const char* path : {"/small", "/nosuch", "/../x"}) {
    foundry.request.consumed = {path};
    EXPECT_EQ(foundry.complaint(),
              "--consume: expected the path of a file of 2 MiB or more in the image (/model, /other), found '" +
                  std::string(path) + "'");
  }
  foundry.request.consumed.clear();
  foundry.request.machine_cpus = 65;
  EXPECT_EQ(foundry.complaint(), "--cpus: expected 1 to 64 processors, as many as the kernel uses, found 65");
  foundry.request.machine_cpus.reset();
  foundry.request.network = {"dhcp", "192.0.2.10/24,192.0.2.1"};
  EXPECT_EQ(foundry.complaint().find("--address: expected one way to an address for each version of IP"), 0u);
  foundry.request.network = {"dhcp"};
  EXPECT_NE(foundry.complaint().find("expected 'grant network' beside 'network', found none"), std::string::npos);
  foundry.request.network.clear();
  ASSERT_TRUE(foundry.request.root.put_file("/ingot/x", 0644, Content()).ok());
  EXPECT_NE(foundry.complaint().find("expected nothing at '/ingot'"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(foundry.request.output));
}

TEST(Cast, AProgramStartsInAFolderThatIsThere) {
  Foundry foundry;
  FileTree& root = foundry.request.root;
  ASSERT_TRUE(root.put("/link", {FileNode::Kind::symbolic_link, 0777, {}, "/run"}).ok());
  const auto complaint_at = [&](const std::string& directory) {
    foundry.request.directory = directory;
    return foundry.complaint();
  };
  const std::string none = "--directory: expected a folder of the image for the program to start in, found none at '";
  for (const char* path : {"/", "/bin", "bin/", "/dev", "/proc/self", "/sys", "/etc"})
    EXPECT_EQ(complaint_at(path), "");
  EXPECT_EQ(complaint_at("/nosuch"), none + "/nosuch': --file FOLDER=/nosuch makes it");
  EXPECT_EQ(complaint_at("/small"),
            "--directory: expected a folder for the program to start in, found a file at '/small'");
  EXPECT_EQ(complaint_at("/a/../b"), "--directory: expected a path without '..', found '/a/../b'");
  for (const char* path : {"/tmp", "/var", "/dev/shm", "/link"}) {
    foundry.request.tmpfs.reset();
    EXPECT_EQ(complaint_at(path), none + path + "': --tmpfs makes it");
    foundry.request.tmpfs = mebibyte;
    EXPECT_EQ(complaint_at(path), "");
  }
}

TEST(Cast, ConsumedFilesAreWrittenAsTheyAreFound) {
  Foundry foundry;
  foundry.request.consumed = {"//model/"};
  const Result<CastReport> report = cast(foundry.request);
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_NE(report.value().manifest.find("\nconsume /model\n"), std::string::npos);
}

TEST(Cast, KernelsWithoutOneTableAreRefused) {
  Foundry foundry;
  foundry.request.kernels = {foundry.folder.put("none", fake_kernel(0))};
  EXPECT_NE(foundry.complaint().find("is it Ingot's kernel?"), std::string::npos);
  foundry.request.kernels = {foundry.folder.put("two", fake_kernel(2))};
  EXPECT_NE(foundry.complaint().find("found two"), std::string::npos);
  foundry.request.kernels = {foundry.folder.put("text", "#!/bin/sh")};
  EXPECT_NE(foundry.complaint().find("expected an ELF file"), std::string::npos);
}

TEST(Cast, AFailureLeavesTheOldFile) {
  Foundry foundry;
  foundry.folder.put("image", "old");
  std::filesystem::resize_file(foundry.folder.path("weights"), 5);  // shorter than when it was opened
  EXPECT_NE(foundry.complaint().find("it has become shorter"), std::string::npos);
  EXPECT_EQ(foundry.folder.get("image"), "old");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(foundry.folder.path(""))) {
    files += entry.path().filename().string().find("partial") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(files, 0);
}

TEST(Placement, PassesTheHoleBelow4GiB) {
  const KernelImage kernel = KernelImage::parse(fake_kernel()).value();
  const std::uint64_t gibibyte = 1 << 30;
  const auto composed = kernel.compose(1000, {gibibyte, gibibyte + 5, mebibyte * 10}).value();
  EXPECT_EQ(composed.table.segments[0].address, 2 * mebibyte);
  EXPECT_EQ(composed.table.segments[1].address, 4 * gibibyte);
  EXPECT_EQ(composed.table.segments[2].address, 5 * gibibyte + 2 * mebibyte);
  EXPECT_EQ(composed.memory_end, 5 * gibibyte + 12 * mebibyte);
  EXPECT_EQ(least_memory(composed.memory_end, 0), 4 * gibibyte + 12 * mebibyte + kernel_margin);
  EXPECT_FALSE(kernel.compose(1000, std::vector<std::uint64_t>(31, 1)).ok());
}

TEST(Cast, TheLimitHoldsWhatTheProgramStartsWith) {
  Foundry foundry;
  std::string program = elf_header(elf_x86_64, 2, 0x400000);
  append_segment(program, ElfSegment::load, 5, 0, 0x400000, 0x100);
  append_segment(program, ElfSegment::load, 6, 0x20, 0x401020, 0x3000);
  program.resize(0x4000);
  ASSERT_TRUE(foundry.request.root.put_file("/bin/program", 0755, Content::of_bytes(program)).ok());
  foundry.request.memory_limit = 1024;
  EXPECT_EQ(foundry.complaint(),
            "--limit: expected at least the 20 KiB that the program starts with, found 1024 bytes");
  foundry.request.memory_limit = 20 << 10;
  EXPECT_EQ(foundry.complaint(), "");
}

TEST(Cast, NothingThatIsReadIsReplaced) {
  const TestFolder folder;
  CastRequest request;
  const std::string program = folder.put("program", fake_program());
  request.kernels = {folder.put("kernel", fake_kernel())};
  request.program = "/program";
  ASSERT_TRUE(request.root.put_file("/program", 0755, Content::of_file(program).value()).ok());
  request.loader = folder.put("loader", "MZ");
  request.sources = {folder.put("archive", "tar"), folder.path("layout")};
  folder.put("layout/blobs/one", "1");
  std::filesystem::create_symlink("program", folder.path("link"));
  std::filesystem::create_hard_link(program, folder.path("twin"));
  for (const char* name : {"program", "link", "twin", "./kernel", "loader", "archive", "layout/blobs/one"}) {
    const std::string before = folder.get(name);
    request.output = folder.path(name);
    for (const Result<CastReport>& done : {check_cast(request), cast(request)}) {
      ASSERT_FALSE(done.ok()) << name;
      EXPECT_EQ(done.error().text(), "output: expected another file than what is read, found '" + request.output + "'");
    }
    EXPECT_EQ(folder.get(name), before);
  }
  // An image that was cast before is replaced, also beside what is read.
  for (const char* name : {"image", "image", "layout/new"}) {
    request.output = folder.path(name);
    EXPECT_TRUE(cast(request).ok()) << name;
  }
}

TEST(Preflight, FindsSystemCallsByTheirCode) {
  using std::string_literals::operator""s;
  const std::string code =
      "\xb8\x3c\0\0\0\x0f\x05"s              // exit
      "\xb8\x01\0\0\0\x48\x89\xf7\x0f\x05"s  // write, with an instruction in between
      "\x31\xc0\x0f\x05"s                    // read
      "\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x0f\x05"s;
  const std::string program = fake_program(code);
  const std::set<std::uint32_t> used = system_calls_in(ElfFile::parse(program).value());
  EXPECT_EQ(used, (std::set<std::uint32_t>{0, 1, 60}));
  EXPECT_EQ(missing_system_calls({500, 1023}), std::vector<std::string>());  // not Linux's: no names
}

TEST(Elf, DamageIsSurvived) {
  RandomNumbers numbers(3);
  const std::string whole = fake_kernel();
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = whole;
    for (std::uint64_t count = 1 + numbers.below(5); count > 0; --count) {
      damaged[numbers.below(elf_header_bytes + 3 * elf_segment_bytes)] = static_cast<char>(numbers.next());
    }
    const Result<KernelImage> kernel = KernelImage::parse(damaged);
    if (!kernel.ok()) continue;
    const auto composed = kernel.value().compose(100, {5 * mebibyte});
    EXPECT_TRUE(composed.ok() || !composed.error().text().empty());
  }
}

}  // namespace
}  // namespace ingot::image
