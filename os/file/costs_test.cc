// What grows with the number of files and what must not: steps are counted, never timed.
#include <algorithm>

#include "os/file/channels/epoll.h"
#include "os/file/channels/timer_file.h"
#include "os/file/descriptor_table.h"
#include "os/file/file_fixture.h"
#include "os/file/memory_file.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

struct Questions {
  std::uint64_t polls = 0, times = 0;
};

class AskedFile final : public FileDescription {
 public:
  explicit AskedFile(Questions& asked) : FileDescription(open_flag::read_write), asked_(asked) {}
  Answer<FileStatus> status() override { return FileStatus{}; }
  std::uint32_t poll() override {
    ++asked_.polls;
    return is_ready ? poll_event::readable : 0;
  }
  PollSource* poll_source() override { return &source_; }
  std::optional<Nanoseconds> ready_at() override {
    ++asked_.times;
    return {};
  }
  void become_ready() {
    is_ready = true;
    source_.notify(poll_event::readable);
  }
  bool is_ready = false;

 private:
  Questions& asked_;
  PollSource source_;
};

struct CountingSink final : EpollSink {
  Answer<void> add(std::uint32_t, std::uint64_t data) override {
    told.push_back(data);
    return {};
  }
  std::vector<std::uint64_t> told;
};

class Costs : public Files {
 protected:
  // Questions of one wait with one ready file among `count`.
  Questions wait_with(int count) {
    Questions asked;
    const Reference<EpollFile> epoll = make_reference<EpollFile>(heap, heap, clock, 0u).value();
    std::vector<Reference<AskedFile>> files;
    for (int i = 0; i < count; ++i) {
      files.push_back(make_reference<AskedFile>(heap, asked).value());
      files.back()->add_descriptor();
      EXPECT_TRUE(epoll->add(files.back(), i, {poll_event::readable, static_cast<std::uint64_t>(i)}).ok());
    }
    files[static_cast<std::size_t>(count) / 2]->become_ready();
    asked = {};
    CountingSink sink;
    EXPECT_EQ(epoll->poll(), poll_event::readable);
    EXPECT_EQ(epoll->collect(sink, 64).value(), 1u);
    EXPECT_EQ(epoll->ready_at(), std::nullopt);
    EXPECT_EQ(sink.told, std::vector<std::uint64_t>{static_cast<std::uint64_t>(count) / 2});
    const Questions result = asked;
    for (auto& file : files) file->drop_descriptor();  // each finds its item without asking the others
    return result;
  }
};

TEST_F(Costs, AWaitAsksAsManyFilesWithTenThousandIdleOnesAsWithTen) {
  const Questions few = wait_with(10), many = wait_with(10'000);
  EXPECT_EQ(few.polls, 2u);  // of the one that said something: by poll and by collect
  EXPECT_EQ(many.polls, few.polls);
  EXPECT_EQ(many.times, 0u);
}

TEST_F(Costs, AWaitForOneOfManyReadyFilesAsksOne) {
  Questions asked;
  const Reference<EpollFile> epoll = make_reference<EpollFile>(heap, heap, clock, 0u).value();
  for (int i = 0; i < 1000; ++i) {
    const Reference<AskedFile> file = make_reference<AskedFile>(heap, asked).value();
    file->add_descriptor();
    file->become_ready();
    EXPECT_TRUE(epoll->add(file, i, {poll_event::readable, static_cast<std::uint64_t>(i)}).ok());
  }
  asked = {};
  CountingSink sink;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(epoll->collect(sink, 1).value(), 1u);
  EXPECT_EQ(asked.polls, 1000u);
  std::sort(sink.told.begin(), sink.told.end());  // all had their turn
  EXPECT_EQ(std::unique(sink.told.begin(), sink.told.end()), sink.told.end());
}

TEST_F(Costs, ADescriptorIsFoundByAsManyStepsWithManyOpenAsWithFew) {
  Questions asked;
  DescriptorTable table(heap, DescriptorTable::largest_limit);
  const Reference<FileDescription> file = make_reference<AskedFile>(heap, asked).value();
  std::uint64_t steps[2] = {};
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < (round == 0 ? 10 : 50'000); ++i) EXPECT_TRUE(table.add(file, OnExecute::keeps).ok());
    EXPECT_TRUE(table.close(5).ok());
    const std::uint64_t before = table.search_steps();
    EXPECT_EQ(table.add(file, OnExecute::keeps).value(), 5);
    steps[round] = table.search_steps() - before;
  }
  EXPECT_EQ(steps[0], 1u);
  EXPECT_EQ(steps[1], 1u);
}

TEST_F(Costs, ANameAmongAHundredThousandIsFoundAtOnce) {
  constexpr int many = 100'000;
  const Reference<Volume> volume = make_volume(Volume::Writing::allowed);
  const Reference<MemoryDirectory> directory = make_directory(volume);
  directory->add_link();
  const Reference<Node> file = make_memory_file(volume, 0644).value();
  for (int i = 0; i < many; ++i) ASSERT_TRUE(directory->link("name" + std::to_string(i), *file).ok());
  EXPECT_EQ(directory->count(), static_cast<std::size_t>(many));
  EXPECT_LE(directory->longest_search(), 16u);
  EXPECT_TRUE(directory->find("name99999").ok());
  EXPECT_EQ(directory->find("name100000").error(), Errno::enoent);
  directory->clear();
}

// A listing in portions, of which each goes on where the last one stopped, while names come and go.
TEST_F(Costs, AListingGoesOnWhereItStopped) {
  const Reference<Volume> volume = make_volume(Volume::Writing::allowed);
  const Reference<MemoryDirectory> directory = make_directory(volume);
  directory->add_link();
  const auto make = [&](int i) {
    EXPECT_TRUE(directory->create(std::to_string(i), {FileKind::regular, 0644, {}}).ok());
  };
  for (int i = 0; i < 1000; ++i) make(i);
  std::vector<std::string> all;
  for (std::uint64_t position = 0;;) {
    struct Portion final : DirectorySink {
      Answer<bool> add(const Entry& entry) override {
        if (names.size() == 7) return false;
        names.emplace_back(entry.name);
        next = entry.next_position;
        return true;
      }
      std::vector<std::string> names;
      std::uint64_t next = 0;
    } portion;
    EXPECT_TRUE(directory->list(position, portion).ok());
    if (portion.names.empty()) break;
    position = portion.next;
    // What was listed goes, and so does the name that stands next.
    for (const std::string& name : portion.names) EXPECT_TRUE(directory->remove(name, Directory::Removes::file).ok());
    all.insert(all.end(), portion.names.begin(), portion.names.end());
    const int next = std::stoi(all.back()) + 1;
    EXPECT_EQ(directory->remove(std::to_string(next), Directory::Removes::file).ok(), next < 1000);
  }
  EXPECT_EQ(all.size(), 875u);  // seven of eight
  EXPECT_EQ(directory->count(), 0u);
}

}  // namespace
}  // namespace ingot::os
