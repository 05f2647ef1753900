import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Closes connections whose client does not read its answers. Unread answers would stay in memory as long as the
 * connection, and pipelined requests make many of them. Node restarts a connection's timeout with each byte in either
 * direction, also within a long answer. When the timeout ends, the connection is closed only if unsent bytes wait on
 * it. A slow handler has sent nothing yet, so its connection stays.
 */
export function cutStalledReaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.raw.on('timeout', cutIfUnread);
    done();
  });
}

function cutIfUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}
