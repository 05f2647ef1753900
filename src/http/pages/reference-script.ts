import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Where the page finds its script. */
export const REFERENCE_SCRIPT_PATH = '/api-docs/reference.js';

/**
 * Scalar's script, gzipped. A thread takes it out of its package and ends: that is half a second of work and many
 * megabytes, which anybody may ask for.
 */
export function readReferenceScript(): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  // Options that the process was started with need not suit a thread.
  const thread = new Worker(join(import.meta.dirname, 'reference-script-thread.ts'), { execArgv: [] });
  thread.once('message', (bytes: Uint8Array) => resolve(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)));
  thread.once('error', reject);
  thread.once('exit', () =>
    reject(new Error('The thread that reads the script of the API reference ended without it')),
  );
  return promise;
}
