#include "kernels/cache/cache_cuda.h"

#include "kernels/cache/copy_pages.h"
#include "kernels/cache/read.h"
#include "kernels/cache/store_launch.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(cache_cuda);
INGOT_DEVICE_FUNCTION_OF(cache_cuda, cache_store_rows);
INGOT_DEVICE_FUNCTION_OF(cache_cuda, joint_store_rows);
INGOT_DEVICE_FUNCTION_OF(cache_cuda, cache_read_rows);
INGOT_DEVICE_FUNCTION_OF(cache_cuda, copy_pages);

template <CachePolicy policy>
void run_cache_store(const typename CacheStore<policy>::Arguments& a, Context& context) {
  if (a.x.empty()) return;
  const CacheStoreRows rows = store_rows_of(a);
  context.queue->launch(cache_store_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads},
                        rows);
}

void run_joint_store(const JointStorePaged::Arguments& a, Context& context) {
  if (a.keys.empty() || a.values.empty()) {
    for (const StorePaged::Arguments& one : {a.of_keys(), a.of_values()})
      run_cache_store<CachePolicy::paged>(one, context);
    return;
  }
  const JointStoreRows rows = {.keys = store_rows_of(a.of_keys()),
                               .values = store_rows_of(a.of_values()),
                               .key_blocks = store_rows_of(a.of_keys()).groups.blocks()};
  context.queue->launch(joint_store_rows_function,
                        {.blocks = rows.key_blocks + rows.values.groups.blocks(), .threads = RowGroups::threads}, rows);
}

template <CachePolicy policy>
void run_cache_read(const typename CacheRead<policy>::Arguments& a, Context& context) {
  if (a.y.empty()) return;
  const DeviceRows<float> y = device_rows(a.y);
  const CacheReadRows rows = {.cache = device_cache(a.cache(), a.places()),
                              .y = y,
                              .groups = RowGroups(y.count, (y.length + 3) / 4),
                              .dtype = a.pages.dtype(),
                              .is_aligned = rows_are_aligned(a.pages, a.y)};
  context.queue->launch(cache_read_rows_function, {.blocks = rows.groups.blocks(), .threads = RowGroups::threads},
                        rows);
}

// How the bytes of pages that are copied are cut: the tokens of a head are one stretch where nothing lies between them.
struct PageCut {
  std::int64_t stretches;
  std::int64_t bytes;

  explicit PageCut(const AnyView& pages) : stretches(pages.size(2)), bytes(row_bytes(pages.dtype(), pages.size(3))) {
    if (pages.byte_stride(2) != bytes && pages.size(2) > 1) return;
    bytes *= stretches;
    stretches = 1;
  }
  std::int64_t unit(const AnyView& pages) const {
    for (const std::int64_t size : {16, 4}) {
      if (bytes % size == 0 && pages_are_aligned(pages, size)) return size;
    }
    return 1;
  }
};

void run_copy_pages(const CopyPages::Arguments& a, Context& context) {
  if (a.pages.empty() || a.source.empty()) return;
  const PageCut cut(a.pages);
  const std::int64_t unit = cut.unit(a.pages);
  const CopiedPages copied = {
      .pages = a.pages.data(),
      .page_stride = a.pages.byte_stride(0),
      .head_stride = a.pages.byte_stride(1),
      .token_stride = a.pages.byte_stride(2),
      .source = a.source.data(),
      .destination = a.destination.data(),
      .heads = static_cast<std::uint32_t>(a.pages.size(1)),
      .stretches = static_cast<std::uint32_t>(cut.stretches),
      .unit = static_cast<std::uint32_t>(unit),
      .groups = RowGroups(static_cast<std::uint32_t>(a.source.size(0) * a.pages.size(1) * cut.stretches),
                          static_cast<std::uint32_t>(cut.bytes / unit))};
  context.queue->launch(copy_pages_function, {.blocks = copied.groups.blocks(), .threads = RowGroups::threads}, copied);
}

// Destinations differ, so there are no more rows to copy than the pages have.
bool accepts_copy_pages(const CopyPages::Arguments& a) {
  if (!fits_device(a.pages.shape())) return false;
  return a.pages.empty() || fits_device({PageCut(a.pages).bytes});
}

}  // namespace

template <CachePolicy policy>
const Variant<CacheStore<policy>>& cache_store_cuda() {
  using Arguments = typename CacheStore<policy>::Arguments;
  static constinit const Variant<CacheStore<policy>> row = {
      .name = "cuda",
      .needs = {Feature::sm_80},
      .run = run_cache_store<policy>,
      .accepts = [](const Arguments& a) { return fits_cache(a.pages, a.block_table, a.x.shape()); },
      .device_function = &cache_store_rows_function};
  return row;
}
template const Variant<StoreContiguous>& cache_store_cuda<CachePolicy::contiguous>();
template const Variant<StoreRing>& cache_store_cuda<CachePolicy::ring>();
template const Variant<StorePaged>& cache_store_cuda<CachePolicy::paged>();

constinit const Variant<JointStorePaged> joint_store_cuda = {
    .name = "cuda",
    .needs = {Feature::sm_80},
    .run = run_joint_store,
    .accepts =
        [](const JointStorePaged::Arguments& a) {
          return fits_cache(a.k_pages, a.block_table, a.keys.shape()) &&
                 fits_cache(a.v_pages, a.block_table, a.values.shape());
        },
    .device_function = &joint_store_rows_function};

template <CachePolicy policy>
const Variant<CacheRead<policy>>& cache_read_cuda() {
  using Arguments = typename CacheRead<policy>::Arguments;
  static constinit const Variant<CacheRead<policy>> row = {
      .name = "cuda",
      .needs = {Feature::sm_80},
      .run = run_cache_read<policy>,
      .accepts = [](const Arguments& a) { return fits_cache(a.pages, a.block_table, a.y.shape()); },
      .device_function = &cache_read_rows_function};
  return row;
}
template const Variant<ReadContiguous>& cache_read_cuda<CachePolicy::contiguous>();
template const Variant<ReadRing>& cache_read_cuda<CachePolicy::ring>();
template const Variant<ReadPaged>& cache_read_cuda<CachePolicy::paged>();

constinit const Variant<CopyPages> copy_pages_cuda = {.name = "cuda",
                                                      .needs = {Feature::sm_80},
                                                      .run = run_copy_pages,
                                                      .accepts = accepts_copy_pages,
                                                      .device_function = &copy_pages_function};

}  // namespace ingot
