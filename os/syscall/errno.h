// Errno and Answer<T>: what a system call says to the program. The numbers are Linux's, the same on every architecture
// the kernel runs on.
//
//   Answer<std::size_t> read(Caller&, ...);
//   Reference<FileDescription> file = TRY(table.find(descriptor));   // returns the Errno to our caller
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace ingot::os {

// clang-format off: a list to look numbers up in
enum class Errno : std::uint16_t {
  eperm = 1, enoent = 2, esrch = 3, eintr = 4, eio = 5, enxio = 6, e2big = 7, enoexec = 8, ebadf = 9, echild = 10,
  eagain = 11, enomem = 12, eacces = 13, efault = 14, enotblk = 15, ebusy = 16, eexist = 17, exdev = 18, enodev = 19,
  enotdir = 20, eisdir = 21, einval = 22, enfile = 23, emfile = 24, enotty = 25, etxtbsy = 26, efbig = 27,
  enospc = 28, espipe = 29, erofs = 30, emlink = 31, epipe = 32, edom = 33, erange = 34, edeadlk = 35,
  enametoolong = 36, enolck = 37, enosys = 38, enotempty = 39, eloop = 40, enomsg = 42, eidrm = 43, echrng = 44,
  el2nsync = 45, el3hlt = 46, el3rst = 47, elnrng = 48, eunatch = 49, enocsi = 50, el2hlt = 51, ebade = 52,
  ebadr = 53, exfull = 54, enoano = 55, ebadrqc = 56, ebadslt = 57, ebfont = 59, enostr = 60, enodata = 61,
  etime = 62, enosr = 63, enonet = 64, enopkg = 65, eremote = 66, enolink = 67, eadv = 68, esrmnt = 69, ecomm = 70,
  eproto = 71, emultihop = 72, edotdot = 73, ebadmsg = 74, eoverflow = 75, enotuniq = 76, ebadfd = 77, eremchg = 78,
  elibacc = 79, elibbad = 80, elibscn = 81, elibmax = 82, elibexec = 83, eilseq = 84, erestart = 85, estrpipe = 86,
  eusers = 87, enotsock = 88, edestaddrreq = 89, emsgsize = 90, eprototype = 91, enoprotoopt = 92,
  eprotonosupport = 93, esocktnosupport = 94, eopnotsupp = 95, epfnosupport = 96, eafnosupport = 97, eaddrinuse = 98,
  eaddrnotavail = 99, enetdown = 100, enetunreach = 101, enetreset = 102, econnaborted = 103, econnreset = 104,
  enobufs = 105, eisconn = 106, enotconn = 107, eshutdown = 108, etoomanyrefs = 109, etimedout = 110,
  econnrefused = 111, ehostdown = 112, ehostunreach = 113, ealready = 114, einprogress = 115, estale = 116,
  euclean = 117, enotnam = 118, enavail = 119, eisnam = 120, eremoteio = 121, edquot = 122, enomedium = 123,
  emediumtype = 124, ecanceled = 125, enokey = 126, ekeyexpired = 127, ekeyrevoked = 128, ekeyrejected = 129,
  eownerdead = 130, enotrecoverable = 131, erfkill = 132, ehwpoison = 133,
  // These never reach a program: a signal came while the call waited. Where no handler runs, the call begins again.
  // Else its handler says whether the call does (SA_RESTART) or answers EINTR; the second kind always begins again, the
  // third always answers EINTR. One that must not begin again at all answers eintr itself.
  restart = 512, restart_always = 513, restart_without_handler = 514,
};
// clang-format on

std::string_view name_of(Errno error);  // "ENOENT"
// In the answer's register a number below 0 is an error: Linux keeps 4095 for them.
constexpr std::uint64_t answer_of(Errno error) { return -static_cast<std::uint64_t>(error); }

// The kernel's own functions fail with an Error, a text for people; a program gets the nearest number.
constexpr Errno errno_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return Errno::einval;
    case ErrorCode::out_of_range: return Errno::einval;
    case ErrorCode::overflow: return Errno::eoverflow;
    case ErrorCode::unsupported: return Errno::eopnotsupp;
    case ErrorCode::not_found: return Errno::enoent;
    case ErrorCode::out_of_memory: return Errno::enomem;
    case ErrorCode::input_output: return Errno::eio;
    case ErrorCode::corrupt: return Errno::eio;
    case ErrorCode::denied: return Errno::eacces;
    case ErrorCode::would_block: return Errno::eagain;
  }
  return Errno::eio;
}

// TRY works on an Answer and, inside a function that returns one, on a Result.
template <class Value>
class [[nodiscard]] Answer {
 public:
  Answer(Value value) : error_(no_error) { std::construct_at(&value_, std::move(value)); }
  Answer(Errno error) : error_(error) {}
  Answer(const Error& error) : error_(errno_of(error.code())) {}

  Answer(Answer&& other) noexcept : error_(other.error_) {
    if (ok()) std::construct_at(&value_, std::move(other.value_));
  }
  Answer& operator=(Answer&& other) noexcept {
    if (this == &other) return *this;
    if (ok()) value_.~Value();
    error_ = other.error_;
    if (ok()) std::construct_at(&value_, std::move(other.value_));
    return *this;
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() {
    if (ok()) value_.~Value();
  }

  bool ok() const { return error_ == no_error; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok(). A wrong call is a bug in the caller, so it traps instead of returning garbage.
  Value& value() & {
    if (!ok()) __builtin_trap();
    return value_;
  }
  const Value& value() const& {
    if (!ok()) __builtin_trap();
    return value_;
  }
  Value&& value() && {
    if (!ok()) __builtin_trap();
    return std::move(value_);
  }
  // Precondition: !ok().
  Errno error() const {
    if (ok()) __builtin_trap();
    return error_;
  }

 private:
  static constexpr Errno no_error{0};
  union {
    Value value_;
  };
  Errno error_;
};

template <>
class [[nodiscard]] Answer<void> {
 public:
  constexpr Answer() = default;
  constexpr Answer(Errno error) : error_(error) {}
  Answer(const Error& error) : error_(errno_of(error.code())) {}

  constexpr bool ok() const { return error_ == Errno{0}; }
  constexpr explicit operator bool() const { return ok(); }
  void value() const {
    if (!ok()) __builtin_trap();
  }
  Errno error() const {
    if (ok()) __builtin_trap();
    return error_;
  }

 private:
  Errno error_{0};
};

}  // namespace ingot::os
