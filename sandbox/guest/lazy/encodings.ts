import { TextDecoder } from '@exodus/bytes/encoding.js';

/** Decoders for the encodings from before Unicode (Encoding Standard 9 to 14). */
export function create(): Record<string, unknown> {
  return { LegacyDecoder: TextDecoder };
}
