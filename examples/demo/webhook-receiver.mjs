import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = request.headers;
  const expected = createHmac('sha256', process.env.WEBHOOK_SIGNING_KEY).update(`${id}.${at}.`).update(body).digest();
  const given = signatures.split(' ').map((one) => Buffer.from(one.replace(/^v1,/, ''), 'base64'));
  const isSigned = given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  const isGenuine = isSigned && Math.abs(Date.now() / 1000 - at) < 300;
  response.writeHead(isGenuine ? 200 : 401).end();
  if (isGenuine) console.log(JSON.parse(body));
});
server.listen(process.env.PORT ?? 9090, '127.0.0.1', () => console.log('listening on port', server.address().port));
