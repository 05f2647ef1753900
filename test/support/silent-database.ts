import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** A front of a database, or a stand-in for one. It accepts every connection, and transfers nothing after `silence`. */
export interface SilentDatabase {
  /** As `DATABASE_URL`. */
  url: string;
  /** Stops all bytes in both directions. Closes no connection. */
  silence(): void;
  /** Resolves when `count` connections have been made in total. */
  connected(count: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Passes bytes on to the database whose `url` is that of a local socket. Without a `url` it is silent from the start.
 */
export async function startSilentDatabase(url?: string): Promise<SilentDatabase> {
  const target = url === undefined ? undefined : new URL(url.replace('@/', '@localhost/'));
  const folder = target?.searchParams.get('host');
  let isSilent = typeof folder !== 'string';
  const sockets = new Set<Socket>();
  const news = new EventEmitter();
  let made = 0;

  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  const pass = (from: Socket, to: Socket) => {
    from.on('data', (bytes: Buffer) => {
      if (!isSilent) to.write(bytes);
    });
    from.on('close', () => {
      if (!isSilent) to.destroy();
    });
  };
  // Half open. Otherwise the operating system would answer a client's end with an end.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    keep(client);
    if (isSilent || typeof folder !== 'string') {
      client.resume();
    } else {
      const database = connect(join(folder, '.s.PGSQL.5432'));
      keep(database);
      pass(client, database);
      pass(database, client);
    }
    made += 1;
    news.emit('connected');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://${target?.username ?? 'nobody'}@127.0.0.1:${port}${target?.pathname ?? '/none'}`,
    silence() {
      isSilent = true;
    },
    async connected(count) {
      while (made < count) await once(news, 'connected');
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
