#include "os/file/initramfs.h"

#include "os/file/cpio_archive.h"
#include "os/file/file_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;
using cpio_archive::Archive;
using cpio_archive::Field;

class Initramfs : public Files {
 protected:
  std::string add(const std::string& archive, std::string_view hidden = {}) {
    archives.push_back(archive);
    Result<InitramfsCounts> added = add_initramfs(tree.root(), bytes_of(archives.back()), {}, hidden);
    if (!added.ok()) return std::string(added.error().text());
    counts = added.value();
    return "ok";
  }
  static std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }
  std::string get(std::string_view path) {
    Answer<Reference<FileDescription>> file = tree.open(tree.root(), path, 0, 0);
    return file.ok() ? read_all(*file.value()) : std::string(name_of(file.error()));
  }
  FileStatus status(std::string_view path) { return tree.find(tree.root(), path, LastLink::kept).value()->status(); }

  std::vector<std::string> archives = [] {
    std::vector<std::string> room;
    room.reserve(8);  // names point into them: they do not move
    return room;
  }();
  FileTree tree{make_directory(make_volume(Volume::Writing::refused)), names};
  InitramfsCounts counts;
};

TEST_F(Initramfs, FilesDirectoriesAndLinksHaveTheirPlace) {
  ASSERT_EQ(add(Archive()
                    .add(".", "", 040755)
                    .add("bin", "", 040711)
                    .add("bin/tool", "#!tool", 0100755, {{Field::modified, 1000}})
                    .add("bin/alias", "tool", 0120777)
                    .add("./etc/deep/er/file", "text", 0100600)
                    .add("/rooted", "x")
                    .add("dev/tty", "", 0020666)
                    .end()
                    .text()),
            "ok");
  EXPECT_EQ(get("/bin/tool"), "#!tool");
  EXPECT_EQ(get("/bin/alias"), "#!tool");
  EXPECT_EQ(get("/etc/deep/er/file"), "text");
  EXPECT_EQ(get("/rooted"), "x");
  EXPECT_EQ(status("/bin").permissions, 0711u);
  EXPECT_EQ(status("/etc/deep").permissions, 0755u);  // made up
  EXPECT_EQ(status("/bin/tool").permissions, 0755u);
  EXPECT_EQ(status("/bin/tool").times.modified, Nanoseconds(1'000'000'000'000));
  EXPECT_EQ(status("/bin/alias").kind, FileKind::symbolic_link);
  EXPECT_EQ(status("/etc/deep/er/file").links, 1u);
  EXPECT_EQ(counts.files, 3u);
  EXPECT_EQ(counts.directories, 2u);
  EXPECT_EQ(counts.links, 1u);
  EXPECT_EQ(counts.passed_over, 1u);
}

TEST_F(Initramfs, ProgramsCannotWriteToIt) {
  ASSERT_EQ(add(Archive().add("a", "x").add("d", "", 040755).end().text()), "ok");
  EXPECT_EQ(tree.open(tree.root(), "/a", open_flag::write_only, 0).error(), Errno::erofs);
  EXPECT_EQ(tree.open(tree.root(), "/a", open_flag::truncate, 0).error(), Errno::erofs);
  EXPECT_EQ(tree.open(tree.root(), "/new", open_flag::create | open_flag::write_only, 0).error(), Errno::erofs);
  EXPECT_EQ(tree.remove(tree.root(), "/a", Directory::Removes::file).error(), Errno::erofs);
  EXPECT_EQ(tree.remove(tree.root(), "/d", Directory::Removes::directory).error(), Errno::erofs);
  EXPECT_EQ(tree.rename(tree.root(), "/a", tree.root(), "/b", 0).error(), Errno::erofs);
  EXPECT_EQ(tree.make(tree.root(), "/e", {FileKind::directory, 0755, {}}).error(), Errno::erofs);
  EXPECT_EQ(tree.make(tree.root(), "/d", {FileKind::directory, 0755, {}}).error(), Errno::eexist);
}

TEST_F(Initramfs, NamesOfOneFileShareIt) {
  const std::vector<cpio_archive::Change> same = {{Field::inode, 77}, {Field::links, 3}};
  ASSERT_EQ(add(Archive()
                    .add("one", "", 0100644, same)
                    .add("two", "", 0100644, same)
                    .add("three", "content", 0100644, same)
                    .add("other", "other", 0100644, same)  // all three have been seen: a file of its own
                    .end()
                    .text()),
            "ok");
  EXPECT_EQ(get("/one"), "content");
  EXPECT_EQ(get("/two"), "content");
  EXPECT_EQ(get("/three"), "content");
  EXPECT_EQ(get("/other"), "other");
  EXPECT_EQ(status("/one").inode, status("/three").inode);
  EXPECT_NE(status("/one").inode, status("/other").inode);
  EXPECT_EQ(status("/one").links, 3u);
  EXPECT_EQ(counts.hard_links, 2u);
}

TEST_F(Initramfs, WhatComesLaterHolds) {
  ASSERT_EQ(add(Archive().add("a", "old").add("d/x", "x").end().text() +
                Archive().add("a", "new").add("d", "", 040700).end().text()),
            "ok");
  EXPECT_EQ(get("/a"), "new");
  EXPECT_EQ(get("/d/x"), "x");
  EXPECT_EQ(status("/d").permissions, 0700u);
}

