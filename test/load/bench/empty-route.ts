/** A fastify server with an empty route: the least work over HTTP. Runs in a separate process. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import fastify from 'fastify';

const TIMER_MS = 10;

const server = fastify();
const delay = monitorEventLoopDelay({ resolution: TIMER_MS });
delay.enable();
server.post('/', async () => ({ greeting: 'Hello, bench!' }));
server.get('/', async () => ({ greeting: 'Hello, bench!' }));
server.get('/stall', async () => {
  const longestMs = delay.max / 1e6 - TIMER_MS;
  delay.reset();
  return { longestMs };
});
process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`);
