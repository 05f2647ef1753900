import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, between tags or in quotes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** The Content-Security-Policy rules of all pages. */
export const STRICT_POLICY = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];

/** Returns the Content-Security-Policy source of an inline script or style. */
export function inlineSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Sends an HTML page. */
export function sendPage(reply: FastifyReply, page: string, policy: string): FastifyReply {
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').serializer(String).send(page);
}

/** Sends a file of a page, from its gzipped bytes. */
export function sendGzipped(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, type, cacheControl }: { bytes: Uint8Array; type: string; cacheControl: string },
): FastifyReply {
  const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  if (takesGzip) reply.header('content-encoding', 'gzip');
  const compressed = Buffer.from(bytes);
  return reply
    .headers({ 'cache-control': cacheControl, vary: 'accept-encoding' })
    .type(`${type}; charset=utf-8`)
    .send(takesGzip ? compressed : createGunzip().end(compressed));
}

/**
 * Returns a function that resolves with the message of a thread. The thread runs on the first call, and again after a
 * failure.
 * @param file the path of the thread's entry
 */
export function oneThreadsMessage<T>(file: string): () => Promise<T> {
  let message: Promise<T> | undefined;
  return () => {
    message ??= messageOf<T>(file).catch((error: unknown) => {
      message = undefined;
      throw error;
    });
    return message;
  };
}

function messageOf<T>(file: string): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  // The process's own options may not suit a thread.
  const thread = new Worker(file, { execArgv: [] });
  thread.once('message', resolve);
  thread.once('error', reject);
  thread.once('exit', () => reject(new Error(`The thread ${file} ended without a message`)));
  return promise;
}
