import { setLegacyDecoders, TextDecoder, type WholeDecoder } from '../globals/encoding/text-decoder.ts';
import { TextEncoder } from '../globals/encoding/text-encoder.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';

/** The codecs of the Encoding Standard. */
export function create({ large }: RuntimeServices): Record<string, unknown> {
  let isInside = false;

  /**
   * Runs `work` without the legacy decoders. The package with the other encodings first tries the global TextDecoder,
   * which is this class.
   */
  function inside<T>(work: () => T): T {
    isInside = true;
    try {
      return work();
    } finally {
      isInside = false;
    }
  }

  setLegacyDecoders((label, options) => {
    if (isInside) return undefined;
    try {
      const decoder = inside(() => {
        const { LegacyDecoder } = large('encodings') as unknown as Legacy;
        return new LegacyDecoder(label, options);
      });
      return {
        encoding: decoder.encoding,
        decode: (input, more) => inside(() => decoder.decode(input, more)),
      };
    } catch {
      return undefined;
    }
  });
  return { TextEncoder, TextDecoder };
}

interface Legacy {
  LegacyDecoder: new (label: string, options: object) => WholeDecoder;
}
