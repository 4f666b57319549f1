#include "allocation_counter.h"
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ALLOCATOR_IS_OURS 1
#else
#define ALLOCATOR_IS_OURS 0
#endif

static std::atomic<long> count{0}, locked{0};

#if ALLOCATOR_IS_OURS
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t items, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

void *malloc(size_t bytes) {
  ++count;
  return __libc_malloc(bytes);
}
void *calloc(size_t items, size_t bytes) {
  ++count;
  return __libc_calloc(items, bytes);
}
void *realloc(void *memory, size_t bytes) {
  ++count;
  return __libc_realloc(memory, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  ++count;
  return __libc_memalign(alignment, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  ++count;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  ++count;
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
void free(void *memory) {
  ++count;
  __libc_free(memory);
}

// The functions that these stand before.
#define BURIN_COUNTED_LOCK(name, type)                                                                                 \
  int name(type *lock) noexcept {                                                                                      \
    static int (*its)(type *) = reinterpret_cast<int (*)(type *)>(dlsym(RTLD_NEXT, #name));                            \
    ++locked;                                                                                                          \
    return its(lock);                                                                                                  \
  }
BURIN_COUNTED_LOCK(pthread_mutex_lock, pthread_mutex_t)
BURIN_COUNTED_LOCK(pthread_mutex_trylock, pthread_mutex_t)
BURIN_COUNTED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
BURIN_COUNTED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
}
#endif

namespace burin::laws {

bool allocationsAreCounted() { return ALLOCATOR_IS_OURS; }
long allocations() { return count; }
long locks() { return locked; }

} // namespace burin::laws
