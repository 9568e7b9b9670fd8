// LocalSockets: the sockets of AF_UNIX of one program, which reach each other within it: by pairs, by names in the file
// tree, and by abstract names, which no directory shows.
#pragma once

#include "os/file/hash_table.h"
#include "os/file/socket/local_end.h"
#include "os/file/volume.h"

namespace ingot::os {

// The file tree, as far as sockets have names in it.
class SocketPlaces {
 public:
  // EEXIST, and what else a path may answer.
  virtual Answer<void> add_socket(std::string_view path, LocalEnd& end) = 0;
  // ECONNREFUSED: it leads to something else.
  virtual Answer<Reference<LocalEnd>> find_socket(std::string_view path) = 0;

 protected:
  ~SocketPlaces() = default;
};

struct SocketPair {
  Reference<FileDescription> one, other;
};

class LocalSockets {
 public:
  // All of them outlive it.
  LocalSockets(SocketPlaces& places, Allocator& heap, TimeSource& time)
      : places_(places), heap_(heap), time_(time), names_(LockRank::file_pages, heap) {}
  LocalSockets(const LocalSockets&) = delete;
  LocalSockets& operator=(const LocalSockets&) = delete;

  // ESOCKTNOSUPPORT, EPROTONOSUPPORT. `flags`: open_flag::non_blocking or nothing.
  Answer<Reference<SocketFile>> make(SocketKind kind, std::uint32_t protocol, std::uint32_t flags);
  Answer<SocketPair> make_pair(SocketKind kind, std::uint32_t protocol, std::uint32_t flags);

  // Of ends: all that the lock guards is reached within.
  template <class Use>
  auto with(Use&& use) {
    return names_.with([&](Names&) { return use(); });
  }

  // EINVAL: it has a name; EADDRINUSE; and what a path may answer. An address of the family alone asks for any name.
  Answer<void> bind(LocalEnd& end, const SocketAddress& address);
  // Who has the name. ECONNREFUSED: nobody any more; EPROTOTYPE: one of another kind; ENOENT and its kin.
  Answer<Reference<LocalEnd>> find(const SocketAddress& address, SocketKind kind);
  // Nobody uses it any more; nor the connections that wait there.
  void close(LocalEnd& end);

  Answer<Reference<LocalEnd>> make_end(SocketKind kind);
  Answer<Reference<SocketFile>> make_file(const Reference<LocalEnd>& end, std::uint32_t flags);
  Allocator& heap() const { return heap_; }
  // Tells those that wait for room in somebody else's queue, of datagrams or of connections.
  PollSource& room() { return room_; }

 private:
  struct Names {
    explicit Names(Allocator& heap) : abstract(heap) {}
    LocalEnd* find(std::string_view text, SocketKind kind) {
      return abstract.find(hash_of_text(text),
                           [&](const LocalEnd& it) { return it.kind == kind && it.name->text() == text; });
    }
    HashTable<LocalEnd, LocalNameTag> abstract;
    std::uint32_t next = 0;  // of the names that the kernel gives
  };
  Answer<void> bind_path(LocalEnd& end, const Reference<LocalName>& name);
  Answer<void> bind_abstract(LocalEnd& end, const Reference<LocalName>& name);
  Answer<void> bind_any(LocalEnd& end);
  void leave(LocalEnd& end, bool was_accepted);

  SocketPlaces& places_;
  Allocator& heap_;
  TimeSource& time_;
  Locked<Names> names_;
  PollSource room_;
};

}  // namespace ingot::os
