import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import { disconnectSignal } from '../../../../src/http/disconnect.ts';

async function serve(t: Test) {
  const server = createServer();
  t.teardown(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { socket, response };
}

t.test('a client that leaves aborts the signal', async (t) => {
  const { socket, response } = await serve(t);
  const signal = disconnectSignal(response);
  t.notOk(signal.aborted);
  const removed = () => t.fail('it does not listen any more');
  signal.addEventListener('abort', removed, { once: true });
  signal.removeEventListener('abort', removed);
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  socket.destroy();
  await aborted;
  t.ok(signal.aborted);
});

t.test('a finished answer does not', async (t) => {
  const { response } = await serve(t);
  const signal = disconnectSignal(response);
  response.end('done');
  await once(response, 'close');
  t.notOk(signal.aborted);
});