TEST_F(Initramfs, TheKernelsOwnFileIsNotShown) {
  ASSERT_EQ(add(Archive().add("ingot/manifest", "secret").add("a", "x").end().text(), "ingot/manifest"), "ok");
  EXPECT_EQ(get("/ingot/manifest"), "ENOENT");
  EXPECT_EQ(get("/ingot"), "ENOENT");
  EXPECT_EQ(get("/a"), "x");
}

TEST_F(Initramfs, WhatCannotBeIsSaid) {
  EXPECT_NE(add(Archive().add("../out", "x").end().text()).find("../out"), std::string::npos);
  EXPECT_NE(add(Archive().add("a", "x").add("a/b", "y").end().text()).find("expected a directory"), std::string::npos);
  EXPECT_NE(add(Archive().add(std::string(300, 'n'), "x").end().text()).find("255"), std::string::npos);
  EXPECT_NE(add(Archive().add("/", "x").end().text()).find("EISDIR"), std::string::npos);
  EXPECT_NE(add(Archive().add("l", "", 0120777).end().text()).find("ENOENT"), std::string::npos);
  EXPECT_NE(add("garbage").find("070701"), std::string::npos);
}

TEST_F(Initramfs, WithoutMemoryItSaysSo) {
  const std::string archive = Archive().add("d/a", "x").add("d/l", "a", 0120777).end().text();
  archives.push_back(archive);
  for (int left = 0; left < 6; ++left) {
    FileTree other(make_directory(make_volume(Volume::Writing::refused)), names);
    heap.left = left;
    const Result<InitramfsCounts> added = add_initramfs(other.root(), bytes_of(archives.back()), {}, {});
    heap.left = 1'000'000;
    ASSERT_FALSE(added.ok());
    EXPECT_EQ(added.error().code(), ErrorCode::out_of_memory);
  }
}

// The image as it lies in memory: two files that begin at pages, and one between them.
class ImageMappings : public Initramfs {
 protected:
  static constexpr std::uint64_t image = 8 << 20;  // beyond what the tests allocate

  ImageContent content(std::uint64_t offset, std::uint64_t bytes, ImageContent::Tail tail) {
    const PhysicalAddress physical(image + offset);
    return {{memory.window().at<std::byte>(physical), bytes}, physical, tail};
  }
  void put(std::string_view path, const ImageContent& what) {
    ASSERT_TRUE(add_image_file(tree.root(), path, NameStorage::copied, what, 0644).ok());
  }
  FileMapping mapping(std::string_view path) {
    return tree.open(tree.root(), path, 0, 0).value()->mapping(0, page_bytes, Access::read).value();
  }
};

TEST_F(ImageMappings, ShowWholePagesInPlace) {
  put("/weights", content(0, (4 << 20) + 100, ImageContent::Tail::zeros));
  FileMapping weights = mapping("/weights");
  const Backing large = weights.object->fault(2 << 20, PageSize::large).value();
  EXPECT_EQ(large.physical, PhysicalAddress(image + (2 << 20)));
  EXPECT_EQ(large.ownership, FrameOwnership::borrowed);
  EXPECT_FALSE(weights.object->fault(4 << 20, PageSize::large).ok());
  const Backing last = weights.object->fault(4 << 20, PageSize::small).value();
  EXPECT_EQ(last.physical, PhysicalAddress(image + (4 << 20)));
  EXPECT_FALSE(weights.object->fault((4 << 20) + page_bytes, PageSize::small).ok());
  EXPECT_FALSE(weights.object->fault(0, PageSize::giant).ok());
}

TEST_F(ImageMappings, CopyWhatDoesNotFitAPage) {
  char* bytes = memory.window().at<char>(PhysicalAddress(image));
  __builtin_memset(bytes, 'n', 4 * page_bytes);
  __builtin_memset(bytes + 100, 'f', page_bytes + 10);
  put("/odd", content(100, page_bytes + 10, ImageContent::Tail::other));
  {
    FileMapping odd = mapping("/odd");
    const Backing first = odd.object->fault(0, PageSize::small).value();
    const Backing again = odd.object->fault(0, PageSize::small).value();
    const Backing second = odd.object->fault(page_bytes, PageSize::small).value();
    EXPECT_EQ(first.physical, again.physical);
    EXPECT_EQ(first.ownership, FrameOwnership::counted);
    const char* seen = memory.window().at<char>(second.physical);
    EXPECT_EQ(seen[9], 'f');
    EXPECT_EQ(seen[10], '\0');  // not the neighbour's
    for (const Backing& page : {first, again, second}) {
      frames.release(FrameNumber::containing(page.physical), page_order);
    }
  }
  // A page in place whose end belongs to somebody else is copied, too.
  put("/even", content(0, 10, ImageContent::Tail::other));
  FileMapping even = mapping("/even");
  const Backing page = even.object->fault(0, PageSize::small).value();
  EXPECT_EQ(page.ownership, FrameOwnership::counted);
  EXPECT_EQ(memory.window().at<char>(page.physical)[10], '\0');
  frames.release(FrameNumber::containing(page.physical), page_order);
}

TEST_F(ImageMappings, ALargeFileTakesTheSmallOnesPlace) {
  ASSERT_EQ(add(Archive().add("model", "placeholder").end().text()), "ok");
  memory.window().at<char>(PhysicalAddress(image))[0] = 'w';
  put("/model", content(0, 1, ImageContent::Tail::zeros));
  EXPECT_EQ(get("/model"), "w");
  EXPECT_FALSE(add_image_file(tree.root(), "/", NameStorage::copied, content(0, 1, ImageContent::Tail::zeros), 0).ok());
}

}  // namespace
}  // namespace ingot::os
