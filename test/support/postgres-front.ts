import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** A front of a database that counts round trips and makes each of them take longer. */
export interface PostgresFront {
  /** As `DATABASE_URL`. */
  url: string;
  /** How long each answer is held back, in milliseconds. */
  delayMs: number;
  /**
   * How often a client sent something while nothing that it sent before was unanswered. Exact with a delay, which is
   * longer than a client takes for what it sends at once.
   */
  readonly roundTrips: number;
  stop(): Promise<void>;
}

const SSL_REQUEST = 80_877_103;
const [SYNC, QUERY, READY] = ['S', 'Q', 'Z'].map((letter) => letter.charCodeAt(0));

/** Passes bytes on to the database whose `url` is that of a local socket. */
export async function startPostgresFront(url: string): Promise<PostgresFront> {
  const target = new URL(url.replace('@/', '@localhost/'));
  const folder = target.searchParams.get('host') ?? '';
  const sockets = new Set<Socket>();
  const front = { url: '', delayMs: 0, roundTrips: 0 };

  const server = createServer((client) => {
    client.setNoDelay(true);
    const database = connect(join(folder, '.s.PGSQL.5432'));
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    }
    let unanswered = 0;
    const asked = messages({ untyped: true }, (type) => {
      if (type !== SYNC && type !== QUERY) return;
      if (unanswered === 0) front.roundTrips += 1;
      unanswered += 1;
    });
    const answered = messages({ untyped: false }, (type) => {
      if (type === READY) unanswered = Math.max(0, unanswered - 1);
    });
    client.on('data', (bytes: Buffer) => {
      asked(bytes);
      database.write(bytes);
    });
    database.on('data', (bytes: Buffer) => {
      const pass = () => {
        answered(bytes);
        client.write(bytes);
      };
      if (front.delayMs === 0) pass();
      else setTimeout(pass, front.delayMs);
    });
    client.once('close', () => database.destroy());
    database.once('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  front.url = `postgres://${target.username}@127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`;
  return Object.assign(front, {
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  });
}

/**
 * Reads the types of protocol messages (https://www.postgresql.org/docs/current/protocol-message-formats.html). The
 * first of a client have none. The answer to a request for TLS is a single letter, which is skipped.
 */
function messages({ untyped }: { untyped: boolean }, onType: (type: number) => void): (bytes: Buffer) => void {
  let left: Buffer = Buffer.alloc(0);
  let isStarting = true;
  return (bytes) => {
    left = left.length === 0 ? bytes : Buffer.concat([left, bytes]);
    for (;;) {
      if (isStarting && !untyped) {
        if (left[0] === 'N'.charCodeAt(0)) left = left.subarray(1);
        if (left.length === 0) return;
        isStarting = false;
      }
      const head = isStarting ? 0 : 1;
      if (left.length < head + 4) return;
      const length = head + left.readUInt32BE(head);
      if (left.length < length) return;
      if (isStarting) isStarting = length >= 8 && left.readUInt32BE(4) === SSL_REQUEST;
      else onType(left[0] ?? 0);
      left = left.subarray(length);
    }
  };
}
