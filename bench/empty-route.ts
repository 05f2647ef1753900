/** The bare minimum over HTTP: a fastify server with an empty route, in a process of its own. */
import fastify from 'fastify';

const server = fastify();
server.post('/', async () => ({ greeting: 'Hello, bench!' }));
server.get('/', async () => ({ greeting: 'Hello, bench!' }));
process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`);
