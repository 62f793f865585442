#include <gmodule.h>
