import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection path to a service. It can be lost and restored at the same address. */
export interface Way {
  url: string;
  /** Ends every connection, and ends each new one at once. */
  cut(): void;
  /** Transfers nothing from now on and closes nothing, like a network while the machine sleeps. */
  freeze(): void;
  /** Sends new connections to this address from now on. */
  lead(url: string): void;
  stop(): Promise<void>;
}

export async function startWay(target: string): Promise<Way> {
  let to: URL | undefined = new URL(target);
  let isFrozen = false;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket, other: () => Socket | undefined) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .once('close', () => {
        sockets.delete(socket);
        other()?.destroy();
      });
  };
  const server = createServer((client) => {
    if (to === undefined) return void client.destroy();
    if (isFrozen) return keep(client.pause(), () => undefined);
    const service = connect(Number(to.port), to.hostname);
    keep(client, () => service);
    keep(service, () => client);
    client.pipe(service);
    service.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    to = undefined;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    lead(url) {
      isFrozen = false;
      to = new URL(url);
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
