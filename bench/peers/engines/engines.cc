//go:build engines

#include "engines.h"

#include <dlfcn.h>
#include <hs/hs.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::vector<std::string> lines(const char *text) {
  std::vector<std::string> all(1);
  for (; *text; text++) {
    if (*text == '\n') {
      all.emplace_back();
    } else {
      all.back() += *text;
    }
  }
  return all;
}

// A library has the functions of Hyperscan, or of Vectorscan, which has the same names: the file that the environment names.
struct library {
  decltype(&hs_compile_multi) compile = hs_compile_multi;
  decltype(&hs_alloc_scratch) alloc = hs_alloc_scratch;
  decltype(&hs_scan) scan = hs_scan;
  decltype(&hs_free_database) free = hs_free_database;
  hs_scratch_t *scratch = nullptr;  // large enough for all databases; one thread uses it
  const char *error = nullptr;

  explicit library(const char *variable) {
    if (variable == nullptr) return;
    const char *name = getenv(variable);
    void *file = dlopen(name == nullptr ? "none: see make bench-engines" : name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (file == nullptr) {
      error = dlerror();
      return;
    }
    compile = reinterpret_cast<decltype(compile)>(dlsym(file, "hs_compile_multi"));
    alloc = reinterpret_cast<decltype(alloc)>(dlsym(file, "hs_alloc_scratch"));
    scan = reinterpret_cast<decltype(scan)>(dlsym(file, "hs_scan"));
    free = reinterpret_cast<decltype(free)>(dlsym(file, "hs_free_database"));
  }
};

library &library_of(int kind) {
  static library hyperscan(nullptr), vectorscan("VECTORSCAN");
  return kind == HYPERSCAN ? hyperscan : vectorscan;
}

void *compile_scan(library &lib, const std::vector<std::string> &all) {
  if (lib.error != nullptr) {
    fprintf(stderr, "vectorscan: %s\n", lib.error);
    return nullptr;
  }
  std::vector<const char *> expressions;
  std::vector<unsigned> flags, ids;
  for (const auto &e : all) {
    expressions.push_back(e.c_str());
    flags.push_back(HS_FLAG_DOTALL | HS_FLAG_SINGLEMATCH);
    ids.push_back(ids.size());
  }
  hs_database_t *db = nullptr;
  hs_compile_error_t *error = nullptr;
  if (lib.compile(expressions.data(), flags.data(), ids.data(), all.size(), HS_MODE_BLOCK, nullptr, &db, &error) != HS_SUCCESS) {
    fprintf(stderr, "hyperscan: %s\n", error->message);
    hs_free_compile_error(error);
    return nullptr;
  }
  return lib.alloc(db, &lib.scratch) == HS_SUCCESS ? db : nullptr;
}

int higher(unsigned id, unsigned long long, unsigned long long, unsigned, void *context) {
  int32_t *best = static_cast<int32_t *>(context);
  if (static_cast<int32_t>(id) > *best) *best = id;
  return 0;
}

void *compile_re2(const std::vector<std::string> &all) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_dot_nl(true);
  options.set_max_mem(int64_t{1} << 30);
  auto *set = new RE2::Set(options, RE2::ANCHOR_START);
  for (const auto &e : all) {
    if (set->Add(e, nullptr) < 0) return nullptr;
  }
  return set->Compile() ? set : nullptr;
}

}  // namespace

void *engine_compile(int kind, const char *expressions) {
  auto all = lines(expressions);
  return kind == RE2_SET ? compile_re2(all) : compile_scan(library_of(kind), all);
}

void engine_match(int kind, void **sites, const char *text, const int64_t *ends, const int32_t *of, int64_t paths, int32_t *winners) {
  std::vector<int> found;
  library &lib = library_of(kind);
  int64_t begin = 0;
  for (int64_t i = 0; i < paths; i++) {
    const char *path = text + begin;
    const size_t size = ends[i] - begin;
    int32_t best = -1;
    if (kind != RE2_SET) {
      lib.scan(static_cast<hs_database_t *>(sites[of[i]]), path, size, 0, lib.scratch, higher, &best);
    } else {
      found.clear();
      static_cast<RE2::Set *>(sites[of[i]])->Match(re2::StringPiece(path, size), &found);
      for (int id : found) best = id > best ? id : best;
    }
    winners[i] = best;
    begin = ends[i];
  }
}

void engine_free(int kind, void *site) {
  if (kind != RE2_SET) {
    library_of(kind).free(static_cast<hs_database_t *>(site));
  } else {
    delete static_cast<RE2::Set *>(site);
  }
}
