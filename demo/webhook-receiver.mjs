import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const expected = createHmac('sha256', process.env.WEBHOOK_SIGNING_KEY).update(body).digest();
  const given = Buffer.from(request.headers['x-signature'] ?? '', 'base64');
  const isGenuine = given.length === expected.length && timingSafeEqual(given, expected);
  response.writeHead(isGenuine ? 200 : 401).end();
  if (isGenuine) console.log(JSON.parse(body));
}).listen(process.env.PORT ?? 9090, '127.0.0.1');
