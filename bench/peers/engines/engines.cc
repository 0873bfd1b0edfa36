//go:build engines

#include "engines.h"

#include <hs/hs.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <cstdio>
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

hs_scratch_t *scratch = nullptr;  // large enough for all databases; one thread uses it

void *compile_hyperscan(const std::vector<std::string> &all) {
  std::vector<const char *> expressions;
  std::vector<unsigned> flags, ids;
  for (const auto &e : all) {
    expressions.push_back(e.c_str());
    flags.push_back(HS_FLAG_DOTALL | HS_FLAG_SINGLEMATCH);
    ids.push_back(ids.size());
  }
  hs_database_t *db = nullptr;
  hs_compile_error_t *error = nullptr;
  if (hs_compile_multi(expressions.data(), flags.data(), ids.data(), all.size(), HS_MODE_BLOCK, nullptr, &db, &error) != HS_SUCCESS) {
    fprintf(stderr, "hyperscan: %s\n", error->message);
    hs_free_compile_error(error);
    return nullptr;
  }
  return hs_alloc_scratch(db, &scratch) == HS_SUCCESS ? db : nullptr;
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
  return kind == HYPERSCAN ? compile_hyperscan(all) : compile_re2(all);
}

void engine_match(int kind, void **sites, const char *text, const int64_t *ends, const int32_t *of, int64_t paths, int32_t *winners) {
  std::vector<int> found;
  int64_t begin = 0;
  for (int64_t i = 0; i < paths; i++) {
    const char *path = text + begin;
    const size_t size = ends[i] - begin;
    int32_t best = -1;
    if (kind == HYPERSCAN) {
      hs_scan(static_cast<hs_database_t *>(sites[of[i]]), path, size, 0, scratch, higher, &best);
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
  if (kind == HYPERSCAN) {
    hs_free_database(static_cast<hs_database_t *>(site));
  } else {
    delete static_cast<RE2::Set *>(site);
  }
}
