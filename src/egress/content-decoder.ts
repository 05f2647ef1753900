import { pipeline, type Readable, type Writable } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

/** The most codings of one body. A proxy before a server may make two. */
const MAX_CODINGS = 2;

/** As lenient as browsers are with a body that ends early. */
const GZIP = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

/** Where the bytes of a body go in, and where they come out inflated. */
export interface ContentDecoder {
  input: Writable;
  output: Readable;
  /** Ends both; safe to call twice. */
  destroy(): void;
}

/**
 * The codings of a `content-encoding` header in the order in which they are taken off. Empty if there are none, or if
 * one of them is unknown: such a body is passed on as it is.
 * @throws Error for more codings than an honest server applies
 */
export function parseContentCodings(header: string): string[] {
  const codings = header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
    .reverse();
  if (codings.length > MAX_CODINGS) throw new Error(`the body is encoded ${codings.length} times`);
  return codings.every((coding) => /^((x-)?gzip|deflate|br|zstd)$/.test(coding)) ? codings : [];
}

/** A decoder for at least one coding; `firstByte` of the body tells the two kinds of deflate apart. */
export function createContentDecoder(codings: readonly string[], firstByte: number): ContentDecoder {
  const steps = codings.map((coding, index) => {
    if (coding === 'br') return createBrotliDecompress(BROTLI);
    if (coding === 'zstd') return createZstdDecompress();
    if (coding !== 'deflate') return createGunzip(GZIP);
    // RFC 9110, 8.4.1.2 asks for the zlib format. Some servers send bare deflate, which never begins as zlib does.
    const isWrapped = index > 0 || (firstByte & 0x0f) === 0x08;
    return isWrapped ? createInflate(GZIP) : createInflateRaw(GZIP);
  });
  const [input] = steps;
  const output = steps.at(-1);
  if (input === undefined || output === undefined) throw new Error('there is nothing to decode');
  // A failure in one step ends all of them, and shows as an error of the last step.
  if (steps.length > 1) pipeline(steps, () => undefined);
  return {
    input,
    output,
    destroy() {
      for (const step of steps) step.destroy();
    },
  };
}
