#include "standin_darwin.h"
#define RTLD_NOW 0x2
#define RTLD_LOCAL 0x4
void *_Nullable dlopen(const char *_Nullable, int);
void *_Nullable dlsym(void *_Nullable, const char *_Nonnull);
int dlclose(void *_Nonnull);
