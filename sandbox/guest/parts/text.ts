import { TextDecoder } from '../globals/text-decoder.ts';
import { TextEncoder } from '../globals/text-encoder.ts';

/** The codecs of the Encoding Standard. */
export function part(): Record<string, unknown> {
  return { TextEncoder, TextDecoder };
}
