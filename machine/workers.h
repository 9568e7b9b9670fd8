// Workers: threads that take chunks of a row range until none are left.
//
// A chunk goes to whichever worker asks next, so a core that another process takes away delays one chunk and not the
// whole range. Results must not depend on who ran a chunk: chunk bounds come from the caller's shape, never from the
// number of threads, and a chunk writes only its own rows.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace ingot {

enum class Pinning : std::uint8_t { free, one_cpu_each };

struct WorkerOptions {
  int threads = 1;  // the calling thread is one of them
  Pinning pinning = Pinning::free;
};

class Workers {
 public:
  static Result<std::unique_ptr<Workers>> create(WorkerOptions options);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const;

  // Calls task(begin, end, worker) over [0, items) in chunks of `chunk` items (the last may be shorter); worker is in
  // [0, count()). Returns when all chunks are done. One caller at a time; a task must not call for_chunks again.
  template <class Task>
  void for_chunks(std::int64_t items, std::int64_t chunk, Task&& task) {
    auto call = [](void* context, std::int64_t begin, std::int64_t end, int worker) {
      (*static_cast<std::remove_reference_t<Task>*>(context))(begin, end, worker);
    };
    run_chunks(items, chunk, call, const_cast<void*>(static_cast<const void*>(&task)));
  }

 private:
  using ChunkFunction = void (*)(void* context, std::int64_t begin, std::int64_t end, int worker);
  struct Implementation;
  explicit Workers(std::unique_ptr<Implementation> implementation);
  void run_chunks(std::int64_t items, std::int64_t chunk, ChunkFunction function, void* context);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ingot
