//go:build engines

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HYPERSCAN, VECTORSCAN, RE2_SET };

// engine_compile compiles expressions, one a line, numbered from 0. It returns NULL if it cannot.
void *engine_compile(int kind, const char *expressions);

// engine_match sets winners to the highest number of an expression that matches each path, or -1. Path i is of site of[i], and
// ends in text where ends[i] says.
void engine_match(int kind, void **sites, const char *text, const int64_t *ends, const int32_t *of, int64_t paths, int32_t *winners);

void engine_free(int kind, void *site);

#ifdef __cplusplus
}
#endif
