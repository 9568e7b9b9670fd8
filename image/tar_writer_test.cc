#include "image/tar_writer.h"

#include <gtest/gtest.h>

#include "image/fake_files.h"

namespace ingot::image {
namespace {

std::string archive_of(const std::vector<TarEntry>& entries) {
  std::string archive;
  const auto write = [&](std::string_view bytes) -> Result<void> {
    archive += bytes;
    return {};
  };
  for (const TarEntry& entry : entries) {
    const std::size_t before = archive.size();
    EXPECT_TRUE(write_tar_entry(entry, write).ok());
    EXPECT_EQ(archive.size() - before, tar_entry_bytes(entry));
  }
  return archive + std::string(tar_end());
}

// A folder, files of every remainder of a block, links, and names that fit ustar exactly and not.
FileTree tree() {
  FileTree tree;
  EXPECT_TRUE(tree.put("/folder", {FileNode::Kind::directory, 0750, {}, {}}).ok());
  for (const std::size_t bytes : {0, 1, 511, 512, 513, 100000}) {
    const std::string name = "/folder/" + std::to_string(bytes);
    EXPECT_TRUE(tree.put_file(name, 0644, Content::of_bytes(std::string(bytes, 'x'))).ok());
  }
  EXPECT_TRUE(tree.put_file("/program", 04755, Content::of_bytes("p")).ok());
  EXPECT_TRUE(tree.put("/link", {FileNode::Kind::symbolic_link, 0777, {}, "folder/1"}).ok());
  for (const std::size_t length : {99, 100, 101, 250}) {
    const std::string name(length, 'n');
    EXPECT_TRUE(tree.put_file("/" + name, 0600, Content::of_bytes(std::to_string(length))).ok());
    const FileNode link{FileNode::Kind::symbolic_link, 0777, {}, std::string(length, 't')};
    EXPECT_TRUE(tree.put("/to" + std::to_string(length), link).ok());
  }
  EXPECT_TRUE(tree.put_file("/na\xc3\xafve", 0644, Content::of_bytes("n")).ok());
  return tree;
}

TEST(TarWriter, WhatIsWrittenIsReadAgain) {
  const FileTree written = tree();
  const std::vector<TarEntry> entries = tar_entries_of(written);
  ASSERT_EQ(entries.size(), written.nodes().size());
  const Result<std::vector<TarEntry>> read = read_tar(Content::of_bytes(archive_of(entries)));
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read.value().size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const TarEntry& expected = entries[i];
    const TarEntry& found = read.value()[i];
    EXPECT_EQ(found.path, expected.path);
    EXPECT_EQ(found.kind, expected.kind) << expected.path;
    EXPECT_EQ(found.target, expected.target) << expected.path;
    EXPECT_EQ(found.mode, expected.mode) << expected.path;
    EXPECT_EQ(found.content.read(1 << 20).value(), expected.content.read(1 << 20).value()) << expected.path;
  }
}

// Another reader: path, type, mode, owner, time, target and content of every member.
TEST(TarWriter, PythonReadsTheSame) {
  if (!find_program("python3")) GTEST_SKIP() << "SKIPPED: expected python3, found none";
  const TestFolder folder;
  const std::vector<TarEntry> entries = tar_entries_of(tree());
  const std::string archive = folder.put("archive", archive_of(entries));
  const std::string script =
      "import sys, tarfile\n"
      "for m in tarfile.open(sys.argv[1], 'r:'):\n"
      "  content = len(tarfile.open(sys.argv[1]).extractfile(m).read()) if m.isfile() else 0\n"
      "  print(m.name, m.type.decode(), oct(m.mode)[2:], m.uid, m.gid, m.mtime, m.linkname, content, m.uname+m.gname, "
      "sep='|')\n";
  std::string found, expected;
  const Result<ProcessEnd> end = run_process({.words = {"python3", "-c", script, archive},
                                              .environment = {"PYTHONIOENCODING=utf-8"},
                                              .silenced = {0},
                                              .channels = {{1, [&](std::string_view text) { found += text; }}}});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end.value().status, 0);
  for (const TarEntry& entry : entries) {
    const bool is_folder = entry.kind == TarEntry::Kind::directory, is_file = entry.kind == TarEntry::Kind::file;
    char mode[16];
    std::snprintf(mode, sizeof mode, "%o", entry.mode);
    expected += entry.path.substr(0, entry.path.size() - (is_folder ? 1 : 0)) +
                (is_file     ? "|0|"
                 : is_folder ? "|5|"
                             : "|2|") +
                mode + "|0|0|0|" + entry.target + "|" + std::to_string(entry.content.size()) + "|\n";
  }
  EXPECT_EQ(found, expected);
}

// Eleven octal digits end at 8 GiB.
TEST(TarWriter, SizesThatDoNotFitStandInFront) {
  const TarEntry entry{TarEntry::Kind::file, "model", {}, 0644, {}};
  const std::uint64_t last = (std::uint64_t{1} << 33) - 1;
  EXPECT_EQ(tar_header(entry, last).size(), 512u);
  EXPECT_EQ(tar_header(entry, last).substr(124, 11), "77777777777");
  const std::string larger = tar_header(entry, last + 1);
  ASSERT_EQ(larger.size(), 3 * 512u);
  EXPECT_EQ(larger.substr(512, 19), "19 size=8589934592\n");
  EXPECT_EQ(larger.substr(1024, 6), std::string("model\0", 6));

  // Read again from a file that is mostly a hole.
  const TestFolder folder;
  const std::string path = folder.put("archive", larger);
  std::filesystem::resize_file(path, larger.size() + last + 1 + 1024);
  const Result<std::vector<TarEntry>> read = read_tar(Content::of_file(path).value());
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read.value().size(), 1u);
  EXPECT_EQ(read.value().front().content.size(), last + 1);
}

TEST(TarWriter, ANameOfEqualLengthTakesAsManyBlocks) {
  for (const std::uint64_t bytes : {std::uint64_t{7}, std::uint64_t{1} << 40}) {
    for (const std::size_t length : {50, 150}) {
      const TarEntry zeros{TarEntry::Kind::file, std::string(length, '0'), {}, 0644, {}};
      const TarEntry others{TarEntry::Kind::file, std::string(length, 'f'), {}, 0644, {}};
      EXPECT_EQ(tar_header(zeros, bytes).size(), tar_header(others, bytes).size());
    }
  }
}

}  // namespace
}  // namespace ingot::image
