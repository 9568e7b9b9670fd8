#include "machine/machine.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "machine/caches.h"
#include "machine/limits.h"
#include "machine/parse.h"

namespace ingot {
namespace {

using namespace literals;

TEST(Parse, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_number(" 42\n"), 42);
  EXPECT_EQ(parse_number("-1"), -1);
  for (const char* text : {"", " ", "max", "4 2", "42x", "99999999999999999999"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(Parse, Loads) {
  EXPECT_EQ(parse_load("0.37 1.20 2.00 3/345 7\n"), 0.37);
  EXPECT_EQ(parse_load("12"), 12.0);
  for (const char* text : {"", " 1", "x 1", "-1 2", "nan 1"}) EXPECT_EQ(parse_load(text), std::nullopt) << text;
}

TEST(Parse, FieldsOfKibibytes) {
  const char* text = "MemTotal:  262144 kB\nMemFree:\t7 kB\nPages: 3\nOdd: -1 kB\nNone: kB\n";
  EXPECT_EQ(find_kibibytes(text, "MemTotal"), 256_MiB);
  EXPECT_EQ(find_kibibytes(text, "MemFree"), 7_KiB);
  for (const char* key : {"Pages", "Odd", "None", "Mem"}) EXPECT_EQ(find_kibibytes(text, key), std::nullopt) << key;
}

TEST(Parse, CacheSizes) {
  EXPECT_EQ(parse_size("48K\n"), 48_KiB);
  EXPECT_EQ(parse_size("2M"), 2_MiB);
  EXPECT_EQ(parse_size("307200K"), 300_MiB);
  EXPECT_EQ(parse_size("512"), Bytes(512));
  for (const char* text : {"", "K", "-1K", "12Q", "9223372036854775807K"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(Parse, CpuLists) {
  EXPECT_EQ(parse_cpu_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpu_list("5"), std::vector<int>{5});
  for (const char* text : {"", "3-1", "a", "1,", "1,,2", "-2", "1-", "0-999999999999"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

TEST(Parse, QuotasRoundUpAndUnlimitedIsEmpty) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 2);
  EXPECT_EQ(parse_cpu_max("200000 100000"), 2);
  EXPECT_EQ(parse_cpu_max("1000 100000"), 1);
  for (const char* text : {"max 100000", "", "100000", "0 100000", "100000 0"}) {
    EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_cpu_quota("250000\n", "100000\n"), 3);
  EXPECT_EQ(parse_cpu_quota("-1\n", "100000\n"), std::nullopt);
}

TEST(Parse, CgroupDirectoriesReachFromOurOwnToTheMount) {
  const char* v2_mounts = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(cgroup_directories("0::/user.slice/job\n", v2_mounts, "cpu"),
            (std::vector<CgroupDirectory>{{CgroupVersion::v2, "/sys/fs/cgroup/user.slice/job"},
                                          {CgroupVersion::v2, "/sys/fs/cgroup/user.slice"},
                                          {CgroupVersion::v2, "/sys/fs/cgroup"}}));
  const char* v1_mounts =
      "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 24 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
  EXPECT_EQ(cgroup_directories("5:cpuset:/other\n4:cpu,cpuacct:/job\n", v1_mounts, "cpu"),
            (std::vector<CgroupDirectory>{{CgroupVersion::v1, "/sys/fs/cgroup/cpu,cpuacct/job"},
                                          {CgroupVersion::v1, "/sys/fs/cgroup/cpu,cpuacct"}}));
}

TEST(Parse, AContainerSeesItsOwnCgroupAtTheMount) {
  const char* mounts = "30 24 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  EXPECT_EQ(cgroup_directories("0::/docker/abc/inner\n", mounts, "cpu"),
            (std::vector<CgroupDirectory>{{CgroupVersion::v2, "/sys/fs/cgroup/inner"},
                                          {CgroupVersion::v2, "/sys/fs/cgroup"}}));
  // A path that the mount does not show must not be walked out of it.
  EXPECT_EQ(cgroup_directories("0::/../elsewhere\n", mounts, "cpu"),
            (std::vector<CgroupDirectory>{{CgroupVersion::v2, "/sys/fs/cgroup"}}));
  const char* whole_tree = "30 24 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  EXPECT_EQ(cgroup_directories("0::/../elsewhere\n", whole_tree, "cpu"),
            (std::vector<CgroupDirectory>{{CgroupVersion::v2, "/sys/fs/cgroup"}}));
  EXPECT_TRUE(cgroup_directories("garbage", "garbage\n\n - \n", "cpu").empty());
}

TEST(Parse, CpuNames) {
  EXPECT_EQ(cpu_name_from("processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\n"), "Intel(R) Xeon(R)");
  EXPECT_EQ(cpu_name_from("CPU implementer\t: 0x41\nCPU part\t: 0xd40\n"), "Arm Neoverse V1");
  EXPECT_EQ(cpu_name_from("CPU implementer\t: 0x41\nCPU part\t: 0xfff\n"),
            "Arm processor (implementer 0x41, part 0xfff)");
  EXPECT_EQ(cpu_name_from("nothing here"), std::nullopt);
}

TEST(Caches, CpuidLeafFourIsDecoded) {
  // A 48 KiB, 12-way first-level data cache of 64 sets, shared by two; and the end of the list.
  Cache cache = cache_from_cpuid(0x04004121, 0x02c0003f, 0x0000003f);
  EXPECT_EQ(cache.level, 1);
  EXPECT_EQ(cache.kind, CacheKind::data);
  EXPECT_EQ(cache.size, 48_KiB);
  EXPECT_EQ(cache.line_bytes, 64);
  EXPECT_EQ(cache.shared_by_cpus, 2);
  EXPECT_EQ(cache_from_cpuid(0, 0, 0).level, 0);
}

TEST(Caches, AMissingFolderIsNoCaches) { EXPECT_TRUE(caches_from_sysfs("/nonexistent").empty()); }

TEST(Machine, CacheQueriesIgnoreInstructionCaches) {
  Machine machine;
  EXPECT_EQ(machine.cache_bytes(1), Bytes(0));
  EXPECT_EQ(machine.last_level_cache(), Bytes(0));
  machine.caches = {{1, CacheKind::data, 32_KiB}, {1, CacheKind::instruction, 64_KiB}, {2, CacheKind::unified, 1_MiB}};
  EXPECT_EQ(machine.cache_bytes(1), 32_KiB);
  EXPECT_EQ(machine.cache_bytes(3), Bytes(0));
  EXPECT_EQ(machine.last_level_cache(), 1_MiB);
}

TEST(Machine, DetectsThisOne) {
  Machine machine = Machine::detect();
  EXPECT_EQ(machine.architecture, built_architecture);
  EXPECT_FALSE(machine.cpu_model.empty());
  EXPECT_GE(machine.usable_cpus, 1);
  EXPECT_LE(machine.usable_cpus, machine.online_cpus);
  EXPECT_GT(machine.memory, 16_MiB);
  for (std::size_t index = 1; index < machine.caches.size(); ++index) {
    EXPECT_LE(machine.caches[index - 1].level, machine.caches[index].level);
  }
}

TEST(Machine, AffinityNarrowsUsableCpus) {
  std::vector<int> cpus = affinity_cpus();
  if (cpus.empty()) GTEST_SKIP() << "the system has no affinity masks";
  std::thread([&] {  // a thread of its own, so that the mask ends with it
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(cpus.back()), &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(affinity_cpus(), std::vector<int>{cpus.back()});
    EXPECT_EQ(usable_cpu_count(), 1);
  })
      .join();
}

}  // namespace
}  // namespace ingot
