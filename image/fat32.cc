#include "image/fat32.h"

#include <algorithm>
#include <map>

#include "base/units.h"
#include "image/bytes.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t reserved_sectors = 32, fat_count = 2, first_cluster = 2;
constexpr std::uint64_t least_clusters =
    65525 + 16;  // fewer and readers take it for FAT16; a few more, for careless ones
constexpr std::uint64_t comfortable_clusters = 1 << 20;  // more and clusters grow instead
constexpr std::uint32_t end_of_chain = 0x0fffffff;
constexpr std::uint32_t volume_identity = 0x1a607ca5;
constexpr std::uint16_t first_day = 0x0021;  // 1 January 1980: the earliest there is
enum Attribute : std::uint8_t { is_directory = 0x10, is_archive = 0x20 };

struct Chain {
  std::uint64_t first = 0, count = 0;
};

struct Entry {
  std::string name;  // 11 letters
  bool directory = false;
  Chain chain;
  std::uint64_t bytes = 0;
};

// "BOOTX64.EFI" -> "BOOTX64 EFI".
Result<std::string> short_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::string_view stem = name.substr(0, dot);
  const std::string_view extension = dot == std::string_view::npos ? "" : name.substr(dot + 1);
  const auto plain = [](std::string_view part) {
    return part.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == std::string_view::npos;
  };
  if (stem.empty() || stem.size() > 8 || extension.size() > 3 || !plain(stem) || !plain(extension)) {
    return Error::of(ErrorCode::unsupported, "expected a name of at most 8 and 3 capital letters and digits, found '",
                     shortened(name), "'");
  }
  std::string padded(11, ' ');
  padded.replace(0, stem.size(), stem);
  padded.replace(8, extension.size(), extension);
  return padded;
}

void append_entry(std::string& directory, const std::string& name, bool is_folder, std::uint64_t cluster,
                  std::uint64_t bytes) {
  directory += name;
  append_number<std::uint8_t>(directory, is_folder ? is_directory : is_archive);
  directory.append(4, '\0');            // case and the time of creation
  append_number(directory, first_day);  // created
  append_number(directory, first_day);  // read
  append_number(directory, static_cast<std::uint16_t>(cluster >> 16));
  append_number<std::uint16_t>(directory, 0);  // changed: time
  append_number(directory, first_day);
  append_number(directory, static_cast<std::uint16_t>(cluster));
  append_number(directory, static_cast<std::uint32_t>(bytes));
}

// Folders by path (the root is ""), each with its entries in order.
struct Folders {
  std::map<std::string, std::vector<Entry>> entries;
  std::map<std::string, Chain> chains;

  Result<void> add(const std::string& path, std::uint64_t bytes) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
    Entry entry;
    entry.name = TRY(short_name(std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1)));
    entry.bytes = bytes;
    TRY(add_folder(folder));
    entries[folder].push_back(entry);
    return {};
  }
  Result<void> add_folder(const std::string& path) {
    if (path.empty() || entries.contains(path)) {
      entries.try_emplace(path);
      return {};
    }
    const std::size_t slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
    Entry entry;
    entry.name = TRY(short_name(std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1)));
    entry.directory = true;
    TRY(add_folder(above));
    entries[above].push_back(entry);
    entries.try_emplace(path);
    return {};
  }
};

std::string boot_sector(std::uint64_t sectors, std::uint64_t per_cluster, std::uint64_t fat_sectors,
                        std::uint64_t hidden) {
  std::string sector("\xeb\x58\x90INGOT   ", 11);
  append_number(sector, static_cast<std::uint16_t>(sector_bytes));
  append_number(sector, static_cast<std::uint8_t>(per_cluster));
  append_number(sector, static_cast<std::uint16_t>(reserved_sectors));
  append_number(sector, static_cast<std::uint8_t>(fat_count));
  sector.append(4, '\0');                     // FAT16's root entries and sectors: none
  append_number<std::uint8_t>(sector, 0xf8);  // a fixed disk
  append_number<std::uint16_t>(sector, 0);    // FAT16's size of a FAT
  append_number<std::uint16_t>(sector, 63);   // a geometry, which nobody uses
  append_number<std::uint16_t>(sector, 255);
  append_number(sector, static_cast<std::uint32_t>(hidden));
  append_number(sector, static_cast<std::uint32_t>(sectors));
  append_number(sector, static_cast<std::uint32_t>(fat_sectors));
  append_number<std::uint32_t>(sector, 0);                           // flags and version
  append_number(sector, static_cast<std::uint32_t>(first_cluster));  // the root
  append_number<std::uint16_t>(sector, 1);                           // the information sector
  append_number<std::uint16_t>(sector, 6);                           // the copy of this sector
  sector.append(12, '\0');
  sector += std::string_view("\x80\0\x29", 3);  // drive, reserved, "the next three follow"
  append_number(sector, volume_identity);
  sector += "INGOT      FAT32   ";
  sector.resize(510);
  sector += "\x55\xaa";
  return sector;
}

