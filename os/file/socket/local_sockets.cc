#include "os/file/socket/local_sockets.h"

#include <algorithm>

#include "os/file/socket/local_socket.h"

namespace ingot::os {

namespace {

using State = LocalEnd::State;

// EINVAL for what is no address of this family.
Answer<std::span<const std::byte>> name_in(const SocketAddress& address) {
  const std::span<const std::byte> bytes = address.rest();
  if (address.family() != socket_family::local || bytes.empty()) return Errno::einval;
  if (bytes.size() > LocalName::most_bytes) return Errno::einval;
  return bytes;
}

bool is_abstract(std::span<const std::byte> name) { return name.front() == std::byte{0}; }

// Up to its zero, which need not be there.
std::string_view path_in(std::span<const std::byte> name) {
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace

Answer<Reference<SocketFile>> LocalSockets::make(SocketKind kind, std::uint32_t protocol, std::uint32_t flags) {
  if (protocol != 0 && protocol != socket_family::local) return Errno::eprotonosupport;
  if (kind == SocketKind::raw) kind = SocketKind::datagrams;  // as Linux takes it
  if (kind != SocketKind::stream && kind != SocketKind::datagrams && kind != SocketKind::packets) {
    return Errno::esocktnosupport;
  }
  const Reference<LocalEnd> end = TRY(make_end(kind));
  return make_file(end, flags);
}

Answer<Reference<LocalEnd>> LocalSockets::make_end(SocketKind kind) {
  return Reference<LocalEnd>(TRY(make_reference<LocalEnd>(heap_, kind)));
}

Answer<Reference<SocketFile>> LocalSockets::make_file(const Reference<LocalEnd>& end, std::uint32_t flags) {
  return Reference<SocketFile>(TRY(make_reference<LocalSocket>(heap_, *this, end, flags, time_.realtime())));
}

Answer<SocketPair> LocalSockets::make_pair(SocketKind kind, std::uint32_t protocol, std::uint32_t flags) {
  const Reference<SocketFile> one = TRY(make(kind, protocol, flags));
  const Reference<SocketFile> other = TRY(make(kind, protocol, flags));
  with([&] { LocalEnd::join(static_cast<LocalSocket&>(*one).end(), static_cast<LocalSocket&>(*other).end()); });
  return SocketPair{one, other};
}

Answer<void> LocalSockets::bind(LocalEnd& end, const SocketAddress& address) {
  if (address.family() == socket_family::local && address.rest().empty()) return bind_any(end);
  std::span<const std::byte> bytes = TRY(name_in(address));
  std::byte text[LocalName::most_bytes + 1];
  if (!is_abstract(bytes)) {
    const std::string_view path = path_in(bytes);
    __builtin_memcpy(text, path.data(), path.size());
    text[path.size()] = std::byte{0};
    bytes = std::span(text).first(path.size() + 1);
  }
  const Reference<LocalName> name = TRY(make_reference<LocalName>(heap_, bytes));
  return is_abstract(bytes) ? bind_abstract(end, name) : bind_path(end, name);
}

// The name is taken first: two threads cannot both make a node for one socket.
Answer<void> LocalSockets::bind_path(LocalEnd& end, const Reference<LocalName>& name) {
  const bool is_free = with([&] {
    if (end.name) return false;
    end.name = name;
    return true;
  });
  if (!is_free) return Errno::einval;
  const Answer<void> made = places_.add_socket(path_in(name->bytes()), end);
  if (made.ok()) return {};
  with([&] { end.name.reset(); });
  return made.error() == Errno::eexist ? Errno::eaddrinuse : made.error();
}

Answer<void> LocalSockets::bind_abstract(LocalEnd& end, const Reference<LocalName>& name) {
  return names_.with([&](Names& names) -> Answer<void> {
    if (end.name) return Errno::einval;
    if (names.find(name->text(), end.kind) != nullptr) return Errno::eaddrinuse;
    end.name = name;
    names.abstract.insert(end, hash_of_text(name->text()));
    return {};
  });
}

// Five hexadecimal digits behind a zero, as on Linux.
Answer<void> LocalSockets::bind_any(LocalEnd& end) {
  constexpr std::uint32_t all = 1 << 20;
  for (std::uint32_t attempt = 0; attempt < all; ++attempt) {
    const std::uint32_t number = names_.with([](Names& names) { return names.next++; });
    std::byte text[6]{};
    for (unsigned i = 0; i < 5; ++i) {
      const unsigned digit = number >> 4 * i & 15;
      text[5 - i] = static_cast<std::byte>(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    const Reference<LocalName> name = TRY(make_reference<LocalName>(heap_, std::span<const std::byte>(text)));
    const Answer<void> bound = bind_abstract(end, name);
    if (bound.ok() || bound.error() == Errno::einval) return {};  // one that has a name keeps it
  }
  return Errno::enospc;
}

Answer<Reference<LocalEnd>> LocalSockets::find(const SocketAddress& address, SocketKind kind) {
  const std::span<const std::byte> bytes = TRY(name_in(address));
  if (is_abstract(bytes)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    Reference<LocalEnd> found = names_.with([&](Names& names) {
      LocalEnd* const end = names.find(text, kind);
      return end == nullptr ? Reference<LocalEnd>() : Reference<LocalEnd>(*end);
    });
    if (!found) return Errno::econnrefused;
    return found;
  }
  Reference<LocalEnd> end = TRY(places_.find_socket(path_in(bytes)));
  if (with([&] { return end->state == State::gone; })) return Errno::econnrefused;
  if (end->kind != kind) return Errno::eprototype;
  return end;
}

void LocalSockets::leave(LocalEnd& end, bool was_accepted) {
  names_.with([&](Names& names) {
    LocalEnd* const named = end.name ? names.find(end.name->text(), end.kind) : nullptr;
    if (named == &end) names.abstract.remove(end);
    end.leave(was_accepted);
  });
  // One at a time: a lock is not held for thousands.
  while (with([&] {
    if (end.messages.count() == 0) return false;
    end.remove(*end.messages.first());
    return true;
  })) {
  }
}

void LocalSockets::close(LocalEnd& end) {
  const bool others_wait = end.kind == SocketKind::datagrams || with([&] { return end.state == State::listening; });
  leave(end, true);
  while (LocalEnd* const connection = with([&] { return end.pending.pop_front(); })) {
    leave(*connection, false);
    connection->drop_reference();
  }
  if (others_wait) room_.notify(poll_event::writable);
}

}  // namespace ingot::os
