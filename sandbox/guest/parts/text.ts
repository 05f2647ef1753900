import { TextDecoder } from '../globals/encoding/text-decoder.ts';
import { TextEncoder } from '../globals/encoding/text-encoder.ts';

/** The codecs of the Encoding Standard. */
export function part(): Record<string, unknown> {
  return { TextEncoder, TextDecoder };
}
