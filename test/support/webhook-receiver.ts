import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a receiver was sent. */
export interface Delivery {
  path: string;
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  bytes: Buffer;
  json: DeliveredEvent;
}

/** The fields of a delivery's body that all events have. */
export interface DeliveredEvent {
  id: string;
  event: string;
  payload: { payload_type: string; id?: string; status?: string };
  timestamp: string;
}

/** How a receiver answers one delivery. */
export type Behaviour =
  | { status: number; headers?: Record<string, string> }
  /** Takes the request and says nothing. */
  | 'hang'
  /** One byte of the head every 20 ms. */
  | 'drip'
  /** Takes it, with a body that never ends. */
  | 'endless'
  /** Cuts the connection. */
  | 'reset';

/** A real receiver on loopback. */
export interface WebhookReceiver {
  url: string;
  port: number;
  readonly deliveries: Delivery[];
  /** Called for each delivery, when its body has arrived. */
  answer: (delivery: Delivery) => Behaviour;
  /**
   * Resolves when the condition holds for the deliveries so far. After `withinMs` it fails with an error that lists
   * them.
   */
  until(what: string, holds: (deliveries: readonly Delivery[]) => boolean, withinMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a receiver; `port` 0 is any free one. */
export async function startReceiver(port = 0): Promise<WebhookReceiver> {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const json = JSON.parse(bytes.toString()) as DeliveredEvent;
      const delivery = { path: request.url ?? '', headers: request.headers, bytes, json };
      deliveries.push(delivery);
      behave(receiver.answer(delivery), response);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${bound}/hook`,
    port: bound,
    deliveries,
    answer: () => ({ status: 200 }),
    async until(what, holds, withinMs = 15_000) {
      const end = Date.now() + withinMs;
      while (!holds(deliveries)) {
        if (Date.now() > end) {
          const seen = deliveries.map(({ json }) => `${json.payload.payload_type} ${json.payload.status ?? ''}`);
          throw new Error(`not within ${withinMs} ms: ${what}; received: ${seen.join(', ')}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return receiver;
}

function behave(behaviour: Behaviour, response: ServerResponse): void {
  if (behaviour === 'hang') return;
  if (behaviour === 'reset') {
    response.destroy();
  } else if (behaviour === 'endless') {
    response.writeHead(200);
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  } else if (behaviour === 'drip') {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    let sent = 0;
    const timer = setInterval(() => {
      const { socket } = response;
      if (socket === null || socket.destroyed || sent === head.length) clearInterval(timer);
      else socket.write(head.charAt(sent++));
    }, 20);
  } else {
    response.writeHead(behaviour.status, behaviour.headers).end('thank you');
  }
}

/** The signature that a receiver computes for itself, from what arrived. */
export function signatureOf(delivery: Delivery, key: string): string {
  return createHmac('sha256', Buffer.from(key, 'utf8')).update(delivery.bytes).digest('base64');
}
