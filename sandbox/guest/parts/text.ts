import { setLegacyDecoders, TextDecoder, type WholeDecoder } from '../globals/encoding/text-decoder.ts';
import { TextEncoder } from '../globals/encoding/text-encoder.ts';
import type { PartWorld } from '../part-world.ts';

/** The codecs of the Encoding Standard. */
export function part({ large }: PartWorld): Record<string, unknown> {
  let isInside = false;

  /** What has the other encodings tries the class that it finds first, which is this one. */
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
