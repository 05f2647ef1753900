import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';

/** What one request looked like on the wire. */
export interface SeenRequest {
  line: string;
  /** Lower-case names; the last one of a name counts. */
  headers: Record<string, string>;
  body: string;
}

/** Answers a request. May write anything to its socket. */
export type Answer = (request: SeenRequest, socket: Socket) => void;

/** A server that breaks HTTP in the ways that a test wants. Everything ends with the test. */
export async function hostileHttp(t: Test, answers: Record<string, Answer>) {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const closed: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    let path = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      closed.push(path);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let request = readRequest(text); request !== undefined; request = readRequest(text)) {
        text = text.slice(request.length);
        seen.push(request.seen);
        path = request.seen.line.split(' ')[1] ?? '';
        const answer = answers[path.split('?')[0] ?? ''];
        if (answer === undefined) socket.end(plain('not here', '404 Not Found'));
        else answer(request.seen, socket);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { port, host: `127.0.0.1:${port}`, url: (path: string) => `http://127.0.0.1:${port}${path}`, seen, closed };
}

/** A whole answer with its length. */
export function plain(body: string, status = '200 OK', headers: string[] = []): string {
  return [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');
}

export function redirectTo(location: string, status = '302 Found'): Answer {
  return (_request, socket) => {
    socket.write(plain('', status, [`location: ${location}`]));
  };
}

/** Writes zeros as fast as they are taken, and never ends. */
export const endless: Answer = (_request, socket) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n');
  const piece = Buffer.alloc(65_536, '0');
  const more = () => {
    while (!socket.destroyed && socket.write(piece)) continue;
  };
  socket.on('drain', more);
  more();
};

/** A body of that many zeros, in a few kilobytes. */
export function gzipBomb(bytes: number): Answer {
  const body = gzipSync(Buffer.alloc(bytes));
  return (_request, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  };
}

function readRequest(text: string): { seen: SeenRequest; length: number } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((header) => {
      const colon = header.indexOf(':');
      return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
    }),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (text.length < length) return undefined;
  return { seen: { line, headers, body: text.slice(end + 4, length) }, length };
}
