import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The path of the page's script. */
export const REFERENCE_SCRIPT_PATH = '/api-docs/reference.js';

/**
 * Returns Scalar's script, gzipped. A thread extracts it and ends, because that takes half a second and many megabytes,
 * and anybody may ask for the script.
 */
export function readReferenceScript(): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // The process's own options may not suit a thread.
  const thread = new Worker(join(import.meta.dirname, 'reference-script-thread.ts'), { execArgv: [] });
  thread.once('message', (bytes: Uint8Array) => resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)));
  thread.once('error', reject);
  thread.once('exit', () =>
    reject(new Error('The thread that reads the script of the API reference ended without it')),
  );
  return promise;
}