std::string information_sector(std::uint64_t free_clusters, std::uint64_t next_free) {
  std::string sector = "RRaA";
  sector.resize(484);
  sector += "rrAa";
  append_number(sector, static_cast<std::uint32_t>(free_clusters));
  append_number(sector, static_cast<std::uint32_t>(next_free));
  sector.resize(510);
  sector += "\x55\xaa";
  return sector;
}

}  // namespace

Result<Fat32Volume> Fat32Volume::plan(const std::vector<SmallFile>& small, const LargeFile& large,
                                      std::uint64_t hidden_sectors) {
  if (large.bytes > 0xffffffff) {
    return Error::of(ErrorCode::unsupported, "expected an image below 4 GiB for a disk, which FAT can count, found ",
                     large.bytes >> 20, " MiB: use the format elf");
  }
  Folders folders;
  std::uint64_t content_bytes = large.bytes;
  for (const SmallFile& file : small) {
    TRY(folders.add(file.path, file.content.size()));
    content_bytes += file.content.size();
  }
  TRY(folders.add(large.path, large.bytes));

  std::uint64_t per_cluster = 1;
  while (content_bytes / (per_cluster * sector_bytes) > comfortable_clusters) per_cluster *= 2;
  const std::uint64_t cluster_bytes = per_cluster * sector_bytes;

  // Clusters in order: the root and the folders (each fits one), the small files, the large one.
  std::uint64_t next = first_cluster;
  std::vector<Chain> chains;
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t count = (bytes + cluster_bytes - 1) / cluster_bytes;
    const Chain chain{count == 0 ? 0 : next, count};
    next += count;
    if (count != 0) chains.push_back(chain);
    return chain;
  };
  for (const auto& [path, entries] : folders.entries) folders.chains[path] = take(cluster_bytes);
  std::map<std::string, Chain> file_chains;
  for (const SmallFile& file : small) file_chains[file.path] = take(file.content.size());
  const std::uint64_t large_begins = next;
  file_chains[large.path] = take(large.bytes);

  const std::uint64_t clusters = std::max(least_clusters, next - first_cluster + 16);
  const std::uint64_t fat_sectors = ((clusters + first_cluster) * 4 + sector_bytes - 1) / sector_bytes;
  Fat32Volume volume;
  volume.sectors_ = reserved_sectors + fat_count * fat_sectors + clusters * per_cluster;

  std::string& front = volume.front_;
  const std::string boot = boot_sector(volume.sectors_, per_cluster, fat_sectors, hidden_sectors);
  const std::string information = information_sector(clusters - (next - first_cluster), next);
  front = boot + information;
  front.resize(6 * sector_bytes);
  front += boot + information;
  front.resize(reserved_sectors * sector_bytes);
  std::string table;
  table.reserve(fat_sectors * sector_bytes);
  append_number<std::uint32_t>(table, 0x0ffffff8);
  append_number(table, end_of_chain);
  for (const Chain& chain : chains) {
    for (std::uint64_t index = 1; index < chain.count; ++index) {
      append_number(table, static_cast<std::uint32_t>(chain.first + index));
    }
    append_number(table, end_of_chain);
  }
  table.resize(fat_sectors * sector_bytes);
  front += table;
  front += table;

  for (const auto& [path, entries] : folders.entries) {
    std::string directory;
    if (!path.empty()) {
      const std::size_t slash = path.rfind('/');
      const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
      append_entry(directory, ".          ", true, folders.chains[path].first, 0);
      append_entry(directory, "..         ", true, above.empty() ? 0 : folders.chains[above].first, 0);
    }
    for (const Entry& entry : entries) {
      std::string name = entry.name.substr(0, 8), extension = entry.name.substr(8);
      while (name.ends_with(' ')) name.pop_back();
      while (extension.ends_with(' ')) extension.pop_back();
      const std::string spelled = (path.empty() ? "" : path + '/') + name + (extension.empty() ? "" : '.' + extension);
      const std::uint64_t cluster = entry.directory ? folders.chains[spelled].first : file_chains[spelled].first;
      append_entry(directory, entry.name, entry.directory, cluster, entry.bytes);
    }
    if (directory.size() > cluster_bytes) {
      return Error::of(ErrorCode::unsupported, "expected a folder of at most ", cluster_bytes / 32,
                       " entries on the disk, found more");
    }
    directory.resize(cluster_bytes);
    front += directory;
  }
  for (const SmallFile& file : small) {
    front += file.content;
    front.resize(align_up(front.size(), sector_bytes));
    const std::uint64_t data_begins = (reserved_sectors + fat_count * fat_sectors) * sector_bytes;
    const Chain chain = file_chains[file.path];
    if (chain.count != 0) front.resize(data_begins + (chain.first + chain.count - first_cluster) * cluster_bytes);
  }
  const std::uint64_t expected =
      (reserved_sectors + fat_count * fat_sectors) * sector_bytes + (large_begins - first_cluster) * cluster_bytes;
  if (front.size() != expected)
    return Error::of(ErrorCode::corrupt, "expected ", expected, " bytes, found ", front.size());
  return volume;
}

}  // namespace ingot::image
