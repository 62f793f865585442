#include <ares.h>
#include <netdb.h>

/// The option that sets the longest time in its own cache, 0 unless set; our cache also bounds and forgets entries.
#ifdef ARES_OPT_QUERY_CACHE
enum { CCares_cache_option = ARES_OPT_QUERY_CACHE };
#else
enum { CCares_cache_option = 0 };
#endif
