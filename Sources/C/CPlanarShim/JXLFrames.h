#ifndef JXLFrames_h
#define JXLFrames_h

#include <stddef.h>

/// Returns whether the frames before the first shown one take little work: layers, and frames that later ones refer to,
/// which libjxl decodes without reporting them. The bytes are a codestream in one piece.
int has_few_hidden_frames(const void *bytes, size_t count);

#endif
