import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Cuts off who does not read its answers: they would lie in memory for as long as it holds the connection, and with
 * pipelined requests there are many. Node starts the time of a connection anew with each byte that goes either way, also
 * within a long answer; once it is over for one that has an answer under way, only one with something to read is cut.
 * A handler may take its time.
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
