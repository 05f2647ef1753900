import { createBufferClass } from '../globals/buffer.ts';

/** Node's Buffer. */
export function part(): Record<string, unknown> {
  return { Buffer: createBufferClass() };
}
