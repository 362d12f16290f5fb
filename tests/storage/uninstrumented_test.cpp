// Debian's librocksdb is not built for ThreadSanitizer, which so sees its
// memory accesses but none of its locks. Reports through it say nothing; those
// about our own code, and about the order of our locks, stay.
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "race:librocksdb.so\n";
}
